"""The driver: a native search whose larger levels are expanded by tasks.

Early levels, while they are small, run in the driver; then the frontier and the visited
fingerprints are spilled into files, and each further level is a Spark job, run again for what was
not learned yet. The order of the stages is that of `checker.native.running`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from statewalk.checker.native.checkpoints import Totals
from statewalk.checker.native.search import Search
from statewalk.checker.spark.driver.commits import Committed, Committer
from statewalk.checker.spark.driver.levels import FileLevel
from statewalk.checker.spark.session.settings import Settings
from statewalk.checker.spark.tasks.blobs import columns_of
from statewalk.checker.spark.tasks.files import Stored, write
from statewalk.checker.spark.tasks.plan import Division, file_name

if TYPE_CHECKING:
    from statewalk.checker.contract.search import StoppedBy
    from statewalk.checker.native.findings import Stage
    from statewalk.checker.native.kernels.arrays import Array
    from statewalk.checker.native.states import Level
    from statewalk.checker.spark.driver.jobs import Jobs
    from statewalk.checker.spark.driver.stages import Spread
    from statewalk.checker.spark.tasks.files import Part


@dataclass
class SparkSearch(Search):
    """A search that is spread over tasks once a level is large enough."""

    settings: Settings = field(default_factory=Settings)
    folder: str = ""
    jobs: Jobs | None = None
    spread: Spread | None = None
    token: str = field(default_factory=lambda: os.urandom(4).hex())

    @property
    def committer(self) -> Committer | None:
        """Who writes the search to disk, where it can be resumed."""
        return cast("Committer | None", self.writer)

    def connect(self) -> Jobs:
        """The session's jobs; the session is made when first needed."""
        if self.jobs is None:
            from statewalk.checker.spark.driver.connecting import jobs_of

            self.jobs = jobs_of(self.settings, self.options.threads, self.folder)
        return self.jobs

    def expand(self, stage: Stage) -> StoppedBy | None:
        """Expand the level; where it is large, with tasks. A reason, if stopped in the middle."""
        if self.spread is None:
            if self.level.n < self.settings.native_until:
                return super().expand(stage)
            self.spill()
        assert self.spread is not None
        return self.spread.expand()

    def advance(self, stage: Stage) -> None:
        """Turn the new states into the level to expand next."""
        if self.spread is None:
            super().advance(stage)
        else:
            self.spread.advance(stage)

    def save(self, final: bool) -> Totals | None:
        """Commit the level, where the search can be resumed."""
        if self.spread is not None and self.committer is not None:
            self.spread.commit(self.committer)
        return None

    # -- spilling --------------------------------------------------------------------------------

    def spill(self) -> None:
        """Move the frontier and the visited fingerprints into files, and go on with tasks."""
        jobs = self.connect()
        division = Division(self.settings.buckets, self.most_tasks(jobs))
        depth = len(self.links) - 1
        shares = [division.share(self.level.rows.fp, task) for task in range(division.tasks)]
        parts = tuple(
            self._spill_part(division, task, own, depth)
            for task, own in enumerate(shares)
            if own.stop > own.start
        )
        visited, seen, durable = _visited(self), [], self.committer is not None
        for task in range(division.tasks):
            known = visited[division.share(visited, task)]
            if len(known):
                name = file_name("seen", depth, self.token, 0, task)
                stored = write(self.folder, name, {"fp": known}, durable)
                seen.append(division.part(task, len(known), stored))
        early = write(
            self.folder,
            file_name("early", depth, self.token, 0, 0),
            {f"{at:05}": links for at, links in enumerate(self.links)},
        )
        self.go_on(parts, [tuple(seen)], early, [])
        self.links[-1] = cast(Any, FileLevel(self.folder, parts).column("link"))

    def _spill_part(self, division: Division, task: int, own: slice, depth: int) -> Part:
        """Write a task's share of the level."""
        from statewalk.checker.spark.driver.stages import packing

        rows = self.level.rows
        ids = {"fp": rows.fp[own], "link": self.level.link[own]}
        how = packing(self)
        about = columns_of(how.pack(rows.values[own]), rows.quiet[own], how)
        names = [file_name(what, depth, self.token, 0, task) for what in ("level", "rows")]
        written = [
            write(self.folder, name, columns, self.committer is not None)
            for name, columns in zip(names, (ids, about), strict=True)
        ]
        return division.part(task, own.stop - own.start, *written)

    def go_on(
        self,
        parts: tuple[Part, ...],
        runs: list[tuple[Part, ...]],
        early: Stored,
        levels: list[tuple[Part, ...]],
    ) -> None:
        """Take files for the truth of the search from here on."""
        from statewalk.checker.spark.driver.stages import Spread

        level = FileLevel(self.folder, parts)
        self.seen.partitions.clear()
        self.spread = Spread(self, self.connect(), level, runs, early, [*levels, parts])
        self.level = cast("Level", level)
        self.queue = level.n

    def most_tasks(self, jobs: Jobs) -> int:
        """How many tasks a large level has."""
        return min(self.settings.buckets, self.settings.tasks or max(1, jobs.cores()))

    # -- resuming --------------------------------------------------------------------------------

    def restore(self, saved: Committed) -> None:
        """Bring a search that was just started to where the saved one was.

        Raises:  RunError[SW343] for a file that is damaged
        """
        from statewalk.checker.spark.driver.restoring import restore

        restore(self, saved)


def _visited(search: Search) -> Array:
    """All fingerprints seen so far, sorted."""
    import numpy as np

    found = [p.table[p.table != 0] for p in search.seen.partitions]
    result: Array = np.sort(np.concatenate(found))
    return result
