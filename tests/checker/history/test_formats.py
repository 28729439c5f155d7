"""Formats: what one can express survives the way there and back, and bad input says where.

Examples are written by hand from the formats' descriptions; they cannot show what other tools
write beyond those.
"""

import json
import random
import struct
from pathlib import Path
from typing import Any

import pytest

from statewalk.checker.history import formats
from statewalk.checker.history.data import History
from statewalk.checker.history.decide.check import check
from statewalk.checker.history.errors import HistoryError
from statewalk.checker.history.formats import cobra
from statewalk.checker.history.formats.edn import EdnError, Reader
from statewalk.checker.history.formats.jsonl import from_records, lines_of
from tests.checker.history import foreign
from tests.checker.history.simulated import Workload, simulate

PLAIN = [
    {"session": 0, "ops": [["w", 1, 10], ["w", 2, 11]]},
    {"session": 1, "ops": [["r", 1, 10], ["r", 2, 11], ["r", 3, None]]},
    {"session": 0, "ops": [["r", 1, 10], ["w", 1, 12]]},
]
# What each format that is written can express, in our own; read back it must be the same lines.
EXPRESSIBLE: dict[str, list[dict[str, Any]]] = {
    "jsonl": [
        {"statewalk-history": 1, "initial": [["k", 5]]},
        {"session": "a", "id": "t1", "status": "info", "begin": 1761000000123456700,
         "end": 1761000000123456789, "state": {"at": [1, 2]},
         "ops": [["r", "k", 5], ["i", "k", 6], ["r", "q"]]},
        {"session": 2, "status": "fail", "ops": [["d", 7, 8], ["append", "l", 1]]},
        {"session": 2, "ops": [["r", "l", [1, 2]], ["range", None, 9, [[7, 1]], [[8, 2]]]]},
    ],
    "edn": [
        {"session": 0, "begin": 1, "end": 4, "ops": [["append", "x", 1], ["r", ":y", [2, 3]]]},
        {"session": 1, "begin": 2, "end": 6, "status": "fail", "ops": [["w", 3, "a \"b\""]]},
        {"session": 0, "begin": 7, "end": 8, "ops": [["r", 3, None]]},
        {"session": 1, "begin": 9, "status": "info", "ops": [["r", 3], ["w", 3, 9]]},
    ],
}  # fmt: skip
# What the samples of the others say, in our own.
SAID: dict[str, list[dict[str, Any]]] = {
    "viper": [
        {"statewalk-history": 1, "initial": [["k", 5]]},
        {"session": "J0000", "ops": [["r", "k", 5], ["w", "k", 6], ["r", "z", None]]},
        {"session": "J0000", "ops": [["range", 1, 9, [[3, 4]], [[5, 6]]]]},
        {"session": "J0001", "ops": [["range", None, None, [], []]]},
    ],
    "polysi": [{**r, "id": i} for i, r in enumerate(PLAIN)],
    "dbcop": [PLAIN[0], PLAIN[2], PLAIN[1]],
    "cobra": [
        {"session": f"{s:06d}", "id": i + 1, "ops": PLAIN[i]["ops"]}
        for i, s in ((0, 0), (2, 0), (1, 1))
    ],
}


def shown(history: History) -> list[Any]:
    return [json.loads(line) for line in lines_of(history)]


@pytest.mark.parametrize("name", formats.WRITERS)
def test_what_a_format_can_express_comes_back_the_same(name: str, tmp_path: Path) -> None:
    history = from_records(EXPRESSIBLE[name])

    lost = formats.write(history, tmp_path / "h", name)
    back = formats.read(tmp_path / "h")

    assert name == back.format
    assert EXPRESSIBLE[name] == [r for r in shown(back) if r != {"statewalk-history": 1}]
    assert [] == lost


@pytest.mark.parametrize("name", SAID)
def test_the_formats_of_others_are_read(name: str, tmp_path: Path) -> None:
    foreign.write(name, tmp_path / "h")

    history = formats.read(tmp_path / "h")

    assert name == history.format
    assert SAID[name] == [r for r in shown(history) if r != {"statewalk-history": 1}]


@pytest.mark.parametrize("name", formats.WRITERS)
@pytest.mark.parametrize("kind", ["mixed", "append", "range"])
def test_a_verdict_survives_conversion_of_what_is_expressible(
    name: str, kind: str, tmp_path: Path
) -> None:
    history = from_records(simulate(Workload(kind, 40, sessions=4, keys=10, seed=2)))

    lost = formats.write(history, tmp_path / "h", name)

    dropped = any("range" in x for x in lost)
    assert dropped == ((name, kind) == ("edn", "range"))
    if not dropped:
        back = formats.read(tmp_path / "h")
        assert check(back, "strong-session-serializable").holds == (
            check(history, "strong-session-serializable").holds
        )
        assert check(back, "strong-session-si").holds


