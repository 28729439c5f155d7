"""Notations of Jepsen and Elle: what a file does not say, and what it says in a way of its own.

The generator writes one history in many notations, and as the lines of our format that it means.
It cannot show that Jepsen's own files are as its documentation says.
"""

import random
from pathlib import Path
from typing import Any

import pytest

from statewalk.checker.history import formats
from statewalk.checker.history.decide.check import check_levels
from statewalk.checker.history.errors import HistoryError
from statewalk.checker.history.formats.edn import EdnError, Reader
from statewalk.checker.history.formats.jsonl import from_records
from tests.cases import slow
from tests.checker.history.test_oracle import random_histories

Record = dict[str, Any]


def read(folder: Path, *lines: str) -> Any:
    (folder / "h.edn").write_text("".join(line + "\n" for line in lines))
    return formats.read(folder / "h.edn")


def verdicts(history: Any) -> dict[str, tuple[bool, str]]:
    try:
        return {name: (v.holds, v.reason) for name, v in check_levels(history).items()}
    except HistoryError as error:
        return {error.code: (False, "")}


def mops(ops: list[list[Any]], *, results: bool) -> str:
    def value(x: Any) -> str:
        return "nil" if x is None else str(x)

    return " ".join(
        f"[:{word} {key} {value(found) if results or word != 'r' else 'nil'}]"
        for word, key, found in ops
    )


def in_edn(rng: random.Random, records: list[Record]) -> tuple[list[str], list[Record]]:
    """Lines of EDN in some notation, one transaction after another, and what they mean."""
    timed, likely = rng.choice([0, 0.8, 1, 1]), rng.choice([0, 0.3, 1])
    lines: list[str] = []
    meant: list[Record] = []
    for record in records:
        status = record.get("status", "ok")
        kinds = ["invoke", status] if rng.random() < 0.95 else [status]
        nobody, silent = rng.random() < likely / 3, rng.random() < likely and len(kinds) == 2
        said: Record = {**record, "session": None if nobody else record["session"]}
        unknown = silent or status != "ok"
        said["ops"] = [
            op[:2] if op[0] == "r" and (silent or (unknown and op[2] is None)) else op
            for op in record["ops"]
        ]
        for name in ("begin", "end"):
            said.pop(name, None)
        for kind in kinds:
            line = f"{{:type :{kind}, :f :txn"
            if not nobody or rng.random() < 0.5:
                line += f", :process {'nil' if nobody else record['session']}"
            if kind == "invoke" or not silent:
                line += f", :value [{mops(record['ops'], results=kind != 'invoke')}]"
            elif rng.random() < 0.5:
                line += ", :value nil"
            if rng.random() < timed:
                line += f", :time {10 * len(lines)}"
                said |= {"begin" if kind == "invoke" else "end": 10 * len(lines)}
            elif rng.random() < 0.5:
                line += ", :time -1"
            lines.append(f"{line}, :index {len(lines)}}}")
        if status == "info":
            said.pop("end", None)
        meant.append(said)
    if not any("begin" in r or "end" in r for r in meant):
        _number(lines, meant)
    return lines, meant


def _number(lines: list[str], meant: list[Record]) -> None:
    """Without times the order of the events is the clock, if some were invoked."""
    if not any(":invoke" in line for line in lines):
        return
    at = -1
    for record in meant:
        at += 1
        if ":invoke" in lines[at]:
            record["begin"], at = at, at + 1
        if ":info" not in lines[at]:
            record["end"] = at


@pytest.mark.parametrize(
    ("count", "seed"), [(20, 0), slow(60, 0), *(slow(400, seed) for seed in range(1, 4))]
)
def test_every_notation_of_a_history_has_the_same_verdicts(
    count: int, seed: int, tmp_path: Path
) -> None:
    rng, held = random.Random(seed), 0
    for records, _ in random_histories(count, seed):
        if any(op[0] == "range" for r in records for op in r["ops"]):
            continue
        lines, meant = in_edn(rng, records)

        found = verdicts(read(tmp_path, *lines))

        assert verdicts(from_records(meant)) == found, (lines, meant)
        held += any(holds for holds, _ in found.values())
    assert held > count // 10


