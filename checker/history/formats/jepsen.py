"""Jepsen and Elle histories in EDN: list-append and rw-register transactions.

One operation map per line, or one vector of them; invocations are paired with completions by
process; other processes than numbers (the nemesis) are skipped.
"""

from __future__ import annotations

from bisect import bisect_right
from pathlib import Path
from typing import Any

from statewalk.checker.history.data import (
    APPEND,
    DELETE,
    FAIL,
    INFO,
    INSERT,
    LIST,
    OK,
    RANGE,
    READ,
    UNKNOWN,
    WRITE,
    Builder,
    History,
    Scalar,
)
from statewalk.checker.history.formats.edn import EdnError, Reader, show
from statewalk.checker.history.formats.plain import Lost

_TYPES = {":ok": OK, ":fail": FAIL, ":info": INFO}
_OP = "[:r key value], [:w key value] or [:append key element]"


def read(path: Path) -> History:
    """The history in an EDN file.

    Raises:  HistoryError with the line and what was expected there.
    """
    build = Builder(str(path), "edn")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise build.fail("not UTF-8 text", f"byte {error.start}", "an EDN file") from None
    operations = _operations(build, text)
    open_: dict[int, tuple[dict[str, Any], int]] = {}
    crashed = dict[int, int]()
    for op, line in operations:
        process = op.get(":process", 0)
        if not isinstance(process, int) or isinstance(process, bool):
            continue
        kind = op.get(":type", ":ok")
        if kind == ":invoke":
            if process in open_:
                raise build.fail(
                    f"process {process} invokes while its last transaction is open",
                    f"line {line}",
                    "its completion first",
                )
            open_[process] = (op, line)
        elif kind in _TYPES:
            begun = open_.pop(process, None)
            _transaction(build, op, begun, line, _session(process, crashed))
            if kind == ":info":
                crashed[process] = crashed.get(process, 0) + 1
        else:
            raise build.fail(f":type is {show(kind)}", f"line {line}", ":invoke :ok :fail :info")
    for process, (op, line) in open_.items():  # no completion was recorded: indeterminate
        _transaction(build, {**op, ":type": ":info"}, (op, line), line, _session(process, crashed))
    return build.history()


def _session(process: int, crashed: dict[int, int]) -> Scalar:
    """The session of a process; one that goes on after a crash is another session."""
    times = crashed.get(process, 0)
    return f"{process} after crash {times}" if times else process


def _operations(build: Builder, text: str) -> list[tuple[dict[str, Any], int]]:
    """All operation maps with their lines."""
    breaks = [i for i, c in enumerate(text) if c == "\n"]
    reader, found = Reader(text), []
    try:
        while reader.more():
            line = bisect_right(breaks, _skip(text, reader.at)) + 1
            value = reader.value()
            for op in value if isinstance(value, list) else [value]:
                if not isinstance(op, dict):
                    raise build.fail(
                        f"{op!r} is not a map", f"line {line}", "{:type :ok, :value [...], ...}"
                    )
                found.append((op, line))
    except EdnError as error:
        line = bisect_right(breaks, error.at) + 1
        raise build.fail(
            f"not EDN: {error}",
            f"line {line}",
            "operation maps, one per line, or one vector of them",
        ) from None
    return found


def _skip(text: str, at: int) -> int:
    while at < len(text) and (text[at].isspace() or text[at] == ","):
        at += 1
    return at


def _transaction(
    build: Builder,
    op: dict[str, Any],
    begun: tuple[dict[str, Any], int] | None,
    line: int,
    session: Scalar,
) -> None:
    where, status = f"line {line}", _TYPES[op.get(":type", ":ok")]
    value = op.get(":value")
    if value is None and begun is not None:
        value = begun[0].get(":value")
    if not isinstance(value, list):
        raise build.fail(f":value is {value!r}", where, f"a vector of {_OP}")
    maps = (begun[0] if begun else None, op)
    times = [None if x is None else build.time(x.get(":time"), where) for x in maps]
    build.transaction(
        session, place=line, status=status, begin=times[0], end=None if status == INFO else times[1]
    )
    for mop in value:
        _operation(build, mop, status, where)


