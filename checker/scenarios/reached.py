"""The states that a spec reaches within bounds, and the steps between them, kept in memory.

What a constraint refuses is kept out, and what it is reached by too, as in a check
(`checker.contract.search`, rule 3). Steps that raise lead nowhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

from statewalk.checker.conform.follow import said_of
from statewalk.checker.conform.steps import Steps
from statewalk.checker.contract.search import Step
from statewalk.checker.machine.watch import CutShort
from statewalk.dsl.state.plain_view import PlainView

if TYPE_CHECKING:
    from statewalk.dsl.model import Model, Property

Move = tuple[int, Step, int]
"""A step: the number of the state before it, the step, the number of the state after it."""
Goal = tuple[str, str]
"""What is to be met: ("action" or "witness", its name)."""


@dataclass(frozen=True)
class Bounds:
    """The bounds of a search: ``states`` to visit, and ``depth`` levels of them."""

    states: int = 100_000
    depth: int | None = None
    interrupted: Callable[[], bool] = lambda: False


@dataclass
class Reached:
    """States by number (those of ``steps``). ``moves`` holds the steps from each state that was
    expanded, ``parents`` the step by which each was found first (None: it is an initial state).
    ``whole``: all states were looked at. ``stopped`` says which bound ended it; ``cut`` whether a
    constraint refused anything; ``raised`` counts the steps that raise.
    """

    model: Model
    steps: Steps
    parents: dict[int, Move | None] = field(default_factory=dict)
    moves: dict[int, tuple[Move, ...]] = field(default_factory=dict)
    first: dict[Goal, Move | int] = field(default_factory=dict)
    whole: bool = False
    stopped: str = ""
    cut: bool = False
    raised: int = 0

    def goals(self) -> list[Goal]:
        """Return the actions and witnesses that the spec has."""
        actions = dict.fromkeys(self.model.action_names().values())
        return [("action", name) for name in actions] + [("witness", n) for n in self.witnesses()]

    def witnesses(self) -> list[str]:
        """Return the names of its witnesses."""
        return [prop.name for prop in self.model.properties if prop.of_kind.witness]

    def missed(self) -> list[Goal]:
        """Return the goals that were not met."""
        return [goal for goal in self.goals() if goal not in self.first]

    def met(self, name: str, number: int) -> bool:
        """Return whether a state is a witness's."""
        prop = next(prop for prop in self.model.properties if prop.name == name)
        return self.model.holds(prop.whole, PlainView(self.steps.states[number]), None)

    def way(self, number: int) -> list[Move]:
        """Return the shortest way to a state."""
        found: list[Move] = []
        while (move := self.parents[number]) is not None:
            found.append(move)
            number = move[0]
        return found[::-1]

    def way_to(self, goal: Goal) -> list[Move]:
        """Return the shortest way that meets a goal."""
        where = self.first[goal]
        return self.way(where) if isinstance(where, int) else [*self.way(where[0]), where]


def reach(model: Model, bounds: Bounds, *, everything: bool) -> Reached:
    """Go through the states of a spec, level by level, until every goal is met; or, for
    ``everything``, through all.
    """
    reached = Reached(model, Steps(model))
    try:
        _Search(reached, bounds).go(everything)
    except CutShort as cut:
        reached.stopped = said_of(cut)
    model.look_outside()
    return reached


@dataclass
class _Search:
    reached: Reached
    bounds: Bounds

    def __post_init__(self) -> None:
        self.model, self.steps = self.reached.model, self.reached.steps
        self.names = self.model.action_names()
        self.witnesses = [p for p in self.model.properties if p.of_kind.witness]

    def go(self, everything: bool) -> None:
        """Expand one level after the other."""
        reached = self.reached
        level = [n for n in map(self.steps.number, self.model.initial_states) if self.new(n, None)]
        for depth in count(1):
            reached.whole = not level
            if reached.whole or (not everything and not reached.missed()):
                return
            if depth == self.levels():
                reached.stopped = f"the bound on depth, {depth:,} levels"
                return
            following: list[int] = []
            for number in level:
                reached.stopped = self.full()
                if reached.stopped:
                    return
                following += self.expand(number)
            level = following

    def levels(self) -> int | None:
        """Return the levels that are kept at most."""
        limits = [limit for limit in (self.bounds.depth, self.model.max_depth) if limit is not None]
        return min(limits, default=None)

    def full(self) -> str:
        """Return the bound that was met, if one was."""
        if self.bounds.interrupted():
            return "it was interrupted"
        over = len(self.reached.parents) > self.bounds.states
        return f"the bound of {self.bounds.states:,} states" if over else ""

    def expand(self, number: int) -> list[int]:
        """Take every step from a state; the states that are new."""
        moves, found = [], []
        for action in self.model.actions:
            for way in self.steps.ways(number, action):
                if way.error is not None:
                    self.reached.raised += 1
                    continue
                move = (number, Step(action.index, way.script), way.after)
                self.take(("action", self.names[action.index]), move)
                if not self.holds(self.model.step_constraints, way.after, number):
                    continue
                moves.append(move)
                if self.new(way.after, move):
                    found.append(way.after)
        self.reached.moves[number] = tuple(moves)
        return found

    def take(self, goal: Goal, move: Move) -> None:
        """Note that an action was taken; the first time that it changes something is the one."""
        known = self.reached.first.get(goal)
        if known is None or (isinstance(known, tuple) and known[0] == known[2] != move[2]):
            self.reached.first[goal] = move

    def new(self, number: int, move: Move | None) -> bool:
        """Note how a state was reached; whether it is new, and inside the constraints."""
        if number in self.reached.parents:
            return False
        self.reached.parents[number] = move
        view = PlainView(self.steps.states[number])
        for prop in self.witnesses:
            if ("witness", prop.name) not in self.reached.first:
                if self.model.holds(prop.whole, view, None):
                    self.reached.first["witness", prop.name] = number
        return self.holds(self.model.constraints, number)

    def holds(
        self, constraints: Sequence[Property], number: int, before: int | None = None
    ) -> bool:
        """Return whether constraints keep a state, or the step to it."""
        if not constraints:
            return True
        view = PlainView(self.steps.states[number])
        old = PlainView(self.steps.states[before]) if before is not None else None
        kept = all(self.model.holds(one.whole, view, old) for one in constraints)
        self.reached.cut = self.reached.cut or not kept
        return kept
