"""Turns of a loop that come in any order keep their elements interchangeable, in .fizz text too."""

from pathlib import Path

import pytest

from statewalk import check
from statewalk.dsl.loader import load
from tests.cases import slow
from tests.checker.symmetry.specs import orbits_by_force

HEAD = """---
deadlock_detection: false
options:
  crash_on_yield: false
---
"""
VALUES = f"""{HEAD}KEYS = symmetric_values("k", 3)

action Init:
    got = {{}}
    started = 0

action All:
    require started == 0
    started = 1
    parallel for k in KEYS:
        atomic:
            v = oneof [0, 1]
            got[k] = v
"""
ROLES = f"""{HEAD}symmetric role Worker:
    action Init:
        self.n = 0
    atomic func add():
        self.n += 1

action Init:
    workers = set()
    for i in range(3):
        w = Worker()
        workers.add(w)
    started = 0

action All:
    require started == 0
    started = 1
    parallel for w in workers:
        w.add()
"""


@pytest.mark.parametrize("engine", [slow("reference"), "native"])
@pytest.mark.parametrize(
    ("text", "orbits"),
    [
        # Begun or not; then d of three are done, d + 1 ways (how many got 1) for d = 0..3, and
        # where the last turn is taken it is one step more until the run is over.
        (VALUES, 1 + (1 + 2 + 3 + 4) + 4),
        (ROLES, 1 + 4 + 1),
    ],
    ids=["values", "roles"],
)
def test_turns_in_any_order_of_interchangeable_members_are_orbits(
    text: str, orbits: int, engine: str, tmp_path: Path
) -> None:
    path = tmp_path / "spec.fizz"
    path.write_text(text)

    merged = check(path, symmetry=True, engine=engine)
    whole = check(path, symmetry=False, engine=engine)

    assert orbits == merged.counts.distinct
    assert (orbits, whole.counts.distinct) == orbits_by_force(load(path))
