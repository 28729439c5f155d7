"""Vector clocks, and orders that are put together from pairs.

>>> precedes((1, 0), (1, 1)), precedes((1, 0), (0, 1))
(True, False)
>>> is_cyclic({("a", "b"), ("b", "c")}), is_cyclic({("a", "b"), ("b", "c"), ("c", "a")})
(False, True)
"""

from collections.abc import Iterable, Mapping

Stamp = tuple[int, ...]  # of each gatekeeper: how many of its transactions are known
Pairs = frozenset[tuple[str, str]]  # the first is before the second


def precedes(a: Stamp, b: Stamp) -> bool:
    """Return whether a stamp was known where the other one was given."""
    return a != b and covers(b, a)


def covers(a: Stamp, b: Stamp) -> bool:
    """Return whether a clock knows all that another one knows."""
    return all(x >= y for x, y in zip(a, b, strict=True))


def merged(a: Stamp, b: Stamp) -> Stamp:
    """A clock that knows what two know."""
    return tuple(max(x, y) for x, y in zip(a, b, strict=True))


def vector_order(stamps: Mapping[str, Stamp]) -> Pairs:
    """The order that stamps alone give."""
    return frozenset((a, b) for a in stamps for b in stamps if precedes(stamps[a], stamps[b]))


def leads(pairs: Iterable[tuple[str, str]], a: str, b: str) -> bool:
    """Return whether an order puts one before another, be it by way of others."""
    found, after = {a}, set(pairs)
    while more := {y for x, y in after if x in found and y not in found}:
        found |= more
    return a != b and b in found


def is_cyclic(pairs: Iterable[tuple[str, str]]) -> bool:
    """Return whether an order puts something before itself."""
    left = set(pairs)
    while left:
        kept = {(a, b) for a, b in left if any(x == b for x, _ in left)}
        if kept == left:
            return True
        left = kept
    return False
