"""The model of share partitions: Kafka's races, each at its shortest, and none without them."""

from __future__ import annotations

import pytest

from statewalk.checker import native
from statewalk.checker.contract.search import SearchOptions
from statewalk.models.kafka.sharing.rows import ROWS
from tests.cases import slow
from tests.models.kafka import FOLDER, counts, loaded, violated

SPEC = FOLDER / "share_partition.py"
CONSTANTS = {
    name: {n: getattr(value, "__name__", value) for n, value in constants.items()}
    for name, _, constants in ROWS
}
EXPECTED = {name: expect for name, expect, _ in ROWS}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("one-record", (2792, 1057, 15)),
        slow("two-records", (1786906, 363345, 25)),
        slow("leader-moves", (142461, 34721, 26)),
        slow("offset-reset", (23672, 7261, 25)),
        slow("deleted", (68008, 21908, 22)),
        slow("expired-behind-archived", (2138095, 419150, 26)),
    ],
)
def test_nothing_is_violated_as_kafka_is(name: str, numbers: tuple[int, int, int]) -> None:
    found = native.explore(loaded(SPEC, CONSTANTS[name]), SearchOptions(keep_going=True))

    assert numbers == counts(found)
    assert {} == violated(found)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name",
    [
        "kafka18084",
        slow("kafka19476-archived"),
        slow("kafka19476-no-timer"),
        slow("kafka19476-cancelled"),
        slow("kafka19476-limit"),
        slow("leader-moves-unfenced"),
        slow("offset-reset-unfenced"),
        slow("sessions-end"),
    ],
)
def test_each_race_is_found_at_its_shortest(name: str) -> None:
    found = native.explore(loaded(SPEC, CONSTANTS[name]), SearchOptions(keep_going=True))

    assert EXPECTED[name].lengths == violated(found)


@pytest.mark.slow
def test_a_lock_that_expires_behind_the_start_leaves_a_record_on_offer() -> None:
    found = native.explore(loaded(SPEC, CONSTANTS["expired-behind"]), SearchOptions())

    lengths = violated(found)

    assert lengths
    assert lengths.items() <= dict(EXPECTED["expired-behind"].lengths).items()
