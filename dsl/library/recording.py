"""The answers that a store's clients got, in the shape that a spec hands over.

A spec of a store that says `def recorded_history() -> tuple[Recorded, ...]` can be asked for the
history of any of its states: `judged` gives the verdict with the store's own version order, and
`statewalk history from-trace` writes it to a file as if clients had recorded it.

>>> events = [("begin", "t1"), ("begin", "t2"), ("commit", "t1"), ("commit", "t2")]
>>> work = [did("a", "t1", [("r", "x", None), ("w", "x", 1)]),
...         did("b", "t2", [("r", "x", None), ("w", "x", 2)])]
>>> judged(events, work, "si").anomaly
'lost-update'
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from statewalk.dsl.library.isolation import INITIAL, Read, Transaction, Verdict, judge

HOOK = "recorded_history"
Scalar = int | str
Status = Literal["ok", "fail", "info"]
Op = tuple[str, Scalar, Scalar | None]  # "r" or "w", key, value
Event = tuple[str, Scalar]  # what happened, to which transaction
ENDS: dict[str, Status] = {"commit": "ok", "abort": "fail", "crash": "info", "recover": "info"}
MADE = ("commit", "recover")  # events that make all writes versions


class Did(NamedTuple):
    """The operations of a session's transaction so far."""

    session: Scalar
    name: Scalar
    ops: tuple[Op, ...]


class Recorded(NamedTuple):
    """One transaction of a session: what it asked, what it was told, and when.

    ``ops`` are ("r" or "w", key, value); a value names its writer, so no two writes to a key are
    equal; None is what is there before the first. ``begin`` and ``end`` are positions in one order
    of all events; ``end`` is None while it is running. ``status`` is what the client knows:
    ``info`` while it is running, and where nobody was told how it ended. ``aborted`` is what the
    store knows.
    """

    session: Scalar
    name: Scalar
    ops: tuple[Op, ...]
    status: Status
    begin: int
    end: int | None = None
    aborted: bool = False


def did(session: Scalar, name: Scalar, ops: Iterable[Op]) -> Did:
    """Return what a transaction has done so far."""
    return Did(session, name, tuple(ops))


def ended(events: Iterable[Event]) -> tuple[Scalar, ...]:
    """Return the transactions that committed, aborted or crashed, in the order in which they
    did.
    """
    return tuple(name for what, name in events if what in ENDS)


def from_events(events: Sequence[Event], work: Iterable[Did]) -> tuple[Recorded, ...]:
    """Return the history of what transactions did, from all events in their order.

    An event is begin, commit, abort, crash (an abort that no client is told of), or recover (a
    commit that none is told of); others only have their place in the order. Transactions without a
    begin are left out.
    """
    begin = {name: at for at, (what, name) in enumerate(events) if what == "begin"}
    ends = {name: (at, what) for at, (what, name) in enumerate(events) if what in ENDS}
    found = []
    for session, name, ops in work:
        if name in begin:
            end, what = ends.get(name, (None, "running"))
            status = ENDS.get(what, "info")
            aborted = what in ("abort", "crash")
            found.append(Recorded(session, name, ops, status, begin[name], end, aborted))
    return tuple(found)


def log_of(history: Iterable[Recorded]) -> tuple[list[Event], list[Did]]:
    """Return the begins and ends of transactions in order, and their operations.

    Where writes were published one by one, this is not enough to tell the order of versions.
    """
    events: list[tuple[int, Event]] = []
    for t in history:
        events.append((t.begin, ("begin", t.name)))
        if t.end is not None:
            events.append((t.end, ("abort" if t.aborted else "commit", t.name)))
    ordered = [event for _, event in sorted(events)]
    return ordered, [Did(t.session, t.name, t.ops) for t in history]


def version_order(events: Iterable[Event], work: Iterable[Did]) -> dict[Scalar, tuple[Scalar, ...]]:
    """Return who wrote the versions of each key, oldest first: a commit makes all writes versions.

    Each "publish" before the commit has made a version of one key, in the order of the keys.
    """
    wrote = {t.name: _keys_written(t.ops) for t in work}
    events = list(events)
    committed = {name for what, name in events if what in MADE and name in wrote}
    order: dict[Scalar, tuple[Scalar, ...]] = {}
    for what, name in events:
        if name in committed and what in ("publish", *MADE):
            keys = wrote[name] if what in MADE else wrote[name][:1]
            wrote[name] = wrote[name][len(keys) :]
            for key in keys:
                order[key] = (*order.get(key, ()), name)
    return order


def _keys_written(ops: Iterable[Op]) -> list[Scalar]:
    """Return each key that was written, once, in order; strings after numbers."""
    return sorted({op[1] for op in ops if op[0] == "w"}, key=lambda k: (isinstance(k, str), k))


def judged(events: Sequence[Event], work: Sequence[Did], level: str) -> Verdict:
    """Return the verdict on a history whose version order is known; what still runs is left out.

    Raises:  KeyError for a value that nobody wrote.
    """
    return judge(transactions(from_events(events, work)), version_order(events, work), level)


def transactions(history: Sequence[Recorded]) -> tuple[Transaction, ...]:
    """Return the transactions that ended. Their reads from those that did not are left out,
    unless they are overwritten by now: whatever becomes of the writer, such a read is intermediate.
    """
    last: dict[tuple[Any, Any], Any] = {}
    writers: dict[tuple[Any, Any], Any] = {}
    for t in history:
        for kind, key, value in t.ops:
            if kind == "w":
                last[key, t.name] = value
                writers[key, value] = t.name
    running = {t.name for t in history if t.end is None}
    made = []
    for t in history:
        if t.end is None:
            continue
        reads = [_read(op[1], op[2], writers, last) for op in t.ops if op[0] == "r"]
        made.append(
            Transaction(
                t.name,
                tuple(r for r in reads if not (r.writer in running and r.final)),
                tuple(dict.fromkeys(key for kind, key, _ in t.ops if kind == "w")),
                t.session,
                t.begin,
                t.begin,
                t.end,
                aborted=t.aborted,
            )
        )
    return tuple(made)


def _read(
    key: Scalar, value: Scalar | None, writers: Mapping[Any, Any], last: Mapping[Any, Any]
) -> Read:
    if value is None:
        return Read(key, INITIAL)
    writer = writers[key, value]
    return Read(key, writer, last[key, writer] == value)


def reads_own_writes(ops: Iterable[Op]) -> bool:
    """Return whether each read of a key that the transaction itself has written returns its last
    write.
    """
    mine: dict[Scalar, Scalar | None] = {}
    for kind, key, value in ops:
        if kind == "w":
            mine[key] = value
        elif mine.get(key, value) != value:
            return False
    return True
