"""The reference engine: plain Python over a plain View. It defines every count.

Slow on purpose: no tricks, states kept whole, so that what it says can be believed by reading it.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest

from statewalk.checker.contract.search import (
    ASSERTION,
    DEADLOCK,
    NO_ERROR,
    Exploration,
    Finding,
    Progress,
    SearchCounts,
    SearchOptions,
    Step,
    Without,
    parted,
)
from statewalk.checker.contract.stops import StoppedBy
from statewalk.checker.engines.fields import Groups, exactly
from statewalk.checker.engines.layout import Layout
from statewalk.checker.engines.repeats import Repeats
from statewalk.checker.machine.places import Place
from statewalk.checker.machine.watch import CutShort
from statewalk.checker.symmetry.breaking import STATES, Sample
from statewalk.checker.symmetry.group import Symmetry
from statewalk.dsl.kinds import OfKind
from statewalk.dsl.model import Action, Model, Outcome, Property
from statewalk.dsl.state.plain_view import PlainView
from statewalk.dsl.view import Disabled, State

Row = tuple[int, ...]
# A violation's rank within its stage: the least is reported (see the contract, rule 5).
Rank = tuple[int, int, tuple[int, ...]]


@dataclass
class Entry:
    """A state that was met: where in the search, and the least way to it from the level before."""

    row: Row
    fingerprint: int
    parent: Entry | None
    rank: Rank
    initial: int = 0

    def steps(self) -> tuple[Step, ...]:
        """Return the transitions that lead here."""
        result: list[Step] = []
        at = self
        while at.parent is not None:
            result.append(Step(at.rank[1], at.rank[2]))
            at = at.parent
        return tuple(reversed(result))

    def start(self) -> int:
        """Return index of the initial state from which the way here starts."""
        at = self
        while at.parent is not None:
            at = at.parent
        return at.initial


@dataclass
class _Candidate(OfKind):
    """The least violation of one property in the current stage, so far."""

    rank: Rank
    kind: str
    entry: Entry
    failing: Step | None = None
    error: BaseException | None = None


@dataclass
class Steps:
    """The steps of a search, by the row they are from: to which row, of which action, the how
    manieth of it there, and how.
    """

    layout: Layout | None = None
    taken: dict[Row, list[tuple[Row, int, int, Outcome]]] = field(default_factory=dict)


@dataclass
class Search:
    """The state of one search."""

    model: Model
    options: SearchOptions
    layout: Layout
    repeats: Repeats
    seen: dict[Row, Entry] = field(default_factory=dict)
    levels: list[int] = field(default_factory=list)
    generated: int = 0
    fired: Counter[int] = field(default_factory=Counter)
    fresh: Counter[int] = field(default_factory=Counter)
    cut: Counter[str] = field(default_factory=Counter)
    found: dict[str, Finding] = field(default_factory=dict)
    stage: dict[str, _Candidate] = field(default_factory=dict)
    error: bool = False
    queue: int = 0
    running: Place | None = None  # where the spec was, if it had to be ended
    steps: Steps | None = None

    @property
    def counts(self) -> SearchCounts:
        return SearchCounts(sum(self.levels[:1]), len(self.seen), self.generated, len(self.levels))

    # -- checking ------------------------------------------------------------------------------

    def report(self, name: str, candidate: _Candidate) -> None:
        """Keep the least violation per property; what an earlier stage found stands."""
        if name in self.found:
            return
        known = self.stage.get(name)
        if known is None or candidate.rank < known.rank:
            self.stage[name] = candidate

    def state_of(self, entry: Entry) -> State:
        return self.layout.state(entry.row)

    def check(self, predicate: Callable[[], bool], entry: Entry, state: State) -> bool | None:
        """Return the truth of a predicate in a state; None, and an error reported, where it
        raises.
        """
        try:
            return self.model.holds(predicate, PlainView(state))
        except Exception as error:
            rank = (entry.fingerprint, -1, ())
            self.report(NO_ERROR, _Candidate(rank, "error", entry, error=error))
            self.error = True
            return None

    def check_state(self, entry: Entry) -> None:
        """Invariants and witnesses of a newly met state."""
        state = self.state_of(entry)
        rank = (entry.fingerprint, 0, ())
        for prop in self.options.wanted(self.model, "states"):
            if prop.name not in self.found:
                if self.check(prop.whole, entry, state) is prop.of_kind.sought:
                    self.report(prop.name, _Candidate(rank, prop.kind, entry))

    def inside(self, entry: Entry) -> bool:
        """Return whether the state constraints keep a state; counts each that does not."""
        state = self.state_of(entry)
        failed = [
            c.name for c in self.model.constraints if self.check(c.whole, entry, state) is False
        ]
        self.cut.update(failed[:1])
        return not failed

    def check_step(self, source: Entry, target: Row, step: Step) -> bool:
        """Properties of one step; whether the step constraints keep it."""
        steps, limits = self.options.wanted(self.model, "steps"), self.model.step_constraints
        if not steps and not limits:
            return True
        rank = (source.fingerprint, step.action, step.choices)
        keep = True
        for prop in [*steps, *limits]:
            try:
                holds = self.step_holds(prop, source, target)
            except Exception as error:
                self.report(NO_ERROR, _Candidate(rank, "error", source, failing=step, error=error))
                self.error = True
                continue
            if not holds and prop in limits:
                self.cut[prop.name] += keep
                keep = False
            elif holds is prop.of_kind.sought:
                self.report(prop.name, _Candidate(rank, prop.kind, source, failing=step))
        return keep

    def step_holds(self, prop: Property, source: Entry, target: Row) -> bool:
        """Return the truth of a property of a step. Raises what it raises."""
        before, after = (PlainView(self.layout.state(row)) for row in (source.row, target))
        return self.model.holds(prop.whole, after, before)

    # -- moving --------------------------------------------------------------------------------

    def outcomes(self, action: Action, source: Entry, state: State) -> Iterator[Outcome]:
        """As `Model.outcomes`; exceptions of the spec become findings."""
        for view in PlainView.runs(state):
            try:
                self.model.take(action, view)
            except Disabled:
                pass
            except Exception as error:
                choices = view.taken
                failed = isinstance(error, AssertionError)
                rank = (source.fingerprint, action.index, choices)
                candidate = _Candidate(
                    rank,
                    "assertion" if failed else "error",
                    source,
                    Step(action.index, choices),
                    error,
                )
                if not failed:
                    self.error = True
                if not failed or self.options.wants(ASSERTION):
                    self.report(ASSERTION if failed else NO_ERROR, candidate)
            else:
                self.repeats.check(action, state, view)
                chosen, fair = tuple(view.chosen), tuple(view.fair)
                yield Outcome(view.taken, chosen, view.writes, None, fair)

    def targets(
        self, action: Action, source: Entry, state: State
    ) -> Iterator[tuple[Row, tuple[int, ...], Outcome | None]]:
        """Yield where an action leads, by which choices, and how where that is kept."""
        for outcome in self.outcomes(action, source, state):
            yield self.layout.changed(source.row, outcome.writes), outcome.choices, outcome

    def possible(self, source: Entry) -> Sequence[Action]:
        """Return the actions to try in a state, in their order."""
        return self.model.actions

    def expand(self, source: Entry, following: dict[Row, Entry], outside: dict[Row, Entry]) -> None:
        """All steps from one state; new states go to ``following`` (or ``outside`` the
        constraints).
        """
        state = self.state_of(source)
        stuck = True
        taken = [] if self.steps is None else self.steps.taken.setdefault(source.row, [])
        for action in self.possible(source):
            for ordinal, (row, choices, how) in enumerate(self.targets(action, source, state)):
                stuck = stuck and action.fault
                self.generated += 1
                self.fired[action.index] += 1
                if how is not None and self.steps is not None:
                    taken.append((row, action.index, ordinal, how))
                keep = self.check_step(source, row, Step(action.index, choices))
                rank = (source.fingerprint, action.index, choices)
                self.reach(source, row, rank, following if keep else outside)
        if stuck and self.model.check_deadlock and self.options.wants(DEADLOCK):
            terminal = [self.check(t.whole, source, state) for t in self.model.terminal]
            if not any(terminal):
                self.report(DEADLOCK, _Candidate((source.fingerprint, -1, ()), "deadlock", source))

    def reach(self, source: Entry, row: Row, rank: Rank, following: dict[Row, Entry]) -> None:
        """Note that a step reaches a row; keep the least way to each state of the next level."""
        identity = self.layout.identity(row)
        if identity in self.seen:
            return
        known = following.get(identity)
        if known is None:
            following[identity] = Entry(row, self.layout.fingerprint(row), source, rank)
        elif rank < known.rank:
            following[identity] = Entry(row, known.fingerprint, source, rank)

    def admit(self, following: dict[Row, Entry], outside: dict[Row, Entry]) -> list[Entry]:
        """Check the states of the next level, and keep those that the constraints keep."""
        kept = []
        for identity, entry in following.items():
            self.check_state(entry)
            if not self.model.constraints or self.inside(entry):
                self.seen[identity] = entry
                kept.append(entry)
                if entry.parent is not None:
                    self.fresh[entry.rank[1]] += 1
        for identity, entry in outside.items():
            if identity not in following:
                self.check_state(entry)
        return kept

    def end_stage(self) -> bool:
        """Turn the stage's candidates into findings; whether one of them is a violation."""
        for name, c in sorted(self.stage.items()):
            self.found[name] = Finding(
                name, c.kind, c.entry.start(), c.entry.steps(), c.failing, c.error
            )
        violated = any(not c.of_kind.witness for c in self.stage.values())
        self.stage = {}
        return violated


