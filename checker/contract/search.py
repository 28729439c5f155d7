"""The engine contract: what a search is asked, what it answers.

Contract of ``explore(model, options) -> Exploration``, the same for every engine
  1. Breadth first by levels. Level 0 holds the distinct initial states.
  2. ``generated`` counts initial states (before removing equal ones) and every successor computed,
     duplicates and self-loops included; ``distinct`` the states kept; ``depth`` the number of
     levels.
  3. A state outside a constraint, and a step that a step constraint refuses, are generated and
     their properties checked, but such a state is neither kept nor expanded. (As in TLC.)
  4. Stage k expands level k: it finds deadlocks and failed assertions of level k, violated steps
     from it, and violated states of level k+1. A search that finds a violation finishes the stage,
     then stops, unless ``keep_going`` or one of ``awaited`` is not violated yet; level 0 is checked
     in a stage of its own before the first.
  5. One finding per property, from the first stage that has one, and the least of that stage:
     states by fingerprint; steps and failures by (fingerprint of the source, action index,
     choices). The trace to a state takes, from the end backwards, the predecessor in the level
     before with the least (fingerprint, action index, choice indices).
  6. With a view, hidden slots are left out of identity and fingerprint; the kept representative of
     a state is the one reached along the trace of rule 5. Nothing that decides reads them
     (`checker.engines.hidden`), so that what is found is found without the view too.
  7. Bounds: ``max_depth`` levels are kept at most; ``max_states`` ends the search after the stage
     in which it is reached; so do time, memory and interruption. ``stopped`` tells, ``complete``
     is true only if nothing was left out but what constraints cut.
  8. An exception of the spec other than `AssertionError` ends the search after the stage: a
     finding of kind ``error``. Equal results for equal input, whatever the number of threads.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from statewalk.checker.contract.options import asked_for
from statewalk.checker.contract.stops import COUNTED, StoppedBy, counted_bounds
from statewalk.checker.machine.places import Place
from statewalk.dsl.kinds import OfKind, Over
from statewalk.dsl.model import Model, Property

ASSERTION = "Assertion"
DEADLOCK = "Deadlock"
NO_ERROR = "no_error"


@dataclass(frozen=True)
class Progress:
    """The progress of a running search; sizes in states, memory in bytes, times in seconds.

    ``widest`` is the variable with most distinct values so far, with their number; ``saved`` says
    where the last checkpoint is, ``disk`` from which depth on states are in files, and how many
    bytes; ``warnings`` are those of the exploration.
    """

    level: int
    generated: int
    distinct: int
    queue: int
    seconds: float
    memory: int = 0
    fresh: Mapping[int, int] = field(default_factory=dict)
    levels: tuple[int, ...] = ()
    widest: tuple[str, int] | None = None
    saved: str = ""
    warnings: tuple[str, ...] = ()
    fired: Mapping[int, int] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    disk: tuple[int, int] | None = None


@dataclass(frozen=True)
class SearchOptions:
    """The properties and bounds of a search. ``properties`` None means all (names otherwise,
    `Deadlock` included). ``awaited`` are those, by name or family, without which no violation ends
    the search; ``same`` are names of properties that are found with others, of which it gives one.
    ``premises`` are names of properties that the spec does not have: the search only looks for
    states that make them true (`checker.verdict.guards`).

    ``engine_settings`` mean something to one engine only
    (`checker.spark.session.settings.Settings`). ``checkpoint`` is a folder to which an engine that
    can do so saves the search now and then; with ``resume`` it goes on from what is there.
    ``checkpoint_every`` seconds lie at least between two times; more where saving would take more
    than a small part of the time. ``scratch`` is a folder for what does not fit in memory, which is
    made where it is needed and taken away afterwards. ``programs`` says what the native
    engine may translate (`checker.native.programs`); "whole" keeps one slot for each set.
    ``without`` names the functions that get no program; the others get one after so many
    evaluations, ``program_after``. The states there would be without a field are counted for the
    fields that no step reads; with ``every_field`` for all (`checker.engines.fields`).
    ``resets`` is a `checker.engines.resets.Rule`, for the native engine.
    """

    properties: tuple[str, ...] | None = None
    premises: tuple[str, ...] = ()
    keep_going: bool = False
    awaited: tuple[str, ...] = ()
    same: Mapping[str, str] = field(default_factory=dict)
    view: bool = False
    symmetry: bool = False
    max_depth: int | None = None
    max_states: int | None = None
    max_memory: int | None = None
    timeout: float | None = None
    threads: int = 1
    fingerprint_bits: int = 64
    checkpoint: str | None = None
    checkpoint_every: float = 0.0
    resume: bool = False
    scratch: str | None = None
    every_field: bool = False
    programs: Literal["all", "whole", "none"] = "all"
    without: frozenset[str] = frozenset()
    program_after: int = 48
    resets: Any = None
    engine_settings: Mapping[str, Any] = field(default_factory=dict)
    on_progress: Callable[[Progress], None] | None = None
    interrupted: Callable[[], bool] = lambda: False

    def wants(self, name: str) -> bool:
        """Return whether a property is to be checked."""
        return asked_for(name, self.properties)

    def wanted(self, model: Model, over: Over) -> list[Property]:
        """Return the properties to be checked that are over states, steps, ...; witnesses last."""
        kept = (p for p in model.properties if p.of_kind.over == over)
        return sorted((p for p in kept if self.wants(p.name)), key=lambda p: p.of_kind.witness)

    def ends_with(self, found: Iterable[Finding]) -> bool:
        """Return whether a stage with a violation is the last one, by what is found until then."""
        names = {f.property for f in parted(found)[0]}
        names |= {self.same.get(name, name) for name in names}
        families = {name.partition("(")[0] for name in names}
        return not self.keep_going and (names | families).issuperset(self.awaited)

    def urgent(self, seconds: float) -> StoppedBy | None:
        """Return reasons to stop in the middle of a stage."""
        if self.interrupted():
            return "interrupt"
        return "time" if self.timeout is not None and seconds > self.timeout else None

    def ended(
        self, found: Iterable[Finding], counts: SearchCounts, *, error: bool, violated: bool
    ) -> StoppedBy | None:
        """Return reasons to stop between stages; what the last one came to is said."""
        if error:
            return "error"
        return "violation" if violated and self.ends_with(found) else self.full(counts)

    def full(self, counts: SearchCounts) -> StoppedBy | None:
        """Return the bound that counts have reached."""
        for reason, stop in COUNTED.items():
            most = getattr(self, stop.option)
            if most is not None and getattr(counts, stop.counts) >= most:
                return reason
        return None

    def unbounded(self, depth: int | None = None) -> SearchOptions:
        """These options without bounds on counts, but for a depth."""
        none: dict[str, Any] = dict.fromkeys(counted_bounds(self))
        return replace(self, **{**none, "max_depth": depth})


@dataclass(frozen=True)
class Step:
    """A transition by name: the action instance and the choices it took."""

    action: int
    choices: tuple[int, ...] = ()


@dataclass(frozen=True)
class Finding(OfKind):
    """A violated property, a reached witness, or an error, with the way there.

    ``initial`` indexes `Model.initial_states`; ``steps`` lead from there. For kinds ``assertion``
    and ``error`` in an action, ``failing`` is the step that could not be completed; ``error`` what
    it raised, where that is at hand.
    """

    property: str
    kind: str
    initial: int
    steps: tuple[Step, ...]
    failing: Step | None = None
    error: BaseException | None = None

    @builtins.property
    def length(self) -> int:
        """Transitions, the failing one included."""
        return len(self.steps) + (self.failing is not None)


def parted(found: Iterable[Finding]) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """(what is violated or an error, witnesses)"""
    every = tuple(found)
    witnesses = tuple(f for f in every if f.of_kind.witness)
    return tuple(f for f in every if not f.of_kind.witness), witnesses


def finding_out(finding: Finding) -> dict[str, Any]:
    """Return a finding as JSON has it, without what it raised."""

    def step(s: Step | None) -> list[Any] | None:
        return None if s is None else [s.action, list(s.choices)]

    return {
        "property": finding.property,
        "kind": finding.kind,
        "initial": finding.initial,
        "steps": [step(s) for s in finding.steps],
        "failing": step(finding.failing),
    }


def finding_in(data: Mapping[str, Any]) -> Finding:
    """Return the finding again, without what it raised."""

    def step(s: list[Any]) -> Step:
        return Step(s[0], tuple(s[1]))

    failing = data["failing"]
    return Finding(
        data["property"],
        data["kind"],
        data["initial"],
        tuple(map(step, data["steps"])),
        None if failing is None else step(failing),
    )


@dataclass(frozen=True)
class SearchCounts:
    """See the contract, rule 2."""

    initial: int
    distinct: int
    generated: int
    depth: int


Key = tuple[str, str]
"""(class, name) of a field."""


@dataclass(frozen=True)
class Without:
    """The number of states there would be ``without`` some fields, those of ``keys``, if what is
    left did the same; ``values`` is how many one instance's field has had, at most.
    """

    keys: tuple[Key, ...]
    values: int
    without: float


@dataclass(frozen=True)
class Exploration:
    """The result of a search. Mappings by action index: ``fired`` counts transitions, ``fresh`` new
    states.

    ``cut`` counts, per constraint, the states (or steps) it refused. ``statistics`` are the
    engine's own figures; ``warnings`` tell what to know of how the search was saved. ``running`` is
    where the spec was when it had to be ended. ``kept`` is what an engine kept of its steps, for
    what is asked next (`checker.engines.table`). ``fields`` tell how many states, about, there
    would be without fields; empty where that was not counted.
    """

    engine: str
    counts: SearchCounts
    levels: tuple[int, ...]
    findings: tuple[Finding, ...]
    witnesses: tuple[Finding, ...]
    fired: Mapping[int, int]
    fresh: Mapping[int, int]
    complete: bool
    stopped: StoppedBy | None
    seconds: float
    queue: int = 0
    cut: Mapping[str, int] = field(default_factory=dict)
    statistics: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    running: Place | None = None
    fields: tuple[Without, ...] = field(default=(), compare=False)
    kept: Any = field(default=None, compare=False, repr=False)


class Engine(Protocol):
    """An engine module offers this."""

    def explore(self, model: Model, options: SearchOptions) -> Exploration: ...


class Pass:
    """A part of a check around its search (`checker.passes`); by default it changes nothing."""

    def before(self, model: Model, asked: SearchOptions) -> tuple[Model, SearchOptions]:
        """Return the model to search, and what to ask of the engine."""
        return model, asked

    def after(self, found: Exploration) -> Exploration:
        """Return what was found, for the pass outside; note what this one decides."""
        return found
