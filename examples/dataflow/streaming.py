"""The dataflow store as a stream: a folder of batches in, a folder of epochs out, each once.

A batch is a file of lines of JSON, called by its number: `00000001.json`, then `00000002.json`.
A line says one thing about a transaction, and the last line that the batch ends there:

    {"tid": 1, "requires": "a-b"}
    {"tid": 1, "item": "b-c", "count": -1}
    {"tid": 1, "look_up": "a"}               (taken back with "count": -1)
    {"tid": 1, "root": "a"}
    {"end": 1, "records": 4}

Spark's stream says which files are new and writes down, before it hands them over, which these are;
after a crash it hands over the same again. The epoch of a batch is kept by one renaming. So a batch
comes at least once and an epoch is kept at most once: where it is there already, it is compared and
passed over. Everything in memory is a sum of what epochs have saved.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from examples.dataflow import answering, epochs
from examples.dataflow.epochs import Mark, Refused, Saved
from examples.dataflow.resolving import Batch, collected, resolve_batch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

RECORD = (
    "tid long, requires string, item string, count long, look_up string, root string,"
    " end long, records long"
)
WHAT = ("requires", "item", "look_up", "root", "end")  # a line says one of these


def run(spark: SparkSession, batches: Path, out: Path, at_once: int = 0) -> None:
    """Begin with what is there, or go on after it, until no batch is left.

    Of waiting batches `at_once` are taken together, or all. Raises Refused where going on would
    give wrong answers: two jobs in one folder, saved epochs that are not as they were written,
    batches that are not whole or out of order.
    """
    with epochs.alone(out):
        job = Job(spark, out)
        reader = spark.readStream.schema(RECORD).option("mode", "FAILFAST")
        if at_once:
            reader = reader.option("maxFilesPerTrigger", at_once)
        read = reader.json(str(batches)).selectExpr("*", "_metadata.file_name as file")
        writer = read.writeStream.option("checkpointLocation", str(out / "progress"))
        query = writer.foreachBatch(job.take).trigger(availableNow=True).start()
        try:
            query.awaitTermination()
        except Exception as error:
            raise job.refused or error from None


class Job:
    """The memory of a running job: the sums of all epochs, as tables."""

    def __init__(self, spark: SparkSession, out: Path) -> None:
        """Add up what was saved."""
        from pyspark.sql import functions as f

        self.refused: Refused | None = None  # Spark tells only what it said
        self.saved = Saved(out)
        self.saved.forget_unfinished()
        self.epoch = self.saved.last()
        rows = self.saved.rows(spark, 1, self.epoch)

        def summed(kind: str, *columns: str) -> DataFrame:
            found = rows.where(f.col("kind") == kind).groupBy(*columns)
            counted = found.agg(f.sum("count").alias("count")).where("count <> 0")
            return counted.localCheckpoint(eager=False)

        self.collection = summed(epochs.CHANGE, "item")
        self.look_ups = summed(epochs.LOOK_UP, "node")
        self.roots = summed(epochs.ROOT, "node")
        pairs = summed(epochs.REACHED, "item", "node")
        self.reached = pairs.select(f.col("item").alias("root"), "node").localCheckpoint(
            eager=False
        )

    def take(self, new: DataFrame, _: int) -> None:
        """Take the batches that are new to Spark's query."""
        try:
            self.resolve_all(new)
        except Refused as refused:
            self.refused = refused
            raise

    def resolve_all(self, new: DataFrame) -> None:
        """Make epochs of new batches, in the order of their numbers. Raises Refused."""
        new = new.localCheckpoint(eager=False)
        for row in examined(new):
            mark = Mark(row["number"], row["records"], row["digest"], 0, 0, 0)
            kept = self.saved.mark(mark.epoch)
            if kept is not None:
                if (kept.records, kept.batch) != (mark.records, mark.batch):
                    raise Refused(f"{row['file']} is not what epoch {mark.epoch} was made of.")
            elif mark.epoch != self.epoch + 1:
                raise Refused(
                    f"{row['file']} came before batch {self.epoch + 1}. Put batches into the folder"
                    " in the order of their numbers. To go on, put the missing ones there and"
                    f" remove {self.saved.folder.parent / 'progress'}."
                )
            else:
                self.resolve(new.where(new["file"] == row["file"]), mark)

    def resolve(self, records: DataFrame, mark: Mark) -> None:
        """Compute an epoch and keep it."""
        from pyspark.sql import functions as f

        requires = records.where("requires is not null").selectExpr("tid", "requires as item")
        changes = records.where("item is not null").select("tid", "item", "count")
        resolved = resolve_batch(self.collection, Batch(requires, changes))
        live = records.join(resolved.aborted, "tid", "left_anti").localCheckpoint(eager=False)
        after = resolved.after.localCheckpoint(eager=False)
        count = f.coalesce("count", f.lit(1)).alias("count")
        new = {
            name: live.where(f.col(name).isNotNull()).select(f.col(name).alias("node"), count)
            for name in ("look_up", "root")
        }
        edges = answering.Edges(self.collection, after)
        look_ups = answering.Queries(self.look_ups, added(self.look_ups, new["look_up"]))
        roots = answering.Queries(self.roots, added(self.roots, new["root"]))
        reached = answering.reached(self.reached, edges, roots)
        rows = [
            said(epochs.ABORTED, resolved.aborted),
            said(epochs.CHANGE, collected(live.where("item is not null"))),
            said(epochs.LOOKED_UP, answering.looked_up(edges, look_ups)),
            said(
                epochs.REACHED,
                answering.changed(self.reached, reached).withColumnRenamed("root", "item"),
            ),
            said(epochs.LOOK_UP, added(new["look_up"])),
            said(epochs.ROOT, added(new["root"])),
        ]
        self.keep(rows, mark._replace(rounds=resolved.rounds))
        self.collection, self.reached = after, reached
        self.look_ups, self.roots = look_ups.after, roots.after
        self.epoch = mark.epoch

    def keep(self, rows: list[DataFrame], mark: Mark) -> None:
        """Write an epoch down."""
        from pyspark.sql import functions as f

        table = rows[0]
        for more in rows[1:]:
            table = table.unionByName(more)
        table = table.coalesce(1).localCheckpoint(eager=False)
        found = table.agg(f.count("*").alias("rows"), epochs.digest().alias("digest")).first()
        assert found is not None
        self.saved.keep(table, mark._replace(rows=found["rows"], digest=found["digest"]))


