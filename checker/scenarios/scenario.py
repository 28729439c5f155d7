"""A scenario: where a system begins, and events with what is to be seen after each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from statewalk.checker.conform.steps import Steps, Way
from statewalk.checker.contract.search import Step
from statewalk.checker.states.content import content_of, show_field
from statewalk.checker.states.json import plain

if TYPE_CHECKING:
    from statewalk.dsl.model import Action, Model


@dataclass(frozen=True)
class Scenario:
    """``initial`` holds all fields; an event is one as logs have it (`checker.conform.events`),
    whose ``after`` are the fields that it changes. ``possible`` are, after each event, all that may
    come next, without what they would change. ``goals`` are what it is for.
    """

    name: str
    initial: Mapping[str, Any]
    events: tuple[Mapping[str, Any], ...]
    possible: tuple[tuple[Mapping[str, Any], ...], ...]
    goals: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """As it is written to a file."""
        steps = zip(self.events, self.possible, strict=True)
        return {
            "name": self.name,
            "goals": list(self.goals),
            "initial": self.initial,
            "steps": [{"event": event, "possible": list(after)} for event, after in steps],
        }


def scenario_of(
    model: Model, steps: Steps, begin: int, way: Sequence[Step], goals: Sequence[str], name: str
) -> Scenario:
    """The scenario of steps from a state on."""
    fields = Fields(model, steps)
    events, possible, number = [], [], begin
    for step in way:
        action = model.actions[step.action]
        taken = next(w for w in steps.ways(number, action) if w.script == step.choices)
        before, after = fields.of(number), fields.of(taken.after)
        changed = {key: value for key, value in after.items() if before.get(key) != value}
        events.append(said_of(action, taken) | ({"after": changed} if changed else {}))
        number = taken.after
        possible.append(tuple(fields.possible(number)))
    return Scenario(name, fields.of(begin), tuple(events), tuple(possible), tuple(goals))


def said_of(action: Action, way: Way) -> dict[str, Any]:
    """A step as an event, without fields."""
    made: dict[str, Any] = {"action": action.name}
    if action.actor is not None:
        made["actor"] = repr(action.actor)
    named = [*action.arguments, *((c.name, c.value) for c in way.choices)]
    given = {name.removeprefix("self."): plain(value) for name, value in named if name}
    return made | ({"with": given} if given else {})


@dataclass(frozen=True)
class Fields:
    """What is said of states by number."""

    model: Model
    steps: Steps

    def of(self, number: int) -> dict[str, Any]:
        """All fields, as JSON."""
        content = content_of(self.model, self.steps.states[number])
        return {show_field(path): plain(value) for path, value in content.items()}

    def possible(self, number: int) -> list[dict[str, Any]]:
        """The events that may come next, each once."""
        found: list[dict[str, Any]] = []
        for action in self.model.actions:
            for way in self.steps.ways(number, action):
                if way.error is None and (said := said_of(action, way)) not in found:
                    found.append(said)
        return found
