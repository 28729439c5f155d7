"""Python's import of an author's modules: from their texts, whatever was compiled before, with
sets in the order that those of a spec have.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

from statewalk.dsl.binding import binding
from statewalk.dsl.errors import StatewalkError, place_of
from statewalk.dsl.source.apart import World, here, look_for
from statewalk.dsl.source.set_order import imported_names, with_ordered_builtins, with_ordered_sets
from statewalk.dsl.source.texts import is_installed


class _FromText(SourceFileLoader):
    """The loader of an author's module: its text is compiled.

    Python takes a text of equal length and time for the one that it compiled, and we name the
    digest of the text. What belongs to a spec itself is run by its load, in its ``world``.
    """

    world: World | None = None
    ran: ModuleType | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        self.ran = self.world.run(spec.name, self.path) if self.world is not None else None
        return self.ran

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)

    def exec_module(self, module: ModuleType) -> None:
        if module is self.ran:
            return
        tree = ast.parse(self.get_data(self.path), self.path)
        ordered = with_ordered_sets(tree, imported_names(tree))
        importing = {} if self.world is None else {"__import__": self.world.importing}
        vars(module)["__builtins__"] = with_ordered_builtins({**vars(builtins), **importing})
        code = compile(ordered, self.path, "exec", dont_inherit=True)
        try:
            exec(code, vars(module))
        except StatewalkError as error:
            error.at = error.at or place_of(error, {self.path})
            raise


def of_text(found: ModuleSpec) -> ModuleSpec:
    """Load a module from its text, if it has one and Python's own loader would take it."""
    if type(found.loader) is SourceFileLoader:
        found.loader = _FromText(found.loader.name, found.loader.path)
    return found


class _AuthorsFinder:
    """The finder of modules that are not installed, whichever other finder knows them."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Find a module as Python does; none outside of a load and of a step."""
        asking = bool(_under_way) or binding.view is not None
        look_for(name, asking=asking)
        if not asking:
            return None
        found = _asked(name, path, target)
        if found is None:
            for note in MISSING:
                note(name)
        elif found.origin is not None and not is_installed(found.origin):
            of_text(found)
            world = here(asking=True)
            if world is not None and isinstance(found.loader, _FromText):
                found.loader.world = world
        return found


def _asked(name: str, path: Any, target: Any) -> ModuleSpec | None:
    """Return the answer of the first of Python's finders that knows a module."""
    for finder in [*sys.meta_path]:
        ask = None if finder is _AuthorsFinder else getattr(finder, "find_spec", None)
        found: ModuleSpec | None = ask(name, path, target) if ask is not None else None
        if found is not None:
            return found
    return None


MISSING: list[Callable[[str], None]] = []  # asked with the name of a module that is not found


_under_way: list[None] = []  # one for each load that has begun and not ended


@contextmanager
def from_texts() -> Iterator[None]:
    """Import modules that are not installed from their texts, for a while, and in each step that
    is run later: a helper may import another one there.
    """
    if sys.meta_path[:1] != [_AuthorsFinder]:
        with suppress(ValueError):
            sys.meta_path.remove(_AuthorsFinder)
        sys.meta_path.insert(0, _AuthorsFinder)
    _under_way.append(None)
    try:
        yield
    finally:
        _under_way.pop()
