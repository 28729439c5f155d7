"""Refinement within a check: ``name = refines("other.py", by=seen)``, decided after the search."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from statewalk.checker.contract.search import Exploration, Finding, Pass, SearchOptions
from statewalk.checker.contract.stops import counted_bounds, ended_by, from_outside
from statewalk.checker.liveness import conditions
from statewalk.checker.liveness.explore import PredicateRaisedError
from statewalk.checker.liveness.graph import Ints, StateGraph
from statewalk.checker.liveness.in_a_check import (
    ALLOW,
    INCOMPLETE,
    graph_of,
    limits_of,
    never_taken,
    why_cut,
    why_not,
)
from statewalk.checker.refinement.in_the_end import decide, liveness_of, said_along
from statewalk.checker.refinement.inclusion import Refused, allowed, followed, included
from statewalk.checker.refinement.sights import (
    by_rule,
    left_out,
    looked_at,
    mapped,
    names_of,
    sights,
)
from statewalk.checker.refinement.space import Space, path_of, space_of
from statewalk.checker.states.content import Content, content_of
from statewalk.checker.states.diff import changes
from statewalk.checker.traces.trace import Abstract, states_of
from statewalk.dsl.errors import RunError, SpecError, place_of
from statewalk.dsl.view import Path, State

if TYPE_CHECKING:
    from statewalk.checker.contract.options import CheckOptions
    from statewalk.checker.verdict.judge import Checked
    from statewalk.dsl.model import Model, Property

_MOST = 8  # steps that are named
_LEVELS = 8  # of the other model, beyond twice the states of a trace
_STATES = 1_000_000  # of the other model, for a trace
_DEEPEST = 10_000  # levels of it


@dataclass(frozen=True)
class _Beside:
    """Two models by what is looked at of both: ``sights`` of the states of each."""

    fields: tuple[Path, ...]
    space: Space
    other: Space
    sights: tuple[Ints, Ints]


@dataclass(frozen=True)
class Refinements(Pass):
    """Decide the refinements that were asked for, or say why not; on the graph that was kept with
    its ``rows``, if it was.
    """

    checked: Checked
    asked: SearchOptions
    rows: bool

    def after(self, found: Exploration) -> Exploration:
        checked, model, asked = self.checked, self.checked.model, self.asked
        left = asked.wanted(model, "specs")
        why = {p.name: why_not(model, checked.options, found, p) for p in left}
        checked.unchecked |= {name: text for name, text in why.items() if text}
        left = [p for p in left if not why[p.name]]
        if not left:
            return found
        limits = limits_of(asked, found)
        graph = found.kept if self.rows and isinstance(found.kept, StateGraph) else None
        space = Space(model, graph or graph_of(model, limits, (), found.engine, rows=True))
        checked.unfinished |= space.graph.stopped is not None and found.stopped is None
        started = time.monotonic()
        given = checked.options
        alone = SearchOptions(
            **counted_bounds(given), max_memory=asked.max_memory, timeout=limits.timeout,
            threads=asked.threads, interrupted=asked.interrupted,
            fingerprint_bits=asked.fingerprint_bits,
        )  # fmt: skip
        for prop in left:
            both = _beside(prop, space, alone, found.engine)
            checked.compared[prop.name] = _names(checked, prop, both)
            if _behaviors(checked, prop, both, lambda: _ended(given, limits, started)):
                _in_the_end(checked, prop, both, checked.options)
            cut = space.graph.stopped is not None and found.stopped is None
            if cut and prop.name not in {**checked.findings, **checked.unchecked}:
                if checked.options.allow_unsound and not from_outside(space.graph.stopped):
                    _risk(checked, prop)
                else:
                    checked.leave(prop.name, why_cut(space.graph.stopped, asked))
        return found


def refuse(model: Model, options: CheckOptions, asked: SearchOptions) -> None:
    """Refuse before the search what cannot be decided after it. Raises RunError[SW360]."""
    for prop in asked.wanted(model, "specs"):
        assert prop.refined is not None
        other = prop.refined.model
        why = by_rule(model, other)
        help = (
            "Declare the domain with materialize=True: then every value can be taken at any time."
        )
        if not (why or options.liveness_off(other.no_liveness)):
            why = _not_of_states(model, other)
            help = "Leave liveness out with --no-liveness, or the refinement with --property."
        if why:
            said = f"{prop.name} cannot be decided."
            raise RunError("SW360", said, why=f"{why[0].upper()}{why[1:]}.", help=help)


def _not_of_states(model: Model, other: Model) -> str:
    """Return why liveness of the other model cannot be seen in states of this one, if so."""
    asked = liveness_of(other)
    steps = (f"'{p.name}' of {other.name} is a property of steps" for p in asked if p.asks_steps)
    told = "is assumed, which a refinement does not use"
    assumed = (
        f"the assumption '{p.name}' of {o.name} {told}"
        for o in (model, other)
        for p in o.assumptions
    )
    return next(iter((*assumed, *steps)), "") if asked else ""


def _risk(found: Checked, prop: Property) -> None:
    found.unsound.add(prop.name)
    found.warnings.append(f"unsound: {prop.name} was decided although the search was cut")


def _names(found: Checked, prop: Property, both: _Beside) -> tuple[str, ...]:
    """Return the names of the compared fields; warns of instances that are not compared."""
    assert prop.refined is not None
    mine, other = both.space.model, both.other.model
    if prop.refined.seen is not None:
        return names_of(both.fields, other)
    if apart := left_out(mine, other, both.fields):
        more = " …" if len(apart) > _MOST else ""
        found.warnings.append(
            f"{prop.name}: not compared, as only one of {mine.name} and {other.name} has them: "
            f"{', '.join(apart[:_MOST])}{more}. Give both the same instances, or say by a map what "
            "each is."
        )
    return names_of(both.fields, mine, other)


def _ended(given: CheckOptions, limits: SearchOptions, started: float) -> str:
    stopped = limits.urgent(time.monotonic() - started)
    return "" if stopped is None else ended_by(given, stopped, None)


def _behaviors(found: Checked, prop: Property, both: _Beside, ended: Callable[[], str]) -> bool:
    """Return whether all that is known to happen is what the other allows; notes what becomes of
    it.
    """
    space, other = both.space, both.other
    inclusion = included(space, both.sights[0], other, both.sights[1], ended)
    refused = inclusion.refused
    if refused is None:
        if not inclusion.ended:
            return True
        why = f"{INCOMPLETE}: only {followed(inclusion)}"
        found.leave(prop.name, why)
        return False
    if not refused.sure:
        why = f"{INCOMPLETE}: what {other.model.name} allows is not known whole; {other.bound}"
        found.leave(prop.name, why)
        return False
    initial, steps, states = space.along(refused.way, refused.start)
    found.findings[prop.name] = Finding(prop.name, "refines", initial, steps)
    name, seen = other.model.name, _seen(prop, both, states)
    instead = _instead(other, refused) if refused.way else _begins(both, seen[0])
    found.abstract[prop.name] = Abstract(name, seen, instead)
    return False


def _in_the_end(found: Checked, prop: Property, both: _Beside, options: CheckOptions) -> None:
    """Note what becomes of what the other says has to happen in the end."""
    space, other, name = both.space, both.other, both.other.model.name
    asked = liveness_of(other.model)
    off = options.liveness_off(other.model.no_liveness)
    if asked and off:
        found.warnings.append(f"{prop.name}: liveness of {name} was left out ({off})")
    fair = "" if asked or off else _fair(other)
    if fair:
        found.warnings.append(
            f"SW506 {prop.name}: {name} calls {fair} fair, which is not asked for. What it "
            f"promises in the end is asked for as a property there: eventually, leads_to, ..."
        )
    if not asked or off:
        return
    if other.bound:
        why = f"{INCOMPLETE}: liveness of {name} is not known; {other.bound}"
        found.leave(prop.name, why)
        return
    results, told_apart = decide(space, both.sights[0], other, both.sights[1], asked)
    broken = [r for r in results if r.lasso is not None]
    if broken:
        worst = min(broken, key=lambda r: r.lasso.length if r.lasso else 0)
        assert worst.lasso is not None
        lasso = worst.lasso
        steps = (*lasso.stem, *lasso.cycle)
        finding = Finding(prop.name, "refines", lasso.initial, steps)
        found.findings[prop.name] = finding
        found.loops[prop.name] = len(lasso.stem)
        found.not_taken[prop.name] = never_taken(lasso)
        seen = _seen(prop, both, states_of(space.model, finding))
        found.abstract[prop.name] = Abstract(name, seen, breaks=worst.property)
    elif told_apart:
        found.leave(
            prop.name,
            f"SW505 liveness of {name} is not known: {told_apart[0]} depends on fields that the "
            "map leaves out. Give them in the map, or leave liveness out with --no-liveness.",
        )
    elif any(r.unsound for r in results) and not options.allow_unsound:
        why = f"{INCOMPLETE}: no lasso that violates liveness of {name} was found; {ALLOW}"
        found.unchecked[prop.name] = why
    elif any(r.unsound for r in results):
        _risk(found, prop)


def _fair(other: Space) -> str:
    """Return what a model calls fair, in words."""
    names, actions = other.model.action_names(), other.model.actions
    fair = [names[a.index] for a in actions if a.fairness != "none"]
    fair += [names[label.action] for label in other.graph.table if label.fair]
    return ", ".join(dict.fromkeys(fair))


def _beside(prop: Property, space: Space, limits: SearchOptions, engine: str = "") -> _Beside:
    """Return the model that is refined beside the one that refines it. Its own bound on depth holds
    where none is given.
    """
    refined = prop.refined
    assert refined is not None
    if limits.max_depth is None:
        limits = replace(limits, max_depth=refined.model.max_depth)
    try:
        other = space_of(refined.model, limits, liveness_of(refined.model), engine)
    except PredicateRaisedError as raised:
        error, name = raised.error, refined.model.name
        said = f"A liveness property of {name} raises {type(error).__name__}: {error}"
        at = place_of(error, refined.model.sources)
        raise SpecError("SW364", said, at=at) from error
    fields = looked_at(refined.model, space.model, (), refined.seen, constant=True)
    mine, theirs = sights((space, other), fields, (refined.seen, None))
    return _Beside(fields, space, other, (mine, theirs))


def _seen(prop: Property, both: _Beside, states: Sequence[State]) -> tuple[Content, ...]:
    """Return states as the other model sees them."""
    return tuple(_content(prop, both.space.model, state, both.fields) for state in states)


def _instead(other: Space, refused: Refused) -> tuple[str, ...]:
    """Return what the other model allows before the step that it has not, in words."""
    labels = list(dict.fromkeys(one.steps[0].label for one in allowed(other, refused)))
    more = [f"and {len(labels) - _MOST} more"] if len(labels) > _MOST else []
    return (*labels[:_MOST], *more)


def _begins(pair: _Beside, seen: Content) -> tuple[str, ...]:
    """Return the changes from the initial state of a way to the initial state of the other
    model that differs least from it.
    """
    other, table = pair.other, []
    for number in other.initial:
        content = _fields(other.model, other.state(number), pair.fields)
        table.append(tuple(map(str, changes(seen, content))))
    return min(table, key=len)


def _content(prop: Property, model: Model, state: State, fields: Sequence[Path]) -> Content:
    """Return a state as the other model sees it."""
    assert prop.refined is not None
    if prop.refined.seen is not None:
        return mapped(model, prop.refined.seen, state, fields, prop.refined.model)
    return _fields(model, state, fields)


def _fields(model: Model, state: State, fields: Sequence[Path]) -> Content:
    """Return the values of some fields in a state; constant ones have the same in all."""
    content = content_of(model, state, constant=True)
    return {path: content[path] for path in fields if path in content}


def _tried(prop: Property, space: Space, depth: int) -> tuple[_Beside, Refused | None]:
    """Return so many levels of the other model, beside this one, and what it refuses of it."""
    both = _beside(prop, space, SearchOptions(max_depth=depth, max_states=_STATES))
    return both, included(both.space, both.sights[0], both.other, both.sights[1]).refused


def _near(prop: Property, space: Space) -> tuple[_Beside, Refused | None]:
    """Return the same with as many levels of the other as decide it; it may have endless ones."""
    most, depth = _deepest(prop, space), 2 * space.graph.n + _LEVELS
    while True:
        both, refused = _tried(prop, space, min(depth, most))
        deeper = both.other.graph.stopped == "depth" and depth < most
        if refused is None or refused.sure or not deeper:
            return both, refused
        depth *= 2


def _deepest(prop: Property, space: Space) -> int:
    """Return the most levels of the other model that are looked at: its own bound or ours."""
    assert prop.refined is not None
    own = prop.refined.model.max_depth
    return max(_DEEPEST, 2 * space.graph.n + _LEVELS) if own is None else own


def why_not_refused(model: Model, prop: Property, states: Sequence[State], loop: int | None) -> str:
    """Return why states that follow each other are what the other model allows; empty where they
    are not. What `replay` asks. With ``loop`` the last is the state of that number again.
    """
    space = path_of(model, states)
    if loop is None:
        both, refused = _near(prop, space)
    else:
        both, refused = _tried(prop, space, _deepest(prop, space))
    name, bound = both.other.model.name, both.other.bound
    if refused is not None:
        return "" if refused.sure else f"what {name} allows is not known whole; {bound}"
    if loop is None:
        return f"{name} allows all of it now"
    if bound:
        return f"liveness of {name} is not known; {bound}"
    why = f"{name} says nothing of the end any more"
    for asked in liveness_of(both.other.model):
        truth = said_along(*both.sights, both.other, asked)
        if truth is not None:
            why = conditions.why_not(model, asked, states, loop, truth)
            if not why:
                return ""
    return why
