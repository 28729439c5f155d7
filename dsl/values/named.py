"""Values know their classes by name: a name of a class stands for one class of a spec."""

from __future__ import annotations

import sys
from typing import Any

from statewalk.dsl.binding import binding
from statewalk.dsl.errors import SpecError


def is_named(cls: type) -> bool:
    """Whether the name of a class is known to mean this class, or nothing is known of names yet."""
    known = binding.classes.get(cls.__name__)
    if known is None and binding.classes and cls is at(sys.modules.get(cls.__module__), cls):
        binding.classes[cls.__name__] = known = cls  # of a module that is not the spec's own
    return known is cls or not binding.classes


def check_named(cls: type) -> None:
    """Raises SpecError: SW126 where the name means another class, SW203 where it means none."""
    if is_named(cls):
        return
    other = binding.classes.get(cls.__name__)
    if other is not None:
        raise of_one_name(other, cls)
    raise SpecError(
        "SW203",
        f"The state cannot hold a {cls.__name__}: no name in a module leads to this class.",
        why="States, traces and reports tell classes by their names.",
        help=f"Define it in the body of a module, or name it there: {cls.__name__} = ...",
    )


def of_one_name(one: type, other: type) -> SpecError:
    """The error of two classes that have one name."""
    places = list(dict.fromkeys(f"{c.__module__}.{c.__qualname__}" for c in (one, other)))
    where = f"both are {places[0]}" if len(places) == 1 else f"{places[0]} and {places[1]}"
    return SpecError(
        "SW126",
        f"There are two classes called {one.__name__}: {where}.",
        why="States, traces and reports tell classes by their names.",
        help="Give one of them another name.",
    )


def at(module: Any, cls: type) -> Any:
    """What a module has under the qualified name of a class; None where there is none."""
    found = module
    for part in cls.__qualname__.split("."):
        found = getattr(found, part, None)
    return found
