"""Worlds: what each load adds to the process, so that one spec decides nothing of another.

A load begins in a world of its own: without the modules of authors that earlier loads imported, and
without the places to look for modules that earlier specs added. Steps run in the world of their
model. What the program around imported itself is in all of them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.machinery import EXTENSION_SUFFIXES
from types import ModuleType
from typing import Any

from statewalk.dsl.source.texts import is_installed, is_ours


@dataclass(eq=False)
class World:
    """The modules of authors, places and finders that one load added, and its steps since.

    ``met`` are names of modules that were looked for in steps.
    """

    modules: dict[str, ModuleType] = field(default_factory=dict)
    path: list[str] = field(default_factory=list)
    finders: list[Any] = field(default_factory=list)
    met: set[str] = field(default_factory=set)

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Be in this world for a load; the current folder is put back after it."""
        around, before = [*sys.path], enter(self)
        folder, names, path, finders = _folder(), {*sys.modules}, [*sys.path], [*sys.meta_path]
        try:
            yield
        finally:
            now = _folder()
            self._add([name for name in sys.modules if name not in names])
            self.path[:0] = [os.path.join(now, p) for p in sys.path if p not in path]
            _added.update(dict.fromkeys(self.path))
            self.finders += [f for f in sys.meta_path if f not in finders and self._is_own(f)]
            if folder and folder != now:
                os.chdir(folder)
            enter(before)
            if before is not self:
                sys.path[:] = around  # the spec may have removed some

    def take(self) -> None:
        """Take out of the process what is of this world."""
        self._add([name for name in self.met if name in sys.modules])
        self.met.clear()
        for name in self.modules:
            self.modules[name] = module = sys.modules.pop(name, self.modules[name])
            self._bind(name, module, there=False)
        sys.modules.update(_hidden)
        for place in self.path:
            with suppress(ValueError):
                sys.path.remove(place)
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder not in self.finders]

    def put(self) -> None:
        """Put it back."""
        _hidden.clear()
        _hidden.update({n: sys.modules[n] for n in self.modules if n in sys.modules})
        sys.modules.update(self.modules)
        for name, module in self.modules.items():
            self._bind(name, module, there=True)
        sys.path[:0] = self.path
        sys.meta_path += self.finders

    def _add(self, names: list[str]) -> None:
        own = [name for name in names if _is_authors(name)]
        own += [name for name in names if _loaded_by(name) in {*own, *self.modules}]
        self.modules |= {name: sys.modules[name] for name in own}

    def _is_own(self, finder: Any) -> bool:
        """Return whether an author wrote a finder: modules of a spec are not among Python's."""
        name = getattr(finder, "__module__", "")
        return name in self.modules or name not in sys.modules

    def _bind(self, name: str, module: ModuleType, *, there: bool) -> None:
        """Let a package that is in all worlds have a module of this one, or have it no more."""
        outer, _, last = name.rpartition(".")
        package = sys.modules.get(outer)
        if package is not None and outer not in self.modules:
            if there:
                setattr(package, last, module)
            elif getattr(package, last, None) is module:
                delattr(package, last)


_now: list[World | None] = [None]
_added: dict[str, None] = {}  # places of all worlds
_hidden: dict[str, ModuleType] = {}  # modules without any world, whose names this one has, too


def enter(world: World | None) -> World | None:
    """Go to a world, None for the process without any; the one that was left."""
    before = _now[0]
    if world is not before:
        if before is not None:
            before.take()
        if world is not None:
            world.put()
        _now[0] = world
        for place in [p for p in sys.path_importer_cache if not os.path.isabs(p)]:
            del sys.path_importer_cache[place]  # it is of another current folder
    return before


def places() -> list[str]:
    """Return where authors' modules are looked for, also by steps of any world."""
    there = (place for place in (*_added, *sys.path) if place)
    return [p for p in there if os.path.isdir(p) and not is_installed(os.path.join(p, "x.py"))]


def meet(name: str) -> None:
    """Note that a module is looked for in the world where we are."""
    if _now[0] is not None:
        _now[0].met.add(name)


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return ""


def _loaded_by(name: str) -> str:
    """Return the name of the module that has the loader of a module."""
    loader = getattr(getattr(sys.modules[name], "__spec__", None), "loader", None)
    return str(getattr(loader, "__module__", ""))


def _is_authors(name: str) -> bool:
    """Return whether a module is one that a load may import again: a text that is not installed."""
    module = sys.modules[name]
    spec = getattr(module, "__spec__", None)
    if type(module) is not ModuleType or is_ours(name):
        return False
    if name.partition(".")[0] in sys.stdlib_module_names:
        return False
    if spec is None:  # a package may make modules below itself
        return "." not in name
    file, folders = spec.origin, spec.submodule_search_locations
    if file is None or file == "namespace":
        with suppress(Exception):  # a namespace asks for its parent
            return bool(folders) and not all(map(is_installed, folders or ()))
        return False
    return not is_installed(file) and not file.endswith(tuple(EXTENSION_SUFFIXES))
