"""A search on disk: which files make it up, and how another process goes on from them.

    level-…      fingerprints and links of a part of a level        (written by tasks)
    rows-…       what is needed to expand a part of the last level  (written by tasks)
    seen-…       visited fingerprints of several levels, as one run (written by tasks)
    early-…      links of the levels that the driver searched by itself
    values-….npz slots and values met since the last commit: rows are ids of these
    manifest.json  which of these files make up the search; written last, by renaming

A commit at level k makes all levels up to k final. Names hold a token of the driver that wrote
them: what a task of a dead driver still writes cannot be mistaken for anything.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from statewalk.checker.contract.saved import MANIFEST, OF_SPARK, remove_manifest
from statewalk.checker.native.checkpoints import Manifest, Writer, totals_of
from statewalk.checker.native.checkpoints_read import check_totals
from statewalk.checker.native.kernels.arrays import Array
from statewalk.checker.native.manifests import (
    Damaged,
    Identity,
    damaged,
    nothing_saved,
    read_manifest,
    refuse_another,
    shaped,
    write_manifest,
)
from statewalk.checker.spark.tasks.files import Part, Stored, opened
from statewalk.dsl.errors import RunError

if TYPE_CHECKING:
    from statewalk.checker.native.state import Column, NativeSearch
    from statewalk.checker.native.states import Level
    from statewalk.dsl.model import Model


FORMAT = 6


@dataclass(frozen=True)
class Parts:
    """The files of a search: of the driver's levels, of each level of tasks, of visited states."""

    buckets: int
    early: Stored
    levels: tuple[tuple[Part, ...], ...]
    runs: tuple[tuple[Part, ...], ...]

    def files(self) -> Iterator[Stored]:
        """Yield all files that tasks wrote, each once."""
        found: dict[str, Stored] = {self.early.name: self.early}
        for parts in (*self.levels, *self.runs):
            for part in parts:
                for stored in (part.ids, part.rows):
                    if stored is not None:
                        found[stored.name] = stored
        yield from found.values()


@dataclass(frozen=True)
class Committed(Manifest):
    """The content of a manifest: the search as it was before its last level is expanded."""

    spark: Parts


class Committer(Writer):
    """Writes the manifest of a search, and the values its rows speak of."""

    def begin(self) -> None:
        """Make the folder, and forget an older search in it. Raises RunError[SW344]."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            remove_manifest(self.folder / MANIFEST)
            self.clear(set())
        except OSError as error:
            raise unusable(str(self.folder), error) from error

    def level(self, depth: int, level: Level, links: Column) -> None:
        """Levels are files of tasks, or in one that is written when the first of these begins."""

    def write(self, search: NativeSearch, parts: Parts) -> None:
        """Make everything up to the level to be expanded next final, if that can be done."""
        depth = len(search.links) - 1
        if self.committed != depth and self.trying(lambda: self._write_all(search, depth, parts)):
            self.note(depth, search.seconds)
            with suppress(OSError):  # one more file does no harm
                self.clear({*self.values, *(stored.name for stored in parts.files())})

    def _write_all(self, search: NativeSearch, depth: int, parts: Parts) -> None:
        self.write_values(search.layout)
        manifest = self._manifest(search, depth, totals_of(search))
        write_manifest(self.folder, {**manifest, "format": FORMAT, "spark": asdict(parts)}, False)

    def clear(self, keep: set[str]) -> None:
        """Remove our files, but for some."""
        for file in os.scandir(self.folder):
            if file.name not in keep and OF_SPARK.fullmatch(file.name):
                Path(file.path).unlink(missing_ok=True)


def unusable(folder: str | None, error: OSError) -> RunError:
    """Return the error of a run directory that nothing can be written to."""
    return RunError(
        "SW344",
        f"The run directory {folder} cannot be used: {error.strerror or error}.",
        help="Give another one with --spark-folder DIR, on storage all nodes share.",
    )


def read(folder: Path, key: Identity, model: Model) -> Committed:
    """Return what a folder holds, of a search of a model.

    Raises:  RunError[SW340] where there is nothing; RunError[SW341] where it is of another search;
    RunError[SW343] where the manifest is damaged
    """
    path = folder / MANIFEST
    try:
        manifest = read_manifest(path)
        refuse_another(folder, manifest, FORMAT, key)
        found = shaped(Committed, manifest)
        check_totals(found.totals, model)
        _check(found)
        return found
    except FileNotFoundError:
        raise nothing_saved(folder) from None
    except Damaged as damage:
        raise damaged([str(damage)]) from None
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise damaged([f"{path} does not describe a search ({error})"]) from None


def _check(found: Committed) -> None:
    about, totals = found.spark, found.totals
    parts = [part for parts in (*about.levels, *about.runs) for part in parts]
    if any(not 0 <= part.first <= part.end <= about.buckets or part.n < 0 for part in parts):
        raise ValueError("its parts are not those of its buckets")
    if not set(found.values) <= found.files.keys():
        raise ValueError("its values are in no file")
    sizes = [part.n for part in about.levels[-1]]
    if not sizes or sum(sizes) > totals.initial + sum(totals.fresh):
        raise ValueError("its counts are not those of its levels")


@dataclass(frozen=True)
class FileLevel:
    """A level in files, in the order of fingerprints."""

    folder: str
    parts: tuple[Part, ...]

    @cached_property
    def n(self) -> int:
        """Number of states."""
        return sum(part.n for part in self.parts)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The position of each part's first state."""
        found, at = [], 0
        for part in self.parts:
            found.append(at)
            at += part.n
        return tuple(found)

    def column(self, which: str) -> FileColumn:
        """Return a column by position: ``fp`` or ``link``."""
        return FileColumn(self, which)


@dataclass
class FileColumn:
    """One column of a level: like an array, as far as single positions are asked for."""

    level: FileLevel
    which: str
    nbytes: int = 0
    _open: dict[int, Array] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.level.n

    def __getitem__(self, position: int) -> int:
        number = bisect_right(self.level.starts, position) - 1
        if number not in self._open:
            part = self.level.parts[number]
            self._open[number] = opened(self.level.folder, part.ids)[self.which]
        return int(self._open[number][position - self.level.starts[number]])
