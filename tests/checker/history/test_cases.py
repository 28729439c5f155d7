"""The smallest histories that tell levels and anomalies apart, each with its name and verdicts.

These come from the definitions (Adya, Cerone and Gotsman, Fekete et al.); they cannot show that
large histories are decided rightly.
"""

from typing import Any

import pytest

from statewalk.checker.history.decide.check import Options, check, check_levels, summary
from statewalk.checker.history.decide.scan import scan
from statewalk.checker.history.errors import HistoryError
from statewalk.checker.history.explain.anomaly import Explanation, explain
from statewalk.checker.history.formats.jsonl import from_records
from tests.cases import slow

Ops = list[list[Any]]


def txn(session: int, *ops: list[Any], **more: Any) -> dict[str, Any]:
    return {"session": session, "ops": list(ops), **more}


def rx(value: Any) -> list[Any]:
    return ["r", "x", value]


def ry(value: Any) -> list[Any]:
    return ["r", "y", value]


def wx(value: Any) -> list[Any]:
    return ["w", "x", value]


def wy(value: Any) -> list[Any]:
    return ["w", "y", value]


def explained(records: list[dict[str, Any]], level: str, **options: Any) -> Explanation:
    history = from_records(records)
    known = scan(history)
    verdict = check(history, level, Options(**options), known=known)

    assert not verdict.holds
    return explain(history, verdict, options.get("clock_error", 0.0))


LONG_FORK = [txn(1, wx(1)), txn(2, wy(1)), txn(3, rx(1), ry(None)), txn(4, rx(None), ry(1))]
READ_ONLY_ANOMALY = [
    txn(1, rx(None), ry(None), wy(1)),
    txn(2, rx(None), wx(1)),
    txn(3, rx(1), ry(None)),
]


@pytest.mark.parametrize(
    ("records", "level", "name", "refutes", "count"),
    [
        ([txn(1, rx(None), wx(1)), txn(2, rx(None), wx(2))], "si", "lost-update",
         "parallel-si", 2),
        ([txn(1, wx(1), wy(1)), txn(2, rx(1), ry(None))], "si", "fractured-read",
         "monotonic-atomic-view", 2),
        ([txn(1, wx(1), wy(1)), txn(2, rx(None), ry(1))], "si", "read-skew", "read-atomic", 2),
        (LONG_FORK, "si", "long-fork", "prefix", 4),
        ([txn(1, rx(None), wy(1)), txn(2, ry(None), wx(1))], "serializable", "write-skew",
         "serializable", 2),
        (READ_ONLY_ANOMALY, "serializable", "read-only-anomaly", "serializable", 3),
        ([txn(1, wx(1)), txn(1, rx(None))], "strong-session-si", "stale-read-session",
         "strong-session-read-atomic", 2),
        ([txn(1, wx(1), begin=1, end=2), txn(2, rx(None), begin=3, end=4)], "strong-si",
         "stale-read", "strong-si", 2),
        ([txn(1, wx(1), status="fail"), txn(2, rx(1))], "si", "G1a", "read-committed", 2),
        ([txn(1, wx(1), wx(2)), txn(2, rx(1))], "si", "G1b", "read-committed", 2),
        ([txn(1, wx(1), ry(1)), txn(2, wy(1), rx(1))], "si", "G1c", "read-committed", 2),
        ([txn(1, wx(1)), txn(2, rx(1), wy(1)), txn(3, ry(1), rx(None))], "si",
         "causality-violation", "causal", 3),
        ([txn(1, ["append", "x", 1], ["append", "y", 1]),
          txn(2, ["append", "x", 2], ["append", "y", 2]), txn(3, ["r", "x", [1, 2]]),
          txn(4, ["r", "y", [2, 1]])], "si", "G0", "read-committed", 2),
        ([txn(1, ["append", "x", 1]), txn(2, ["append", "x", 2]), txn(3, ["r", "x", [1]]),
          txn(4, ["r", "x", [2]])], "si", "incompatible-order", "read-committed", 2),
        ([txn(1, wx(1), rx(None))], "si", "internal", "read-committed", 1),
        ([txn(1, rx(1), wx(1))], "si", "future-read", "read-committed", 1),
        ([txn(1, wx(1)), txn(2, rx(None), rx(1))], "si", "non-repeatable", "read-atomic", 1),
        ([txn(1, rx(7))], "si", "garbage-read", "read-committed", 1),
    ],
)  # fmt: skip
def test_an_anomaly_is_named_with_what_it_refutes(
    records: list[dict[str, Any]], level: str, name: str, refutes: str, count: int
) -> None:
    found = explained(records, level)

    assert (name, refutes, count) == (found.name, found.refutes, len(found.transactions))
    assert found.minimal


