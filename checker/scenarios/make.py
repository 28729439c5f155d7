"""Making the scenarios of ways that were chosen, one after the other, until there are enough."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from statewalk.checker.conform.follow import said_of
from statewalk.checker.machine.watch import CutShort, Watchdog
from statewalk.checker.scenarios.reached import Goal, Move, Reached
from statewalk.checker.scenarios.scenario import Fields, Files, Scenario, scenario_of

_GRACE = 1.0  # seconds to make scenarios of what was looked at until the time was over
_SHOWN = 20


class Enough:
    """Says why no more scenarios are to be made: there are ``most``, or a limit is passed."""

    def __init__(
        self, timeout: float | None, interrupted: Callable[[], bool], most: int | None = None
    ) -> None:
        self.deadline = math.inf if timeout is None else time.monotonic() + timeout
        self.interrupted = interrupted
        self.most = most
        self.begun = math.inf

    def left(self) -> float | None:
        """Return seconds that are left; None where there is no limit."""
        if math.isinf(self.deadline):
            return None
        return max(self.deadline - time.monotonic(), 0.001)

    def begin(self) -> float | None:
        """Begin with scenarios; the seconds there are for that."""
        self.begun = time.monotonic()
        left = self.left()
        return None if left is None else max(left, _GRACE)

    def why(self, count: int) -> str:
        """Empty where it is to go on."""
        if self.most is not None and count >= self.most:
            return f"the bound of {self.most:,} scenarios"
        now = time.monotonic()
        if now < self.begun + _GRACE:
            return ""
        if self.interrupted():
            return "it was interrupted"
        return "the time is over" if now > self.deadline else ""


@dataclass
class Made:
    """The scenarios made from the reached states: goals met, steps (of states) taken of those
    that there are, for ``every`` step; the first scenarios by length and what they are for.
    ``stopped`` says why there are no more.
    """

    reached: Reached
    files: Files
    every: bool
    keep: bool = False
    scenarios: list[Scenario] = field(default_factory=list)
    first: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)
    met: set[Goal] = field(default_factory=set)
    count: int = 0
    events: int = 0
    taken: int = 0
    stopped: str = ""

    @property
    def steps(self) -> int:
        """The steps that there are, of the states that were looked at."""
        return sum(map(len, self.reached.moves.values()))

    def make(self, length: int, enough: Enough, told: Callable[[str], None]) -> None:
        """Choose ways and make their scenarios."""
        reached = self.reached
        ways = cover_steps(reached, length) if self.every else cover_goals(reached)
        with Watchdog(enough.begin()):
            try:
                self._make(ways, enough, told)
            except CutShort as cut:
                self.stopped = said_of(cut)

    def _make(self, ways: Iterable[Chosen], enough: Enough, told: Callable[[str], None]) -> None:
        fields = Fields(self.reached.model, self.reached.steps)
        steps = self.steps
        for chosen in ways:
            self.stopped = enough.why(self.count)
            if self.stopped:
                return
            self._add(chosen, fields)
            if self.every:
                told(f"{self.count:,} scenarios, {self.taken:,} of {steps:,} steps")

    def _add(self, chosen: Chosen, fields: Fields) -> None:
        goals = tuple(name for _, name in chosen.met)
        name = " ".join(goals[:3]) + (" ..." if goals[3:] else "")
        if not goals:
            name = f"way {self.count + 1}, {chosen.fresh} new steps"
        if self.files.files or self.keep:
            steps = [move[1] for move in chosen.way]
            scenario = scenario_of(fields, chosen.begin, steps, goals, name)
            self.files.add(scenario)
            if self.keep:
                self.scenarios.append(scenario)
        if len(self.first) < _SHOWN:
            self.first.append((len(chosen.way), goals or (name,)))
        self.met |= {*chosen.met}
        self.count += 1
        self.events += len(chosen.way)
        self.taken += chosen.fresh


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
    """Yield a shortest way to the goal that is farthest, and so on for those that it does not
    meet.
    """
    ways = {goal: reached.way_to(goal) for goal in reached.first}
    left = sorted(ways, key=lambda goal: (-len(ways[goal]), goal))
    while left:
        way = ways[left[0]]
        met = tuple(goal for goal in left if goal == left[0] or _meets(reached, way, goal))
        yield Chosen(way, met, _begin(reached, way, left[0]))
        left = [goal for goal in left if goal not in met]


def _begin(reached: Reached, way: list[Move], goal: Goal) -> int:
    """Return the state that a way begins in; one without steps is where its goal is met."""
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
    """Return whether a step was left; it no longer is."""
    there = left.get(move[0], {})
    if move not in there:
        return False
    del there[move]
    if not there:
        del left[move[0]]
    return True


def _nearby(reached: Reached, start: int, left: Left, length: int) -> list[Move]:
    """Return the shortest way on from a state that ends with a step that is left, with no
    more than so many steps; none where the states nearest to it have none.
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
