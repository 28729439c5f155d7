"""Questions to a state graph, answered by Spark SQL: for graphs that one machine is slow with."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

import pyarrow as pa

from statewalk.checker.graph.allowed_on_spark import refused, refused_when_resolved
from statewalk.checker.graph.ask import ENDLESS, Answer, Patience, not_allowed, told
from statewalk.checker.graph.dataset import STATES, TRANSITIONS
from statewalk.checker.spark.driver.connecting import session_of
from statewalk.checker.spark.session.session import is_connect
from statewalk.checker.spark.session.settings import Settings
from statewalk.dsl.errors import RunError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Found = TypeVar("Found")


class SparkTables:
    """A graph in Spark SQL. With ``files``, SQL may read and write files of data too."""

    def __init__(
        self,
        folder: Path,
        master: str | None = None,
        *,
        files: bool = False,
        patience: Patience = ENDLESS,
    ) -> None:
        self.files, self.patience = files, patience
        logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)  # we tell it shorter
        self.session = session_of(Settings(master=master), 0)
        if is_connect(self.session):
            raise RunError(
                "SW352",
                "Questions cannot be asked over Spark Connect: what SQL would do is not seen here.",
                help="Give the master of the cluster, or leave out --master.",
            )
        self.kept: dict[str, DataFrame] = {}
        for table in (STATES, TRANSITIONS):
            read = self.session.read.parquet(str((folder / table).resolve()))
            read.createOrReplaceTempView(table)
        self.session.conf.set("spark.sql.variable.substitute", "false")  # of the environment
        self.session.conf.set("spark.sql.runSQLOnFiles", str(files).lower())

    def ask(self, sql: str, limit: int | None = None) -> Answer:
        """The answer to one question; at most ``limit`` rows.

        Raises:  RunError[SW352] for what Spark cannot run, and for what is not allowed;
                 RunError[SW355] where it takes too long
        """

        def answer() -> Answer:
            found = self._frame(sql)
            table = (found if limit is None else found.limit(limit + 1)).toArrow()
            shown = table if limit is None else table[:limit]
            columns = [[_cell(v, c.type) for v in c.to_pylist()] for c in shown.columns]
            return Answer(
                tuple(found.columns),
                tuple(field.dataType.simpleString() for field in found.schema.fields),
                tuple(zip(*columns, strict=True)) if columns else ((),) * len(shown),
                limit is not None and len(table) > limit,
            )

        return self._within(answer)

    def _frame(self, sql: str) -> DataFrame:
        """What a question gives, before it is computed. Raises RunError[SW352]."""
        jvm = Jvm(self.session)
        parsed = self.session._jsparkSession.sessionState().sqlParser().parsePlan(sql)
        if bad := refused(parsed, jvm, files=self.files):
            raise not_allowed(bad, files=self.files)
        found: DataFrame = self.session.sql(sql)
        if not self.files and (bad := refused_when_resolved(_analyzed(found), jvm)):
            raise not_allowed(bad, files=False)
        return found

    def _within(self, do: Callable[[], Found]) -> Found:
        """What a function gives, in a thread: Spark does not stop whenever it is asked to."""
        found: list[Found] = []
        raised: list[Exception] = []
        context, group = self.session.sparkContext, f"statewalk-{uuid4().hex}"

        def run() -> None:
            context.setJobGroup(group, "a question to a graph")  # for this thread
            try:
                found.append(do())
            except Exception as error:
                raised.append(error)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        thread.join(self.patience.left())
        if thread.is_alive():
            # also those it has yet to start: it may still plan
            context._jsc.sc().cancelJobGroupAndFutureJobs(group)
            raise self.patience.ended()
        if raised:
            raise raised[0] if isinstance(raised[0], RunError) else _told(raised[0])
        return found[0]

    def keep(self, name: str, sql: str) -> None:
        """See `checker.graph.ask.Asked`."""
        # cut off from what it was computed from: plans would grow with every level
        table = self._within(lambda: self._frame(sql).localCheckpoint())
        table.createOrReplaceTempView(name)
        self.kept[name] = table

    def extend(self, name: str, sql: str) -> None:
        """See `checker.graph.ask.Asked`."""
        self.keep(name, f"SELECT * FROM {name} UNION ALL {sql}")


class Jvm:
    """Of which kind a thing of the JVM is."""

    def __init__(self, session: Any) -> None:
        self._gateway = session.sparkContext._gateway

    def isinstance(self, found: Any, name: str) -> bool:
        """Whether something is an instance of a class of the JVM."""
        from py4j.java_gateway import is_instance_of  # type: ignore[import-untyped]

        return bool(is_instance_of(self._gateway, found, name))


def _analyzed(frame: Any) -> Any:
    return frame._jdf.queryExecution().analyzed()


def _cell(value: Any, kind: pa.DataType) -> Any:
    """A cell of Arrow as DuckDB gives it; by type, as Arrow gives lists for maps."""
    if value is None:
        return None
    if pa.types.is_map(kind):
        keys = [_cell(k, kind.key_type) for k, _ in value]
        values = [_cell(v, kind.item_type) for _, v in value]
        if pa.types.is_nested(kind.key_type):
            return {"key": keys, "value": values}
        return dict(zip(keys, values, strict=True))
    if pa.types.is_list(kind):
        return [_cell(v, kind.value_type) for v in value]
    if pa.types.is_struct(kind):
        return {part.name: _cell(value[part.name], part.type) for part in kind}
    return value


def _told(error: Exception) -> RunError:
    """What Spark says, without its plans and stacks."""
    kept: list[str] = []
    for line in str(error).splitlines():
        if line.startswith(("'", "+-", "JVM stacktrace", "\tat ")):
            break
        kept.append(line)
    text = "\n".join(line for line in kept if line.strip())
    return told(text or type(error).__name__, "Spark")
