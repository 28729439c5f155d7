"""Part 3 of the Kafka models: each row gives what it states, and a size smaller nothing is wrong.

States and lengths marked derived come from a script outside this project, with one client, id and
data partition. All others were found here.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines import reference
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
    steps,
    violated,
)

SPEC = "exactly_once.py"
GROUPS = "groups.py"
QUICK = ("part2-t1", "hanging")  # one that holds, one that does not

HANGS, LEAKS, LOSES = "no_hanging_txn", "aborted_never_committed", "committed_never_aborted"
FENCED, FAILS, STUCK = "non_zombie_never_fenced", "never_failed", "Deadlock"
READS, MISSES = "read_committed_returns_what_is_committed", "atomic_visibility"
ENDS, READERS, CLIENTS = "decided_completes", "lso_advances", "clients_are_idle_or_done"


@cache
def configurations(spec: str) -> dict[str, Configuration]:
    return declared(FOLDER / spec)


def of(name: str, **changed: Any) -> Constants:
    """The constants of a row, some of them changed."""
    return {**configurations(SPEC)[name].constants, **changed}


def rows(spec: str) -> list[Any]:
    return [(spec, name) if name in QUICK else slow(spec, name) for name in configurations(spec)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("spec", "name"), [*rows(SPEC), *rows(GROUPS)])
def test_a_row_finds_what_it_states(spec: str, name: str) -> None:
    row = configurations(spec)[name]
    expect = row.expect
    assert expect is not None

    found = explored(spec, **row.constants)

    assert (expect.distinct or expect.states or found.counts.distinct) == found.counts.distinct
    assert expect.lengths.items() <= violated(found).items()
    assert bool(expect.lengths) == bool(violated(found))
    exists = {p.name for p in loaded(spec, row.constants).properties if p.kind == "exists"}
    assert exists == set(reached(found))


@pytest.mark.parametrize("spec", [SPEC, GROUPS])
def test_each_mutant_has_a_row_that_breaks_something(spec: str) -> None:
    broken = [c for c in configurations(spec).values() if c.expect and c.expect.properties]
    quick = next((c.constants for c in broken if c.name in QUICK), {})

    assert set(loaded(spec, quick).mutants) == {
        c.constants["MUTANT"] for c in broken if "MUTANT" in c.constants
    }


# -- the two matrices ----------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "states", "broken"),
    some(
        [
            ("hanging", 15, {HANGS: 5}),
            ("leak", 88, {HANGS: 5, LEAKS: 11}),
            ("part1-unguarded", 22, {HANGS: 6}),
            ("part1-fused-t1", 16, {}),
            ("part1-fused", 96, {LEAKS: 11}),
            ("part1-t1", 20, {}),
            ("part2-t1", 12, {}),
            ("part2", 56, {}),
            ("kafka-18575-mended", 29, {}),
            ("markers-part2", 155, {}),
            ("kafka-19999", 87, {STUCK: 4}),
        ],
        every=11,
    ),
)
def test_what_a_script_outside_this_project_counted(
    name: str, states: int, broken: dict[str, int]
) -> None:
    found = explored(SPEC, **of(name))

    assert states == found.counts.distinct
    assert broken == violated(found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "broken", "length"),
    [
        ("part1", LEAKS, 12),
        ("kafka-6119", LOSES, 9),
        ("kafka-18575", LEAKS, 6),
        ("markers", LEAKS, 8),
        ("markers", LOSES, 9),
        ("kafka-19446", LEAKS, 8),
        ("kafka-19446", LOSES, 9),
    ],
)
def test_shortest_violations_are_as_derived_outside(name: str, broken: str, length: int) -> None:
    found = search(SPEC, broken, **of(name))

    assert {broken: length} == violated(found)


@pytest.mark.parametrize("optimize", [True, slow(False)], ids=["lowered", "plain"])
@pytest.mark.parametrize(
    "name",
    some(
        [
            "hanging",
            "leak",
            "part1",
            "part2",
            "markers",
            "kafka-9666",
            "kafka-20310",
            "kip939-no-split",
        ],
        every=8,
    ),
)
def test_the_reference_engine_agrees(name: str, optimize: bool) -> None:
    found = explored(SPEC, **of(name))

    model = loaded(SPEC, of(name), optimize=optimize)
    again = reference.explore(model, SearchOptions(keep_going=True))

    assert counts(found) == counts(again)
    assert violated(found) == violated(again)


# -- one size smaller ----------------------------------------------------------------------------
@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "smaller", "property_"),
    some(
        [
            ("leak", {"TXNS": 1}, LEAKS),
            ("leak", {"DELAYED_PRODUCE": False}, LEAKS),
            ("hanging", {"DELAYED_PRODUCE": False}, HANGS),
            ("kafka-6119", {"RECORDS": 1}, LOSES),
            ("kafka-6119", {"TXN_TIMEOUTS": 0}, LOSES),
            ("kafka-19999", {"LOST_ACKS": 0}, STUCK),
            ("kafka-19999-failover", {"ELECTIONS": 0}, STUCK),
            ("markers", {"DUPLICATE_MARKERS": 0}, LEAKS),
            ("markers", {"TXNS": 1}, LEAKS),
            ("librdkafka-3575", {"RECORDS": 1}, LOSES),
            ("kafka-14884", {"TXNS": 1}, "append_under_own_check"),
            ("kafka-18575", {"TXNS": 1}, LEAKS),
            ("kafka-18575", {"EAGER_BEGIN": False}, LEAKS),
            ("kafka-18464", {"EAGER_BEGIN": False}, FENCED),
            ("kafka-19367", {"PRODUCERS": 1}, "epoch_in_range"),
            ("kafka-19367", {"MAX_EPOCH": 2}, "epoch_in_range"),
            ("kafka-18660", {"TXNS": 1}, FENCED),
            ("kafka-18660", {"MAX_EPOCH": 3}, FENCED),
            ("kafka-20090", {"TXNS": 1}, STUCK),
            ("kafka-20090", {"TXN_TIMEOUTS": 0}, STUCK),
            ("kafka-9666", {"APPEND_FAILURES": 1}, STUCK),
            ("kafka-9666", {"PRODUCERS": 1}, STUCK),
            ("kafka-20310", {"ELECTIONS": 0}, FENCED),
            ("kafka-20310", {"LOST_RESPONSES": 0}, FENCED),
            ("kafka-20785", {"TXN_TIMEOUTS": 0}, FAILS),
            ("kafka-9144", {"EXPIRIES": 0}, "epochs_monotone"),
            ("kafka-9144", {"TXN_TIMEOUTS": 0}, "epochs_monotone"),
            ("two-systems-crash", {"PRODUCERS": 1}, "cross_system_atomic"),
            ("two-systems-timeout", {"TXN_TIMEOUTS": 0}, "cross_system_atomic"),
            ("kip939-no-bump", {"DELAYED_ENDS": 0}, LEAKS),
            ("kip939-no-bump", {"TXNS": 1}, LEAKS),
            ("kip939-no-split", {"ZOMBIES": False}, "no_zombie_writes"),
            ("kip939-no-split", {"RECORDS": 1}, "no_zombie_writes"),
            ("kip939-wrong-prev", {"MAX_EPOCH": 3}, FENCED),
            ("kip939-wrong-prev", {"LOST_RESPONSES": 0}, FENCED),
            ("kip939-wrong-prev", {"PRODUCERS": 1}, FENCED),
            ("last-epoch-kept", {"ZOMBIES": False}, "distinct_ids"),
            ("last-epoch-kept", {"CLIENT": "kip98"}, "distinct_ids"),
            ("consumers-leak", {"TXNS": 1}, READS),
            ("consumers-leak", {"VARIANT": "kip890_p2"}, READS),
            ("consumers-markers", {"DUPLICATE_MARKERS": 0}, MISSES),
            ("aborted-ids-stay", {"TXNS": 1}, MISSES),
        ],
        every=50,
    ),
)
def test_one_size_smaller_the_defect_goes_unnoticed(
    name: str, smaller: Constants, property_: str
) -> None:
    found = search(SPEC, property_, **of(name, **smaller))

    assert {} == violated(found)
    assert found.complete


def test_a_group_keeps_a_replaced_worker_out() -> None:
    without = explored(GROUPS, KIP447=False)

    assert {"exactly_once_processing": 9} == violated(without)
    assert {} == violated(explored(GROUPS, KIP447=False, WORKERS=1))
    assert {"all_is_processed": "holds"} == live(GROUPS)


@pytest.mark.slow
def test_a_transaction_recovered_with_its_last_epoch_ends_under_its_own_id() -> None:
    """The marker has the id of the transaction, the next one that of whoever recovered it."""
    found = explored(SPEC, **of("kip939-run-out", DELAYED_ENDS=0, LOST_RESPONSES=0, TXNS=1))

    assert {} == violated(found)
    assert 4 == reached(found)["recovered_with_an_id_of_its_own"]


# -- two transactional ids -----------------------------------------------------------------------
@pytest.mark.slow
def test_each_transactional_id_is_kept_apart_from_the_other() -> None:
    found = explored(SPEC, **of("two-ids"))

    assert {} == violated(found)
    assert 627 == found.counts.distinct


@pytest.mark.slow
def test_with_two_ids_a_late_batch_does_what_it_does_with_one() -> None:
    assert violated(explored(SPEC, **of("leak"))) == violated(explored(SPEC, **of("two-ids-leak")))


# -- consumers -----------------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("aborted-ids-stay", {MISSES}),
        ("no-aborted-index", {READS}),
        ("reads-to-the-end", {READS, MISSES}),
    ],
)
def test_consumers_with_a_defect_return_too_much_or_too_little(name: str, broken: set[str]) -> None:
    assert broken == set(violated(explored(SPEC, **of(name))))


@pytest.mark.slow
def test_who_reads_all_reads_what_is_aborted_and_who_reads_what_is_committed_does_not() -> None:
    found = explored(SPEC, **of("consumers-p2-t1"))

    assert {} == violated(found)
    assert "aborted_was_read" in reached(found)


@pytest.mark.slow
def test_what_is_wrong_in_a_log_is_read_one_step_later() -> None:
    found = violated(explored(SPEC, **of("consumers-leak")))

    assert found[LEAKS] + 1 == found[READS]


# -- stories -------------------------------------------------------------------------------------
def story(name: str, property_: str) -> list[str]:
    """Return what happens in the shortest violation, without the names of instances."""
    found = search(SPEC, property_, **of(name))
    return [label.split(".", 1)[1].split("(")[0] for label in steps(SPEC, found, **of(name))]


@pytest.mark.thorough
def test_a_late_batch_opens_a_transaction_that_nobody_ends() -> None:
    assert ["begin", "send", "abort", "receive_marker", "receive_produce"] == story(
        "hanging", HANGS
    )


@pytest.mark.slow
def test_a_late_batch_is_committed_with_the_next_transaction() -> None:
    told = story("leak", LEAKS)

    assert ["begin", "send", "abort", "receive_marker"] == told[:4]
    assert ["commit", "complete", "receive_produce", "receive_produce"] == sorted(
        step for step in told[4:10] if step not in ("begin", "send")
    )
    assert "receive_marker" == told[10]


@pytest.mark.slow
def test_a_marker_that_was_applied_is_refused_for_ever() -> None:
    assert ["begin", "send"] == story("kafka-19999-t1", STUCK)[:2]
    assert "receive_marker" == story("kafka-19999-t1", STUCK)[-1]


@pytest.mark.slow
def test_a_late_request_of_a_recovered_producer_ends_the_next_transaction() -> None:
    told = story("kip939-no-bump", LEAKS)

    assert ["begin", "send", "commit", "take_over", "recover", "repeat_end"] == told[:6]
    assert ["receive_late_end", "receive_marker"] == told[-2:]


# -- liveness ------------------------------------------------------------------------------------
@pytest.mark.thorough
@pytest.mark.parametrize(
    "name",
    some(
        [
            "part2-t1",
            "first-release",
            "part2-markers",
            "part2-requests",
            "part1-kip360-moves",
            "epochs-run-out",
            "zombie-part2",
            "kip939-all",
            "kafka-9666-mended",
            "consumers",
            "consumers-moves",
            "two-ids-moves",
            "two-ids-kip939",
        ],
        every=13,
    ),
)
def test_everything_ends(name: str) -> None:
    verdicts = live(SPEC, **of(name))

    assert {ENDS, READERS, CLIENTS} <= set(verdicts)
    assert {"holds"} == set(verdicts.values())


@pytest.mark.slow
def test_a_prepared_transaction_is_resolved_unless_nobody_comes_back() -> None:
    verdicts = live(SPEC, **of("kip939-crash"))

    assert "holds" == verdicts["prepared_is_resolved"]


@pytest.mark.parametrize(
    ("name", "broken"),
    some(
        [
            ("hanging", {READERS}),
            ("hanging-kip360", {READERS}),
            ("kafka-19999-t1", {ENDS}),
            ("part1-unguarded", {READERS}),
            ("kafka-20090", {CLIENTS}),
            ("kafka-9666", {CLIENTS}),
        ],
        every=6,
    ),
)
def test_what_never_ends(name: str, broken: set[str]) -> None:
    verdicts = live(SPEC, **of(name))

    assert broken == {p for p, verdict in verdicts.items() if verdict == "violated"}
