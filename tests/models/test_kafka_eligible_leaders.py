"""The model of eligible leader replicas: the public spec's counts, and what KIP-966 is for."""

from __future__ import annotations

import pytest

from statewalk.checker import native
from statewalk.checker.contract.search import SearchOptions
from statewalk.models.kafka.eligible.rows import ROWS
from tests.cases import slow
from tests.models.kafka import FOLDER, counts, loaded, violated

SPEC = FOLDER / "eligible_leaders.py"
CONSTANTS = {name: constants for name, _, constants in ROWS}
EXPECTED = {name: expect for name, expect, _ in ROWS}


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("slow", (535, 254, 16)),
        slow("fence", (3376, 1260, 21)),
        slow("crash", (16211, 6192, 30)),
        slow("stop", (2428, 1079, 22)),
        slow("behind", (3414, 1172, 25)),
        slow("reassigned", (38550, 12472, 29)),
        slow("last-replica", (942515, 290764, 41)),
    ],
)
def test_counts_are_those_of_the_public_spec(name: str, numbers: tuple[int, int, int]) -> None:
    found = native.explore(loaded(SPEC, CONSTANTS[name]), SearchOptions(keep_going=True))

    assert numbers == counts(found)
    assert {} == violated(found)


@pytest.mark.slow
def test_without_eligible_replicas_the_last_one_leads_with_an_empty_log() -> None:
    model = loaded(SPEC, CONSTANTS["last-replica-isr"])

    found = native.explore(model, SearchOptions(keep_going=True))

    assert EXPECTED["last-replica-isr"].lengths == violated(found)