def test_a_conversion_says_everything_that_it_drops(tmp_path: Path) -> None:
    history = from_records(EXPRESSIBLE["jsonl"])

    lost = formats.write(history, tmp_path / "h.edn", "edn")

    assert {
        "the initial state",
        "model states",
        "range queries",
        "the difference of insert and delete from write (2 times)",
        "the names of sessions (now numbers)",
        "transaction ids",
        "when indeterminate transactions were given up",
    } == set(lost)


JEPSEN = """
; a comment, then a nemesis, then two transactions of which one crashes
{:process :nemesis, :type :info, :f :start, :value #object["x" 1]}
{:index 0 :type :invoke :process 0 :f :txn :time 10 :value [[:append 5 1] [:r 6 nil]]}
#jepsen.history.Op{:index 1 :type :invoke, :process 1, :f :txn, :time 11, :value [[:append 6 2]]}
{:index 2 :type :ok :process 0 :f :txn :time 12 :value [[:append 5 1] [:r 6 [2]]]}
{:index 3 :type :info :process 1 :f :txn :time 13 :value [[:append 6 2]] :error "timeout"}
{:type :invoke :process 2 :value [[:r 5 nil]]}
"""


def test_jepsen_operations_are_paired_and_crashes_are_indeterminate(tmp_path: Path) -> None:
    (tmp_path / "history.edn").write_text(JEPSEN)

    history = formats.read(tmp_path)

    assert "edn" == history.format
    assert [
        {"session": 0, "begin": 10, "end": 12, "ops": [["append", 5, 1], ["r", 6, [2]]]},
        {"session": 1, "status": "info", "begin": 11, "ops": [["append", 6, 2]]},
        {"session": 2, "status": "info", "ops": [["r", 5]]},
    ] == shown(history)[1:]
    assert check(history, "strict-serializable").holds


def test_the_session_of_a_transaction_without_a_process_is_not_recorded(tmp_path: Path) -> None:
    path = tmp_path / "h.edn"
    path.write_text(
        "{:type :invoke :value [[:append 5 1]]}\n{:type :ok :value [[:append 5 1]]}\n"
        "{:type :invoke :value [[:r 5 nil]]}\n{:type :ok :value [[:r 5 []]]}\n"
    )
    history = formats.read(path)

    assert (None, None) == history.sessions
    assert check(history, "serializable").holds
    assert "the history has no sessions" == check(history, "strong-session-serializable").reason


def test_a_first_transaction_of_zeros_is_polysi_s_initial_state(tmp_path: Path) -> None:
    path = tmp_path / "h.txt"
    path.write_text("w(1,0,0,0)\nw(2,0,0,0)\nr(1,0,1,1)\nw(2,7,1,1)\n")

    assert 1 == len(formats.read(path))
    path.write_text("w(1,0,0,0)\nw(2,7,0,0)\n")
    with pytest.raises(HistoryError, match="initial values"):
        formats.read(path)
    path.write_text("w(1,0,0,0)\nw(2,7,1,1)\nw(1,0,2,2)\n")
    with pytest.raises(HistoryError, match="a write of 0"):
        formats.read(path)


@pytest.mark.parametrize("first", b"[{r;#")
def test_a_number_that_is_a_letter_of_another_format_is_still_dbcop(
    first: int, tmp_path: Path
) -> None:
    path = tmp_path / "history.bincode"
    data = foreign.dbcop([[(1, 3, 4)]])
    path.write_bytes(bytes([first]) + data[1:])  # the history's number, which says nothing

    assert "dbcop" == formats.recognise(path)[0]
    assert 1 == len(formats.read(path))


def test_viper_rules_are_honoured(tmp_path: Path) -> None:
    (tmp_path / "J1.log").write_text(
        '{"value": [["w", 1, 5, false], ["w", 1, 6, true], ["r", 2, 0, true]]}\n'
        '{"value": [["d", 1, 7, 6, false, true], ["range", 1, "nil", [], [{"id": 1, "val": 7}]]]}\n'
    )
    (tmp_path / "J2.log").write_text('{"value": [["w", 3, 9, true]], "isInitial": true}\n')

    history = formats.read(tmp_path)

    assert [
        {"statewalk-history": 1, "initial": [[3, 9]]},
        {"session": "J1", "ops": [["w", 1, 6], ["r", 2, None]]},
        {"session": "J1", "ops": [["r", 1, 6], ["d", 1, 7], ["range", 1, None, [], [[1, 7]]]]},
    ] == shown(history)


