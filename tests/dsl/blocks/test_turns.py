"""The remaining turns of a loop in any order."""

from __future__ import annotations

from typing import Any

import pytest

from statewalk import Record
from statewalk.dsl.blocks.steps import next_turns, remaining, turn_of, without_turn


class Job(Record):
    n: int = 0


def orders(left: Any) -> list[list[Any]]:
    """All orders in which the turns can come."""
    if not left:
        return [[]]
    return [
        [turn_of(left, chosen), *rest]
        for chosen in next_turns(left)
        for rest in orders(without_turn(left, chosen))
    ]


@pytest.mark.parametrize(
    ("elements", "ways"),
    [([], 1), ([1, 2, 3], 6), ([1, 1, 2], 3), ([1, True, "1"], 6), ([(1, None), ("a",)], 2)],
)
def test_each_order_of_plain_values_comes_once(elements: list[Any], ways: int) -> None:
    found = orders(remaining(elements))

    kinds = [[(type(e), e) for e in order] for order in found]
    assert ways == len(found) == len({tuple(map(repr, k)) for k in kinds})
    assert all(sorted(map(repr, k)) == sorted(map(repr, kinds[0])) for k in kinds)


def test_what_can_be_changed_stays_itself() -> None:
    jobs = [Job(), Job()]

    first, second = orders(remaining(jobs))

    assert first[0] is second[1] is jobs[0]


def test_plain_values_in_another_order_are_the_same_turns() -> None:
    assert remaining([1, 2]) == remaining([2, 1])