def explore(model: Model, options: SearchOptions) -> Exploration:
    """Breadth-first search by levels; see `checker.contract.search` for the contract."""
    return explored(model, options, None)


def explored(model: Model, options: SearchOptions, steps: Steps | None) -> Exploration:
    """Return the same; adds to ``steps``."""
    started = time.monotonic()
    symmetry = Symmetry.asked(model, options)
    sample = Sample(symmetry, options) if symmetry is not None else None
    layout = Layout(model, options.fingerprint_bits, options.view, symmetry)
    search = Search(model, options, layout, Repeats(model), steps=steps)
    if steps is not None:
        steps.layout = layout
    return run(search, sample, started)


def run(search: Search, sample: Sample | None, started: float) -> Exploration:
    """Run a search that was started to its end."""
    first: dict[Row, Entry] = {}
    for index, state in enumerate(search.model.initial_states):
        search.generated += 1
        row = search.layout.row(state)
        fingerprint = search.layout.fingerprint(row)
        first.setdefault(
            search.layout.identity(row), Entry(row, fingerprint, None, (fingerprint, -1, ()), index)
        )
    try:
        stopped = _run_levels(search, first, sample, started)
    except CutShort as cut:
        stopped, search.running = cut.reason, cut.place
        search.end_stage()  # what was found until then
    return result_of(search, stopped, time.monotonic() - started)


