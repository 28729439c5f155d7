"""What is asked of another state: with no place of this one, and giving values, which look at no
state any more.
"""

from __future__ import annotations

from collections.abc import ItemsView, KeysView, ValuesView
from enum import Enum
from typing import Any

from statewalk.dsl.binding import binding
from statewalk.dsl.errors import SpecError
from statewalk.dsl.state.detaching import Cell
from statewalk.dsl.values.frozen import FROZEN
from statewalk.dsl.values.ordered_sets import OrderedFrozenSet, OrderedSet
from statewalk.dsl.values.stored import describe, freeze


class _Elsewhere(Cell):
    """What a place of this state is while another one is looked at: an error."""

    __slots__ = ("_word",)

    def __init__(self, word: str) -> None:
        super().__init__(lambda: None)
        self._word = word

    def get(self) -> Any:
        raise SpecError(
            "SW121",
            f"What {self._word}(...) looks at was taken from the state around it.",
            why="Inside, a place is what it is in that other state: what is at an index of a list "
            "may be another element, or none.",
            help=f"Reach it inside {self._word}(...) from a role, or let that give what to compare "
            "with: before = old(list(log.entries)).",
        )

    def set(self, value: Any) -> None:
        self.get()


class without_places:  # noqa: N801 (reads as a preposition)
    """While another state is looked at: references that were taken in this one are an error."""

    __slots__ = ("_taken", "_word")

    def __init__(self, word: str) -> None:
        self._word = word

    def __enter__(self) -> None:
        known = binding.references.values()
        self._taken = [r for places in known for r in places.values() if r._cell is None]
        self._put(_Elsewhere(self._word))

    def __exit__(self, *error: object) -> None:
        self._put(None)

    def _put(self, cell: Cell | None) -> None:
        for reference in self._taken:
            object.__setattr__(reference, "_cell", cell)


_VALUES = (bool, int, str, float, complex, bytes, type(None), Enum, type, range)


def lasting(value: Any, word: str) -> Any:
    """A value that ``word`` gives out of another state: references in it become what is there.

    Raises:  SpecError[SW121] for what would look at a state later.
    """
    kind = type(value)
    if kind in (list, tuple, set, frozenset, OrderedSet, OrderedFrozenSet):
        return kind(lasting(v, word) for v in value)
    if kind is dict:
        return {lasting(k, word): lasting(v, word) for k, v in value.items()}
    if kind in FROZEN or hasattr(value, "_freeze"):
        return freeze(value)
    if isinstance(value, KeysView | ValuesView | ItemsView):
        return [lasting(v, word) for v in value]
    if isinstance(value, _VALUES) or getattr(kind, "is_lasting", False):
        return value
    raise SpecError(
        "SW121",
        f"{word}(...) gives out {describe(value)}.",
        why="What it gives is a value of another state. This would be evaluated later, in the "
        "state that is looked at then.",
        help=f"Let {word}(...) give numbers, strings, lists, records: what was to be computed.",
    )
