"""Readers of recorded operations: Jepsen's EDN and its log, and our JSON Lines."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from operator import attrgetter
from pathlib import Path
from typing import Any

from statewalk.checker.history.clock import Fraction
from statewalk.checker.history.errors import HistoryError
from statewalk.checker.history.formats.edn import EdnError, Name, Reader, Unordered, is_number
from statewalk.checker.history.formats.plain import record_in
from statewalk.checker.history.objects.operations import (
    ABSENT,
    Operation,
    Operations,
    Status,
    Time,
)
from statewalk.dsl.files import read_text

FORMATS = ("jsonl", "edn", "log")
_ENDS: dict[str, Status] = {"ok": "ok", "fail": "fail", "info": "info"}
_LOG = re.compile(r"INFO\s+jepsen\.util\s+-\s+(\S+)\s+:(\w+)\s+:([\w-]+)\s*(.*)")
_FIELDS = {"client", "op", "args", "answer", "key", "id"}
_OF_WHOLE = {"begin", "end", "status"}
_KINDS: dict[str, tuple[tuple[type, ...], str]] = {
    "client": ((int, str), "a number or a string as client"),
    "op": ((str,), "the name of an action as op"),
    "id": ((int, str), "a number or a string as id"),
    "args": ((list, dict), "a list of arguments, or an object of them"),
}
_EVENTS = "invoke, ok, fail or info"


@dataclass(frozen=True)
class _Event:
    """An invocation or a completion, in the order of the file."""

    line: int
    kind: str
    client: int | str
    name: str = ""
    value: Any = ABSENT
    key: Any = ABSENT
    id: Any = ABSENT
    exact: bool = False


def read_operations(path: Path, format: str = "auto") -> Operations:
    """Return the operations in a file.

    Raises:  HistoryError saying where and what was expected; OSError when it cannot be opened.
    """
    try:
        text = read_text(path)
    except UnicodeDecodeError as error:
        raise _wrong(
            path, f"byte {error.start}", "the file is not UTF-8 text", "a text file"
        ) from None
    if format == "auto":
        format = _recognised(path, text)
    return parsed(path, format, text)


def parsed(path: Path, format: str, text: str) -> Operations:
    """Return the operations in a text that a path is named for. Raises HistoryError."""
    if format == "jsonl":
        found = _from_lines(path, text)
    else:
        found = _paired(path, _from_edn(path, text) if format == "edn" else _from_log(path, text))
    if not found:
        raise HistoryError(
            "the history has no operation of a client",
            source=str(path),
            expected="at least one",
            code="SW702",
        )
    return Operations(str(path), format, tuple(sorted(found, key=attrgetter("begin", "place"))))


def from_records(records: Iterable[Mapping[str, Any]]) -> Operations:
    """Return the operations that records say, as they stand in JSON Lines. Raises HistoryError."""
    path, lines = Path("records"), list[str]()
    for number, record in enumerate(records, 1):
        try:
            lines.append(json.dumps(record))
        except (TypeError, ValueError, RecursionError) as error:
            said = f"this is not JSON: {error}"
            raise _wrong(path, f"line {number}", said, "an object") from None
    return parsed(path, "jsonl", "\n".join(lines))


def _recognised(path: Path, text: str) -> str:
    start = text.lstrip()
    if _LOG.search(text[:10_000]):
        return "log"
    if start.startswith('{"'):
        return "jsonl"
    if start[:1] in ("{", "[", "(", "#", ";"):
        return "edn"
    expected = "JSON Lines, EDN or a log of Jepsen (docs/reference/object-histories.md)"
    raise HistoryError(
        "the file is not in a format of operations",
        source=str(path),
        expected=expected,
        code="SW705",
    )


def _wrong(path: Path, where: str, what: str, expected: str) -> HistoryError:
    return HistoryError(what, source=str(path), where=where, expected=expected)


def _paired(path: Path, events: Iterator[_Event]) -> list[Operation]:
    """Return the operations of events, with places in their order as times."""
    found: list[Operation] = []
    open_: dict[Any, tuple[int, _Event]] = {}
    for time, event in enumerate(events):
        of = event.client if event.id is ABSENT else (event.client, event.id)
        where = f"line {event.line}"
        if event.kind == "invoke":
            if of in open_:
                raise _wrong(
                    path,
                    where,
                    f"client {event.client} invokes while its operation of line "
                    f"{open_[of][1].line} is open",
                    "its completion first, or an id for each of several at once",
                )
            open_[of] = (time, event)
            continue
        if event.kind not in _ENDS:
            raise _wrong(path, where, f"there is an event of type {event.kind!r}", _EVENTS)
        if of not in open_:
            if event.kind == "info":
                continue  # a note of the test about itself
            said = f"client {event.client} completes what it did not invoke"
            raise _wrong(path, where, said, "an invocation on an earlier line")
        begin, invoked = open_.pop(of)
        if event.name and event.name != invoked.name:
            said = f"{event.name} completes {invoked.name} of line {invoked.line}"
            raise _wrong(path, where, said, "an operation of the same name")
        if event.key is not ABSENT and event.key != invoked.key:
            said = f"key {event.key!r:.40} completes key {invoked.key!r:.40} of line {invoked.line}"
            raise _wrong(path, where, said, "the same key")
        status = _ENDS[event.kind]
        found.append(_made(begin, invoked, status, None if status == "info" else time, event))
    found += [_made(begin, invoked, "info", None, None) for begin, invoked in open_.values()]
    return found


def _made(
    begin: int, invoked: _Event, status: Status, end: int | None, event: _Event | None
) -> Operation:
    told = event.value if event is not None and status == "ok" else ABSENT
    return Operation(
        invoked.client, invoked.name, status, begin, end, invoked.line,
        event.line if event else 0, invoked.value, told, invoked.key, invoked.exact,
    )  # fmt: skip


# -- Jepsen --------------------------------------------------------------------------------------


def _from_edn(path: Path, text: str) -> Iterator[_Event]:
    breaks = [i for i, c in enumerate(text) if c == "\n"]
    reader = Reader(text)
    try:
        while reader.more():
            at = reader.at
            if text[at] in "[(":  # one vector or list of all
                reader.at += 1
                while reader.skip() < len(text) and text[reader.at] not in "])":
                    line = bisect_right(breaks, reader.at) + 1
                    yield from _of_client(path, reader.value(), line)
                if text[reader.at : reader.at + 1] != {"[": "]", "(": ")"}[text[at]]:
                    raise EdnError(f"{text[at]} is never closed", at)
                reader.at += 1
            else:
                yield from _of_client(path, reader.value(), bisect_right(breaks, at) + 1)
    except EdnError as error:
        line = bisect_right(breaks, error.at) + 1
        raise _wrong(
            path, f"line {line}", f"this is not EDN: {error}", "maps, one per line or in one vector"
        ) from None


def _of_client(path: Path, entry: Any, line: int) -> Iterator[_Event]:
    """Yield the event in a map; none where it is not a client's."""
    where = f"line {line}"
    if not isinstance(entry, dict):
        raise _wrong(
            path, where, f"the entry {entry!r:.60} is no map", "{:process 0, :type :invoke, ...}"
        )
    process, name = entry.get(":process"), entry.get(":f")
    if isinstance(process, Name):
        return  # :nemesis
    if type(process) is not int or not isinstance(name, str):
        raise _wrong(
            path,
            where,
            f"the entry has :process {process!r:.40}, :f {name!r:.40}",
            "a number as :process and a keyword as :f",
        )
    value = plain(path, where, entry[":value"]) if ":value" in entry else ABSENT
    key = plain(path, where, entry[":key"]) if ":key" in entry else ABSENT
    yield _Event(line, _bare(str(entry.get(":type"))), process, _bare(name), value, key)


