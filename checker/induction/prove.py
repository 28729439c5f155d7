"""The check that an invariant is inductive: initial states satisfy it, and so does each
successor of a state that satisfies it, reachable or not.

With ``k`` steps, a successor has to satisfy it that follows ``k`` states in a row that do, and so
have the states that are reached in fewer than ``k`` steps.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from statewalk.checker.contract.options import asked_for
from statewalk.checker.contract.search import ASSERTION, NO_ERROR, Finding, Step
from statewalk.checker.engines.layout import Layout
from statewalk.checker.induction.candidates import Candidates, Narrowed, narrowed_by, raised
from statewalk.checker.machine.watch import CutShort, Watchdog
from statewalk.checker.traces.trace import Trace, build
from statewalk.dsl.errors import RunError
from statewalk.dsl.model import Model, Property
from statewalk.dsl.state.plain_view import PlainView, apply_writes
from statewalk.dsl.view import Disabled, State

Verdict = Literal["inductive", "bounded", "counterexample", "sampled", "interrupted"]
MOST, SAMPLES = 1_000_000, 100_000
_INTERVAL = 256  # states between two looks whether to end


@dataclass(frozen=True)
class Taken:
    """A step from a state: where it leads, or what it raised."""

    step: Step
    state: State | None
    error: Exception | None = None
    outside: str = ""


@dataclass
class Proof:
    """The answer, and what it rests on.

    ``candidates`` is how many states the domains have, ``states`` how many of them that satisfy the
    invariant were looked at. ``weaker`` has the state in which another invariant is false, or from
    which a step violates another property, by its name; ``implied`` names the others. The finding
    of a counterexample is one of ``model``, which starts in its first state.
    """

    model: Model
    names: tuple[str, ...]
    k: int
    seed: int
    verdict: Verdict = "inductive"
    candidates: int = 0
    evaluated: int = 0
    states: int = 0
    steps: int = 0
    fired: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    finding: Finding | None = None
    trace: Trace | None = None
    base: bool = False
    outside: str = ""
    implied: tuple[str, ...] = ()
    weaker: dict[str, State] = field(default_factory=dict)
    bounds: tuple[str, ...] = ()


class _Found(Exception):
    """The signal of a counterexample."""


class _Prover:
    def __init__(self, proof: Proof, properties: Sequence[Property], narrowed: Narrowed) -> None:
        self.proof, self.model, self.k = proof, proof.model, proof.k
        self.properties, self.narrowed = properties, narrowed
        self.layout = Layout(self.model)
        self.seen: set[tuple[int, tuple[int, ...]]] = set()
        named = {prop.name for prop in properties}
        others = [p for p in self.model.properties if p.name not in named and not p.of_kind.witness]
        self.others = [p for p in others if p.of_kind.invariant]
        self.on_steps = [p for p in others if p.of_kind.over == "steps"]

    def satisfied(self) -> bool:
        """Return whether the state that is bound satisfies the invariant and the constraints."""
        return all(prop.whole() for prop in (*self.model.constraints, *self.properties))

    def broken(self, state: State) -> str:
        """Return the first property that is false in a state."""
        view = PlainView(state)
        try:
            holds = self.model.holds
            return next((p.name for p in self.properties if not holds(p.whole, view)), "")
        except Exception as error:
            raise raised(self.model, state, error) from error

    # -- initial states ----------------------------------------------------------------------------

    def check_base(self) -> None:
        """Raises _Found where a state within fewer than ``k`` steps does not satisfy it."""
        for at, state in enumerate(self.model.initial_states):
            if outside := self.narrowed.outside(state):
                said = f"--domain leaves out an initial state: {outside}."
                raise RunError("SW337", said, help="Add the value to the option.")
            self._reach(at, state, state, ())

    def _reach(self, at: int, start: State, state: State, path: tuple[Step, ...]) -> None:
        if name := self.broken(state):
            self._find(Finding(name, "always", at, path), start, base=True)
        if len(path) + 1 < self.k and self._is_new(state, -len(path) - 1):
            for taken in self.steps_of(state):
                if taken.state is not None:
                    self._reach(at, start, taken.state, (*path, taken.step))

    # -- steps -------------------------------------------------------------------------------------

    def check(self, state: State) -> None:
        """Look at the steps from a state that satisfies the invariant. Raises _Found."""
        self.proof.states += 1
        for prop in self.others:
            if prop.name not in self.proof.weaker:
                if not self._holds(prop, state):
                    self.proof.weaker[prop.name] = state
        self._go_on(state, state, ())

    def _go_on(self, start: State, state: State, path: tuple[Step, ...]) -> None:
        last = len(path) + 1 == self.k
        for taken in self.steps_of(state):
            steps = (*path, taken.step)
            if taken.state is None:
                if last:
                    failed = isinstance(taken.error, AssertionError)
                    name, kind = (ASSERTION, "assertion") if failed else (NO_ERROR, "error")
                    found = Finding(name, kind, 0, path, taken.step, taken.error)
                    self._find(found, start)
                continue
            if not path:
                self._look_at_step(state, taken.state)
            if last and taken.outside:
                name = self.properties[0].name
                self._find(Finding(name, "always", 0, steps), start, outside=taken.outside)
            if name := self.broken(taken.state):
                if last:
                    self._find(Finding(name, "always", 0, steps), start)
            elif not last and not taken.outside and self._is_new(taken.state, len(steps)):
                self._go_on(start, taken.state, steps)

    def _look_at_step(self, before: State, after: State) -> None:
        for prop in self.on_steps:
            if prop.name not in self.proof.weaker and not self._holds(prop, after, before):
                self.proof.weaker[prop.name] = before

    def _holds(self, prop: Property, state: State, before: State | None = None) -> bool:
        """Return the truth of another property; where it raises it is not implied."""
        then = None if before is None else PlainView(before)
        try:
            return self.model.holds(prop.whole, PlainView(state), then)
        except Exception:
            return False

    def steps_of(self, state: State) -> Iterator[Taken]:
        """Yield the steps from a state that the step constraints keep."""
        for action in self.model.actions:
            for view in PlainView.runs(state):
                try:
                    self.model.take(action, view)
                except Disabled:
                    continue
                except Exception as error:
                    yield Taken(Step(action.index, view.taken), None, error)
                    continue
                after = apply_writes(state, view.writes)
                if all(
                    self.model.holds(limit.whole, PlainView(after), PlainView(state))
                    for limit in self.model.step_constraints
                ):
                    self.proof.steps += 1
                    self.proof.fired[action.name] += 1
                    outside = self.narrowed.outside(view.writes)
                    yield Taken(Step(action.index, view.taken), after, None, outside)

    def _is_new(self, state: State, depth: int) -> bool:
        key = (depth, self.layout.row(state))
        new = key not in self.seen
        self.seen.add(key)
        return new

    def _find(
        self, finding: Finding, start: State, *, base: bool = False, outside: str = ""
    ) -> None:
        if not base:
            self.proof.model = replace(self.model, initial_states=(start,))
        self.proof.finding, self.proof.verdict = finding, "counterexample"
        self.proof.base, self.proof.outside = base, outside
        raise _Found


def prove(
    model: Model,
    names: Sequence[str],
    *,
    k: int = 1,
    most: int = MOST,
    samples: int = SAMPLES,
    seed: int = 0,
    domains: Sequence[str] = (),
    timeout: float | None = None,
    interrupted: Callable[[], bool] = lambda: False,
) -> Proof:
    """Return whether the conjunction of invariants is inductive, or a counterexample.

    Where ``most`` states are too few, ``samples`` states are drawn by a ``seed``. ``domains`` are
    the values of fields, as ``Class.field=range(3)``.

    Raises:  RunError[SW308, SW321, SW335, SW336, SW337]
    """
    began = time.monotonic()
    properties = invariants_named(model, names)
    proof = Proof(model, tuple(prop.name for prop in properties), k, seed)
    narrowed = narrowed_by(model, domains)
    prover = _Prover(proof, properties, narrowed)
    candidates = Candidates(model, prover.satisfied, narrowed)
    proof.candidates = candidates.count
    proof.bounds = tuple(c.name for c in (*model.constraints, *model.step_constraints))
    try:
        with Watchdog(timeout):
            prover.check_base()
            _check_all(proof, prover, candidates, (most, samples), interrupted)
        if proof.verdict == "inductive" and proof.bounds:
            proof.verdict = "bounded"
    except _Found:
        assert proof.finding is not None
        proof.trace = build(proof.model, proof.finding)
    except CutShort:
        proof.verdict = "interrupted"
    others = (*prover.others, *prover.on_steps)
    proof.implied = tuple(p.name for p in others if p.name not in proof.weaker)
    proof.evaluated = candidates.evaluated
    proof.seconds = time.monotonic() - began
    model.look_outside()
    return proof


def _check_all(
    proof: Proof, prover: _Prover, candidates: Candidates, limits: tuple[int, int],
    interrupted: Callable[[], bool],
) -> None:  # fmt: skip
    most, samples = limits
    for state in candidates.all(most):
        if state is None:
            proof.verdict = "sampled"
            break
        prover.check(state)
        if proof.states % _INTERVAL == 0 and interrupted():
            proof.verdict = "interrupted"
            return
    else:
        return
    for drawn in candidates.some(samples, proof.seed):
        prover.check(drawn)
        if proof.states % _INTERVAL == 0 and interrupted():
            proof.verdict = "interrupted"
            return


def invariants_named(model: Model, names: Sequence[str]) -> list[Property]:
    """Return the invariants of these names, or families of them. Raises RunError[SW308]."""
    known = [prop for prop in model.properties if prop.of_kind.invariant]
    found: dict[str, Property] = {}
    for name in names:
        asked = {prop.name: prop for prop in known if asked_for(prop.name, (name,))}
        if not asked:
            there = ", ".join(prop.name for prop in known) or "none"
            raise RunError(
                "SW308",
                f"There is no invariant {name}.",
                help=f"An inductive invariant is an @always property; there are: {there}.",
            )
        found |= asked
    return [*found.values()]
