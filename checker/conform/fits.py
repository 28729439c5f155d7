"""The comparison of a logged event with a step: names, choices, fields by name."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from statewalk.checker.conform.kinds import can_be, can_hold, no_role, other_kind
from statewalk.checker.conform.values import fits
from statewalk.checker.states.content import (
    constants_of,
    content_of,
    declared_fields,
    domain_in,
    short_names,
    show_field,
)
from statewalk.checker.states.shortening import text_of
from statewalk.dsl.errors import RunError, did_you_mean
from statewalk.dsl.state.roles import Role
from statewalk.dsl.values.stored import ABSENT, same

if TYPE_CHECKING:
    from statewalk.checker.conform.events import Event
    from statewalk.checker.conform.steps import Way
    from statewalk.dsl.model import Action, Model
    from statewalk.dsl.view import Path, State


class Fields:
    """The fields of a model by the names that a log gives them. ``constants`` are those that no
    step changes, with their values.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        names = short_names(model)
        self._paths: dict[str, Path] = {}
        self.constants = constants_of(model)
        for path in declared_fields(model, constant=True):
            self._paths[show_field(path)] = self._paths[show_field(path, names)] = path
        self._contents: dict[int, Mapping[Path, Any]] = {}
        self._roles = [role for roles in model.roles.values() for role in roles]
        self._domains = {
            (owner, role.index, info.name): domain_in(role, info.name)
            for owner, roles in model.roles.items()
            for role in roles
            for (of, _), info in model.fields.items()
            if of == owner
        }

    def path(self, name: str, actor: Role | None, event: Event) -> Path | None:
        """Return the field of a name; a bare one is the actor's, who may have none. Raises
        RunError[SW391] where nobody has.
        """
        if actor is not None and (own := f"{actor!r}.{name}") in self._paths:
            return self._paths[own]
        if name not in self._paths and not any(one.endswith(f".{name}") for one in self._paths):
            raise unknown(event, "the spec has no field", name, self._paths)
        return self._paths.get(name)

    def watched(self, name: str) -> Path:
        """Return the field of a name, for an option. Raises RunError[SW393]."""
        if name not in self._paths:
            said = did_you_mean(name, self._paths)
            raise RunError("SW393", f"--watch {name}: there is no such field. {said}")
        return self._paths[name]

    def content(self, number: int, state: State) -> Mapping[Path, Any]:
        """Return the content of a state with a number."""
        if number not in self._contents:
            if len(self._contents) > _MOST_CONTENTS:
                self._contents.clear()
            self._contents[number] = {**self.constants, **content_of(self.model, state)}
        return self._contents[number]

    def differences(
        self, said: Mapping[str, Any], actor: Role | None, event: Event, content: Mapping[Path, Any]
    ) -> Iterator[str]:
        """Yield what was logged of fields and is otherwise."""
        for name, value in said.items():
            path = self.path(name, actor, event)
            if path is None:
                yield (
                    f"{actor!r} has no {name}" if actor is not None else f"whose {name} is not said"
                )
            elif path not in content:
                yield f"{name} is not set"
            elif not fits(value, content[path]):
                self._look_at_type(name, value, event)
                yield f"{name} is {text_of(content[path])}{other_kind(value, content[path])}"

    def _look_at_type(self, name: str, said: Any, event: Event) -> None:
        """Raises RunError[SW391] where no field that a name may mean can ever have such a value."""
        owner = {event.actor} if event.actor else {repr(r) for r in self._roles}
        meant = {n for n in (name, *(f"{one}.{name}" for one in owner)) if n in self._paths}
        domains = [self._domains[self._paths[one]] for one in meant]
        if any(can_hold(domain, said) for domain in domains):
            return
        text = json.dumps(said, ensure_ascii=False)
        raise RunError(
            "SW391",
            f"{event.place}: {name} can never be {text:.80}: it is {domains[0].text:.200}.",
            why=f"The event is {event.shown:.200}",
            help="If the system logs it in another form, translate it with a --map.",
        )

    def unchanged(
        self, action: Action, event: Event, before: Mapping[Path, Any], after: Mapping[Path, Any]
    ) -> Iterator[str]:
        """Yield what a step was logged to change, and does not."""
        for name in event.changes:
            path = self.path(name, action.actor, event)
            if path is None or same(before.get(path, ABSENT), after.get(path, ABSENT)):
                yield f"{name} does not change"


_MOST_CONTENTS = 50_000


