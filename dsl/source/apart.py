"""Worlds: what each load adds to the process, so that one spec decides nothing of another.

A load begins in a world of its own: without the modules of authors that earlier loads imported, and
without the places to look for modules that earlier specs added. Steps run in the world of their
model. What the program around imported itself is in all of them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import get_ident
from types import ModuleType
from typing import Any

from statewalk.dsl.source.texts import is_installed


@dataclass(eq=False)
class World:
    """The modules of authors, places and finders that one load added, and its steps since.

    Places come ``first`` or ``last`` in the search path. ``met`` are names of modules that were
    found for it, ``names`` those of all that there were before.
    """

    modules: dict[str, ModuleType] = field(default_factory=dict)
    first: list[str] = field(default_factory=list)
    last: list[str] = field(default_factory=list)
    finders: list[Any] = field(default_factory=list)
    met: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    thread: int = 0

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Be in this world for a load; the current folder is put back after it."""
        around, before, folder = [*sys.path], enter(self), _folder()
        self.names, finders = {*sys.modules}, [*sys.meta_path]
        try:
            yield
        finally:
            now = _folder()
            self.modules |= self.imported()
            self._keep([p if p in around else os.path.join(now, p) for p in sys.path], around)
            self.finders += [f for f in sys.meta_path if f not in finders and self._is_own(f)]
            if folder and folder != now:
                os.chdir(folder)
                for place in [p for p in [*sys.path_importer_cache] if not os.path.isabs(p)]:
                    sys.path_importer_cache.pop(place, None)  # it is of the other folder
            enter(before)
            if before is not self and any(place not in sys.path for place in around):
                sys.path = around  # the spec has removed some

    def imported(self) -> dict[str, ModuleType]:
        """Return the modules of authors that it has by now."""
        new = [name for name in [*sys.modules] if name not in self.names]
        own = [name for name in new if name in self.met or _is_made(name)]
        own += [n for n in new if _loaded_by(n) in {*own, *self.modules} and n not in own]
        return self.modules | {name: sys.modules[name] for name in own if name in sys.modules}

    def take(self) -> None:
        """Take out of the process what is of this world."""
        self.modules |= {name: sys.modules[name] for name in self.met if name in sys.modules}
        for name in self.modules:
            self.modules[name] = module = sys.modules.pop(name, self.modules[name])
            self._bind(name, module, there=False)
        sys.modules.update(_hidden)
        own = {*self.first, *self.last}
        sys.path = [place for place in sys.path if place not in own]
        sys.meta_path = [finder for finder in sys.meta_path if finder not in self.finders]

    def put(self) -> None:
        """Put it back."""
        _hidden.clear()
        _hidden.update({n: sys.modules[n] for n in self.modules if n in sys.modules})
        sys.modules.update(self.modules)
        for name, module in self.modules.items():
            self._bind(name, module, there=True)
        sys.path = [*self.first, *sys.path, *self.last]
        sys.meta_path = [*sys.meta_path, *self.finders]
        self.thread = get_ident()

    def _keep(self, path: list[str], around: list[str]) -> None:
        """Keep the places of a path that are not in the one around, before and after it."""
        shared = next((at for at, place in enumerate(path) if place in around), len(path))
        self.first = [p for p in path[:shared] if p not in around]
        self.last = [p for p in path[shared:] if p not in around]
        sys.path = [*self.first, *(p for p in path if p in around), *self.last]
        _added.update(dict.fromkeys((*self.first, *self.last)))

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


# Lists of Python's are replaced, not changed: another thread may be going through them.
_now: list[World | None] = [None]
_added: dict[str, None] = {}  # places of all worlds
_imported: set[str] = set()  # names of modules of all worlds
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
    return before


def is_imported(name: str) -> bool:
    """Return whether some load has imported a module of this name."""
    return name in _imported


def places() -> list[str]:
    """Return where authors' modules are looked for, also by steps of any world."""
    there = (place for place in (*_added, *sys.path) if place)
    return [place for place in there if not is_installed(os.path.join(place, "x.py"))]


def meet(name: str) -> None:
    """Note that a module is looked for in the world where we are."""
    world = _now[0]
    if world is not None and world.thread == get_ident():
        world.met.add(name)
        _imported.add(name)


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return ""


def _loaded_by(name: str) -> str:
    """Return the name of the module that has the loader of a module."""
    loader = getattr(getattr(sys.modules.get(name), "__spec__", None), "loader", None)
    return str(getattr(loader, "__module__", ""))


def _is_made(name: str) -> bool:
    """Return whether a module was made by a program, not found, and not by an installed one."""
    module: Any = sys.modules.get(name)
    if getattr(module, "__spec__", None) is not None or not isinstance(module, ModuleType):
        return False
    world, outer = _now[0], name.rpartition(".")[0]
    return not outer or (world is not None and outer in world.met.union(world.modules))
