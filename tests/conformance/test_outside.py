"""Changes besides the state are refused by every engine (SW102)."""

from pathlib import Path

import pytest

from statewalk.checker.api import check, load
from statewalk.checker.behaviours.simulate import simulate
from statewalk.dsl.errors import StatewalkError
from tests.cases import some

SPEC = """
import collections, enum, functools, types
from typing import ClassVar
import helper
from statewalk import *
deadlock(False)
{top}
class C(State):
    n: int = 0
    m: int = 0
    {inside}
    @action
    def go(self) -> None:
        require(self.m < 4)
        self.m += 1
        {step}
    @action
    def alt(self) -> None:
        require(self.m < 4)
        self.m += 1
c = C()
@always
def p() -> bool:
    {prop}
"""
HELPER = """
class Box:
    __slots__ = ("v",)
    def __init__(self):
        self.v = 0
BOX = Box()
SEEN = {}
def remember(v):
    BOX.v = v
def push(to, v):
    to.append(v)
def seen(role):
    if role not in SEEN:
        SEEN[role] = role.m
    return SEEN[role]
"""
ALIAS = "K: list[int] = [0]"
THING = """
class O:
    def __init__(self, v=0): self.v = v
    def set(self, v): self.v = v
o = O()
"""
MEMO = """
def memo(g):
    store = {}
    def h(*a):
        if a not in store:
            store[a] = g(*a)
        return store[a]
    return h
@memo
def f(x: int) -> int:
    return c.m + x
"""
CLOSURE = """
def mk():
    k = 0
    def put(v):
        nonlocal k
        k = v
    return put
put = mk()
"""
NUMBERS = "x: ClassVar[list[int]] = [0]"
RECORD = "class R(Record):\n    v: int = 0\nrs = [R()]"
CACHED = "@functools.cache\ndef f(k): return {k: k}"
GENERIC = "from statewalk.dsl.fizz.runtime.values import genericmap, genericset"
LIBRARY = "from statewalk.dsl.library.isolation import Transaction"
FLAGS = "class F(enum.IntFlag):\n    A = 1\n    B = 2\n    C = 4"
GENERATOR = "def g():\n    for x in [1, 1, 1]: yield x\nit = g(); next(it)"
ITERATORS = (
    "iter((1, 1))", "iter({1, 2})", "iter({1: 1, 2: 1}.items())", "iter('aa')", "iter(range(2))",
    "iter(b'aa')", "reversed([1, 1])", "zip([1, 1], [1, 1])", "map(abs, [1, 1])",
    "filter(None, [1, 1])", "enumerate([1, 1])", "iter(collections.deque([1, 1]))",
    "itertools.count()", "itertools.cycle([1])", "itertools.repeat(1, 2)",
    "itertools.chain([1], [1])", "itertools.permutations([1, 1])",
    "itertools.combinations([1, 1, 1], 2)", "itertools.product([1, 1])",
    "itertools.combinations_with_replacement([1, 1], 2)", "itertools.accumulate([0, 0])",
    "itertools.islice([1, 1], 2)", "itertools.pairwise([1, 1, 1])",
    "itertools.starmap(abs, [(1,)])",
    "itertools.takewhile(abs, [1, 1])", "itertools.groupby([1, 1])", "itertools.tee([1, 1])[0]",
    "itertools.zip_longest([1], [1, 1])", "itertools.compress([1, 1], [1, 1])",
)  # fmt: skip
# What is written above the class, in the class and in the action; what is said to have changed.
HIDDEN: dict[str, tuple[str, str, str, str]] = {
    "attribute": ("", "x: ClassVar[int] = 0", "setattr(C, 'x', self.m)", "C.x"),
    "list": ("", NUMBERS, "self.x[0] = self.m", "C.x"),
    "list of the class": ("", NUMBERS, "C.x.append(1)", "C.x"),
    "dict": ("", "x: ClassVar[dict[int, int]] = {}", "self.x[self.m] = 1", "C.x"),
    "set": ("", "x: ClassVar[set[int]] = set()", "self.x.add(self.m)", "C.x"),
    "private": ("", "_x: list[int] = []", "self._x.append(1)", "C._x"),
    "dict of a role": ("", "", "object.__setattr__(self, 'z', self.m)", "c.z"),
    "alias": (ALIAS, "", "x = K; x[0] = self.m", "K"),
    "argument": (ALIAS, "", "helper.push(K, self.m)", "K"),
    "inner list": (f"{ALIAS}\nKK = [K]", "", "for x in KK: x[0] = self.m", "K"),
    "list in a dict": ("D = {'a': [0]}", "", "for x in D.values(): x[0] = self.m", "D['a']"),
    "list in a tuple": ("T = (1, [0])", "", "for x in T[1:]: x[0] = self.m", "T[1]"),
    "key": ("D = {1: True}", "", "x = D; x.clear(); x[self.m] = True", "D"),
    "object": (f"{THING}\ndef get(): return o", "", "get().v = self.m", "o.v"),
    "setter": (THING, "", "o.set(self.m)", "o.v"),
    "object in an object": (f"{THING}\nq = O(o)", "", "q.v.set(self.m)", "o.v"),
    "helper": ("", "", "helper.remember(self.m)", "helper.BOX.v"),
    "namespace": ("N = types.SimpleNamespace(v=0)", "", "x = N; x.v = self.m", "N.v"),
    "deque": ("Q = collections.deque()", "", "x = Q; x.append(self.m)", "Q"),
    "bytes": ("B = bytearray(3)", "", "x = B; x[0] = self.m", "B"),
    "member": ("class E(enum.Enum):\n    A = 1", "", "E.A.w = self.m", "E.A.w"),
    "combined flags": (FLAGS, "", "x = F.A | F.C; x.w = self.m", "F.A|C.w"),
    "closure": (CLOSURE, "", "put(self.m)", "k in put"),
    "default": ("def f(v, to=[]): to.append(v)", "", "f(self.m)", "to of f"),
    "memo": (MEMO, "", "self.n = f(0)", "store in h"),
    "memo of a helper": ("", "", "self.n = helper.seen(self)", "helper.SEEN"),
    "partial": (f"{ALIAS}\nf = functools.partial(helper.push, K)", "", "f(self.m)", "K"),
    "given by a cache": (CACHED, "", "f(0)[self.m] = 1", "f(...)"),
    "record": (RECORD, "", "for r in rs: r.v += 1", "rs[0].v"),
    "bag": ("B = Bag([1])", "", "x = B; x.add(1)", "B"),
    "method of a list": ("f = [1].append", "", "f(self.m)", "f"),
    "operator of a list": ("f = [1].__iadd__", "", "f([self.m])", "f"),
    "generic set": (f"{GENERIC}\nG = genericset([1])", "", "x = G; x.add(self.m + 1)", "G"),
    "generic map": (f"{GENERIC}\nG = genericmap({{1: 1}})", "", "x = G; x[self.m + 1] = 1", "G"),
    "list in a generic map": (
        f"{GENERIC}\nG = genericmap({{1: [1]}})", "", "x = G; x[1].append(1)", "G[1]",
    ),
    "versions of a transaction": (
        f"{LIBRARY}\nT = Transaction('a', writes=[])", "", "x = T; x.writes.append(1)", "T.writes",
    ),
    "generator in an attribute": (f"{THING}\no.v = (x for x in [1, 1])", "", "next(o.v, 0)", "o.v"),
    "generator with a loop": (GENERATOR, "", "next(it, 0)", "it"),
    "iterator that was begun": ("it = iter([1, 1, 1]); next(it)", "", "next(it, 0)", "it"),
    "iterator of a default": ("def f(it=iter([1, 1])): next(it, 0)", "", "f()", "it of f"),
    "iterator of the class": ("", "x: ClassVar[object] = iter([1, 1])", "next(self.x, 0)", "C.x"),
    "file": ("import io\nit = io.StringIO('a')", "", "next(it, 0)", "it"),
    "call": ("xs = [1, 1]\nit = iter(xs.pop, 0)", "", "next(it, 0)", "xs"),
    **{
        f"iterator {made}": (f"import itertools\nit = {made}", "", "next(it, 0)", "it")
        for made in ITERATORS
    },
}  # fmt: skip
FINE: dict[str, tuple[str, str, str]] = {
    "cache": (CACHED, "", "self.n = f(self.m)[self.m] % 3"),
    "small cache": (CACHED.replace("cache", "lru_cache(2)"), "", "self.n = f(self.m)[self.m] % 3"),
    "cached property": (
        "", "@functools.cached_property\n    def w(self): return 2", "self.n = self.w",
    ),
    "as it was": (f"{THING}\no.set((1000, 'a'))", "", "o.set((10 ** 3, 'A'.lower()))"),
    "flags": (FLAGS, "", "self.n = len(F(self.m % 4) | ~F.A ^ F.C)"),
    "default": ("D: list[int] = []", "xs: list[int] = D", "self.xs.append(1); self.n = len(D)"),
    "local": ("", "", "x = [0]; x[0] = self.m; self.n = x[0] % 3"),
    "import": ("", "", "import math; import helper; self.n = math.gcd(self.m, 2)"),
    "iterators that nobody asks": (
        "import itertools\na, b = itertools.cycle([1, 2]), itertools.zip_longest([], [1, 1])"
        "\nnext(a); next(a); next(a); next(b)\nc = iter([1]); next(c)", "", "",
    ),
    "iterators of a step": ("", "", "it = iter([1]); next(it); [*zip(it, it)]"),
    "generic set": (f"{GENERIC}\nG = genericset([1])", "", "x = G; x.add(1); self.n = len(x)"),
    "role": ("def of(r): return [r]", "", "for x in of(self): x.n = 1"),
}  # fmt: skip