def actions_of(model: Model, event: Event) -> list[Action]:
    """Return the action instances that an event may mean.

    Raises RunError[SW391] where there is none.
    """
    named = [a for a in model.actions if event.action in ("", *names_of(a))]
    if not named:
        known = dict.fromkeys(names_of(a)["." in event.action] for a in model.actions)
        raise unknown(event, "the spec has no action", event.action, known)
    found = [a for a in named if event.actor in ("", repr(a.actor))]
    if not found:
        actors = dict.fromkeys(repr(a.actor) for a in named if a.actor is not None)
        raise unknown(event, f"{event.action or 'the spec'} has no actor", event.actor, actors)
    _look_at_given(model, event, found)
    return [a for a in found if not any(_says_otherwise(a, event))]


def not_given(model: Model, event: Event) -> Iterator[str]:
    """Yield which arguments of an event no action has that it names."""
    named = [
        action
        for action in model.actions
        if event.action in ("", *names_of(action)) and event.actor in ("", repr(action.actor))
    ]
    for name, known in _arguments_of(named).items():
        if name in event.chosen and not any(fits(event.chosen[name], v) for v in known.values()):
            yield f"{name} is one of {', '.join(known)}"


def _arguments_of(actions: Sequence[Action]) -> dict[str, dict[str, Any]]:
    """Return the values of each argument of some actions, by what they are called."""
    known: dict[str, dict[str, Any]] = {}
    for action in actions:
        for name, value in action.arguments:
            known.setdefault(name, {})[text_of(value)] = value
    return known


def _look_at_given(model: Model, event: Event, meant: Sequence[Action]) -> None:
    """Raises RunError[SW391] where arguments or choices are named that no such action can have."""
    known = _arguments_of(meant) if event.chosen else {}
    choices = {name.removeprefix("self.") for name in model.choice_names.values()} | {"run"}
    for name, said in event.chosen.items():
        what = f"{event.action or 'the spec'} has no"
        if name not in known:
            if name.removeprefix("self.") not in choices:
                names = [*known, *sorted(choices - {"run", "statement"})]
                raise unknown(event, f"{what} argument or choice", name, names)
            values = no_role(said, model)
        else:
            there = list(known[name].values())
            possible = any(can_be(said, value, model) for value in there)
            if isinstance(said, str) and all(isinstance(value, str) for value in there):
                possible = said in there  # of texts, those are all that there can be
            values = [] if possible else list(known[name])
        if values:
            raise unknown(event, f"{what} {name}", json.dumps(said, ensure_ascii=False), values)


def names_of(action: Action) -> tuple[str, ...]:
    """Return what a log may call an action: with its class, its actor, its arguments, or
    without.
    """
    owner = [f"{type(action.actor).__name__}.{action.name}"] if action.actor is not None else []
    return (action.name, *owner, action.label.partition("(")[0], action.label)


def hidden_of(model: Model, given: Sequence[str]) -> list[Action]:
    """Return the actions that are never logged. Raises RunError[SW393]."""
    names = [name.strip() for text in given for name in text.split(",")]
    if names == ["all"]:
        return list(model.actions)
    known = {name for action in model.actions for name in names_of(action)}
    for name in names:
        if name not in known:
            said = did_you_mean(name, [a.name for a in model.actions])
            raise RunError("SW393", f"--hidden {name}: there is no such action. {said}")
    return [a for a in model.actions if not {*names_of(a)}.isdisjoint(names)]


def _says_otherwise(action: Action, event: Event) -> Iterator[bool]:
    for name, value in action.arguments:
        yield name in event.chosen and not fits(event.chosen[name], value)


def choices_differ(event: Event, action: Action, way: Way) -> Iterator[str]:
    """Yield what was logged of choices and is otherwise in a way of taking an action."""
    known = dict(action.arguments)
    for name, said in event.chosen.items():
        if name in known:
            if not fits(said, known[name]):
                yield f"{name} is {text_of(known[name])}"
            continue
        values = [c.value for c in way.choices if c.name in (name, f"self.{name}")]
        if not values:
            yield f"there is no choice {name}"
        elif not any(fits(said, value) for value in values):
            yield f"{name} is {text_of(values[0])}{other_kind(said, values[0])}"


def unknown(event: Event, what: str, name: str, known: Iterable[str]) -> RunError:
    """Return the error of an event that speaks of what the spec does not have."""
    return RunError(
        "SW391",
        f"{event.place}: {what} {name:.80}.",
        why=f"The event is {event.shown:.200}",
        help=did_you_mean(name, known),
    )
