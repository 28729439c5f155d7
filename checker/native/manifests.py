"""The files of a saved search: each is known by its size, its digest and the search it is of.

A manifest names the files, and has a check sum of its own. What is not in it, or not what it says,
is not believed: a file of another search is whole too.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from statewalk.checker.contract.saved import BEFORE, MANIFEST, OtherPremises
from statewalk.checker.native.kernels.arrays import Array
from statewalk.dsl.errors import RunError
from statewalk.dsl.files import decoded, opened, read_text
from statewalk.dsl.origins import UNSEEN

DECLARED = "what the spec declares"
PREMISES = "premises"
_RUN = "run"  # the array that names the search

Identity = Mapping[str, Mapping[str, str]]
"""What a search is of: ``files`` (packages, too), ``constants`` and the ``rest``, each part by name
with a digest; and the names of the ``premises`` that it looks for.
"""


class Damaged(Exception):
    """A file is missing, or is not what was written; the text is its path and what is wrong."""


def damaged(what: list[str]) -> RunError:
    """Return the error that names damaged files."""
    more = f" (and {len(what) - 1} more)" if len(what) > 1 else ""
    return RunError(
        "SW343",
        f"A file of the search is damaged: {what[0]}{more}.",
        why="Every level rests on the ones before it: none of them can be left out.",
        help="Restore the file from a copy, or check the spec anew.",
    )


# -- arrays --------------------------------------------------------------------------------------


def write_arrays(path: Path, run: str, arrays: Mapping[str, Array]) -> tuple[int, str]:
    """Write arrays, and which search they are of; the size and digest of the file."""
    path.unlink(missing_ok=True)  # what is a link there is not written through
    with open(path, "x+b") as file:
        about = {_RUN: np.frombuffer(run.encode(), np.uint8)}
        np.savez(file, **cast(Any, {**about, **arrays}))
        file.flush()
        os.fsync(file.fileno())
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        return size, hashlib.file_digest(file, "sha256").hexdigest()


def read_arrays(path: Path, run: str, size: int, digest: str) -> dict[str, Array]:
    """Return the arrays of a file. Raises `Damaged` unless it is, to the byte, what was written."""
    try:
        with opened(path) as file:
            found = os.fstat(file.fileno()).st_size
            same = found == size and hashlib.file_digest(file, "sha256").hexdigest() == digest
            if not same:
                raise Damaged(f"{path} {_difference(path, run, found, size)}")
            file.seek(0)
            with np.load(file, allow_pickle=False) as arrays:
                if arrays[_RUN].tobytes() != run.encode():
                    raise Damaged(f"{path} is a file of another search")
                return {key: arrays[key] for key in arrays.files if key != _RUN}
    except OSError as error:
        raise Damaged(f"{path} {why_unread(error)}") from None


def why_unread(error: Exception) -> str:
    """Return why a file cannot be read, in words."""
    return "is missing" if isinstance(error, FileNotFoundError) else f"cannot be read: {error}"


def _difference(path: Path, run: str, found: int, size: int) -> str:
    """Return what is wrong with a file, in words."""
    try:
        with opened(path) as file, np.load(file, allow_pickle=False) as arrays:
            other = arrays[_RUN].tobytes() != run.encode()
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
        other = False
    if other:
        return "is a file of another search"
    if found != size:
        return f"has {found} bytes instead of {size}"
    return "does not hold what was written to it"


# -- manifests -----------------------------------------------------------------------------------


def write_manifest(folder: Path, data: Mapping[str, Any], keep: bool) -> None:
    """Write a manifest in the place of the last, which may be kept beside it.

    Until the new one is on disk whole nothing is touched.
    """
    text = json.dumps(data)
    new, file = folder / f"{MANIFEST}.new", folder / MANIFEST
    new.unlink(missing_ok=True)
    with open(new, "xb") as out:
        out.write(f"{zlib.crc32(text.encode()):08x} {text}\n".encode())
        out.flush()
        os.fsync(out.fileno())
    if keep and file.exists():
        os.replace(file, folder / BEFORE)
    os.replace(new, file)
    with suppress(OSError):  # not every file system can; what is done is done
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def read_manifest(path: Path) -> dict[str, Any]:
    """Return what a manifest says. Raises `Damaged`, FileNotFoundError."""
    try:
        check, _, text = read_text(path).rstrip("\n").partition(" ")
    except FileNotFoundError:
        raise
    except (OSError, UnicodeDecodeError) as error:
        raise Damaged(f"{path} cannot be read: {error}") from None
    if check != f"{zlib.crc32(text.encode()):08x}":
        raise Damaged(f"{path} does not hold what was written to it")
    try:
        found = decoded(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise Damaged(f"{path} is no manifest")
    return found


Shape = TypeVar("Shape")


def shaped(kind: type[Shape], manifest: Mapping[str, Any]) -> Shape:
    """Return a manifest as the dataclass that describes its whole shape. Numbers in quotes or
    `true` for 1 are no numbers.

    Raises:  ValueError, with the place and what is wrong there
    """
    from pydantic import TypeAdapter, ValidationError  # take longer to load than small checks

    names = {part.name for part in fields(cast(Any, kind))}
    text = json.dumps({name: part for name, part in manifest.items() if name in names})
    try:
        found: Shape = TypeAdapter(kind).validate_json(text, strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ValueError(f"{where}: {first['msg'][:1].lower()}{first['msg'][1:]}") from None
    return found


def refuse_another(folder: Path, manifest: Mapping[str, Any], format: int, key: Identity) -> None:
    """Raises RunError[SW341] for a checkpoint that is of something else; `OtherPremises`."""
    saved = manifest.get("key")
    if manifest.get("format") == format and isinstance(saved, dict) and saved.keys() == key.keys():
        premises = saved[PREMISES]
        if {**saved, PREMISES: key[PREMISES]} == key:
            if UNSEEN in saved["files"]:
                raise RunError(
                    "SW341",
                    f"It is unknown whether the checkpoint in {folder} still belongs to this spec.",
                    why="While it is loaded, the spec reads more than files: "
                    f"{saved['files'][UNSEEN]}.",
                    help="Check the spec anew. A spec that reads nothing but files can be resumed.",
                )
            if premises != key[PREMISES]:
                raise OtherPremises(folder, frozenset(premises))
            return
        raise _of_another(
            folder, f"Since it was begun there changed: {', '.join(_changed(saved, key))}."
        )
    raise of_another_version(folder)


def of_another_version(folder: Path | str | None) -> RunError:
    """Return the error of a checkpoint that another version of this program wrote."""
    return _of_another(folder, "Another version of statewalk wrote it.")


def _of_another(folder: Path | str | None, why: str) -> RunError:
    return RunError(
        "SW341",
        f"The checkpoint in {folder} belongs to another spec, other constants or options.",
        why=why,
        help="Check the spec anew, or resume with what the search was begun with.",
    )


def _changed(old: Identity, new: Identity) -> list[str]:
    """Return what differs: what the spec declares only where that is not said by its files."""
    found = [
        f"the constant {name}" if group == "constants" else name
        for group in new
        for name in {**old[group], **new[group]}
        if old[group].get(name) != new[group].get(name)
    ]
    return found[:-1] if len(found) > 1 and found[-1] == DECLARED else found


def nothing_saved(folder: Path) -> RunError:
    """Return the error of a folder without a checkpoint."""
    return RunError(
        "SW340",
        f"There is no complete checkpoint in {folder}.",
        help="The search ended before its first checkpoint: check the spec anew.",
    )
