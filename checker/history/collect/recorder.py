"""A recorder around DB-API 2.0 connections: what clients asked, what they were told, and when.

The application says what each statement meant (`saw`, `wrote`, ...), since SQL does not. Before
a commit is sent, the transaction is written down as indeterminate, and afterwards its outcome:
so whatever dies at whatever moment, the file holds all that may have been committed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from statewalk.checker.history.collect.lines import Lines
from statewalk.checker.history.collect.statements import (
    BEGINS,
    COMMITS_IN_MYSQL,
    ENDS,
    MYSQL,
    OUTSIDE,
    ROLLED_BACK,
    autocommits,
    doomed,
    execute,
    in_transaction,
    statements_of,
    text_of,
    unknown,
)
from statewalk.checker.history.errors import HistoryError

Scalar = int | str
_WRITES = ("w", "i", "d", "append")
_TEXTS = ("query", "operation", "sql", "statement")  # what drivers name the text of a statement
_NO_STATEMENTS = ("fetch", "close", "mogrify", "setinputsizes", "setoutputsize", "nextset")


class Recorder(Lines):
    """A history file that transactions are appended to, each with one system call.

    May be shared by threads. `initial` are pairs of key and value, or "unknown"; times are
    nanoseconds of a clock that all sessions share, the machine's monotonic one.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        initial: Iterable[tuple[Scalar, Scalar]] | str = (),
        clock: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        """Begin a new file.

        Raises:  HistoryError[SW707] when it exists, [SW701] for what is no initial state; OSError.
        """
        from statewalk.checker.history.formats.jsonl import plain_header  # with numpy

        header = plain_header(initial if isinstance(initial, str) else [[*x] for x in initial])
        super().__init__(path)
        self.clock, self._sessions, self._ids = clock, 0, 0
        self._given, self._named = set[Scalar](), set[Scalar]()
        self._busy = set[Scalar]()
        self.counts = {"ok": 0, "fail": 0, "info": 0}
        self.write(header)

    def wrap(self, connection: Any, session: Scalar | None = None) -> RecordedConnection:
        """Return the connection, recorded as a session of its own.

        Raises:  HistoryError[SW708] for what is no name, or one that another session got by
                 default.
        """
        if session is None:
            return RecordedConnection(connection, self, self.new_session())
        with self._lock:
            if type(session) not in (int, str) or session in self._given:
                raise HistoryError(
                    f"a connection cannot be recorded as session {session!r}",
                    expected="an integer or string, and none that a connection wrapped without "
                    "a name got",
                    code="SW708",
                )
            self._named.add(session)
        return RecordedConnection(connection, self, session)

    def new_session(self) -> str:
        """Return a session name that was not given out before, and that nobody gave."""
        with self._lock:
            name = ""
            while not name or name in self._named:
                self._sessions += 1
                name = f"s{self._sessions}"
            self._given.add(name)
            return name

    def new_id(self) -> str:
        """Return a transaction name that was not given out before."""
        with self._lock:
            self._ids += 1
            return f"t{self._ids}"

    def enter(self, session: Scalar) -> None:
        """Note that a session begins a transaction. Raises: HistoryError inside another."""
        with self._lock:
            if session in self._busy:
                raise HistoryError(
                    f"session {session!r:.40} has a transaction open on another connection",
                    expected="a session of its own for each connection that is open",
                    code="SW708",
                )
            self._busy.add(session)

    def count(self, status: str, session: Scalar) -> None:
        """Note the outcome of a session's transaction."""
        with self._lock:
            self.counts[status] += 1
            self._busy.discard(session)


