"""What is asked of another state: values of that state, which look at no state any more."""

from __future__ import annotations

from collections.abc import ItemsView, KeysView, ValuesView
from enum import Enum
from typing import Any

from statewalk.dsl.errors import SpecError
from statewalk.dsl.values.frozen import FROZEN
from statewalk.dsl.values.ordered_sets import OrderedFrozenSet, OrderedSet
from statewalk.dsl.values.stored import describe, freeze

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
