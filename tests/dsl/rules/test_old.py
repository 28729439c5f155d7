"""``old(role).n`` looks at the present: a warning says what to write."""

from pathlib import Path
from types import ModuleType

import pytest

from statewalk.checker import native
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines import reference
from statewalk.dsl.errors import SpecError
from statewalk.dsl.loader import load
from tests.cases import slow

SPEC = """
import statewalk
from statewalk import *
from statewalk import old as before
class Counter(Role):
    n: int = 0
    peer: "Counter"
    @action
    def up(self) -> None:
        self.n = min(self.n + 1, 2)
    def total(self, more: int) -> int:
        return self.n + more
class Pair(Record):
    n: int = 0
class S(State):
    leader: Counter
    all: list[Counter]
    pair: Pair = Pair()
    @action
    def go(self) -> None:
        self.leader = self.leader.peer
        self.pair = Pair(n=1)
a = Counter()
b = Counter(peer=a)
a.peer = b
s = S(leader=a, all=[a, b])
@on_step
def p(c: Counter) -> bool:
    former = old(s.leader)
    return {look}
"""


def warned(look: str, folder: Path) -> list[str]:
    (folder / "spec.py").write_text(SPEC.replace("{look}", look))
    found = load(folder / "spec.py").warnings
    return [f"{w.message} {w.help}" for w in found if w.code == "SW611"]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("look", "instead"),
    [
        ("old(a).n <= a.n", "old(a.n)"),
        ("old(c).n <= c.n", "old(c.n)"),
        ("before(a).n <= a.n", "old(a.n)"),
        ("statewalk.old(a).n <= a.n", "old(a.n)"),
        ("old(s.leader).n <= 2", "old(s.leader.n)"),
        ("old(s.leader).peer.n <= 2", "old(s.leader.peer.n)"),
        ("old(s.all)[0].n <= 2", "old(s.all[0].n)"),
        ("old(s).pair.n <= 2", "old(s.pair)"),
        ("old(s).all[0].n <= 2", "old(s.all[0].n)"),
        ("old(a).total(1) <= 9", "old(a.total(1))"),
        ("[r.n for r in old(s.all)] <= [2]", "old(r.n)"),
        ("all(r.total(1) < 9 for r in old(s.all))", "old(r.total(1))"),
        ("[r.n for r in s.all] == [1 for q in old(s.all) if q.peer.n]", "old(q.peer.n)"),
    ],
)
def test_a_role_of_old_is_looked_at_as_it_is_now(look: str, instead: str, tmp_path: Path) -> None:
    found = warned(look, tmp_path)

    assert 1 == len(found)
    assert f"For the value before the step, write {instead}" in found[0]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "look",
    [
        "old(a.n) <= a.n",
        "former.n <= 2",
        "old(s.leader) == s.leader or True",
        "old(s.leader).index >= 0",
        "old(s.pair).n <= 1",
        "old(s.all[0].n) <= 2",
        "old(s.all).count(a) == 1",
        "[old(r.n) for r in old(s.all)] == [r.n for r in s.all]",
        "old([r.n for r in s.all]) == []",
        "[r.index for r in old(s.all)] == []",
        "old(a).n <= a.n  # allow SW611",
    ],
)
def test_what_is_meant_as_it_is_written_gets_no_warning(look: str, tmp_path: Path) -> None:
    assert [] == warned(look, tmp_path)


UNREAD = """
from functools import wraps
from statewalk import *
def plainly(f):
    @wraps(f)
    def asked() -> bool:
        return f()
    return asked
class B(State):
    n: int = 0
    @action
    def up(self) -> None:
        self.n = min(2, self.n + 1)
b = B()
grown = lambda: b.n >= old(b.n)
@plainly
def wrapped() -> bool:
    return b.n >= old(b.n)
@on_step
def p() -> bool:
    return {asked}()
"""


@pytest.mark.parametrize("engine", [slow(reference), native])
@pytest.mark.parametrize("asked", ["grown", "wrapped"])
def test_what_is_not_read_as_text_is_told_so(
    asked: str, engine: ModuleType, tmp_path: Path
) -> None:
    (tmp_path / "spec.py").write_text(UNREAD.replace("{asked}", asked))

    [finding] = engine.explore(load(tmp_path / "spec.py"), SearchOptions()).findings

    assert isinstance(finding.error, SpecError)
    assert "SW121" == finding.error.code
    assert "in a function whose source is not read" in finding.error.message
