"""Detached references: after their place is replaced, they show the old value.

References to one slot that are detached together share a `Cell`, which has a registry of its own,
so that what is changed through one of them is seen through the others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from statewalk.dsl.binding import binding
from statewalk.dsl.errors import SpecError
from statewalk.dsl.values.canonical import VALUES
from statewalk.dsl.values.stored import FrozenList, intern_key
from statewalk.dsl.view import Path, Place

Sub = tuple[tuple[str, Any], ...]
"""Steps into a value, see `dsl.state.refs`."""


def follow(value: Any, sub: Sub) -> Any:
    """Return the value at the end of steps into a value."""
    for kind, key in sub:
        value = getattr(value, key) if kind == "f" else value[key]
    return value


def with_at(value: Any, sub: Sub, new: Any) -> Any:
    """Return a value with another one at the end of steps into it."""
    if not sub:
        return new
    (kind, key), rest = sub[0], sub[1:]
    if kind == "f":
        return value._with(key, with_at(getattr(value, key), rest, new))
    if kind == "k":
        return value.with_item(key, with_at(value[key], rest, new) if rest else new)
    items = list(value)
    items[key] = with_at(items[key], rest, new)
    return FrozenList(items)


class Cell:
    """The old value of a replaced place; shared by all references that were detached together.

    ``references`` are those by their steps, as `Binding.references` has those of a place in the
    state.
    """

    __slots__ = ("_later", "_value", "references")

    def __init__(self, later: Callable[[], Any]) -> None:
        self._later: Callable[[], Any] | None = later
        self._value: Any = None
        self.references: dict[Any, Any] = {}

    def get(self) -> Any:
        if self._later is not None:
            self._value, self._later = self._later(), None
        return self._value

    def set(self, value: Any) -> None:
        self._value, self._later = value, None


class Fixed(Cell):
    """The value of a constant field. ``place`` names it."""

    __slots__ = ("_place",)

    def __init__(self, value: Any, place: str) -> None:
        super().__init__(lambda: value)
        self._place = place

    def set(self, value: Any) -> None:
        raise taken_for_constant(self._place)


class Value(Cell):
    """A value that is no place: it is seen as any other container or record, and stays as it is."""

    __slots__ = ()

    def __init__(self, value: Any) -> None:
        super().__init__(lambda: value)

    def set(self, value: Any) -> None:
        said = f"This {self.get().__class__.__name__} is a value and cannot be changed."
        help = "Make a changed copy, such as replace(...), list(...) or set(...), "
        help += "and store it."
        raise SpecError("SW202", said, why=VALUES, help=help)


def taken_for_constant(place: str) -> SpecError:
    """Return the error of a change that was not seen coming."""
    why = "The checker takes a field as constant if no action assigns it by name."
    help = f"Assign it by name in an action: self.{place.rpartition('.')[2]} = ..."
    return SpecError("SW901", f"{place} is a constant field and was changed.", why=why, help=help)


def sub_key(sub: Sub) -> Place:
    """Return steps into a value as a dictionary key, which tells ``1`` from ``True``."""
    return tuple((kind, intern_key(key)) for kind, key in sub)


def forget(path: Path, sub: Sub = (), held: Cell | None = None) -> None:
    """Detach the references at or under a place that is replaced, in the state or in ``held``."""
    known = binding.references.get(path) if held is None else held.references
    if not known:
        return
    cell: Cell | None = None
    start = sub_key(sub)
    for key in [k for k in known if k[: len(start)] == start]:
        cell = cell or _cell_of(path, held)
        _detach(known.pop(key), cell)


def _cell_of(path: Path, held: Cell | None) -> Cell:
    """Return a cell with what a slot, or another cell, holds now."""
    if held is None:
        assert binding.view is not None  # a reference was taken, so a view is bound
        return Cell(binding.view.later(path))
    value = held.get()
    return Cell(lambda: value)


def _detach(reference: Any, cell: Cell) -> None:
    object.__setattr__(reference, "_cell", cell)
    cell.references[reference._place] = reference


def shift(
    path: Path, sub: Sub, move: Callable[[int], int | None], held: Cell | None = None
) -> None:
    """Follow a change of a list's structure: references to elements move along, or are detached.

    ``move`` gives the new index of an element, None where it is gone. ``held`` as in `forget`.
    """
    known = binding.references.get(path) if held is None else held.references
    if not known:
        return
    start = sub_key(sub)
    at = len(start)
    inside = [k for k in known if len(k) > at and k[:at] == start]
    cell = _cell_of(path, held) if inside else None
    moved = {}
    for key in inside:
        reference = known.pop(key)
        index = move(key[at][1])
        if index is None and cell is not None:
            _detach(reference, cell)
        else:
            new = (*sub, ("i", index), *reference._sub[at + 1 :])
            object.__setattr__(reference, "_sub", new)
            object.__setattr__(reference, "_place", sub_key(new))
            moved[reference._place] = reference
    known.update(moved)
