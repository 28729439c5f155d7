"""Questions to a graph in SQL, answered by DuckDB.

The database is given two tables, ``states`` and ``transitions``, and opens no file itself, not even
those of the graph, unless the caller allows that. Nor may it change its settings, and only what
looks is run: what the parser finds anywhere in a question decides that.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from statewalk.checker.graph.dataset import STATES, TRANSITIONS, rows_of
from statewalk.dsl.errors import RunError

if TYPE_CHECKING:
    import duckdb


_EXPLAIN = "EXPLAIN"
_SOME = 4096  # rows at a time
_LOOK = {"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"}  # as DuckDB parses
_ROWS = {"range", "generate_series", "unnest", "repeat", "repeat_row", "json_each", "json_tree"}
HELP = "The tables are states and transitions; 'statewalk query DIR' alone lists their columns."


@dataclass(frozen=True)
class Answer:
    """The rows of an answer, the first ``len(rows)`` of them; ``more`` where that is not all."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool = False


class TookTooLong(RunError):
    """A question whose time is over, or memory full: neither answered nor a mistake."""


class Patience:
    """The time limit of all questions together, in seconds; ``None`` for no limit."""

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._until = None if seconds is None else time.monotonic() + seconds

    def left(self) -> float | None:
        """Return seconds that are left."""
        return None if self._until is None else max(0.0, self._until - time.monotonic())

    def ended(self) -> TookTooLong:
        """Return the error of what took longer."""
        return TookTooLong(
            "SW355",
            f"There is no answer after {self._seconds:g} seconds.",
            help="--timeout 2h waits longer, --timeout 0 for as long as it takes.",
        )


ENDLESS = Patience(None)


class Database:
    """A graph in DuckDB. With ``files``, SQL may do everything, reading and writing files too."""

    def __init__(
        self,
        folder: Path,
        *,
        files: bool = False,
        patience: Patience = ENDLESS,
        memory: int | None = None,
    ) -> None:
        import duckdb

        self.files, self.patience = files, patience
        self.connection: duckdb.DuckDBPyConnection = duckdb.connect(":memory:")
        for table in (STATES, TRANSITIONS):
            self.connection.register(table, rows_of(folder, table))
        settings = [] if memory is None else [f"memory_limit = '{memory}B'"]
        if not files:
            settings += ["temp_directory = ''", "allowed_directories = []", "allowed_paths = []"]
            settings += ["python_enable_replacements = false", "enable_external_access = false"]
            settings += ["lock_configuration = true"]
        for setting in settings:
            self.connection.execute(f"SET {setting}")

    def ask(self, sql: str, limit: int | None = None) -> Answer:
        """Return the answer to one question; at most ``limit`` rows.

        Raises:  RunError[SW352] for what DuckDB cannot run, and for what is no question;
                 RunError[SW355] where it takes too long
        """
        with self._told():
            self._only_questions(sql)
            found = self.connection.execute(sql)
            description: Sequence[Any] = found.description or ()
            rows = self._fetched(found, limit)
        return Answer(
            tuple(d[0] for d in description),
            tuple(str(d[1]) for d in description),
            tuple(rows if limit is None else rows[:limit]),
            limit is not None and len(rows) > limit,
        )

    def _fetched(self, found: duckdb.DuckDBPyConnection, limit: int | None) -> list[Any]:
        """Return the rows, and one more than the limit; some at a time, so that time is
        looked at.
        """
        rows: list[Any] = []
        while limit is None or len(rows) <= limit:
            some = found.fetchmany(_SOME if limit is None else min(_SOME, limit + 1 - len(rows)))
            if not some:
                break
            rows += some
            if self.patience.left() == 0:
                raise self.patience.ended()
        return rows

    def _only_questions(self, sql: str) -> None:
        statements = self.connection.extract_statements(sql)
        if len(statements) != 1:
            raise RunError("SW352", f"This is {len(statements)} statements, not one.", help=HELP)
        if self.files:
            return
        kind = statements[0].type.name
        if kind == _EXPLAIN:
            sql = self._explained(sql)
        elif kind != "SELECT":
            raise no_question(kind.replace("_", " "))
        if bad := _no_look(self._parsed(sql)):
            raise bad

    def _explained(self, sql: str) -> str:
        """Return what an EXPLAIN is of; with options in front where it has such, which is no
        SELECT.
        """
        import duckdb

        data = sql.encode()
        starts = (at for at, kind in duckdb.tokenize(sql) if kind != duckdb.token_type.comment)
        return data[next(starts) + len(_EXPLAIN) :].decode()

    def _parsed(self, sql: str) -> Any:
        """Return a SELECT as it is parsed. Raises RunError[SW352] for all that is none."""
        text = "SELECT json_serialize_sql(?::VARCHAR)"
        found: Any = self.connection.execute(text, [sql]).fetchall()[0][0]
        try:
            parsed = json.loads(found)
        except RecursionError:
            raise RunError("SW352", "This is nested too deeply.", help=HELP) from None
        if parsed["error"]:
            raise no_question("An EXPLAIN of what is no SELECT, or with options,")
        return parsed

    def keep(self, name: str, sql: str) -> None:
        """Keep the rows of a query as a table."""
        self._run(f"CREATE OR REPLACE TEMP TABLE {name} AS", sql)

    def extend(self, name: str, sql: str) -> None:
        """Add the rows of a query to a table."""
        self._run(f"INSERT INTO {name}", sql)

    def _run(self, into: str, sql: str) -> None:
        with self._told():
            self._only_questions(sql)
            self.connection.execute(f"{into} {sql}")

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Say of the database's errors what they mean, and end what takes too long."""
        import duckdb

        left = self.patience.left()
        timer = None if left is None else threading.Timer(left, self.connection.interrupt)
        if timer is not None:
            timer.daemon = True
            timer.start()
        try:
            yield
        except duckdb.InterruptException:
            raise self.patience.ended() from None
        except duckdb.OutOfMemoryException:
            raise TookTooLong(
                "SW355",
                "The answer takes more memory than it may.",
                help="--max-memory 16G gives it more.",
            ) from None
        except duckdb.Error as error:
            raise told(str(error), "DuckDB") from None
        finally:
            if timer is not None:
                timer.cancel()
                timer.join()  # it knows the connection, which is to be gone before the process is