COBRA_END = struct.pack(">cQ", b"S", 1) + struct.pack(">c3Q", b"W", 5, 1, 5)


@pytest.mark.parametrize(
    ("name", "content", "where", "expected"),
    [
        ("a.jsonl", b'{"session": 1, "ops": []}\n{"session": 1\n', "line 2", "one JSON object"),
        ("a.jsonl", b'{"session": 1, "ops": [["w", "x"]]}', "line 1", "an operation such as"),
        ("a.jsonl", b'{"session": 1, "ops": [["w", "x", 1.5]]}', "line 1", "an integer or a"),
        (
            "a.jsonl",
            b'{"session": 1, "ops": [], "ends": 3}',
            "line 1",
            "the fields begin, end",
        ),
        ("a.jsonl", b'{"session": 1, "ops": [], "end": NaN}', "line 1", "one JSON object"),
        (
            "a.jsonl",
            b'{"session": 1, "ops": [], "end": 1e-99999999999999999999}',
            "line 1",
            "one JSON object",
        ),
        (
            "a.edn",
            b"{:process 1, :type :ok, :time 0e99999999999999999999, :value [[:r 1 1]]}",
            "line 1",
            "operation maps",
        ),
        (
            "a.edn",
            b"{:process 1, :type :ok, :f :txn, :value [[:w 1 0x10]]}",
            "line 1",
            "an integer, string, keyword or vector",
        ),
        ("a.jsonl", b'{"session": 1, "ops": [], "state": -Infinity}', "line 1", "one JSON object"),
        ("a.jsonl", b'{"session": 1, "ops": [], "state": [1e999]}', "line 1", "one JSON object"),
        ("d/J1.log", b'{"value": [], "x": NaN}\n', "line 1", "one JSON object"),
        ("d/J1.log", b'{"value": [["r", 1, false, false]]}\n', "line 1", "an integer or a string"),
        ("a.jsonl", b'{"session": 1, "ops": [], "status": "no"}', "line 1", "ok, fail or info"),
        (
            "a.jsonl",
            b'{"session": 1, "ops": [], "begin": 0, "end": 9007199254740993}',
            "at 1",
            "2^53",
        ),
        (
            "a.jsonl",
            b'{"session": 1, "ops": [], "begin": 0.5, "end": 9007199254740993}',
            "at 1",
            "2^53",
        ),
        (
            "a.jsonl",
            b'{"session": 1, "ops": [], "begin": 1.7e9, "end": 1700000000.00000001}',
            "at 1",
            "fractions of at most 16 digits",
        ),
        (
            "a.edn",
            b"{:type :invoke :process 0 :value [[:w 1 2]] :time 1700000000.00000001}\n"
            b"{:type :ok :process 0 :value [[:w 1 2]] :time 1700000000.00000002}",
            "at 2",
            "fractions of at most 16 digits",
        ),
        ("a.jsonl", b'{"statewalk-history": 2}', "line 1", "version 1"),
        ("a.jsonl", b'{"statewalk-history": 1}', "", "at least one recorded transaction"),
        ("a.edn", b"{:type :ok :value [[:w 1 2]}", "line 1", "operation maps"),
        ("a.edn", b"{:type :ok :value [[:w 1 2]]}\n{:type :ok :value 3}", "line 2", "a vector of"),
        ("a.edn", b'{:type :ok :value [[:w 1 "a]]}', "line 1", "operation maps"),
        ("a.edn", b"{:type :ok :value " + b"[" * 5000, "line 1", "operation maps"),
        ("a.edn", b"{:type :ok :value [[:w 1 2]] :time 1e999}", "line 1", "a finite number"),
        ("a.jsonl", b'{"session": 1, "ops": [], "end": 1' + b"0" * 99 + b"}", "line 1", "a finite"),
        (
            "a.jsonl",
            b'{"session": 1, "ops": [], "end": ' + b"9" * 5000 + b"}",
            "line 1",
            "one JSON",
        ),
        ("a.txt", b"w(1,2,3," + b"9" * 5000 + b")\n", "line 1", "r(key,value"),
        ("a.txt", b"w(1,2,3,4)\nw(1,3,3\n", "line 2", "r(key,value,session,transaction)"),
        ("a.txt", b"r(1,0,3,3)\nw(1,0,3,4)\n", "line 2", "0 is the initial one"),
        ("a.bin", bytes(40) + bytes(24) + struct.pack("<Q", 0) + b"x", "byte 72", "the end"),
        ("a.bin", bytes(40) + bytes(24) + struct.pack("<Q", 9), "byte 64", "sessions"),
        ("d/c.log", COBRA_END + b"Q", "byte 34", "S, W, R or C"),
        ("d/c.log", COBRA_END + struct.pack(">cQ", b"C", 2), "byte 34", "commit of 1"),
        ("d/J1.log", b'{"value": [["w", 1, 2, true]]}', "line 1", "a newline at the end"),
        ("d/J1.log", b'{"value": [["x", 1, 2]]}\n', "line 1", '["r", key, value, is_dead]'),
        ("d/x.csv", b"", "", "session files J*.log"),
        ("a.dat", b"\x7fELF\x02\x01\x01", "", "one of jsonl, viper, edn"),
        ("a.dat", b"", "", "one of jsonl"),
    ],
)
def test_bad_input_names_the_place_and_what_was_expected(
    name: str, content: bytes, where: str, expected: str, tmp_path: Path
) -> None:
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(content)

    with pytest.raises(HistoryError) as caught:
        formats.read(file.parent if name.startswith("d/") else file)

    assert where == caught.value.where
    assert expected in caught.value.expected
    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize("format", ["viper", "cobra"])
