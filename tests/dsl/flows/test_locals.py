"""The locals of flows are those of Python: arguments of every kind, and names without a value."""

import dis
import symtable
from collections.abc import Iterator
from pathlib import Path
from types import CodeType

import pytest

from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines.reference import explore
from statewalk.checker.native import explore as explore_natively
from statewalk.dsl.loader import load

HEAD = "from statewalk import *\ndeadlock(False)\n"
SPEC = """
made = []
def three() -> int:
    made.append(1)
    return 3
class P(Role):
    got: str = ""
    def kinds(self, {head}) -> {result}:
        {body}
    @action
    def go(self) -> {flow}:
        require(self.got == "")
        {call}
p = P()
MADE = len(made)
@exists
def bound_as_in_python() -> bool:
    return p.got == {expected!r}
"""
HEADS = [
    ("*vs", "vs", "1, 2"),
    ("*vs", "vs", ""),
    ("*vs", "vs", "*[1, 2], 3"),
    ("*, vs", "vs", "vs=1"),
    ("*, vs=three()", "vs", ""),
    ("**vs", "sorted(vs.items())", "b=1, a=2"),
    ("a, /, b=three(), *vs, k, d=4, **more", "a, b, vs, k, d, sorted(more.items())", "1, k=5"),
    ("a, /, b=three(), *vs, k, d=4, **more", "a, b, vs, k, d, sorted(more.items())",
     "1, 2, 3, 4, d=0, k=5, a=9"),
]  # fmt: skip
DECOYS = "vs = a = b = k = d = more = (77,)\n"  # of the module, with the names of the locals


def _spec(head: str, tells: str, given: str, blocks: bool) -> str:
    scope: dict[str, object] = {"three": lambda: 3}
    exec(f"def kinds({head}): return repr([{tells}])", scope)
    expected = eval(f"kinds({given})", scope)
    told = f"self.got = repr([{tells}])"
    body = f"with serial():\n            self.got = ''\n            {told}"
    return HEAD + DECOYS + SPEC.format(
        head=head,
        expected=expected,
        body=body if blocks else f"yield\n        {told}",
        result="None" if blocks else "Flow[None]",
        flow="None" if blocks else "Flow[None]",
        call=f"self.kinds({given})" if blocks else f"yield from self.kinds({given})",
    )  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("blocks", [False, True])
@pytest.mark.parametrize(("head", "tells", "given"), HEADS)
def test_arguments_of_flows_are_bound_as_in_python(
    head: str, tells: str, given: str, blocks: bool, tmp_path: Path
) -> None:
    path = tmp_path / "spec.py"
    path.write_text(_spec(head, tells, given, blocks))
    model = load(path)
    results = [explore(model, SearchOptions()), explore_natively(model, SearchOptions())]

    assert not any(result.findings for result in results)
    assert all(result.witnesses for result in results)
    assert [3, 3] == [result.counts.distinct for result in results]


@pytest.mark.parametrize(
    ("head", "given", "said"),
    [
        ("a", "", "missing 1 required positional argument: 'a'"),
        ("a", "1, 2", "takes 2 positional arguments but 3 were given"),
        ("a", "1, a=2", "multiple values for argument 'a'"),
        ("a, /", "a=2", "positional-only"),
        ("*, a", "1", "takes 1 positional argument but 2 were given"),
        ("a", "1, z=2", "unexpected keyword argument 'z'"),
    ],
)
def test_arguments_that_do_not_fit_are_told_as_in_python(
    head: str, given: str, said: str, tmp_path: Path
) -> None:
    text = SPEC.format(
        head=head, body="yield", call=f"yield from self.kinds({given})", result="Flow[None]",
        flow="Flow[None]", expected="",
    )  # fmt: skip
    path = tmp_path / "spec.py"
    path.write_text(HEAD + DECOYS + text)
    (finding,) = explore(load(path), SearchOptions()).findings

    assert said in str(finding)


TRICKY = """
class P(Role):
    q: int = 0
    def tricky(self, a: int, /, b: int, *c: int, d: int = 3, **e: int) -> Flow[int]:
        k = x = y = 0
        f: int
        yield
        g = lambda p=(lambda y: y)(1): p + y
        more = {0: 1}
        self.q = g() + (lambda p=lambda b: b: b)()
        yield
        [0 for more[k] in [1]]
        yield
        def inner(o=lambda k: k, *, l=lambda y: y):
            return k + y
        self.q = inner()
        for h, (i, *r) in [(1, (2, 3))]:
            yield
        match [1, 2, 3, {"a": 1}]:
            case [m, *n, {"a": s, **t}] as u if (v := 3):
                yield
        try:
            self.q += 1
        except ValueError as w:
            pass
        yield
        if a:
            del x
        yield
        self.q = [j for j in range(2) if (z := j)][0] + f
        yield
        return [a, b, c, d, e, h, i, r, m, n, s, t, u, v, w, x, y, z]
    @action
    def go(self) -> Flow[None]:
        yield from self.tricky(1, 2)
p = P()
"""


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _codes(part)


def test_no_piece_of_a_flow_looks_for_a_local_in_the_module(tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    path.write_text(HEAD + TRICKY)
    module = symtable.symtable(HEAD + TRICKY, "spec.py", "exec")
    (table,) = [t for t in module.get_children()[0].get_children() if t.get_name() == "tricky"]
    assert isinstance(table, symtable.Function)
    flows = load(path).flows
    assert flows is not None
    pieces = [one.code.run for one in flows.code["P.tricky"].instructions if one.code]
    looked_for = {
        one.argval
        for piece in pieces
        for code in _codes(piece.__code__)
        for one in dis.get_instructions(code)
        if one.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    }

    assert {"range", "ValueError"} <= looked_for
    assert set() == looked_for & set(table.get_locals())


@pytest.mark.parametrize(
    "body",
    [
        "yield\n        self.q = x\n        x = 1\n        yield",
        "if self.q:\n            x = 1\n        yield\n        self.q = x",
        "x = 1\n        yield\n        del x\n        yield\n        self.q = x",
        "for x in []:\n            yield\n        yield\n        self.q = x",
        "yield\n        self.q = (lambda y=lambda x: x: x)()\n        x = 1",
    ],
)
def test_a_local_without_a_value_is_never_a_variable_of_the_module(
    body: str, tmp_path: Path
) -> None:
    text = f"""
def x() -> int:
    return 7
class P(Role):
    q: int = 0
    @action
    def go(self) -> Flow[None]:
        {body}
p = P()
"""
    path = tmp_path / "spec.py"
    path.write_text(HEAD + text)
    (finding,) = explore(load(path), SearchOptions()).findings

    assert "'x'" in str(finding)
    assert "associated with a value" in str(finding)
