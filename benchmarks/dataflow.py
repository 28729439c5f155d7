"""Time the resolution of batches of transactions on Spark, beside executing them one by one.

    python -m benchmarks.dataflow [--sizes 1000 10000 100000] [--master local[2]]

Each transaction requires one item and changes one. With a conflict rate of 0 all items are present
and nothing is removed: one round settles the batch. With a rate of r, that share of the
transactions works on a hundred hot items, half of them removing what others require.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from typing import TYPE_CHECKING

from pipelines.resolving import CHANGES, COUNTS, REQUIRES, Batch, resolve_batch
from statewalk.checker.spark.session.session import local_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HOT = 100
Requires = list[tuple[int, str]]
Changes = list[tuple[int, str, int]]


def batch(size: int, rate: float, seed: int = 1) -> tuple[list[tuple[str, int]], Requires, Changes]:
    """The collection before, the requirements and the changes of `size` transactions."""
    pick = random.Random(seed)
    cold = [f"c{n}" for n in range(max(1, size // 2))]
    hot = [f"h{n}" for n in range(HOT)]
    before = [(item, 1) for item in (*cold, *hot)]
    requires: Requires = []
    changes: Changes = []
    for tid in range(size):
        contended = pick.random() < rate
        items = hot if contended else cold
        requires.append((tid, pick.choice(items)))
        count = -1 if contended and pick.random() < 0.5 else 1
        changes.append((tid, pick.choice(items), count))
    return before, requires, changes


def one_by_one(before: list[tuple[str, int]], requires: Requires, changes: Changes) -> set[int]:
    """The transactions that abort when they are executed in the order of their ids."""
    counts, aborted = dict(before), set()
    for (tid, needed), (_, item, count) in zip(requires, changes, strict=True):
        if counts.get(needed, 0) > 0:
            counts[item] = counts.get(item, 0) + count
        else:
            aborted.add(tid)
    return aborted


def measure(spark: SparkSession, size: int, rate: float) -> str:
    """A row of the table. Raises SystemExit where the pipeline is not right."""
    before, requires, changes = batch(size, rate)
    started = time.process_time()
    expected = one_by_one(before, requires, changes)
    python = max(time.process_time() - started, 1e-6)
    tables = Batch(
        spark.createDataFrame(requires, REQUIRES).localCheckpoint(),
        spark.createDataFrame(changes, CHANGES).localCheckpoint(),
    )
    start = spark.createDataFrame(before, COUNTS).localCheckpoint()
    started = time.perf_counter()
    resolved = resolve_batch(start, tables)
    found = {row["tid"] for row in resolved.aborted.collect()}
    seconds = time.perf_counter() - started
    if found != expected:
        raise SystemExit(f"wrong: {len(found)} aborted, {len(expected)} should")
    return (
        f"| {size:,} | {rate:.0%} | {len(found):,} | {resolved.rounds} | {seconds:.2f} |"
        f" {size / seconds:,.0f} | {size / python:,.0f} |"
    )


def main() -> None:
    """Measure each size at each rate, after a run that warms Spark up."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--rates", type=float, nargs="+", default=[0.0, 0.01, 0.1, 0.5])
    parser.add_argument("--master", default=f"local[{os.cpu_count()}]")
    asked = parser.parse_args()
    spark = local_session(asked.master)
    measure(spark, asked.sizes[0], 0.1)
    print("| transactions | conflict rate | aborted | rounds | seconds | per second | Python |")
    print("|---|---|---|---|---|---|---|")
    for size in asked.sizes:
        for rate in asked.rates:
            print(measure(spark, size, rate), flush=True)


if __name__ == "__main__":
    main()
