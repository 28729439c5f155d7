"""A level is judged only where the orders that it asks for were recorded; violations always are.

Small histories in which a missing time or session decides. They cannot show that other verdicts
are right: that is asked of the oracles.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from statewalk.checker.cli import main
from statewalk.checker.history import formats
from statewalk.checker.history.commands import many
from statewalk.checker.history.decide.check import Options, check, check_levels, summary
from statewalk.checker.history.errors import HistoryError
from statewalk.checker.history.formats.jsonl import from_records
from statewalk.dsl.library.levels import LEVELS
from tests.checker.history import foreign

REAL_TIME = ("strong-si", "strict-serializable")
IN_SESSIONS = tuple(n for n, level in LEVELS.items() if level.session and not level.real_time)
NO_TIMES = "the history has no times"
NO_SESSIONS = "the history has no sessions"


def write(x: int, session: Any = 1, **more: Any) -> dict[str, Any]:
    return {"session": session, **more, "ops": [["w", "x", x]]}


def read(x: int | None, session: Any = 2, **more: Any) -> dict[str, Any]:
    return {"session": session, **more, "ops": [["r", "x", x]]}


LOST_UPDATE = [
    {"session": s, "ops": [["r", "x", None], ["w", "x", s]]} for s in (1, 2)
]  # fmt: skip
PARTIAL = "times are partial: 1 of 2 committed transactions lack a begin or an end"
MISSING = {
    "none": ([write(1), read(None)], NO_TIMES),
    "of one": ([write(1, begin=1, end=2), read(None)], PARTIAL),
    "ends": ([write(1, begin=1), read(None, begin=5)], "the history has no ends"),
    "begins": ([write(1, end=2), read(None, end=9)], "the history has no begins"),
    "one begin": ([write(1, begin=1, end=2), read(None, end=9)], PARTIAL),
    "one end": ([write(1, begin=1), read(None, begin=5, end=9)], PARTIAL),
}


def edn(folder: Path, *lines: str) -> Path:
    file = folder / "h.edn"
    file.write_text("".join(line + "\n" for line in lines))
    return file


def events(folder: Path, *events: tuple[str, int | None, str, str], more: str = "") -> Path:
    """A file of (type, process, operations, other fields), each with its :index."""
    return edn(folder, *(
        f"{{:type :{kind}, :f :txn, :value [{value}], :index {i}{rest}"
        + (f", :process {process}}}" if process is not None else "}")
        for i, (kind, process, value, rest) in enumerate(events)
    ))  # fmt: skip


@pytest.mark.parametrize("level", REAL_TIME)
@pytest.mark.parametrize("missing", MISSING)
def test_a_level_of_real_time_is_not_judged_without_the_times(missing: str, level: str) -> None:
    records, reason = MISSING[missing]
    history = from_records(records)

    verdict = check(history, level)

    assert (False, False, reason) == (verdict.holds, verdict.settled, verdict.reason)
    assert reason == check_levels(history)[level].reason
    assert check(history, "strong-session-serializable").holds


@pytest.mark.parametrize(
    "records",
    [
        [write(1, begin=1, end=2), read(1, begin=3)],  # nothing began after it, whenever it ended
        [write(1, end=2), read(1, begin=3, end=4)],  # nothing ended before it
        [write(1, begin=1, end=2), write(2, 3, status="fail"), read(1, begin=3, end=4)],
        [write(1, begin=1, status="info"), read(1, begin=3, end=4)],  # it has no end
        [write(1, end=2, status="info"), read(1, end=4)],  # nobody ended before it began
        [write(1)],
    ],
)
def test_a_missing_time_that_can_order_nothing_is_not_missed(records: list[Any]) -> None:
    assert check(from_records(records), "strict-serializable").holds


@pytest.mark.parametrize(
    "records",
    [
        LOST_UPDATE,
        [write(1, begin=1, end=2), read(None, begin=3, end=4), read(1, 3)],
        [write(1, status="fail"), read(1)],
    ],
)
def test_what_was_recorded_is_enough_for_a_violation(records: list[Any]) -> None:
    history = from_records(records)

    for verdict in (check(history, "strong-si"), check_levels(history)["strong-si"]):
        assert (False, True, "") == (verdict.holds, verdict.settled, verdict.reason)


def test_nothing_is_judged_where_nothing_is_known_to_have_committed() -> None:
    history = from_records([write(1, status="fail"), write(2, status="info")])
    verdicts = check_levels(history)

    assert ([], []) == summary(verdicts)
    assert {"no transaction is known to have committed"} == {v.reason for v in verdicts.values()}
    assert not check(history, "read-committed").settled


def test_nothing_is_judged_where_no_operation_is_known() -> None:
    history = from_records([{"session": 1, "ops": []}, {"session": 2, "ops": [["r", "x"]]}])

    assert {"nothing is known that committed transactions read or wrote", NO_TIMES} == {
        v.reason for v in check_levels(history).values()
    }


def test_levels_with_session_order_are_not_judged_without_sessions() -> None:
    history = from_records([write(1, None), read(None, None)])
    verdicts = check_levels(history)

    assert ["serializable"] == summary(verdicts)[0]
    assert {NO_SESSIONS} == {verdicts[n].reason for n in IN_SESSIONS}
    assert {NO_SESSIONS} == {check(history, n).reason for n in IN_SESSIONS}
    assert {NO_TIMES} == {verdicts[n].reason for n in REAL_TIME}


def test_a_session_that_one_transaction_lacks_is_said_to_be_partial() -> None:
    history = from_records([write(1, 1), read(None, None), read(1, 3)])

    assert "sessions are partial: 1 of 3 committed transactions name none" == (
        check(history, "strong-session-si").reason
    )


def test_real_time_that_orders_what_any_session_could_does_without_sessions() -> None:
    records = [write(1, None, begin=1, end=2), read(1, None, begin=3, end=4)]
    touching = [records[0], {**records[1], "begin": 2}]

    assert {True} == {v.holds for v in check_levels(from_records(records)).values()}
    assert {True} == {check(from_records(records), n).holds for n in IN_SESSIONS}
    assert NO_SESSIONS == check(from_records(touching), "strong-si").reason
    assert NO_SESSIONS == check(from_records(records), "strong-si", Options(clock_error=1)).reason


# -- Jepsen's events


STALE = (("invoke", 0, "[:w :x 1]", ""), ("ok", 0, "[:w :x 1]", ""),
         ("invoke", 1, "[:r :x nil]", ""), ("ok", 1, "[:r :x nil]", ""))  # fmt: skip


def test_the_order_of_events_is_the_clock_of_a_jepsen_history_without_times(tmp_path: Path) -> None:
    ordered = formats.read(events(tmp_path, *STALE))
    overlapping = formats.read(events(tmp_path, STALE[0], STALE[2], STALE[1], STALE[3]))

    assert ([False, False], ["", ""]) == _told(ordered)
    assert ["strict-serializable"] == summary(check_levels(overlapping))[0]
    assert any("the order of the events is the clock" in note for note in ordered.notes)


def test_the_order_of_events_that_contradicts_their_index_is_no_clock(tmp_path: Path) -> None:
    lines = events(tmp_path, *STALE).read_text().splitlines()

    with pytest.raises(HistoryError, match=":index 0 comes after 3") as caught:
        formats.read(edn(tmp_path, lines[2], lines[3], lines[0], lines[1]))

    assert "line 3" == caught.value.where


def test_completions_alone_have_no_order(tmp_path: Path) -> None:
    history = formats.read(events(tmp_path, STALE[1], STALE[3]))

    assert ([False, False], [NO_TIMES] * 2) == _told(history)
    assert not history.notes


def test_times_count_where_there_are_any(tmp_path: Path) -> None:
    timed = [(*event[:3], f" :time {i}") for i, event in enumerate(STALE)]

    assert ["", ""] == _told(formats.read(events(tmp_path, *timed)))[1]
    assert [PARTIAL] * 2 == _told(formats.read(events(tmp_path, *timed[:2], *STALE[2:])))[1]


def _told(history: Any) -> tuple[list[bool], list[str]]:
    verdicts = [check(history, level) for level in REAL_TIME]
    return [v.holds for v in verdicts], [v.reason for v in verdicts]


def test_a_session_that_goes_back_is_refuted_and_snapshots_hold(tmp_path: Path) -> None:
    history = formats.read(events(
        tmp_path,
        ("invoke", 0, "[:r :x nil] [:r :z nil]", ""), ("ok", 0, "[:r :x nil] [:r :z [1]]", ""),
        ("invoke", 1, "[:append :x 1]", ""), ("ok", 1, "[:append :x 1]", ""),
        ("invoke", 1, "[:r :z nil]", ""), ("ok", 1, "[:r :z nil]", ""),
        ("invoke", 2, "[:append :z 1]", ""), ("ok", 2, "[:append :z 1]", ""),
    ))  # fmt: skip
    verdicts = check_levels(history)

    assert verdicts["si"].holds
    assert verdicts["serializable"].holds
    assert (False, True) == (
        verdicts["strong-session-si"].holds, verdicts["strong-session-si"].settled
    )  # fmt: skip


def test_lists_that_four_transactions_share_refute_snapshots_without_a_session(
    tmp_path: Path,
) -> None:
    values = (
        ("[:append 1 1] [:append 2 2] [:append 3 1]", "[:append 1 1] [:append 2 2] [:append 3 1]"),
        ("[:append 2 8] [:r 1 nil]", "[:append 2 8] [:r 1 [1]]"),
        ("[:append 3 4] [:r 2 nil] [:r 3 nil]", "[:append 3 4] [:r 2 [2 8]] [:r 3 [1 4]]"),
        ("[:r 1 nil] [:r 2 nil] [:append 3 3]", "[:r 1 [1]] [:r 2 [2]] [:append 3 3]"),
    )
    flow = [
        (kind, None, value, "")
        for pair in values
        for kind, value in zip(("invoke", "ok"), pair, strict=True)
    ]
    history = formats.read(events(tmp_path, *flow))
    verdicts = check_levels(history)

    assert not verdicts["si"].holds
    assert verdicts["si"].settled
    assert NO_SESSIONS == verdicts["strong-session-causal"].reason
    assert {None} == set(history.sessions)


@pytest.mark.parametrize(
    ("outcome", "anomaly", "level"), [("info", "", "serializable"), ("fail", "G1a", "si")]
)
def test_a_write_that_timed_out_may_have_happened_and_one_that_failed_has_not(
    outcome: str, anomaly: str, level: str, tmp_path: Path
) -> None:
    history = formats.read(events(
        tmp_path,
        ("invoke", 0, "[:w :x 637]", " :time 0"), ("ok", 0, "[:w :x 637]", " :time 1"),
        ("invoke", 1, "[:w :x 638]", " :time 2"), (outcome, 1, "[:w :x 638]", " :time 3"),
        ("invoke", 2, "[:r :x nil]", " :time 4"), ("ok", 2, "[:r :x 638]", " :time 5"),
        ("invoke", 3, "[:r :x nil]", " :time 6"), ("ok", 3, "[:r :x 637]", " :time 7"),
    ))  # fmt: skip

    assert (anomaly == "") == check(history, level).holds
    assert ([False, False], ["", ""]) == _told(history)
    assert [anomaly] * bool(anomaly) == [f.name for f in check(history, level).findings]


@pytest.mark.parametrize(
    ("operations", "name"),
    [
        (("[:w :x 1]", "[:r :x 2]"), "garbage-read"),
        (("[:append 1 1] [:r 1 nil] [:append 1 2] [:r 1 nil]",), "internal"),
    ],
)
def test_a_read_of_what_cannot_be_refutes_every_level(
    operations: tuple[str, ...], name: str, tmp_path: Path
) -> None:
    history = formats.read(events(
        tmp_path, *((kind, 0, op, "") for op in operations for kind in ("invoke", "ok"))
    ))  # fmt: skip

    assert {name} == {f.name for f in check(history, "read-committed").findings}


def test_a_history_as_jepsen_writes_it_today_is_read_whole(tmp_path: Path) -> None:
    op = "#jepsen.history.Op{:index %d, :time %d, :type :%s, :process %s, :f :txn, :value %s}"
    history = formats.read(edn(
        tmp_path,
        op % (0, 100, "invoke", "0", "[[:append 1 1]]"),
        op % (1, 150, "info", ":nemesis", '{"n1" :killed}'),
        op % (2, 200, "ok", "0", "[[:append 1 1]]"),
        "; a remark",
        "#_ {:left :out}",
        op % (3, 210, "invoke", "1", "[[:r 1 nil]]"),
        op % (4, 300, "ok", "1", "[[:r 1 []]]"),
        op % (5, 310, "invoke", "1", "[[:r 1 nil]]"),
        op % (6, 400, "ok", "1", "[[:r 1 (1)]]"),
    ))  # fmt: skip

    assert 3 == len(history)
    assert [3, 7, 9] == history.place.tolist()
    assert ([False, False], ["", ""]) == _told(history)
    assert check(history, "strong-session-serializable").holds


# -- our format, by the command


def test_an_old_value_refutes_what_real_time_orders_and_not_what_is_serial() -> None:
    records = [
        {"session": 1, "begin": 0, "end": 10, "ops": [["r", 0, None], ["w", 0, 1]]},
        {"session": 2, "begin": 1, "end": 11, "ops": [["w", 0, 2]]},
        {"session": 3, "begin": 20, "end": 30, "ops": [["r", 0, 1]]},
    ]
    verdicts = check_levels(from_records(records))

    assert verdicts["serializable"].holds
    assert verdicts["strict-serializable"].settled
    assert not verdicts["strict-serializable"].holds


def test_two_ranges_with_an_insert_into_each_other_are_write_skew() -> None:
    rows = [["a1", 10], ["a2", 20]], [["b1", 100], ["b2", 200]]
    records = [
        {"statewalk-history": 1, "initial": [*rows[0], *rows[1]]},
        {"session": 1, "begin": 1, "end": 4, "ops": [["range", "a", "b", rows[0]], ["i", "b3", 3]]},
        {"session": 2, "begin": 2, "end": 3, "ops": [["range", "b", "c", rows[1]], ["i", "a3", 5]]},
    ]

    assert (["strong-si"], ["serializable"]) == summary(check_levels(from_records(records)))


def saved(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(r) + "\n" for r in records))
    return path


def test_the_command_says_what_is_missing_and_that_nothing_is_decided(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(saved(tmp_path / "h.jsonl", MISSING["of one"][0]))

    assert 3 == main(["history", "check", file, "--level", "strict-serializable"])
    assert f"strict-serializable: not decided, since {PARTIAL} (" in capsys.readouterr().out
    assert 3 == main(["history", "check", file, "--level", "strong-si", "--json", "-"])
    found = json.loads(capsys.readouterr().out)
    assert (None, PARTIAL) == tuple(found["levels"]["strong-si"][k] for k in ("holds", "reason"))
    assert ([], []) == (found["strongest_that_hold"], found["weakest_that_fail"])
    assert 0 == main(["history", "check", file])
    assert f"Not decided, since {PARTIAL}: {', '.join(REAL_TIME)}\n" in capsys.readouterr().out


def here(files: list[Path], asked: many.FileChecks, jobs: int) -> list[many.Row]:
    """Return the rows without the processes, which test_many.py is about."""
    return [many.check_file(str(file), asked) for file in files]


def test_a_history_in_a_folder_is_as_undecided_as_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(many, "in_processes", here)
    saved(tmp_path / "a.jsonl", MISSING["none"][0])
    saved(tmp_path / "b.jsonl", [write(1, begin=1, end=2), read(1, begin=3, end=4)])
    command = ["history", "check", str(tmp_path), "--level", "strict-serializable", "--jobs", "1"]

    assert 3 == main(command)
    assert "2 histories: 1 holds, 1 undecided" in (out := capsys.readouterr().out)
    assert f"not decided, since {NO_TIMES}" in out
    assert 3 == main([*command, "--json", "-"])
    assert ["undecided", "holds"] == [
        row["outcome"] for row in json.loads(capsys.readouterr().out)["files"]
    ]


@pytest.mark.parametrize("name", ["polysi", "dbcop", "cobra"])
def test_a_format_without_times_is_not_judged_by_them(name: str, tmp_path: Path) -> None:
    foreign.write(name, tmp_path / "h")

    assert [NO_TIMES] * 2 == _told(formats.read(tmp_path / "h"))[1]


@pytest.mark.parametrize("name", formats.WRITERS)
def test_a_session_that_was_not_recorded_is_kept_or_said_to_be_lost(
    name: str, tmp_path: Path
) -> None:
    records = [{"session": None, "ops": [["w", 1, 1]]}, {"session": None, "ops": [["r", 1, 1]]}]

    lost = formats.write(from_records(records), tmp_path / "h", name)
    back = formats.read(tmp_path / "h")

    said = ["that sessions were not recorded (now one for each transaction) (2 times)"]
    assert ([] if name == "jsonl" else said) == lost
    assert (name == "jsonl") == (check(back, "strong-session-si").reason == NO_SESSIONS)
    assert [NO_TIMES] * 2 == _told(back)[1]


OUT_OF_ORDER = (
    ((":index 2, ", ":time 40"), (":index 0, ", ":time 20"), ":index 0 comes after 2"),
    ((":index 2, ", ""), (":index 0, ", ""), ":index 0 comes after 2"),
    ((":index 2, ", ""), (":index 2, ", ""), ":index 2 comes after 2"),
    (("", ":time 40"), ("", ":time 20"), ":time 20 comes after 40"),
    (("", ":time 0.5"), ("", ":time 0.25"), ":time 0.25 comes after 0.5"),
)


@pytest.mark.parametrize(("first", "second", "message"), OUT_OF_ORDER)
def test_events_in_another_order_than_their_session_had_are_refused(
    tmp_path: Path, first: tuple[str, str], second: tuple[str, str], message: str
) -> None:
    read = f"{{{first[0]}:type :ok, :process 0, :value [[:r :x nil]], {first[1]}}}"
    write = f"{{{second[0]}:type :ok, :process 0, :value [[:w :x 1]], {second[1]}}}"

    with pytest.raises(HistoryError, match=message) as caught:
        formats.read(edn(tmp_path, read, write))

    assert ("SW701", "line 2") == (caught.value.code, caught.value.where)


def test_events_of_several_processes_may_have_times_in_any_order(tmp_path: Path) -> None:
    lines = [f"{{:type :ok, :process {p}, :value [[:r :x nil]], :time {9 - p}}}" for p in (0, 1)]

    assert 2 == len(formats.read(edn(tmp_path, *lines)))


@pytest.mark.parametrize("certain", [False, True])
def test_times_that_contradict_the_order_of_a_session_decide_nothing(certain: bool) -> None:
    records = [write(1, 1, begin=10, end=20), read(1, 1, begin=1, end=5)]
    history = from_records(records)

    for level in REAL_TIME:
        verdict = check(history, level, Options(certain=certain))
        assert (False, False) == (verdict.holds, verdict.settled)
        if not certain:
            assert "T1 comes before T2 in session 1" in verdict.reason
            assert verdict.reason == check_levels(history)[level].reason
            assert check(history, level, Options(clock_error=5)).holds
    assert check(history, "strong-session-serializable").holds


def test_a_violation_in_a_session_stands_whatever_its_times_say() -> None:
    records = [write(1, 1, begin=10, end=20), read(None, 1, begin=1, end=5)]
    history = from_records(records)

    for verdict in (check(history, "strong-si"), check_levels(history)["strict-serializable"]):
        assert (False, True, "") == (verdict.holds, verdict.settled, verdict.reason)


def test_only_the_times_of_what_counts_contradict_a_session() -> None:
    aborted = [write(1, 1, begin=10, end=20, status="fail"), read(None, 1, begin=1, end=5)]
    unsure = [write(1, 1, begin=10, status="info"), read(None, 1, begin=1, end=5)]

    for records in (aborted, unsure):
        assert check(from_records(records), "strict-serializable").holds
