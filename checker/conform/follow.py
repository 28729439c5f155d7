"""Following a log: which states the spec may be in after each event.

Breadth first over sets of states: a level holds what may be true when so many events have happened.
Hidden actions, which are never logged, may happen between events. A log conforms where some state
is left after its last event.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from statewalk.checker.conform.fits import Fields, actions_of, choices_differ
from statewalk.checker.conform.steps import Steps
from statewalk.checker.contract.search import Step
from statewalk.checker.machine.watch import CutShort

if TYPE_CHECKING:
    from statewalk.checker.conform.events import Event
    from statewalk.checker.conform.order import Cut, Order
    from statewalk.dsl.model import Action, Model
    from statewalk.dsl.view import Path

Spot = tuple["Cut", int]
"""How much of the log has happened, and the number of the state that the spec is in."""
Link = tuple[Spot, Step, "Event | None"]
"""Where a spot was reached from, by which step, and the event that it is (None: a hidden one)."""
MANY = 10**18
"""Behaviours are counted so far."""
_MOST_FITTING = 200_000


@dataclass
class Limits:
    """``hidden`` steps at most between two events (None: any number), ``states`` at most in a level
    (a log that needs more is undecided). No hidden step changes a field that is ``watched``.
    """

    hidden: int | None = None
    states: int = 100_000
    interrupted: Callable[[], bool] = lambda: False
    watched: Sequence[str] = ()


@dataclass(slots=True)
class Level:
    """What may be true when so many events have happened. ``came`` says how a spot was reached from
    the level before (None: it is an initial state, whose index is in ``initial``), ``went`` how by
    hidden steps within this one.
    """

    came: dict[Spot, Link | None] = field(default_factory=dict)
    went: dict[Spot, Link] = field(default_factory=dict)
    clean: dict[Spot, int] = field(default_factory=dict)
    ways: dict[Spot, int] = field(default_factory=dict)
    cut: bool = False

    def parents(self) -> set[Spot]:
        """The spots of the level before that this one was reached from."""
        return {link[0] for link in self.came.values() if link is not None}

    def keep(self, needed: set[Spot]) -> bool:
        """Forget what leads to none of some spots; whether there was such."""
        waiting = list(needed)
        while waiting:
            if (link := self.went.get(waiting.pop())) and link[0] not in needed:
                needed.add(link[0])
                waiting.append(link[0])
        if len(needed) == len(self.came) + len(self.went):
            return False
        self.came = {spot: link for spot, link in self.came.items() if spot in needed}
        self.went = {spot: link for spot, link in self.went.items() if spot in needed}
        return True

    def __iter__(self) -> Iterator[Spot]:
        yield from self.came
        yield from self.went


@dataclass
class Followed:
    """Where a log led. ``levels`` are as many as events were accepted, and one.

    ``undecided`` says why it is not known further. ``broken`` names properties that are violated
    in every behaviour that the log can be, with the number of events after which that is so.
    ``endless``: hidden steps may go round, so behaviours cannot be counted.
    """

    model: Model
    order: Order
    steps: Steps
    fields: Fields
    levels: list[Level]
    limits: Limits
    hidden: tuple[Action, ...] = ()
    undecided: str = ""
    broken: dict[str, int] = field(default_factory=dict)
    endless: bool = False
    widest: int = 0
    bounded: bool = False

    def content(self, number: int) -> Mapping[Path, Any]:
        """The content of a state with a number."""
        return self.fields.content(number, self.steps.states[number])

    @property
    def accepted(self) -> int:
        """How many events were accepted."""
        return len(self.levels) - 1

    @property
    def conforms(self) -> bool:
        """Whether the whole log is a behaviour of the spec."""
        return not self.undecided and self.accepted == self.order.length

    @property
    def behaviours(self) -> int:
        """How many behaviours the events accepted so far can be, `MANY` at most."""
        return min(MANY, sum(self.levels[-1].ways.get(spot, 0) for spot in self.levels[-1].came))

    def path(self) -> tuple[int, list[tuple[Step, Event | None]]]:
        """A behaviour of the accepted events: its initial state, its steps with their events."""
        first, links = self._links()
        initials = [self.steps.number(state) for state in self.model.initial_states]
        return initials.index(first[1]), [(step, event) for _, step, event in links]

    def numbers(self) -> list[int]:
        """The states of that behaviour."""
        _, links = self._links()
        return [*(before[1] for before, _, _ in links), min(self.levels[-1].came)[1]]

    def _links(self) -> tuple[Spot, list[Link]]:
        """Where that behaviour begins, and the links that it takes."""
        number, spot = len(self.levels) - 1, min(self.levels[-1].came)
        found: list[Link] = []
        while True:
            level = self.levels[number]
            if spot in level.came:
                link = level.came[spot]
                if link is None:
                    return spot, found[::-1]
                number -= 1
            else:
                link = level.went[spot]
            found.append(link)
            spot = link[0]


def follow(
    model: Model,
    order: Order,
    hidden: Sequence[Action] = (),
    limits: Limits | None = None,
    steps: Steps | None = None,
) -> Followed:
    """Follow a log as far as the spec goes that way; ``steps`` are those that are known already."""
    steps = steps or Steps(model)
    everything = (1 << (len(steps.invariants) + len(steps.of_steps))) - 1
    first = Level()
    for state in model.initial_states:
        spot = (order.first(), steps.number(state))
        first.came[spot] = None
        first.clean[spot] = everything & ~steps.violated(spot[1])
        first.ways[spot] = 1
    followed = Followed(
        model, order, steps, Fields(model), [first], limits or Limits(), tuple(hidden)
    )
    try:
        watched = [followed.fields.watched(name) for name in followed.limits.watched]
        _Follower(followed, everything, watched).go()
    except CutShort as cut:
        followed.undecided = said_of(cut)
    model.look_outside()
    return followed


def said_of(cut: CutShort) -> str:
    """Why the log was not followed further."""
    why = {"time": "the time is over", "interrupt": "it was interrupted"}
    return f"{why.get(cut.reason, 'there is not enough memory')}, in {cut.place}"


@dataclass
class _Follower:
    """Makes one level after the other."""

    followed: Followed
    everything: int
    watched: Sequence[Path] = ()
    meant: dict[str, list[Action]] = field(default_factory=dict)
    fitted: dict[tuple[str, int], tuple[tuple[Step, int], ...]] = field(default_factory=dict)

    def go(self) -> None:
        followed, limits = self.followed, self.followed.limits
        while True:
            level = followed.levels[-1]
            followed.widest = max(followed.widest, len(level.came))
            self.note_broken(level)
            if followed.accepted == followed.order.length:
                return
            if not self.widen(level):
                return
            followed.widest = max(followed.widest, len(level.clean))
            followed.bounded = followed.bounded or level.cut
            following = self.taken(level)
            if limits.interrupted():
                followed.undecided = "it was interrupted"
                return
            if not following.came:
                return
            if len(following.came) > limits.states:
                followed.undecided = f"more than {limits.states:,} states at a time"
                return
            followed.levels.append(following)
            self.forget()

    def forget(self) -> None:
        """Forget what was true before and led nowhere, so that long logs fit into the memory."""
        levels = self.followed.levels
        levels[-2].clean, levels[-2].ways = {}, {}
        at = len(levels) - 2
        while at >= 0 and levels[at].keep(levels[at + 1].parents()):
            at -= 1

    def note_broken(self, level: Level) -> None:
        """Note the properties that no behaviour so far leaves unbroken."""
        left = 0
        for spot in level.came:
            left |= level.clean[spot]
        if left == self.everything:
            return
        steps = self.followed.steps
        for at, prop in enumerate([*steps.invariants, *steps.of_steps]):
            if not left >> at & 1:
                self.followed.broken.setdefault(prop.name, self.followed.accepted)

    def widen(self, level: Level) -> bool:
        """Add what hidden steps lead to; whether that could be done."""
        followed = self.followed
        depths = dict.fromkeys(level.came, 0)
        waiting = deque(level.came)
        edges: dict[Spot, set[Spot]] = {}
        while waiting and followed.hidden:
            spot = waiting.popleft()
            for action in followed.hidden:
                for way in followed.steps.ways(spot[1], action):
                    after = (spot[0], way.after)
                    if way.error is not None or way.after == spot[1]:
                        continue
                    if self.watched and self.is_logged(spot[1], way.after):
                        continue
                    if (
                        followed.limits.hidden is not None
                        and depths[spot] >= followed.limits.hidden
                    ):
                        level.cut = level.cut or after not in depths
                        continue
                    edges.setdefault(spot, set()).add(after)
                    if self.reach(level, spot, after, Step(action.index, way.script)):
                        depths.setdefault(after, depths[spot] + 1)
                        waiting.append(after)
            if len(depths) > followed.limits.states:
                followed.undecided = f"more than {followed.limits.states:,} states at a time"
                return False
        self.count(level, edges)
        return True

    def is_logged(self, before: int, after: int) -> bool:
        """Whether a step changes a field of which every change is logged."""
        old, new = map(self.followed.content, (before, after))
        return any(old.get(path) != new.get(path) for path in self.watched)

    def reach(self, level: Level, spot: Spot, after: Spot, step: Step) -> bool:
        """Note a hidden step; whether what it leads to has to be looked at again."""
        clean = level.clean[spot] & ~self.followed.steps.broken(spot[1], after[1])
        if after not in level.clean:
            level.went[after] = (spot, step, None)
            level.clean[after] = clean
            return True
        if clean & ~level.clean[after]:
            level.clean[after] |= clean
            return True
        return False

    def count(self, level: Level, edges: dict[Spot, set[Spot]]) -> None:
        """Count the behaviours that lead to each spot; hidden steps in circles: endless."""
        into: dict[Spot, int] = {}
        for targets in edges.values():
            for target in targets:
                into[target] = into.get(target, 0) + 1
        ready = [spot for spot in level if not into.get(spot)]
        done = 0
        while ready:
            spot = ready.pop()
            done += 1
            for target in edges.get(spot, ()):
                ways = level.ways.get(target, 0) + level.ways.get(spot, 0)
                level.ways[target] = min(ways, MANY)
                into[target] -= 1
                if not into[target]:
                    ready.append(target)
        self.followed.endless = self.followed.endless or done < len(level.clean)

    def taken(self, level: Level) -> Level:
        """What may be true after one more event."""
        found = Level()
        for spot in level:
            for event, cut in self.followed.order.next(spot[0]):
                for step, number in self.fitting(event, spot[1]):
                    after = (cut, number)
                    clean = level.clean[spot] & ~self.followed.steps.broken(spot[1], number)
                    if after not in found.came:
                        found.came[after] = (spot, step, event)
                    found.clean[after] = found.clean.get(after, 0) | clean
                    ways = found.ways.get(after, 0) + level.ways.get(spot, 1)
                    found.ways[after] = min(ways, MANY)
        return found

    def actions(self, event: Event) -> list[Action]:
        """The action instances that an event may mean."""
        key = repr((event.action, event.actor, event.chosen))
        if key not in self.meant:
            self.meant[key] = actions_of(self.followed.model, event)
        return self.meant[key]

    def fitting(self, event: Event, number: int) -> tuple[tuple[Step, int], ...]:
        """The steps in a state that an event can be, and the states that they lead to."""
        key = (event.said, number)
        if key not in self.fitted:
            if len(self.fitted) > _MOST_FITTING:
                self.fitted.clear()
            self.fitted[key] = tuple(self.tried(event, number))
        return self.fitted[key]

    def tried(self, event: Event, number: int) -> Iterator[tuple[Step, int]]:
        followed = self.followed
        for action in self.actions(event):
            if event.before and any(self.fields_differ(event, action, number, event.before)):
                continue
            for way in followed.steps.ways(number, action):
                if way.error is not None or any(choices_differ(event, action, way)):
                    continue
                if event.after and any(self.fields_differ(event, action, way.after, event.after)):
                    continue
                if event.changes and any(self.unchanged(event, action, number, way.after)):
                    continue
                yield Step(action.index, way.script), way.after

    def unchanged(self, event: Event, action: Action, before: int, after: int) -> Iterator[str]:
        """What was logged to change and does not."""
        contents = map(self.followed.content, (before, after))
        return self.followed.fields.unchanged(action, event, *contents)

    def fields_differ(
        self, event: Event, action: Action, number: int, said: object
    ) -> Iterator[str]:
        """What was logged of a state and is otherwise in it."""
        content = self.followed.content(number)
        return self.followed.fields.differences(said, action.actor, event, content)  # type: ignore[arg-type]
