"""An estimate of a search on a large cluster: `python benchmarks/spark_scale.py --help`.

First a search is run with many tasks, without Spark and one task after the other, exactly as
executors would run them, bytes between tasks included. That gives, for each number of tasks: CPU
time per state of each half of a level, records and bytes that move per state, bytes in files, how
uneven tasks are (largest over mean), and whether that is what chance gives: fingerprints fall into
tasks like balls into urns.

Then these figures and the assumptions that can be said as options (machines, cores, network, disk,
what a job costs) give the time for more states on more machines:

    levels * (job + tasks * task)
    + states * (expand + merge + bytes * pipe) / cores * unevenness
    + states * bytes / network + states * file bytes / disk, each per machine

The check of the second step is in the first table: the unevenness that chance gives beside the one
that was found, and what the slowest tasks of all levels took beside what equal ones would take.
"""

from __future__ import annotations

import argparse
import math
import os
import pickle
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
_ENOUGH = 5_000  # states of a task, from which on its own cost is small
TWO_PHASE = "models/toys/two_phase_commit.py"


@dataclass
class Level:
    """The CPU seconds of one level's tasks, and the bytes that they sent."""

    n: int
    expand: list[float] = field(default_factory=list)
    merge: list[float] = field(default_factory=list)
    sent: list[int] = field(default_factory=list)
    got: list[int] = field(default_factory=list)


class Simulated:
    """Jobs without Spark: a level's tasks one after the other, what they send pickled between."""

    def __init__(self, tasks: int) -> None:
        self.tasks, self.levels = tasks, list[Level]()

    def cores(self) -> int:
        return self.tasks

    def are_here(self) -> bool:
        return False

    def send(self, data: bytes) -> Any:
        return data

    def drop(self, place: Any) -> None:
        """Nothing is kept."""

    def cancel(self) -> None:
        """Nothing runs."""

    def shuffled(self) -> int:
        return 0

    def each(self, function: Callable[[int, Any], Any], tasks: int) -> list[Any]:
        return [function(task, bytes) for task in range(tasks)]

    def level(self, plan: Any, version: Any) -> list[Any]:
        from statewalk.checker.spark.tasks.expanding import expand_task
        from statewalk.checker.spark.tasks.feed import learned
        from statewalk.checker.spark.tasks.merging import merge_task

        known, tasks = learned(version, bytes), range(plan.division.tasks)
        found = Level(sum(part.n for part in plan.parts), got=[0 for _ in tasks])
        arrived: list[list[bytes]] = [[] for _ in tasks]
        for task in tasks:
            started, sent = time.process_time(), 0
            for target, item in expand_task(plan, known, task):
                data = pickle.dumps(item, 5)
                arrived[target].append(data)
                sent += len(data)
                found.got[target] += len(data)
            found.expand.append(time.process_time() - started)
            found.sent.append(sent)
        reports = []
        for task in tasks:
            started = time.process_time()
            items = map(pickle.loads, arrived[task])
            reports += list(merge_task(plan, known, task, items))
            found.merge.append(time.process_time() - started)
            arrived[task].clear()
        if not plan.before:
            self.levels.append(found)
        return reports


@dataclass
class Figures:
    """The measurements for a number of tasks, per distinct state that tasks found."""

    tasks: int
    states: int
    expand: float
    merge: float
    records: float
    moved: float
    filed: float
    uneven: float
    chance: float
    each: float  # states of a task in the mean large level
    slowest: float  # seconds, of the slowest tasks of each level added up
    mean: float  # the same if all were alike