def added(*counted: DataFrame) -> DataFrame:
    """Counts of nodes, added up."""
    from pyspark.sql import functions as f

    table = counted[0]
    for more in counted[1:]:
        table = table.unionByName(more)
    summed = table.groupBy("node").agg(f.sum("count").alias("count"))
    return summed.where("count <> 0").localCheckpoint(eager=False)


def said(kind: str, table: DataFrame) -> DataFrame:
    """A table as rows of an epoch."""
    from pyspark.sql import functions as f

    columns = [column.split() for column in epochs.ROW.split(", ")[1:]]
    return table.select(
        f.lit(kind).alias("kind"),
        *(
            (f.col(name) if name in table.columns else f.lit(None)).cast(type_).alias(name)
            for name, type_ in columns
        ),
    )


def examined(new: DataFrame) -> list[Row]:
    """Return what is said of each new file, in the order of their numbers. Raises Refused."""
    from pyspark.sql import functions as f

    says: Any = sum(f.col(name).isNotNull().cast("int") for name in WHAT)
    counts = f.col("item").isNull() | f.col("count").isNotNull()
    right = (says == 1) & (f.col("tid").isNotNull() | f.col("end").isNotNull()) & counts
    columns = [column.split()[0] for column in RECORD.split(", ")]
    found = (
        new.groupBy("file")
        .agg(
            f.count("*").alias("lines"),
            f.count_if(~right).alias("wrong"),
            f.max("end").alias("number"),
            f.count("end").alias("ends"),
            f.max("records").alias("records"),
            f.bit_xor(f.xxhash64(*columns)).alias("digest"),
        )
        .collect()
    )
    for row in found:
        name = row["file"].partition(".")[0]
        if row["wrong"]:
            raise Refused(
                f"{row['file']}: {row['wrong']} of its lines say nothing, or two things. Each has"
                f" a tid and one of {', '.join(WHAT[:-1])}; item needs a count."
            )
        if row["ends"] != 1 or row["lines"] != (row["records"] or 0) + 1:
            raise Refused(
                f"{row['file']} is not whole: it has {row['lines']} lines and {row['ends']} ends."
                " Write a batch under another name that begins with a dot, then rename it."
            )
        if not name.isdigit() or int(name) != row["number"]:
            raise Refused(f"{row['file']} says that it is batch {row['number']}.")
    return sorted(found, key=lambda row: row["number"])
