"""The source that this copy of statewalk was installed from (PEP 610), and commands that use it."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote, urlsplit, urlunsplit

NAME = "statewalk"


@dataclass(frozen=True)
class Source:
    """The source of an installed copy.

    ``where`` is a version of the package index, a URL with its commit, the URL of a file, or a
    folder. ``editable`` tells that the folder itself is what runs.
    """

    kind: Literal["index", "vcs", "file", "folder"]
    where: str
    editable: bool = False

    @property
    def is_portable(self) -> bool:
        """Return whether another machine can install from it."""
        return self.kind == "index" or urlsplit(self.where).scheme not in ("", "file", "git+file")

    @property
    def page(self) -> str:
        """A URL to read about it, empty where there is none."""
        if self.kind == "index":
            return f"https://pypi.org/project/{NAME}/"
        url = self.where.partition("+")[2] if self.kind == "vcs" else self.where
        return url.rpartition("@")[0] if url.startswith("http") and self.kind == "vcs" else ""

    def requirement(self, extra: str = "") -> str:
        """Return what to give to pip, with an extra."""
        name = f"{NAME}[{extra}]" if extra else NAME
        if self.kind == "index":
            return f"{name}=={self.where}" if self.where else name
        if self.kind == "folder":
            return f"{self.where}[{extra}]" if extra else self.where
        return f"{name} @ {self.where}"

    def command(self, extra: str = "") -> str:
        """Return the command that installs it, or adds an extra to it."""
        option = "-e " if self.editable else ""
        return f"pip install {option}{shlex.quote(self.requirement(extra))}"


@cache
def source() -> Source:
    """Return the source of the copy that runs; the index where nothing is recorded."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        found = distribution(NAME)
    except PackageNotFoundError:  # a tree on the path, which nobody installed
        return Source("folder", str(Path(__file__).resolve().parents[2]), editable=True)
    text = found.read_text("direct_url.json")
    return source_of(json.loads(text) if text else None, found.version)


def source_of(recorded: dict[str, Any] | None, version: str) -> Source:
    """Return the source that a ``direct_url.json`` records; None where there is no such file."""
    if recorded is None:
        return Source("index", version)
    url = _without_user(str(recorded["url"]))
    if "vcs_info" in recorded:
        url = url.replace("file:///", "file://localhost/")  # pip takes no URL without a host there
        held = recorded["vcs_info"]
        folder = recorded.get("subdirectory")
        fragment = f"#subdirectory={folder}" if folder else ""
        return Source("vcs", f"{held['vcs']}+{url}@{held['commit_id']}{fragment}")
    if "dir_info" in recorded:
        place = unquote(urlsplit(url).path)
        return Source("folder", place, bool(recorded["dir_info"].get("editable")))
    return Source("file", url)


def _without_user(url: str) -> str:
    """Return a URL without the name and password that it may hold."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
