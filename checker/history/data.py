"""A recorded history as columns: the one form that every reader makes and every check uses.

Glossary: t transaction (its place in the file), k key, v value; ids are dense, from 0.
Value 0 is nil: nothing there. The initial transaction T0 has no place; it is written INITIAL.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from statewalk.checker.history.clock import Exact, Fraction, Rounded, origin_of
from statewalk.checker.history.errors import HistoryError

Scalar = int | str
Array = npt.NDArray[Any]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

OK, FAIL, INFO = range(3)
STATUS = ("ok", "fail", "info")
READ, WRITE, INSERT, DELETE, APPEND, LIST, RANGE, ABSENT = range(8)
KINDS = ("r", "w", "i", "d", "append", "r", "range", "absent")
NIL = 0
UNKNOWN = -1
INITIAL = -1
_LATEST = 2**63


@dataclass(frozen=True, slots=True)
class Bounds:
    """A range query's bounds (None = open) and how many live and dead rows it returned."""

    low: Scalar | None
    high: Scalar | None
    live: int
    dead: int


@dataclass(frozen=True, slots=True)
class History:
    """Sessions of transactions of operations, in columns.

    Shapes:  session, status, place (n,); begin, end (n,), nan = unknown; first (n+1,) into
             kind, key, value, count (m,); items flat.
    A LIST read has its elements at items[value : value+count]; a RANGE has (key, value) pairs,
    live rows then tombstones, at items[value : value+2*count] and its bounds in `bounds`.
    `place` is the line (text formats) or byte (binary ones) where the transaction was read.
    Times are counted from `origin`, so that nanoseconds since 1970 stay exact; `exact` has the
    decimals of those that a float rounds. `called` has the names in reports of those transactions
    whose own name is another's too.
    A session whose name is None was not recorded: its one transaction may be of any session.
    """

    source: str
    format: str
    keys: tuple[Scalar, ...]
    values: tuple[Scalar | None, ...]
    sessions: tuple[Scalar | None, ...]
    session: Ints
    status: Ints
    begin: Floats
    end: Floats
    first: Ints
    place: Ints
    kind: Ints
    key: Ints
    value: Ints
    count: Ints
    items: Ints
    bounds: dict[int, Bounds] = field(default_factory=dict)
    initial: dict[int, int] = field(default_factory=dict)
    initial_known: bool = True
    names: dict[int, Scalar] = field(default_factory=dict)
    states: dict[int, Any] = field(default_factory=dict)
    origin: int = 0
    notes: tuple[str, ...] = ()
    exact: Exact = field(default_factory=dict)
    called: dict[int, str] = field(default_factory=dict)

    def __len__(self) -> int:
        """Return how many transactions were recorded, committed or not."""
        return len(self.session)

    def name(self, t: int) -> str:
        """Return what reports call transaction `t`, and no other: its recorded id, else T and its
        number from 1; with its place, as in T2@7, where that is the name of several.
        """
        return self.called.get(t) or _own_name(self.names, t)

    @property
    def place_word(self) -> str:
        """Return what `place` counts."""
        return "byte" if self.format in ("cobra", "dbcop") else "line"

    def session_of(self, t: int) -> str:
        """Return what reports call the session of transaction `t`."""
        name = self.sessions[self.session[t]]
        return "no session recorded" if name is None else f"session {name}"

    def operations(self, t: int) -> range:
        """Return the places of t's operations in the operation columns."""
        return range(int(self.first[t]), int(self.first[t + 1]))

    def rows(self, op: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """Return the live rows and the tombstones that range operation `op` returned, as ids."""
        flat = self.items[self.value[op] : self.value[op] + 2 * self.count[op]].tolist()
        pairs = list(zip(flat[::2], flat[1::2], strict=True))
        live = self.bounds[op].live
        return pairs[:live], pairs[live:]

    def elements(self, op: int) -> list[int]:
        """Return the value ids that list read `op` returned."""
        found: list[int] = self.items[self.value[op] : self.value[op] + self.count[op]].tolist()
        return found

    def show(self, op: int) -> str:
        """Return one operation as a reader writes it: r(x)=3, w(x)=4, range(1..9)=…"""
        kind, value = int(self.kind[op]), self.value[op]
        if kind == RANGE:
            b = self.bounds[op]
            live, dead = self.rows(op)
            shown = [f"{self.keys[k]}={self.values[v]}" for k, v in live]
            shown += [f"{self.keys[k]} deleted" for k, _ in dead]
            low, high = ("" if x is None else x for x in (b.low, b.high))
            return f"range({low}..{high}) = {{{', '.join(shown)}}}"
        key = self.keys[self.key[op]]
        if kind == LIST:
            return f"r({key}) = {[self.values[v] for v in self.elements(op)]}"
        text = "?" if value == UNKNOWN else "nil" if value == NIL else self.values[value]
        if kind == READ:
            return f"r({key}) = {text}"
        return f"{'append' if kind == APPEND else KINDS[kind]}({key}, {text})"


def _own_name(names: dict[int, Scalar], t: int) -> str:
    return str(names.get(t, f"T{t + 1}"))


def _called(history: History) -> dict[int, str]:
    """Return the names of the transactions that would share one: with their places."""
    if not history.names:
        return {}
    own = [_own_name(history.names, t) for t in range(len(history))]
    times, found = Counter(own), dict[int, str]()
    for t, name in enumerate(own):
        if times[name] > 1:
            found[t] = f"{name}@{history.place[t]}"
            while found[t] in times:
                found[t] += "'"
            times[found[t]] = 1
    return found


def _between(low: Scalar | None, key: Scalar, high: Scalar | None) -> bool:
    """Return whether a key is within bounds; integers and strings are not compared with
    each other.
    """
    if isinstance(key, str):
        return (low is None or (isinstance(low, str) and low <= key)) and (
            high is None or (isinstance(high, str) and key <= high)
        )
    return (low is None or (isinstance(low, int) and low <= key)) and (
        high is None or (isinstance(high, int) and key <= high)
    )


class Builder:
    """Collects transactions one by one; `history` closes the columns."""

    def __init__(self, source: str, format: str) -> None:
        """Start an empty history that came from `source`."""
        self.source, self.format = source, format
        self.key_id: dict[Scalar, int] = {}
        self.value_id: dict[Scalar | None, int] = {None: NIL}
        self.session_id: dict[Scalar, int] = {}
        self.session_names: list[Scalar | None] = []
        self.session: list[int] = []
        self.status: list[int] = []
        self.begin: list[float | None] = []
        self.end: list[float | None] = []
        self.first: list[int] = []
        self.place: list[int] = []
        self.kind: list[int] = []
        self.key: list[int] = []
        self.value: list[int] = []
        self.count: list[int] = []
        self.items: list[int] = []
        self.bounds: dict[int, Bounds] = {}
        self.initial: dict[int, int] = {}
        self.initial_known = True
        self.has_header = False
        self.names: dict[int, Scalar] = {}
        self.states: dict[int, Any] = {}
        self.notes: list[str] = []

    def key_of(self, key: Scalar) -> int:
        """Return the id of a key, new or old."""
        return self.key_id.setdefault(key, len(self.key_id))

    def value_of(self, value: Scalar | None) -> int:
        """Return the id of a value; None is NIL."""
        return self.value_id.setdefault(value, len(self.value_id))

    def transaction(
        self,
        session: Scalar | None,
        *,
        place: int,
        status: int = OK,
        name: Scalar | None = None,
        begin: float | None = None,
        end: float | None = None,
        state: Any = None,
    ) -> None:
        """Begin the next transaction; operations added from now on are its own.

        `session` is None where it was not recorded.
        """
        t = len(self.session)
        s = len(self.session_names)
        if session is not None:
            s = self.session_id.setdefault(session, s)
        if s == len(self.session_names):
            self.session_names.append(session)
        self.session.append(s)
        self.status.append(status)
        self.begin.append(begin)
        self.end.append(end)
        self.first.append(len(self.kind))
        self.place.append(place)
        if name is not None:
            self.names[t] = name
        if state is not None:
            self.states[t] = state

    def op(self, kind: int, key: Scalar, value: Scalar | None) -> None:
        """Add a read (value None = nil) or a write of one value."""
        self.raw(kind, self.key_of(key), self.value_of(value), 1)

    def raw(self, kind: int, key: int, value: int, count: int) -> None:
        """Add one operation by ids."""
        self.kind.append(kind)
        self.key.append(key)
        self.value.append(value)
        self.count.append(count)

    def unknown_read(self, key: Scalar) -> None:
        """Add a read whose result is not known; it says nothing, but conversion keeps it."""
        self.raw(READ, self.key_of(key), UNKNOWN, 1)

    def list_read(self, key: Scalar, elements: list[Scalar]) -> None:
        """Add a read of a whole list."""
        self.raw(LIST, self.key_of(key), len(self.items), len(elements))
        self.items.extend(map(self.value_of, elements))

    def range_read(
        self,
        low: Scalar | None,
        high: Scalar | None,
        live: list[tuple[Scalar, Scalar]],
        dead: list[tuple[Scalar, Scalar]],
        where: str,
    ) -> None:
        """Add a range query with its live rows and its tombstones; None bounds are open.

        Raises:  HistoryError where a row is outside of the bounds, or there twice.
        """
        returned = set[Scalar]()
        for key, _ in (*live, *dead):
            if key in returned:
                raise self.fail(f"a range query returns key {key!r} twice", where, "each key once")
            returned.add(key)
            if not _between(low, key, high):
                raise self.fail(
                    f"the range from {low!r} to {high!r} returns key {key!r} outside of it",
                    where,
                    "rows within the bounds (strings by their characters' numbers)",
                )
        self.bounds[len(self.kind)] = Bounds(low, high, len(live), len(dead))
        self.raw(RANGE, 0, len(self.items), len(live) + len(dead))
        for key, value in (*live, *dead):
            self.items += (self.key_of(key), self.value_of(value))

    def holds(self, key: Scalar, value: Scalar, where: str) -> None:
        """State the initial value of a key.

        Raises:  HistoryError where another one was stated before.
        """
        k, v = self.key_of(key), self.value_of(value)
        if self.initial.setdefault(k, v) != v:
            before = list(self.value_id)[self.initial[k]]
            raise self.fail(
                f"the initial value of {key!r} is stated twice: {before!r}, and then {value!r}",
                where,
                "one initial value for each key",
            )

    def time(self, value: Any, where: str) -> float | None:
        """Return a recorded time, None where there is none.

        Raises:  HistoryError when it is no finite number of at most 63 bits.
        """
        if value is None or (type(value) in (int, float, Fraction) and abs(value) < _LATEST):
            number: float | None = value
            return number
        raise self.fail(f"the time is {value!r:.40}", where, "a finite number")

    def fail(self, message: str, where: str, expected: str) -> HistoryError:
        """Return an error about this source, ready to raise."""
        return HistoryError(message, source=self.source, where=where, expected=expected)

    def history(self) -> History:
        """Close the columns.

        Raises:  HistoryError[SW702] when there is no transaction, [SW701] when one ended before it
                 began.
        """
        if not self.session:
            raise HistoryError(
                "the history has no transaction in it",
                source=self.source,
                code="SW702",
                expected="at least one recorded transaction",
            )

        for place, begin, end in zip(self.place, self.begin, self.end, strict=True):
            if begin is not None and end is not None and end < begin:
                raise self.fail(
                    f"the transaction ended at {end}, before it began at {begin}",
                    f"at {place}",
                    "an end that is not before the beginning",
                )

        def ints(column: list[int]) -> Ints:
            return np.array(column, dtype=np.int64)

        session, sessions = self._sessions()
        origin, exact = self._origin()

        def times(column: list[float | None]) -> Floats:
            return np.array([np.nan if x is None else x - origin for x in column], np.float64)

        found = History(
            self.source,
            self.format,
            tuple(self.key_id),
            tuple(self.value_id),
            sessions,
            ints(session),
            ints(self.status),
            times(self.begin),
            times(self.end),
            ints([*self.first, len(self.kind)]),
            ints(self.place),
            ints(self.kind),
            ints(self.key),
            ints(self.value),
            ints(self.count),
            ints(self.items),
            self.bounds,
            self.initial,
            self.initial_known,
            self.names,
            self.states,
            origin,
            tuple(self.notes),
            exact,
        )
        return replace(found, called=_called(found))

    def _origin(self) -> tuple[int, Exact]:
        """Return what times are counted from, and their decimals.

        Raises:  HistoryError[SW701] where a time would be rounded to another one.
        """
        columns = zip(self.begin, self.end, self.place, strict=True)
        try:
            return origin_of(
                (x, place) for *times, place in columns for x in times if x is not None
            )
        except Rounded as error:
            time, place = error.args
            raise self.fail(
                f"the time {time} would be rounded when it is read",
                f"at {place}",
                "whole numbers, at most 2^53 from the first to the last, "
                "or fractions of at most 16 digits",
            ) from None

    def _sessions(self) -> tuple[list[int], tuple[Scalar | None, ...]]:
        """Return the session of each transaction, and the names of sessions.

        An indeterminate transaction is the last of its session: when it takes effect, if ever,
        is not known, so what its client did next goes on as another session of the same name.
        """
        names, ended = [*self.session_names], set[int]()
        now = [*range(len(names))]
        session = []
        for s, status in zip(self.session, self.status, strict=True):
            if s in ended:
                ended.remove(s)
                now[s] = len(names)
                names.append(names[s])
            session.append(now[s])
            if status == INFO:
                ended.add(s)
        return session, tuple(names)
