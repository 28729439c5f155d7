"""The point where a log and a spec part: the states the spec could be in, why no step there
is the event that was logged, and which events it would have accepted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any

from statewalk.checker.conform.fits import actions_of, choices_differ, names_of, not_given
from statewalk.checker.states.content import short_names, show_field
from statewalk.checker.states.json import plain
from statewalk.checker.states.shortening import place, text_of
from statewalk.checker.verdict.guards import guard_of
from statewalk.dsl.values.stored import ABSENT, same

if TYPE_CHECKING:
    from statewalk.checker.conform.events import Event
    from statewalk.checker.conform.followed import Followed, Spot
    from statewalk.checker.conform.steps import Way
    from statewalk.dsl.model import Action

_STATES = 200  # looked at for the nearest step
_SHOWN = 3
_STEPS = 3  # lately


@dataclass(frozen=True)
class Refused:
    """The reason why an action is not the event in a state: its guard, or its other result."""

    action: str
    why: str


@dataclass(frozen=True)
class Allowed:
    """A step that was possible, as it would have been logged, and how it differs from the event."""

    event: dict[str, Any]
    differs: tuple[str, ...]


@dataclass(frozen=True)
class Candidate:
    """A state the spec could be in: its content by field, why the event is refused there, and what
    else was possible, the nearest first. ``lately`` are the fields that changed lately, the last
    first.
    """

    content: dict[str, str]
    refused: tuple[Refused, ...]
    allowed: tuple[Allowed, ...]
    lately: tuple[str, ...] = ()

    def telling(self) -> list[tuple[str, str]]:
        """Return the fields that what is refused speaks of, and then those that changed lately."""
        said = " ".join(f"{refused.action} {refused.why}" for refused in self.refused)
        words = set(re.findall(r"\w+(?:#\d+)?", said))
        named = [name for name in self.content if {*name.split(".")} <= words]
        lately = [name for name in self.lately if name in self.content]  # others are gone
        return [(name, self.content[name]) for name in dict.fromkeys([*named, *lately])]


@dataclass(frozen=True)
class Parting:
    """The events that could have come next, and the states in which none of them is a step;
    ``more`` states are not shown.
    """

    events: tuple[Event, ...]
    candidates: tuple[Candidate, ...]
    more: int


def parting_of(followed: Followed) -> Parting:
    """Return where and why a log that was not accepted to its end parts from the spec."""
    level = followed.levels[-1]
    spots = list(level)
    ranked = []
    for spot in spots[:_STATES]:
        for event, _ in followed.order.next(spot[0]):
            allowed = sorted(_allowed(followed, spot, event), key=lambda one: len(one.differs))
            refused = tuple(islice(_refused(followed, spot, event), _SHOWN))
            distance = len(allowed[0].differs) if allowed else 99
            ranked.append((distance, event, spot, refused, tuple(allowed[:_SHOWN])))
    ranked.sort(key=lambda one: one[0])
    events = {id(event): event for _, event, *_ in ranked}
    shown = tuple(
        Candidate(_shown(followed, spot), refused, allowed, _lately(followed, spot))
        for _, _, spot, refused, allowed in ranked[:_SHOWN]
    )
    return Parting(tuple(events.values()), shown, len(spots) - min(len(spots), _SHOWN))


def _shown(followed: Followed, spot: Spot) -> dict[str, str]:
    names = short_names(followed.model)
    constants = followed.fields.constants
    content = {p: v for p, v in followed.content(spot[1]).items() if p not in constants}
    return {show_field(path, names): text_of(value) for path, value in content.items()}


def _lately(followed: Followed, spot: Spot) -> tuple[str, ...]:
    """Return the fields that the last steps to a state changed, the last first."""
    names = short_names(followed.model)
    found: dict[str, bool] = {}
    numbers = followed.numbers(spot)[::-1]
    for after, before in pairwise(numbers[: _STEPS + 1]):
        new, old = followed.content(after), followed.content(before)
        lately = (path for path in new if not same(new[path], old.get(path, ABSENT)))
        found |= {show_field(path, names): True for path in lately}
    return tuple(found)


def _refused(followed: Followed, spot: Spot, event: Event) -> Iterator[Refused]:
    """Yield why each action that the event may mean is not it."""
    state = followed.steps.states[spot[1]]
    content = followed.content(spot[1])
    meant = actions_of(followed.model, event)
    if not meant and (why := "; ".join(not_given(followed.model, event))):
        yield Refused(event.action or "every action", why)
    for action in meant:
        before = list(followed.fields.differences(event.before, action.actor, event, content))
        if before:
            yield Refused(action.label, "before it, " + "; ".join(before))
            continue
        ways = followed.steps.ways(spot[1], action)
        if not ways:
            guard = guard_of(followed.model, action, state)
            why = "it is disabled here"
            if guard is not None and guard.file:
                because = f", with {guard.shown}" if guard.shown else ""
                where = f" ({place(guard.file, guard.line)})"
                why = f"{guard.said}{where}{'' if guard.idle else f' {guard.fails}{because}'}"
            yield Refused(action.label, why)
            continue
        best = min((_otherwise(followed, event, action, way, spot) for way in ways), key=len)
        yield Refused(action.label, "; ".join(best))


def _otherwise(followed: Followed, event: Event, action: Action, way: Way, spot: Spot) -> list[str]:
    """Return what a way of taking an action does otherwise than was logged."""
    if way.error is not None:
        return [f"it raises {type(way.error).__name__}: {way.error}"]
    before, after = map(followed.content, (spot[1], way.after))
    said = followed.fields.differences(event.after, action.actor, event, after)
    unchanged = followed.fields.unchanged(action, event, before, after)
    choices = [*choices_differ(event, action, way), *followed.messages.differ(spot[2], event, way)]
    return [*choices, *(f"after it, {one}" for one in said), *unchanged]


def _allowed(followed: Followed, spot: Spot, event: Event) -> Iterator[Allowed]:
    """Yield every step of a state, as an event with the keys that the logged one has."""
    for action in followed.model.actions:
        for way in followed.steps.ways(spot[1], action):
            if way.error is None:
                yield _as_event(followed, spot, event, action, way)


def _as_event(followed: Followed, spot: Spot, event: Event, action: Action, way: Way) -> Allowed:
    differs: list[str] = []
    made: dict[str, Any] = {"action": action.name}
    if event.action and event.action not in names_of(action):
        differs += ["action", "altogether"]  # another value is nearer than another action
    if action.actor is not None:
        made["actor"] = repr(action.actor)
        if event.actor not in ("", made["actor"]):
            differs.append("actor")
    named = [(name, value) for name, value in action.arguments]
    named += [(choice.name, choice.value) for choice in way.choices if choice.name]
    if named:
        made["with"] = {name: plain(value) for name, value in named}
    differs += choices_differ(event, action, way)
    differs += followed.messages.differ(spot[2], event, way)
    contents = [followed.content(n) for n in (spot[1], way.after)]
    differs += list(followed.fields.unchanged(action, event, *contents))
    for key, said, content in (
        ("before", event.before, contents[0]),
        ("after", event.after, contents[1]),
    ):
        if not said:
            continue
        paths = {name: followed.fields.path(name, action.actor, event) for name in said}
        known = {n: plain(content.get(path)) for n, path in paths.items() if path is not None}
        made |= {key: known} if known else {}
        differs += list(followed.fields.differences(said, action.actor, event, content))
    return Allowed(made, tuple(differs))