def measured(spec: str, constants: list[str], tasks: int, native_until: int) -> Figures:
    """Search a spec with so many tasks."""
    from statewalk.checker.api import load
    from statewalk.checker.contract.options import read_settings
    from statewalk.checker.contract.search import SearchOptions
    from statewalk.checker.native.running import loop_of, run, start
    from statewalk.checker.spark.driver.jobs import Cluster
    from statewalk.checker.spark.driver.search import Driver
    from statewalk.checker.spark.session.settings import Settings

    model = load(str(ROOT / spec), read_settings(constants).fixed)
    jobs = Simulated(tasks)
    settings = Settings(tasks=tasks, native_until=native_until, buckets=max(256, tasks))
    with tempfile.TemporaryDirectory(prefix="statewalk-scale-") as folder:
        search = start(model, SearchOptions())
        cluster = Cluster(settings, folder, 1)
        vars(cluster)["jobs"] = jobs
        driver = Driver(search, cluster)
        run(loop_of(search, elsewhere=driver))
        assert driver.spread is not None, "no level is as large as --native-until"
        spread, filed = driver.spread, sum(f.stat().st_size for f in os.scandir(folder))
        driver.close()
    spread_over = sum(sum(p.n for p in parts) for parts in spread.levels[1:])
    large = [level for level in jobs.levels if level.n >= native_until]
    n = sum(level.n for level in large)
    new = max(1, spread_over)
    shares = [(max(p.n for p in parts) * tasks / sum(p.n for p in parts), sum(p.n for p in parts))
              for parts in spread.levels if sum(p.n for p in parts) >= native_until]  # fmt: skip
    uneven = sum(share * weight for share, weight in shares) / sum(w for _, w in shares)
    chance = sum(by_chance(w / tasks, tasks) * w for _, w in shares) / sum(w for _, w in shares)
    return Figures(
        tasks=tasks,
        states=n,
        expand=sum(sum(level.expand) for level in large) / n,
        merge=sum(sum(level.merge) for level in large) / n,
        records=spread.figures.records / new,
        moved=sum(sum(level.sent) for level in jobs.levels) / new,
        filed=filed / new,
        uneven=uneven,
        chance=chance,
        each=n / len(large) / tasks,
        slowest=sum(max(level.expand) + max(level.merge) for level in large),
        mean=sum(sum(level.expand) + sum(level.merge) for level in large) / tasks,
    )


def by_chance(each: float, tasks: int) -> float:
    """The largest share over the mean, of so many states per task that fall where they may."""
    return 1.0 if tasks < 2 else 1 + math.sqrt(2 * math.log(tasks) / each)


@dataclass(frozen=True)
class Machines:
    """The assumptions about a cluster."""

    machines: int
    cores: int
    network: float  # bytes per second and machine
    disk: float  # the same
    job: float  # seconds per level
    task: float  # seconds per task of a level, in the driver
    pipe: float  # CPU seconds per byte that moves, in the JVM and between processes
    tasks_per_core: int = 2

    @property
    def tasks(self) -> int:
        """Tasks of a large level."""
        return self.machines * self.cores * self.tasks_per_core


@dataclass
class Prediction:
    """Seconds, by what takes them, and bytes per machine."""

    jobs: float
    work: float
    network: float
    disk: float
    files: float
    seen: float
    task_memory: float

    @property
    def total(self) -> float:
        """Seconds of a search: nothing is assumed to happen at the same time."""
        return self.jobs + self.work + self.network + self.disk


def predicted(
    states: float, levels: int, row: float, given: Machines, rows: list[Figures]
) -> Prediction:
    """Return what a search of so many states takes, the largest level having a sixth of them.

    Records and bytes are those of the most tasks; CPU time is that of the most tasks that had
    enough to do, as what a task costs by itself shows in small ones only, for so many records.
    """
    found, busy = rows[-1], [row for row in rows if row.each >= _ENOUGH or row is rows[0]][-1]
    cores = given.machines * given.cores
    uneven = by_chance(states / levels / given.tasks, given.tasks)
    cpu = (busy.expand + busy.merge) * found.records / busy.records + found.moved * given.pipe
    return Prediction(
        jobs=levels * (given.job + given.tasks * given.task),
        work=states * cpu / cores * uneven,
        network=states * found.moved / given.machines / given.network,
        disk=states * found.filed / given.machines / given.disk,
        files=states * 16 / given.machines,
        seen=states * 8 / given.machines,
        task_memory=8 * row * states / 6 / given.tasks,
    )


