"""The ordered resolution of a batch as a pipeline of DataFrames.

The same fixpoint as `resolve(..., "ordered")` of `models/stores/resolution.py`, over tables
instead of tuples: take out what aborted transactions write (an anti-join), add up per item in the
order of ids what is left (a window), and see whose requirements fail; until a round changes
nothing. A round costs a sort and a join of the batch, however many transactions it has, and ends
all waiting chains at once: the rounds needed are those of the longest chain of transactions of
which each decides over the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from statewalk.models.stores.resolution import Counts, Item, Transaction

REQUIRES = "tid long, item string"
CHANGES = "tid long, item string, count long"
COUNTS = "item string, count long"
ABORTED = "tid long"


class Batch(NamedTuple):
    """A batch: which items transactions require, and what they add to their counts."""

    requires: DataFrame  # tid, item
    changes: DataFrame  # tid, item, count; removals are negative


class Resolved(NamedTuple):
    """The ids that aborted, the collection after the batch, and the rounds it took."""

    aborted: DataFrame  # tid
    after: DataFrame  # item, count; without zeros
    rounds: int


def resolve_batch(before: DataFrame, batch: Batch) -> Resolved:
    """Resolve a batch on a collection of items with counts.

    `before` has each item once. Intermediate results are checkpointed locally, so that the plan
    does not grow from round to round.
    """
    from pyspark.sql import functions as f

    spark = before.sparkSession
    requires = batch.requires.dropDuplicates().localCheckpoint(eager=False)
    changes = batch.changes.localCheckpoint(eager=False)
    base = before.select(f.lit(None).cast("long").alias("tid"), "item", "count")
    aborted = spark.createDataFrame([], ABORTED)
    rounds = 0
    while True:
        rounds += 1
        live = changes.join(aborted, "tid", "left_anti")
        failed = failing(requires, base.unionByName(live)).localCheckpoint(eager=False)
        if same(failed, aborted):
            return Resolved(failed, collected(base.unionByName(live)), rounds)
        aborted = failed


def same(one: DataFrame, other: DataFrame) -> bool:
    """Return whether two tables have the same rows, none twice."""
    here = one.withColumn("one", one[0] == one[0])
    there = other.withColumn("other", other[0] == other[0])
    return here.join(there, one.columns, "full").where("one is null or other is null").isEmpty()


def failing(requires: DataFrame, changes: DataFrame) -> DataFrame:
    """The transactions with a required item whose count from lower ids is not positive.

    Of `changes`, those without an id come before all others. An item is summed up once, in the
    order of ids, requirements among the changes: no pair of transactions is ever formed.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    zero = f.lit(0).cast("long").alias("count")
    asking = requires.select("tid", "item", zero, f.lit(True).alias("asks"))
    rows = changes.select("tid", "item", "count", f.lit(False).alias("asks")).unionByName(asking)
    order = f.coalesce(f.col("tid"), f.lit(-(2**62)))
    lower = Window.partitionBy("item").orderBy(order).rangeBetween(Window.unboundedPreceding, -1)
    seen = f.coalesce(f.sum("count").over(lower), f.lit(0))
    return rows.withColumn("seen", seen).where("asks and seen <= 0").select("tid").distinct()


def collected(changes: DataFrame) -> DataFrame:
    """The multiset that changes add up to."""
    from pyspark.sql import functions as f

    return changes.groupBy("item").agg(f.sum("count").alias("count")).where("count <> 0")


def tables(
    spark: SparkSession, before: Counts, transactions: list[Transaction]
) -> tuple[DataFrame, Batch]:
    """A batch of the model as tables; items are written `from-to`."""
    requires = [(t.tid, named(item)) for t in transactions for item in t.requires]
    changes = [(t.tid, named(item), count) for t in transactions for item, count in t.changes]
    start = [(named(item), count) for item, count in before]
    return spark.createDataFrame(start, COUNTS), Batch(
        spark.createDataFrame(requires, REQUIRES), spark.createDataFrame(changes, CHANGES)
    )


def named(item: Item) -> str:
    """An item of the model as one of the pipeline."""
    return "-".join(str(part) for part in item)
