"""Families: a property of one member holds for all: families of properties, with and without
symmetry.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk import check, load
from statewalk.checker.verdict.run import Run
from statewalk.dsl.errors import SpecError
from statewalk.dsl.model import Model
from tests.cases import slow

SPEC = """
from statewalk import *

class Member(Role, symmetric=True):
    n: int = 0
    met: set["Member"] = set()
    @action
    def up(self, by: int = any_of([1, 2])) -> None:
        require(self.n < 3)
        self.n += by
    @action
    def meet(self, other: "Member") -> None:
        require(self.n == 2 and other.n == 0 and other is not self)
        self.met.add(other)

class Clock(State):
    k: int = 0
    @action
    def tick(self) -> None:
        require(self.k < 2 and any(m.n > 1 for m in members))
        self.k += 1

members = [Member() for _ in range(2)]
clock = Clock()
deadlock(False)

INIT

@always
def small(m: Member) -> bool:
    return not (m.n == 3 and clock.k == 2 and sum(o.n for o in members) == 3)

@always
def fine(m: Member) -> bool:
    return m.n <= 4

@exists
def far(m: Member) -> bool:
    return m.n == 4 and clock.k == 1

@exists
def never(m: Member) -> bool:
    return m.n == 5

@on_step
def stays(m: Member) -> bool:
    return m.n == old(m.n) or clock.k < 2

@always
def unmet(m: Member, other: Member) -> bool:
    return other not in m.met or clock.k < 1

config("other", expect=violates("small(Member#1)", length=4))
"""
FAMILIES = ("small", "fine", "far", "never", "stays", "unmet")


def told(run: Run) -> list[tuple[str, str, int | None]]:
    return [(p.name, p.verdict, p.length) for p in run.properties]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    path = tmp_path_factory.mktemp("families") / "spec.py"
    path.write_text(SPEC.replace("INIT", ""))
    return load(path)


@pytest.mark.parametrize("engine", [slow("reference"), "native"])
def test_a_family_is_judged_as_without_symmetry(engine: str, model: Model) -> None:
    plain = check(model, engine=engine, keep_going=True)
    merged = check(model, engine=engine, keep_going=True, symmetry=True)

    assert merged.counts.distinct < plain.counts.distinct
    assert told(plain) == told(merged)
    assert {"holds", "violated"} == {p.verdict for p in merged.properties}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("family", FAMILIES)
def test_so_is_each_of_its_members(family: str, model: Model) -> None:
    for name in [p.name for p in model.properties if p.name.startswith(family)]:
        plain, merged = (check(model, properties=(name,), symmetry=s) for s in (False, True))
        assert told(plain) == told(merged)
        assert plain.verdict == merged.verdict


@pytest.mark.parametrize(
    "name", ["small(Member#1)", "stays(Member#1)", "unmet(Member#1, Member#0)"]
)
def test_the_trace_is_one_of_that_member(name: str, model: Model) -> None:
    run = check(model, properties=(name,), symmetry=True)
    member = name.partition("(")[2][:8]

    assert member in str(run.traces[name])
    assert [name] == list(run.traces)


def test_what_is_expected_of_a_member_ends_the_search(model: Model) -> None:
    run = check(model, config="other", symmetry=True)

    assert run.as_expected
    assert "violation" == run.evidence.stopped


def test_initial_states_have_to_be_the_same_for_all(tmp_path: Path) -> None:
    begin = "@init\ndef begin() -> None:\n    for at, m in enumerate(members): m.n = int(at == 0)"
    path = tmp_path / "spec.py"
    path.write_text(SPEC.replace("INIT", begin).replace("deadlock(False)", ""))

    with pytest.raises(SpecError, match=r"SW209 small\(Member#0\) speaks of one member"):
        check(path, symmetry=True)
    assert "violated" == check(path, symmetry=True, properties=("Deadlock",)).verdict


def test_a_constraint_and_where_to_stop_may_have_one_name(tmp_path: Path) -> None:
    path = tmp_path / "spec.fizz"
    path.write_text(
        "---\noptions:\n  max_actions: 3\ndeadlock_detection: false\n---\n"
        "symmetric role N:\n  action Init:\n    self.x = 0\n  serial action Inc:\n"
        "    require self.x < 2\n    self.x += 1\n    self.x += 0\n"
        "action Init:\n  ns = bag()\n  for i in range(3):\n    ns.add(N())\n"
        "always assertion Few:\n  return all([n.x < 3 for n in ns])\n"
    )
    merged = check(path, engine="reference", symmetry=True)

    assert merged.counts.distinct < check(path, engine="reference", symmetry=False).counts.distinct
