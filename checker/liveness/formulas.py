"""The behaviors of a graph that satisfy a formula: demands on cycles, in a product if need be.

What is true infinitely often is a demand. The rest of a formula is followed along: the product has
a state for each state of the graph and node of the rest's automaton that go together. In it a
behavior may go on in the automaton while it stutters. What a node owes is not owed infinitely
often.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from statewalk.checker.liveness.conditions import CUT, Label
from statewalk.checker.liveness.demands import Demand, steps_where, with_word
from statewalk.checker.liveness.fair_cycles import FairGraph
from statewalk.checker.liveness.graph import Bools, Positions, StateGraph, from_transitions
from statewalk.checker.liveness.terms import TRUE, Automaton, parts_of, split
from statewalk.dsl.model import Model, Property, Term


@dataclass(frozen=True)
class Following:
    """The behaviors of a fair graph whose cycles meet demands.

    In a product ``base`` (m,) numbers the transitions of the state graph, -1 where it stutters;
    state s is the one of number s % ``states`` there.
    """

    fair: FairGraph
    demands: tuple[Demand, ...]
    base: Positions | None = None
    states: int = 0


@dataclass(frozen=True)
class Truth:
    """A predicate of a formula: in which states it is true, or of which steps that change them."""

    where: Bools
    of_steps: bool = False


def truths(model: Model, graph: StateGraph, prop: Property) -> tuple[Truth, ...]:
    """Return the truth of each predicate of a formula. Raises PredicateRaisedError."""
    return tuple(
        Truth(steps_where(model, graph, part), of_steps=True)
        if part.of_kind.of_steps
        else Truth(graph.holds(part.name))
        for part in prop.parts
    )


def following(
    fair: FairGraph, demands: Sequence[Demand], term: Term, where: Sequence[Truth]
) -> Iterator[Following]:
    """Yield the behaviors that meet demands and satisfy a formula, in several parts."""
    for oftens, rest in split(term):
        more = tuple(_demand(part, holds, where) for part, holds in oftens)
        if rest == TRUE:
            yield Following(fair, (*demands, *more))
        elif (automaton := Automaton(rest)).nodes:
            yield _product(fair, (*demands, *more), automaton, where)


def _demand(term: Term, often: bool, where: Sequence[Truth]) -> Demand:
    """Return the demand that a term is true infinitely often, or false from some state on."""
    found = _mask(term, where)
    found = found if often else ~found
    if where[next(parts_of(term))].of_steps:
        return Demand(steps=found, always=not often)
    return Demand(states=found, always=not often)


def _mask(term: Term, where: Sequence[Truth]) -> Bools:
    """Return where a term without `until` and `often` is true; it names a predicate."""
    op, *given = term
    if op == "part":
        return where[given[0]].where
    if op == "not":
        return ~_mask(given[0], where)
    first, second = (_mask(part, where) for part in given)
    return first & second if op == "and" else first | second


def _product(
    fair: FairGraph, demands: tuple[Demand, ...], automaton: Automaton, where: Sequence[Truth]
) -> Following:
    """Return the product of a graph with the automaton of a formula."""
    graph, nodes = fair.graph, automaton.nodes
    n, count, sources = graph.n, len(nodes), np.repeat(np.arange(graph.n), np.diff(graph.offsets))
    fits: list[Bools] = []
    for node in nodes:
        fit: Bools = np.ones(n, np.bool_)
        for part in node.true:
            fit &= where[part].where
        for part in node.false:
            fit &= ~where[part].where
        fits.append(fit)
    moves, into = graph.targets != CUT, np.maximum(graph.targets, 0)
    moves &= graph.targets != sources
    found = [(np.zeros(0, np.int64),) * 3]  # sources, targets, transitions
    for a, b in ((a, b) for a, after in enumerate(automaton.goes) for b in after):
        at = np.flatnonzero(moves & fits[a][sources] & fits[b][into])
        found.append((a * n + sources[at], b * n + into[at], at))
        rest = np.flatnonzero(fits[a] & fits[b]) if a != b else np.zeros(0, np.int64)
        found.append((a * n + rest, b * n + rest, np.full(len(rest), -1)))
    start, end, base = map(np.concatenate, zip(*found, strict=True))
    order = np.argsort(start, kind="stable")
    start, end, base = start[order], end[order], base[order]
    stutters = base < 0
    labels = np.where(stutters, len(graph.table), graph.labels[base] if graph.m else 0)
    offsets, targets, labels = from_transitions(start, end, labels, n * count)
    begins = [
        a * n + s for a in range(automaton.initial) for s in graph.start().tolist() if fits[a][s]
    ]
    product = replace(
        graph, offsets=offsets, targets=targets, labels=labels, initial=tuple(begins),
        table=(*graph.table, Label(-1)), fingerprints=np.tile(graph.fingerprints, count),
        expanded=None if graph.expanded is None else np.tile(graph.expanded, count),
        turns=None if graph.turns is None else np.append(graph.turns, True), truth={}, rows=None,
    )  # fmt: skip
    takes = tuple(np.append(word, np.uint64(0))[-len(product.table) :] for word in fair.takes)
    enabled = tuple(np.tile(word, count) for word in fair.enabled)
    stays = np.repeat([a in automaton.goes[a] for a in range(count)], n)
    wide = replace(fair, graph=product, takes=takes, enabled=enabled)
    wide = with_word(wide, [(~stays, np.ones(len(base), np.bool_))])  # by any step, that is
    owing = [np.repeat([term in node.owed for node in nodes], n) for term in automaton.owed]
    paid = tuple(Demand(states=~owes) for owes in owing)
    own = tuple(
        replace(d, states=np.tile(d.states, count))
        if d.states is not None
        else replace(d, steps=np.where(stutters, d.always, _at(d.steps, base)))
        for d in demands
    )
    return Following(wide, (*own, *paid), base, n)


def _at(mask: Bools | None, base: Positions) -> Bools:
    assert mask is not None
    found: Bools = mask[base] if len(mask) else np.zeros(len(base), np.bool_)
    return found
