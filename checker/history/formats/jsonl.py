"""Our own format: JSON Lines, one transaction per line, a lossless superset of the others.

An optional first line {"statewalk-history": 1, ...} is the header;
see docs/reference/history-format.md.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from statewalk.checker.history.clock import DIGITS, Fraction
from statewalk.checker.history.data import (
    APPEND,
    DELETE,
    INFO,
    INSERT,
    KINDS,
    LIST,
    RANGE,
    READ,
    STATUS,
    UNKNOWN,
    WRITE,
    Builder,
    History,
    Scalar,
)
from statewalk.checker.history.formats.plain import record_in
from statewalk.dsl.files import MOST, SaidTwice, opened

VERSION = 1
_SEVERAL = -1
_WRITES = {"w": WRITE, "i": INSERT, "d": DELETE, "append": APPEND}
_FIELDS = frozenset(("ops", "session", "status", "begin", "end", "id", "state"))
_OUTCOME = frozenset(("completes", "status", "end"))
_HEADER = frozenset(("statewalk-history", "initial"))
_OP = (
    'an operation such as ["r", key, value], ["w", key, value], ["i", key, value], '
    '["d", key, tombstone], ["append", key, element], ["r", key, [elements]] or '
    '["range", low, high, [[key, value], ...], [[key, tombstone], ...]]'
)
_SCALAR = "an integer or a string"


def read(path: Path) -> History:
    """Return the history in a JSON Lines file.

    Raises:  HistoryError with the line and what was expected there.
    """
    with opened(path, MOST) as lines:
        return parse(lines, str(path))


def parse(lines: Iterable[bytes], source: str) -> History:
    """Return the history in lines of JSON; `source` is what errors call them."""
    build, open_ = Builder(source, "jsonl"), dict[Scalar, int]()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        record = _record(build, line, number)
        if record is None:
            build.notes.append(f"Line {number}, the last one, is cut off and left out")
            break
        _add(build, record, number, open_)
    return build.history()


def from_records(records: Iterable[dict[str, Any]], source: str = "records") -> History:
    """Return the history in records that look like the decoded lines of a file."""
    build, open_ = Builder(source, "jsonl"), dict[Scalar, int]()
    for number, record in enumerate(records, 1):
        _add(build, record, number, open_)
    return build.history()


def _add(build: Builder, record: dict[str, Any], number: int, open_: dict[Scalar, int]) -> None:
    """Add one line; `open_` has the indeterminate transactions by their ids, or `_SEVERAL`."""
    if "statewalk-history" in record:
        _header(build, record, number)
    elif "completes" in record:
        _outcome(build, record, number, open_)
    else:
        _transaction(build, record, number)
        name = record.get("id")
        if build.status[-1] == INFO and name is not None:
            open_[name] = _SEVERAL if name in open_ else len(build.status) - 1


def _outcome(build: Builder, record: dict[str, Any], number: int, open_: dict[Scalar, int]) -> None:
    where, name = f"line {number}", record["completes"]
    _known_fields(build, record, _OUTCOME, where)
    status = record.get("status")
    if status not in STATUS[:INFO]:
        raise build.fail(f"the outcome is {status!r}", where, "ok or fail")
    if (type(name) is not int and type(name) is not str) or name not in open_:
        raise build.fail(
            f"the record completes {name!r:.60}, which is not open",
            where,
            "the id of an earlier transaction with status info",
        )
    t = open_.pop(name)
    if t == _SEVERAL:
        raise build.fail(
            f"the record completes {name!r:.60}, and several transactions with that id are open",
            where,
            "an id of its own for each transaction with status info",
        )
    build.status[t], build.end[t] = STATUS.index(status), build.time(record.get("end"), where)


def _record(build: Builder, line: bytes, number: int) -> dict[str, Any] | None:
    """Return what a line says; None for a last one that was cut off."""
    try:
        record = record_in(line, Fraction)
    except SaidTwice as error:
        raise build.fail(str(error), f"line {number}", "each field once") from None
    except (ValueError, RecursionError) as error:
        if build.session and not line.endswith(b"\n") and _is_beginning(line, error):
            return None
        raise build.fail(
            f"this is not JSON ({error})", f"line {number}", "one JSON object"
        ) from None
    if not isinstance(record, dict):
        raise build.fail(
            f"the line is a JSON {type(record).__name__}, not an object",
            f"line {number}",
            "one JSON object",
        )
    return record


def _is_beginning(line: bytes, error: Exception) -> bool:
    """Return whether a line is no JSON because its rest is missing."""
    if isinstance(error, UnicodeDecodeError):
        return error.end == len(line)
    if not isinstance(error, json.JSONDecodeError):
        return False
    ends = line.rstrip().endswith(b"}") and not error.msg.startswith("Unterminated string")
    return not ends or error.pos >= len(error.doc)


def _header(build: Builder, record: dict[str, Any], number: int) -> None:
    where = f"line {number}"
    if type(record["statewalk-history"]) is not int or record["statewalk-history"] != VERSION:
        raise build.fail(
            f"the header names version {record['statewalk-history']!r}", where, f"version {VERSION}"
        )
    if build.session:
        raise build.fail(
            "there is a header after the first transaction", where, "the header on the first line"
        )
    if build.has_header:
        raise build.fail("there is a second header", where, "one header")
    build.has_header = True
    _known_fields(build, record, _HEADER, where)
    initial = record.get("initial", [])
    if initial == "unknown":
        build.initial_known = False
    elif isinstance(initial, list):
        for row in initial:
            key, value = _pair(build, row, where)
            build.holds(key, value, where)
    else:
        raise build.fail(
            f"the field initial is {initial!r}", where, 'pairs [key, value], or "unknown"'
        )


def _known_fields(
    build: Builder, record: dict[str, Any], known: frozenset[str], where: str
) -> None:
    for name in record:
        if name not in known:
            raise build.fail(
                f"the record has an unknown field {name!r}",
                where,
                f"only the fields {', '.join(sorted(known))}"
                + ("; operations on one object are checked with --object" * ("op" in record)),
            )


def _transaction(build: Builder, record: dict[str, Any], number: int) -> None:
    where = f"line {number}"
    if not record.keys() <= _FIELDS:
        _known_fields(build, record, _FIELDS, where)
    ops = record.get("ops")
    if not isinstance(ops, list):
        raise build.fail('the transaction has no list "ops"', where, '"ops": [operations]')
    if "session" not in record:
        raise build.fail(
            "the transaction has no session", where, f"{_SCALAR}, or null where nobody recorded it"
        )
    session, status = record["session"], record.get("status", "ok")
    if session is not None and type(session) is not int and type(session) is not str:
        raise build.fail(f"the session is {session!r}", where, f"{_SCALAR}, or null")
    if status not in STATUS:
        raise build.fail(f"the status is {status!r}", where, "ok, fail or info")
    name = record.get("id")
    if name is not None and type(name) is not int and type(name) is not str:
        raise build.fail(f"the id is {name!r}", where, _SCALAR)
    build.transaction(
        session,
        place=number,
        status=STATUS.index(status),
        name=name,
        begin=build.time(record.get("begin"), where),
        end=build.time(record.get("end"), where),
        state=record.get("state"),
    )
    for op in ops:
        _operation(build, op, where)


def plain_operation(op: Any) -> list[Any]:
    """Return a copy of an operation, as a file would have it.

    Raises: HistoryError for what is none.
    """
    build = Builder("", "jsonl")
    found = _plain(build, op)
    _operation(build, found, "")
    copy: list[Any] = found
    return copy


def plain_header(initial: Any) -> dict[str, Any]:
    """Return the header of a file whose initial state is said.

    Raises: HistoryError for what is none.
    """
    build = Builder("", "jsonl")
    header: dict[str, Any] = {"statewalk-history": VERSION}
    if initial:
        header["initial"] = _plain(build, initial)
    _header(build, header, 1)
    return header


def _plain(build: Builder, value: Any) -> Any:
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        try:
            shown = f"{value!r:.60}"
        except ValueError:  # Python shows no integer of so many digits
            shown = "such a long number"
        raise build.fail(f"{shown} is no JSON ({error})", "", _SCALAR) from None


def _operation(build: Builder, op: Any, where: str) -> None:
    if type(op) is not list or len(op) < 2 or type(op[0]) is not str:
        raise build.fail(f"there is no operation {op!r}", where, _OP)
    word, key = op[0], op[1]
    if word == "range":
        _range(build, op, where)
        return
    if type(key) is not int and type(key) is not str:
        raise build.fail(f"the key is {key!r}", where, _SCALAR)
    if word == "r" and len(op) == 2:
        build.unknown_read(key)
        return
    if len(op) != 3:
        raise build.fail(f"there is no operation {op!r}", where, _OP)
    value = op[2]
    if word == "r":
        if type(value) is list:
            build.list_read(key, [_scalar(build, v, where) for v in value])
        else:
            build.op(READ, key, None if value is None else _scalar(build, value, where))
    elif word in _WRITES:
        build.op(_WRITES[word], key, _scalar(build, value, where))
    else:
        raise build.fail(f"there is no operation {op!r}", where, _OP)


def _scalar(build: Builder, value: Any, where: str) -> Scalar:
    if type(value) is int or type(value) is str:
        return value
    raise build.fail(f"the value {value!r} cannot be recorded", where, _SCALAR)


def _pair(build: Builder, row: Any, where: str) -> tuple[Scalar, Scalar]:
    if type(row) is not list or len(row) != 2:
        raise build.fail(f"the row is {row!r}", where, "[key, value]")
    return _scalar(build, row[0], where), _scalar(build, row[1], where)


def _range(build: Builder, op: list[Any], where: str) -> None:
    if len(op) not in (4, 5) or not all(isinstance(rows, list) for rows in op[3:]):
        raise build.fail(f"there is no operation {op!r}", where, _OP)
    low, high = (None if x is None else _scalar(build, x, where) for x in op[1:3])
    if low is not None and high is not None and type(low) is not type(high):
        raise build.fail(
            f"a range query has the bounds {low!r} and {high!r}",
            where,
            "two integers or two strings",
        )
    rows = [[_pair(build, row, where) for row in part] for part in op[3:]]
    build.range_read(low, high, rows[0], rows[1] if len(rows) > 1 else [], where)


def write(history: History, path: Path) -> list[str]:
    """Write every part of the history; what was dropped, in words.

    That is only a stated initial state that is then said to be unknown, and what floats round.
    """
    with path.open("w", encoding="utf-8") as out:
        for line in lines_of(history):
            out.write(line + "\n")
    lost = [DIGITS] if history.exact else []
    if history.initial and not history.initial_known:
        lost.append("the stated initial state, now unknown")
    return lost


def lines_of(history: History) -> Iterator[str]:
    """Yield the lines of the file, without their ends."""
    initial: Any = [[history.keys[k], history.values[v]] for k, v in history.initial.items()]
    if not history.initial_known:
        initial = "unknown"
    header: dict[str, Any] = {"statewalk-history": VERSION}
    yield json.dumps(header | ({"initial": initial} if initial else {}))
    for t in range(len(history)):
        record: dict[str, Any] = {"session": history.sessions[history.session[t]]}
        if t in history.names:
            record["id"] = history.names[t]
        if history.status[t]:
            record["status"] = STATUS[history.status[t]]
        for name, column in (("begin", history.begin), ("end", history.end)):
            if not math.isnan(column[t]):
                number = float(column[t])
                record[name] = history.origin + int(number) if number.is_integer() else number
        if t in history.states:
            record["state"] = history.states[t]
        record["ops"] = [operation(history, op) for op in history.operations(t)]
        yield json.dumps(record, allow_nan=False)


def operation(history: History, op: int) -> list[Any]:
    """Return one operation in the format's own shape."""
    kind, value = int(history.kind[op]), history.value[op]
    if kind == RANGE:
        b = history.bounds[op]
        named = [
            [[history.keys[k], history.values[v]] for k, v in part] for part in history.rows(op)
        ]
        return ["range", b.low, b.high, *named]
    key = history.keys[history.key[op]]
    if kind == LIST:
        return ["r", key, [history.values[v] for v in history.elements(op)]]
    if value == UNKNOWN:
        return ["r", key]
    return [KINDS[kind], key, history.values[value]]


def looks_like(head: bytes) -> bool:
    """Return whether the first bytes of a file are this format's."""
    return re.match(rb'\s*\{\s*"', head) is not None and (
        b'"ops"' in head or b'"statewalk-history"' in head
    )
