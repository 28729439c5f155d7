"""Loads of one process, each as if it were the first: what an earlier spec did to the process while
it was loaded decides nothing of a later one.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec
from types import ModuleType

from statewalk.dsl.source.texts import is_installed, is_ours

Place = tuple[str | None, tuple[str, ...]]  # the file of a module, the folders of a package

_paths: list[tuple[list[str], list[str]]] = []  # the search path before each load, and after it
_heads: set[str] = set()  # names without dots of modules that loads have imported


@contextmanager
def apart() -> Iterator[list[str]]:
    """Undo what earlier loads left, for a load; the current folder is put back after it. Yields
    the search path before the load.

    The search path stays as a spec leaves it, for what its helpers import in steps, until the next
    load begins. Modules stay where Python would find them again.
    """
    _forget()
    folder, path, modules = _folder(), [*sys.path], {*sys.modules}
    try:
        yield path
    finally:
        if folder and folder != _folder():
            os.chdir(folder)
        if path != sys.path:
            _paths.append((path, [*sys.path]))
        _learn(modules)


def of_authors() -> dict[str, ModuleType]:
    """Return the modules of authors that loads have imported, as they are now."""
    return {name: m for name, m in sys.modules.items() if name.partition(".")[0] in _heads}


@contextmanager
def again(own: dict[str, ModuleType]) -> Iterator[None]:
    """Let a load that has ended import in a step, with its ``own`` modules, see `of_authors`."""
    others, before = of_authors(), {*sys.modules}
    if others != own:
        _put(others, own)
    try:
        yield
    finally:
        _learn(before)
        now = of_authors()
        if others != own:
            _put(now, others)
        own.update(now)


def _put(old: dict[str, ModuleType], new: dict[str, ModuleType]) -> None:
    for name in old:
        del sys.modules[name]
    sys.modules.update(new)


def _learn(before: set[str]) -> None:
    new = {name.partition(".")[0] for name in sys.modules.keys() - before}
    _heads.update(name for name in new if _is_authors(name))


def _forget() -> None:
    while _paths:
        before, after = _paths.pop()
        if sys.path == after:
            sys.path[:] = before
            continue
        for folder in after:
            if folder not in before and folder in sys.path:
                sys.path.remove(folder)
    for head in list(_heads):
        module = sys.modules.get(head)
        if module is None or _place(module.__spec__) != _place(_found(head)):
            _heads.discard(head)
            for name in [n for n in sys.modules if n.partition(".")[0] == head]:
                del sys.modules[name]


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return ""


def _is_authors(head: str) -> bool:
    """Return whether a module is one that a load may import again: a text that is not installed."""
    module = sys.modules.get(head)
    if not isinstance(module, ModuleType) or head in sys.stdlib_module_names or is_ours(head):
        return False
    file, folders = _place(module.__spec__)
    if file is None:
        return bool(folders) and not any(map(is_installed, folders))
    return not is_installed(file) and not file.endswith(tuple(EXTENSION_SUFFIXES))


def _place(spec: ModuleSpec | None) -> Place:
    if spec is None:
        return None, ()
    return spec.origin, tuple(spec.submodule_search_locations or ())


def _found(head: str) -> ModuleSpec | None:
    for finder in sys.meta_path:
        with suppress(Exception):  # it is somebody else's
            if (spec := finder.find_spec(head, None)) is not None:
                return spec
    return None
