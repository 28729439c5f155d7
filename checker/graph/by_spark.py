"""Collects the state graph with Spark: the same search, spread over tasks, which keeps its steps.

Each level that tasks expand is expanded by one more job once everything in it is learned. Its tasks
write the steps to files, and the driver names them and hands them on in the order of states; levels
that are searched in the driver are collected there. Only what constraints refuse needs to be told
apart: for that the driver keeps the fingerprints of the states.

Slow twin: statewalk.checker.graph.collect
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from statewalk.checker.graph.collect import Collected, Collector, Steps, bare, collected
from statewalk.checker.graph.labels import NamingView
from statewalk.checker.native.kernels.arrays import POSITION_SHIFT, Array
from statewalk.checker.native.manifests import Damaged
from statewalk.checker.native.running import loop_of, run, start
from statewalk.checker.native.states import ids_type
from statewalk.checker.spark.driver.cluster import Cluster
from statewalk.checker.spark.driver.search import Driver
from statewalk.checker.spark.running import folder_of
from statewalk.checker.spark.session.settings import Settings
from statewalk.checker.spark.tasks.blobs import rows_of
from statewalk.checker.spark.tasks.expanding import Expander
from statewalk.checker.spark.tasks.feed import Version, learned
from statewalk.checker.spark.tasks.files import Stored, opened, write
from statewalk.checker.spark.tasks.plan import Here, Plan
from statewalk.checker.spark.tasks.step_checks import KEPT, UNKNOWN
from statewalk.dsl.errors import EngineError

if TYPE_CHECKING:
    from statewalk.checker.contract.search import SearchOptions
    from statewalk.checker.graph.labels import Labels
    from statewalk.checker.graph.rows import States
    from statewalk.checker.spark.driver.jobs import Load
    from statewalk.checker.spark.driver.stages import Spread
    from statewalk.dsl.model import Model

_COLUMNS = ("source", "link", "target", "outcome")


# -- on executors --------------------------------------------------------------------------------


class GraphExpander(Expander):
    """Expands a task's states once more, all being learned, and notes every step."""

    found: list[tuple[Array, ...]]

    def expand_batch(self, here: Here, chosen: Array | None) -> None:
        """Note the steps of a batch; those that a constraint refuses are taken out."""
        plan, worker = self.plan, self.worker
        worker.begin(0, len(here.rows.fp), plan.first_action)
        keep_loops = 1
        fixed = (plan.first_action, plan.end_action, plan.ordinal_bits, self.shift, keep_loops)
        missed = self.finish(
            worker, lambda: worker.expand(here.rows, self.tries, self.outcomes, fixed), here.rows
        )
        worker.sort()
        # not the whole check of steps: that one drops those that change nothing
        verdicts = self.steps.verdicts(here) if self.steps is not None else {}
        if len(missed) or any((v == UNKNOWN).any() for v in verdicts.values()):
            raise EngineError("SW906", "A step that was learned is not known.")
        base = here.offset << POSITION_SHIFT
        batch = worker.batch
        for partition in np.flatnonzero(batch.used).tolist():
            n = int(batch.used[partition])
            kept = verdicts[partition] == KEPT if verdicts else np.ones(n, np.bool_)
            link, fp, outcome = (
                array[partition, :n][kept] for array in (batch.link, batch.fp, batch.outcome)
            )
            self.found.append((here.rows.fp[link >> POSITION_SHIFT], link + base, fp, outcome))

    def steps_of(self) -> Stored:
        """The steps of the task's states, in order, as a file."""
        self.found = []
        for _ in self.run():
            pass
        kinds = (np.uint64, np.int64, np.uint64, np.int32)
        empty = tuple(np.zeros(0, kind) for kind in kinds)
        columns = [np.concatenate(parts) for parts in zip(empty, *self.found, strict=True)]
        order = np.argsort(columns[1])
        named = {name: c[order] for name, c in zip(_COLUMNS, columns, strict=True)}
        name = self.plan.name("steps", self.report.task)
        return write(self.plan.folder, name, named, durable=False)


def steps_task(plan: Plan, version: Version, task: int, load: Load) -> Stored:
    """The steps of one task."""
    return GraphExpander(plan, *learned(version, load), task).steps_of()


# -- in the driver -------------------------------------------------------------------------------


@dataclass
class Noted:
    """States that no constraint refused are those that were handed on: sorted, level by level."""

    levels: list[Array] = field(default_factory=list)

    def note(self, fps: Array) -> None:
        """Keep the fingerprints of states that were handed on."""
        if len(fps):
            self.levels.append(np.array(fps))

    def of(self, fps: Array) -> Array:
        """Which of some states were handed on."""
        result = np.zeros(len(fps), np.bool_)
        for level in self.levels:
            at = np.searchsorted(level, fps)
            at[at == len(level)] = 0
            result |= level[at] == fps
        return result


@dataclass
class FileCollector:
    """Hands on what tasks found."""

    collector: Collector

    def expanded(self, spread: Spread) -> None:
        """Hand on the steps of the level that was just expanded, by one more job over it."""
        plan, version = spread.plan(0, (), frozenset()), spread.version()
        jobs, folder = spread.cluster.jobs, spread.cluster.folder
        for stored in jobs.each(partial(steps_task, plan, version), plan.division.tasks):
            found = opened(folder, stored)
            link = found["link"]
            self.collector.steps(
                found["source"], found["target"], self.collector.action(link), found["outcome"]
            )
            Path(folder, stored.name).unlink(missing_ok=True)

    def advanced(self, spread: Spread) -> None:
        """Hand on the states of the new level; then the steps that waited for it."""
        if spread.level.n:
            self._states(spread)
        self.collector.release()

    def _states(self, spread: Spread) -> None:
        """Hand on states in files; parents by their positions in the level before."""
        folder = spread.cluster.folder
        before = np.concatenate([opened(folder, part.ids)["fp"] for part in spread.levels[-2]])
        for part in spread.level.parts:
            ids = opened(folder, part.ids)
            assert part.rows is not None
            rows = rows_of(opened(folder, part.rows))
            bits = rows.packing.bits
            values = rows.values(len(bits), ids_type(1 << max(bits, default=0)))
            parent = before[ids["link"] >> POSITION_SHIFT]
            self.collector.states(values, ids["fp"], parent, self.collector.action(ids["link"]))


def collect(
    model: Model,
    options: SearchOptions,
    on_states: Callable[[States], None],
    on_steps: Callable[[Steps], None],
    names: Labels,
) -> Collected:
    """As `checker.graph.collect.collect`, with tasks for the larger levels.

    Raises:  RunError[SW354], RunError[SW343] for a file that is damaged
    """
    plain, limits = bare(model, options)
    settings = Settings(**options.engine_settings)
    folder, _ = folder_of(limits, settings)
    search = start(plain, replace(limits, threads=1), view=NamingView)
    collector = Collector(search, Noted(), on_states, on_steps, names)
    cluster = Cluster(settings, folder, limits.threads)
    driver = Driver(search, cluster, sink=FileCollector(collector))
    try:
        stopped = run(loop_of(search, sink=collector, elsewhere=driver))
    except Damaged as damage:
        raise EngineError("SW906", f"A file of the state graph is damaged: {damage}") from None
    finally:
        driver.close()
        shutil.rmtree(folder, ignore_errors=True)
    return collected(search, stopped)