def span(seconds: float) -> str:
    """A time as people say it."""
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"


def show_measured(found: Figures) -> None:
    """A row of the first table."""
    print(
        f"{found.tasks:>6} {found.states:>12,} {found.expand * 1e6:>9.2f} {found.merge * 1e6:>9.2f}"
        f" {found.records:>9.2f} {found.moved:>8.1f} {found.filed:>8.1f} {found.uneven:>9.3f}"
        f" {found.chance:>9.3f} {found.slowest:>9.2f} {found.mean:>9.2f}",
        flush=True,
    )


def main() -> None:
    """Read the options, measure, and predict."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("spec", nargs="?", default=TWO_PHASE)
    parser.add_argument("--set", action="append", default=[], dest="constants")
    parser.add_argument("--tasks", type=int, action="append", help="repeatable; 1 4 16 64")
    parser.add_argument("--native-until", type=int, default=20_000)
    parser.add_argument("--states", type=float, action="append", help="repeatable; 1e9 1e11")
    parser.add_argument("--machines", type=int, action="append", help="repeatable; 10 100")
    parser.add_argument("--levels", type=int, default=40, help="of the large searches (40)")
    parser.add_argument("--cores", type=int, default=16, help="of each machine (16)")
    parser.add_argument("--network", type=float, default=10.0, help="Gbit/s of each (10)")
    parser.add_argument("--disk", type=float, default=500.0, help="MB/s of each (500)")
    parser.add_argument("--job", type=float, default=0.5, help="seconds per level (0.5)")
    parser.add_argument("--task", type=float, default=2.0, help="ms per task of a level (2)")
    parser.add_argument("--pipe", type=float, default=12.0, help="CPU ns per byte moved (12)")
    parser.add_argument("--row", type=float, default=66.0, help="bytes of a row in memory (66)")
    given = parser.parse_args()
    constants = given.constants or ["RMS=8"] * (given.spec == TWO_PHASE)
    print(
        f"{given.spec} {' '.join(constants)}: per distinct state\n"
        f"{'tasks':>6} {'in large':>12} {'expand':>9} {'merge':>9} {'records':>9} {'moved':>8}"
        f" {'files':>8} {'largest':>9} {'by':>9} {'slowest':>9} {'if all':>9}\n"
        f"{'':>6} {'levels':>12} {'CPU us':>9} {'CPU us':>9} {'':>9} {'bytes':>8} {'bytes':>8}"
        f" {'/mean':>9} {'chance':>9} {'tasks s':>9} {'alike s':>9}"
    )
    rows = []
    for tasks in given.tasks or (1, 4, 16, 64):
        rows.append(measured(given.spec, constants, tasks, given.native_until))
        show_measured(rows[-1])
    print(
        f"\n{'states':>8} {'machines':>9} {'tasks':>6} {'time':>9}   of it: jobs, work, network,"
        " disk   per machine: files, seen; per task: memory"
    )
    for states in given.states or (1e9, 1e11):
        for machines in given.machines or (10, 100):
            there = Machines(
                machines, given.cores, given.network * 1e9 / 8, given.disk * 1e6, given.job,
                given.task / 1e3, given.pipe / 1e9,
            )  # fmt: skip
            told = predicted(states, given.levels, given.row, there, rows)
            parts = ", ".join(map(span, (told.jobs, told.work, told.network, told.disk)))
            print(
                f"{states:>8.0e} {machines:>9} {there.tasks:>6} {span(told.total):>9}   {parts}"
                f"   {told.files / 1e9:.0f} GB, {told.seen / 1e9:.0f} GB;"
                f" {told.task_memory / 1e9:.2f} GB"
            )


if __name__ == "__main__":
    main()
