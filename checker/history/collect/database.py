"""The workload driver's interface to a database: how to connect, begin, and say each operation.

The driver's tables, of registers and of lists, are made by `prepare`, the front's of pairs by
`prepare_pairs`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from statewalk.checker.history.collect.recorder import RecordedConnection
from statewalk.checker.history.collect.statements import execute
from statewalk.checker.history.errors import HistoryError

REGISTERS, LISTS, PAIRS = "statewalk_register", "statewalk_list", "statewalk_pairs"
OBJECTS = "statewalk_object"


class Database:
    """One database; each `connect` gives a connection of its own that is not in a transaction."""

    mark = "?"
    text = "TEXT"
    """The type of a column that holds a list, or a value with its tag."""
    name = "VARCHAR(255)"
    """The type of a column that holds a key, to the letter."""
    or_set = "ON CONFLICT (k) DO UPDATE SET v = {given}"
    or_append = "ON CONFLICT (k) DO UPDATE SET v = {table}.v || ',' || {given}"
    given = "excluded.v"
    """How an insert says what to do where the key is there, and names the value it came with."""
    levels: tuple[str, ...] = ()
    errors: tuple[type[Exception], ...] = ()
    """What the driver raises when the database answers with an error, or not at all."""

    def __init__(self, url: str, isolation: str | None) -> None:
        """Name the database. Raises: HistoryError[SW708] for a level that it does not have."""
        self.url = url
        self.isolation = isolation or self.levels[0]
        if self.isolation not in self.levels:
            raise HistoryError(
                f"this database has no isolation level {self.isolation!r}",
                expected=f"one of {', '.join(self.levels)}",
                code="SW708",
            )

    def connect(self) -> Any:
        """A new connection. Raises: one of `errors`."""
        raise NotImplementedError

    def begin(self, connection: Any) -> None:
        """Begin a transaction."""
        execute(connection, "BEGIN")

    def prepare(self, initial: Iterable[tuple[int, int]]) -> None:
        """Create the driver's tables anew, with the initial values of registers."""
        self._make(REGISTERS, "INTEGER", "BIGINT", initial)
        self._make(LISTS, "INTEGER", self.text, ())

    def prepare_pairs(self, initial: Iterable[tuple[str, str]]) -> None:
        """Create the front's table anew, with what it holds at the beginning."""
        self._make(PAIRS, self.name, self.text, initial)

    def _make(self, table: str, key: str, value: str, rows: Iterable[tuple[Any, Any]]) -> None:
        connection = self.connect()
        try:
            execute(connection, f"DROP TABLE IF EXISTS {table}")
            sql = f"CREATE TABLE {table} (k {key} PRIMARY KEY, v {value} NOT NULL)"
            execute(connection, sql)
            self.begin(connection)
            for row in rows:
                self._run(connection, f"INSERT INTO {table} VALUES (?, ?)", row)
            connection.commit()
        finally:
            connection.close()

    # -- operations, run and recorded --------------------------------------------------------------

    def read(self, c: RecordedConnection, key: int) -> int | None:
        """Return the value of a register."""
        value = self._value(c, REGISTERS, key)
        c.saw(key, value)
        return None if value is None else int(value)

    def write(self, c: RecordedConnection, key: int, value: int) -> None:
        """Set a register; recorded first, since a failure may come after the effect."""
        c.wrote(key, value)
        self._set(c, REGISTERS, key, value)

    def read_range(self, c: RecordedConnection, low: int, high: int) -> None:
        """The registers between two keys."""
        sql = f"SELECT k, v FROM {REGISTERS} WHERE k BETWEEN ? AND ? ORDER BY k"
        c.saw_range(low, high, self._run(c, sql, (low, high)).fetchall())

    def read_list(self, c: RecordedConnection, key: int) -> None:
        """The elements of a list."""
        value = self._value(c, LISTS, key)
        c.saw(key, [] if value is None else [int(x) for x in value.split(",")])

    def append(self, c: RecordedConnection, key: int, element: int) -> None:
        """Append to a list, in one statement."""
        c.appended(key, element)
        rule = self.or_append.format(given=self.given, table=LISTS)
        self._run(c, f"INSERT INTO {LISTS} VALUES (?, ?) {rule}", (key, str(element)))

    # -- what a front records itself --------------------------------------------------------------

    def read_pair(self, c: RecordedConnection, key: str) -> str | None:
        """Return what is stored at a key; None where nothing is."""
        value = self._value(c, PAIRS, key)
        return None if value is None else str(value)

    def write_pair(self, c: RecordedConnection, key: str, stored: str) -> None:
        """Store at a key."""
        self._set(c, PAIRS, key, stored)

    # -- an object: a map, whose requests are statements of their own ------------------------------

    def prepare_objects(self) -> None:
        """Create the table of objects anew."""
        self._make(OBJECTS, "INTEGER", "BIGINT", ())

    def get_object(self, c: Any, key: int) -> int | None:
        """Return the value of a key; None where it has none."""
        value = self._value(c, OBJECTS, key)
        return None if value is None else int(value)

    def set_object(self, c: Any, key: int, value: int) -> None:
        """Set the value of a key."""
        self._set(c, OBJECTS, key, value)

    def cas_object(self, c: Any, key: int, old: int, new: int) -> bool:
        """Set the value of a key where it is another one; whether it was."""
        sql = f"UPDATE {OBJECTS} SET v = ? WHERE k = ? AND v = ?"
        return bool(self._run(c, sql, (new, key, old)).rowcount == 1)

    def _value(self, c: Any, table: str, key: Any) -> Any:
        row = self._run(c, f"SELECT v FROM {table} WHERE k = ?", (key,)).fetchone()
        return None if row is None else row[0]

    def _set(self, c: Any, table: str, key: Any, value: Any) -> None:
        rule = self.or_set.format(given=self.given)
        self._run(c, f"INSERT INTO {table} VALUES (?, ?) {rule}", (key, value))

    def _run(self, c: Any, sql: str, parameters: tuple[Any, ...]) -> Any:
        return execute(c, sql.replace("?", self.mark), parameters)
