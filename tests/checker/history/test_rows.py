"""Impossible answers in histories: refused with their place, or a violation."""

import random
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from statewalk.checker.history import formats
from statewalk.checker.history.decide.check import Options, check
from statewalk.checker.history.decide.scan import scan
from statewalk.checker.history.errors import HistoryError
from statewalk.checker.history.explain import drawing
from statewalk.checker.history.explain.judging import judged
from statewalk.checker.history.formats.edn import EdnError, Reader
from statewalk.checker.history.formats.jsonl import from_records
from statewalk.dsl.errors import printable
from statewalk.dsl.library.levels import LEVELS
from tests.cases import slow
from tests.checker.history.simulated import Workload, simulate
from tests.checker.history.test_oracle import WAYS, guessed, possible, simulated

Ops = list[list[Any]]
UNKNOWN = {"statewalk-history": 1, "initial": "unknown"}


def txn(session: int, *ops: list[Any], **more: Any) -> dict[str, Any]:
    return {"session": session, "ops": list(ops), **more}


def names(records: list[dict[str, Any]]) -> list[str]:
    return [f.name for f in scan(from_records(records))[1]]


@pytest.mark.parametrize("write", ["w", "i"])
def test_a_tombstone_of_what_nobody_deleted_is_garbage(write: str) -> None:
    records = [txn(1, [write, 1, 5]), txn(2, ["range", 0, 3, [], [[1, 5]]])]

    verdicts, found = judged(from_records(records), "", Options())

    assert not any(v.holds for v in verdicts.values())
    assert ["garbage-read"] == [e.name for e in found.values()]
    assert "1 is deleted, and nobody did that: T1" in next(iter(found.values())).text


def test_a_deleted_row_that_is_live_is_garbage() -> None:
    assert ["garbage-read"] == names([txn(1, ["d", 1, 5]), txn(2, ["range", 0, 3, [[1, 5]]])])


def test_a_transactions_own_rows_are_judged_too() -> None:
    assert ["garbage-read"] == names([txn(1, ["d", 1, 5], ["range", 0, 3, [[1, 5]], []])])
    assert ["garbage-read"] == names([txn(1, ["w", 1, 5], ["range", 0, 3, [], [[1, 5]]])])


def test_an_initial_version_is_not_now_live_and_now_deleted() -> None:
    header = {"statewalk-history": 1, "initial": [[1, 5]]}
    live, dead = ["range", 0, 3, [[1, 5]]], ["range", 0, 3, [], [[1, 5]]]

    assert [] == names([header, txn(1, live), txn(2, live)])
    assert [] == names([header, txn(1, dead), txn(2, dead)])
    assert ["garbage-read"] == names([header, txn(1, live), txn(2, dead)])
    assert ["garbage-read"] == names([UNKNOWN, txn(1, dead), txn(2, live)])


def test_rows_of_a_transaction_that_aborted_say_nothing() -> None:
    assert [] == names([txn(1, ["w", 1, 5]), txn(2, ["range", 0, 3, [], [[1, 5]]], status="fail")])


def test_a_value_that_aborted_and_came_again_counts_for_the_one_that_committed() -> None:
    again = [txn(1, ["w", 1, 5], status="fail"), txn(1, ["d", 1, 5])]

    assert [] == names([*again, txn(2, ["range", 0, 3, [], [[1, 5]]])])
    assert ["garbage-read"] == names([*again, txn(2, ["range", 0, 3, [[1, 5]]])])


@pytest.mark.parametrize("seed", range(4))
def test_a_row_that_changes_sides_in_a_simulated_history_is_found(seed: int) -> None:
    rng = random.Random(seed)
    records = list(simulate(Workload("range", 60, keys=40, seed=seed)))
    ranges = [op for r in records for op in r["ops"] if op[0] == "range" and op[3]]
    op = rng.choice(ranges)

    assert [] == names(records)
    row = op[3].pop(rng.randrange(len(op[3])))
    op.append([row])
    assert "garbage-read" in names(records)