def _from_log(path: Path, text: str) -> Iterator[_Event]:
    for number, line in enumerate(text.splitlines(), 1):
        found = _LOG.search(line)
        if found is None or found[1].startswith(":"):
            continue  # of the nemesis, or of the program
        where = f"line {number}"
        try:
            value = Reader(found[4]).value() if found[4].strip() else ABSENT
        except EdnError as error:
            raise _wrong(path, where, f"the value is not EDN: {error}", "a value") from None
        client = int(found[1]) if found[1].isdecimal() else found[1]
        yield _Event(number, found[2], client, _bare(found[3]), plain(path, where, value))


def _bare(name: str) -> str:
    return name.removeprefix(":").replace("-", "_")


def plain(path: Path, where: str, value: Any) -> Any:
    """Return a value of EDN as specs have it: keywords are strings, sets frozensets."""
    if value is None or value is ABSENT or isinstance(value, bool | int):
        return value
    if isinstance(value, str) and not is_number(value):
        return value[1:] if isinstance(value, Name) and value[0] == ":" else str(value)
    if isinstance(value, Unordered):
        return frozenset(_hashable(path, where, plain(path, where, one)) for one in value)
    if isinstance(value, list):
        return [plain(path, where, one) for one in value]
    if isinstance(value, dict):
        return {
            _hashable(path, where, plain(path, where, k)): plain(path, where, v)
            for k, v in value.items()
        }
    raise _wrong(path, where, f"the value {value} is no integer", "whole numbers, as in specs")


