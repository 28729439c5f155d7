"""Parts of what is learned: growing arrays, memoised functions, projections, operations, calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from statewalk.checker.engines.layout import Slot
from statewalk.checker.native.kernels.arrays import FIRST_RESULT, Array
from statewalk.dsl.values.stored import intern_key
from statewalk.dsl.view import CallResult

OPAQUE = 0  # result id of a projection or call whose result cannot be stored, or that raises


class Growing:
    """A flat array with room to append; ``flat`` is the same memory, as Python reads it fastest."""

    def __init__(self, dtype: Any, columns: int = 0, capacity: int = 256) -> None:
        self.data: Array = np.zeros((capacity, columns) if columns else capacity, dtype)
        self.flat = self.data.reshape(-1).data
        self.used = 0

    def extend(self, count: int) -> int:
        """Append zeros; the index of the first."""
        first = self.used
        if first + count > len(self.data):
            capacity = max(2 * len(self.data), first + count)
            data = np.zeros((capacity, *self.data.shape[1:]), self.data.dtype)
            data[:first] = self.data[:first]
            self.data, self.flat = data, data.reshape(-1).data
        self.used = first + count
        return first

    def append(self, value: Any) -> int:
        """Append one value; its index."""
        at = self.extend(1)
        self.data[at] = value
        return at


class Memo:
    """Functions of a value id, as tables: for each function a run of results by id, 0 unknown."""

    def __init__(self) -> None:
        self.base = Growing(np.int64)
        self.capacity = Growing(np.int64)
        self.results = Growing(np.int32)

    def add(self) -> int:
        """Return a new function; its number."""
        self.capacity.append(0)
        return self.base.append(0)

    def get(self, function: int, id: int) -> int:
        """Return the result for an id, 0 unknown."""
        if id >= self.capacity.flat[function]:
            return 0
        found: int = self.results.flat[self.base.flat[function] + id]
        return found

    def pairs(self, function: int) -> list[tuple[int, int]]:
        """Return the ids with a known result, each with the id that is the result."""
        base, capacity = self.base.flat[function], self.capacity.flat[function]
        results = self.results.data[base : base + capacity]
        there = np.flatnonzero(results)
        return list(zip(there.tolist(), (results[there] - 1).tolist(), strict=True))

    def put(self, function: int, id: int, result: int) -> None:
        """Store a result."""
        capacity = self.capacity.flat[function]
        if id >= capacity:
            grown = max(8, 2 * capacity, id + 1)
            first = self.results.extend(grown)
            old = self.base.flat[function]
            self.results.data[first : first + capacity] = self.results.data[old : old + capacity]
            self.base.flat[function] = first
            self.capacity.flat[function] = grown
        self.results.flat[self.base.flat[function] + id] = result


@dataclass
class Projection:
    """A function of one slot's value, its results by number (0 is `OPAQUE`)."""

    slot: Slot
    function: Callable[[Any], Any]
    results: list[Any] = field(default_factory=lambda: [None])
    ids: dict[Any, int] = field(default_factory=dict)
    known: dict[int, int] = field(default_factory=dict)  # result by value id


@dataclass
class Operation:
    """An update that ignores the old value, unless it is known for ``raising``.

    ``after`` holds results by the old value's id. They have no ids: most are only passed through,
    on the way to the value that a step leaves behind.
    """

    slot: Slot
    function: Callable[[Any], Any]
    raising: bool = False
    users: set[int] = field(default_factory=set)
    after: dict[int, Any] = field(default_factory=dict)


@dataclass
class Call:
    """A function that only reads, with a trie of its own; its results by number (0 is `OPAQUE`).

    ``function`` is what it has in common with calls that differ in their arguments. ``slots`` it
    has been seen to read, itself or through others; ``users`` are the roots, ``callers`` the calls,
    that rely on its result. ``overwritten`` are, by root, the slots that steps had changed when
    they asked for it: what it gives in the state before the step holds as long as it reads none.
    ``run`` asks for it in any state, where that can be done without whoever asked first.
    """

    number: int
    function: object = None
    run: CallResult | None = None
    results: list[Any] = field(default_factory=lambda: [None])
    ids: dict[Any, int] = field(default_factory=dict)
    slots: set[int] = field(default_factory=set)
    users: int = 0
    callers: set[int] = field(default_factory=set)
    overwritten: dict[int, set[int]] = field(default_factory=dict)


def result_id(results: list[Any], ids: dict[Any, int], value: Any) -> int:
    """Return the number of a result, given when new; `OPAQUE` if it is no stored value.

    Results are compared as the state compares values: ``True`` is not ``1``.
    """
    try:
        key = intern_key(value)
        known = ids.get(key)
    except TypeError:
        return OPAQUE
    if known is None:
        known = ids[key] = len(results)
        results.append(value)
    return known


def leaf_of_result(number: int) -> int:
    """Return the leaf code of an outcome, or of a call's result."""
    return FIRST_RESULT - number