def written(folder: Path, top: str, inside: str, step: str, prop: str = "return c.n < 9") -> str:
    (folder / "helper.py").write_text(HELPER)
    path = folder / "spec.py"
    path.write_text(SPEC.format(top=top, inside=inside, step=step, prop=prop))
    return str(path)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize("case", some(HIDDEN, every=10))
def test_what_is_changed_besides_the_state_is_named(case: str, engine: str, tmp_path: Path) -> None:
    *text, changed = HIDDEN[case]
    with pytest.raises(StatewalkError) as caught:
        check(written(tmp_path, *text), engine=engine)

    assert "SW102" == caught.value.code
    assert f" changed {changed}, which is not part of the state." in caught.value.message


def test_the_step_that_did_it_is_named_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(StatewalkError) as caught:
        check(written(tmp_path, *HIDDEN["alias"][:3]), engine="native")

    assert caught.value.message.startswith("C#0.go changed K,")
    assert caught.value.at is not None
    assert 13 == caught.value.at.line


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize("prop", ["K.append(c.m) or c.n < 9", "len(helper.seen(c) * K) < 9"])
def test_a_property_is_no_better(prop: str, engine: str, tmp_path: Path) -> None:
    prop = f"x = K; return x.insert(0, 1) or {prop.replace('K', 'x')}"
    with pytest.raises(StatewalkError) as caught:
        check(written(tmp_path, ALIAS, "", "pass", prop), engine=engine)

    assert "SW102" == caught.value.code


