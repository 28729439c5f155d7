"""Jepsen and Elle histories in EDN: list-append and rw-register transactions.

One operation map per line, or one vector of them; invocations are paired with completions by
process; what the nemesis did is skipped. Where no process is given, the session is not recorded. A
`:time` of -1 is none (jepsen.history); without any, the order of the events is the clock, as in
Elle.
"""

from __future__ import annotations

from bisect import bisect_right
from pathlib import Path
from typing import Any

from statewalk.checker.history.clock import DIGITS
from statewalk.checker.history.data import (
    APPEND,
    DELETE,
    FAIL,
    INFO,
    INSERT,
    LIST,
    NIL,
    OK,
    RANGE,
    READ,
    STATUS,
    UNKNOWN,
    WRITE,
    Builder,
    History,
    Scalar,
)
from statewalk.checker.history.errors import HistoryError
from statewalk.checker.history.formats.edn import (
    Char,
    EdnError,
    Name,
    Reader,
    Unordered,
    is_number,
    show,
)
from statewalk.checker.history.formats.plain import Lost, session_numbers
from statewalk.dsl.files import read_text

_LATEST = 2**63
_NO_TIME = -1
_TYPES = {":ok": OK, ":fail": FAIL, ":info": INFO}
_NOTHING = "that reads of transactions that did not surely commit found nothing"
_NOTATIONS: dict[type, str] = {str: "string", Name: "keyword or symbol", Char: "character"}
_WORDS = frozenset((":r", "r", ":w", "w", ":append", "append"))
_OP = "[:r key value], [:w key value] or [:append key element]"


def read(path: Path) -> History:
    """Return the history in an EDN file.

    Raises:  HistoryError with the line and what was expected there.
    """
    build = _Builder(str(path), "edn")
    try:
        text = read_text(path)
    except UnicodeDecodeError as error:
        raise build.fail(
            "the file is not UTF-8 text", f"byte {error.start}", "an EDN file"
        ) from None
    operations = _of_clients(build, _operations(build, text))
    for op, _ in operations:
        if type(op.get(":time")) is int and op[":time"] == _NO_TIME:
            del op[":time"]
    _in_order(build, operations)
    if not any(op.get(":time") is not None for op, _ in operations):
        _take_order(build, operations)
    open_: dict[int | None, tuple[dict[str, Any], int]] = {}
    crashed = dict[int, int]()
    for op, line in operations:
        process = op.get(":process")
        kind = op.get(":type", ":ok")
        kind = kind if isinstance(kind, str) else repr(kind)
        if kind == ":invoke":
            if process in open_:
                name = "nobody" if process is None else f"process {process}"
                raise build.fail(
                    f"{name} invokes while its last transaction is open",
                    f"line {line}",
                    "its completion first",
                )
            open_[process] = (op, line)
        elif kind in _TYPES:
            begun = open_.pop(process, None)
            _transaction(build, op, begun, line, _session(process, crashed))
            if kind == ":info" and process is not None:
                crashed[process] = crashed.get(process, 0) + 1
        else:
            raise build.fail(
                f"the :type is {show(kind)}", f"line {line}", "one of :invoke, :ok, :fail, :info"
            )
    for process, (op, line) in open_.items():  # no completion was recorded: indeterminate
        session = _session(process, crashed)
        _transaction(build, {":type": ":info"}, (op, line), line, session)
    if build.without_results:
        build.notes.append(
            f"Committed transactions without a :value: {build.without_results}; what they read is "
            "not known, and says nothing"
        )
    return build.history()


class _Builder(Builder):
    """A builder that keeps apart what a history has one text for."""

    def __init__(self, source: str, format: str) -> None:
        super().__init__(source, format)
        self.written_as: dict[str, type] = {}
        self.without_results = 0

    def scalar(self, value: Any, where: str) -> Scalar:
        """Return a key or value. Raises HistoryError for what is none, or like another one."""
        if type(value) is int:
            return value
        if isinstance(value, str) and not is_number(value):
            before = self.written_as.setdefault(str(value), type(value))
            if before is not type(value):
                raise self.fail(
                    f"{str(value)!r} is a {_NOTATIONS[type(value)]}, and before it was a "
                    f"{_NOTATIONS[before]}, which is not the same",
                    where,
                    "one of the two throughout",
                )
            return str(value)
        found = "a set" if isinstance(value, Unordered) else repr(value)
        raise self.fail(
            f"{found} cannot be used as a key or value",
            where,
            "an integer, string, keyword or vector",
        )


