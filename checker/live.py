"""Where liveness checking plugs in: between the search for safety and the verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dsl.model import SAFETY_KINDS

if TYPE_CHECKING:
    from checker.engine import Exploration, Finding, SearchOptions
    from checker.options import CheckOptions
    from dsl.model import Model


@dataclass(frozen=True)
class Live:
    """What is known of the liveness properties, by name.

    ``findings`` hold lassos as stem and cycle in one sequence of steps; ``loops`` the number of the
    state to which the last step returns (the number of the last state itself: nothing happens any
    more). ``unchecked`` says why nothing is known of a property.
    """

    findings: Mapping[str, Finding] = field(default_factory=dict)
    loops: Mapping[str, int] = field(default_factory=dict)
    unchecked: Mapping[str, str] = field(default_factory=dict)
    vacuous: frozenset[str] = frozenset()
    warnings: tuple[str, ...] = ()


def check_liveness(
    model: Model, options: CheckOptions, asked: SearchOptions, exploration: Exploration
) -> Live:
    """Decide the liveness properties that were asked for. So far nobody does: each is left open."""
    why = "not checked yet" if options.liveness else "--no-liveness"
    wanted = [
        p.name for p in model.properties if p.kind not in SAFETY_KINDS and asked.wants(p.name)
    ]
    return Live(unchecked=dict.fromkeys(wanted, why))
