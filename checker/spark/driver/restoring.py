"""Going on with a search from its files."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from statewalk.checker.native.checkpoints_read import restore_layout, take_up
from statewalk.checker.native.manifests import Damaged, damaged, read_arrays
from statewalk.checker.native.state import Search
from statewalk.checker.spark.driver.cluster import Cluster
from statewalk.checker.spark.driver.commits import Committed
from statewalk.checker.spark.driver.levels import FileLevel
from statewalk.checker.spark.driver.stages import Spread, take_over
from statewalk.checker.spark.tasks.files import Stored, damages, opened

if TYPE_CHECKING:
    from statewalk.checker.spark.driver.jobs import Load


def restore(search: Search, cluster: Cluster, saved: Committed) -> Spread:
    """Bring a search that was just started to where the saved one was.

    Raises:  RunError[SW343] for a file that is missing or not what was written
    """
    cluster.settings = replace(cluster.settings, buckets=saved.buckets)
    jobs, folder = cluster.jobs, cluster.folder
    files = list(saved.files())
    n = max(1, min(4 * jobs.cores(), len(files)))
    wrong = jobs.each(partial(_damages, folder, files, n), n)
    if any(wrong):
        raise damaged(sorted(chain.from_iterable(wrong)))
    _restore_values(search, Path(folder), saved)
    take_up(search, saved.totals)
    early = opened(folder, saved.early)
    for name in sorted(early)[:-1]:  # the last of them is the first in files
        search.complete(early[name])
    for parts in saved.levels:
        search.complete(FileLevel(folder, parts).column("link"))
    spread = take_over(search, cluster, list(saved.levels), list(saved.runs), saved.early)
    spread.forget = True
    return spread


def _damages(folder: str, files: list[Stored], tasks: int, task: int, _: Load) -> list[str]:
    """What is wrong with a task's share of some files."""
    return list(damages(folder, files[task::tasks]))


def _restore_values(search: Search, folder: Path, saved: Committed) -> None:
    """Give the layout the slots and value ids of the saved search."""
    try:
        parts = [read_arrays(folder / n, saved.run, *saved.digests[n]) for n in saved.values]
        restore_layout(parts, search.layout, search.model)
    except Damaged as damage:
        raise damaged([str(damage)]) from None
    search.learner.learned.contribute_all()
    search.widen()