def test_a_late_change_is_found_before_the_verdict(tmp_path: Path) -> None:
    path = written(tmp_path, ALIAS, "", "x = K\n        if self.m == 3: x[0] = 1")
    for engine in ("native", "reference"):
        with pytest.raises(StatewalkError, match="changed K, which is not part of the state"):
            check(path, engine=engine)
    with pytest.raises(StatewalkError, match="changed K, which is not part of the state"):
        simulate(load(path), runs=20)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", FINE)
def test_what_changes_nothing_else_is_taken(case: str, tmp_path: Path) -> None:
    path = written(tmp_path, *FINE[case])
    runs = [check(path, engine=engine) for engine in ("native", "reference")]

    assert ["holds", "holds"] == [run.verdict for run in runs]
    assert runs[0].counts == runs[1].counts


def test_round_things_and_deep_ones_are_looked_at(tmp_path: Path) -> None:
    top = f"{THING}\no.v = o\nend = deep = O()\nfor _ in range(5_000): deep = O(deep)\ndel end"
    step = "x = deep\n        while isinstance(x.v, O): x = x.v\n        x.v = self.m"
    with pytest.raises(StatewalkError) as caught:
        check(written(tmp_path, top, "", step), engine="native")

    changed = "deep.v.v.v.v....v"
    assert f"C#0.go changed {changed}, which is not part of the state." == caught.value.message
