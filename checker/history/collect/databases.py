"""The databases that the workload driver knows: how to connect, begin, and say each operation.

Everything goes through one table of registers and one of lists, both created by `prepare`.
"""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from statewalk.checker.history.collect.recorder import RecordedConnection
from statewalk.checker.history.errors import HistoryError
from statewalk.checker.machine.extras import missing

REGISTERS, LISTS = "statewalk_register", "statewalk_list"


class Database:
    """One database; each `connect` gives a connection of its own that is not in a transaction."""

    mark = "?"
    levels: tuple[str, ...] = ()
    errors: tuple[type[Exception], ...] = ()
    """What the driver raises when the database answers with an error, or not at all."""

    def __init__(self, url: str, isolation: str | None) -> None:
        """Name the database. Raises: HistoryError[SW708] for a level that it does not have."""
        self.url = url
        self.isolation = isolation or self.levels[0]
        if self.isolation not in self.levels:
            raise HistoryError(
                f"no isolation level {self.isolation!r}",
                expected=f"one of {', '.join(self.levels)}",
                code="SW708",
            )

    def connect(self) -> Any:
        """A new connection. Raises: one of `errors`."""
        raise NotImplementedError

    def begin(self, connection: Any) -> None:
        """Begin a transaction."""
        connection.execute("BEGIN")

    def prepare(self, initial: Iterable[tuple[int, int]]) -> None:
        """Create both tables anew, with the initial values of registers."""
        connection = self.connect()
        for table in (REGISTERS, LISTS):
            kind = "BIGINT" if table == REGISTERS else "TEXT"
            connection.execute(f"DROP TABLE IF EXISTS {table}")
            connection.execute(f"CREATE TABLE {table} (k INTEGER PRIMARY KEY, v {kind} NOT NULL)")
        self.begin(connection)
        for key, value in initial:
            self._run(connection, f"INSERT INTO {REGISTERS} VALUES (?, ?)", (key, value))
        connection.commit()
        connection.close()

    # -- operations, run and recorded --------------------------------------------------------------

    def read(self, c: RecordedConnection, key: int) -> int | None:
        """The value of a register."""
        row = self._run(c, f"SELECT v FROM {REGISTERS} WHERE k = ?", (key,)).fetchone()
        c.saw(key, None if row is None else row[0])
        return None if row is None else int(row[0])

    def write(self, c: RecordedConnection, key: int, value: int) -> None:
        """Set a register; recorded first, since a failure may come after the effect."""
        c.wrote(key, value)
        self._run(c, f"INSERT INTO {REGISTERS} VALUES (?, ?) "
                     "ON CONFLICT (k) DO UPDATE SET v = excluded.v", (key, value))  # fmt: skip

    def read_range(self, c: RecordedConnection, low: int, high: int) -> None:
        """The registers between two keys."""
        sql = f"SELECT k, v FROM {REGISTERS} WHERE k BETWEEN ? AND ? ORDER BY k"
        c.saw_range(low, high, self._run(c, sql, (low, high)).fetchall())

    def read_list(self, c: RecordedConnection, key: int) -> None:
        """The elements of a list."""
        row = self._run(c, f"SELECT v FROM {LISTS} WHERE k = ?", (key,)).fetchone()
        c.saw(key, [] if row is None else [int(x) for x in row[0].split(",")])

    def append(self, c: RecordedConnection, key: int, element: int) -> None:
        """Append to a list, in one statement."""
        c.appended(key, element)
        sql = f"INSERT INTO {LISTS} VALUES (?, ?) ON CONFLICT (k) DO UPDATE SET v = {LISTS}.v"
        self._run(c, f"{sql} || ',' || excluded.v", (key, str(element)))

    def _run(self, c: Any, sql: str, parameters: tuple[Any, ...]) -> Any:
        return c.execute(sql.replace("?", self.mark), parameters)


class DuckDB(Database):
    """DuckDB in this process; threads share one database. Its transactions are snapshots."""

    levels = ("snapshot",)

    def __init__(self, url: str, isolation: str | None) -> None:
        """Open the database: a file, or memory when `url` is empty."""
        super().__init__(url, isolation)
        try:
            import duckdb
        except ImportError:
            raise missing("duckdb", "DuckDB") from None

        self.errors, self._lock = (duckdb.Error,), threading.Lock()
        self._root = duckdb.connect(url or ":memory:")

    def connect(self) -> Any:
        with self._lock:
            return self._root.cursor()


class SQLite(Database):
    """SQLite in this process, with a write-ahead log, so that readers do not wait."""

    levels = ("deferred", "immediate", "exclusive")
    errors = (sqlite3.Error,)

    def __init__(self, url: str, isolation: str | None) -> None:
        """Name the file. Raises: HistoryError[SW708] without one: memory cannot be shared."""
        super().__init__(url, isolation)
        if not url or url == ":memory:":
            raise HistoryError("no file for SQLite", expected="--url FILE", code="SW708")
        with suppress(OSError):
            Path(url).parent.mkdir(parents=True, exist_ok=True)

    def connect(self) -> Any:
        connection = sqlite3.connect(
            self.url, timeout=2, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
        connection.execute("PRAGMA synchronous = OFF")
        return connection

    def begin(self, connection: Any) -> None:
        connection.execute(f"BEGIN {self.isolation.upper()}")


class Postgres(Database):
    """A PostgreSQL server by its URL, through psycopg (the extra `collect`)."""

    mark = "%s"
    levels = ("read committed", "repeatable read", "serializable")

    def __init__(self, url: str, isolation: str | None) -> None:
        """Name the server. Raises: RunError[SW329] when psycopg is not installed."""
        super().__init__(url, isolation)
        try:
            import psycopg
        except ImportError:
            raise missing("psycopg", "PostgreSQL") from None
        self._connect, self.errors = psycopg.connect, (psycopg.Error,)
        try:
            psycopg.conninfo.conninfo_to_dict(url)
        except psycopg.Error:  # its text repeats the URL
            raise HistoryError(
                "the URL cannot be read",
                expected="postgresql://USER@HOST/DATABASE; the password in PGPASSWORD",
                code="SW708",
            ) from None

    def connect(self) -> Any:
        return self._connect(self.url, autocommit=True, connect_timeout=5)

    def begin(self, connection: Any) -> None:
        connection.execute(f"BEGIN ISOLATION LEVEL {self.isolation.upper()}")


def without_password(said: str, url: str) -> str:
    """What a driver said, without anything that may be part of the password of a URL.

    One with a slash or a colon in it that is not escaped is taken apart in other places.
    """
    before, at, _ = url.rpartition("://")[2].rpartition("@")
    password = before.partition(":")[2]
    parts = {password, *re.split(r"[/?#:@&=]", password)} if at else set[str]()
    parts |= set(re.findall(r"password\s*=\s*'?([^'&\s]+)", url))
    for part in sorted({*parts, *map(unquote, parts)} - {""}, key=len, reverse=True):
        said = said.replace(part, "***")
    return said


DATABASES: dict[str, type[Database]] = {
    "duckdb": DuckDB,
    "sqlite": SQLite,
    "postgres": Postgres,
}
