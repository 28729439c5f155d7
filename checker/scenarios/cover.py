"""Ways through a spec that together meet every goal: each action taken, each witness reached; or
that take each step of each state.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from statewalk.checker.scenarios.reached import Goal, Move, Reached

Left = dict[int, dict[Move, None]]
"""The steps that no way has taken yet, by the state before them."""
_NEARBY = 100  # states looked at for a step that is left: more are not worth the way


class Chosen(NamedTuple):
    """A way, the goals that it is the first to meet, the number of the state that it begins in, and
    how many steps (of states) it is the first to take.
    """

    way: list[Move]
    met: tuple[Goal, ...]
    begin: int
    fresh: int = 0


def cover_goals(reached: Reached) -> Iterator[Chosen]:
    """A shortest way to the goal that is farthest, and so on for those that it does not meet."""
    ways = {goal: reached.way_to(goal) for goal in reached.first}
    left = sorted(ways, key=lambda goal: (-len(ways[goal]), goal))
    while left:
        way = ways[left[0]]
        met = tuple(goal for goal in left if goal == left[0] or _meets(reached, way, goal))
        yield Chosen(way, met, _begin(reached, way, left[0]))
        left = [goal for goal in left if goal not in met]


def _begin(reached: Reached, way: list[Move], goal: Goal) -> int:
    """The state that a way begins in; one without steps is where its goal is met."""
    if way:
        return way[0][0]
    where = reached.first[goal]
    assert isinstance(where, int)  # a step has a way
    return where


def _meets(reached: Reached, way: list[Move], goal: Goal) -> bool:
    kind, name = goal
    if kind == "witness":
        return any(reached.met(name, move[2]) for move in way)
    names = reached.model.action_names()
    return any(names[move[1].action] == name for move in way)


def cover_steps(reached: Reached, length: int) -> Iterator[Chosen]:
    """Ways that take every step of every state. Each goes a shortest way to the nearest state with
    a step that is left, and on to others nearby as long as it has no more than ``length`` steps.
    """
    left = {number: dict.fromkeys(moves) for number, moves in reached.moves.items() if moves}
    for number in reached.parents:  # the nearest first
        while number in left:
            way = [*reached.way(number), next(iter(left[number]))]
            fresh = sum(_strike(left, move) for move in way)
            while more := _nearby(reached, way[-1][2], left, length - len(way)):
                fresh += sum(_strike(left, move) for move in more)
                way += more
            yield Chosen(way, (), way[0][0], fresh)


def _strike(left: Left, move: Move) -> bool:
    """Whether a step was left; it no longer is."""
    there = left.get(move[0], {})
    if move not in there:
        return False
    del there[move]
    if not there:
        del left[move[0]]
    return True


def _nearby(reached: Reached, start: int, left: Left, length: int) -> list[Move]:
    """The shortest way on from a state that ends with a step that is left, with no more than so
    many steps; none where the states nearest to it have none.
    """
    came: dict[int, tuple[int, Move | None]] = {start: (0, None)}
    waiting = deque([start])
    while waiting:
        number = waiting.popleft()
        if came[number][0] >= length:
            return []
        if number in left:
            way = [next(iter(left[number]))]
            while (move := came[way[-1][0]][1]) is not None:
                way.append(move)
            return way[::-1]
        for move in reached.moves.get(number, ()):
            if move[2] not in came and len(came) < _NEARBY:
                came[move[2]] = came[number][0] + 1, move
                waiting.append(move[2])
    return []
