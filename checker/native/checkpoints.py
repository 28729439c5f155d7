"""Checkpoints: a search on disk, from which another process goes on after whatever happened.

    level-0007.npz      fingerprints and links of a level (zip archives carry check sums),
                        written with the first commit after it
    frontier-0007.npz   rows of the level to expand next, counters
    values-0007.npz     slots and values met since the last commit: rows are ids of these
    manifest.json       which of these files make up the search; written last, by renaming

A commit at level k makes all levels up to k final. What a crash tears is either not in the manifest
yet or is told by its check sum; then the manifest before it counts. Tries are not saved: they are
learned again.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from checker.engine import Finding, SearchOptions, Step
from checker.fingerprints import FINGERPRINT_VERSION
from checker.layout import Layout
from checker.native.arrays import Array
from checker.native.states import Level
from dsl.model import Model
from dsl.values import encode

if TYPE_CHECKING:
    from checker.native.search import Search

FORMAT = 1
MANIFEST, BEFORE = "manifest.json", "manifest.before.json"
_SHARE = 20  # of the time about one in so many parts is spent on commits
_PENDING = 1 << 27  # bytes of fingerprints that may wait for a commit


@dataclass(frozen=True)
class Totals:
    """The counters of a search at the beginning of a stage."""

    initial: int
    fired: tuple[int, ...]
    fresh: tuple[int, ...]
    cut: Mapping[str, int]
    seconds: float
    found: tuple[Mapping[str, Any], ...]
    represented: int = 0  # states, where orbits are searched


@dataclass(frozen=True)
class Saved:
    """What a folder holds: the search as it was before the stage that expands its last level."""

    layout_files: tuple[Path, ...]
    levels: tuple[tuple[Array, Array, Array], ...]
    rows: Array
    totals: Totals
    manifest: Mapping[str, Any]


# -- identity ------------------------------------------------------------------------------------


def identity(model: Model, options: SearchOptions) -> str:
    """A digest of all that must not change between a search and its continuation."""
    about = {
        "format": FORMAT,
        "fingerprint": FINGERPRINT_VERSION,
        # not where they are: the same spec may be named by another path
        "sources": sorted((Path(path).name, text) for path, text in model.sources.items()),
        "constants": {name: repr(value) for name, value in sorted(model.constants.items())},
        "actions": [action.label for action in model.actions],
        "properties": options.properties,
        "known": [prop.name for prop in model.properties],
        "view": options.view,
        "symmetry": options.symmetry,
        "bits": options.fingerprint_bits,
    }
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()


# -- writing -------------------------------------------------------------------------------------


@dataclass
class Writer:
    """Writes one search to a folder."""

    folder: Path
    key: str
    files: dict[str, int] = field(default_factory=dict)  # name -> size
    values: list[str] = field(default_factory=list)
    written: list[int] = field(default_factory=list)  # per slot: values on disk
    committed: int = -1
    pending: dict[int, dict[str, Array]] = field(default_factory=dict)  # depth -> a level's arrays
    every: float = 0.0  # seconds that lie at least between two commits
    speed: float = inf  # bytes written per second; known after the first commit
    last: float = field(default_factory=time.monotonic)

    def begin(self) -> None:
        """Make the folder, and forget an older search in it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for old in (MANIFEST, BEFORE):
            (self.folder / old).unlink(missing_ok=True)
        for file in self.folder.glob("*.npz"):
            file.unlink()

    def level(self, depth: int, level: Level) -> None:
        """Take a level's fingerprints and links, to be written with the next commit.

        Most searches end before one is due: what they met need not be written at all. Where much
        waits, it is written without a commit.
        """
        rows = level.rows
        self.pending[depth] = {"fp": rows.fp, "low": rows.low, "link": level.link}
        waiting = sum(level["fp"].nbytes + level["low"].nbytes for level in self.pending.values())
        if waiting > _PENDING:  # links are kept for traces anyway
            self._write_levels()

    def _write_levels(self) -> None:
        for depth, arrays in self.pending.items():
            self._write(f"level-{depth:04}.npz", **arrays)
        self.pending.clear()

    def due(self, level: Level) -> bool:
        """Whether it is time for a commit before a level is expanded, and one would cost little
        compared to the time since the last.
        """
        cost = self._waiting(level) / self.speed
        return time.monotonic() - self.last >= max(self.every, _SHARE * cost)

    def _waiting(self, level: Level) -> int:
        """Bytes that a commit before this level is expanded would write."""
        levels = (array for arrays in self.pending.values() for array in arrays.values())
        return sum(array.nbytes for array in levels) + level.rows.values.nbytes

    def commit(self, search: Search, totals: Totals) -> None:
        """Make everything up to the level to be expanded next final."""
        depth = len(search.links) - 1
        if depth == self.committed:
            return
        started = time.monotonic()
        size = self._waiting(search.level)
        self._write_levels()
        self._write(f"frontier-{depth:04}.npz", rows=search.level.rows.values)
        self._write_values(depth, search.layout)
        previous = self.folder / MANIFEST
        if previous.exists():
            os.replace(previous, self.folder / BEFORE)
        text = json.dumps(self._manifest(search, depth, totals))
        _write_synced(previous, f"{zlib.crc32(text.encode()):08x} {text}\n".encode())
        self._drop_frontiers(depth)
        self.committed = depth
        self.last = time.monotonic()
        self.speed = max(1, size) / max(1e-9, self.last - started)

    def _manifest(self, search: Search, depth: int, totals: Totals) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "key": self.key,
            "spec": search.model.path,
            "constants": {k: repr(v) for k, v in search.model.constants.items()},
            "depth": depth,
            "files": self.files,
            "values": self.values,
            "totals": {**vars(totals), "cut": dict(totals.cut)},
        }

    def _drop_frontiers(self, depth: int) -> None:
        """Remove the rows of levels older than the last commit."""
        keep = {f"frontier-{depth:04}.npz", f"frontier-{self.committed:04}.npz"}
        for file in self.folder.glob("frontier-*.npz"):
            if file.name not in keep:
                self.files.pop(file.name, None)
                file.unlink()

    def _write_values(self, depth: int, layout: Layout) -> None:
        """Write the slots and values that are not on disk yet."""
        paths = [_encode_path(slot.path) for slot in layout.slots[len(self.written) :]]
        slots: list[int] = []
        values: list[bytes] = []
        self.written += [1] * len(paths)  # value 0 is ABSENT everywhere
        for slot in layout.slots:
            new = slot.values[self.written[slot.id] :]
            slots += [slot.id] * len(new)
            values += map(encode, new)
            self.written[slot.id] = len(slot.values)
        name = f"values-{depth:04}.npz"
        path_bytes, path_ends = _joined(paths)
        value_bytes, value_ends = _joined(values)
        self._write(
            name,
            path_bytes=path_bytes, path_ends=path_ends,
            slots=np.array(slots, np.int32), value_bytes=value_bytes, value_ends=value_ends,
        )  # fmt: skip
        self.values.append(name)

    def _write(self, name: str, **arrays: Array) -> None:
        path = self.folder / name
        with open(path, "wb") as file:
            np.savez(file, **cast(Any, arrays))
            file.flush()
            os.fsync(file.fileno())
        self.files[name] = path.stat().st_size


