"""Flows: what they mean, that both lowerings and a naive interpreter agree, and what identity they
have.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines.reference import explore
from statewalk.dsl.errors import SpecError
from statewalk.dsl.state.plain_view import PlainView
from tests.cases import some
from tests.dsl.flows.replayed import agree, load_text

SPECS = {
    "a lost update": """
class C(State):
    n: int = 0
class P(Role):
    done: int = 0
    @action
    def add(self) -> Flow[None]:
        require(self.done == 0)
        seen = c.n
        yield
        c.n = seen + 1
        self.done = 1
c = C()
ps = [P() for _ in range(2)]
@always
def nothing_lost() -> bool:
    return c.n == sum(p.done for p in ps)
""",
    "loops, break, continue and calls": """
class S(State):
    log: list[int] = []
class P(Role):
    runs: int = 0
    @action
    def work(self) -> Flow[None]:
        require(self.runs < 1)
        self.runs += 1
        total = 0
        for n in [1, 2, 3, 4]:
            if n == 2:
                continue
            if n == 4:
                break
            got = yield from self.step(n)
            total += got
        while total < 6:
            total += 1
            yield
        s.log.append(total)
    def step(self, n: int) -> Flow[int]:
        yield
        require(len(s.log) < 2)
        return n if len(s.log) == 0 else 2 * n
s = S()
ps = [P() for _ in range(2)]
@always
def short() -> bool:
    return len(s.log) <= 2 and all(n <= 8 for n in s.log)
""",
    "references across yields, and an interrupt": """
class Op(Record):
    stage: int = 0
class P(Role):
    op: Op = Op()
    crashes: int = 0
    wrote: int = 0
    @action
    def work(self) -> Flow[None]:
        require(self.wrote < 2)
        op = self.op
        op.stage += 1
        yield
        op.stage += 1
        x = any_of([1, 2])
        yield
        self.wrote += x
        self.op = Op()
    @action
    def crash(self) -> None:
        require(self.op.stage > 0 and self.crashes < 1)
        self.crashes += 1
        self.op = Op()
        interrupt(self)
ps = [P() for _ in range(2)]
@always
def staged() -> bool:
    return all(p.op.stage <= 2 for p in ps)
@always
def little() -> bool:
    return sum(p.wrote for p in ps) < 6
""",
    "several runs at once are anonymous": """
class P(Role):
    n: int = 0
    sent: int = 0
    @action(concurrent=2)
    def send(self, value: Literal[1, 2]) -> Flow[None]:
        require(self.sent < 2)
        self.sent += 1
        yield
        self.n += value
p = P()
@always
def bounded() -> bool:
    return p.n <= 4
""",
    "runs crash where they wait, and few are in flight": """
class S(State):
    n: int = 0
class P(Role):
    done: int = 0
    @action
    def add(self) -> Flow[None]:
        require(self.done == 0 and s.n < 3)
        self.done = 1
        seen = s.n
        yield
        s.n = seen + 1
        yield
        self.done = 2
    @action
    def again(self) -> None:
        require(self.done == 1)
        self.done = 0
s = S()
ps = [P() for _ in range(3)]
threads(2)
crashes(True)
@always
def small() -> bool:
    return s.n < 3
""",
    "a guard after a yield waits": """
class G(State):
    open: bool = False
    @action
    def unlock(self) -> None:
        self.open = True
class P(Role):
    at: int = 0
    @action
    def go(self) -> Flow[None]:
        require(self.at == 0)
        self.at = 1
        yield
        require(g.open)
        self.at = 2
g = G()
ps = [P() for _ in range(2)]
@always
def only_when_open() -> bool:
    return g.open or all(p.at < 2 for p in ps)
""",
}


@pytest.mark.parametrize("name", some(SPECS, every=3))
def test_compiled_flows_agree_with_generators(name: str, tmp_path: Path) -> None:
    agree(tmp_path, SPECS[name])


def test_dead_locals_do_not_split_states(tmp_path: Path) -> None:
    text = """
class P(Role):
    n: int = 0
    @action
    def go(self) -> Flow[None]:
        x = any_of([1, 2, 3])
        y = x - x
        yield
        self.n = y
p = P()
@always
def zero() -> bool:
    return p.n == 0
"""
    model = load_text(tmp_path, text)

    assert explore(model, SearchOptions()).counts.distinct == 2


def test_the_result_of_an_earlier_call_is_dead(tmp_path: Path) -> None:
    text = """
class P(Role):
    n: int = 0
    @action
    def go(self) -> Flow[None]:
        require(self.n == 0)
        for _ in [1, 2]:
            got = yield from self.pick()
        self.n = 1
    def pick(self) -> Flow[int]:
        x = any_of([1, 2])
        yield
        return x
p = P()
"""
    model = load_text(tmp_path, text)

    # 1, two in the first call, two in the second, and the end
    assert explore(model, SearchOptions()).counts.distinct == 6


def test_a_place_that_is_gone_is_reported(tmp_path: Path) -> None:
    text = """
class F(Record):
    size: int = 0
class S(State):
    files: dict[str, F] = {"a": F()}
    @action
    def drop(self) -> None:
        require("a" in self.files)
        del self.files["a"]
class P(Role):
    @action
    def grow(self) -> Flow[None]:
        require("a" in s.files)
        file = s.files["a"]
        yield
        file.size = 1
s = S()
p = P()
@always
def fine() -> bool:
    return True
"""
    result = explore(load_text(tmp_path, text), SearchOptions(keep_going=True))
    errors = [f.error for f in result.findings if isinstance(f.error, SpecError)]

    assert "SW206" in [e.code for e in errors]


def test_the_state_before_and_after_is_plain(tmp_path: Path) -> None:
    model = load_text(tmp_path, SPECS["a lost update"])
    action = next(a for a in model.actions if a.name == "add")
    view = PlainView(model.initial_states[0])
    model.take(action, view)
    slot = ("P", 0, "@flow", "add")

    assert view.writes[slot] == (("P.add", 2, (("seen", 0), ("self", action.actor)), ""),)