class RecordedConnection:
    """A DB-API 2.0 connection whose transactions are recorded.

    A transaction begins with the first statement or `begin`, and ends with `commit` or
    `rollback`. One that ends with an error from a commit is aborted if the connection still
    works, since then the error was the database's answer; otherwise it is indeterminate, and
    what follows counts as another session. To be used by one thread at a time.
    """

    __slots__ = (
        "_began", "_inside", "_lost", "_ops", "_sent", "connection", "recorder", "session",
    )  # fmt: skip

    def __init__(self, connection: Any, recorder: Recorder, session: Scalar) -> None:
        """Record `connection` under the name of a session."""
        self.connection, self.recorder, self.session = connection, recorder, session
        self._began: int | None = None
        self._ops: list[list[Any]] = []
        self._sent = False  # a statement that belongs to the transaction
        self._inside = False  # the driver said that a transaction is open
        self._lost = ""  # the outcome of a transaction that ended otherwise than by this wrapper
        self._refuse_autocommit()

    # -- statements --------------------------------------------------------------------------------

    def begin(self) -> None:
        """The transaction is being invoked now, unless it was before."""
        if self._began is None:
            began = self._now()
            self.recorder.enter(self.session)
            self._began = began

    def _now(self) -> int:
        now = self.recorder.clock()
        if type(now) in (int, float) and math.isfinite(now):
            return now
        raise HistoryError(
            f"the clock returned {now!r:.40} as the time", expected="a finite number"
        )

    def execute(self, sql: str, parameters: Any = ()) -> Any:
        """Run a statement as part of the transaction; the cursor with its result."""
        return RecordedCursor(self, self.run(execute, self.connection, sql, parameters, text=sql))

    def cursor(self) -> Any:
        """Return a cursor of the connection; the transaction begins with its first statement."""
        return RecordedCursor(self, self._cursor())

    def run(self, call: Callable[..., Any], *args: Any, text: Any, **more: Any) -> Any:
        """Return what a driver's call returns that runs the statement `text`.

        Raises:  HistoryError for a statement that ends transactions, before or after it ran; what
                 the driver raises
        """
        self._asked(text)
        self._inside = in_transaction(self.connection)
        try:
            result = call(*args, **more)
        except Exception as error:
            ended = self._inside and not in_transaction(self.connection)
            if ended or (self._is_of(*MYSQL) and error.args[:1] and error.args[0] in ROLLED_BACK):
                self._inside, self._lost = False, "fail"
            raise
        if self._ended():
            raise _refused(text, "it ended the transaction, and the recorder cannot tell how")
        self._inside = in_transaction(self.connection)
        return result

    def _asked(self, statement: Any) -> None:
        """Begin the transaction before a statement, unless it has begun.

        Raises:  HistoryError for a statement that ends it, or that would be a part of another one
        """
        text = text_of(statement, self.connection)
        statements = statements_of(text)
        mysql = self._is_of(*MYSQL)
        commits = [one for one in statements if mysql and COMMITS_IN_MYSQL.match(one)]
        if any(map(ENDS.match, statements)):
            raise _refused(text, "the recorder would not see that the transaction ended")
        if commits and (self._sent or len(statements) > 1):
            raise _refused(text, "MySQL commits the transaction before it")
        if self._lost or self._ended():
            raise _refused(text, "the transaction has ended, but not by the recorded connection")
        self._refuse_autocommit()
        self.begin()
        begins = bool(statements and BEGINS.match(statements[0]))
        outside = statements and all(one in commits or OUTSIDE.match(one) for one in statements)
        if begins or not outside:
            if self._is_outside() and not begins:
                execute(self.connection, "BEGIN")
            self._sent = True

    def _ended(self) -> bool:
        """Return whether a transaction of the driver has ended, and not by this wrapper."""
        if self._inside and not in_transaction(self.connection):
            self._inside, self._lost = False, "info"
        return self._lost == "info"

    def _refuse_autocommit(self) -> None:
        """Raise HistoryError in an autocommit mode whose commit() does nothing."""
        if not self._is_of("psycopg", *MYSQL) and autocommits(self.connection):
            raise HistoryError(
                "the connection is in autocommit mode, which ends no transaction by commit()",
                expected="connection.autocommit = False before wrap()",
                code="SW708",
            )

    def _is_of(self, *modules: str) -> bool:
        return type(self.connection).__module__.partition(".")[0] in modules

    def _is_outside(self) -> bool:
        """Return whether the next statement would be a transaction of its own: of sqlite3, which
        begins one before it writes only, of DuckDB, and in autocommit mode.
        """
        if self._is_of("sqlite3"):
            return not self.connection.in_transaction
        duckdb = type(self.connection).__name__ == "DuckDBPyConnection"
        return not self._sent and (duckdb or autocommits(self.connection))

    def _cursor(self) -> Any:
        if type(self.connection).__name__ == "DuckDBPyConnection":
            return self.connection  # its cursor() is another connection
        return self.connection.cursor()

    # -- what statements meant ---------------------------------------------------------------------

    def saw(self, key: Scalar, value: Scalar | list[Scalar] | None) -> None:
        """A read returned this: None = nothing there, a list = the elements of a list."""
        self._note("r", key, value)

    def wrote(self, key: Scalar, value: Scalar) -> None:
        """A write of a value that nobody else writes to this key."""
        self._note("w", key, value)

    def deleted(self, key: Scalar, tombstone: Scalar) -> None:
        """A delete of a key, which left a tombstone that nobody else writes to it."""
        self._note("d", key, tombstone)

    def appended(self, key: Scalar, element: Scalar) -> None:
        """An append of an element that nobody else appends to this list."""
        self._note("append", key, element)

    def saw_range(
        self, low: Scalar | None, high: Scalar | None, rows: Iterable[tuple[Scalar, Scalar]]
    ) -> None:
        """A query returned these keys and values of all between two bounds, None = open."""
        self._note("range", low, high, [list(row) for row in rows])

    def _note(self, *op: Any) -> None:
        """Keep a copy of an operation: what the application goes on to do with a list is its own.

        Raises:  HistoryError[SW701] for what no history can have.
        """
        from statewalk.checker.history.formats.jsonl import plain_operation  # with numpy

        self.begin()
        self._ops.append(plain_operation(op))

    @property
    def open(self) -> bool:
        """Return whether a transaction has begun and not ended."""
        return self._began is not None

    # -- outcomes ----------------------------------------------------------------------------------

    def commit(self) -> None:
        """Commit, and record how it ended.

        Raises:  what the driver raises; the transaction is recorded, and rolled back if it can.
        """
        if self._began is None:
            self.connection.commit()
            return
        if self._lost or self._ended():
            self.rollback()
            raise _refused("COMMIT", "the transaction had ended before", "rollback()")
        record, lost = self._record(), doomed(self.connection)
        intended = not lost and any(op[0] in _WRITES for op in self._ops)
        if intended:
            self.recorder.write({**record, "status": "info"})
        try:
            self.connection.commit()
        except BaseException as error:
            answered = isinstance(error, Exception) and self.usable() and not unknown(error)
            self._finish(record, "fail" if answered else "info", intended)
            if not answered:
                self.session = self.recorder.new_session()
            raise
        self._finish(record, "fail" if lost else "ok", intended)

    def rollback(self) -> None:
        """Roll back, and record the transaction as aborted: its commit was never asked for."""
        self._ended()
        try:
            self.connection.rollback()
        finally:
            if self._began is not None:
                self._finish(self._record(), self._lost or "fail", False)

    @contextmanager
    def transaction(self) -> Iterator[RecordedConnection]:
        """Commit at the end of the block; roll back when it raises."""
        self.begin()
        try:
            yield self
        except BaseException:
            with suppress(Exception):
                self.rollback()
            raise
        self.commit()

    def __enter__(self) -> None:
        """Raise HistoryError: drivers differ in what they do at the end of such a block."""
        raise _refused("with connection", "it ends a transaction", "with connection.transaction()")

    def __exit__(self, *_: object) -> None: ...

    def usable(self) -> bool:
        """Return whether the database answers; a transaction that is open is rolled back."""
        with suppress(Exception):
            self.connection.rollback()
        try:
            cursor = self._cursor()
            cursor.execute("SELECT 1")
            cursor.fetchall()
        except Exception:
            return False
        with suppress(Exception):
            self.connection.rollback()
        return True

    def close(self) -> None:
        """Close the connection; a transaction that is open is recorded as aborted."""
        self._ended()
        if self._began is not None:
            self._finish(self._record(), self._lost or "fail", False)
        self.connection.close()

    def _record(self) -> dict[str, Any]:
        return {
            "session": self.session,
            "id": self.recorder.new_id(),
            "begin": self._began,
            "ops": self._ops,
        }

    def _finish(self, record: dict[str, Any], status: str, intended: bool) -> None:
        now = self._now()
        back = self._began is not None and now < self._began  # a clock that was set: no time
        ended = {} if status == "info" or back else {"end": now}
        if intended and status != "info":
            self.recorder.write({"completes": record["id"], "status": status, **ended})
        elif not intended:
            self.recorder.write({**record, "status": status, **ended})
        self.recorder.count(status, record["session"])
        self._began, self._ops, self._sent = None, [], False
        self._inside, self._lost = False, ""