@pytest.mark.parametrize(
    ("records", "strongest", "weakest"),
    [
        (LONG_FORK, ["strong-session-parallel-si"], ["prefix"]),
        ([txn(1, rx(None), wx(1)), txn(2, rx(None), wx(2))], ["strong-session-prefix"],
         ["parallel-si"]),
        ([txn(1, wx(1)), txn(2, rx(1), wy(1)), txn(3, ry(1), rx(None))],
         ["strong-session-read-atomic"], ["causal"]),
        ([txn(1, wx(1), wy(1)), txn(2, rx(None), ry(1))],
         ["strong-session-monotonic-atomic-view"], ["read-atomic"]),
        ([txn(1, wx(1), wy(1)), txn(2, rx(1), ry(None))], ["strong-session-read-committed"],
         ["monotonic-atomic-view"]),
        ([txn(1, wx(1)), txn(2, rx(None), rx(1))], ["strong-session-monotonic-atomic-view"],
         ["read-atomic"]),
        ([txn(1, wx(1), ry(1)), txn(2, wy(1), rx(1))], [], ["read-committed"]),
        ([txn(1, wx(1), status="fail"), txn(2, rx(1))], [], ["read-committed"]),
        ([txn(1, rx(None), wy(1)), txn(2, ry(None), wx(1))], ["strong-session-si"],
         ["serializable"]),
        (READ_ONLY_ANOMALY, ["strong-session-si"], ["serializable"]),
        (READ_ONLY_ANOMALY[:2], ["strong-session-serializable"], []),
        ([txn(1, wx(1)), txn(1, rx(None))],
         ["strong-session-monotonic-atomic-view", "serializable"],
         ["strong-session-read-atomic"]),
        ([txn(1, wx(1), begin=1, end=2), txn(2, rx(None), begin=3, end=4)],
         ["strong-session-serializable"], ["strong-si"]),
    ],
)  # fmt: skip
def test_levels_split_where_the_definitions_do(
    records: list[dict[str, Any]], strongest: list[str], weakest: list[str]
) -> None:
    verdicts = check_levels(from_records(records))

    assert (strongest, weakest) == summary(verdicts)


def test_clocks_that_may_differ_excuse_a_stale_read() -> None:
    records = [txn(1, wx(1), begin=1, end=2), txn(2, rx(None), begin=3, end=4)]
    history = from_records(records)

    assert not check(history, "strong-si", Options(clock_error=0.9)).holds
    assert check(history, "strong-si", Options(clock_error=1.0)).holds


BLIND_WRITERS = [
    txn(1, wx(1), ["w", "a", 1]),
    txn(2, wx(2), ["w", "b", 1]),
    txn(3, wy(1), ["w", "c", 1]),
    txn(4, wy(2), ["w", "d", 1]),
    *(
        txn(10 + i, ["r", key, value], ["r", mark, 1])
        for i, (key, value, mark) in enumerate(
            [("x", v, m) for v in (1, 2) for m in "cd"]
            + [("y", v, m) for v in (1, 2) for m in "ab"]
        )
    ),
]