def test_a_time_of_minus_one_is_none(tmp_path: Path) -> None:
    lines = [
        "#jepsen.history.Op{:index 0, :time -1, :type :invoke, :process 0, :value [[:w :x 1]]}",
        "#jepsen.history.Op{:index 1, :time -1, :type :ok, :process 0, :value [[:w :x 1]]}",
        "#jepsen.history.Op{:index 2, :time -1, :type :invoke, :process 1, :value [[:r :x nil]]}",
        "#jepsen.history.Op{:index 3, :time -1, :type :ok, :process 1, :value [[:r :x nil]]}",
    ]
    history = read(tmp_path, *lines)
    partial = read(tmp_path, *(s.replace("-1", "9") for s in lines[:2]), *lines[2:])

    assert (False, "") == verdicts(history)["strict-serializable"]
    assert "times are partial" in verdicts(partial)["strict-serializable"][1]


def test_a_time_that_means_none_is_not_written(tmp_path: Path) -> None:
    for origin in (0, 2**60):
        records = [{"session": 1, "begin": -1, "end": origin, "ops": [["w", "x", 1]]}]
        history = from_records(records if not origin else [{**records[0], "end": 5}])

        with pytest.raises(HistoryError, match="begins or ends at -1, which means no time"):
            formats.write(history, tmp_path / "out.edn", "edn")
    assert not (tmp_path / "out.edn").exists()


def test_an_ok_without_a_value_wrote_what_was_asked_and_read_what_nobody_knows(
    tmp_path: Path,
) -> None:
    history = read(
        tmp_path,
        "{:type :invoke, :process 0, :value [[:w :x 1] [:r :y nil] [:r :z 7]], :time 0}",
        "{:type :ok, :process 0, :time 1}",
        "{:type :ok, :process 1, :value [[:r :x 1]], :time 3}",
    )

    assert ["w(:x, 1)", "r(:y) = ?", "r(:z) = ?"] == [history.show(op) for op in range(3)]
    assert any("without a :value: 1" in note for note in history.notes)
    assert check_levels(history)["serializable"].holds


@pytest.mark.parametrize("process", ["nil", None])
def test_an_operation_of_no_process_counts(process: str | None, tmp_path: Path) -> None:
    who = "" if process is None else f", :process {process}"
    history = read(
        tmp_path,
        "{:type :ok, :process 0, :value [[:w :x 1]]}",
        f"{{:type :ok{who}, :value [[:r :x 7]]}}",
    )

    assert (0, None) == history.sessions
    assert (False, "") == verdicts(history)["read-committed"]


@pytest.mark.parametrize("process", [":a", "a", '"a"', "1.0", "true", r"\a", "[1]"])
def test_a_transaction_of_a_process_that_is_no_number_is_refused(
    process: str, tmp_path: Path
) -> None:
    with pytest.raises(HistoryError, match="line 1: SW701 the :process is"):
        read(tmp_path, f"{{:type :ok, :process {process}, :value [[:r :x 7]]}}")


def test_a_set_is_no_list(tmp_path: Path) -> None:
    for value in ("[:r :x #{2 1}]", "[:append :x #{2}]", "[:r #{1} nil]"):
        with pytest.raises(
            HistoryError, match="line 1: SW701 a set cannot be used as a key or value"
        ):
            read(tmp_path, f"{{:type :ok, :value [{value}]}}")


@pytest.mark.parametrize("pair", [("x", '"x"'), ('"x"', r"\x"), (":x", '":x"'), (r"\u0078", "x")])
def test_what_is_written_in_two_ways_is_not_one_key(pair: tuple[str, str], tmp_path: Path) -> None:
    with pytest.raises(HistoryError, match="which is not the same"):
        read(tmp_path, *(f"{{:type :ok, :value [[:w {key} 1]]}}" for key in pair))


def test_a_character_is_the_same_in_each_of_its_notations() -> None:
    assert ["\n", "A", "A", "u"] == Reader(r"[\newline \A \u0041 \u]").value()
    for text in (r"\new", r"\u00", r'"\q"', r'"\u00"'):
        with pytest.raises(EdnError):
            Reader(text).value()
