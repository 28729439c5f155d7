"""The coordinator model: the counts of the public spec, what each mutant breaks, and where first.

Counts marked TLC are those of the public TLA+ spec under TLC, whose defect is the mutant
``pid_regress`` and which copies the cache of the old leader; those marked derived come from an
independent script. All others were found here.
"""

from __future__ import annotations

from typing import Any

import pytest

from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines import reference
from statewalk.checker.liveness.check import check_liveness
from tests.cases import slow, some
from tests.models.kafka import (
    Constants,
    counts,
    graph_of,
    live,
    loaded,
    reached,
    search,
    slowly,
    steps,
    violated,
)

SPEC = "transactions.py"
EVERYBODY = "eventually_all_clients_have_pid"
SOMEBODY = "eventually_one_client_adds_all_partitions"
CACHE = {"MATERIALISE": "from_cache"}
PUBLISHED = {**CACHE, "MUTANT": "pid_regress"}
HISTORY = {"KEEP_PROCESSED": True}


def c(clients: int, brokers: int, elections: int, **more: Any) -> Constants:
    """A configuration as the tables name it; one id and one partition of each kind unless said."""
    return {"CLIENTS": clients, "BROKERS": brokers, "MAX_ELECTIONS": elections, **more}


SMALL = [
    (c(1, 2, 1, **PUBLISHED), (72, 60, 14)),  # TLC
    (c(1, 2, 1, **PUBLISHED, **HISTORY), (76, 65, 14)),  # TLC
    (c(1, 2, 1, **CACHE), (72, 60, 14)),
    (c(1, 2, 1), (68, 56, 14)),
    (c(1, 2, 1, **HISTORY), (72, 61, 14)),
    (c(2, 2, 0, **CACHE), (581, 324, 22)),  # derived
    (c(2, 2, 0, **CACHE, **HISTORY), (771, 448, 22)),  # derived
    (c(2, 2, 0), (581, 324, 22)),
    (c(2, 2, 0, **HISTORY), (771, 448, 22)),
]
LARGE = [
    (c(2, 2, 1, **PUBLISHED), (7000, 3517, 27)),  # TLC
    (c(2, 2, 1, **PUBLISHED, **HISTORY), (19646, 10897, 36)),  # TLC
    (c(2, 2, 1, **CACHE), (7520, 3809, 27)),  # derived
    slow(c(2, 2, 1, **CACHE, **HISTORY), (20356, 11313, 36)),  # derived
    (c(2, 2, 1), (7286, 3688, 27)),  # derived
    slow(c(2, 2, 1, **HISTORY), (18662, 10336, 36)),  # derived
    slow(c(2, 2, 2), (40368, 18644, 32)),
    slow(c(2, 2, 2, **CACHE), (42659, 19715, 32)),
    slow(c(2, 2, 2, **HISTORY), (257008, 137409, 47)),
    slow(c(2, 2, 2, **CACHE, **HISTORY), (292611, 156881, 47)),
    slow(c(2, 2, 1, TIDS=2, LOG_PARTITIONS=2), (24379, 11593, 27)),
    slow(c(2, 2, 1, TIDS=2, LOG_PARTITIONS=2, **CACHE), (25311, 12075, 27)),
    slow(c(2, 3, 1), (22413, 10004, 28)),
]


@pytest.mark.parametrize(
    ("constants", "expected"), some([*SMALL[:1], *SMALL[5:], *LARGE], every=50)
)
def test_the_numbers_of_states_are_those_of_the_table(
    constants: Constants, expected: tuple[int, int, int]
) -> None:
    found = search(SPEC, **constants)

    assert expected == counts(found)
    assert {} == violated(found)
    assert found.complete


@pytest.mark.parametrize("optimize", [True, slow(False)], ids=["lowered", "plain"])
@pytest.mark.parametrize(("constants", "expected"), some(SMALL[:5], every=5))
def test_the_reference_engine_counts_the_same(
    constants: Constants, expected: tuple[int, int, int], optimize: bool
) -> None:
    found = slowly(SPEC, optimize=optimize, **constants)

    assert expected == counts(found)
    assert {} == violated(found)


ANSWERED = {"truncated_request_answered": 4, "request_repeated_elsewhere": 13}
FOR_TWO = {
    "pid_lost": 8,
    "concurrent_transactions_reply": 4,
    "client_fenced": 10,
    "takeover_in_prepare_abort": 11,
    "epoch_skipped": 16,
}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("constants", "others"), [(c(1, 2, 1), {"pid_lost": 9}), slow(c(2, 2, 1), FOR_TWO)]
)
def test_witnesses_are_reached(constants: Constants, others: dict[str, int]) -> None:
    assert ANSWERED | others == reached(search(SPEC, **constants))


@pytest.mark.slow
def test_symmetric_states_of_the_public_spec_are_no_more_than_with_tlc() -> None:
    model = loaded(SPEC, c(2, 2, 1, **PUBLISHED))

    found = reference.explore(model, SearchOptions(symmetry=True, properties=("type_ok",)))

    assert (3520, 1767, 27) == counts(found)  # TLC prints 3573 and 1798


