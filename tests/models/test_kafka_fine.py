"""The coordinator model with GRAIN=fine: each row gives what it states; where each defect begins.

All numbers were found here.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from statewalk.dsl.declared import Configuration
from tests.cases import slow, some
from tests.declared import declared
from tests.models.kafka import (
    FOLDER,
    Constants,
    counts,
    explored,
    live,
    loaded,
    reached,
    search,
    slowly,
    steps,
    violated,
)

SPEC = "transactions.py"
LARGE = 1000
TOLD = "told_is_known"
OK = "no_ok_above_hwm"
ONCE = "fencing_raises_the_epoch_once"
OVER = "fenced_epoch_is_over"
MONOTONE = "committed_epoch_monotone"
LIVE = {
    "eventually_all_clients_have_pid": "holds",
    "eventually_one_client_adds_all_partitions": "holds",
}


def c(clients: int, brokers: int, elections: int, **more: Any) -> Constants:
    sizes = {"CLIENTS": clients, "BROKERS": brokers, "MAX_ELECTIONS": elections}
    return {**sizes, "GRAIN": "fine", **more}


@cache
def configurations() -> dict[str, Configuration]:
    found = declared(FOLDER / SPEC).items()
    return {name: row for name, row in found if row.constants.get("GRAIN") == "fine"}


def rows(*, breaks: bool) -> list[Any]:
    """Those that say how many states there are."""
    return [
        slow(row.name) if (row.expect.distinct or row.expect.states or 0) > LARGE else row.name
        for row in configurations().values()
        if row.expect is not None
        and bool(row.expect.properties) == breaks
        and (row.expect.distinct or row.expect.states)
    ]


@pytest.mark.parametrize("name", some(rows(breaks=False), every=20))
def test_a_row_holds_with_its_number_of_states_and_all_witnesses(name: str) -> None:
    row = configurations()[name]
    expect = row.expect
    assert expect is not None

    found = search(SPEC, **row.constants)

    assert (expect.generated, expect.distinct, expect.depth) == counts(found)
    assert {} == violated(found)
    exists = {p.name for p in loaded(SPEC, row.constants).properties if p.kind == "exists"}
    assert exists == set(reached(found))


@pytest.mark.thorough
@pytest.mark.parametrize("name", some(rows(breaks=True), every=20))
def test_a_row_breaks_what_it_names_and_nothing_else(name: str) -> None:
    row = configurations()[name]
    expect = row.expect
    assert expect is not None

    found = explored(SPEC, **row.constants)

    assert expect.lengths == violated(found)
    assert expect.states == found.counts.distinct


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        name
        for name, row in configurations().items()
        if row.expect is not None and row.expect.properties and row.expect.states is None
    ],
)
def test_a_mutant_breaks_its_property_in_so_many_steps(name: str) -> None:
    row = configurations()[name]
    expect = row.expect
    assert expect is not None

    found = search(SPEC, *expect.properties, **row.constants)

    assert dict.fromkeys(expect.properties, expect.length) == violated(found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mutant", "constants", "broken", "distinct"),
    [
        ("load_committed", c(1, 2, 0), TOLD, 13),
        ("load_committed", c(1, 1, 1), TOLD, 11),
        ("serve_while_loading", c(1, 2, 1), TOLD, 324),
        ("serve_while_loading", c(2, 2, 0), TOLD, 540),
        ("serve_while_loading", c(2, 1, 1), TOLD, 436),
        ("any_epoch_counts", c(1, 2, 1), "log_prefix", 377),
        ("any_epoch_counts", c(2, 2, 0), "log_prefix", 540),
        ("any_epoch_counts", c(2, 1, 1), "log_prefix", 436),
        ("no_truncation", c(1, 2, 0), "log_prefix", 13),
        ("no_truncation", c(1, 1, 1), "log_prefix", 11),
        ("truncate_to_hwm", c(1, 2, 2), TOLD, 3615),
        ("truncate_to_hwm", c(1, 3, 1), TOLD, 2117),
        ("catch_up_to_hwm", c(1, 2, 2, MAX_SHRINKS=1), TOLD, 10321),
        ("catch_up_to_hwm", c(1, 3, 1, MAX_SHRINKS=1), TOLD, 11268),
        ("catch_up_to_hwm", c(1, 3, 2), TOLD, 40818),
        ("fence_at_commit", c(1, 1, 0, TOPIC_PARTITIONS=2, MAX_TIMEOUTS=1), OVER, 135),
        ("fence_at_commit", c(2, 1, 0, MAX_TIMEOUTS=1), OVER, 2976),
        ("fence_at_commit", c(2, 1, 0, TOPIC_PARTITIONS=2), OVER, 3060),
        ("fence_again", c(1, 1, 0, MAX_TIMEOUTS=1), ONCE, 38),
        ("fence_again", c(2, 1, 0), ONCE, 436),
        ("none", c(1, 2, 0, REPEATED="answer"), OK, 13),
        ("none", c(1, 1, 1, REPEATED="answer"), OK, 11),
        ("none", c(1, 2, 2, REPEATED="answer"), TOLD, 2783),
        ("none", c(1, 3, 1, REPEATED="answer"), TOLD, 1525),
        ("none", c(1, 1, 0, MAX_TIMEOUTS=1), MONOTONE, 38),
        ("none", c(2, 1, 0), MONOTONE, 436),
    ],
)
def test_one_size_smaller_nothing_is_noticed(
    mutant: str, constants: Constants, broken: str, distinct: int
) -> None:
    found = search(SPEC, broken, **constants, MUTANT=mutant)

    assert {} == violated(found)
    assert found.complete
    assert distinct == found.counts.distinct


@pytest.mark.slow
@pytest.mark.parametrize("constants", [c(1, 2, 0), c(1, 2, 1)])
def test_the_reference_engine_counts_the_same(constants: Constants) -> None:
    expected = search(SPEC, **constants)

    found = slowly(SPEC, optimize=True, **constants)

    assert counts(expected) == counts(found)
    assert {} == violated(found)


@pytest.mark.slow
def test_an_answer_from_what_is_loaded_is_lost_with_the_next_leader() -> None:
    constants = configurations()["fine-answered-and-lost"].constants

    story = steps(SPEC, search(SPEC, TOLD, **constants), **constants)

    assert 2 == sum(".elect(" in step for step in story)
    assert 2 == sum(".receive_add_partitions_response(" in step for step in story)
    assert 19 == len(story)


@pytest.mark.slow
@pytest.mark.parametrize("constants", [c(1, 2, 1), c(2, 2, 1)])
def test_all_clients_get_an_id_and_one_adds_its_partitions(constants: Constants) -> None:
    verdicts = live(SPEC, **constants)

    assert LIVE == verdicts
