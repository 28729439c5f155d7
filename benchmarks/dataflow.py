"""Time the dataflow store on Spark: batches resolved, and streams of batches with their latencies.

    python -m benchmarks.dataflow [batches] [--sizes 1000 10000 100000] [--master local[2]]
    python -m benchmarks.dataflow streams [--batches 20] [--workers 1 2]

`batches`: each transaction requires one item and changes one. With a conflict rate of 0 all items
are present and nothing is removed: one round settles the batch. With a rate of r, that share of the
transactions works on a hundred hot items, half of them removing what others require.

`streams` has the experiments of McSherry's Dataflow as Database, each as a stream of batches that
is run from its beginning: look-ups of random nodes of a graph; transactions that require and write
random items, of as many as there are transactions, so that many conflict; the reachability of one
random root in each batch. A number of workers has a process of its own, which the first batches
warm up; they are not counted. What is told is the time from a batch being handed over by Spark to
its epoch being kept.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import quantiles
from typing import TYPE_CHECKING

from examples.dataflow.resolving import CHANGES, COUNTS, REQUIRES, Batch, resolve_batch
from examples.dataflow.streaming import Job, run
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


# -- streams ---------------------------------------------------------------------------------------
WARM = 2  # batches that are not counted; the first loads the graph
NODES, EDGES = 2_000, 10_000
Line = dict[str, object]
LOOK_UPS, TRANSACTIONS, REACHABILITY = "look-ups", "transactions", "reachability"
STREAMS = (
    *((LOOK_UPS, size) for size in (500, 4, 1)),
    *((TRANSACTIONS, size) for size in (1000, 100, 10, 1)),
    (REACHABILITY, 1),
)


def lines(kind: str, size: int, number: int, pick: random.Random) -> Iterator[Line]:
    """Yield what a batch says; the first one loads a graph, or the items that are required."""
    if number == 1:
        items = [f"{n}-0" for n in range(0, size, 2)]
        if kind != TRANSACTIONS:
            items = [f"{pick.randrange(NODES)}-{pick.randrange(NODES)}" for _ in range(EDGES)]
        yield from ({"tid": 0, "item": item, "count": 1} for item in items)
    elif kind == TRANSACTIONS:
        for tid in range(size):
            yield {"tid": tid, "requires": f"{pick.randrange(size)}-0"}
            gone = pick.random() < 0.5
            yield {"tid": tid, "item": f"{pick.randrange(size)}-0", "count": -1 if gone else 1}
    else:
        said = "look_up" if kind == LOOK_UPS else "root"
        yield from ({"tid": n, said: str(pick.randrange(NODES))} for n in range(size))


def put(folder: Path, kind: str, size: int, batches: int) -> None:
    """Write the batches of an experiment, a second apart by their dates."""
    pick = random.Random(1)
    for number in range(1, batches + 1):
        said = list(lines(kind, size, number, pick))
        said.append({"end": number, "records": len(said)})
        file = folder / f"{number:08}.json"
        file.write_text("\n".join(map(json.dumps, said)) + "\n", encoding="utf-8")
        os.utime(file, (number, number))


def measure_stream(spark: SparkSession, kind: str, size: int, batches: int) -> str:
    """A row of the table."""
    took: list[float] = []
    resolve = Job.resolve

    def timed(*given: object) -> None:
        begun = time.perf_counter()
        resolve(*given)  # type: ignore[arg-type]
        took.append(time.perf_counter() - begun)

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "in").mkdir()
        put(Path(folder) / "in", kind, size, WARM + batches)
        Job.resolve = timed  # type: ignore[method-assign]
        try:
            run(spark, Path(folder) / "in", Path(folder) / "out", at_once=1)
        finally:
            Job.resolve = resolve  # type: ignore[method-assign]
    counted = took[WARM:]
    cuts = quantiles(counted, n=100, method="inclusive")
    return (
        f"| {kind} | {size:,} | {len(counted)} | {spark.sparkContext.defaultParallelism} |"
        f" {size * len(counted) / sum(counted):,.1f} |"
        f" {cuts[49]:.2f} | {cuts[89]:.2f} | {cuts[98]:.2f} |"
    )


def streams(workers: list[int], batches: int, only: list[str]) -> None:
    """Print the table; a process for each number of workers."""
    print("| queries | in a batch | batches | workers | per second | median s | 90% | 99% |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for number in workers:
        command = [sys.executable, "-m", "benchmarks.dataflow", "one-stream", "--batches"]
        command += [str(batches), "--master", f"local[{number}]", "--only", *only]
        subprocess.run(command, check=True)


def main() -> None:
    """Read what is asked, and measure it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    what = ("batches", "streams", "one-stream")
    parser.add_argument("what", nargs="?", choices=what, default="batches")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--rates", type=float, nargs="+", default=[0.0, 0.01, 0.1, 0.5])
    parser.add_argument("--batches", type=int, default=20)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--only", nargs="*", default=[], help="look-ups, transactions, ...")
    parser.add_argument("--master", default=f"local[{os.cpu_count()}]")
    asked = parser.parse_args()
    if asked.what == "streams":
        streams(asked.workers, asked.batches, asked.only)
    elif asked.what == "one-stream":
        spark = local_session(asked.master)
        for kind, size in STREAMS:
            if not asked.only or kind in asked.only:
                print(measure_stream(spark, kind, size, asked.batches), flush=True)
    else:
        resolving(asked.master, asked.sizes, asked.rates)


def resolving(master: str, sizes: list[int], rates: list[float]) -> None:
    """Measure each size at each rate, after a run that warms Spark up."""
    spark = local_session(master)
    measure(spark, sizes[0], 0.1)
    print("| transactions | conflict rate | aborted | rounds | seconds | per second | Python |")
    print("|---|---|---|---|---|---|---|")
    for size in sizes:
        for rate in rates:
            print(measure(spark, size, rate), flush=True)


if __name__ == "__main__":
    main()
