"""A key-value store in front of a database, whose history records itself.

An application that only gets, puts and deletes says nothing more: each value is stored with a tag
that is given out once, and the history is one of tags.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from statewalk.checker.history.collect.database import Database
from statewalk.checker.history.collect.databases import DATABASES, database_of
from statewalk.checker.history.collect.recorder import RecordedConnection, Recorder, Scalar
from statewalk.checker.history.errors import HistoryError

_GIVEN = "0"


class Front:
    """Keys and values in a database, and a history of what every transaction did with them.

    Keys are integers or strings, values what JSON can say. The table `statewalk_pairs` is made
    anew. Threads may share it: each has a connection, and is a session.
    """

    def __init__(
        self,
        path: Path | str,
        url: str = "",
        *,
        database: str | None = None,
        isolation: str | None = None,
        initial: Mapping[Scalar, Any] | None = None,
    ) -> None:
        """Begin a new history, and a table with the initial pairs.

        Raises:  HistoryError[SW707] when the file exists, [SW708] for a database or level that
                 there is not, RunError[SW329] without its driver, or what the driver raises.
        """
        self._database: Database = DATABASES[database or database_of(url)](url, isolation)
        self._mine = threading.local()
        self._lock, self._tags = threading.Lock(), 0
        pairs = dict(initial or {})
        self.recorder = Recorder(path, initial=[(key, _GIVEN) for key in pairs])
        try:
            rows = [(_key(key), f"{_GIVEN} {_said(pairs[key])}") for key in pairs]
            self._database.prepare_pairs(rows)
        except BaseException:
            self.recorder.close()
            self.recorder.path.unlink()  # nothing was recorded
            raise

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """A transaction of this thread: committed at the end of the block, unless that raises.

        Raises:  what the driver raises, after recording how the transaction ended; the next one has
                 a new connection if this one is lost.
        """
        connection: RecordedConnection | None = getattr(self._mine, "connection", None)
        if connection is None:
            connection = self.recorder.wrap(self._database.connect())
            self._mine.connection = connection
        elif connection.open:
            raise HistoryError(
                "this thread begins a transaction within a transaction of the same thread",
                expected="the block of the first one to end before",
                code="SW708",
            )
        try:
            with connection.transaction():
                self._database.begin(connection)
                asked = Transaction(self, self._database, connection)
                yield asked
                if asked.failed is not None:  # nobody knows what of it took effect
                    raise asked.failed
        except self._database.errors:
            if not connection.usable():
                self._mine.connection = None
                with suppress(Exception):
                    connection.close()
            raise

    def tag(self) -> str:
        """Return a tag that was not given out before."""
        with self._lock:
            self._tags += 1
            return str(self._tags)

    def close(self) -> None:
        """Close this thread's connection and the history; other threads have ended before."""
        connection = getattr(self._mine, "connection", None)
        if connection is not None:
            connection.close()
        self.recorder.close()

    def __enter__(self) -> Front:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Transaction:
    """The operations of an application within a transaction of a `Front`."""

    def __init__(self, front: Front, database: Database, connection: RecordedConnection) -> None:
        """Made by `Front.transaction`."""
        self._front, self._database, self._connection = front, database, connection
        self.failed: Exception | None = None
        """The first error of the driver: such a transaction is rolled back, whoever catches it."""

    def get(self, key: Scalar, default: Any = None) -> Any:
        """Return the value of a key; `default` where there is none, or it was deleted."""
        with self._noting():
            stored = self._database.read_pair(self._connection, _key(key))
        tag, _, value = (stored or "").partition(" ")
        self._connection.saw(key, tag or None)
        return json.loads(value) if value else default

    def put(self, key: Scalar, value: Any) -> None:
        """Set the value of a key; blindly, unless it was got before."""
        tag, said = self._front.tag(), _said(value)
        self._connection.wrote(key, tag)  # before, since a failure may come after the effect
        with self._noting():
            self._database.write_pair(self._connection, _key(key), f"{tag} {said}")

    def delete(self, key: Scalar) -> None:
        """Leave a tombstone at a key."""
        tag = self._front.tag()
        self._connection.deleted(key, tag)
        with self._noting():
            self._database.write_pair(self._connection, _key(key), tag)

    @contextmanager
    def _noting(self) -> Iterator[None]:
        try:
            yield
        except self._database.errors as error:
            self.failed = self.failed or error
            raise


def _key(key: Scalar) -> str:
    """Return a key as the table has it, where 1 and "1" are two.

    Raises: HistoryError for no key.
    """
    from statewalk.checker.history.formats.jsonl import plain_operation  # with numpy

    return json.dumps(plain_operation(["r", key])[1])


def _said(value: Any) -> str:
    """Return a value as the table has it.

    Raises: TypeError or ValueError for what JSON cannot say.
    """
    return json.dumps(value, allow_nan=False)
