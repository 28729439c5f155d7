"""Checkpoints: a search on disk, from which another process goes on after whatever happened.

    level-0007.npz      fingerprints and links of a level, written with the first commit after it
    frontier-0007.npz   rows of the level to expand next, counters
    values-0003.npz     slots and values met since the last commit: rows are ids of these
    manifest.json       which of these files make up the search, and what is in them; written last,
                        by renaming (`checker.native.manifests`)

A commit at level k makes all levels up to k final. What a crash tears is either not in the manifest
yet or is told by its digest; then the manifest before it counts. Tries are not saved: they are
learned again. What keeps a search from being saved never ends it.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from math import inf
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from statewalk.checker.contract.saved import BEFORE, MANIFEST, begin
from statewalk.checker.contract.search import Finding, SearchOptions, finding_out
from statewalk.checker.engines.layout import Layout
from statewalk.checker.machine.locks import Lock
from statewalk.checker.native.kernels.arrays import Array
from statewalk.checker.native.manifests import (
    DECLARED,
    PREMISES,
    Identity,
    write_arrays,
    write_manifest,
)
from statewalk.checker.native.state import Column, NativeSearch
from statewalk.checker.native.states import Level
from statewalk.checker.states.fingerprints import FINGERPRINT_VERSION
from statewalk.dsl.caches import stamp
from statewalk.dsl.errors import printable
from statewalk.dsl.model import Model
from statewalk.dsl.origins import by_name
from statewalk.dsl.values.stored import encode, typed

FORMAT = 3
_SHARE = 20  # of the time about one in so many parts is spent on commits
_LONGEST = 300.0  # seconds for which what a commit seems to cost may put it off
_TELLING = 1 << 24  # bytes; a smaller commit says nothing about how fast a disk is
_PENDING = 1 << 27  # bytes of fingerprints that may wait for a commit
_MOST = 1 << 30  # the same while nothing can be written: then saving is given up


@dataclass(frozen=True)
class SavedFinding:
    """A finding, with the text of what it raised; steps are actions with the options taken."""

    property: str
    kind: str
    initial: int
    steps: tuple[tuple[int, tuple[int, ...]], ...]
    failing: tuple[int, tuple[int, ...]] | None
    error: str | None


@dataclass(frozen=True)
class Totals:
    """The counters of a search at the beginning of a stage."""

    initial: int
    fired: tuple[int, ...]
    fresh: tuple[int, ...]
    cut: Mapping[str, int]
    seconds: float
    found: tuple[SavedFinding, ...]
    represented: int = 0  # states, where orbits are searched


@dataclass(frozen=True)
class Manifest:
    """The content of a manifest beside its identity."""

    run: str
    depth: int
    values: tuple[str, ...]
    files: Mapping[str, tuple[int, str]]  # name -> size, digest
    totals: Totals
    exploded: tuple[tuple[str, str], ...]  # set fields that have a slot for each element


@dataclass(frozen=True)
class Saved:
    """The content of a folder: the search as it was before the stage that expands its last level.

    ``values`` are the arrays of slots and values; ``damage`` says what kept a newer commit from
    being used.
    """

    values: tuple[Mapping[str, Array], ...]
    levels: tuple[tuple[Array, Array, Array], ...]
    rows: Array
    manifest: Manifest
    damage: str = ""


# -- identity ------------------------------------------------------------------------------------


def identity(model: Model, options: SearchOptions, engine: str = "native") -> Identity:
    """Return all that must not change between a search and its continuation.

    It rests on the spec and on what was asked for, never on what a machine came to. The premises
    are beside it: a search looks for those of the search that it resumes (`OtherPremises`).
    """
    asked, added = options.properties, set(options.premises)
    rest: dict[str, object] = {
        "the version of statewalk": [FORMAT, FINGERPRINT_VERSION, stamp()],
        "the version of Python": sys.version_info[:2],
        "--engine": engine,
        "--property": None if asked is None else [name for name in asked if name not in added],
        "--view": options.view,
        "--symmetry": options.symmetry,
        "--fingerprint-bits": options.fingerprint_bits,
        DECLARED: [
            [action.label for action in model.actions],
            [prop.name for prop in model.properties if prop.name not in added],
        ],
    }
    return {
        # not where they are: the same spec may be named by another path
        "files": by_name(model.origins),
        "constants": {
            name: _digest(typed(value) if callable(value) else repr(value))
            for name, value in model.constants.items()
        },
        "rest": {name: _digest(part) for name, part in rest.items()},
        PREMISES: dict.fromkeys(options.premises, ""),
    }


def _digest(part: object) -> str:
    return hashlib.sha256(json.dumps(part).encode()).hexdigest()


# -- writing -------------------------------------------------------------------------------------


Made = TypeVar("Made", bound="Writer")


@dataclass
class Writer:
    """Writes one search to a folder."""

    folder: Path
    key: Identity
    files: dict[str, tuple[int, str]] = field(default_factory=dict)  # name -> size, digest
    values: list[str] = field(default_factory=list)
    written: list[int] = field(default_factory=list)  # per slot: values on disk
    committed: int = -1
    # depth -> fingerprints and links of a level
    pending: dict[int, tuple[Array, Array, Column]] = field(default_factory=dict)
    waiting: int = 0  # bytes of fingerprints in these; links are kept for traces anyway
    every: float = 0.0  # seconds that lie at least between two commits
    run: str = field(default_factory=lambda: os.urandom(8).hex())  # names this search
    lock: Lock | None = None
    speed: float = inf  # bytes written per second, where that is known
    took: float = 0.0  # seconds of the last try, where it says nothing about speed
    last: float = field(default_factory=lambda: time.monotonic())  # noqa: PLW0108 (looked up late)
    begun: bool = False  # whether the folder is ours
    saved: tuple[int, float] | None = None  # levels, and seconds of the search, at the last commit
    problem: str = ""  # what keeps the search from being saved
    given_up: bool = False
    warnings: list[str] = field(default_factory=list)

    def go_on(self, saved: Manifest, layout: Layout) -> None:
        """Take over what an earlier process committed."""
        self.files, self.values = dict(saved.files), list(saved.values)
        self.run, self.begun = saved.run, True
        self.written = [len(slot.values) for slot in layout.slots]
        self.note(saved.depth, saved.totals.seconds)

    def level(self, depth: int, level: Level, links: Column) -> None:
        """Take a level's fingerprints and its links, as they are kept, for the next commit.

        Most searches end before one is due: what they met need not be written at all. Where much
        waits, it is written without a commit.
        """
        if self.given_up:
            return
        rows = level.rows
        self.pending[depth] = rows.fp, rows.low, links
        self.waiting += rows.fp.nbytes + rows.low.nbytes
        if self.waiting > _PENDING:
            self.trying(self._write_levels)
        if self.problem and self.waiting > _MOST:
            self._give_up("too much waits to be saved")

    def _write_levels(self) -> None:
        for depth, (fp, low, links) in list(self.pending.items()):
            self._write(f"level-{depth:04}.npz", fp=fp, low=low, link=np.asarray(links))
            del self.pending[depth]
            self.waiting -= fp.nbytes + low.nbytes

    # -- commits ---------------------------------------------------------------------------------

    def due(self, level: Level) -> bool:
        """Return whether it is time for a commit before a level is expanded, and one would cost
        little compared to the time since the last.
        """
        since = time.monotonic() - self.last
        if self.given_up or since < self.every:
            return False
        cost = max(self.took, self._waiting(level) / self.speed)
        return since >= min(_SHARE * cost, _LONGEST)

    def _waiting(self, level: Level) -> int:
        """Return bytes that a commit before this level is expanded would write."""
        levels = sum(fp.nbytes + low.nbytes + 8 * len(fp) for fp, low, _ in self.pending.values())
        return levels + level.rows.values.nbytes

    def save(self, search: NativeSearch, totals: Totals) -> None:
        """Make everything up to the level to be expanded next final, if that can be done."""
        depth = len(search.links) - 1
        if depth == self.committed or self.given_up:
            return
        started, size = time.monotonic(), self._waiting(search.level)
        done = self.trying(lambda: self._commit(search, depth, totals))
        self.last = time.monotonic()
        self.took = self.last - started
        if done and size >= _TELLING:
            self.speed, self.took = size / max(1e-9, self.took), 0.0
        if done:
            self.note(depth, search.seconds)
        else:
            self._remove(f"frontier-{depth:04}.npz")

    def note(self, depth: int, seconds: float) -> None:
        """Remember what is saved now."""
        self.committed, self.saved = depth, (depth + 1, seconds)

    def trying(self, do: Callable[[], object]) -> bool:
        """Do something with files; whether it was done. What kept it from being done is noted."""
        if self.given_up:
            return False
        try:
            if self.lock is not None and not self.lock.holds():
                return self._give_up(f"{self.folder} was taken away")
            if not self.begun:
                begin(self.folder)
                self.begun = True
            if lost := self._lost():
                return self._give_up(f"{lost} is gone")
            do()
        except OSError as error:
            place = error.filename or self.folder
            self._unsaved(f"{place} cannot be written: {error.strerror or error}")
            return False
        self.problem = ""
        return True

    def _lost(self) -> Path | None:
        """Return a file that later commits would rest on and that is not there any more."""
        for name, (size, _) in self.files.items():
            path = self.folder / name
            try:
                if path.stat().st_size != size:
                    return path
            except FileNotFoundError:
                return path
        return None

    def _give_up(self, why: str) -> bool:
        self.given_up = True
        self.drop_pending()
        self._unsaved(why)
        return False

    def drop_pending(self) -> None:
        """Forget the levels that wait to be written."""
        self.pending.clear()
        self.waiting = 0

    def _unsaved(self, why: str) -> None:
        what = "Nothing of the search is saved"
        if self.saved is not None:
            what = f"The search is saved up to {self.saved_at}"
        self.problem = f"SW403 {why}. {what}; it goes on all the same."

    @property
    def saved_at(self) -> str:
        """Return where the last commit was, in words; empty before there is one."""
        if self.saved is None:
            return ""
        return f"depth {self.saved[0]} at {self.saved[1]:.1f} s"

    def _commit(self, search: NativeSearch, depth: int, totals: Totals) -> None:
        self._write_levels()
        self._write(f"frontier-{depth:04}.npz", rows=search.level.rows.values)
        self.write_values(search.layout)
        write_manifest(self.folder, self._manifest(search, depth, totals), keep=True)
        self._drop_frontiers(depth)

    def _manifest(self, search: NativeSearch, depth: int, totals: Totals) -> dict[str, Any]:
        frontier = f"frontier-{depth:04}.npz"  # those of earlier levels go
        return {
            "format": FORMAT,
            "run": self.run,
            "key": self.key,
            "spec": search.model.path,
            "constants": {k: repr(v) for k, v in search.model.constants.items()},
            "depth": depth,
            "files": {
                name: about
                for name, about in self.files.items()
                if name == frontier or not name.startswith("frontier-")
            },
            "values": self.values,
            "totals": asdict(totals),
            "exploded": sorted(search.layout.exploded),
        }

    def _drop_frontiers(self, depth: int) -> None:
        """Remove the rows of levels older than the last commit."""
        keep = {f"frontier-{depth:04}.npz", f"frontier-{self.committed:04}.npz"}
        with suppress(OSError):  # one more file does no harm
            for file in self.folder.glob("frontier-*.npz"):
                if file.name not in keep:
                    self._remove(file.name)

    def write_values(self, layout: Layout) -> None:
        """Write the slots and values that are not on disk yet."""
        paths = [_encode_path(slot.path) for slot in layout.slots[len(self.written) :]]
        slots: list[int] = []
        values: list[bytes] = []
        written = self.written + [1] * len(paths)  # value 0 is ABSENT everywhere
        for slot in layout.slots:
            new = slot.values[written[slot.id] :]
            slots += [slot.id] * len(new)
            values += map(encode, new)
            written[slot.id] = len(slot.values)
        name = f"values-{len(self.values):04}.npz"
        path_bytes, path_ends = _joined(paths)
        value_bytes, value_ends = _joined(values)
        self._write(
            name,
            path_bytes=path_bytes, path_ends=path_ends,
            slots=np.array(slots, np.int32), value_bytes=value_bytes, value_ends=value_ends,
        )  # fmt: skip
        self.values, self.written = [*self.values, name], written

    def _write(self, name: str, **arrays: Array) -> None:
        """Write a file; half a file is not left on a disk that may be full. Raises OSError."""
        self.files.pop(name, None)
        try:
            self.files[name] = write_arrays(self.folder / name, self.run, arrays)
        except OSError:
            self._remove(name)
            raise

    def _remove(self, name: str) -> None:
        self.files.pop(name, None)
        with suppress(OSError):  # one more file does no harm
            (self.folder / name).unlink()


def told(writer: Writer | None) -> tuple[str, tuple[str, ...]]:
    """Return where the last commit was, and what there is to know of how the search was saved."""
    if writer is None:
        return "", ()
    return writer.saved_at, (*writer.warnings, *filter(None, [writer.problem]))


def totals_of(search: NativeSearch) -> Totals:
    """Return the counters as they are now."""
    return Totals(
        search.initial,
        tuple(search.fired.tolist()),
        tuple(search.fresh.tolist()),
        dict(search.cut),
        search.seconds,
        tuple(_finding_out(finding) for finding in search.found.values()),
        search.represented,
    )


def _joined(parts: list[bytes]) -> tuple[Array, Array]:
    """Byte strings as one array and where each ends."""
    return (
        np.frombuffer(b"".join(parts), np.uint8),
        np.cumsum([len(part) for part in parts], dtype=np.int64),
    )


def _encode_path(path: tuple[Any, ...]) -> bytes:
    """Return a path, whose components are values or canonical bytes."""
    result = b""
    for part in path:
        raw = type(part) is bytes
        data = part if raw else encode(part)
        result += (b"B" if raw else b"V") + len(data).to_bytes(4, "big") + data
    return result


def _finding_out(finding: Finding) -> SavedFinding:
    error = finding.error
    return SavedFinding(
        **finding_out(finding), error=None if error is None else printable(str(error))
    )


def writer(
    folder: str, key: Identity, saved: Saved | None, layout: Layout, every: float, lock: Lock,
    made: type[Made] = Writer,  # type: ignore[assignment]
) -> Made:  # fmt: skip
    """Return a writer that begins a folder, or goes on with what was saved there; see
    `Writer.every`.
    """
    result = made(Path(folder), key, every=every, lock=lock)
    if saved is None:
        result.trying(lambda: None)
        return result
    result.go_on(saved.manifest, layout)
    if saved.damage:
        result.warnings.append(f"{saved.damage}. The search went on from {result.saved_at}.")
        # the damaged manifest must not take the place of the whole one with the next commit
        result.trying(lambda: os.replace(result.folder / BEFORE, result.folder / MANIFEST))
    return result
