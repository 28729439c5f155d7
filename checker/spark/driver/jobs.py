"""A level as a Spark job over an RDD: one row per task, expand, shuffle by the task of destination,
merge.
"""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, TypeVar

from statewalk.checker.spark.session.session import cluster_context, local_context, no_context
from statewalk.checker.spark.session.settings import Settings
from statewalk.checker.spark.tasks.expanding import expand_task
from statewalk.checker.spark.tasks.feed import Learned, Version, learned
from statewalk.checker.spark.tasks.merging import merge_task
from statewalk.checker.spark.tasks.plan import Expanded, Merged, Plan
from statewalk.dsl.errors import RunError

_OURS = re.compile(r"\bSW\d{3}\b|No module named")  # what says more than that a task failed
_POLL = 0.2  # seconds between looks at whether to go on
Report = Expanded | Merged
Found = TypeVar("Found")


class Stopped(Exception):
    """The job was cancelled, as was asked for."""


@lru_cache(maxsize=2)
def settle(half: str) -> None:
    """Once per worker process, after its first task of a half: what is loaded by then stays.

    Spark's worker collects garbage after every task; without this it would walk over all of it.
    """
    gc.collect()
    gc.freeze()


def waiting(
    pool: ThreadPoolExecutor,
    jobs: Jobs,
    run: Callable[[], list[Found]],
    stop: Callable[[], bool],
) -> list[Found]:
    """Return what ``run`` returns, in the pool's thread; meanwhile ``stop`` is asked whether to
    give up.

    Raises:  Stopped; RunError[SW333] where Spark gives up
    """
    asked = False
    job = pool.submit(run)
    while True:
        try:
            return job.result(timeout=_POLL)
        except NotYet:
            if not asked and stop():
                asked = True
                jobs.cancel()
        except Exception as error:
            if asked:
                raise Stopped from None
            raise _gave_up(error) from error


def _gave_up(error: Exception) -> RunError:
    """Return what to say of a job that Spark could not finish."""
    lines = [line.strip() for line in str(error).splitlines()]
    lines = [line for line in lines if line and not line.startswith(("at ", "... ", "File "))]
    told = [line for line in lines if _OURS.search(line)]
    told = told or [line for line in lines if "Error" in line or "Exception" in line]
    said = (told or lines or [type(error).__name__])[-1][:300]
    help = "Look at Spark's own logs. A check with --out can be resumed."
    if "No module named" in said:
        help = "Every node needs statewalk and what it depends on, for the Python that Spark runs."
    return RunError("SW333", f"Spark gave up: {said}", help=help)


# -- in the driver -------------------------------------------------------------------------------


def level_here(plan: Plan, known: Learned) -> list[Report]:
    """Run a level without Spark, one task after the other: what is cheaper for a small one."""
    found: list[Report] = []
    tasks = range(plan.division.tasks)
    arrived: list[list[tuple[str, Any]]] = [[] for _ in tasks]
    for task in tasks:
        for target, item in expand_task(plan, known, task):
            arrived[target].append(item)
    for task in tasks:
        found += merge_task(plan, known, task, iter(arrived[task]))
        arrived[task].clear()
    return found


class Jobs:
    """The driver's interface to a context of Spark's core."""

    def __init__(self, context: Any) -> None:
        self.context = context
        self._tag = f"statewalk-{os.getpid()}-{id(self)}"

    def cores(self) -> int:
        """Return how many tasks run side by side."""
        return int(self.context.defaultParallelism)

    def are_here(self) -> bool:
        """Return whether all tasks run on the driver's machine, for certain."""
        return str(self.context.master).startswith("local")

    def send(self, data: bytes) -> Any:
        """Take bytes to where tasks find them; how to find them."""
        return self.context.broadcast(data)

    def drop(self, place: Any) -> None:
        """Take them away."""
        place.destroy()

    def level(self, plan: Plan, version: Version) -> list[Report]:
        """Run a level."""
        tasks = self.context.parallelize(range(plan.division.tasks), plan.division.tasks)
        expanded = tasks.mapPartitionsWithIndex(partial(_expand_partition, plan, version))
        moved = expanded.partitionBy(plan.division.tasks, int)
        return self._collected(
            moved.mapPartitionsWithIndex(partial(_merge_partition, plan, version))
        )

    def each(self, function: Callable[[int], Any], tasks: int) -> list[Any]:
        """Return what a function gives for each task, in order."""
        return self._collected(self.context.parallelize(range(tasks), tasks).map(function))

    def _collected(self, rdd: Any) -> list[Any]:
        self.context.addJobTag(self._tag)
        try:
            rows: list[Any] = rdd.collect()
        finally:
            self.context.removeJobTag(self._tag)
        return rows

    def cancel(self) -> None:
        """Stop what runs."""
        self.context.cancelJobsWithTag(self._tag)

    def shuffled(self) -> int:
        """Return bytes that executors have written for others so far."""
        found = self.context._jsc.sc().statusStore().executorList(False)
        return sum(int(found.apply(at).totalShuffleWrite()) for at in range(found.size()))