@pytest.mark.parametrize(
    "op",
    [
        ["range", 1, 3, [[7, 1]]],
        ["range", 1, 3, [[0, 1]]],
        ["range", 1, 3, [], [[4, 1]]],
        ["range", None, 3, [[4, 1]]],
        ["range", 5, None, [[4, 1]]],
        ["range", 1, 3, [["x", 1]]],
        ["range", "a", "c", [[2, 1]]],
        ["range", "a", "c", [["d", 1]]],
        ["range", None, "c", [[1, 1]]],
    ],
)
def test_a_row_outside_of_the_bounds_is_refused(op: list[Any]) -> None:
    with pytest.raises(HistoryError, match="returns key") as error:
        from_records([txn(1, op)])

    assert ("SW701", "line 1") == (error.value.code, error.value.where)


@pytest.mark.parametrize("rows", [[[[1, 1], [1, 2]]], [[[1, 1]], [[1, 1]]]])
def test_a_key_that_a_range_returns_twice_is_refused(rows: list[Any]) -> None:
    with pytest.raises(HistoryError, match="returns key 1 twice") as error:
        from_records([txn(1, ["range", 1, 3, *rows])])

    assert ("SW701", "line 1") == (error.value.code, error.value.where)


def test_an_outcome_of_two_open_transactions_with_one_id_is_refused() -> None:
    opened = [txn(n, ["w", n, 1], id="a", status="info") for n in (1, 2)]
    done = {"completes": "a", "status": "ok"}

    with pytest.raises(HistoryError, match="several transactions with that id are open") as error:
        from_records([*opened, done])

    assert ("SW701", "line 3") == (error.value.code, error.value.where)
    assert 2 == len(from_records([opened[0], done, opened[1], done]))


def test_rows_within_open_bounds_are_taken() -> None:
    records = [txn(1, ["range", None, None, [[4, 1], ["x", 2]]]), txn(1, ["range", 3, 3, [[3, 1]]])]

    assert 2 == len(from_records(records))


@pytest.mark.parametrize("end", ["\n", ""])
@pytest.mark.parametrize(
    "line",
    [
        '{"session":1,"ops":[["r","x",9]],"ops":[]}',
        '{"session":1,"status":"ok","ops":[],"status":"fail"}',
        '{"session":1,"ops":[],"state":{"a":1,"a":2}}',
    ],
)
def test_a_field_that_is_said_twice_is_refused(tmp_path: Path, line: str, end: str) -> None:
    file = tmp_path / "h.jsonl"
    file.write_text('{"session":1,"ops":[["w","x",1]]}\n' + line + end, encoding="utf-8")

    with pytest.raises(HistoryError, match="is there twice") as error:
        formats.read(file)
    assert ("SW701", "line 2") == (error.value.code, error.value.where)


def test_so_it_is_in_the_other_formats_that_have_fields(tmp_path: Path) -> None:
    log = '{"value": [["w", 1, 1, true]], "value": []}\n'
    (tmp_path / "J0001.log").write_text(log, encoding="utf-8")

    with pytest.raises(HistoryError, match="'value' is there twice"):
        formats.read(tmp_path)
    with pytest.raises(EdnError, match="there twice"):
        Reader("{:type :ok, :type :fail}").value()


def test_two_initial_values_of_one_key_are_refused(tmp_path: Path) -> None:
    header = {"statewalk-history": 1, "initial": [["x", 1], ["x", 2]]}
    log = '{"value": [["w", 1, 1, true], ["w", 1, 2, true]], "isInitial": true}\n'
    (tmp_path / "Jinitial.log").write_text(log, encoding="utf-8")

    with pytest.raises(HistoryError, match="of 'x' is stated twice: 1, and then 2") as error:
        from_records([header, txn(1, ["r", "x", 1])])
    assert "line 1" == error.value.where
    with pytest.raises(HistoryError, match="the initial value of 1 is stated twice: 1, and then 2"):
        formats.read(tmp_path)


