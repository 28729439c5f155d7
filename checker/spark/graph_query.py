"""Questions to a state graph, answered by Spark SQL: for graphs that one machine is slow with."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from checker.graph.ask import Answer, no_question, told
from checker.graph.dataset import STATES, TRANSITIONS
from checker.spark.connecting import session_of
from checker.spark.settings import Settings
from dsl.errors import RunError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_QUESTIONS = (
    "SELECT",
    "WITH",
    "FROM",
    "VALUES",
    "EXPLAIN",
    "DESCRIBE",
    "DESC",
    "SHOW",
    "TABLE",
    "(",
)
_CHANGES = (
    "Insert",
    "Create",
    "Drop",
    "Alter",
    "Set",
    "Cache",
    "AddFile",
    "AddJar",
    "Load",
    "Write",
)


class SparkTables:
    """A graph in Spark SQL. With ``files``, SQL may read and write other files too."""

    def __init__(self, folder: Path, master: str | None = None, *, files: bool = False) -> None:
        self.files = files
        logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)  # we tell it shorter
        self.session = session_of(Settings(master=master), 0)
        self.kept: dict[str, DataFrame] = {}
        for table in (STATES, TRANSITIONS):
            read = self.session.read.parquet(str((folder / table).resolve()))
            read.createOrReplaceTempView(table)
        if not files:
            self.session.conf.set("spark.sql.runSQLOnFiles", "false")

    def ask(self, sql: str, limit: int | None = None) -> Answer:
        """The answer to one question; at most ``limit`` rows.

        Raises:  RunError[SW352] for what Spark cannot run, and for what is no question
        """
        if not self.files:
            self._only_questions(sql)
        try:
            found = self.session.sql(sql)
            rows = found.collect() if limit is None else found.limit(limit + 1).collect()
        except Exception as error:
            raise _told(error) from None
        return Answer(
            tuple(found.columns),
            tuple(field.dataType.simpleString() for field in found.schema.fields),
            tuple(tuple(row) for row in (rows if limit is None else rows[:limit])),
            limit is not None and len(rows) > limit,
        )

    def _only_questions(self, sql: str) -> None:
        """Raises RunError[SW352] for what changes something: by its first word, and by its plan."""
        first = sql.lstrip()[:8].upper()
        bad = "" if first.startswith(_QUESTIONS) else first.split(" ")[0]
        if not bad:
            try:
                state = self.session._jsparkSession.sessionState()
                plan = state.sqlParser().parsePlan(sql).toString()
            except Exception as error:
                raise _told(error) from None
            bad = next((w for w in _CHANGES if any(_is(line, w) for line in plan.splitlines())), "")
        if bad:
            raise no_question(bad or "This")

    def keep(self, name: str, sql: str) -> None:
        """See `checker.graph.ask.Asked`."""
        try:
            # cut off from what it was computed from: plans would grow with every level
            table = self.session.sql(sql).localCheckpoint()
        except Exception as error:
            raise _told(error) from None
        table.createOrReplaceTempView(name)
        self.kept[name] = table

    def extend(self, name: str, sql: str) -> None:
        """See `checker.graph.ask.Asked`."""
        self.keep(name, f"SELECT * FROM {name} UNION ALL {sql}")


def _is(line: str, word: str) -> bool:
    """Whether a line of a plan is a node that changes something."""
    return line.lstrip(" +-:'").startswith(word)


def _told(error: Exception) -> RunError:
    """What Spark says, without its plans and stacks."""
    kept: list[str] = []
    for line in str(error).splitlines():
        if line.startswith(("'", "+-", "JVM stacktrace", "\tat ")):
            break
        kept.append(line)
    text = "\n".join(line for line in kept if line.strip())
    return told(text or type(error).__name__, "Spark")
