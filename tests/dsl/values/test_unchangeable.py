"""Values that cannot be changed (SW202), and the message about each."""

from pathlib import Path
from types import ModuleType

import pytest

from statewalk.checker import native
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines import reference
from statewalk.dsl.errors import SpecErrors
from statewalk.dsl.loader import load
from tests.cases import slow

HEAD = """
from statewalk import *
class Job(Record):
    n: int = 0
    parts: list[int] = []
class C(Role):
    jobs: list[Job] = [Job(1), Job(2)]
    table: dict[int, Job] = {1: Job(1)}
    pool: set[Job] = {Job(7)}
    heap: Bag[Job] = Bag([Job(7)])
    keyed: dict[Job, int] = {Job(7): 1}
    pair: tuple[Job, int] = (Job(3), 1)
    done: bool = False
    @action
    def go(self) -> None:
        require(not self.done)
        self.done = True
"""
TAIL = "c = C()\ndeadlock(False)\n"

SEEN_IN_THE_TEXT = {
    "j = any_of(self.pool); j.n = 5": "'j' is an element of the set self.pool",
    "for j in self.pool: j.n += 5": "'j' is an element of the set self.pool",
    "j = sorted(self.pool)[0]; j.n = 5": "'j' is an element of the set self.pool",
    "j = any_of(self.heap); j.n = 5": "'j' is an element of the bag self.heap",
    "for j in self.keyed: j.n = 5": "'j' is a key of the dict self.keyed",
    "for j, n in self.keyed.items(): j.n = n": "'j' is a key of the dict self.keyed",
    "for j in self.keyed.keys(): j.n = 5": "'j' is a key of the dict self.keyed",
}
SEEN_IN_THE_RUN = {
    "j = self.pair[0]; j.n = 5": "This Job is a value",
    "j = list(self.keyed)[0]; j.parts.append(1)": "This Job is a value",
    "for j in self.pool: j.parts.append(1)": "This Job is a value",
}


def written(folder: Path, body: str) -> Path:
    path = folder / "spec.py"
    path.write_text(f"{HEAD}        {body}\n{TAIL}")
    return path


@pytest.mark.parametrize("body", SEEN_IN_THE_TEXT)
def test_a_member_that_is_changed_is_seen_in_the_text(body: str, tmp_path: Path) -> None:
    with pytest.raises(SpecErrors) as caught:
        load(written(tmp_path, body))

    [error] = caught.value.errors
    assert error.code == "SW202"
    assert error.message == SEEN_IN_THE_TEXT[body] + ", which is immutable."


@pytest.mark.sampled(3)
@pytest.mark.parametrize("body", SEEN_IN_THE_RUN)
@pytest.mark.parametrize("engine", [slow(reference), native])
def test_a_value_taken_out_of_the_state_stays_as_it_is(
    body: str, engine: ModuleType, tmp_path: Path
) -> None:
    found = engine.explore(load(written(tmp_path, body)), SearchOptions())

    [error] = [f.error for f in found.findings]
    assert error.code == "SW202"
    assert error.message.startswith(SEEN_IN_THE_RUN[body] + " and cannot be changed")
    assert "are immutable" in error.why
