"""A scenario: where a system begins, and events with what is to be seen after each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from statewalk.checker.conform.steps import Steps, Way
from statewalk.checker.contract.search import Step
from statewalk.checker.states.content import content_of, show_field
from statewalk.checker.states.json import plain
from statewalk.dsl.values.stored import ABSENT, same

if TYPE_CHECKING:
    from statewalk.dsl.model import Action, Model

_KEPT = 5_000  # states of which what is said is kept


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
    told: Fields, begin: int, way: Sequence[Step], goals: Sequence[str], name: str
) -> Scenario:
    """The scenario of steps from a state on."""
    events, possible, number = [], [], begin
    for step in way:
        action = told.model.actions[step.action]
        taken = next(w for w in told.steps.ways(number, action) if w.script == step.choices)
        old, new = (content_of(told.model, told.steps.states[n]) for n in (number, taken.after))
        changed = {
            show_field(path): plain(value)
            for path, value in new.items()
            if not same(value, old.get(path, ABSENT))
        }
        events.append(said_of(action, taken) | ({"after": changed} if changed else {}))
        number = taken.after
        possible.append(told.possible(number))
    return Scenario(name, told.of(begin), tuple(events), tuple(possible), tuple(goals))


def said_of(action: Action, way: Way) -> dict[str, Any]:
    """A step as an event, without fields."""
    made: dict[str, Any] = {"action": action.name}
    if action.actor is not None:
        made["actor"] = repr(action.actor)
    named = [*action.arguments, *((c.name, c.value) for c in way.choices)]
    given = {name.removeprefix("self."): plain(value) for name, value in named if name}
    return made | ({"with": given} if given else {})


class Fields:
    """What is said of states by number; of those that were asked for lately, it is kept."""

    def __init__(self, model: Model, steps: Steps) -> None:
        self.model = model
        self.steps = steps
        self._said: dict[int, dict[str, Any]] = {}
        self._possible: dict[int, tuple[dict[str, Any], ...]] = {}

    def of(self, number: int) -> dict[str, Any]:
        """All fields, as JSON."""
        if number not in self._said:
            if len(self._said) > _KEPT:
                self._said.clear()
            content = content_of(self.model, self.steps.states[number])
            self._said[number] = {show_field(path): plain(value) for path, value in content.items()}
        return self._said[number]

    def possible(self, number: int) -> tuple[dict[str, Any], ...]:
        """The events that may come next, each once."""
        if number not in self._possible:
            if len(self._possible) > _KEPT:
                self._possible.clear()
            ways = (
                said_of(action, way)
                for action in self.model.actions
                for way in self.steps.ways(number, action)
                if way.error is None
            )
            once = {json.dumps(said, sort_keys=True): said for said in ways}
            self._possible[number] = tuple(once.values())
        return self._possible[number]
