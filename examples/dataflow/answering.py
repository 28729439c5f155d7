"""Standing queries over a collection of edges, kept up to date by its changes.

An item is an edge, written `from-to`. A look-up of a node has the edges that leave it, as often as
they are there; the reachability of a root has the nodes that can be got to from it. Under removals
the latter is deleted and derived again, as in the model (`models/stores/maintenance.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NODES = "node string, count long"  # registered queries; a query is there while it is positive


class Edges(NamedTuple):
    """A collection before and after an epoch: each item once, with its count."""

    before: DataFrame
    after: DataFrame


class Queries(NamedTuple):
    """The numbers of queries registered for nodes, before and after an epoch."""

    before: DataFrame
    after: DataFrame


def looked_up(edges: Edges, queries: Queries) -> DataFrame:
    """The changes of all look-ups: item, count."""
    from pyspark.sql import functions as f

    def answer(items: DataFrame, nodes: DataFrame, sign: int) -> DataFrame:
        leaving = there(items).withColumn("node", f.split_part("item", f.lit("-"), f.lit(1)))
        asked = there(nodes).select("node")
        return leaving.join(asked, "node").select("item", (f.col("count") * sign).alias("count"))

    changes = answer(edges.after, queries.after, 1).unionByName(
        answer(edges.before, queries.before, -1)
    )
    return changes.groupBy("item").agg(f.sum("count").alias("count")).where("count <> 0")


def there(counted: DataFrame) -> DataFrame:
    """Return what has a positive count."""
    return counted.where("count > 0")


def reached(old: DataFrame, edges: Edges, roots: Queries) -> DataFrame:
    """The pairs of a root and a node that can be got to from it, from what they were before."""
    from pyspark.sql import functions as f

    wanted, any_ = settled(there(roots.after).select(f.col("node").alias("root"), "node"))
    if not any_:
        return wanted
    before, after = ends(edges.before), ends(edges.after)
    old = old.join(wanted.select("root"), "root", "left_semi")
    gone, any_ = settled(before.join(after, ["x", "y"], "left_anti"))
    if any_:
        cut = step(old, gone).where("root <> node").distinct()
        lost = closed(cut, cut, before)
        kept = old.join(lost, ["root", "node"], "left_anti").unionByName(wanted).distinct()
        return closed(kept, kept, after)
    new = after.join(before, ["x", "y"], "left_anti")
    begun = wanted.unionByName(step(old, new)).distinct()
    begun = begun.join(old, ["root", "node"], "left_anti")
    return closed(old.unionByName(begun), begun, after)


def ends(items: DataFrame) -> DataFrame:
    """Edges that are there, as two columns."""
    from pyspark.sql import functions as f

    x, y = (f.split_part("item", f.lit("-"), f.lit(n)) for n in (1, 2))
    return there(items).select(x.alias("x"), y.alias("y")).localCheckpoint(eager=False)


def step(pairs: DataFrame, edges: DataFrame) -> DataFrame:
    """Return where edges lead to from the nodes of pairs."""
    return pairs.join(edges, pairs["node"] == edges["x"]).select("root", edges["y"].alias("node"))


def closed(found: DataFrame, newest: DataFrame, edges: DataFrame) -> DataFrame:
    """Pairs, with all that edges lead to from the newest of them."""
    newest, more = settled(newest)
    found = found.localCheckpoint(eager=False)
    while more:
        newest = step(newest, edges).distinct().join(found, ["root", "node"], "left_anti")
        newest, more = settled(newest)
        found = found.unionByName(newest)
    parts = found.sparkSession.conf.get("spark.sql.shuffle.partitions")
    return found.coalesce(int(parts or 1)).localCheckpoint(eager=False)  # it adds up their parts


def settled(table: DataFrame) -> tuple[DataFrame, int]:
    """A table, computed once and for all, and the number of its rows."""
    table = table.localCheckpoint(eager=False)
    return table, table.count()


def changed(before: DataFrame, after: DataFrame) -> DataFrame:
    """The changes that make one table of pairs from the other: root, node, count."""
    from pyspark.sql import functions as f

    new = after.join(before, ["root", "node"], "left_anti").withColumn("count", f.lit(1))
    lost = before.join(after, ["root", "node"], "left_anti").withColumn("count", f.lit(-1))
    return new.unionByName(lost)
