"""The operators of sets in the state: they read the set and make a new one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from statewalk.dsl.values.stored import FrozenSet

SET_METHODS = frozenset(
    [
        "union",
        "intersection",
        "difference",
        "symmetric_difference",
        "issubset",
        "issuperset",
        "isdisjoint",
    ]
)
"""The methods of sets that only look."""


class SetOperators:
    """``| & - ^`` with the set on either side, and the comparisons but ``==``."""

    __slots__ = ()

    def __or__(self, other: Any) -> Any:
        return self._with(FrozenSet.union, other)

    def __and__(self, other: Any) -> Any:
        return self._with(FrozenSet.intersection, other)

    def __sub__(self, other: Any) -> Any:
        return self._with(FrozenSet.difference, other)

    def __rsub__(self, other: Any) -> Any:
        return self._with(lambda mine, others: FrozenSet(others).difference(mine), other)

    def __xor__(self, other: Any) -> Any:
        return self._with(lambda mine, others: mine ^ FrozenSet(others), other)

    __ror__ = __or__
    __rand__ = __and__
    __rxor__ = __xor__

    def __le__(self, other: Any) -> Any:
        return self._with(FrozenSet.issubset, other)

    def __ge__(self, other: Any) -> Any:
        return self._with(FrozenSet.issuperset, other)

    def __lt__(self, other: Any) -> Any:
        return self._with(lambda mine, others: mine < FrozenSet(others), other)

    def __gt__(self, other: Any) -> Any:
        return self._with(lambda mine, others: mine > FrozenSet(others), other)

    def _with(self, operation: Callable[[FrozenSet, Any], Any], other: object) -> Any:
        if not isinstance(other, set | frozenset):
            return NotImplemented  # as Python's sets: other collections are refused
        return operation(self._freeze(), other)

    def _freeze(self) -> FrozenSet:
        raise NotImplementedError
