"""The fields that make the states: how many times as many there are, and who reads each field."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from statewalk.checker.contract.search import Exploration, Key
from statewalk.checker.engines.fields import RUNS, readers_of
from statewalk.checker.states.content import short_names
from statewalk.dsl.model import Model

PAYS = 3.0  # times the states, from which a field is worth a word
MANY = 10_000  # states that are worth one


@dataclass(frozen=True)
class FieldCost:
    """The cost of some ``fields``: there are ``factor`` times the states that there would be
    without them. ``steps`` (with what bounds the search) and ``properties`` read them.
    """

    fields: tuple[str, ...]
    values: int
    factor: float
    steps: tuple[str, ...]
    properties: tuple[str, ...]
    auxiliary: bool = False

    @property
    def times(self) -> str:
        """Return the factor as it is said: with two digits, or as a whole number."""
        return f"{self.factor:.2g}" if self.factor < 99.5 else f"{float(f'{self.factor:.2g}'):,.0f}"


def field_costs(model: Model, found: Exploration) -> tuple[FieldCost, ...]:
    """Return what the fields of a model cost, the most first. Without what the text tells of
    readers, only the factors.
    """
    readers, names = readers_of(model) if found.fields else {}, short_names(model)
    costs = []
    for one in found.fields:
        known = [readers[key] for key in one.keys if key in readers]
        costs.append(
            FieldCost(
                tuple(_shown(key, names) for key in one.keys),
                one.values,
                max(1.0, found.counts.distinct / max(1.0, one.without)),
                tuple(dict.fromkeys(name for of in known for name in of.steps)),
                tuple(dict.fromkeys(name for of in known for name in of.properties)),
                all(key in model.fields and model.fields[key].auxiliary for key in one.keys),
            )
        )
    return tuple(sorted(costs, key=lambda cost: (-cost.factor, len(cost.fields), cost.fields)))


def _shown(key: Key, names: dict[str, str]) -> str:
    owner, name = key
    if key == RUNS:
        return "suspended runs"
    owner = names.get(owner, owner)
    return f"{owner}.{name}" if owner else name


def worth_leaving_out(costs: Iterable[FieldCost], distinct: int) -> FieldCost | None:
    """Return the fields that no step reads and that make most of the states, if that is many."""
    unread = [cost for cost in costs if not cost.steps and cost.fields != ("suspended runs",)]
    most = max(unread, key=lambda cost: cost.factor, default=None)
    return most if most is not None and most.factor >= PAYS and distinct >= MANY else None
