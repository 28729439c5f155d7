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

import json
import os
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from checker.native.checkpoints import MANIFEST, Writer, totals_of
from checker.spark.files import Part, Stored
from dsl.errors import RunError

if TYPE_CHECKING:
    from checker.layout import Layout
    from checker.native.search import Search

FORMAT = 2
_OURS = ("level-", "rows-", "seen-", "early-", "values-", "aside-", "missed-", "learned-")


@dataclass(frozen=True)
class Committed:
    """What a manifest says: the search as it was before its last level is expanded."""

    depth: int
    buckets: int
    early: Stored
    levels: tuple[tuple[Part, ...], ...]
    runs: tuple[tuple[Part, ...], ...]
    values: tuple[str, ...]
    sizes: Mapping[str, int]
    totals: Mapping[str, Any]

    def files(self) -> Iterator[Stored]:
        """All files that tasks wrote, each once."""
        found: dict[str, Stored] = {self.early.name: self.early}
        for parts in (*self.levels, *self.runs):
            for part in parts:
                for stored in (part.ids, part.rows):
                    if stored is not None:
                        found[stored.name] = stored
        yield from found.values()


class Committer(Writer):
    """Writes the manifest of a search, and the values its rows speak of."""

    def begin(self) -> None:
        """Make the folder, and forget an older search in it. Raises RunError[SW344]."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / MANIFEST).unlink(missing_ok=True)
            self.clear(set())
        except OSError as error:
            raise RunError(
                "SW344",
                f"The run directory {self.folder} cannot be used: {error.strerror or error}.",
                help="Give another one with --spark-folder DIR, on storage all nodes share.",
            ) from error

    def go_on(self, saved: Committed, layout: Layout) -> None:
        """Take over what an earlier process committed."""
        self.files, self.values = dict(saved.sizes), list(saved.values)
        self.written = [len(slot.values) for slot in layout.slots]
        self.committed = saved.depth

    def write(self, search: Search, about: Committed) -> None:
        """Make everything up to the level to be expanded next final."""
        self._write_values(about.depth, search.layout)
        manifest = {
            "format": FORMAT,
            "key": self.key,
            "spec": search.model.path,
            "constants": {k: repr(v) for k, v in search.model.constants.items()},
            **asdict(about),
            "values": self.values,
            "sizes": self.files,
            "totals": {**vars(totals_of(search)), "cut": dict(search.cut)},
        }
        text = json.dumps(manifest)
        part = self.folder / f"{MANIFEST}.new"
        with open(part, "wb") as file:
            file.write(f"{zlib.crc32(text.encode()):08x} {text}\n".encode())
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, self.folder / MANIFEST)
        _sync(self.folder)
        self.committed = about.depth
        self.clear({MANIFEST, *self.values, *(stored.name for stored in about.files())})

    def clear(self, keep: set[str]) -> None:
        """Remove our files, but for some."""
        for file in os.scandir(self.folder):
            if file.name not in keep and file.name.lstrip(".").startswith(_OURS):
                Path(file.path).unlink(missing_ok=True)


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read(folder: Path, key: str) -> Committed:
    """What a folder holds.

    Raises:  RunError[SW340] where there is nothing; RunError[SW341] where it is of another search;
    RunError[SW343] where the manifest is damaged
    """
    path = folder / MANIFEST
    try:
        check, _, text = path.read_text(encoding="utf-8").rstrip("\n").partition(" ")
    except FileNotFoundError:
        raise RunError(
            "SW340",
            f"There is no whole checkpoint in {folder}.",
            help="The search ended before its first checkpoint: check the spec anew.",
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise damaged([f"{path} cannot be read: {error}"]) from None
    if check != f"{zlib.crc32(text.encode()):08x}":
        raise damaged([f"{path} does not hold what was written to it"])
    manifest = json.loads(text)
    if (manifest["format"], manifest["key"]) != (FORMAT, key):
        raise RunError(
            "SW341",
            f"The checkpoint in {folder} belongs to another spec, other constants or options.",
            why="Since it was begun the spec, its constants or what to check have changed.",
            help="Check the spec anew, or resume with what the search was begun with.",
        )
    return Committed(
        manifest["depth"],
        manifest["buckets"],
        Stored(**manifest["early"]),
        _parts(manifest["levels"]),
        _parts(manifest["runs"]),
        tuple(manifest["values"]),
        manifest["sizes"],
        manifest["totals"],
    )


def _parts(data: list[list[dict[str, Any]]]) -> tuple[tuple[Part, ...], ...]:
    def part(d: dict[str, Any]) -> Part:
        rows = d["rows"]
        ids = Stored(**d["ids"])
        return Part(d["first"], d["end"], d["n"], ids, rows and Stored(**rows))

    return tuple(tuple(map(part, parts)) for parts in data)


def damaged(what: list[str]) -> RunError:
    """The error that names damaged files."""
    more = f" (and {len(what) - 1} more)" if len(what) > 1 else ""
    return RunError(
        "SW343",
        f"A file of the search is damaged: {what[0]}{more}.",
        why="Every level rests on the ones before it: none of them can be left out.",
        help="Restore the file from a copy, or check the spec anew.",
    )
