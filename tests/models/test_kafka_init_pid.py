"""Obtaining a producer id: the counts of the public spec, what each mutant breaks, and where first.

Counts marked TLC are those of the public TLA+ spec under TLC; those marked derived come from an
independent script. "Derived" lengths are of that script, too; the others were found here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from statewalk.checker.liveness.check import check_liveness
from tests.cases import slow, some
from tests.models.kafka import (
    FOLDER,
    Constants,
    counts,
    graph_of,
    live,
    reached,
    search,
    slowly,
    states_without_successor,
    violated,
)

SPEC = "init_pid.py"
PID = "eventually_all_clients_get_pid"


def c(clients: int, brokers: int, tids: int = 1, partitions: int = 1, **more: Any) -> Constants:
    """A configuration as the tables name it."""
    named = {"CLIENTS": clients, "BROKERS": brokers, "TIDS": tids, "LOG_PARTITIONS": partitions}
    return {**named, **more}


def history(constants: Constants) -> Constants:
    return {**constants, "KEEP_PROCESSED": True}


SMALL = [
    (c(1, 1), (5, 5, 5)),  # TLC
    (history(c(1, 1)), (5, 5, 5)),  # TLC
    (c(1, 2), (15, 14, 8)),  # TLC
    (history(c(1, 2)), (15, 14, 8)),  # TLC
    (c(2, 2), (581, 316, 15)),  # TLC
    (history(c(2, 2)), (861, 484, 18)),  # TLC
    (c(2, 2, 2, 2), (1985, 1041, 15)),  # derived
    (history(c(2, 2, 2, 2)), (2545, 1377, 18)),  # derived
]
LARGE = [
    (c(3, 2), (24169, 9098, 22)),  # TLC
    slow(history(c(3, 2)), (63721, 24362, 28)),  # TLC
    (history(c(4, 1)), (54401, 19312, 26)),  # TLC
    (c(4, 1), (54401, 19312, 26)),  # with one broker the two coincide
    (c(3, 1, 2), (9649, 4377, 19)),  # derived
]


@pytest.mark.parametrize(("constants", "expected"), some(SMALL[4:6] + LARGE, every=6))
def test_the_numbers_of_states_are_those_of_the_public_spec(
    constants: Constants, expected: tuple[int, int, int]
) -> None:
    found = search(SPEC, **constants)

    assert expected == counts(found)
    assert {} == violated(found)
    assert found.complete


@pytest.mark.sampled(2)
@pytest.mark.parametrize("optimize", [True, slow(False)], ids=["lowered", "plain"])
@pytest.mark.parametrize(("constants", "expected"), some(SMALL, every=5))
def test_the_reference_engine_counts_the_same(
    constants: Constants, expected: tuple[int, int, int], optimize: bool
) -> None:
    found = slowly(SPEC, optimize=optimize, **constants)

    assert expected == counts(found)
    assert {} == violated(found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("constants", "expected"),
    [
        (c(2, 2, 2, 2), (2097, 1137, 15)),  # derived
        (history(c(2, 2, 2, 2)), (2657, 1473, 18)),  # TLC
        (c(3, 1, 2), (13741, 6369, 19)),  # TLC
    ],
)
def test_with_the_two_defects_of_the_public_spec_its_counts_come_out(
    tmp_path: Path, constants: Constants, expected: tuple[int, int, int]
) -> None:
    text = (FOLDER / SPEC).read_text()
    both = tmp_path / "both.py"
    known = "        return self.metadata[tid]\n"
    both.write_text(text.replace(known, f"        pids.last = self.metadata[tid].pid\n{known}"))

    # the properties that the defects break are left out, so that the search goes to the end
    found = search(both, "type_ok", **constants, MUTANT="phantom_pending")

    assert text != both.read_text()
    assert expected == counts(found)


@pytest.mark.parametrize(
    ("constants", "expected"),
    [(c(2, 2), 12), slow(c(3, 2), 108)],
)
def test_behaviors_end_in_as_many_states_as_derived(constants: Constants, expected: int) -> None:
    _, graph = graph_of(SPEC, **constants)

    assert expected == states_without_successor(graph)


@pytest.mark.thorough
def test_witnesses_are_reached_in_the_smallest_configurations() -> None:
    clients = search(SPEC, **c(2, 1))
    brokers = search(SPEC, **c(1, 2))

    assert {
        "concurrent_transactions_reply": 4,
        "bumped_epoch_held": 7,
        "pid_after_an_error": 10,
    } == reached(clients)
    assert {"not_coordinator_reply": 2, "pid_after_an_error": 7} == reached(brokers)


# -- mutants -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("mutant", "constants", "broken", "length"),
    [
        ("phantom_pending", c(2, 1, 2), "pending_matches_log", 5),
        slow("pid_regress", c(4, 1, 3), "pid_per_tid", 8),  # derived
        slow("pid_regress", c(4, 1, 3), "unique_pid_epoch", 13),  # TLC
        slow("no_pending_check", c(2, 1), "pending_matches_log", 4),  # derived
        slow("no_pending_check", c(2, 1), "epoch_monotone", 4),  # derived
        slow("no_pending_check", c(2, 1), "unique_pid_epoch", 8),  # derived
        slow("early_reply", c(1, 1), "no_ok_above_hwm", 2),  # derived
        slow("no_epoch_bump", c(2, 1), "epoch_monotone", 5),  # derived
        slow("no_epoch_bump", c(2, 1), "unique_pid_epoch", 8),  # derived
    ],
)
def test_a_mutant_breaks_its_property_in_so_many_steps(
    mutant: str, constants: Constants, broken: str, length: int
) -> None:
    found = search(SPEC, broken, **constants, MUTANT=mutant)

    assert {broken: length} == violated(found)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("mutant", "constants", "broken"),
    [
        ("phantom_pending", c(1, 1, 2), "pending_matches_log"),
        slow("phantom_pending", c(2, 1, 1), "pending_matches_log"),
        slow("pid_regress", c(3, 1, 3), "pid_per_tid"),
        slow("pid_regress", c(4, 1, 2), "pid_per_tid"),
        slow("pid_regress", c(3, 1, 3), "unique_pid_epoch"),
        slow("pid_regress", c(4, 1, 2), "unique_pid_epoch"),
        slow("no_pending_check", c(1, 1), "pending_matches_log"),
        slow("no_pending_check", c(1, 1), "unique_pid_epoch"),
        slow("no_epoch_bump", c(1, 1), "epoch_monotone"),
        slow("no_epoch_bump", c(1, 1), "unique_pid_epoch"),
    ],
)
def test_one_size_smaller_the_mutant_goes_unnoticed(
    mutant: str, constants: Constants, broken: str
) -> None:
    found = search(SPEC, broken, **constants, MUTANT=mutant)

    assert {} == violated(found)
    assert found.complete


# -- liveness ------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "constants", [slow(c(1, 1)), c(1, 2), slow(c(2, 2)), slow(c(2, 2, 2, 2)), slow(c(3, 1, 2))]
)
def test_all_clients_get_a_producer_id(constants: Constants) -> None:
    verdicts = live(SPEC, **constants)

    assert {PID: "holds"} == verdicts


@pytest.mark.parametrize(
    ("mutant", "constants", "expected"),
    [
        ("weak_send", c(1, 2), "violated"),
        slow("weak_send", c(1, 1), "holds"),
        slow("phantom_pending", c(3, 1, 2), "violated"),  # TLC
        slow("phantom_pending", c(2, 1, 2), "holds"),
        slow("phantom_pending", c(2, 2, 2), "holds"),
        slow("phantom_pending", c(2, 2, 2, 2), "holds"),
        slow("phantom_pending", c(3, 1, 1), "holds"),
    ],
)
def test_mutants_that_keep_a_client_waiting(
    mutant: str, constants: Constants, expected: str
) -> None:
    verdicts = live(SPEC, **constants, MUTANT=mutant)

    assert {PID: expected} == verdicts


def test_a_weakly_fair_client_may_ask_the_wrong_broker_for_ever() -> None:
    model, graph = graph_of(SPEC, **c(1, 2), MUTANT="weak_send")

    (result,) = check_liveness(model, graph, model.properties)

    assert result.lasso is not None
    assert [
        "Client#0.send_init_pid(broker=Broker#1)",
        "Broker#1.receive_init_pid_request",
        "Client#0.receive_init_pid_response",
    ] == [model.actions[step.action].label for step in result.lasso.cycle]
