"""Compares models: verdicts, counterexamples tried on the other, behaviors, states, cost."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from statewalk.checker.api import search, search_options
from statewalk.checker.compare.crossing import Crossing, cross
from statewalk.checker.contract.late import ShownPage, named
from statewalk.checker.contract.options import CheckOptions
from statewalk.checker.contract.search import Progress
from statewalk.checker.contract.stops import ended_by
from statewalk.checker.liveness.graph import Ints
from statewalk.checker.machine.limits import within
from statewalk.checker.machine.turns import in_turn
from statewalk.checker.machine.watch import CutShort
from statewalk.checker.refinement.inclusion import Inclusion, allowed, beside, followed, included
from statewalk.checker.refinement.sights import Map, by_rule, compared, left_out, looked_at
from statewalk.checker.refinement.space import Space, space_of
from statewalk.checker.traces.trace import Trace
from statewalk.checker.verdict.run import Run
from statewalk.dsl.model import Model
from statewalk.dsl.view import Path

NEAREST = 10
_NOTEBOOK = "statewalk.checker.compare.notebook"
_TELLING = "statewalk.checker.compare.telling"
Changed = Literal["", "fixed", "broken", "new", "gone", "possible", "impossible"]


@dataclass(frozen=True)
class Side:
    """One of the models compared, called ``name``, as it was checked."""

    name: str
    model: Model
    run: Run


@dataclass(frozen=True)
class Refusal:
    """The first step of one that the other has not: ``trace`` ends with it, ``beside`` is a trace
    of the other on which the same is seen up to there.

    ``allowed`` are traces of one step: those that the other has where it may be then, that of the
    same action first. Not ``sure`` where not all of them are known.
    """

    trace: Trace
    beside: Trace | None
    allowed: tuple[Trace, ...]
    sure: bool


@dataclass(frozen=True)
class Refinement:
    """The inclusion of one spec's behaviors in another's; ``whole`` if all were looked at."""

    refusal: Refusal | None
    pairs: int
    whole: bool


@dataclass(frozen=True)
class Only:
    """States of one whose sight the other has not: ``sights`` of them.

    ``nearest`` are ways to the first such on a way, the shortest of them.
    """

    sights: int
    nearest: tuple[Trace, ...]


@dataclass(frozen=True)
class Versus:
    """A model beside the base. ``forth`` asks whether it does only what the base does, ``back``
    the reverse; ``gained`` are its states that the base has not, ``lost`` those of the base.

    ``fields`` were compared, and are not the same in all states. ``bounds`` say what kept an answer
    from being whole. ``apart`` are instances of which only one has fields, so that these are not
    compared.
    """

    other: Side
    crossed: tuple[Crossing, ...]
    crossed_back: tuple[Crossing, ...]
    fields: tuple[Path, ...]
    forth: Refinement
    back: Refinement
    gained: Only
    lost: Only
    bounds: tuple[str, ...]
    apart: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False)
class Comparison:
    """A base and what was compared with it; ``left`` says which variants the spec does not allow,
    and why; ``known``, by side, what its configurations add. It has no truth value.
    """

    base: Side
    others: tuple[Versus, ...]
    left: tuple[str, ...] = ()
    known: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def sides(self) -> tuple[Side, ...]:
        """All of them, the base first."""
        return (self.base, *(versus.other for versus in self.others))

    @property
    def whole(self) -> bool:
        """Return whether every search was exhaustive and every question answered."""
        return not any(versus.bounds for versus in self.others)

    def __bool__(self) -> bool:
        said = (
            "A comparison is neither true nor false. Ask its .whole, or .run of one of its .sides."
        )
        raise TypeError(said)

    @in_turn
    def __str__(self) -> str:
        return str(named(_TELLING, "page_of")(self, "").plain())

    __repr__ = __str__

    @in_turn
    def _repr_html_(self) -> str:
        """Return what a notebook shows: the table, and the report, without scripts."""
        return str(named(_NOTEBOOK, "html_of")(self))

    @in_turn
    def _repr_markdown_(self) -> str:
        return str(named(_TELLING, "markdown_of")(self, ""))

    def explore(self) -> ShownPage:
        """Return the page to look at, within a notebook."""
        page: ShownPage = named("statewalk.checker.page.html", "page")(self)
        return page


def changed(base: Run, other: Run, name: str) -> Changed:
    """Return what became of a property."""
    before = {p.name: p for p in base.properties}.get(name)
    after = {p.name: p for p in other.properties}.get(name)
    if before is None or after is None:
        return "new" if before is None else "gone"
    verdicts = before.verdict, after.verdict
    witness = before.of_kind.witness
    if verdicts == ("violated", "holds"):
        return "possible" if witness else "fixed"
    if verdicts == ("holds", "violated"):
        return "impossible" if witness else "broken"
    return ""


def compare(
    models: Sequence[tuple[str, Model]],
    options: CheckOptions,
    *,
    chosen: Sequence[str] = (),
    seen: Map | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    interrupted: Callable[[], bool] = lambda: False,
) -> Comparison:
    """Compare models with the first of them. Limits are of each search, and of comparing.

    ``chosen`` names the fields to compare (see `sights.common`); ``seen`` says what a state of the
    others is in the first.
    """
    asked = replace(options, keep_going=True)
    sides = [
        Side(name, model, search(model, asked, on_progress=on_progress, interrupted=interrupted))
        for name, model in models
    ]
    started = time.monotonic()

    def ended() -> str:
        if interrupted():
            return ended_by(options, "interrupt", None)
        late = options.timeout is not None and time.monotonic() - started > options.timeout
        return ended_by(options, "time", None) if late else ""

    found: list[Versus] = []
    try:
        with within(sides[0].model.path, "comparing", options.timeout, options.max_memory):
            spaces = [_space(side, asked, interrupted) for side in sides]
            base = (sides[0], spaces[0])
            found.extend(
                _versus(base, pair, chosen, seen, ended)
                for pair in zip(sides[1:], spaces[1:], strict=True)
            )
    except CutShort as cut:
        ends = f"comparing was ended by {cut.reason}, {cut.place}"
        found += [_nothing(side, ends) for side in sides[1 + len(found) :]]
    return Comparison(sides[0], tuple(found))


def _nothing(other: Side, why: str) -> Versus:
    """Of a side that could not be compared."""
    unknown, none = Refinement(None, 0, whole=False), Only(0, ())
    return Versus(other, (), (), (), unknown, unknown, none, none, (why,))


def _space(side: Side, options: CheckOptions, interrupted: Callable[[], bool]) -> Space:
    limits = search_options(side.model, options, None, interrupted)
    limits = replace(limits, view=False, symmetry=False)
    return space_of(side.model, limits, engine=side.run.engine)


def _versus(
    base: tuple[Side, Space],
    other: tuple[Side, Space],
    chosen: Sequence[str],
    seen: Map | None,
    ended: Callable[[], str],
) -> Versus:
    (first, near), (second, far) = base, other
    if why := by_rule(first.model, second.model):
        return _nothing(second, why)
    fields = looked_at(first.model, second.model, chosen, seen)
    (mine, theirs), moved = compared((near, far), fields, (None, seen))
    forth = included(far, theirs, near, mine, ended)
    back = included(near, mine, far, theirs, ended)
    bounds = [
        f"{side.name}: {', '.join(side.run.evidence.bounds) or space.bound or 'it raised'}"
        for side, space in (base, other)
        if space.bound or not side.run.exhaustive
    ]
    bounds += [
        f"{side.name}: only {followed(found)}"
        for side, found in ((second, forth), (first, back))
        if found.ended
    ]
    return Versus(
        second,
        _crossed(first, second.model),
        _crossed(second, first.model),
        moved or fields,
        _refinement(forth, (far, theirs), (near, mine)),
        _refinement(back, (near, mine), (far, theirs)),
        _only(far, theirs, mine),
        _only(near, mine, theirs),
        tuple(bounds),
        () if seen else left_out(first.model, second.model, fields),
    )


def _crossed(side: Side, model: Model) -> tuple[Crossing, ...]:
    """Return each counterexample of a model tried on another."""
    violated = [p.name for p in side.run.properties
                if p.verdict == "violated" and not p.of_kind.witness]  # fmt: skip
    return tuple(
        cross(side.run.traces[n], side.model, model) for n in violated if n in side.run.traces
    )


def _refinement(found: Inclusion, one: tuple[Space, Ints], two: tuple[Space, Ints]) -> Refinement:
    if found.refused is None:
        return Refinement(None, found.pairs, found.whole)
    refused, (space, _), (other, seen_other) = found.refused, one, two
    way = beside(*one, *two, refused)
    begins = [s for s in other.initial if seen_other[s] == one[1][refused.start]]
    near = None if way is None else other.trace(way, "beside", begins[0])
    trace = space.trace(refused.way, "refinement", refused.start)
    last = trace.steps[-1] if trace.steps else None
    listed = sorted(
        allowed(other, refused), key=lambda t: last is None or t.steps[0].call != last.call
    )
    refusal = Refusal(trace, near, tuple(listed), refused.sure)
    return Refinement(refusal, found.pairs, found.whole)


def _only(space: Space, seen: Ints, other: Ints) -> Only:
    """Return what of a space the other has no sight of."""
    lacking = ~np.isin(seen, other)
    came, far = space.nearest
    first: dict[int, int] = {}
    prints = space.graph.fingerprints
    order = sorted(np.flatnonzero(lacking).tolist(), key=lambda s: (far[s], int(prints[s])))
    for state in order:
        if far[state] == 0 or not lacking[space.source(came[state])]:
            first.setdefault(int(seen[state]), state)
    nearest = list(first.values())[:NEAREST]
    traces = tuple(space.trace(space.way_to(s), "only", s) for s in nearest)
    return Only(len(np.unique(seen[lacking])), traces)
