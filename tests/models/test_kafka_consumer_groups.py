"""The consumer group model: the public spec's counts, and what each way to reconcile breaks."""

from __future__ import annotations

from typing import Any

import pytest

from statewalk.checker import native
from statewalk.checker.contract.search import SearchOptions
from statewalk.models.kafka.consumer_groups_rows import ROWS
from tests.cases import slow
from tests.models.kafka import FOLDER, counts, live, loaded, reached, violated

SPEC = FOLDER / "consumer_groups.py"
SIX = (
    "type_ok",
    "legal_target_assignment",
    "no_double_client_assignment",
    "valid_partition_epoch",
    "valid_stable_group_state",
    "valid_member_epoch",
)


def sized(clients: int, topics: int, perturbations: int) -> dict[str, Any]:
    return {"CLIENTS": clients, "TOPICS": topics, "PERTURBATIONS": perturbations}


@pytest.mark.parametrize(
    ("sizes", "numbers"),
    [
        ((1, 2, 1), (1066, 568, 20)),
        slow((2, 1, 0), (9511, 4009, 26)),
        slow((2, 2, 0), (17983, 7673, 26)),
        slow((1, 2, 2), (108002, 38299, 30)),
        slow((2, 2, 1), (30142395, 9630295, 56)),
    ],
    ids=lambda value: "/".join(map(str, value)),
)
def test_counts_are_those_of_the_public_spec(
    sizes: tuple[int, int, int], numbers: tuple[int, int, int]
) -> None:
    found = native.explore(loaded(SPEC, sized(*sizes)), SearchOptions(properties=SIX))

    assert numbers == counts(found)
    assert {} == violated(found)


@pytest.mark.slow
def test_symmetric_clients_halve_the_states() -> None:
    found = native.explore(loaded(SPEC, sized(2, 2, 0)), SearchOptions(symmetry=True))

    assert (8993, 3837, 26) == counts(found)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("sizes", "verdict"),
    [((1, 2, 1), "violated"), slow((2, 1, 0), "holds")],
    ids=lambda value: "/".join(map(str, value)),
)
def test_groups_converge_unless_a_topic_has_no_subscriber(
    sizes: tuple[int, int, int], verdict: str
) -> None:
    assert {"eventually_converges": verdict} == live("consumer_groups.py", **sized(*sizes))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variant", "numbers"), [("first", (3765, 1707, 25)), ("kafka16249", (8899, 3737, 23))]
)
def test_other_ways_to_reconcile_hold_without_faults(
    variant: str, numbers: tuple[int, int, int]
) -> None:
    constants = {**sized(2, 1, 0), "VARIANT": variant}
    found = native.explore(loaded(SPEC, constants), SearchOptions(keep_going=True))

    assert numbers == counts(found)
    assert {} == violated(found)
    assert {"has_converged": 10} == reached(found)
    assert {"eventually_converges": "holds"} == live("consumer_groups.py", **constants)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["kafka16147", "lost-answer", "lost-answer-first", "lost-answer-kafka16249"]
)
def test_what_breaks(name: str) -> None:
    expect, constants = next((e, c) for n, e, c in ROWS if n == name)

    found = native.explore(loaded(SPEC, constants), SearchOptions(keep_going=True))

    assert expect.lengths == violated(found)


@pytest.mark.slow
def test_without_local_epochs_the_coordinator_waits_for_ever() -> None:
    constants = {**sized(2, 1, 0), "VARIANT": "kafka16249", "MUTANT": "kafka16185"}

    assert {"eventually_converges": "violated"} == live("consumer_groups.py", **constants)