def _operation(build: Builder, mop: Any, status: int, where: str) -> None:
    if not isinstance(mop, list) or len(mop) != 3:
        raise build.fail(f"operation {mop!r}", where, _OP)
    word, key, value = str(mop[0]), _scalar(build, mop[1], where), mop[2]
    if word in (":r", "r"):
        if isinstance(value, list):
            build.list_read(key, [_scalar(build, v, where) for v in value])
        elif value is None and status != OK:
            build.unknown_read(key)
        else:
            build.op(READ, key, None if value is None else _scalar(build, value, where))
    elif word in (":w", "w", ":append", "append"):
        build.op(WRITE if word[-1] == "w" else APPEND, key, _scalar(build, value, where))
    else:
        raise build.fail(f"operation {mop!r}", where, _OP)


def _scalar(build: Builder, value: Any, where: str) -> Scalar:
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise build.fail(f"{value!r} as a key or value", where, "an integer, string or keyword")


def write(history: History, path: Path) -> list[str]:
    """Write one map per invocation and completion; what was dropped, in words."""
    lost = Lost()
    if history.initial or not history.initial_known:
        lost["the initial state"] += 1
    crashed = set[int]()
    for t in range(len(history)):
        if int(history.session[t]) in crashed:
            lost["that a session goes on after an indeterminate transaction"] += 1
        if history.status[t] == INFO:
            crashed.add(int(history.session[t]))
    events: list[tuple[float, int, str]] = []
    timed = not any(x != x for x in history.begin)  # noqa: PLR0124 - nan is not itself
    for t in range(len(history)):
        if t in history.names:
            lost["transaction ids"] += 1
        if t in history.states:
            lost["model states"] += 1
        lines = _lines(history, t, lost)
        end = history.end[t] if history.end[t] == history.end[t] else float("inf")
        events.append((float(history.begin[t]) if timed else float(t), len(events), lines[0]))
        events.append((float(end) if timed else float(t), len(events), lines[1]))
    by_session: dict[int, list[int]] = {}
    for t in range(len(history)):
        by_session.setdefault(int(history.session[t]), []).extend((2 * t, 2 * t + 1))
    ordered = _merge([[events[i] for i in mine] for mine in by_session.values()])
    text = "\n".join(ordered) + "\n"
    path.write_text(text, encoding="utf-8", errors="backslashreplace")
    return lost.told()


def _merge(queues: list[list[tuple[float, int, str]]]) -> list[str]:
    """Events by time, each session's own in its order."""
    out: list[tuple[float, int, str]] = []
    for queue in queues:
        latest = float("-inf")
        for time, number, text in queue:
            latest = max(latest, time)
            out.append((latest, number, text))
    return [text for _, _, text in sorted(out)]


def _lines(history: History, t: int, lost: Lost) -> tuple[str, str]:
    mops: list[tuple[str, str]] = []
    for op in history.operations(t):
        kind, key = int(history.kind[op]), show(history.keys[history.key[op]])
        if kind == RANGE:
            lost["range queries"] += 1
            continue
        if kind in (INSERT, DELETE):
            lost["the difference of insert and delete from write"] += 1
        if kind == LIST:
            mops.append(
                (
                    f"[:r {key} nil]",
                    f"[:r {key} {show([history.values[v] for v in history.elements(op)])}]",
                )
            )
            continue
        value = history.value[op]
        text = "nil" if value == UNKNOWN else show(history.values[value])
        if kind == READ:
            mops.append((f"[:r {key} nil]", f"[:r {key} {text}]"))
            if value == UNKNOWN and history.status[t] == OK:
                lost["that a read's result is unknown"] += 1
        else:
            word = ":append" if kind == APPEND else ":w"
            mops.append((f"[{word} {key} {text}]",) * 2)  # pyright: ignore[reportArgumentType]
    session = history.sessions[history.session[t]]
    if not isinstance(session, int):
        lost["the names of sessions"] += 1
        session = int(history.session[t])
    kind_of = {OK: ":ok", FAIL: ":fail", INFO: ":info"}[int(history.status[t])]
    return (
        _line(":invoke", session, [m[0] for m in mops], history.begin[t], history.origin),
        _line(kind_of, session, [m[1] for m in mops], history.end[t], history.origin),
    )


def _line(kind: str, process: int, mops: list[str], time: float, origin: int) -> str:
    when = "" if time != time else f", :time {_number(float(time), origin)}"  # noqa: PLR0124
    return f"{{:type {kind}, :process {process}, :f :txn, :value [{' '.join(mops)}]{when}}}"


def _number(time: float, origin: int) -> str:
    return str(origin + int(time)) if time.is_integer() else repr(time + origin)


def looks_like(head: bytes) -> bool:
    """Whether the first bytes of a file are operation maps in EDN."""
    start = head.lstrip()
    return start[:1] in (b"{", b"[", b"#", b";") and (b":value" in head or b":type" in head)
