"""What the sizes of the levels of a search look like, and what they say about its end."""

from __future__ import annotations

from collections.abc import Sequence

from statewalk.checker.report.page import Page, number

BARS = "▁▂▃▄▅▆▇█"
_FEW = 4  # levels that need no bars
_COLUMNS = 16  # of bars in a report
_ROWS = 24  # of a plot
_TREND = 3  # levels that make a trend,
_SHAPE = 8  # and those that make a shape,
_GROUPS = 12  # of which so many are told apart
_LONGEST = 10_000  # levels that are guessed at most


def bars(levels: Sequence[int]) -> str:
    """The sizes of levels as little bars; empty where there are few of them."""
    if len(levels) < _FEW:
        return ""
    groups = [max(group) for group in _grouped(levels, _COLUMNS)]
    most = max(groups)
    return "".join(BARS[(g * 7 + most - 1) // most] for g in groups)


def _grouped(levels: Sequence[int], most: int) -> list[Sequence[int]]:
    size = -(-len(levels) // most)
    return [levels[i : i + size] for i in range(0, len(levels), size)]


def levels_page(levels: Sequence[int], *, width: int = 100) -> Page:
    """A plot: how many states each level has; of many levels some together, with their mean."""
    page = Page(width)
    groups = _grouped(levels, _ROWS) if levels else []
    size = len(groups[0]) if groups else 0
    means = [sum(group) / len(group) for group in groups]
    head = "states" if size == 1 else "states in each, on average"
    page.add((f"  {'level' if size == 1 else 'levels'}", "head"), "  ", (head, "head"))
    names = []
    for at, group in enumerate(groups):
        first, last = at * size, at * size + len(group) - 1
        names.append(str(first) if first == last else f"{first}–{last}")
    column, sizes = max(6, *map(len, names), 0), [number(round(m)) for m in means]
    digits = max(map(len, sizes), default=0)
    room = max(20, min(width - column - digits - 6, 80))
    for name, shown, mean in zip(names, sizes, means, strict=True):
        bar = "█" * round(mean * room / max(means)) or BARS[0]
        page.add((f"  {name:>{column}}", "dim"), f"  {shown:>{digits}}  ", (bar, "actor"))
    return page


def trend(levels: Sequence[int]) -> str:
    """Whether the frontier grows."""
    if len(levels) < _TREND:
        return ""
    a, b, c = _last(levels)
    return "growing" if a < b < c else "falling" if a > b > c else ""


def _last(levels: Sequence[int]) -> list[int]:
    """The states in the last three groups of levels; a group is one level where there are few."""
    count, size = len(levels), max(1, len(levels) // _GROUPS)
    return [sum(levels[count - size * i : count - size * (i - 1)]) for i in (3, 2, 1)]


def to_come(levels: Sequence[int]) -> tuple[float, float] | None:
    """How many states the levels to come may have, from and to; None where nothing can be said.

    The sizes of levels mostly rise and fall like a bell. Well behind the largest one, they shrink
    by a ratio that itself shrinks. So the last ratio, kept, gives the most states there may be, and
    ratios that go on shrinking as they did about the fewest.
    """
    count = len(levels)
    top = max(range(count), key=levels.__getitem__, default=0)
    if count < _SHAPE or count - 1 - top < max(2, count // _GROUPS):
        return None
    a, b, c = _last(levels)
    if not a > b > c > 0 or c / b >= b / a:
        return None
    ratio, quicker = c / b, (c / b) / (b / a)
    least, left = 0.0, float(c)
    for _ in range(_LONGEST):
        ratio *= quicker
        left *= ratio
        least += left
        if left < 1:
            break
    return least, c * (c / b) / (1 - c / b)
