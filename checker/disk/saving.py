"""A search in files is saved by a manifest that names them: nothing of it is written again.

    links.column          how each state was reached, a level after the other
    seen-….fp.column      fingerprints of some levels, ascending (`.low`: their second words)
    level-….values.column rows of the level to expand next
    values-….npz          slots and values met since the last commit: rows are ids of these
    manifest.json         which of these make up the search, with their check sums

Until the first commit in files the checkpoint before counts, as `checker.native.checkpoints` wrote
it.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from statewalk.checker.contract.saved import BEFORE, COLUMN, MANIFEST, begin
from statewalk.checker.contract.search import Exploration, SearchOptions
from statewalk.checker.contract.stops import bounded
from statewalk.checker.disk.runs import Column, SavedColumn, SortedRun, States, found, look_at
from statewalk.checker.disk.search import Disk, Limits, Links
from statewalk.checker.machine.locks import Lock, held
from statewalk.checker.machine.supervisor import memory_there
from statewalk.checker.machine.watch import interruptible
from statewalk.checker.native import checkpoints, checkpoints_read
from statewalk.checker.native.checkpoints import FORMAT, Manifest, Totals, Writer
from statewalk.checker.native.checkpoints_read import check_totals, restore_layout, take_up
from statewalk.checker.native.manifests import (
    Damaged,
    Identity,
    damaged,
    read_arrays,
    read_manifest,
    refuse_another,
    shaped,
    write_manifest,
)
from statewalk.checker.native.running import (
    exploration_of,
    loop_of,
    run,
    start,
    telling,
    translating,
)
from statewalk.checker.native.state import Column as Numbers
from statewalk.checker.native.state import NativeSearch
from statewalk.checker.native.states import Level
from statewalk.dsl.model import Model

_WORDS, _LINKS = ("<u8",), ("<i8",)
_IDS = ("|u1", "<u2", "<u4")


@dataclass
class DiskWriter(Writer):
    """Writes a search, in memory or in files."""

    disk: Disk | None = None

    @property
    def _in_files(self) -> bool:
        return self.disk is not None and self.disk.level is not None

    def level(self, depth: int, level: Level, links: Numbers) -> None:
        """See `Writer`; what is in files is written already."""
        if not self._in_files:
            super().level(depth, level, links)

    def _lost(self) -> Path | None:
        return None if self._in_files else super()._lost()

    def _commit(self, search: NativeSearch, depth: int, totals: Totals) -> None:
        disk = self.disk
        if disk is None or disk.level is None:
            super()._commit(search, depth, totals)
            return
        self.write_values(search.layout)
        level = disk.level
        runs = [each for each in disk.seen if each.n]
        for column in (disk.links, level.values, *(c for each in runs for c in each.columns)):
            column.sync()
        self.files = {name: self.files[name] for name in self.values}
        about = self._manifest(search, depth, totals)
        about["disk"] = {
            "sizes": search.sizes,
            "since": disk.since,
            "named": disk.named,
            "links": disk.linked,
            "runs": [[column.saved() for column in each.columns] for each in runs],
            "level": level.values.saved(),
        }
        write_manifest(self.folder, about, keep=False)
        with suppress(OSError):  # a file more does no harm
            (self.folder / BEFORE).unlink(missing_ok=True)
            for file in (*self.folder.glob("level-*.npz"), *self.folder.glob("frontier-*.npz")):
                file.unlink()
        disk.drop_old()


# -- reading -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class About:
    """A manifest's description of files: the states of each level, the depth from which on
    there are files, how many there were, and the columns.
    """

    sizes: tuple[int, ...]
    since: int
    named: int
    links: SavedColumn
    runs: tuple[tuple[SavedColumn, ...], ...]
    level: SavedColumn


@dataclass(frozen=True)
class ManifestInFiles(Manifest):
    """The manifest of a search in files."""

    disk: About


@dataclass(frozen=True)
class SavedInFiles:
    """The content of a folder: a search as it was before the stage that expands its last level."""

    manifest: ManifestInFiles
    values: tuple[Mapping[str, Any], ...]
    links: Column
    runs: tuple[SortedRun, ...]
    level: Column


def read(folder: Path, key: Identity, model: Model) -> SavedInFiles | None:
    """Return what a folder holds of a search of a model in files; None where it holds something
    else.

    Raises:  RunError[SW341] where it is of another search; RunError[SW343] for a file that is
    missing or not what was written
    """
    path = folder / MANIFEST
    try:
        manifest = read_manifest(path)
    except (FileNotFoundError, Damaged):
        return None
    if "disk" not in manifest:
        return None
    try:
        refuse_another(folder, manifest, FORMAT, key)
        return _saved(folder, manifest, model)
    except Damaged as damage:
        raise damaged([str(damage)]) from None
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise damaged([f"{path} does not describe a search ({error})"]) from None


def _saved(folder: Path, manifest: Mapping[str, Any], model: Model) -> SavedInFiles:
    said = shaped(ManifestInFiles, manifest)
    about, totals, sizes = said.disk, said.totals, said.disk.sizes
    check_totals(totals, model)
    if about.since < 0 or about.named < 0:
        raise ValueError("its files are not numbered")
    if not sizes or min(sizes) < 0 or not said.values:
        raise ValueError("it has no level, or no values")
    values = [
        read_arrays(folder / Path(name).name, said.run, *said.files[name]) for name in said.values
    ]
    runs = []
    for words in about.runs:
        fp, *low = (found(folder, word, _WORDS) for word in words)
        runs.append(SortedRun(fp, low[0] if low else None))
    saved = SavedInFiles(
        said,
        tuple(values),
        found(folder, about.links, _LINKS),
        tuple(runs),
        found(folder, about.level, _IDS),
    )
    n = sum(sizes)
    if (totals.initial, totals.initial + sum(totals.fresh)) != (sizes[0], n):
        raise ValueError("its counts are not those of its levels")
    ends = saved.links.n, sum(each.n for each in runs), runs[-1].n, saved.level.n
    if ends != (n, n, sizes[-1], sizes[-1]) or saved.level.width is None:
        raise ValueError("its files are not as large as its levels")
    for column in (saved.links, saved.level, *(c for each in runs for c in each.columns)):
        look_at(column.path, column.size, column.check)
    return saved


def restore(search: NativeSearch, disk: Disk, saved: SavedInFiles) -> None:
    """Bring a search that was just started to where the saved one was."""
    shape, level, about = search.shape, saved.level, saved.manifest.disk
    assert level.width is not None
    restore_layout(saved.values, search.layout, search.model)
    if level.width > len(search.layout.slots):
        raise damaged([f"{level.path} has states of more values than there are"])
    search.learner.learned.contribute_all()
    search.widen()
    shape.width = max(shape.width, level.width)
    if level.dtype.itemsize > shape.dtype.itemsize:
        shape.dtype = level.dtype
    first = 0
    disk.links, disk.seen = saved.links, list(saved.runs)
    for size in about.sizes:
        search.complete(Links(disk.links, first, size))
        first += size
    disk.level = States(disk.seen[-1], disk.links, level, None, first - about.sizes[-1])
    disk.since, disk.named, disk.linked = about.since, about.named, about.links
    search.level = search.level.kept(np.zeros(0, np.int64))
    known = {column.path.name for column in disk.columns()}
    for file in disk.folder.glob(f"*{COLUMN}"):  # what was written after the last commit
        if file.name not in known:
            file.unlink()
    take_up(search, saved.manifest.totals)
    search.queue = disk.n


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
    """Return where files go. They are taken away at the end, but for those of a checkpoint."""
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
            in_files = read(Path(options.checkpoint), key, model)
            if in_files is None:
                saved = checkpoints_read.read(Path(options.checkpoint), key, model)
    said = in_files.manifest if in_files is not None else None
    search = start(model, options, saved, laid_out=said)
    search.learner.urgent = search.urgent
    disk = Disk(search, folder, limits, durable=options.checkpoint is not None)
    every = options.checkpoint_every
    if in_files is not None:
        restore(search, disk, in_files)
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
    """Return what was found, with what became of the files."""
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