@pytest.mark.slow
def test_blind_writers_whose_every_order_fails_need_the_search() -> None:
    # no single order is refuted by what was observed; all four combinations of two orders are
    history = from_records(BLIND_WRITERS)
    verdict = check(history, "si", Options(via_sessions=False))

    found = explained(BLIND_WRITERS, "si")

    assert (False, "search") == (verdict.holds, verdict.stage)
    assert ("long-fork", 12) == (found.name, len(found.transactions))
    assert ["assumed", "assumed"] == [s.how for s in found.cycle if s.kind == "rw"]
    assert any("by rule 3" in line for reason in found.reasons for line in reason.lines)


@pytest.mark.parametrize("left_out", range(4, 12))
def test_without_any_one_reader_the_blind_writers_have_an_order(left_out: int) -> None:
    records = [r for i, r in enumerate(BLIND_WRITERS) if i != left_out]

    assert check(from_records(records), "si").holds


def test_a_range_that_misses_a_key_is_before_its_insert() -> None:
    records = [
        txn(1, ["i", 5, 1], ["w", 100, 1]),
        txn(2, ["r", 100, 1], ["range", 1, 9, []]),
    ]

    found = explained(records, "si")

    assert "fractured-read" == found.name
    assert any("range(1..9)" in step.text for step in found.cycle)


def test_a_tombstone_in_a_range_is_a_read_of_the_delete() -> None:
    records = [
        txn(1, ["i", 5, 1]),
        txn(2, ["r", 5, 1], ["d", 5, 2]),
        txn(3, ["range", 1, 9, [], [[5, 2]]]),
    ]
    history = from_records(records)

    assert check(history, "strong-session-serializable").holds
    assert not check(from_records([*records, txn(3, ["r", 5, 1])]), "strong-session-si").holds


def test_an_indeterminate_transaction_that_was_read_counts_as_committed() -> None:
    records = [txn(1, wx(1), status="info"), txn(2, rx(1))]

    assert check(from_records(records), "strong-session-serializable").holds


def test_an_indeterminate_transaction_that_nobody_read_is_left_out() -> None:
    records = [txn(1, rx(None), wx(1), status="info"), txn(2, rx(None), wx(2))]
    history = from_records(records)

    assert check(history, "serializable").holds
    assert 1 == len(check(history, "serializable").order) // 2


def test_an_indeterminate_transaction_may_take_effect_after_what_its_session_did_next() -> None:
    records = [txn(1, wx(1), status="info"), txn(1, rx(None)), txn(2, rx(1))]
    before = [txn(1, wx(2)), *records[:1], txn(2, rx(1)), txn(2, rx(2))]

    assert check(from_records(records), "strong-session-serializable").holds
    assert not check(from_records(before), "strong-session-si").holds


def test_an_indeterminate_writer_can_complete_a_lost_update() -> None:
    records = [txn(1, rx(None), wx(1), status="info"), txn(2, rx(None), wx(2)), txn(3, rx(1))]

    assert "lost-update" == explained(records, "si").name


def test_an_unknown_initial_state_explains_a_value_that_nobody_wrote() -> None:
    records = [txn(1, rx(7)), txn(2, rx(7), wx(8))]
    unknown = from_records([{"statewalk-history": 1, "initial": "unknown"}, *records])
    stated = from_records([{"statewalk-history": 1, "initial": [["x", 7]]}, *records])

    assert check(unknown, "strong-session-serializable").holds
    assert check(stated, "strong-session-serializable").holds
    assert "garbage-read" == explained(records, "si").name


def test_two_different_unwritten_values_of_a_key_contradict_an_unknown_initial_state() -> None:
    records = [{"statewalk-history": 1, "initial": "unknown"}, txn(1, rx(7)), txn(2, rx(8))]

    assert "garbage-read" == explained(records, "si").name


def test_a_value_written_twice_is_an_error_and_no_verdict() -> None:
    with pytest.raises(HistoryError, match="duplicate-write") as caught:
        check(from_records([txn(1, wx(1)), txn(2, wx(1))]), "si")

    assert "SW703" == caught.value.code


