"""What transitions of a state graph are called, and which conditions of fairness they take: what
does not depend on how a graph is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from statewalk.dsl.declared import Promised
from statewalk.dsl.model import Model, Property, Text
from statewalk.dsl.view import FairChoice

CUT = -1
"""Stands for a state that a constraint refused."""
PREMISE = "/premise"
"""Follows the name of a property that has one."""


def predicates(properties: Iterable[Property]) -> dict[str, Callable[[], bool]]:
    """What is to be evaluated in each state: by property name, and by name + `PREMISE`."""
    wanted: dict[str, Callable[[], bool]] = {}
    for prop in properties:
        wanted[prop.name] = prop.whole
        if prop.premise is not None:
            wanted[prop.name + PREMISE] = prop.premise
    return wanted


def sources(properties: Iterable[Property]) -> dict[str, Text | None]:
    """Return the texts of these predicates, by the same names."""
    found: dict[str, Text | None] = {}
    for prop in properties:
        found[prop.name] = prop.source
        if prop.premise is not None:
            found[prop.name + PREMISE] = prop.premise_source
    return found


@dataclass(frozen=True)
class Label:
    """What a transition is called: see rule 4 of the contract."""

    action: int
    ordinal: int = 0
    fair: tuple[FairChoice, ...] = ()


@dataclass(frozen=True)
class Condition:
    """One fairness condition: an action instance, or one option of a fair choice in it."""

    fairness: Promised
    action: int
    label: str
    choice: FairChoice | None = None

    def takes(self, label: Label) -> bool:
        """Whether steps with a label take it."""
        return label.action == self.action and (self.choice is None or self.choice in label.fair)


def conditions(model: Model, table: tuple[Label, ...]) -> tuple[Condition, ...]:
    """The fairness conditions, actions first; only of actions that occur in the graph."""
    present = {label.action for label in table}
    found = [
        Condition(a.fairness, a.index, a.label)
        for a in model.actions
        if a.fairness != "none" and a.index in present
    ]
    chosen = sorted({(label.action, choice) for label in table for choice in label.fair})
    for action, choice in chosen:
        text = f"{model.actions[action].label} choosing {choice.shown}"
        found.append(Condition(choice.fairness, action, text, choice))
    return tuple(found)
