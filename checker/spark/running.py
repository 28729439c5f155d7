"""From a model to an exploration: where the files go, start or resume, and what it took."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path

from statewalk.checker.contract.search import Exploration, SearchOptions
from statewalk.checker.machine.locks import Lock, held
from statewalk.checker.native import checkpoints
from statewalk.checker.native.checkpoints_read import restore_layout, take_up
from statewalk.checker.native.manifests import Damaged, damaged, read_arrays
from statewalk.checker.native.running import exploration_of, loop_of, run, start
from statewalk.checker.native.state import NativeSearch
from statewalk.checker.spark.driver import commits
from statewalk.checker.spark.driver.commits import Committed, Committer, FileLevel
from statewalk.checker.spark.driver.jobs import Cluster
from statewalk.checker.spark.driver.search import Driver
from statewalk.checker.spark.driver.stages import Spread, take_over
from statewalk.checker.spark.session.settings import Settings
from statewalk.checker.spark.tasks.files import Stored, damages, opened
from statewalk.dsl.model import Model

_ABOUT_MEMORY = ("seen_bytes", "bytes_per_state")


def explore_with(model: Model, options: SearchOptions, settings: Settings) -> Exploration:
    """Breadth-first search by levels; see `checker.contract.search` for the contract.

    Raises:  RunError[SW340] to RunError[SW344] where a search cannot be resumed; RunError[SW345]
    where another process writes to the same folder
    """
    folder, temporary = folder_of(options, settings)
    try:
        with held(None if temporary else folder) as lock:
            return _explore(model, options, settings, folder, lock)
    finally:
        if temporary:
            shutil.rmtree(folder, ignore_errors=True)


def folder_of(options: SearchOptions, settings: Settings) -> tuple[str, bool]:
    """Return the folder for files of a search, and whether it goes away with it.

    Raises:  RunError[SW344] where it cannot be made
    """
    shared = settings.folder
    try:
        if options.checkpoint is None:
            if shared is not None:
                os.makedirs(shared, exist_ok=True)
            return tempfile.mkdtemp(prefix="statewalk-levels-", dir=shared), True
        own = os.path.abspath(options.checkpoint)
        if shared is None:
            return own, False
        digest = hashlib.sha256(own.encode()).hexdigest()[:12]
        return os.path.join(os.path.abspath(shared), f"statewalk-{digest}"), False
    except OSError as error:
        raise commits.unusable(shared, error) from error


def _explore(
    model: Model, options: SearchOptions, settings: Settings, folder: str, lock: Lock
) -> Exploration:
    key = checkpoints.identity(model, options, "spark")
    saved: Committed | None = None
    if options.checkpoint and options.resume:
        saved = commits.read(Path(folder), key, model)
    search = start(model, replace(options, threads=1, programs="none"))
    cluster = Cluster(settings, folder, options.threads, durable=bool(options.checkpoint))
    driver = Driver(search, cluster)
    if options.checkpoint:
        driver.committer = committer = Committer(Path(folder), key, lock=lock)
        if saved is None:
            committer.begin()
            committer.begun = True
        else:
            driver.spread = restore(search, cluster, saved)
            committer.go_on(saved, search.layout)
    loop = loop_of(search, driver.committer, elsewhere=driver)
    try:
        exploration = exploration_of(loop, run(loop, resumed=saved is not None))
    finally:
        driver.close()
    statistics = {k: v for k, v in exploration.statistics.items() if k not in _ABOUT_MEMORY}
    statistics |= {"jobs": 0, "native_until": settings.native_until}
    if driver.spread is not None:
        statistics |= driver.spread.statistics(exploration.counts.distinct)
    return replace(exploration, engine="spark", statistics=statistics)


def restore(search: NativeSearch, cluster: Cluster, saved: Committed) -> Spread:
    """Bring a search that was just started to where the saved one was.

    Raises:  RunError[SW343] for a file that is missing or not what was written
    """
    about = saved.spark
    cluster.settings = replace(cluster.settings, buckets=about.buckets)
    jobs, folder = cluster.jobs, cluster.folder
    files = list(about.files())
    n = max(1, min(4 * jobs.cores(), len(files)))
    wrong = jobs.each(partial(_damages, folder, files, n), n)
    if any(wrong):
        raise damaged(sorted(chain.from_iterable(wrong)))
    _restore_values(search, Path(folder), saved)
    take_up(search, saved.totals)
    early = opened(folder, about.early)
    for name in sorted(early)[:-1]:  # the last of them is the first in files
        search.complete(early[name])
    for parts in about.levels:
        search.complete(FileLevel(folder, parts).column("link"))
    spread = take_over(search, cluster, list(about.levels), list(about.runs), about.early)
    spread.forget = True
    return spread


def _damages(folder: str, files: list[Stored], tasks: int, task: int) -> list[str]:
    """Return what is wrong with a task's share of some files."""
    return list(damages(folder, files[task::tasks]))


def _restore_values(search: NativeSearch, folder: Path, saved: Committed) -> None:
    """Give the layout the slots and value ids of the saved search."""
    try:
        parts = [read_arrays(folder / n, saved.run, *saved.files[n]) for n in saved.values]
        restore_layout(parts, search.layout, search.model)
    except Damaged as damage:
        raise damaged([str(damage)]) from None
    search.learner.learned.contribute_all()
    search.widen()