def _no_look(parsed: Any) -> RunError | None:
    """Return the error of a parsed SELECT that, at any depth, does more than look."""
    inside = [parsed]
    while inside:
        part = inside.pop()
        if isinstance(part, list):
            inside += part
        elif isinstance(part, dict):
            inside += part.values()
            kind = str(part.get("type"))
            if kind.endswith("_NODE") and kind not in _LOOK:
                return no_question(kind.removesuffix("_NODE").removesuffix("_QUERY"))
            if (
                kind == "TABLE_FUNCTION"
                and (name := part["function"]["function_name"]) not in _ROWS
            ):
                return not_allowed(name, files=False)
    return None


def no_question(what: str) -> RunError:
    """Return the error of a statement that is not of the kinds that only look."""
    return RunError(
        "SW352",
        f"{what} is not a query: only SELECT and similar statements are run.",
        why="Queries do not change a graph, and SQL may come from others.",
        help="--allow-files runs everything, and lets it read and write files.",
    )


def not_allowed(what: str, *, files: bool) -> RunError:
    """Return the error of a question that would do more than look at the graph, or that we
    cannot tell.
    """
    return RunError(
        "SW352",
        f"{what} is not among what a question may use.",
        why="SQL may come from others, so it can read only the graph.",
        help=""
        if files
        else "--allow-files lets it read and write files of data; nothing lets it run programs.",
    )


def told(text: str, who: str) -> RunError:
    """Return the error of a question that cannot be run, with the caret that the database gave."""
    first, _, rest = text.strip().partition("\n")
    return RunError(
        "SW352",
        f"{who} cannot run this: {first}",
        why="\n".join(filter(str.strip, rest.splitlines())),
        help=HELP,
    )


_STEP = ("action", "actor", "arguments", "choices")


