"""A level as a Spark job, in two forms: over an RDD, or over a DataFrame where there are no RDDs.

Both are: one row per task, expand, shuffle by the task of destination, merge. The DataFrame form is
the only one that Spark Connect knows.
"""

from __future__ import annotations

import gc
import os
import pickle
import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

from statewalk.checker.spark.session.session import is_connect
from statewalk.checker.spark.tasks.expanding import expand_task
from statewalk.checker.spark.tasks.feed import Learned, Version, learned
from statewalk.checker.spark.tasks.merging import merge_task
from statewalk.checker.spark.tasks.plan import Expanded, Merged, Plan
from statewalk.dsl.errors import RunError

_OURS = re.compile(r"\bSW\d{3}\b|No module named")  # what says more than that a task failed
_POLL = 0.2  # seconds between looks at whether to go on
Report = Expanded | Merged
Found = TypeVar("Found")
Load = Callable[[Any], bytes]  # from where bytes were sent to the bytes


class Stopped(Exception):
    """The job was cancelled, as was asked for."""


@lru_cache(maxsize=2)
def settle(half: str) -> None:
    """Once per worker process, after its first task of a half: what is loaded by then stays.

    Spark's worker collects garbage after every task; without this it would walk over all of it.
    """
    gc.collect()
    gc.freeze()


class Jobs(Protocol):
    """What the driver asks of a session."""

    def cores(self) -> int:
        """How many tasks run side by side."""
        ...

    def are_here(self) -> bool:
        """Whether all tasks run on the driver's machine, for certain."""
        ...

    def send(self, data: bytes) -> Any:
        """Take bytes to where tasks find them; how to find them."""
        ...

    def drop(self, place: Any) -> None:
        """Take them away."""
        ...

    def level(self, plan: Plan, version: Version) -> list[Report]:
        """Run a level."""
        ...

    def each(self, function: Callable[[int, Load], Any], tasks: int) -> list[Any]:
        """What a function gives for each task, in order; it is told how to load what was sent."""
        ...

    def cancel(self) -> None:
        """Stop what runs."""
        ...

    def shuffled(self) -> int:
        """Bytes that executors have written for others so far; 0 where Spark does not tell."""
        ...


def waiting(
    pool: ThreadPoolExecutor,
    jobs: Jobs,
    run: Callable[[], list[Found]],
    stop: Callable[[], bool],
) -> list[Found]:
    """What ``run`` returns, in the pool's thread; meanwhile ``stop`` is asked whether to give up.

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
    """What to say of a job that Spark could not finish."""
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


# -- over an RDD ---------------------------------------------------------------------------------


class RddJobs:
    """A context of Spark's core."""

    def __init__(self, context: Any) -> None:
        self.context = context
        self._tag = f"statewalk-{os.getpid()}-{id(self)}"

    def cores(self) -> int:
        return int(self.context.defaultParallelism)

    def are_here(self) -> bool:
        return _is_local(self.context)

    def send(self, data: bytes) -> Any:
        return self.context.broadcast(data)

    def drop(self, place: Any) -> None:
        place.destroy()

    def level(self, plan: Plan, version: Version) -> list[Report]:
        tasks = self.context.parallelize(range(plan.division.tasks), plan.division.tasks)
        expanded = tasks.mapPartitionsWithIndex(partial(_expand_partition, plan, version))
        moved = expanded.partitionBy(plan.division.tasks, int)
        return self._collected(
            moved.mapPartitionsWithIndex(partial(_merge_partition, plan, version))
        )

    def each(self, function: Callable[[int, Load], Any], tasks: int) -> list[Any]:
        numbers = self.context.parallelize(range(tasks), tasks)
        return self._collected(numbers.map(partial(_with_broadcasts, function)))

    def _collected(self, rdd: Any) -> list[Any]:
        self.context.addJobTag(self._tag)
        try:
            rows: list[Any] = rdd.collect()
        finally:
            self.context.removeJobTag(self._tag)
        return rows

    def cancel(self) -> None:
        self.context.cancelJobsWithTag(self._tag)

    def shuffled(self) -> int:
        return _written(self.context)


def _broadcast_value(place: Any) -> bytes:
    data: bytes = place.value
    return data


def _with_broadcasts(function: Callable[[int, Load], Any], task: int) -> Any:
    return function(task, _broadcast_value)


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


# -- over a DataFrame ----------------------------------------------------------------------------


