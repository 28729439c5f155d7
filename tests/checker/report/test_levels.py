"""The drawing of level sizes, and the estimate of the end of a search."""

from __future__ import annotations

import math
from itertools import accumulate

import pytest

from statewalk.checker.report.page import bars, levels_page, to_come, trend

# two and three counters that go to 40 each
TWO = [min(n, 80 - n) + 1 for n in range(81)]
THREE = [sum(TWO[n - k] for k in range(41) if 0 <= n - k <= 80) for n in range(121)]
# forty things that happen in any order
COINS = [math.comb(40, n) for n in range(41)]


def test_bars_show_the_largest_of_levels_that_share_one() -> None:
    assert "" == bars((1, 2, 3))
    assert "▂▃▅█" == bars((1, 2, 4, 7))
    assert 15 == len(bars(THREE[:120]))
    assert "▁" == bars((0, 0, 0, 9))[0]


def test_a_trend_is_that_of_many_levels_where_there_are_many() -> None:
    assert ("growing", "falling", "") == (trend((1, 2, 3)), trend((9, 4, 2)), trend((1, 2)))
    wavy = [n + 20 * (n % 2) for n in range(200)]

    assert "growing" == trend(wavy)


@pytest.mark.parametrize("levels", [THREE, COINS])
def test_what_is_to_come_lies_between_what_is_said(levels: list[int]) -> None:
    """Up to a tenth of all states; before the largest level is passed, nothing is said."""
    done = list(accumulate(levels))
    said = {n: to_come(levels[:n]) for n in range(1, len(levels))}
    top = levels.index(max(levels))

    assert all(said[n] is None for n in range(1, top + 3))
    assert sum(found is not None for found in said.values()) > len(levels) / 3
    for n, found in said.items():
        if found is not None:
            assert found[0] - done[-1] / 10 <= done[-1] - done[n - 1] <= found[1]


@pytest.mark.parametrize(
    "levels",
    [
        (),
        (5,) * 20,
        tuple(range(1, 30)),
        (*range(1, 20), *range(20, 1, -1), 5, 5, 5),  # it goes on
        (1, 10, 100, 1000, 999, 990, 800, 790, 788),  # it shrinks more slowly than it did
    ],
)
def test_where_nothing_can_be_said_nothing_is(levels: tuple[int, ...]) -> None:
    assert to_come(levels) is None


def test_a_plot_has_a_row_for_each_level_or_for_some_together() -> None:
    few = levels_page((1, 2, 4), width=60).plain().splitlines()
    many = levels_page(THREE, width=100).plain().splitlines()

    assert "  level  states" == few[0]
    assert ["0  1", "1  2", "2  4"] == [
        " ".join(r.split("█")[0].split(" ")).strip() for r in few[1:]
    ]
    assert many[0].endswith("states in each, on average")
    assert many[1].split()[0] == "0–5"
    assert 25 >= len(many)
    assert all(len(row) <= 100 for row in many)
    assert 1 == len(levels_page(()).lines)