def _broadcast_value(place: Any) -> bytes:
    data: bytes = place.value
    return data


def _expand_partition(
    plan: Plan, version: Version, task: int, _: Iterable[int]
) -> Iterator[tuple[int, tuple[str, Any]]]:
    yield from expand_task(plan, learned(version, _broadcast_value), task)
    settle("expand")


def _merge_partition(
    plan: Plan, version: Version, task: int, arrived: Iterable[tuple[int, tuple[str, Any]]]
) -> Iterator[Report]:
    items = (item for _, item in arrived)
    yield from merge_task(plan, learned(version, _broadcast_value), task, items)
    settle("merge")


def context_of(settings: Settings, threads: int) -> Any:
    """Return the context that the settings ask for. Raises RunError[SW330] to RunError[SW332]."""
    session, master = settings.session, settings.master
    if session is not None:
        if type(session).__module__.startswith("pyspark.sql.connect"):
            raise no_context("The session")
        return session.sparkContext
    if master is not None and master.startswith("sc://"):
        raise no_context(master)
    if master is not None and not master.startswith("local"):
        return cluster_context(master)
    return local_context(master or _all_here(threads))


def jobs_of(settings: Settings, threads: int) -> Jobs:
    """Return the jobs of the context that the settings ask for."""
    return Jobs(context_of(settings, threads))


def _all_here(threads: int) -> str:
    """Return the master for local mode: as many cores as there are threads asked for, or as
    there are.
    """
    return f"local[{threads if threads > 1 else os.cpu_count() or 1}]"


@dataclass
class Cluster:
    """The cluster of one driver; ``durable`` files outlive the search, ``token`` tells them
    apart.
    """

    settings: Settings
    folder: str
    threads: int
    durable: bool = False
    token: str = field(default_factory=lambda: os.urandom(4).hex())

    @cached_property
    def jobs(self) -> Jobs:
        """The session's jobs; the session is made when first needed."""
        return jobs_of(self.settings, self.threads)

    @property
    def most_tasks(self) -> int:
        """Return how many tasks a large level has."""
        return min(self.settings.buckets, self.settings.tasks or max(1, self.jobs.cores()))


@dataclass
class Figures:
    """The data that a search's jobs moved, some of it by file, and their time.

    ``largest`` is the largest share of a task over the mean; ``levels`` are (states expanded, jobs,
    seconds).
    """

    jobs: int = 0
    records: int = 0
    sent: int = 0
    filed: int = 0
    largest: float = 0.0
    levels: list[tuple[int, int, float]] = field(default_factory=list)

    def add(self, report: Expanded, folder: str) -> None:
        """Add what a task sent; remove the files that it went in, which have been read by now."""
        self.records += report.records
        self.sent += report.sent
        if report.files:
            self.filed += report.sent
            for name in report.files:
                Path(folder, name).unlink(missing_ok=True)

    def told(self, shuffled: int, distinct: int) -> dict[str, object]:
        """As statistics of a search; ``shuffled`` bytes went through Spark."""
        moved = shuffled + self.filed
        return {
            "jobs": self.jobs,
            "records": self.records,
            "sent_bytes": self.sent,
            "shuffled_bytes": moved,
            "shuffled_bytes_per_state": moved / max(1, distinct),
            "balance": self.largest,
            "levels": tuple(self.levels),
        }