def totals_of(search: Search) -> Totals:
    """The counters as they are now."""
    return Totals(
        search.initial,
        tuple(search.fired.tolist()),
        tuple(search.fresh.tolist()),
        dict(search.cut),
        search.seconds,
        tuple(_finding_out(finding) for finding in search.found.values()),
        0 if search.orbits is None else search.orbits.represented,
    )


def _write_synced(path: Path, data: bytes) -> None:
    temporary = path.with_suffix(".new")
    with open(temporary, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _joined(parts: list[bytes]) -> tuple[Array, Array]:
    """Byte strings as one array and where each ends."""
    return (
        np.frombuffer(b"".join(parts), np.uint8),
        np.cumsum([len(part) for part in parts], dtype=np.int64),
    )


def _encode_path(path: tuple[Any, ...]) -> bytes:
    """A path, whose components are values or canonical bytes."""
    result = b""
    for part in path:
        raw = type(part) is bytes
        data = part if raw else encode(part)
        result += (b"B" if raw else b"V") + len(data).to_bytes(4, "big") + data
    return result


def _finding_out(finding: Finding) -> dict[str, Any]:
    def step(s: Step | None) -> list[Any] | None:
        return None if s is None else [s.action, list(s.choices)]

    return {
        "property": finding.property,
        "kind": finding.kind,
        "initial": finding.initial,
        "steps": [step(s) for s in finding.steps],
        "failing": step(finding.failing),
        "error": None if finding.error is None else str(finding.error),
    }


def writer(
    folder: str, key: str, saved: Saved | None, layout: Layout, every: float = 0.0
) -> Writer:
    """A writer that begins a folder, or goes on with what was saved there; see `Writer.every`."""
    if saved is None:
        result = Writer(Path(folder), key, every=every)
        result.begin()
        return result
    files = dict(saved.manifest["files"])
    depth = int(saved.manifest["depth"])
    known = [len(slot.values) for slot in layout.slots]
    values = list(saved.manifest["values"])
    return Writer(Path(folder), key, files, values, known, depth, every=every)