@dataclass(frozen=True)
class Found:
    """A shortest path: its states by column, and between them the steps."""

    states: tuple[dict[str, Any], ...]
    steps: tuple[dict[str, Any], ...]


def states_where(asked: Database, predicate: str, limit: int | None) -> Answer:
    """Return the states where a predicate is true, the nearest to an initial state first."""
    _can_be_asked(asked, predicate)
    where = f"({predicate}\n) IS TRUE"
    return asked.ask(f"SELECT * FROM states WHERE {where} ORDER BY depth, fingerprint", limit)


def shortest_path(asked: Database, start: str, goal: str, avoiding: str | None) -> Found | None:
    """Return a shortest path from a state of ``start`` to one of ``goal``; None where there
    is none.

    No state on it, the ends included, satisfies ``avoiding``. A state of both is a path of no
    steps. Of several the same one is given every time, whatever answers: the least end, then each
    time the least way there.
    """
    for predicate in (start, goal, *([] if avoiding is None else [avoiding])):
        _can_be_asked(asked, predicate)
    allowed = "TRUE" if avoiding is None else f"({avoiding}\n) IS NOT TRUE"
    for name, predicate in (("starts", start), ("goals", goal)):
        asked.keep(
            name,
            f"SELECT fingerprint FROM states WHERE ({predicate}\n) IS TRUE AND {allowed}",
        )
    asked.keep("allowed", f"SELECT fingerprint FROM states WHERE {allowed}")
    asked.keep("reached", "SELECT fingerprint, 0 AS step FROM starts")
    length = 0
    while (end := _least(asked, length)) is None:
        asked.keep("following", _following(length))
        if not asked.ask("SELECT fingerprint FROM following LIMIT 1").rows:
            return None
        length += 1
        asked.extend("reached", f"SELECT fingerprint, {length} AS step FROM following")
    return _way_back(asked, end, length)


def _can_be_asked(asked: Database, predicate: str) -> None:
    """Let a mistake in a predicate be told of the predicate alone. Raises RunError[SW352]."""
    asked.ask(f"EXPLAIN SELECT * FROM states WHERE {predicate}")


def _least(asked: Database, step: int) -> int | None:
    """Return the least goal reached by so many steps."""
    found: int | None = asked.ask(
        "SELECT min(r.fingerprint) FROM reached r JOIN goals g ON g.fingerprint = r.fingerprint "
        f"WHERE r.step = {step}"
    ).rows[0][0]
    return found


def _following(step: int) -> str:
    """Return the states one step further that were not reached sooner."""
    return (
        "SELECT DISTINCT t.target AS fingerprint FROM transitions t "
        f"JOIN reached r ON r.fingerprint = t.source AND r.step = {step} "
        "JOIN allowed a ON a.fingerprint = t.target "
        "WHERE NOT EXISTS (SELECT 1 FROM reached k WHERE k.fingerprint = t.target)"
    )


def _way_back(asked: Database, end: int, length: int) -> Found:
    steps: list[dict[str, Any]] = []
    at = end
    ways = [end]
    for step in range(length - 1, -1, -1):
        columns = ", ".join(f"t.{name}" for name in _STEP)
        order = ", ".join(f"t.{name} NULLS FIRST" for name in _STEP)
        row = asked.ask(
            f"SELECT t.source, {columns} FROM transitions t "
            f"JOIN reached r ON r.fingerprint = t.source AND r.step = {step} "
            f"WHERE t.target = {at} ORDER BY t.source, {order} LIMIT 1"
        ).rows[0]
        at = int(row[0])
        ways.append(at)
        steps.append(dict(zip(_STEP, row[1:], strict=True)))
    answer = asked.ask(f"SELECT * FROM states WHERE fingerprint IN ({', '.join(map(str, ways))})")
    where = answer.columns.index("fingerprint")
    by_print = {row[where]: dict(zip(answer.columns, row, strict=True)) for row in answer.rows}
    states = tuple(by_print[fingerprint] for fingerprint in reversed(ways))
    return Found(states, tuple(reversed(steps)))