def _hashable(path: Path, where: str, value: Any) -> Any:
    if isinstance(value, dict):
        raise _wrong(path, where, f"a map is in a set: {value!r:.60}", "sets of other values")
    return tuple(_hashable(path, where, v) for v in value) if isinstance(value, list) else value


# -- ours ----------------------------------------------------------------------------------------


def _from_lines(path: Path, text: str) -> list[Operation]:
    """Return the operations of JSON Lines: each a line with times, or one for each event."""
    whole: list[Operation] = []
    events: list[_Event] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        record = _record(path, number, line)
        if "statewalk-operations" in record:
            continue
        if "event" in record:
            events.append(_event(path, number, record))
        else:
            whole.append(_whole(path, number, record))
    if events and whole:
        said = "the file has operations with times among events in order"
        raise _wrong(path, f"line {whole[0].place}", said, "one of the two throughout")
    return whole or _paired(path, iter(events))


def _record(path: Path, number: int, line: str) -> dict[str, Any]:
    """Return what a line says, whose fields are those that there are."""
    where = f"line {number}"
    try:
        record = record_in(line.encode(), Fraction)
    except (ValueError, RecursionError) as error:
        raise _wrong(path, where, f"this is not JSON: {error}", "an object") from None
    if not isinstance(record, dict):
        raise _wrong(path, where, "the line is no JSON object", "an operation")
    if "statewalk-operations" in record:
        return record
    known = _FIELDS | ({"event"} if "event" in record else _OF_WHOLE)
    if unknown := sorted(record.keys() - known):
        expected = "only the fields " + ", ".join(sorted(known))
        raise _wrong(path, where, f"the record has an unknown field {unknown[0]!r}", expected)
    needed = {"client"} if record.get("event", "invoke") != "invoke" else {"client", "op"}
    for name, (kinds, expected) in _KINDS.items():
        if name in record and type(record[name]) not in kinds:
            said = f"the record has {name} {record[name]!r:.40}"
            raise _wrong(path, where, said, expected)
        if name in needed - record.keys():
            raise _wrong(path, where, f"the record has no {name}", expected)
    return record


def _event(path: Path, number: int, record: dict[str, Any]) -> _Event:
    invoked = record["event"] == "invoke"
    value = record.get("args", []) if invoked else record.get("answer", ABSENT)
    return _Event(
        number, str(record["event"]), record["client"], record.get("op", ""), value,
        record.get("key", ABSENT), record.get("id", ABSENT), exact=True,
    )  # fmt: skip


def _whole(path: Path, number: int, record: dict[str, Any]) -> Operation:
    where, said = f"line {number}", record.get("status", "ok")
    status = _ENDS.get(said) if isinstance(said, str) else None
    if status is None:
        raise _wrong(path, where, f"the status is {said!r:.40}", "ok, fail or info")
    begin, end = (_time(path, where, name, record.get(name)) for name in ("begin", "end"))
    if begin is None or (end is None) != (status == "info") or (end is not None and end < begin):
        expected = "begin, and an end that is no earlier; an info operation has no end"
        raise _wrong(path, where, "the operation has times that are no interval", expected)
    return Operation(
        record["client"], record["op"], status, begin, end, number, 0,
        record.get("args", []), record.get("answer", ABSENT), record.get("key", ABSENT), True,
    )  # fmt: skip


def _time(path: Path, where: str, name: str, time: Any) -> Time | None:
    """Return a time exactly as it is written."""
    if time is None or type(time) is int:
        return time
    if isinstance(time, Fraction):
        return Decimal(time.text)
    raise _wrong(path, where, f"the time {name} is {time!r:.40}", "a number")
