"""Questions to a graph in SQL, answered by DuckDB.

The database sees two views, ``states`` and ``transitions``, and nothing else: it may not read other
files, write any, or change its settings, unless the caller allows that.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from statewalk.checker.graph.dataset import STATES, TRANSITIONS, files_of
from statewalk.dsl.errors import RunError

if TYPE_CHECKING:
    import duckdb

_QUESTIONS = ("SELECT", "EXPLAIN")
HELP = "The tables are states and transitions; 'statewalk query DIR' alone lists their columns."


@dataclass(frozen=True)
class Answer:
    """The rows of an answer, the first ``len(rows)`` of them; ``more`` where that is not all."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool = False


class TookTooLong(RunError):
    """A question whose time is over: neither answered nor a mistake."""


class Patience:
    """How long questions may take together, in seconds; ``None`` for as long as they want."""

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._until = None if seconds is None else time.monotonic() + seconds

    def left(self) -> float | None:
        """Seconds that are left."""
        return None if self._until is None else max(0.0, self._until - time.monotonic())

    def ended(self) -> TookTooLong:
        """The error of what took longer."""
        return TookTooLong(
            "SW355",
            f"There is no answer after {self._seconds:g} seconds.",
            help="--timeout 2h waits longer, --timeout 0 for as long as it takes.",
        )


ENDLESS = Patience(None)


class Asked(Protocol):
    """What answers questions: DuckDB here, Spark elsewhere."""

    def ask(self, sql: str, limit: int | None = None) -> Answer:
        """The answer to one question; at most ``limit`` rows. Raises RunError[SW352]."""
        ...

    def keep(self, name: str, sql: str) -> None:
        """Keep the answer to a question of ours as a table, in place of one of that name."""
        ...

    def extend(self, name: str, sql: str) -> None:
        """Add the answer to a question of ours to a table."""
        ...


class Database:
    """A graph in DuckDB. With ``files``, SQL may read and write other files too."""

    def __init__(self, folder: Path, *, files: bool = False, patience: Patience = ENDLESS) -> None:
        import duckdb

        self.files, self.patience = files, patience
        self.connection: duckdb.DuckDBPyConnection = duckdb.connect(":memory:")
        known: list[str] = []
        for table in (STATES, TRANSITIONS):
            own = [str(file.resolve()) for file in files_of(folder, table)]
            known += own
            self.connection.execute(
                f"CREATE VIEW {table} AS SELECT * FROM read_parquet([{_listed(own)}])"
            )
        if not files:
            self.connection.execute(f"SET allowed_paths = [{_listed(known)}]")
            self.connection.execute("SET enable_external_access = false")
            self.connection.execute("SET lock_configuration = true")

    def ask(self, sql: str, limit: int | None = None) -> Answer:
        """The answer to one question; at most ``limit`` rows.

        Raises:  RunError[SW352] for what DuckDB cannot run, and for what is no question;
                 RunError[SW355] where it takes too long
        """
        with self._told():
            self._only_questions(sql)
            found = self.connection.execute(sql)
            description: Sequence[Any] = found.description or ()
            rows = found.fetchall() if limit is None else found.fetchmany(limit + 1)
        return Answer(
            tuple(d[0] for d in description),
            tuple(str(d[1]) for d in description),
            tuple(rows if limit is None else rows[:limit]),
            limit is not None and len(rows) > limit,
        )

    def _only_questions(self, sql: str) -> None:
        statements = self.connection.extract_statements(sql)
        if len(statements) != 1:
            raise RunError("SW352", f"This is {len(statements)} statements, not one.", help=HELP)
        kind = statements[0].type.name
        if kind not in _QUESTIONS and not self.files:
            raise no_question(kind.replace("_", " "))

    def keep(self, name: str, sql: str) -> None:
        """See `Asked`."""
        self._run(f"CREATE OR REPLACE TEMP TABLE {name} AS {sql}")

    def extend(self, name: str, sql: str) -> None:
        """See `Asked`."""
        self._run(f"INSERT INTO {name} {sql}")

    def _run(self, sql: str) -> None:
        with self._told():
            self.connection.execute(sql)

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
        except duckdb.Error as error:
            raise told(str(error), "DuckDB") from None
        finally:
            if timer is not None:
                timer.cancel()


def no_question(what: str) -> RunError:
    """The error of a statement that is not of the kinds that only look."""
    return RunError(
        "SW352",
        f"{what} is not a question: only SELECT and its like are run.",
        why="A graph is not changed by looking at it, and SQL may come from elsewhere.",
        help="--allow-files runs everything, and lets it read and write files.",
    )


def not_allowed(what: str, *, files: bool) -> RunError:
    """The error of a question that would do more than look at the graph, or that we cannot tell."""
    return RunError(
        "SW352",
        f"{what} is not among what a question may use.",
        why="SQL may come from elsewhere, so it sees the graph and nothing else.",
        help=""
        if files
        else "--allow-files lets it read and write files of data; nothing lets it run programs.",
    )


def told(text: str, who: str) -> RunError:
    """The error of a question that cannot be run, with the caret that the database gave."""
    first, _, rest = text.strip().partition("\n")
    return RunError(
        "SW352",
        f"{who} cannot run this: {first}",
        why="\n".join(filter(str.strip, rest.splitlines())),
        help=HELP,
    )


def _listed(files: Sequence[str]) -> str:
    return ", ".join("'" + file.replace("'", "''") + "'" for file in files)