def _run_levels(
    search: Search, first: dict[Row, Entry], sample: Sample | None, started: float
) -> StoppedBy | None:
    """Check the initial states, then level after level; why it ended, if not by itself."""
    options = search.options
    level = search.admit(first, {})
    search.queue = len(level)
    if level:
        search.levels.append(len(level))
    violated = search.end_stage()
    tell(search, time.monotonic() - started)
    while level:
        if stopped := stop_between(search, violated, time.monotonic() - started):
            return stopped
        if sample is not None and sample.wants(len(search.levels) - 1):
            least = nsmallest(STATES, level, key=lambda entry: entry.fingerprint)
            sample.look(len(search.levels) - 1, [search.layout.state(e.row) for e in least])
        following: dict[Row, Entry] = {}
        outside: dict[Row, Entry] = {}
        rest = len(level)
        for entry in level:
            search.expand(entry, following, outside)
            rest -= 1
            if stopped := options.urgent(time.monotonic() - started):
                break
        level = search.admit(following, outside)
        search.queue = rest + len(level)
        violated = search.end_stage()
        if level:
            search.levels.append(len(level))
        tell(search, time.monotonic() - started)
        if stopped:
            return stopped
    return None


# -- when it ends, and what is told of it ----------------------------------------------------------


def stop_between(search: Search, violated: bool, seconds: float) -> StoppedBy | None:
    """Return reasons to stop between stages."""
    ended = search.options.ended(
        search.found.values(), search.counts, error=search.error, violated=violated
    )
    return ended or search.options.urgent(seconds)


def tell(search: Search, seconds: float) -> None:
    """Report what a search says of itself after a level, if wanted."""
    if search.options.on_progress is None:
        return
    search.options.on_progress(
        Progress(
            len(search.levels),
            search.generated,
            len(search.seen),
            search.queue,
            seconds,
            0,
            search.fresh,
            tuple(search.levels),
            fired=search.fired,
            findings=tuple(search.found.values()),
        )
    )


def result_of(search: Search, stopped: StoppedBy | None, seconds: float) -> Exploration:
    """Return what came of a search. Raises SpecError[SW102], see `Model.look_outside`."""
    search.model.look_outside()
    violations, witnesses = parted(search.found.values())
    return Exploration(
        engine="reference",
        counts=search.counts,
        levels=tuple(search.levels),
        findings=violations,
        witnesses=witnesses,
        fired=dict(search.fired),
        fresh=dict(search.fresh),
        complete=stopped is None,
        stopped=stopped,
        seconds=seconds,
        queue=search.queue,
        cut=dict(search.cut),
        statistics={"slots": len(search.layout.slots), **orbits_of(search)},
        running=search.running,
        fields=fields_of(search),
    )


def orbits_of(search: Search) -> dict[str, object]:
    """Under symmetry, how many states the kept ones stand for."""
    if search.layout.symmetry is None:
        return {}
    sizes = (search.layout.orbit(entry.row).size for entry in search.seen.values())
    return {"represented": sum(sizes)}


def fields_of(search: Search) -> tuple[Without, ...]:
    """Return how many states there would be without each field; nothing under symmetry, as in other
    engines.
    """
    if search.layout.symmetry is not None:
        return ()
    rows = [entry.row for entry in search.seen.values()]
    return exactly(rows, Groups(search.model, search.layout, search.options.every_field))
