"""Going on with a search from its files."""

from __future__ import annotations

import zipfile
from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from checker.native.checkpoints import Saved, Totals
from checker.native.checkpoints_read import findings_of, restore_layout
from checker.spark.commits import Committed, damaged
from checker.spark.files import Stored, damages, opened
from checker.spark.levels import FileLevel

if TYPE_CHECKING:
    from checker.spark.jobs import Load
    from checker.spark.search import SparkSearch


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
    totals = _totals(saved)
    _restore_values(search, saved, totals)
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


def _totals(saved: Committed) -> Totals:
    about = dict(saved.totals)
    for name in ("fired", "fresh", "found"):
        about[name] = tuple(about[name])
    return Totals(**about)


def _restore_values(search: SparkSearch, saved: Committed, totals: Totals) -> None:
    """Give the layout the slots and value ids of the saved search."""
    files = tuple(Path(search.folder, name) for name in saved.values)
    for path in files:
        size = path.stat().st_size if path.exists() else None
        if size != saved.sizes[path.name]:
            what = "is missing" if size is None else f"has {size} bytes instead of another number"
            raise damaged([f"{path} {what}"])
    whole = Saved(files, (), search.fired, totals, {})
    try:
        restore_layout(whole, search.layout, search.model)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise damaged([f"a file of values in {search.folder}: {error}"]) from None
    learned = search.learner.learned
    learned.contribute_all()
    search.widen()