# -- mutants -------------------------------------------------------------------------------------
@pytest.mark.thorough
@pytest.mark.parametrize(
    ("mutant", "constants", "broken", "length"),
    [
        ("silent_truncation", c(1, 2, 1), "Deadlock", 4),
        slow("silent_truncation", c(1, 2, 1, **CACHE), "Deadlock", 4),
        slow("stale_commit", c(2, 2, 1), "log_prefix", 6),
        slow("stale_commit", c(2, 2, 1, **CACHE), "log_prefix", 6),  # TLC
        slow("no_epoch_check", c(2, 1, 0), "owner_only_transitions", 9),
        slow("early_reply", c(1, 1, 0), "no_ok_above_hwm", 2),
        slow("early_reply", c(2, 2, 1, **CACHE), "distinct_epochs", 7),  # TLC
        slow("early_reply", c(3, 2, 1), "distinct_epochs", 10),
        slow("pid_regress", c(4, 1, 0, TIDS=3), "pid_per_tid", 8),
        slow("pid_regress", c(3, 2, 1, TIDS=2), "pid_per_tid", 10),
        slow("pid_regress", c(3, 2, 1, TIDS=2, **CACHE), "pid_per_tid", 10),
    ],
)
def test_a_mutant_breaks_its_property_in_so_many_steps(
    mutant: str, constants: Constants, broken: str, length: int
) -> None:
    found = search(SPEC, broken, **constants, MUTANT=mutant)

    assert {broken: length} == violated(found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mutant", "constants", "broken", "distinct"),
    [
        ("silent_truncation", c(1, 2, 0), "Deadlock", 9),
        ("silent_truncation", c(1, 1, 1), "Deadlock", 9),
        ("stale_commit", c(1, 2, 1), "log_prefix", 82),
        ("stale_commit", c(1, 2, 1, **CACHE), "log_prefix", 102),  # TLC
        ("stale_commit", c(2, 1, 1), "log_prefix", 324),
        ("stale_commit", c(2, 2, 0), "log_prefix", 324),
        ("no_epoch_check", c(1, 1, 0), "owner_only_transitions", 9),
        ("early_reply", c(1, 2, 1, **CACHE), "distinct_epochs", 170),
        ("early_reply", c(2, 1, 1, **CACHE), "distinct_epochs", 540),
        ("early_reply", c(2, 2, 0, **CACHE), "distinct_epochs", 540),  # TLC
        ("early_reply", c(2, 2, 1), "distinct_epochs", 11993),
        ("early_reply", c(3, 2, 0), "distinct_epochs", 25688),
        ("pid_regress", c(2, 2, 1, TIDS=2), "pid_per_tid", 11037),
        ("pid_regress", c(2, 2, 1, TIDS=2, LOG_PARTITIONS=2), "pid_per_tid", 11009),
        ("pid_regress", c(3, 2, 0, TIDS=2), "pid_per_tid", 94665),
        ("pid_regress", c(3, 1, 0, TIDS=3), "pid_per_tid", 265132),
    ],
)
def test_one_size_smaller_the_mutant_goes_unnoticed(
    mutant: str, constants: Constants, broken: str, distinct: int
) -> None:
    found = search(SPEC, broken, **constants, MUTANT=mutant)

    assert {} == violated(found)
    assert found.complete
    assert distinct == found.counts.distinct


@pytest.mark.slow
def test_two_leaders_that_both_commit_write_different_logs() -> None:
    constants = c(2, 2, 1, MUTANT="stale_commit")

    story = steps(SPEC, search(SPEC, "log_prefix", **constants), **constants)

    assert [
        "Client#0.send_init_pid",
        "LogPartition#0.elect(broker=Broker#1)",
        "Client#1.send_init_pid",
        "Broker#0.receive_init_pid_request(client=Client#0)",
        "Broker#1.receive_init_pid_request(client=Client#1)",
    ] == story[:5]
    assert story[5].endswith("commit_append(partition=LogPartition#0)")


# -- liveness ------------------------------------------------------------------------------------
@pytest.mark.thorough
@pytest.mark.parametrize(
    "constants",
    [
        c(1, 2, 1),
        slow(c(2, 2, 0)),
        slow(c(2, 2, 1)),
        slow(c(2, 2, 1, **CACHE)),
        slow(c(2, 2, 2)),
        slow(c(2, 2, 2, **CACHE)),
        slow(c(2, 3, 1)),
    ],
)
def test_all_clients_get_an_id_and_one_adds_its_partitions(constants: Constants) -> None:
    verdicts = live(SPEC, **constants)

    assert {EVERYBODY: "holds", SOMEBODY: "holds"} == verdicts


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("mutant", "constants", "broken"),
    [
        ("silent_truncation", c(1, 2, 1), {EVERYBODY, SOMEBODY}),  # TLC
        slow("silent_truncation", c(1, 2, 0), set()),  # TLC
        slow("silent_truncation", c(1, 1, 1), set()),
        slow("no_complete_partial", c(1, 2, 1), set()),  # TLC
        slow("no_complete_partial", c(2, 2, 0), set()),
        slow("no_complete_partial", c(2, 1, 1), set()),
    ],
)
def test_mutants_that_keep_a_client_waiting(
    mutant: str, constants: Constants, broken: set[str]
) -> None:
    verdicts = live(SPEC, **constants, MUTANT=mutant)

    assert broken == {name for name, verdict in verdicts.items() if verdict == "violated"}


@pytest.mark.slow
def test_a_decision_that_nobody_completes_refuses_the_next_client_for_ever() -> None:
    model, graph = graph_of(SPEC, MUTANT="no_complete_partial")

    results = {r.property: r for r in check_liveness(model, graph, model.properties)}

    assert "holds" == results[SOMEBODY].verdict
    lasso = results[EVERYBODY].lasso
    assert lasso is not None
    assert [
        "Client#0.send_init_pid",
        "Broker#1.receive_init_pid_request(client=Client#0)",
        "Client#0.receive_init_pid_response(broker=Broker#1)",
    ] == [model.actions[step.action].label for step in lasso.cycle]
    assert 14 == len(lasso.stem)
