"""The part of a table of cases that the default run takes; `make test-slow` runs the others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import settings


def slow(*values: object) -> Any:
    """A case of a test that takes more than a moment."""
    return pytest.param(*values, marks=pytest.mark.slow)


def some(cases: Iterable[Any], *, every: int) -> list[Any]:
    """Of cases that show the same of different things, one of each so many; the others are slow.

    The first is taken. A tuple is a row of values. Cases that are slow already are not counted.
    """
    found = []
    quick = 0
    for case in cases:
        values = case if isinstance(case, tuple) else (case,)
        given: Any = case if hasattr(case, "marks") else pytest.param(*values)
        if not given.marks:
            if quick % every:
                given = given._replace(marks=(pytest.mark.slow,))
            quick += 1
        found.append(given)
    return found


def examples(number: int) -> int:
    """Return how many examples are generated, where the slow run generates a number of them."""
    return max(3, number * settings().max_examples // 100)