def _of_clients(
    build: Builder, operations: list[tuple[dict[str, Any], int]]
) -> list[tuple[dict[str, Any], int]]:
    """Return the operations of clients: those of processes that are numbers, or not recorded."""
    found = []
    for op, line in operations:
        process = op.get(":process")
        if process is None or type(process) is int:
            found.append((op, line))
        elif not isinstance(process, Name) or _is_transaction(op):
            raise build.fail(
                f"the :process is {process!r}",
                f"line {line}",
                "an integer, or nil where it was not recorded; :nemesis for what no client did",
            )
    return found


def _is_transaction(op: dict[str, Any]) -> bool:
    value = op.get(":value")
    mops = value if isinstance(value, list) else []
    return any(isinstance(mop, list) and mop and str(mop[0]) in _WORDS for mop in mops)


def _in_order(build: Builder, operations: list[tuple[dict[str, Any], int]]) -> None:
    """Refuse lines in another order than their :index, else than the :time of each process."""
    latest: dict[int | str, Any] = {}
    for op, line in operations:
        by = ":index" if type(op.get(":index")) is int else ":time"
        now, of = op.get(by), by if by == ":index" else op.get(":process")
        if of is None or not isinstance(now, int | float):
            continue
        before = latest.get(of)
        if before is not None and (now < before or (now == before and by == ":index")):
            raise build.fail(
                f"{by} {getattr(now, 'text', now)} comes after {getattr(before, 'text', before)}",
                f"line {line}",
                "operations in the order of their :index, else of the :time of each process",
            )
        latest[of] = now


def _take_order(build: Builder, operations: list[tuple[dict[str, Any], int]]) -> None:
    """Let each operation's place be its time; with completions alone nothing has a beginning."""
    if not any(op.get(":type") == ":invoke" for op, _ in operations):
        return
    for place, (op, _) in enumerate(operations):
        op[":time"] = place
    build.notes.append("No operation has a :time: the order of the events is the clock")


def _session(process: int | None, crashed: dict[int, int]) -> Scalar | None:
    """Return the session of a process; one that goes on after a crash is another session."""
    if process is None:
        return None
    times = crashed.get(process, 0)
    return f"{process} after crash {times}" if times else process


def _operations(build: Builder, text: str) -> list[tuple[dict[str, Any], int]]:
    """Return all operation maps with their lines."""
    breaks = [i for i, c in enumerate(text) if c == "\n"]
    reader, found = Reader(text), []
    try:
        while reader.more():
            line = bisect_right(breaks, reader.at) + 1
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
            f"this is not EDN: {error}",
            f"line {line}",
            "operation maps, one per line, or one vector of them",
        ) from None
    return found


def _transaction(
    build: _Builder,
    op: dict[str, Any],
    begun: tuple[dict[str, Any], int] | None,
    line: int,
    session: Scalar | None,
) -> None:
    where, status = f"line {line}", _TYPES[op.get(":type", ":ok")]
    value = op.get(":value")
    told = value is not None
    if value is None and begun is not None:  # an invocation has no results
        value = begun[0].get(":value")
    if not isinstance(value, list):
        raise build.fail(
            f"the :value is {value!r}",
            where,
            f"a vector of {_OP}; operations on one object are checked with --object",
        )
    if told and begun is not None and not _completes(begun[0].get(":value"), value):
        raise build.fail(
            f"the completion of line {begun[1]} has other operations", where,
            "those of the invocation, with what reads returned",
        )  # fmt: skip
    maps = (begun[0] if begun else None, op)
    times = [None if x is None else build.time(x.get(":time"), where) for x in maps]
    build.transaction(
        session, place=line, status=status, begin=times[0], end=None if status == INFO else times[1]
    )
    reads = [_operation(build, mop, status, where, told=told) for mop in value]
    build.without_results += status == OK and not told and any(reads)


def _completes(invoked: Any, completed: list[Any]) -> bool:
    """Return whether a completion has the operations of an invocation, reads aside from what they
    gave.
    """
    if not isinstance(invoked, list):
        return True  # nothing is said of them
    if len(invoked) != len(completed):
        return False
    for one, other in zip(invoked, completed, strict=True):
        if not (isinstance(one, list) and isinstance(other, list) and len(one) == len(other) == 3):
            continue  # said to be none
        if one[:2] != other[:2] or (str(one[0]) not in (":r", "r") and one[2] != other[2]):
            return False
    return True


def _operation(build: _Builder, mop: Any, status: int, where: str, *, told: bool) -> bool:
    """Add one operation; whether it is a read."""
    if not isinstance(mop, list) or len(mop) != 3:
        raise build.fail(f"there is no operation {mop!r}", where, _OP)
    word, key, value = str(mop[0]), build.scalar(mop[1], where), mop[2]
    reads = word in (":r", "r")
    if reads and (not told or (value is None and status != OK)):
        build.unknown_read(key)
    elif reads and isinstance(value, list):
        build.list_read(key, [build.scalar(v, where) for v in value])
    elif reads:
        build.op(READ, key, None if value is None else build.scalar(value, where))
    elif word in _WORDS:
        build.op(WRITE if word[-1] == "w" else APPEND, key, build.scalar(value, where))
    else:
        raise build.fail(f"there is no operation {mop!r}", where, _OP)
    return reads


