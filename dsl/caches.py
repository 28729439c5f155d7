"""The user's folder for caches: what is in it can be made again.

A checkout holds no cache that is believed, and an installation is not written to: whoever brings a
tree along would bring along what is believed of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from pathlib import Path

NAME = "statewalk"
CI = "CI"  # the variable that every system for continuous integration sets


def place() -> Path:
    """Return where the folder is, or would be. Raises OSError where the user has no home."""
    from platformdirs import user_cache_path

    try:
        found = user_cache_path(NAME, appauthor=False)
    except RuntimeError:  # newer versions of platformdirs; older ones return a relative path
        found = Path()
    if not found.is_absolute():  # nothing is kept in the current folder
        raise OSError("this user has no home folder")
    return found


def folder(kind: str) -> Path | None:
    """Return the folder for one kind of cache, which is made; None where it cannot be used."""
    return None if problem(kind) else place() / kind


def problem(kind: str = "") -> str:
    """Make the folder; say why it cannot be used, empty where it can."""
    try:
        top = place()
        made = top / kind
        made.mkdir(mode=0o700, parents=True, exist_ok=True)
        if is_foreign(top):
            return f"{top} belongs to another user"
    except OSError as error:
        at, why = getattr(error, "filename", None), getattr(error, "strerror", None)
        return f"{at} takes no files: {why}" if at else str(error)
    return "" if os.access(made, os.W_OK | os.X_OK) else f"{made} takes no files"


def is_foreign(top: Path) -> bool:
    """Return whether a folder belongs to another user. Raises OSError where it does not exist."""
    return hasattr(os, "geteuid") and top.stat().st_uid != os.geteuid()


def in_ci() -> bool:
    """Return whether this is continuous integration, where nothing of earlier runs is believed."""
    return os.environ.get(CI, "").lower() not in ("", "0", "false")


@cache
def stamp() -> str:
    """Return a digest of all sources of statewalk, wherever they are. Raises OSError."""
    digest = blake2b(digest_size=16)
    top = os.path.dirname(os.path.dirname(__file__))
    folders = (os.path.join(top, name) for name in ("dsl", "checker"))
    own = sorted(os.path.join(top, name) for name in os.listdir(top) if name.endswith(".py"))
    for file in (*own, *(file for folder in folders for file in _sources(folder))):
        with open(file, "rb") as stream:
            digest.update(blake2b(stream.read()).digest())
        digest.update(os.path.relpath(file, top).encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _sources(folder: str) -> Iterator[str]:
    for here, folders, files in os.walk(folder):
        folders.sort()
        own = (name for name in sorted(files) if name.endswith((".py", ".lark")))
        yield from (os.path.join(here, name) for name in own)
