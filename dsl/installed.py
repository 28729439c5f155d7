"""Installed packages: versions stand for what is in them."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.machinery import EXTENSION_SUFFIXES
from typing import TYPE_CHECKING

from statewalk.dsl.source.texts import is_installed, is_program, package_in

if TYPE_CHECKING:
    from importlib.metadata import Distribution

_BY_PYTHON = {"numpy", "PyYAML", "pydantic", "pydantic_core"}
"""Compiled packages that open files in Python, where it can be noticed, or none."""


@lru_cache(maxsize=4096)
def is_versioned(file: str) -> bool:
    """Return whether a file came with Python, with statewalk, or with a package that has a version:
    what was copied among installed packages has none.
    """
    if not is_installed(file) or is_program(file):
        return is_installed(file)
    top = package_in(file)
    return not top or bool(packages_of(top)[0])


@lru_cache(maxsize=256)
def packages_of(top: str) -> tuple[dict[str, str], frozenset[str]]:
    """Return the packages behind a name, and those that they require, with versions; and the names
    of those that are compiled.
    """
    found: dict[str, str] = {}
    native = set()
    todo = [top] if _package(top) else [*_owners().get(top, ())]
    while todo:
        about = _package(todo.pop())
        if about is None or about.name in found:
            continue
        found[about.name] = about.version
        if about.name not in _BY_PYTHON:
            endings = tuple(EXTENSION_SUFFIXES)
            native |= {about.name for f in about.files or () if str(f).endswith(endings)}
        needs = (need for need in about.requires or () if "extra ==" not in need)
        todo += [re.split(r"[^\w.-]", need, maxsplit=1)[0] for need in needs]
    return found, frozenset(native)


def _package(name: str) -> Distribution | None:
    from importlib import metadata  # slow to load, and most specs need none

    try:
        return metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return None


@lru_cache(maxsize=1)
def _owners() -> dict[str, list[str]]:
    from importlib import metadata

    return dict(metadata.packages_distributions())
