"""Ways through a spec that together meet every goal: each action taken, each witness reached; or
that take each step of each state.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from statewalk.checker.scenarios.reached import Goal, Move, Reached

Chosen = tuple[list[Move], tuple[Goal, ...], int]
"""A way, the goals that it is the first to meet, and the number of the state that it begins in."""


def cover_goals(reached: Reached) -> Iterator[Chosen]:
    """A shortest way to the goal that is farthest, and so on for those that it does not meet."""
    ways = {goal: reached.way_to(goal) for goal in reached.first}
    left = sorted(ways, key=lambda goal: (-len(ways[goal]), goal))
    while left:
        way = ways[left[0]]
        met = tuple(goal for goal in left if goal == left[0] or _meets(reached, way, goal))
        yield way, met, _begin(reached, way, left[0])
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
    """Ways that take every step of every state, each going on to the nearest one that is left as
    long as it has no more than ``length`` steps.
    """
    left = {number: list(moves) for number, moves in reached.moves.items() if moves}
    starts = [number for number, move in reached.parents.items() if move is None]
    while left:
        way = _nearest(reached, starts, left)
        assert way  # whatever has steps was reached
        _strike(left, way)
        while len(way) < length and (more := _nearest(reached, [way[-1][2]], left)):
            if len(way) + len(more) > length:
                break
            _strike(left, more)
            way += more
        yield way, (), way[0][0]


def _strike(left: dict[int, list[Move]], way: list[Move]) -> None:
    for move in way:
        if move in left.get(move[0], ()):
            left[move[0]].remove(move)
            if not left[move[0]]:
                del left[move[0]]


def _nearest(reached: Reached, starts: list[int], left: dict[int, list[Move]]) -> list[Move]:
    """The shortest way from one of some states that ends with a step that is left."""
    came: dict[int, Move | None] = dict.fromkeys(starts)
    waiting = deque(starts)
    while waiting:
        number = waiting.popleft()
        if number in left:
            way = [left[number][0]]
            while (move := came[way[0][0]]) is not None:
                way.insert(0, move)
            return way
        for move in reached.moves.get(number, ()):
            if move[2] not in came:
                came[move[2]] = move
                waiting.append(move[2])
    return []
