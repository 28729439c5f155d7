"""Random walks: many behaviours looked at quickly, none proved.

A walk starts in a random initial state and takes random steps, every (action, choices) that is
possible with equal chance. What a constraint refuses is judged and not walked on from, as in a
check (`checker.contract.search`, rule 3). Equal seeds give equal walks. A simulation can find a
violation; it never says "holds".
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from statewalk.checker.contract.search import ASSERTION, DEADLOCK, NO_ERROR, Finding, Step
from statewalk.checker.machine.places import Place
from statewalk.checker.machine.watch import CutShort, Watchdog
from statewalk.checker.states.attempts import attempts
from statewalk.dsl.model import WITNESS_KINDS
from statewalk.dsl.state.plain_view import PlainView, apply_writes

if TYPE_CHECKING:
    from statewalk.dsl.model import Model, Property


@dataclass
class Simulation:
    """What some walks met. ``findings`` hold a violation of each property that was violated."""

    seed: int
    runs: int = 0
    steps: int = 0
    longest: int = 0
    fired: Counter[str] = field(default_factory=Counter)
    ended: int = 0
    findings: dict[str, Finding] = field(default_factory=dict)
    witnesses: Counter[str] = field(default_factory=Counter)
    cut: Counter[str] = field(default_factory=Counter)  # by constraint, what it refused
    walks: list[tuple[int, tuple[Step, ...]]] = field(default_factory=list)  # that met no violation
    running: Place | None = None  # where the spec was, if it had to be ended


@dataclass(frozen=True)
class _Move:
    step: Step
    after: Any = None
    error: BaseException | None = None


def simulate(
    model: Model,
    *,
    runs: int = 100,
    depth: int = 100,
    seed: int = 0,
    interrupted: Callable[[], bool] = lambda: False,
) -> Simulation:
    """Walk ``runs`` times, up to ``depth`` steps each, or as many as the spec's own bound allows;
    stops at the end of a walk that found a violation.
    """
    result = Simulation(seed)
    if model.max_depth is not None:  # levels: the last one is not expanded
        depth = min(depth, model.max_depth - 1)
    source = random.Random(seed)
    with Watchdog():
        try:
            while result.runs < runs and not result.findings and not interrupted():
                result.runs += 1
                _walk(model, source, depth, result)
        except CutShort as cut:
            result.running = cut.place
    model.look_outside()
    return result


def _walk(model: Model, source: random.Random, depth: int, result: Simulation) -> None:
    initial = source.randrange(len(model.initial_states))
    walk = _Walk(model, result, initial, dict(model.initial_states[initial]))
    try:
        going = walk.look()
        while going and len(walk.steps) < depth:
            going = walk.go_on(source)
    except _RaisedError as raised:
        finding = Finding(NO_ERROR, "error", initial, tuple(walk.steps), raised.step, raised.error)
        result.findings[NO_ERROR] = finding
    if not result.findings:
        result.walks.append((initial, tuple(walk.steps)))
    result.longest = max(result.longest, len(walk.steps))
    result.witnesses.update(walk.met)


class _RaisedError(Exception):
    """A property, constraint or terminal predicate raised; ``step`` where it is about a step."""

    def __init__(self, error: Exception, step: Step | None) -> None:
        super().__init__(str(error))
        self.error = error
        self.step = step


@dataclass
class _Walk:
    """One walk so far."""

    model: Model
    result: Simulation
    initial: int
    state: Any
    steps: list[Step] = field(default_factory=list)
    met: set[str] = field(default_factory=set)

    def go_on(self, source: random.Random) -> bool:
        """Take a random step that no constraint refuses; whether the walk can go on."""
        moves, before = self.moves(), self.state
        if not moves and self.model.check_deadlock and not self.any_holds(self.model.terminal):
            self.find(DEADLOCK, "deadlock")
        while moves and not self.result.findings:
            if self.take(moves.pop(source.randrange(len(moves)))):
                return True
            if not self.result.findings:
                self.steps.pop()
                self.state = before
        self.result.ended += not self.result.findings or DEADLOCK in self.result.findings
        return False

    def take(self, move: _Move) -> bool:
        """Take a step and judge it; whether the walk can go on from there."""
        self.result.steps += 1
        if move.error is not None:
            failed = isinstance(move.error, AssertionError)
            self.find(*((ASSERTION, "assertion") if failed else (NO_ERROR, "error")), move)
            return False
        self.result.fired[self.model.actions[move.step.action].name] += 1
        for prop in self.model.properties:
            if prop.kind == "on_step" and not self.holds(prop, move.after, move):
                self.find(prop.name, "on_step", move)
        kept = self.keep(self.model.step_constraints, move.after, move)
        self.steps.append(move.step)
        self.state = move.after
        return self.look() and kept

    def find(self, name: str, kind: str, move: _Move | None = None) -> None:
        """Note what is wrong here, or with a step from here."""
        step, error = (move.step, move.error) if move is not None else (None, None)
        self.result.findings[name] = Finding(
            name, kind, self.initial, tuple(self.steps), step, error
        )

    def look(self) -> bool:
        """Judge the state; whether the walk can go on from here."""
        for prop in self.model.properties:
            if prop.kind in WITNESS_KINDS and self.holds(prop, self.state):
                self.met.add(prop.name)
            elif prop.kind == "always" and not self.holds(prop, self.state):
                self.find(prop.name, "always")
        return self.keep(self.model.constraints, self.state) and not self.result.findings

    def keep(
        self, constraints: tuple[Property, ...], state: Any, move: _Move | None = None
    ) -> bool:
        """Whether constraints keep a state, or the step there; what one refuses is counted."""
        refusing = next((c.name for c in constraints if not self.holds(c, state, move)), None)
        self.result.cut.update([refusing] if refusing is not None else [])
        return refusing is None

    def moves(self) -> list[_Move]:
        """Every possible step, in the order of actions and choices."""
        return [
            _Move(
                Step(action.index, attempt.choices),
                None if attempt.error else apply_writes(self.state, attempt.writes),
                attempt.error,
            )
            for action in self.model.actions
            for attempt in attempts(self.model, action, self.state)
        ]

    def any_holds(self, properties: tuple[Property, ...]) -> bool:
        return any(self.holds(p, self.state) for p in properties)

    def holds(self, prop: Property, state: Any, move: _Move | None = None) -> bool:
        """The truth of a property in a state, or of the step there. Raises _RaisedError."""
        before = PlainView(self.state) if move is not None else None
        try:
            return self.model.holds(prop.whole, PlainView(state), before)
        except Exception as error:
            raise _RaisedError(error, move.step if move is not None else None) from error
