"""Worlds: what each load makes of the process, so that one spec decides nothing of another.

A load begins in a world of its own: modules are looked for as the program around it does, and those
of authors that other loads imported are not there. What has become of this is kept when the world
is left, and put back for steps of its model; the program around gets back what it had. What that
imported itself is in all worlds, and so is what is installed.
"""

from __future__ import annotations

import builtins
import os
import sys
import zipimport
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.machinery import (
    EXTENSION_SUFFIXES,
    BuiltinImporter,
    FrozenImporter,
    PathFinder,
)
from threading import get_ident
from types import ModuleType
from typing import Any

from statewalk.dsl.source.texts import is_authored, is_installed, is_ours

_LISTS = ("path", "meta_path", "path_hooks")
_COMPILED = tuple(EXTENSION_SUFFIXES)
_MAIN = ("__main__", "__mp_main__")


@dataclass(eq=False)
class World:
    """The modules of authors that one load and its steps imported, and the lists of `sys` by which
    they find others. ``run`` runs what is the spec's own, when a helper imports it.

    ``hidden`` are modules around it that it has not, ``alike`` its own with names of installed
    ones. While it is there, ``around`` has the lists of the program around, ``before`` its modules,
    and ``out`` those that were taken out.
    """

    modules: dict[str, Any] = field(default_factory=dict)
    run: Callable[[str, str], ModuleType | None] = lambda name, file: None
    hidden: set[str] = field(default_factory=set)
    alike: dict[str, Any] = field(default_factory=dict)
    lists: dict[str, list[Any]] = field(default_factory=dict)
    seen: dict[str, list[Any]] = field(default_factory=dict)  # those around when it was left
    finders: dict[str, Any] | None = None  # by place, if it has hooks of its own
    around: dict[str, list[Any]] = field(default_factory=dict)
    finders_around: dict[str, Any] = field(default_factory=dict)
    before: dict[str, Any] = field(default_factory=dict)
    out: dict[str, Any] = field(default_factory=dict)
    count: int = 0  # of all modules, when the last of them was known
    thread: int = 0
    threads: frozenset[int] = frozenset()  # that there were before a load, while that goes on

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Be in this world for a load; the current folder is put back after it."""
        before, folder = enter(self), _folder()
        self.threads = frozenset(sys._current_frames())
        try:
            yield
        finally:
            self.count, self.threads = -1, frozenset()
            now = _folder()
            sys.path = [_absolute(place) for place in sys.path]
            if folder and folder != now:
                os.chdir(folder)
                for place in [p for p in [*sys.path_importer_cache] if not os.path.isabs(p)]:
                    sys.path_importer_cache.pop(place, None)  # it is of the other folder
            enter(before)

    def imported(self) -> dict[str, Any]:
        """Return the modules of authors that it has by now."""
        there = sys.modules.copy()
        came = {n: m for n, m in there.items() if self.before.get(n, self) is not m}
        came = {n: m for n, m in came.items() if n not in _others}
        kept = {n: m for n, m in self.modules.items() if n in there}
        own = (n for n in came if n in self.before or _is_own(n, came, self.modules))
        return kept | {name: came[name] for name in own}

    def put(self) -> None:
        """Put it in the place of what is around."""
        self.around = {name: getattr(sys, name) for name in _LISTS}
        for name, there in self.around.items():
            seen, own = self.seen.get(name, ()), self.lists.get(name, [])
            setattr(sys, name, [*own, *(one for one in there if one not in seen)])
        if not self.lists:
            _look_anew()
        self.finders_around = sys.path_importer_cache.copy()
        if self.finders is not None:
            _swap(sys.path_importer_cache, self.finders_around, self.finders)
        self.before = sys.modules.copy()
        _others.difference_update(self.before)  # what others looked for is found, or goes on
        gone = {*self.hidden, *self.modules} & sys.modules.keys()
        self.out = {name: sys.modules.pop(name) for name in gone}
        sys.modules.update(self.modules)
        for name, module in self.modules.items():
            self._bind(name, module)
        self.count, self.thread = len(sys.modules), get_ident()

    def take(self) -> None:
        """Keep what has become of it, and put back what was around."""
        if len(sys.modules) != self.count:
            gone = self.before.keys() - sys.modules.keys() - self.out.keys() - _others
            self.out |= {name: self.before[name] for name in gone}
            self.hidden |= gone
            self.modules = self.imported()
        for name in self.modules:
            self.modules[name] = sys.modules.pop(name, self.modules[name])
            self.out |= {name: self.before[name]} if name in self.before else {}
        sys.modules.update(self.out)
        for name, module in self.modules.items():
            self._bind(name, self.out.get(name), module)
        _imported.update(self.modules)
        self._take_lists()

    def _take_lists(self) -> None:
        around = self.around
        if sys.path_hooks != around["path_hooks"]:
            self.finders = sys.path_importer_cache.copy()
            _swap(sys.path_importer_cache, self.finders, self.finders_around)
        for finder in [f for f in sys.meta_path if f not in around["meta_path"]]:
            if _is_shared(finder):
                at = 0 if finder is sys.meta_path[0] else len(around["meta_path"])
                around["meta_path"].insert(at, finder)
        for name, there in around.items():
            self.lists[name], self.seen[name] = [*getattr(sys, name)], [*there]
            setattr(sys, name, there)
        self.before, self.out = {}, {}
        _added.update(dict.fromkeys(p for p in self.lists["path"] if p not in around["path"]))

    def importing(
        self, name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
    ) -> Any:
        """Do what ``import`` does. An author's module that is named as an installed one is found
        by this world's code alone: Python and we may need the other at any time.
        """
        top = name.partition(".")[0]
        alike = not level and here(asking=True) is self and self._is_alike(top)
        if not alike or is_ours(top):
            return builtins.__import__(name, globals, locals, fromlist, level)
        others = _below(top, sys.modules)
        _swap(sys.modules, others, _below(top, self.alike))
        try:
            return builtins.__import__(name, globals, locals, fromlist, level)
        finally:
            own = _below(top, sys.modules)
            self.alike.update(own)
            _swap(sys.modules, own, others)

    def _is_alike(self, top: str) -> bool:
        """Return whether the path leads to an author's module, where an installed one is there or
        may come.
        """
        there = sys.modules.get(top)
        if top in self.alike:
            return there is not self.alike[top]
        file = str(getattr(there, "__file__", None) or "")
        may_be = top in sys.stdlib_module_names or file.endswith(_COMPILED) or is_installed(file)
        if not may_be or BuiltinImporter.find_spec(top) or FrozenImporter.find_spec(top):
            return False
        found = PathFinder.find_spec(top)
        origin = found.origin if found is not None else None
        return bool(origin) and origin != file and not is_installed(origin or "")

    def _bind(self, name: str, module: Any, instead: Any = None) -> None:
        """Let a package that is in all worlds have a module, or none ``instead`` of another."""
        outer, _, last = name.rpartition(".")
        package = sys.modules.get(outer) if outer not in self.modules else None
        if package is not None and module is not None:
            setattr(package, last, module)
        elif package is not None and vars(package).get(last, self) is instead:
            delattr(package, last)


_now: list[World | None] = [None]
_others: set[str] = set()  # names of modules that were looked for, last by others than worlds
_added: dict[str, None] = {}  # places of all worlds
_imported: set[str] = set()  # names of modules of all worlds


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
    world = _now[0]
    return name in _imported or (world is not None and name in world.imported())


def places() -> list[str]:
    """Return where authors' modules are looked for, also by steps of any world."""
    there = (place for place in (*_added, *sys.path) if place)
    return [place for place in there if not is_installed(os.path.join(place, "x.py"))]


