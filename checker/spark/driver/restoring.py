"""Going on with a search from its files."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from statewalk.checker.native.checkpoints_read import findings_of, restore_layout
from statewalk.checker.native.manifests import Damaged, damaged, read_arrays
from statewalk.checker.spark.driver.commits import Committed
from statewalk.checker.spark.driver.levels import FileLevel
from statewalk.checker.spark.tasks.files import Stored, damages, opened

if TYPE_CHECKING:
    from statewalk.checker.spark.driver.jobs import Load
    from statewalk.checker.spark.driver.search import SparkSearch


def restore(search: SparkSearch, saved: Committed) -> None:
    """Bring a search that was just started to where the saved one was.

    Raises:  RunError[SW343] for a file that is missing or not what was written
    """
    search.settings = replace(search.settings, buckets=saved.buckets)
    jobs = search.connect()
    files = list(saved.files())
    n = max(1, min(4 * jobs.cores(), len(files)))
    wrong = jobs.each(partial(_damages, search.folder, files, n), n)
    if any(wrong):
        raise damaged(sorted(chain.from_iterable(wrong)))
    totals = saved.totals
    _restore_values(search, saved)
    search.initial, search.earlier = totals.initial, totals.seconds
    search.fired[:], search.fresh[:] = totals.fired, totals.fresh
    search.cut = Counter(totals.cut)
    search.found = findings_of(totals)
    early = opened(search.folder, saved.early)
    search.links = [early[name] for name in sorted(early)]
    *levels, last = saved.levels
    search.links.pop()
    for parts in saved.levels:
        level = FileLevel(search.folder, parts)
        search.links.append(cast(Any, level.column("link")))
    search.go_on(last, list(saved.runs), saved.early, list(levels))
    assert search.spread is not None
    search.spread.forget = True


def _damages(folder: str, files: list[Stored], tasks: int, task: int, _: Load) -> list[str]:
    """What is wrong with a task's share of some files."""
    return list(damages(folder, files[task::tasks]))


def _restore_values(search: SparkSearch, saved: Committed) -> None:
    """Give the layout the slots and value ids of the saved search."""
    folder = Path(search.folder)
    try:
        parts = [read_arrays(folder / n, saved.run, *saved.digests[n]) for n in saved.values]
        restore_layout(parts, search.layout, search.model)
    except Damaged as damage:
        raise damaged([str(damage)]) from None
    search.learner.learned.contribute_all()
    search.widen()
