"""Viper's log folder: one file of JSON lines per session, committed transactions only.

Operations: [r, key, value, dead], [w, key, value, succeeded], [i|d, key, written, read, dead,
succeeded], [range, low, high, live, dead]. Value 0 is null; a delete writes a tombstone. A file
whose only transaction is marked isInitial holds the initial state.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from statewalk.checker.history.data import (
    DELETE,
    INSERT,
    READ,
    WRITE,
    Builder,
    History,
    Scalar,
)
from statewalk.checker.history.formats.plain import record_in
from statewalk.dsl.files import SaidTwice, read_bytes

_OP = (
    '["r", key, value, is_dead], ["w", key, value, succeeded], ["i"|"d", key, written, read, '
    'is_dead, succeeded] or ["range", low, high, live, dead]'
)


def files(folder: Path) -> list[Path]:
    """Return the session files of a log folder, in the order of their names, readable or not."""
    logs = [f for f in folder.iterdir() if f.name.startswith("J") and f.suffix == ".log"]
    return sorted(f for f in logs if not f.is_dir())


def read(folder: Path) -> History:
    """Return the history in a Viper log folder.

    Raises:  HistoryError with file, line and what was expected there.
    """
    build = Builder(str(folder), "viper")
    for file in files(folder):
        build.source = str(file)
        data = read_bytes(file)
        if data and not data.endswith(b"\n"):
            line = data.count(b"\n") + 1
            raise build.fail("the last line is cut off", f"line {line}", "a newline at the end")
        for number, line_text in enumerate(data.splitlines(), 1):
            if line_text.strip():
                _line(build, line_text, number, file.stem)
    build.source = str(folder)
    return build.history()


def _line(build: Builder, text: bytes, number: int, session: str) -> None:
    where = f"line {number}"
    try:
        record = record_in(text)
    except SaidTwice as error:
        raise build.fail(str(error), where, "each field once") from None
    except (ValueError, RecursionError) as error:
        raise build.fail(f"this is not JSON ({error})", where, "one JSON object") from None
    ops = record.get("value") if isinstance(record, dict) else None
    if not isinstance(ops, list):
        raise build.fail('the transaction has no list "value"', where, '{"value": [operations]}')
    if record.get("isInitial"):
        _initial(build, ops, where)
        return
    build.transaction(session, place=number)
    for op in ops:
        _operation(build, op, where)


def _initial(build: Builder, ops: list[Any], where: str) -> None:
    rows: list[tuple[Any, Any]] = []
    for op in ops:
        if isinstance(op, list) and len(op) > 2 and op[0] in ("w", "i"):
            rows.append((op[1], op[2]))
        elif isinstance(op, list) and len(op) > 3 and op[0] == "range":
            rows += _rows(build, op[3], where)
        else:
            raise build.fail(
                f"the initial values contain the operation {op!r}", where, "writes, or one range"
            )
    for key, value in rows:
        held = _value(build, value, where)
        if held is not None:
            build.holds(_scalar(build, key, where), held, where)


def _scalar(build: Builder, value: Any, where: str) -> Scalar:
    if type(value) is int or type(value) is str:
        return value
    raise build.fail(f"{value!r} cannot be used as a key or value", where, "an integer or a string")


def _value(build: Builder, value: Any, where: str) -> Scalar | None:
    if value is None or (type(value) is int and value == 0):
        return None
    return _scalar(build, value, where)


def _rows(build: Builder, rows: Any, where: str) -> list[tuple[Scalar, Scalar]]:
    if not isinstance(rows, list) or not all(
        isinstance(row, dict) and "id" in row and "val" in row for row in rows
    ):
        raise build.fail(
            f"the rows of a range query are {rows!r}", where, '[{"id": key, "val": value}, ...]'
        )
    found = [(_scalar(build, r["id"], where), _value(build, r["val"], where)) for r in rows]
    return [(key, value) for key, value in found if value is not None]


def _operation(build: Builder, op: Any, where: str) -> None:
    if not isinstance(op, list) or len(op) < 3:
        raise build.fail(f"there is no operation {op!r}", where, _OP)
    word = op[0]
    if word == "range" and len(op) > 3:
        low, high = (None if x in ("nil", None) else _scalar(build, x, where) for x in op[1:3])
        dead = _rows(build, op[4], where) if len(op) > 4 else []
        build.range_read(low, high, _rows(build, op[3], where), dead, where)
        return
    key = _scalar(build, op[1], where)
    if word == "r":
        build.op(READ, key, _value(build, op[2], where))
    elif word == "w":
        if len(op) < 4 or op[3] is not False:
            build.op(WRITE, key, _written(build, op[2], where))
    elif word in ("i", "d") and len(op) > 3:
        build.op(READ, key, _value(build, op[3], where))
        if len(op) < 6 or op[5] is not False:
            build.op(INSERT if word == "i" else DELETE, key, _written(build, op[2], where))
    else:
        raise build.fail(f"there is no operation {op!r}", where, _OP)


def _written(build: Builder, value: Any, where: str) -> Scalar:
    found = _value(build, value, where)
    if found is None:
        raise build.fail(
            "there is a write of null", where, "a unique value; a delete has a tombstone"
        )
    return found
