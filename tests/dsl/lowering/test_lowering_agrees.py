"""Lowered and plain code must agree: counts, verdicts, traces, and every element with its property.

Each spec aims at one rewriting and at what could go wrong with it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk.checker.contract.search import Exploration, SearchOptions
from statewalk.checker.engines.reference import explore
from statewalk.checker.states.fingerprints import Fingerprints
from statewalk.dsl.loader import load
from statewalk.dsl.model import Model
from statewalk.dsl.state.plain_view import PlainView

HEAD = """
from typing import Literal
from statewalk import *
"""

SPECS = {
    "aliases into lists survive other changes": """
class Row(Record):
    n: int = 0
class Log(State):
    rows: list[Row] = []
    last: int = 0
    @action
    def push(self) -> None:
        require(len(self.rows) < 3)
        self.rows.append(Row(len(self.rows)))
    @action
    def bump_first_then_drop(self) -> None:
        require(len(self.rows) >= 2)
        first, second = self.rows[0], self.rows[1]
        self.rows.pop(0)
        second.n += 1
        first.n += 10
        self.last = first.n + second.n
        require(second.n < 4)
log = Log()
@always
def bounded() -> bool:
    return all(row.n < 10 for row in log.rows)
""",
    "replaced records are detached": """
class Op(Record):
    stage: int = 0
class W(State):
    op: Op = Op()
    seen: int = 0
    @action
    def work(self) -> None:
        op = self.op
        op.stage += 1
        require(op.stage < 4)
        self.op = Op(op.stage)
        op.stage += 1
        self.seen = op.stage
w = W()
@always
def kept() -> bool:
    return w.op.stage <= 3 and w.seen <= 4
""",
    "captured values key a projection": """
class M(Message):
    epoch: int
class C(Role):
    epoch: int = 0
    inbox: set[M] = set()
    got: int = 0
    @action
    def send(self, other: "C") -> None:
        require(len(other.inbox) < 2)
        other.inbox.add(M(self.epoch))
    @action
    def newer(self) -> None:
        m = any_of([m for m in self.inbox if m.epoch >= self.epoch])
        self.inbox.remove(m)
        self.epoch = min(2, m.epoch + 1)
        self.got = max((x.epoch for x in self.inbox), default=0)
cs = [C() for _ in range(2)]
@always
def fresh() -> bool:
    return all(all(m.epoch <= 2 for m in c.inbox if m.epoch >= c.epoch) for c in cs)
@exists
def stale() -> bool:
    return any(m.epoch < c.epoch for c in cs for m in c.inbox)
""",
    "elements that are roles are not projected": """
class N(Role):
    up: bool = True
    peers: set["N"] = set()
    @action
    def toggle(self) -> None:
        self.up = not self.up
    @action
    def meet(self, other: "N") -> None:
        require(other != self)
        self.peers.add(other)
    @action
    def forget(self) -> None:
        down = [p for p in self.peers if not p.up]
        require(down)
        for p in down:
            self.peers.remove(p)
ns = [N() for _ in range(2)]
@always
def peers_up() -> bool:
    return all(
        any(p.up for p in n.peers) or not n.peers or not n.up or not all(p.up for p in n.peers)
        for n in ns
    )
""",
    "remembered calls see the state and their arguments": """
class T(State):
    cells: dict[int, int] = {}
    total: int = 0
    @action
    def put(self, key: int = any_of(range(3)), value: int = any_of(range(2))) -> None:
        before = count(value)
        self.cells[key] = value
        self.total = before + count(value)
    @action
    def drop(self, key: int = any_of(range(3))) -> None:
        require(key in self.cells)
        del self.cells[key]
t = T()
def count(value: int) -> int:
    return sum(v == value for v in t.cells.values())
def keys_of(value: int) -> list[int]:
    return [k for k in t.cells if t.cells[k] == value]
@always
def counted() -> bool:
    return len(keys_of(0)) + len(keys_of(1)) == len(t.cells) and t.total <= 6
""",
    "remembered calls may return what is in the state": """
class F(Record):
    size: int = 0
class S(State):
    files: dict[str, F] = {}
    order: list[F] = []
    @action
    def make(self, name: str = any_of(("a", "b"))) -> None:
        require(name not in self.files)
        self.files[name] = F()
    @action
    def grow(self, name: str = any_of(("a", "b"))) -> None:
        file = find(name)
        require(file is not None)
        assert file is not None
        require(file.size < 2)
        file.size += 1
        biggest().size += 0
    @action
    def note(self) -> None:
        require(self.files and len(self.order) < 1)
        self.order.append(biggest())
