"""Reading what `checker.native.checkpoints` wrote: the newest whole checkpoint of a folder."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from checker.engine import Finding, Step
from checker.layout import Layout
from checker.native.arrays import Array
from checker.native.checkpoints import BEFORE, FORMAT, MANIFEST, Saved, Totals
from dsl.decode import decode
from dsl.errors import RunError
from dsl.model import Model


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
    path = folder / name
    if path.stat().st_size != manifest["files"][name]:
        raise _Torn
    try:
        with np.load(path, allow_pickle=False) as file:
            return {key: file[key] for key in file.files}
    except BadZipFile:
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


def _parts(data: Array, ends: Array) -> Iterator[bytes]:
    text = data.tobytes()
    start = 0
    for end in ends.tolist():
        yield text[start:end]
        start = end


def _decode_path(data: bytes, classes: Mapping[str, type]) -> tuple[Any, ...]:
    parts: list[Any] = []
    at = 0
    while at < len(data):
        size = int.from_bytes(data[at + 1 : at + 5], "big")
        part = data[at + 5 : at + 5 + size]
        parts.append(part if data[at : at + 1] == b"B" else decode(part, classes))
        at += 5 + size
    return tuple(parts)
