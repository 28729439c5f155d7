"""The ways in which a network falls apart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any


def splits(everyone: Sequence[Any]) -> list[frozenset[frozenset[Any]]]:
    """Return each way of dividing some roles into two sides, once."""
    found = {
        frozenset({frozenset(side), frozenset(everyone) - frozenset(side)}): None
        for size in range(1, len(everyone) // 2 + 1)
        for side in combinations(everyone, size)
    }
    return list(found)