s = S()
def find(name: str) -> F | None:
    return s.files.get(name)
def biggest() -> F:
    return max(s.files.values(), key=lambda f: f.size)
@always
def small() -> bool:
    return all(f.size <= 2 for f in s.files.values()) and all(f.size <= 2 for f in s.order)
""",
    "later conjuncts may rely on earlier ones": """
class P(State):
    x: int | None = None
    table: dict[int, int] = {}
    @action
    def set(self, v: int = any_of(range(3))) -> None:
        self.x = v
    @action
    def fill(self) -> None:
        require(self.x is not None)
        assert self.x is not None
        self.table[self.x] = self.x
p = P()
@always
def guarded() -> bool:
    return p.x is not None and p.x < 5
@always
def looked_up() -> bool:
    return all(
        k in p.table and p.table[k] == k
        for k in range(3)
        if p.x is not None and len(p.table) == 3
    )
""",
    "booleans and numbers stay apart": """
class B(State):
    seen: set[int | bool] = set()
    flags: dict[bool | int, str] = {}
    @action
    def add(self, v: Literal[0, 1, True, False]) -> None:
        self.seen.add(v)
        self.flags[v] = str(v)
b = B()
@always
def apart() -> bool:
    return len(b.seen) <= 4
@exists
def four() -> bool:
    return len(b.seen) == 4 and len(b.flags) == 4
""",
    "local sets have one order": """
NAMES = {"ab", "cd", "ef", "gh", "ij", "kl"}
def first(names: set[str]) -> str:
    for name in names:
        return name
    return ""
class O(State):
    log: list[str] = []
    top: str = ""
    @action
    def note(self) -> None:
        require(len(self.log) < 2)
        self.log.extend(n for n in NAMES)
        self.top = first({"z", "y", "x"}) + list({"q", "r"})[0] + max({"aa", "bb"}, key=len)
o = O()
@always
def in_order() -> bool:
    return o.top in ("", "xqaa") and (not o.log or o.log == ["ab", "cd", "ef", "gh", "ij", "kl"])
""",
    "old looks before the step": """
class K(State):
    n: int = 0
    seen: set[int] = set()
    @action
    def up(self) -> None:
        require(self.n < 3)
        self.n += 1
        self.seen.add(self.n)
    @action
    def stay(self) -> None:
        self.n = self.n
k = K()
@on_step
def grows() -> bool:
    return k.n >= old(k.n) and len(k.seen) >= old(len(k.seen))
@on_step
def by_one() -> bool:
    return k.n == old(k.n) + 1
@constraint
def small() -> bool:
    return k.n < 3
""",
}


def _model(path: Path, *, optimize: bool) -> Model:
    return load(path, optimize=optimize)


def _facts(result: Exploration) -> object:
    return (
        result.counts,
        result.levels,
        {f.property: (f.kind, f.initial, f.steps, f.failing) for f in result.findings},
        {f.property: (f.initial, f.steps) for f in result.witnesses},
        result.fired,
        result.cut,
    )


def _check_elements(model: Model) -> int:
    """Compare each property with its elements in every reachable state; how many there are."""
    fingerprints = Fingerprints(model.fields)
    seen: set[int] = set()
    todo = [dict(s) for s in model.initial_states]
    while todo:
        state = todo.pop()
        key = fingerprints.of_state(state)
        if key in seen or len(seen) > 400:
            continue
        seen.add(key)
        for prop in model.properties:
            if prop.kind == "always":
                whole = model.holds(prop.whole, PlainView(state))
                parts = [model.holds(e.holds, PlainView(state)) for e in prop.elements]

                assert whole is all(parts), (prop.name, state)
        for action in model.actions:
            todo += [model.successor(state, o) for o in model.outcomes(action, state)]
    return len(seen)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", SPECS)
def test_lowered_and_plain_code_agree(name: str, tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    path.write_text(HEAD + SPECS[name])
    options = SearchOptions(keep_going=True, max_states=3000)

    plain = explore(_model(path, optimize=False), options)
    lowered = explore(_model(path, optimize=True), options)

    assert not [f.error for f in plain.findings if f.error is not None]
    assert _facts(plain) == _facts(lowered)
    assert plain.counts.distinct > 1


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", [n for n in SPECS if "old" not in n])
def test_elements_are_the_property(name: str, tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    path.write_text(HEAD + SPECS[name])

    assert _check_elements(_model(path, optimize=True)) > 1
