"""From a model to an exploration: where the files go, start or resume, and what is left."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from statewalk.checker.contract.saved import begin
from statewalk.checker.contract.search import Exploration, SearchOptions
from statewalk.checker.contract.stops import bounded
from statewalk.checker.disk import saving
from statewalk.checker.disk.saving import DiskWriter
from statewalk.checker.disk.search import Disk, Limits
from statewalk.checker.machine.locks import Lock, held
from statewalk.checker.machine.supervisor import memory_there
from statewalk.checker.machine.watch import interruptible
from statewalk.checker.native import checkpoints, checkpoints_read
from statewalk.checker.native.running import (
    exploration_of,
    loop_of,
    run,
    start,
    telling,
    translating,
)
from statewalk.dsl.model import Model

_SHARE = 0.8  # of the machine's memory, where a search in files is resumed without a limit
_MOST = 1 << 50  # bytes, where nobody says how much there is
STEPS = "what constraints of steps refuse is kept in memory"


def explore(model: Model, options: SearchOptions, limits: Limits | None = None) -> Exploration:
    """Breadth-first search by levels; see `checker.contract.search` for the contract.

    Raises:  RunError[SW340], RunError[SW341], RunError[SW343] where there is nothing to resume;
    RunError[SW345] where another process writes to the same folder
    """
    limits = limits or Limits(options.max_memory or int(min(_SHARE * memory_there(), _MOST)))
    with (
        telling(getattr(options.on_progress, "compiling", None)),
        _folder(options) as folder,
        held(options.checkpoint) as lock,
    ):
        return translating(options, lambda o: _explore(model, o, limits, folder, lock))


@contextmanager
def _folder(options: SearchOptions) -> Iterator[Path]:
    """Where files go. They are taken away at the end, but for those of a checkpoint."""
    if options.checkpoint is not None:
        yield Path(options.checkpoint).absolute()
        return
    folder = options.scratch or tempfile.mkdtemp(prefix="statewalk-")
    try:
        yield Path(folder).absolute()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _explore(
    model: Model, options: SearchOptions, limits: Limits, folder: Path, lock: Lock
) -> Exploration:
    key = checkpoints.identity(model, options)
    saved = in_files = writer = None
    if options.checkpoint and options.resume:
        with interruptible("reading what was saved"):
            in_files = saving.read(Path(options.checkpoint), key, model)
            if in_files is None:
                saved = checkpoints_read.read(Path(options.checkpoint), key, model)
    said = in_files.manifest if in_files is not None else None
    search = start(model, options, saved, laid_out=said)
    search.learner.urgent = search.urgent
    disk = Disk(search, folder, limits, durable=options.checkpoint is not None)
    every = options.checkpoint_every
    if in_files is not None:
        saving.restore(search, disk, in_files)
        writer = DiskWriter(folder, key, every=every, lock=lock)
        writer.go_on(in_files.manifest, search.layout)
    elif options.checkpoint:
        writer = checkpoints.writer(
            options.checkpoint, key, saved, search.layout, every, lock, DiskWriter
        )
    if writer is not None:
        writer.disk, disk.writer = disk, writer
    kept_in_memory = len(search.roots.steps) > search.roots.n_step_properties
    loop = loop_of(search, writer, elsewhere=None if kept_in_memory else disk)
    stopped = run(loop, resumed=saved is not None or in_files is not None)
    found = exploration_of(loop, stopped)
    return _concluded(found, disk, writer, kept_in_memory)


def _concluded(
    found: Exploration, disk: Disk, writer: DiskWriter | None, kept_in_memory: bool
) -> Exploration:
    """What was found, with what became of the files."""
    warnings = found.warnings
    if disk.problem:
        warnings = (*warnings, f"SW403 {disk.problem}. So the search could not go on from disk.")
    elif kept_in_memory and found.stopped == "memory":
        warnings = (*warnings, f"SW346 The search did not go on from disk: {STEPS}.")
    if disk.on_disk is None:
        return replace(found, warnings=warnings)
    if writer is not None and not bounded(found.stopped):
        with suppress(OSError):  # they do no harm
            begin(writer.folder)
    statistics = {**found.statistics, "disk": disk.on_disk}
    return replace(found, warnings=warnings, statistics=statistics)
