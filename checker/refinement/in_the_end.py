"""Liveness of an abstract model, checked on the behaviors of the concrete one.

A liveness property of the other is decided on this model's graph, with this model's fairness. What
its predicates say of a state is what they say of the other's states that look the same. So these
must agree: a property that tells apart what is not seen says nothing of what is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from statewalk.checker.liveness.check import check_liveness
from statewalk.checker.liveness.conditions import LivenessResult, predicates
from statewalk.checker.liveness.graph import Bools, Ints, pack
from statewalk.checker.refinement.space import Space
from statewalk.dsl.model import Model, Property


def liveness_of(model: Model) -> tuple[Property, ...]:
    """Return the properties that speak of what happens in the end."""
    return tuple(p for p in model.properties if p.of_kind.liveness)


def decide(
    space: Space, seen: Ints, other: Space, seen_other: Ints, properties: Sequence[Property]
) -> tuple[list[LivenessResult], list[str]]:
    """(what becomes of properties of the other, those that tell apart what is not seen).

    Every behavior of the space has to be one of the other's, which has the properties' truth.
    Shapes: seen (n,), sights by state.
    """
    said = {prop.name: said_along(seen, seen_other, other, prop) for prop in properties}
    asked = [p for p in properties if said[p.name] is not None]
    packed = {key: pack(bits) for told in said.values() if told for key, bits in told.items()}
    graph = replace(space.graph, truth=packed)
    return check_liveness(space.model, graph, asked), [n for n, told in said.items() if not told]


def said_along(
    seen: Ints, seen_other: Ints, other: Space, prop: Property
) -> dict[str, Bools] | None:
    """Return what the predicates of a property of the other say of states by what is seen of them;
    None where that does not decide it.
    """
    if prop.asks_steps:
        return None
    told = {}
    for key in predicates([prop]):
        by_sight = _by_sight(other.graph.holds(key), seen_other, seen)
        if by_sight is None:
            return None
        told[key] = by_sight[seen]
    return told


def _by_sight(truth: Bools, sights: Ints, asked: Ints) -> Bools | None:
    """Return the truth in states of a sight; None where those of one that is asked for differ."""
    size = int(max(sights.max(initial=0), asked.max(initial=0))) + 1
    true, false = np.zeros(size, np.bool_), np.zeros(size, np.bool_)
    true[sights[truth]] = True
    false[sights[~truth]] = True
    return None if (true & false)[asked].any() else true