def test_writing_the_initial_value_is_an_error_since_a_read_of_it_would_be_ambiguous() -> None:
    records = [{"statewalk-history": 1, "initial": [["x", 7]]}, txn(1, rx(7)), txn(2, wx(7))]

    with pytest.raises(HistoryError, match=r"duplicate-write: T2 .* writes the initial value"):
        check(from_records(records), "si")


def test_an_aborted_transaction_may_have_written_the_initial_value() -> None:
    header = {"statewalk-history": 1, "initial": [["x", 7]]}
    records = [header, {**txn(1, wx(7)), "status": "fail"}, txn(2, rx(7)), txn(3, wx(8))]

    assert check(from_records(records), "strong-session-serializable").holds
    records[-1] = txn(2, wx(8), rx(8))
    assert check(from_records([*records, txn(2, rx(7))]), "serializable").holds
    assert not check(from_records([*records, txn(2, rx(7))]), "strong-session-serializable").holds


@pytest.mark.thorough
@pytest.mark.parametrize("many", [4_000, slow(20_000)])
def test_many_findings_take_no_time_of_their_own(many: int) -> None:
    reads = [["r", "x", 1 + i % 2] for i in range(many)]
    aborted = [{**txn(1, ["w", "y", 1]), "status": "fail"}] * many

    assert not check(
        from_records([txn(1, wx(3), *reads), txn(2, wx(1)), txn(3, wx(2))]), "si"
    ).holds
    assert not check(from_records([*aborted, *[txn(2, ["r", "y", 1])] * many]), "si").holds


def test_a_transaction_may_end_with_a_value_that_it_wrote_before() -> None:
    records = [txn(1, wx(1), wx(2), wx(1)), txn(2, rx(1))]

    assert check(from_records(records), "strong-session-serializable").holds
    assert "G1b" == explained([txn(1, wx(1), wx(2), wx(1)), txn(2, rx(2))], "si").name


def test_an_element_appended_twice_is_an_error() -> None:
    records = [txn(1, ["append", "x", 1], ["append", "x", 1])]

    with pytest.raises(HistoryError, match="duplicate-write"):
        check(from_records(records), "si")


def test_a_transaction_does_not_end_before_it_begins() -> None:
    with pytest.raises(HistoryError, match="ended at 1, before it began at 5"):
        from_records([txn(1, wx(1), begin=5, end=1)])


def test_a_retry_may_write_the_value_of_the_aborted_attempt() -> None:
    records = [txn(1, wx(1), status="fail"), txn(1, wx(1)), txn(2, rx(1))]

    assert check(from_records(records), "strong-session-serializable").holds


def test_a_key_is_a_list_or_a_register() -> None:
    with pytest.raises(HistoryError, match="both as a list and as a register"):
        check(from_records([txn(1, wx(1)), txn(2, ["append", "x", 2])]), "si")


def test_a_partly_shown_append_is_an_intermediate_read() -> None:
    records = [
        txn(1, ["append", "x", 1], ["append", "x", 2]),
        txn(2, ["append", "x", 3]),
        txn(3, ["r", "x", [1, 3]]),
    ]

    assert "G1b" == explained(records, "si").name


def test_every_step_of_a_cycle_cites_two_operations() -> None:
    found = explained(LONG_FORK, "si")

    assert 4 == len(found.cycle)
    assert all(min(step.cites) >= 0 for step in found.cycle)
    assert ["rw", "rw", "wr", "wr"] == sorted(step.kind for step in found.cycle)


def test_an_order_that_fails_both_ways_says_so() -> None:
    records = [txn(1, wx(1)), txn(2, rx(1), wx(2)), txn(3, rx(1), wx(3))]

    found = explained(records, "si")

    assert ["assumed"] == [step.how for step in found.cycle if step.kind == "ww"]
    assert 1 == len(found.reasons)
    assert any("-rw x->" in line for line in found.reasons[0].lines)
