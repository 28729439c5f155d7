"""A random walk by running the spec: what one is, and what it counts.

A walk starts in a random initial state and takes random steps, every (action, choices) that is
possible with equal chance. What a constraint refuses is judged and not walked on from, as in a
check (`checker.contract.search`, rule 3); another step is drawn in its place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from statewalk.checker.behaviours.strategies import Uniform
from statewalk.checker.contract.search import ASSERTION, DEADLOCK, NO_ERROR, Finding, Step
from statewalk.checker.machine.places import Place
from statewalk.checker.states.attempts import attempts
from statewalk.dsl.state.plain_view import PlainView, apply_writes

if TYPE_CHECKING:
    from statewalk.checker.behaviours.strategies import Strategy
    from statewalk.dsl.model import Model, Property
    from statewalk.dsl.view import Path


@dataclass
class Simulation:
    """The results of some walks.

    ``findings`` hold a violation of each property that was violated.
    """

    seed: int
    runs: int = 0
    steps: int = 0
    longest: int = 0
    fired: Counter[str] = field(default_factory=Counter)
    ended: int = 0
    findings: dict[str, Finding] = field(default_factory=dict)
    witnesses: Counter[str] = field(default_factory=Counter)
    cut: Counter[str] = field(default_factory=Counter)  # by constraint, what it refused
    walks: list[tuple[int, tuple[Step, ...]]] = field(default_factory=list)
    """Those that met no violation, where they are kept."""
    running: Place | None = None  # where the spec was, if it had to be ended


@dataclass(frozen=True)
class Move:
    """A possible step: what it writes and where it leads, or what it raises."""

    step: Step
    writes: Mapping[Path, Any]
    after: Any = None
    error: BaseException | None = None


def walk_plainly(
    model: Model, result: Simulation, number: int, depth: int, keep: bool = False,
    strategy: Strategy | None = None,
) -> None:  # fmt: skip
    """Walk up to ``depth`` steps, as the walk of that number; with ``keep`` its steps are kept."""
    chance = Chance.of_walk(result.seed, number)
    initial = chance.below(len(model.initial_states))
    walk = Walk(model, result, initial, dict(model.initial_states[initial]))
    if strategy is not None:
        strategy.begin(chance, result.longest or depth)
        walk.strategy = strategy
    walk.to_its_end(chance, depth, keep)


class RaisedError(Exception):
    """A property, constraint or terminal predicate raised; ``step`` where it is about a step."""

    def __init__(self, error: Exception, step: Step | None) -> None:
        super().__init__(str(error))
        self.error = error
        self.step = step


@dataclass
class Walk:
    """One walk so far, by running the spec; it defines what compiled walks do."""

    model: Model
    result: Simulation
    initial: int
    state: Any
    steps: list[Step] = field(default_factory=list)
    met: set[str] = field(default_factory=set)
    strategy: Strategy = field(default_factory=Uniform)

    def to_its_end(
        self, chance: Chance, depth: int, keep: bool = False, looked: bool = False
    ) -> None:
        """Go on up to ``depth`` steps, and count the walk; ``looked`` if its state was judged."""
        result = self.result
        result.runs += 1
        try:
            going = looked or self.look()
            while going and len(self.steps) < depth:
                going = self.go_on(chance)
        except RaisedError as raised:
            result.findings[NO_ERROR] = Finding(
                NO_ERROR, "error", self.initial, tuple(self.steps), raised.step, raised.error
            )
        if keep and not result.findings:
            result.walks.append((self.initial, tuple(self.steps)))
        result.longest = max(result.longest, len(self.steps))
        result.witnesses.update(self.met)

    def go_on(self, chance: Chance) -> bool:
        """Take a random step that no constraint refuses; whether the walk can go on."""
        moves, before = self.moves(), self.state
        self.find_deadlock(moves)
        while moves and not self.result.findings:
            if self.take(moves.pop(self.strategy.pick(moves, chance))):
                return True
            if not self.result.findings:
                self.steps.pop()
                self.state = before
        self.result.ended += not self.result.findings or DEADLOCK in self.result.findings
        return False

    def find_deadlock(self, moves: list[Move]) -> None:
        """Note a deadlock where these are all possible steps, and it is one."""
        stuck = all(self.model.actions[move.step.action].fault for move in moves)
        if stuck and self.model.check_deadlock and not self.any_holds(self.model.terminal):
            self.find(DEADLOCK, "deadlock")

    def take(self, move: Move) -> bool:
        """Take a step and judge it; whether the walk can go on from there."""
        self.result.steps += 1
        if move.error is not None:
            failed = isinstance(move.error, AssertionError)
            self.find(*((ASSERTION, "assertion") if failed else (NO_ERROR, "error")), move)
            return False
        self.result.fired[self.model.actions[move.step.action].name] += 1
        for prop in self.model.properties:
            kind = prop.of_kind
            if kind.over == "steps" and self.holds(prop, move.after, move) is kind.sought:
                self.find(prop.name, prop.kind, move)
        kept = self.keep(self.model.step_constraints, move.after, move)
        self.steps.append(move.step)
        self.state = move.after
        return self.look() and kept

    def find(self, name: str, kind: str, move: Move | None = None) -> None:
        """Note what is wrong here, or with a step from here."""
        step, error = (move.step, move.error) if move is not None else (None, None)
        self.result.findings[name] = Finding(
            name, kind, self.initial, tuple(self.steps), step, error
        )

    def look(self) -> bool:
        """Judge the state; whether the walk can go on from here."""
        for prop in self.model.properties:
            kind = prop.of_kind
            if kind.over == "states" and self.holds(prop, self.state) is kind.sought:
                if kind.witness:
                    self.met.add(prop.name)
                else:
                    self.find(prop.name, prop.kind)
        return self.keep(self.model.constraints, self.state) and not self.result.findings

    def keep(self, constraints: tuple[Property, ...], state: Any, move: Move | None = None) -> bool:
        """Return whether constraints keep a state, or the step there; what one refuses is
        counted.
        """
        refusing = next((c.name for c in constraints if not self.holds(c, state, move)), None)
        self.result.cut.update([refusing] if refusing is not None else [])
        return refusing is None

    def moves(self, only: int | None = None) -> list[Move]:
        """Return every possible step, or those of one action, in the order of choices."""
        return [
            Move(
                Step(action.index, attempt.choices),
                attempt.writes,
                None if attempt.error else apply_writes(self.state, attempt.writes),
                attempt.error,
            )
            for action in (
                self.model.actions if only is None else self.model.actions[only : only + 1]
            )
            for attempt in attempts(self.model, action, self.state)
        ]

    def any_holds(self, properties: tuple[Property, ...]) -> bool:
        return any(self.holds(p, self.state) for p in properties)

    def holds(self, prop: Property, state: Any, move: Move | None = None) -> bool:
        """Return the truth of a property in a state, or of the step there. Raises RaisedError."""
        before = PlainView(self.state) if move is not None else None
        try:
            return self.model.holds(prop.whole, PlainView(state), before)
        except Exception as error:
            raise RaisedError(error, move.step if move is not None else None) from error


_WORD = (1 << 64) - 1
_GAP = 0x9E3779B97F4A7C15


class Chance:
    """The stream of a walk; ``at`` says how far it is.

    Source: splitmix64, Steele et al., OOPSLA 2014, with the shifts of `walking.scramble`
    """

    __slots__ = ("at",)

    def __init__(self, at: int) -> None:
        self.at = at

    @classmethod
    def of_walk(cls, seed: int, walk: int) -> Chance:
        """Return the stream of the n-th walk."""
        return cls(_scrambled((_scrambled((seed + _GAP) & _WORD) + walk * _GAP) & _WORD))

    def below(self, n: int) -> int:
        """Return a number below n (at most 2³²), each with equal chance but for a part in 2³²
        / n.
        """
        self.at = (self.at + _GAP) & _WORD
        return ((_scrambled(self.at) >> 32) * n) >> 32


def _scrambled(word: int) -> int:
    word = ((word ^ (word >> 31)) * 0xBF58476D1CE4E5B9) & _WORD
    word = ((word ^ (word >> 29)) * 0x94D049BB133111EB) & _WORD
    return word ^ (word >> 32)
