"""Readers of operations: times are exact, and what no record can be is refused with its place."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from statewalk import check_operations
from statewalk.checker.history.errors import HistoryError
from statewalk.checker.history.objects.asking import object_of
from statewalk.checker.history.objects.deciding import decide
from statewalk.checker.history.objects.reading import read_operations
from statewalk.checker.history.objects.writing import lines_of
from statewalk.dsl.errors import StatewalkError

WHOLE = {"client": "1", "op": '"put"', "key": '"x"', "args": '["a"]', "begin": "1", "end": "2"}
INVOKED = {"client": "1", "event": '"invoke"', "op": '"get"', "key": '"x"', "args": "[]", "id": "7"}
ENDED = {"client": "1", "event": '"ok"', "op": '"get"', "answer": '"a"', "id": "7"}
KINDS = (
    "null", "true", "0", "-1", "1.5", "NaN", "Infinity", "-Infinity", "1e999", "1e-" + "9" * 20,
    '""', '"\\ud800"', "[]", "[1]", "[[1.5]]", "{}", '{"a": NaN}', "9" * 5000, "[" * 3000,
)  # fmt: skip
REGISTER = object_of("register", {}, nil_is_unknown=False)
KV = object_of("kv", {}, nil_is_unknown=False)


def line(fields: dict[str, str]) -> str:
    return "{" + ", ".join(f'"{name}": {value}' for name, value in fields.items()) + "}"


def after(end: str, begin: str) -> str:
    """A write, and a read that misses it."""
    return (
        f'{{"client": 1, "op": "write", "args": [1], "begin": 0, "end": {end}}}\n'
        f'{{"client": 2, "op": "read", "answer": null, "begin": {begin}, "end": 9e307}}\n'
    )


@pytest.mark.parametrize(
    ("end", "begin"),
    [
        ("1764400000.123456710", "1764400000.123456720"),
        ("9007199254740992", "9007199254740993.0"),
        ("1e-400", "2e-400"),
        ("1.10", "1.1000000000000000000000000000000000000001"),
    ],
)
def test_times_are_compared_as_they_are_written(end: str, begin: str, tmp_path: Path) -> None:
    file, to = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    for first, second, holds in ((end, begin, False), (begin, end, True), (end, end, True)):
        file.write_text(after(first, second))
        found = read_operations(file)
        to.write_text("\n".join(lines_of(REGISTER, found, "jsonl")[0]))

        assert holds is decide(REGISTER, found).holds
        assert found.all == read_operations(to).all


def broken() -> Iterator[list[dict[str, str]]]:
    """Yield records in which a field is of each kind of JSON, and none is as it should be."""
    for value in KINDS:
        for name in (*WHOLE, "status", "answer", "id"):
            yield [{**WHOLE, name: value}]
        for name in (*INVOKED, "begin"):
            yield [{**INVOKED, name: value}, ENDED]
        for name in (*ENDED, "status"):
            yield [INVOKED, {**ENDED, name: value}]


def test_a_field_of_any_kind_is_read_or_refused_with_its_place(tmp_path: Path) -> None:
    file, refused = tmp_path / "a.jsonl", 0
    for records in broken():
        file.write_text("\n".join(map(line, records)))
        refused += is_refused(file, unhashable="{}" in records[0].values())

    assert 376 == refused


def is_refused(file: Path, *, unhashable: bool) -> bool:
    try:
        decide(KV, read_operations(file))
    except StatewalkError as error:
        placed = isinstance(error, HistoryError) and error.where.startswith("line ")
        if (placed and error.code == "SW701") or (unhashable and error.code in ("SW203", "SW711")):
            return True
        raise
    return False


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("client", True), ("status", []), ("args", "a"), ("end", float("nan")), ("end", True),
        ("answer", {1}), ("key", 1.5), ("id", [1]), ("op", None), ("key", object()),
        ("args", [10**5000]),
    ],
)  # fmt: skip
def test_a_record_of_python_is_refused_alike(name: str, value: Any) -> None:
    record = {n: json.loads(text) for n, text in WHOLE.items()} | {name: value}

    with pytest.raises(HistoryError, match="SW701"):
        check_operations([record], "kv")