def write(history: History, path: Path) -> list[str]:
    """Write one map per invocation and completion; what was dropped, in words.

    Raises:  HistoryError[SW701] for a time of -1, which means none there.
    """
    none = float(_NO_TIME - history.origin)
    if (history.begin == none).any() or (history.end == none).any():
        raise HistoryError(
            "a transaction begins or ends at -1, which means no time in EDN",
            source=history.source,
            expected="other times, such as 10 more for each",
        )
    lost = Lost()
    if history.initial or not history.initial_known:
        lost["the initial state"] += 1
    if history.exact:
        lost[DIGITS] += 1
    # as in Jepsen, what goes on after a crash is a new process
    processes = session_numbers(history, set(history.session.tolist()), -_LATEST, lost)
    by_session: dict[int, list[tuple[float, int, str]]] = {}
    timed = not any(x != x for x in history.begin)  # noqa: PLR0124 - nan is not itself
    for t in range(len(history)):
        lost["transaction ids"] += t in history.names
        lost["model states"] += t in history.states
        s, end = int(history.session[t]), float(history.end[t])
        invoked, completed = _lines(history, t, processes[s], lost)
        begin = float(history.begin[t])
        if end != end or history.status[t] == INFO:  # noqa: PLR0124
            end = float("inf")
        events = by_session.setdefault(s, [])
        if begin == begin:  # noqa: PLR0124 - else an invocation would say when it began
            events.append((begin if timed else t, 2 * t, invoked))
        events.append((end if timed else t, 2 * t + 1, completed))
    text = "\n".join(_merge([*by_session.values()])) + "\n"
    path.write_text(text, encoding="utf-8", errors="backslashreplace")
    return lost.told()


def _merge(queues: list[list[tuple[float, int, str]]]) -> list[str]:
    """Events by time, each session's own in its order, and numbered."""
    out: list[tuple[float, int, str]] = []
    for queue in queues:
        latest = float("-inf")
        for time, number, text in queue:
            latest = max(latest, time)
            out.append((latest, number, text))
    lines = [text for _, _, text in sorted(out)]
    return [f"{{:index {n}, {line[1:]}" for n, line in enumerate(lines)]


def _lines(history: History, t: int, process: int, lost: Lost) -> tuple[str, str]:
    """Return the invocation and the completion of a transaction."""
    status = int(history.status[t])
    asked: list[str] = []
    told: list[str] = []
    for op in history.operations(t):
        kind, value = int(history.kind[op]), int(history.value[op])
        if kind == RANGE:
            lost["range queries"] += 1
            continue
        key = show(history.keys[history.key[op]])
        if kind == READ and value == UNKNOWN and status == OK:
            lost["reads of unknown result"] += 1
        elif kind in (READ, LIST):
            found: Any = None
            if kind == LIST:
                found = [history.values[v] for v in history.elements(op)]
            elif value != UNKNOWN:
                found = history.values[value]
                lost[_NOTHING] += status != OK and value == NIL
            asked.append(f"[:r {key} nil]")
            told.append(f"[:r {key} {show(found)}]")
        else:
            lost["the difference of insert and delete from write"] += kind in (INSERT, DELETE)
            word = ":append" if kind == APPEND else ":w"
            asked.append(f"[{word} {key} {show(history.values[value])}]")
            told.append(asked[-1])
    begin, end = float(history.begin[t]), float(history.end[t])
    if status == INFO and end == end:  # noqa: PLR0124
        lost["when indeterminate transactions were given up"] += 1
    return (
        _line(":invoke", process, asked, begin, history.origin),
        _line(f":{STATUS[status]}", process, told, end, history.origin),
    )


def _line(kind: str, process: int, mops: list[str], time: float, origin: int) -> str:
    when = "" if time != time else f", :time {_number(float(time), origin)}"  # noqa: PLR0124
    return f"{{:type {kind}, :process {process}, :f :txn, :value [{' '.join(mops)}]{when}}}"


def _number(time: float, origin: int) -> str:
    return str(origin + int(time)) if time.is_integer() else repr(time + origin)


def looks_like(head: bytes) -> bool:
    """Return whether the first bytes of a file are operation maps in EDN."""
    start = head.lstrip()
    return start[:1] in (b"{", b"[", b"#", b";") and (b":value" in head or b":type" in head)