class RecordedCursor:
    """A cursor of a recorded connection, whose statements begin its transaction."""

    def __init__(self, connection: RecordedConnection, cursor: Any) -> None:
        """Stand before a driver's cursor."""
        vars(self).update(_connection=connection, _cursor=cursor)

    def __getattr__(self, name: str) -> Any:
        if name == "executescript":
            raise _refused(name, "it commits before it runs", "execute() for each statement")
        if name == "connection":
            return self._connection
        found = getattr(self._cursor, name)
        if name in ("commit", "rollback", "cursor"):  # of DuckDB, whose cursor is its connection
            return getattr(self._connection, name)
        if not callable(found) or name.startswith(_NO_STATEMENTS):
            return found

        def call(*args: Any, **more: Any) -> Any:
            text = args[0] if args else next((more[x] for x in _TEXTS if x in more), "")
            result = self._connection.run(found, *args, text=text, **more)
            return self if result is self._cursor else result

        return call

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._cursor, name, value)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._cursor)

    def __next__(self) -> Any:
        return next(self._cursor)

    def __enter__(self) -> RecordedCursor:
        self._cursor.__enter__()
        return self

    def __exit__(self, *error: object) -> Any:
        return self._cursor.__exit__(*error)


def _refused(text: str, why: str, instead: str = "") -> HistoryError:
    return HistoryError(
        f"the statement {text!r:.40} cannot be recorded: {why}",
        expected=instead or "commit() or rollback() of the recorded connection",
        code="SW708",
    )
