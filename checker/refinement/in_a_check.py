"""Refinement within a check: ``name = refines("other.py", by=seen)``, decided after the search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from statewalk.checker.contract.search import Exploration, Finding, SearchOptions
from statewalk.checker.liveness.graph import Ints
from statewalk.checker.liveness.in_a_check import INCOMPLETE, graph_of, limits_of, why_not
from statewalk.checker.refinement.inclusion import Inclusion, Refused, included
from statewalk.checker.refinement.sights import looked_at, mapped, sights
from statewalk.checker.refinement.space import Space, path_of, space_of
from statewalk.checker.states.content import Content, content_of
from statewalk.checker.states.diff import changes
from statewalk.checker.verdict.evidence import Abstract
from statewalk.dsl.view import Path, State

if TYPE_CHECKING:
    from statewalk.checker.contract.options import CheckOptions
    from statewalk.dsl.model import Model, Property

_MOST = 8  # steps that are named


@dataclass
class Refinements:
    """What is known of the refinements, by name. ``unchecked`` says why nothing is."""

    findings: dict[str, Finding] = field(default_factory=dict)
    abstract: dict[str, Abstract] = field(default_factory=dict)
    unchecked: dict[str, str] = field(default_factory=dict)
    unfinished: bool = False


def check_refinements(
    model: Model, options: CheckOptions, asked: SearchOptions, exploration: Exploration
) -> Refinements:
    """Decide the refinements that were asked for, or say why not."""
    found = Refinements()
    left = [p for p in model.properties if p.kind == "refines" and asked.wants(p.name)]
    found.unchecked = {
        p.name: why for p in left if (why := why_not(model, options, exploration, p))
    }
    left = [p for p in left if p.name not in found.unchecked]
    if not left:
        return found
    limits = limits_of(asked, exploration)
    graph = graph_of(model, limits, (), exploration.engine, rows=True)
    space = Space(model, graph)
    found.unfinished = graph.stopped is not None and exploration.stopped is None
    for prop in left:
        _decide(found, prop, space, SearchOptions(threads=asked.threads, timeout=asked.timeout))
    return found


def _decide(found: Refinements, prop: Property, space: Space, limits: SearchOptions) -> None:
    """Note what becomes of one refinement."""
    fields, other, sight = _beside(prop, space, limits)
    inclusion: Inclusion = included(space, sight[0], other, sight[1])
    refused = inclusion.refused
    if refused is None:
        if not inclusion.whole and not space.bound:
            why = f"{INCOMPLETE}: more than {inclusion.pairs:,} pairs of states were followed"
            found.unchecked[prop.name] = why
        return
    if not refused.sure:
        why = f"{INCOMPLETE}: what {other.model.name} allows is not known whole; {other.bound}"
        found.unchecked[prop.name] = why
        return
    initial, steps, states = space.along(refused.way, refused.start)
    found.findings[prop.name] = Finding(prop.name, "refines", initial, steps)
    contents = [_content(prop, space.model, state, fields) for state in states]
    found.abstract[prop.name] = _both(contents, other, refused)


def _beside(
    prop: Property, space: Space, limits: SearchOptions
) -> tuple[tuple[Path, ...], Space, list[Ints]]:
    """The fields looked at, the other model's states, and the sights of both."""
    refined = prop.refined
    assert refined is not None
    other = space_of(refined.model, limits)
    fields = looked_at(refined.model, space.model, (), refined.seen)
    return fields, other, sights((space, other), fields, (refined.seen, None))


def _both(contents: Sequence[Content], other: Space, refused: Refused) -> Abstract:
    """The way as the other model sees it, and what that allows before the last step."""
    pairs = enumerate(pairwise(contents), 1)
    moves = [(number, tuple(map(str, changes(*pair)))) for number, pair in pairs]
    allowed: dict[str, None] = {}
    for state in refused.match:
        for at, _ in other.out(state):
            label = other.graph.table[int(other.graph.labels[at])]
            allowed.setdefault(other.model.actions[label.action].label)
    listed = list(allowed)[:_MOST]
    more = [f"and {len(allowed) - _MOST} more"] if len(allowed) > _MOST else []
    seen = tuple((number, told) for number, told in moves if told)
    return Abstract(other.model.name, seen, (*listed, *more))


def _content(prop: Property, model: Model, state: State, fields: Sequence[Path]) -> Content:
    """A state as the other model sees it."""
    assert prop.refined is not None
    if prop.refined.seen is not None:
        return mapped(model, prop.refined.seen, state, fields)
    content = content_of(model, state)
    return {path: content[path] for path in fields if path in content}


def why_not_refused(model: Model, prop: Property, states: Sequence[State]) -> str:
    """Why states that follow each other are what the other model allows; empty where they are
    not. What `replay` asks.
    """
    space = path_of(model, states)
    _, other, (mine, theirs) = _beside(prop, space, SearchOptions())
    if included(space, mine, other, theirs).refused is not None:
        return ""
    return f"{other.model.name} allows all of it now"