class FrameJobs:
    """A session without a SparkContext; what is sent goes through the run's folder."""

    def __init__(self, session: Any, folder: str) -> None:
        self.session, self.folder = session, folder
        self._sent = 0
        self._tag = f"statewalk-{os.getpid()}-{id(self)}"

    def cores(self) -> int:
        numbers = self.session.range(0, 1 << 16)
        return int(numbers.selectExpr("spark_partition_id()").distinct().count())

    def are_here(self) -> bool:
        return not is_connect(self.session) and _is_local(self.session.sparkContext)

    def send(self, data: bytes) -> Any:
        self._sent += 1
        path = Path(self.folder, f"learned-{os.getpid()}-{self._sent:05}")
        path.unlink(missing_ok=True)  # what is a link there is not written through
        with path.open("xb") as file:
            file.write(data)
        return str(path)

    def drop(self, place: Any) -> None:
        Path(place).unlink(missing_ok=True)

    def level(self, plan: Plan, version: Version) -> list[Report]:
        tasks = self.session.range(0, plan.division.tasks, 1, plan.division.tasks)
        expanded = tasks.mapInArrow(
            partial(_expand_batches, plan, version), "task int, item binary"
        )
        moved = _by_task(expanded, plan.division.tasks)
        merged = moved.mapInArrow(partial(_merge_batches, plan, version), "report binary")
        return [pickle.loads(row.report) for row in self._collected(merged)]

    def each(self, function: Callable[[int, Load], Any], tasks: int) -> list[Any]:
        numbers = self.session.range(0, tasks, 1, tasks)
        frame = numbers.mapInArrow(partial(_each_batches, function), "task int, item binary")
        rows = sorted(self._collected(frame), key=lambda row: row.task)
        return [pickle.loads(row.item) for row in rows]

    def _collected(self, frame: Any) -> list[Any]:
        self.session.addTag(self._tag)
        try:
            rows: list[Any] = frame.collect()
        finally:
            self.session.removeTag(self._tag)
        return rows

    def cancel(self) -> None:
        self.session.interruptTag(self._tag)

    def shuffled(self) -> int:
        return 0 if is_connect(self.session) else _written(self.session.sparkContext)


def _is_local(context: Any) -> bool:
    return str(context.master).startswith("local")


def _written(context: Any) -> int:
    """Bytes that the executors of an application have written for one another."""
    found = context._jsc.sc().statusStore().executorList(False)
    return sum(int(found.apply(at).totalShuffleWrite()) for at in range(found.size()))


def _by_task(frame: Any, tasks: int) -> Any:
    """A DataFrame with the rows of a task in one partition."""
    if hasattr(frame, "repartitionById"):  # since Spark 4.1; without it some share a partition
        return frame.repartitionById(tasks, "task")
    return frame.repartition(tasks, "task")


def _file_bytes(place: Any) -> bytes:
    return Path(place).read_bytes()


def _expand_batches(plan: Plan, version: Version, batches: Iterable[Any]) -> Iterator[Any]:
    for batch in batches:
        for number in batch.column(0).to_pylist():
            for task, item in expand_task(plan, learned(version, _file_bytes), number):
                yield _numbered(task, item)
    settle("expand")


def _merge_batches(plan: Plan, version: Version, batches: Iterable[Any]) -> Iterator[Any]:
    import pyarrow as pa

    arrived: dict[int, list[tuple[str, Any]]] = {}
    for batch in batches:
        for task, item in zip(batch.column(0).to_pylist(), batch.column(1), strict=True):
            arrived.setdefault(task, []).append(pickle.loads(item.as_buffer()))
    for task in sorted(arrived):
        items = iter(arrived.pop(task))
        for report in merge_task(plan, learned(version, _file_bytes), task, items):
            yield pa.RecordBatch.from_arrays([pa.array([pickle.dumps(report, 5)])], ["report"])
    settle("merge")


def _each_batches(function: Callable[[int, Load], Any], batches: Iterable[Any]) -> Iterator[Any]:
    for batch in batches:
        for task in batch.column(0).to_pylist():
            yield _numbered(task, function(task, _file_bytes))


def _numbered(task: int, item: Any) -> Any:
    """A row of a task's number and something pickled."""
    import pyarrow as pa

    columns = [pa.array([task], pa.int32()), pa.array([pickle.dumps(item, 5)])]
    return pa.RecordBatch.from_arrays(columns, ["task", "item"])
