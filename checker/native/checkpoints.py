"""Checkpoints: a search on disk, from which another process goes on after whatever happened.

    level-0007.npz      fingerprints and links of a level (zip archives carry check sums)
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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from checker.engine import Finding, SearchOptions, Step
from checker.fingerprints import FINGERPRINT_VERSION
from checker.layout import Layout
from checker.native.arrays import Array
from checker.native.states import Level
from dsl.decode import decode
from dsl.errors import RunError
from dsl.model import Model
from dsl.values import encode

if TYPE_CHECKING:
    from checker.native.search import Search

FORMAT = 1
MANIFEST, BEFORE = "manifest.json", "manifest.before.json"
_SHARE = 10  # of the time at most one in so many parts is spent on commits


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
    cost: float = 0.0
    last: float = field(default_factory=time.monotonic)

    def begin(self) -> None:
        """Make the folder, and forget an older search in it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for old in (MANIFEST, BEFORE):
            (self.folder / old).unlink(missing_ok=True)
        for file in self.folder.glob("*.npz"):
            file.unlink()

    def level(self, depth: int, level: Level) -> None:
        """Write a level's fingerprints and links."""
        rows = level.rows
        self._write(f"level-{depth:04}.npz", fp=rows.fp, low=rows.low, link=level.link)

    def due(self) -> bool:
        """Whether a commit would cost little compared to the time since the last."""
        return time.monotonic() - self.last >= _SHARE * self.cost

    def commit(self, search: Search, totals: Totals) -> None:
        """Make everything up to the level to be expanded next final."""
        depth = len(search.links) - 1
        if depth == self.committed:
            return
        started = time.monotonic()
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
        self.cost = self.last - started

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


def _parts(data: Array, ends: Array) -> Iterator[bytes]:
    text = data.tobytes()
    start = 0
    for end in ends.tolist():
        yield text[start:end]
        start = end


def _encode_path(path: tuple[Any, ...]) -> bytes:
    """A path, whose components are values or canonical bytes."""
    result = b""
    for part in path:
        raw = type(part) is bytes
        data = part if raw else encode(part)
        result += (b"B" if raw else b"V") + len(data).to_bytes(4, "big") + data
    return result


def _decode_path(data: bytes, classes: Mapping[str, type]) -> tuple[Any, ...]:
    parts: list[Any] = []
    at = 0
    while at < len(data):
        size = int.from_bytes(data[at + 1 : at + 5], "big")
        part = data[at + 5 : at + 5 + size]
        parts.append(part if data[at : at + 1] == b"B" else decode(part, classes))
        at += 5 + size
    return tuple(parts)


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


def _finding_in(data: Mapping[str, Any]) -> Finding:
    def step(s: list[Any]) -> Step:
        return Step(s[0], tuple(s[1]))

    failing, error = data["failing"], data["error"]
    return Finding(
        data["property"],
        data["kind"],
        data["initial"],
        tuple(map(step, data["steps"])),
        None if failing is None else step(failing),
        None if error is None else AssertionError(error),
    )


# -- reading -------------------------------------------------------------------------------------


class _Torn(Exception):
    """A file is missing, too short, or not what was written."""


def manifests(folder: Path) -> Iterator[dict[str, Any]]:
    """The manifests of a folder that are whole, newest first."""
    for name in (MANIFEST, BEFORE):
        try:
            check, _, text = (folder / name).read_text(encoding="utf-8").rstrip("\n").partition(" ")
        except (OSError, UnicodeDecodeError):
            continue
        if check == f"{zlib.crc32(text.encode()):08x}":
            manifest: dict[str, Any] = json.loads(text)
            yield manifest


def read(folder: Path, key: str) -> Saved:
    """The newest whole checkpoint of a folder.

    Raises:  RunError[SW340] where there is none; RunError[SW341] where it is of another search
    """
    for manifest in manifests(folder):
        if manifest["format"] != FORMAT or manifest["key"] != key:
            raise RunError(
                "SW341",
                f"The checkpoint in {folder} belongs to another spec, other constants or options.",
                why="Since it was begun the spec, its constants or what to check have changed.",
                help="Check the spec anew, or resume with what the search was begun with.",
            )
        try:
            return _load(folder, manifest)
        except (_Torn, OSError, ValueError, KeyError, zlib.error, EOFError):
            continue
    raise RunError(
        "SW340",
        f"There is no whole checkpoint in {folder}.",
        help="The search ended before its first checkpoint: check the spec anew.",
    )


def _load(folder: Path, manifest: Mapping[str, Any]) -> Saved:
    depth: int = manifest["depth"]
    levels = []
    for at in range(depth + 1):
        found = _arrays(folder, f"level-{at:04}.npz", manifest)
        levels.append((found["fp"], found["low"], found["link"]))
    rows = _arrays(folder, f"frontier-{depth:04}.npz", manifest)["rows"]
    for name in manifest["values"]:
        _arrays(folder, name, manifest)
    about = dict(manifest["totals"])
    about["found"] = tuple(about["found"])
    totals = Totals(**{**about, "fired": tuple(about["fired"]), "fresh": tuple(about["fresh"])})
    files = tuple(folder / name for name in manifest["values"])
    return Saved(files, tuple(levels), rows, totals, manifest)


def _arrays(folder: Path, name: str, manifest: Mapping[str, Any]) -> dict[str, Array]:
    """The arrays of a file, each read whole so that its check sum is looked at."""
    import zipfile

    path = folder / name
    if path.stat().st_size != manifest["files"][name]:
        raise _Torn
    try:
        with np.load(path, allow_pickle=False) as file:
            return {key: file[key] for key in file.files}
    except zipfile.BadZipFile:
        raise _Torn from None


def restore_layout(saved: Saved, layout: Layout, model: Model) -> None:
    """Give an empty layout the slots and value ids of the saved search."""
    for path in saved.layout_files:
        with np.load(path, allow_pickle=False) as file:
            for data in _parts(file["path_bytes"], file["path_ends"]):
                layout.slot(_decode_path(data, model.classes))
            values = _parts(file["value_bytes"], file["value_ends"])
            for slot, value in zip(file["slots"].tolist(), values, strict=True):
                layout.value_id(layout.slots[slot], decode(value, model.classes))


def findings_of(totals: Totals) -> dict[str, Finding]:
    """The findings of the saved search."""
    return {data["property"]: _finding_in(data) for data in totals.found}


def writer(folder: str, key: str, saved: Saved | None, layout: Layout) -> Writer:
    """A writer that begins a folder, or goes on with what was saved there."""
    if saved is None:
        result = Writer(Path(folder), key)
        result.begin()
        return result
    files = dict(saved.manifest["files"])
    depth = int(saved.manifest["depth"])
    known = [len(slot.values) for slot in layout.slots]
    return Writer(Path(folder), key, files, list(saved.manifest["values"]), known, depth)
