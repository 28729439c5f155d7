"""The databases that `history collect` knows by name, and which one a URL speaks of."""

from __future__ import annotations

import os
import re
import sqlite3
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

from statewalk.checker.history.collect.database import Database
from statewalk.checker.history.collect.statements import execute
from statewalk.checker.history.errors import HistoryError
from statewalk.checker.machine.extras import missing


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
            raise HistoryError(
                "SQLite needs a file: there is no file for SQLite",
                expected="--url FILE",
                code="SW708",
            )
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
    """A database that speaks PostgreSQL's protocol, by its URL, through psycopg (the extra
    `collect`).

    Nothing is prepared on the server: a pool between may give every transaction another one.
    """

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
        return self._connect(self.url, autocommit=True, connect_timeout=5, prepare_threshold=None)

    def begin(self, connection: Any) -> None:
        connection.execute(f"BEGIN ISOLATION LEVEL {self.isolation.upper()}")


class MySQL(Database):
    """A MySQL or MariaDB server by its URL, through PyMySQL (the extra `collect`).

    `snapshot` is REPEATABLE READ with MariaDB's switch `innodb_snapshot_isolation`.
    """

    mark, text, name = "%s", "LONGTEXT", "VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
    or_set = "ON DUPLICATE KEY UPDATE v = {given}"
    or_append = "ON DUPLICATE KEY UPDATE v = CONCAT(v, ',', {given})"
    given = "VALUES(v)"
    levels = (
        "repeatable read",
        "read uncommitted",
        "read committed",
        "serializable",
        "snapshot",
    )

    def __init__(self, url: str, isolation: str | None) -> None:
        """Name the server. Raises: RunError[SW329] when PyMySQL is not installed."""
        super().__init__(url, isolation)
        try:
            import pymysql  # pyright: ignore[reportMissingImports]  # an extra
        except ImportError:
            raise missing("pymysql", "MySQL") from None
        self._driver, self.errors = pymysql, (pymysql.err.Error,)
        self._parts = _mysql_parts(url)

    def connect(self) -> Any:
        parts = self._parts
        try:
            connection = self._driver.connect(
                host=parts.hostname,
                port=parts.port or 3306,
                user=unquote(parts.username or ""),
                password=unquote(parts.password or "") or os.environ.get("MYSQL_PWD", ""),
                database=unquote(parts.path[1:]),
                autocommit=True,
                connect_timeout=5,
                charset="utf8mb4",
            )
        except RuntimeError as error:  # a way to log in that needs one more package
            raise self._driver.err.OperationalError(str(error)) from None
        snapshot = self.isolation == "snapshot"
        level = "REPEATABLE READ" if snapshot else self.isolation.upper()
        execute(connection, f"SET SESSION TRANSACTION ISOLATION LEVEL {level}")
        if snapshot:
            execute(connection, "SET SESSION innodb_snapshot_isolation = ON")
        return connection


def _mysql_parts(url: str) -> SplitResult:
    """Return a URL taken apart. Raises: HistoryError[SW708], which does not repeat it."""
    try:
        parts = urlsplit(url)
        whole = parts.scheme in ("mysql", "mariadb") and parts.hostname and len(parts.path) > 1
        if whole and not parts.query and not parts.fragment and parts.port != 0:
            return parts
    except ValueError:
        pass
    raise HistoryError(
        "the URL cannot be read",
        expected="mysql://USER@HOST:PORT/DATABASE; the password in MYSQL_PWD",
        code="SW708",
    )


def without_password(said: str, url: str) -> str:
    """Return what a driver said, without anything that may be part of the password of a URL.

    One with a slash or a colon in it that is not escaped is taken apart in other places.
    """
    before, at, _ = url.rpartition("://")[2].rpartition("@")
    password = before.partition(":")[2]
    parts = {password, *re.split(r"[/?#:@&=]", password)} if at else set[str]()
    parts |= set(re.findall(r"password\s*=\s*'?([^'&\s]+)", url))
    for part in sorted({*parts, *map(unquote, parts)} - {""}, key=len, reverse=True):
        said = said.replace(part, "***")
    return said


def database_of(url: str) -> str:
    """Return the database that a URL speaks of: by its scheme; PostgreSQL's where it is a list of
    settings; else a file of DuckDB. Raises HistoryError[SW708] for what only looks like a URL: a
    file of that name would hold its password.
    """
    scheme, colon, _ = url.partition("://")
    if colon and scheme.lower() in _SCHEMES:
        return _SCHEMES[scheme.lower()]
    if re.match(r"\s*\w+\s*=", url):
        return "postgres"
    if colon or "@" in url:
        raise HistoryError(
            "the URL is of no known database",
            expected=f"a file, or {', '.join(f'{s}://...' for s in _SCHEMES)}, or --database",
            code="SW708",
        )
    return "duckdb"


DATABASES: dict[str, type[Database]] = {
    "duckdb": DuckDB,
    "sqlite": SQLite,
    "postgres": Postgres,
    "mysql": MySQL,
}
_SCHEMES = {
    "postgresql": "postgres",
    "postgres": "postgres",
    "mysql": "mysql",
    "mariadb": "mysql",
}
