"""Going through a set or a dict, which must not change meanwhile, as Python has it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any


def unchanging(kind: str, look: Callable[[], Iterable[Any]]) -> Iterator[Any]:
    """What a look gives, one by one.

    Raises:  RuntimeError where a later look gives something else, at the end too.
    """
    found = look()
    return while_same(kind, found, look, found)


def while_same(
    kind: str, elements: Iterable[Any], look: Callable[[], Any], first: Any
) -> Iterator[Any]:
    """The same for elements that do not say themselves what stays the same."""
    for element in elements:
        _compare(kind, first, look())
        yield element
    _compare(kind, first, look())


def _compare(kind: str, first: Any, now: Any) -> None:
    if now is not first and now != first:
        raise RuntimeError(f"{kind} changed during iteration")