def test_the_log_of_a_session_that_cannot_be_opened_is_not_left_out(
    format: str, tmp_path: Path
) -> None:
    foreign.write(format, tmp_path / "h")
    (tmp_path / "h" / "J0.log").symlink_to("missing")

    with pytest.raises(OSError, match=r"J0\.log"):
        formats.read(tmp_path / "h")


def test_a_cobra_transaction_that_is_cut_off_did_not_surely_commit(tmp_path: Path) -> None:
    (tmp_path / "c.log").write_bytes(COBRA_END + b"C\0\0")

    assert [2] == formats.read(tmp_path).status.tolist()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", formats.READERS)
def test_damaged_files_are_refused_or_read_but_never_crash(name: str, tmp_path: Path) -> None:
    rng = random.Random(4)
    if name in SAID:
        foreign.write(name, tmp_path / "h")
    else:
        formats.write(from_records(EXPRESSIBLE[name]), tmp_path / "h", name)
    inside = tmp_path / "h"
    files = sorted(inside.iterdir()) if inside.is_dir() else [inside]
    for _ in range(150):
        file = rng.choice(files)
        whole = file.read_bytes()
        damaged = bytearray(whole)
        for _ in range(rng.randint(1, 3)):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        file.write_bytes(damaged[: rng.randint(1, len(damaged))])
        try:
            check(formats.read(inside, name), "si")
        except HistoryError as error:
            assert error.expected  # noqa: PT017 - both outcomes are right
        file.write_bytes(whole)


def test_edn_is_only_data() -> None:
    text = r'#inst "2020" {:a [1 2N 3.5M nil true \c "q\"\n" sym] #_(skipped 1) :b #{1} } '

    reader = Reader(text)

    assert '#inst "2020"' == reader.value()
    assert {":a": [1, 2, 3.5, None, True, "c", 'q"\n', "sym"], ":b": (1,)} == reader.value()
    assert not reader.more()


def test_a_number_of_very_many_digits_is_said_to_be_one() -> None:
    for text in ("9" * 6000, "-" + "9" * 6000 + "N", "9" * 6000 + ".5M"):
        with pytest.raises(EdnError, match=r"a number of 600\d digits"):
            Reader(text).value()


def test_a_read_of_cobra_names_who_wrote_what_it_read(tmp_path: Path) -> None:
    def record(kind: bytes, *numbers: int) -> bytes:
        return kind + struct.pack(f">{len(numbers)}Q", *numbers)

    one = record(b"S", 1) + record(b"W", 77, 5, 0) + record(b"C", 1)
    (tmp_path / "1.log").write_bytes(one)
    for writer in (1, 3):
        two = record(b"S", 2) + record(b"R", writer, 77, 5, 0) + record(b"C", 2)
        (tmp_path / "2.log").write_bytes(two)
        if writer == 1:
            assert 2 == len(cobra.read(tmp_path).status)
        else:
            with pytest.raises(HistoryError, match="but 1 wrote it"):
                cobra.read(tmp_path)
