"""What the workload driver asks of a database: how to connect, begin, and say each operation.

Everything goes through one table of registers and one of lists, both created by `prepare`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from statewalk.checker.history.collect.recorder import RecordedConnection, execute
from statewalk.checker.history.errors import HistoryError

REGISTERS, LISTS = "statewalk_register", "statewalk_list"


class Database:
    """One database; each `connect` gives a connection of its own that is not in a transaction."""

    mark = "?"
    text = "TEXT"
    """The type of a column that holds a list."""
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
                f"no isolation level {self.isolation!r}",
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
        """Create both tables anew, with the initial values of registers."""
        connection = self.connect()
        for table in (REGISTERS, LISTS):
            kind = "BIGINT" if table == REGISTERS else self.text
            execute(connection, f"DROP TABLE IF EXISTS {table}")
            sql = f"CREATE TABLE {table} (k INTEGER PRIMARY KEY, v {kind} NOT NULL)"
            execute(connection, sql)
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
        rule = self.or_set.format(given=self.given)
        self._run(c, f"INSERT INTO {REGISTERS} VALUES (?, ?) {rule}", (key, value))

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
        rule = self.or_append.format(given=self.given, table=LISTS)
        self._run(c, f"INSERT INTO {LISTS} VALUES (?, ?) {rule}", (key, str(element)))

    def _run(self, c: Any, sql: str, parameters: tuple[Any, ...]) -> Any:
        return execute(c, sql.replace("?", self.mark), parameters)
