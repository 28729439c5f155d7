"""What steps change that is no part of the state is seen in the text (SW102)."""

from pathlib import Path

import pytest

from statewalk.dsl.errors import SpecErrors
from statewalk.dsl.loader import load

SPEC = """
import functools
from statewalk import *
deadlock(False)
class Job(Record):
    n: int = 0
class C(Role):
    n: int = 0
    xs: list[int] = []
    @action
    def go(self) -> None:
        {body}
SEEN, TABLE, SOME, JOB, NESTED = [], {{}}, set(), Job(), {{1: [1]}}
c = C()
cs, by = [c], {{1: [c]}}
def helper() -> None:
    SEEN.append(1)
@functools.cache
def remembered(n: int) -> int:
    return n + 1
@functools.cache
def stale() -> int:
    return c.n
@init
def begin() -> None:
    SOME.add(1)
"""
SHARED = {
    "SEEN.append(1)": "SEEN.append(1) changes 'SEEN'",
    "helper()": "SEEN.append(1) changes 'SEEN'",
    "SEEN[0] = 1": "SEEN[0] = ... changes 'SEEN'",
    "TABLE[self.n] = 1": "TABLE[self.n] = ... changes 'TABLE'",
    "del TABLE[1]": "TABLE[1] changes 'TABLE'",
    "SOME.add(1)": "SOME.add(1) changes 'SOME'",
    "JOB.n += 1": "JOB.n = ... changes 'JOB'",
    "NESTED[1].append(2)": "NESTED[1].append(2) changes 'NESTED'",
    "cs.append(self)": "cs.append(self) changes 'cs'",
}
FINE = [
    "cs[0].n = 1",
    "by[1][0].n = 1",
    "SEEN = []; SEEN.append(1)",
    "self.xs.append(len(SEEN))",
    "self.n = remembered(1)",
    "xs = list(SEEN); xs.append(1)",
    "for JOB in [Job()]: JOB.n = 1",
]


def written(folder: Path, body: str) -> Path:
    path = folder / "spec.py"
    path.write_text(SPEC.format(body=body))
    return path


@pytest.mark.parametrize("body", SHARED)
def test_a_change_of_something_of_the_module_is_refused(body: str, tmp_path: Path) -> None:
    with pytest.raises(SpecErrors) as caught:
        load(written(tmp_path, body))

    [error] = caught.value.errors
    assert error.code == "SW102"
    assert (
        error.message == SHARED[body] + ", a variable of the module, which is no part of the state."
    )


@pytest.mark.parametrize("body", FINE)
def test_what_is_in_the_state_or_local_is_not(body: str, tmp_path: Path) -> None:
    assert load(written(tmp_path, body)).actions


def test_a_cache_of_what_is_in_the_state_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecErrors) as caught:
        load(written(tmp_path, "self.n = stale()"))

    [error] = caught.value.errors
    assert error.code == "SW104"
    assert "'stale' looks at the state, and functools.cache remembers" in error.message
