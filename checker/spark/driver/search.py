"""The driver: a native search whose larger levels are expanded by tasks.

Early levels, while they are small, run in the driver; then the frontier and the visited
fingerprints are spilled into files, and each further level is a Spark job, run again for what was
not learned yet. The order of the stages is that of `checker.native.running`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from statewalk.checker.contract.stops import StoppedBy
from statewalk.checker.native.findings import Stage
from statewalk.checker.native.kernels.arrays import Array
from statewalk.checker.native.search import Loop
from statewalk.checker.native.state import NativeSearch
from statewalk.checker.spark.driver.commits import Committer, FileLevel
from statewalk.checker.spark.driver.jobs import Cluster
from statewalk.checker.spark.driver.stages import Spread, packing, take_over
from statewalk.checker.spark.tasks.blobs import columns_of
from statewalk.checker.spark.tasks.files import Part, write
from statewalk.checker.spark.tasks.plan import Division, file_name


@dataclass
class Driver:
    """Spreads a search over tasks once a level is large enough."""

    search: NativeSearch
    cluster: Cluster
    committer: Committer | None = None
    spread: Spread | None = None
    ended: StoppedBy | None = None
    on_disk: tuple[int, int] | None = None

    @property
    def n(self) -> int:
        """States of the level to expand; 0 while it is here."""
        return 0 if self.spread is None else self.spread.level.n

    def takes_over(self, expanded: int) -> bool:
        """Return whether tasks expand the level: it is large, or one before it was."""
        if self.spread is None:
            if expanded or self.search.level.n < self.cluster.settings.native_until:
                return False
            self.spread = spill(self.search, self.cluster)
        return True

    def expand(self, loop: Loop, stage: Stage) -> StoppedBy | None:
        """Expand the level with tasks. A reason, if stopped in between."""
        assert self.spread is not None
        return self.spread.expand()

    def advance(self, loop: Loop, stage: Stage) -> bool:
        """Turn the new states into the level to expand next, where all are known."""
        spread = self.spread
        if spread is None or not spread.complete:
            return False
        spread.advance(stage)
        return True

    def save(self) -> bool:
        """Commit the level, where the search can be resumed."""
        if self.spread is not None and self.committer is not None:
            self.spread.commit(self.committer)
        return True

    def close(self) -> None:
        """Take away what was sent to executors."""
        if self.spread is not None:
            self.spread.close()


def spill(search: NativeSearch, cluster: Cluster) -> Spread:
    """Move the frontier and the visited fingerprints into files, and go on with tasks."""
    division = Division(cluster.settings.buckets, cluster.most_tasks)
    depth = len(search.links) - 1
    search.level.link = np.asarray(search.links[-1])
    shares = [division.share(search.level.rows.fp, task) for task in range(division.tasks)]
    parts = tuple(
        _spill_part(search, cluster, division, task, own)
        for task, own in enumerate(shares)
        if own.stop > own.start
    )
    (visited, lows), seen = _visited(search), []
    for task in range(division.tasks):
        own = division.share(visited, task)
        if own.stop > own.start:
            name = file_name("seen", depth, cluster.token, 0, task)
            known = {"fp": visited[own], "low": lows[own]}
            stored = write(cluster.folder, name, known, cluster.durable)
            seen.append(division.part(task, own.stop - own.start, stored))
    early = write(
        cluster.folder,
        file_name("early", depth, cluster.token, 0, 0),
        {f"{at:05}": np.asarray(links) for at, links in enumerate(search.links)},
    )
    search.links[-1] = FileLevel(cluster.folder, parts).column("link")
    return take_over(search, cluster, [parts], [tuple(seen)], early)


def _spill_part(
    search: NativeSearch, cluster: Cluster, division: Division, task: int, own: slice
) -> Part:
    """Write a task's share of the level."""
    level, depth = search.level, len(search.links) - 1
    ids = {"fp": level.rows.fp[own], "low": level.rows.low[own], "link": level.link[own]}
    how = packing(search)
    about = columns_of(how.pack(level.rows.values[own]), level.rows.quiet[own], how)
    names = [file_name(what, depth, cluster.token, 0, task) for what in ("level", "rows")]
    written = [
        write(cluster.folder, name, columns, cluster.durable)
        for name, columns in zip(names, (ids, about), strict=True)
    ]
    return division.part(task, own.stop - own.start, *written)


def _visited(search: NativeSearch) -> tuple[Array, Array]:
    """Return all fingerprints seen so far, sorted, and their second words."""
    found = [p.seen_words() for p in search.seen.partitions]
    fps, lows = map(np.concatenate, zip(*found, strict=True))
    order = np.lexsort((lows, fps)) if search.shape.wide else np.argsort(fps)
    return fps[order], lows[order] if search.shape.wide else lows