def here(*, asking: bool) -> World | None:
    """Return the world where we are, if what this thread looks for is for it: it is the one that
    entered, or one that the load began.
    """
    world, thread = _now[0], get_ident()
    if world is None or not asking:
        return None
    begun = bool(world.threads) and thread not in world.threads
    return world if begun or thread == world.thread else None


def look_for(name: str, *, asking: bool) -> None:
    """Note whether a module is looked for by the code of the world where we are."""
    if here(asking=asking) is None:
        _others.add(name)
    else:
        _others.discard(name)


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return ""


def _absolute(place: Any) -> Any:
    """Return a place as it is called from any folder; it need not be one, with a hook."""
    is_one = isinstance(place, str) and os.path.exists(place or ".")
    return os.path.abspath(place) if is_one else place


def _look_anew() -> None:
    """Let Python forget what it found in places of authors, archives among them."""
    archives = getattr(zipimport, "_zip_directory_cache", {})
    for place, finder in [*sys.path_importer_cache.items()]:
        if not is_installed(os.path.join(place, "x.py")):
            sys.path_importer_cache.pop(place, None)
            archives.pop(getattr(finder, "archive", place), None)


def _below(top: str, modules: Mapping[str, Any]) -> dict[str, Any]:
    """Return a module and those in it."""
    return {n: m for n, m in [*modules.items()] if n == top or n.startswith(f"{top}.")}


def _swap(there: dict[str, Any], some: Iterable[str], others: Mapping[str, Any]) -> None:
    for name in [*some]:
        there.pop(name, None)
    there.update(others)


def _is_shared(finder: Any) -> bool:
    """Return whether a finder is of an installed package, which adds it once."""
    name = str(getattr(finder, "__module__", ""))
    return name in sys.modules and not is_authored(name)


def _is_own(name: str, came: Mapping[str, Any], own: Mapping[str, Any]) -> bool:
    """Return whether a module that came is its author's: neither installed nor compiled, or made
    by the author's program.
    """
    if is_ours(name) or name in _MAIN:
        return False
    try:
        about = object.__getattribute__(came[name], "__dict__").get("__spec__")
    except AttributeError:
        about = None
    origin, loader = getattr(about, "origin", None), getattr(about, "loader", None)
    places = getattr(about, "submodule_search_locations", None)
    if origin is not None:
        built = origin in ("built-in", "frozen") or origin.endswith(_COMPILED)
        return not built and not is_installed(origin)
    if places:  # a namespace
        return not all(map(is_installed, places))
    if loader is not None and "importlib" not in str(getattr(loader, "__module__", "")):
        return not _is_shared(loader)
    outer = name.rpartition(".")[0]
    return not outer or outer in own or (outer in came and _is_own(outer, came, own))