def test_an_initial_value_of_a_list_is_refused() -> None:
    header = {"statewalk-history": 1, "initial": [["x", 1]]}

    with pytest.raises(HistoryError, match="used as a list") as error:
        scan(from_records([header, txn(1, ["r", "x", [1]])]))
    assert "SW704" == error.value.code


# -- lists that are not empty at the start


def test_a_list_that_nobody_began_is_what_it_was_at_the_start() -> None:
    records = [UNKNOWN, txn(2, ["r", "L", [864]]), txn(1, ["append", "L", 865])]
    both = [*records, txn(3, ["r", "L", [864, 865]])]

    for each in (records, both):
        verdicts = judged(from_records(each), "", Options())[0]
        assert {"strong-si", "strict-serializable"} == {n for n, v in verdicts.items() if v.reason}
        assert {True} == {v.holds for v in verdicts.values() if v.settled}


@pytest.mark.parametrize(
    "reads",
    [
        [[864], []],
        [[864], None],
        [[864, 865], [864, 866]],
        [[864, 865, 7], [864]],
        [[7, 864], [7]],
        [[865, 864]],
    ],
)
def test_a_list_has_one_beginning(reads: list[Any]) -> None:
    records = [txn(n, ["r", "L", read]) for n, read in enumerate(reads)]

    assert names([UNKNOWN, txn(9, ["append", "L", 865]), *records])


@pytest.mark.thorough
@pytest.mark.parametrize(("count", "seed"), [(6, 0), *(slow(25, seed) for seed in range(3))])
def test_what_a_list_held_at_the_start_changes_no_verdict(count: int, seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(count):
        make = rng.choice((guessed, simulated))
        records = make(rng, "list")
        for r in records:
            r["ops"] = [["r", k, v or []] if w == "r" else [w, k, v] for w, k, v in r["ops"]]
        longer = [
            {**r, "ops": [["r", k, [-k - 1, -9, *v]] if w == "r" else [w, k, v]
                          for w, k, v in r["ops"]]}
            for r in records
        ]  # fmt: skip
        before, after = from_records(records), from_records([UNKNOWN, *longer])
        for name, level in LEVELS.items():
            held = check(before, name).holds
            for way, options in WAYS.items() if not level.weak else [("plain", Options())]:
                assert held == check(after, name, options).holds, (name, way, records)
            assert level.weak or held == possible(records, level, 0.0)


# -- drawings


def test_drawings_hold_no_character_that_is_obeyed_or_forbidden() -> None:
    key = 'a\x1b[31m\x07\ufffe\u202e<&"\\'
    records = [
        txn(1, ["r", key, None], ["w", key, "\x00"]),
        txn(2, ["r", key, None], ["w", key, 2]),
    ]
    history = from_records([{**records[0], "session": "s\x1b"}, {**records[1], "id": "t\x07"}])
    found = next(iter(judged(history, "si", Options())[1].values()))

    drawn, graph = drawing.svg(history, found), drawing.dot(history, found)

    ElementTree.fromstring(drawn)
    assert printable(drawn) == drawn
    assert printable(graph) == graph
    assert "\\\\u001b" in graph


@pytest.mark.parametrize("ids", [["T2", None], ["a", "a"], [1, "1"], ["a@2", "a", "a"]])
def test_each_transaction_has_a_name_and_a_node_of_its_own(ids: list[Any]) -> None:
    records = [
        {**txn(n, ["r", "x", None], ["w", "x", n]), **({} if name is None else {"id": name})}
        for n, name in enumerate(ids)
    ]
    history = from_records(records)
    found = next(iter(judged(history, "si", Options())[1].values()))
    graph = drawing.dot(history, found)

    assert len(ids) == len({history.name(t) for t in range(len(ids))})
    assert all(graph.count(f"  n{n} [label=") == graph.count(f"  n{n} -> ") == 1 for n in (0, 1))
