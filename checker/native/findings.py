"""Violations of one stage, and the way to a state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from statewalk.checker.contract.search import ASSERTION, DEADLOCK, NO_ERROR, Finding, Step, parted
from statewalk.checker.native.kernels.arrays import NO_LINK, POSITION_SHIFT
from statewalk.checker.native.state import Column, NativeSearch
from statewalk.checker.native.states import unpack
from statewalk.checker.states.attempts import attempts, unrepeatable
from statewalk.dsl.errors import EngineError
from statewalk.dsl.model import Model, Property
from statewalk.dsl.state.plain_view import PlainView
from statewalk.dsl.view import State

# A violation's rank within its stage: (fingerprint, action index or -1, choices); the least counts.
Rank = tuple[int, int, tuple[int, ...]]


@dataclass(frozen=True)
class Way:
    """An initial state, the steps from there, and the state they lead to."""

    initial: int
    steps: tuple[Step, ...]
    state: State


@dataclass
class _Candidate:
    """The least violation of one property in this stage, so far: in a state, or in a step from one.

    ``link`` leads to the state from the level before; for a step it is that step's own.
    """

    key: tuple[int, int]
    kind: str
    link: int


@dataclass
class Stage:
    """The violations of one stage. Stage 0 checks the initial states, the others expand a level."""

    search: NativeSearch
    violated: bool = False
    base: int = 0  # position of the first state of `Search.level`, where that is part of a level
    events: dict[str, _Candidate] = field(default_factory=dict)
    assertion: int = NO_LINK
    error: int = NO_LINK
    step_error: int = NO_LINK
    steps: dict[str, int] = field(default_factory=dict)
    stuck: int = NO_LINK
    terminal_error: int = NO_LINK
    state_error: _Candidate | None = None

    @property
    def first(self) -> bool:
        """Return whether this is stage 0."""
        return not self.search.links

    # -- what the search tells -------------------------------------------------------------------

    def failed(self, assertion: int, error: int) -> None:
        """Links of steps that raised, the least of each kind."""
        if error < 0:
            limit = 1 << self.search.ordinal_bits
            raise EngineError("SW311", f"An action has more than {limit} outcomes in one state.")
        self.assertion = min(self.assertion, self._link(assertion))
        self.error = min(self.error, self._link(error))

    def deadlock(self, position: int) -> None:
        """A state without a step, by its position in what is expanded."""
        self.stuck = min(self.stuck, self._position(position))

    def terminal_failed(self, position: int) -> None:
        """A state in which a terminal predicate raised."""
        self.terminal_error = min(self.terminal_error, self._position(position))

    def step(self, name: str, link: int) -> None:
        """A step for which a property is false."""
        self.steps[name] = min(self.steps.get(name, NO_LINK), self._link(link))

    def step_failed(self, link: int) -> None:
        """A step for which a predicate raised."""
        self.step_error = min(self.step_error, self._link(link))

    def _link(self, link: int) -> int:
        return link if link == NO_LINK else link + (self.base << POSITION_SHIFT)

    def _position(self, position: int) -> int:
        return position if position == NO_LINK else position + self.base

    def event(self, prop: Property, key: tuple[int, int], link: int) -> None:
        """A new state, by its `Level.key`, that violates an invariant or is a witness."""
        candidate = _Candidate(key, prop.kind, link)
        known = self.events.get(prop.name)
        if known is None or candidate.key < known.key:
            self.events[prop.name] = candidate

    def check_failed(self, key: tuple[int, int], link: int) -> None:
        """A new state, by its `Level.key`, in which a predicate raised."""
        if self.state_error is None or key < self.state_error.key:
            self.state_error = _Candidate(key, "error", link)

    # -- what comes of it ------------------------------------------------------------------------

    def close(self, fingerprints: Column, lows: Column) -> None:
        """Turn the candidates into findings; ``fingerprints`` are those of the expanded level."""
        found: dict[str, Finding] = {}
        for name, candidate in self.events.items():
            way = self.way(candidate.link)
            found[name] = Finding(name, candidate.kind, way.initial, way.steps)
        if self.stuck != NO_LINK:
            way = way_to(self.search, len(self.search.links) - 1, self.stuck)
            found[DEADLOCK] = Finding(DEADLOCK, "deadlock", way.initial, way.steps)
        for name, link in self.steps.items():
            found[name] = self._step_finding(name, link)
        if self.assertion != NO_LINK and self.search.options.wants(ASSERTION):
            found[ASSERTION] = self._failed_action(ASSERTION, "assertion", self.assertion)[1]
        errors = list(self._errors(fingerprints, lows))
        if errors:
            self.search.error = True
            found[NO_ERROR] = min(errors, key=lambda e: e[0])[1]
        new = {name: found[name] for name in sorted(found) if name not in self.search.found}
        self.search.found.update(new)
        self.violated = bool(parted(new.values())[0])

    def way(self, link: int) -> Way:
        """Return the way to a new state."""
        if self.first:
            return Way(link, (), self.search.model.initial_states[link])
        return follow(self.search, link)

    def _errors(self, fps: Column, lows: Column) -> Iterator[tuple[Rank, Finding]]:
        model, options = self.search.model, self.search.options

        def fingerprint(position: int) -> int:
            return _whole(fps, lows, position)

        if self.error != NO_LINK:
            position = unpack(self.error, self.search.ordinal_bits)[0]
            rank, finding = self._failed_action(NO_ERROR, "error", self.error)
            yield (fingerprint(position), *rank), finding
        if self.step_error != NO_LINK:
            position = unpack(self.step_error, self.search.ordinal_bits)[0]
            finding = self._step_finding(NO_ERROR, self.step_error)
            assert finding.failing is not None
            yield (fingerprint(position), finding.failing.action, finding.failing.choices), finding
        if self.terminal_error != NO_LINK:
            way = way_to(self.search, len(self.search.links) - 1, self.terminal_error)
            error = _raised(model, model.terminal, way.state)
            finding = Finding(NO_ERROR, "error", way.initial, way.steps, None, error)
            yield (fingerprint(self.terminal_error), -1, ()), finding
        if self.state_error is not None:
            way = self.way(self.state_error.link)
            checked = [p for p in self.search.roots.watched if p.name not in self.search.found]
            error = _raised(model, checked, way.state)
            finding = Finding(NO_ERROR, "error", way.initial, way.steps, None, error)
            high, low = self.state_error.key
            rank_of = (high << 64) + low if options.fingerprint_bits == 128 else high
            yield (rank_of, -1, ()), finding

    def _failed_action(
        self, name: str, kind: str, link: int
    ) -> tuple[tuple[int, tuple[int, ...]], Finding]:
        """Return the finding of a step that raised; its rank without the fingerprint."""
        position, index, _ = unpack(link, self.search.ordinal_bits)
        way = way_to(self.search, len(self.search.links) - 1, position)
        for attempt in attempts(self.search.model, self.search.model.actions[index], way.state):
            if attempt.error is not None and isinstance(attempt.error, AssertionError) == (
                kind == "assertion"
            ):
                step = Step(index, attempt.choices)
                finding = Finding(name, kind, way.initial, way.steps, step, attempt.error)
                return (index, attempt.choices), finding
        label = self.search.model.actions[index].label
        raise unrepeatable("SW310", f"{label} raised, and does not raise again.")

    def _step_finding(self, name: str, link: int) -> Finding:
        """Return the finding of a step that violates a property, or whose check raised."""
        way = way_to(self.search, len(self.search.links) - 1, link >> POSITION_SHIFT)
        after = follow(self.search, link)
        steps, error = self.search.roots.steps, None
        if name == NO_ERROR:
            error = _raised(self.search.model, steps, after.state, way.state)
        kind = "error" if error else next(p.kind for p in steps if p.name == name)
        return Finding(name, kind, way.initial, way.steps, after.steps[-1], error)


def _whole(fps: Column, lows: Column, position: int) -> int:
    """Return a fingerprint of 64 or 128 bits."""
    high = int(fps[position])
    return (high << 64) + int(lows[position]) if len(lows) else high


def _raised(
    model: Model, properties: tuple[Property, ...] | list[Property], state: State,
    before: State | None = None,
) -> Exception | None:  # fmt: skip
    """Return what the first property raises that raises in a state or step."""
    for prop in properties:
        try:
            model.holds(prop.whole, PlainView(state), None if before is None else PlainView(before))
        except Exception as error:
            return error
    return None


def way_to(search: NativeSearch, depth: int, position: int) -> Way:
    """Return the canonical way to a state of a level, by replaying the links in Python."""
    chain: list[int] = []
    for at in range(depth, 0, -1):
        chain.append(int(search.links[at][position]))
        position = unpack(chain[-1], search.ordinal_bits)[0]
    initial = int(search.links[0][position])
    state: State = search.model.initial_states[initial]
    steps: list[Step] = []
    for link in reversed(chain):
        step, state = replay(search, state, link)
        steps.append(step)
    return Way(initial, tuple(steps), state)


def follow(search: NativeSearch, link: int) -> Way:
    """Return the way to the state that a link from the last level leads to."""
    way = way_to(search, len(search.links) - 1, unpack(link, search.ordinal_bits)[0])
    step, state = replay(search, way.state, link)
    return Way(way.initial, (*way.steps, step), state)


def replay(search: NativeSearch, state: State, link: int) -> tuple[Step, State]:
    """Take the step that a link names."""
    _, index, ordinal = unpack(link, search.ordinal_bits)
    taken = 0
    for attempt in attempts(search.model, search.model.actions[index], state):
        if attempt.error is None:
            if taken == ordinal:
                after = search.layout.state(
                    search.layout.changed(search.layout.row(state), attempt.writes)
                )
                return Step(index, attempt.choices), after
            taken += 1
    label = search.model.actions[index].label
    raise unrepeatable("SW310", f"A step of {label} was found, and cannot be taken again.")
