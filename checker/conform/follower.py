"""Making one level of what may be true after the other."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from statewalk.checker.conform.fits import actions_of, choices_differ
from statewalk.checker.conform.followed import MANY, Followed, Frontier, Marks, Spot
from statewalk.checker.contract.search import Step
from statewalk.dsl.values.stored import ABSENT, same

if TYPE_CHECKING:
    from statewalk.checker.conform.events import Event
    from statewalk.checker.conform.order import Cut
    from statewalk.dsl.model import Action
    from statewalk.dsl.view import Path

_MOST_FITTING = 200_000
_WIDE = 5_000  # states at a time from which on one behavior is looked for, depth first
_MOST_COUNTED = 200_000
_TELL = 1_000  # of them between words on how far it is


@dataclass
class Follower:
    """Makes one level after the other."""

    followed: Followed
    marks: Marks
    watched: Sequence[Path] = ()
    deep: Callable[[Follower, int], bool] = lambda follower, most: False
    meant: dict[str, list[Action]] = field(default_factory=dict)
    fitted: dict[tuple[str, int], tuple[tuple[Step, int], ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.wide: float = math.inf if self.followed.limits.deep else _WIDE

    def go(self) -> None:
        """Go on until the log is followed, or cannot be."""
        followed, limits = self.followed, self.followed.limits
        while True:
            level = followed.levels[-1]
            followed.widest = max(followed.widest, len(level.came))
            self.note_broken(level)
            if followed.accepted == followed.order.length:
                return
            if not self.widen(level):
                return
            followed.widest = max(followed.widest, len(level.bits))
            followed.bounded = followed.bounded or level.cut
            following = self.taken(level)
            self.tell(len(following.came))
            if limits.interrupted():
                followed.undecided = "it was interrupted"
                return
            if not following.came:
                return
            if self.ends(len(following.came)):
                return
            followed.levels.append(following)
            self.forget()

    def tell(self, states: int) -> None:
        """Say how far it is."""
        followed = self.followed
        several = f"{followed.accepted:,} of {followed.order.length:,} events"
        followed.limits.told(f"{several}, {states:,} states at a time")

    def ends(self, states: int) -> bool:
        """Return whether so many states at a time are the end: there may be no more, or one
        behavior was found that the whole log can be. That is looked for with as much work as was
        done, each time that there are four times as many.
        """
        followed, limits = self.followed, self.followed.limits
        over = states > limits.states
        if states > self.wide:
            self.wide = 4 * states
            followed.tried = True
            if not followed.spoiled and self.deep(self, states):
                followed.instead = states
                return True
        if over:
            followed.undecided = f"more than {limits.states:,} states at a time"
        return over

    def forget(self) -> None:
        """Forget what was true before and led nowhere, so that long logs fit into the memory."""
        levels = self.followed.levels
        levels[-2].bits, levels[-2].ways = {}, {}
        at = len(levels) - 2
        while at >= 0 and levels[at].forget(levels[at + 1]):
            at -= 1

    def note_broken(self, level: Frontier) -> None:
        """Note the properties that no behavior so far leaves unbroken, and where each behavior
        violates some property those of which it may be one.
        """
        followed, marks, bits = self.followed, self.marks, 0
        for spot in level.came:
            bits |= level.bits[spot]
        if bits & marks.clean:
            return
        props = [*followed.steps.invariants, *followed.steps.of_steps]
        for at, prop in enumerate(props):
            if not marks.kept(bits, at):
                followed.broken.setdefault(prop.name, followed.accepted)
        if not followed.spoiled:
            names = [prop.name for at, prop in enumerate(props) if marks.violated(bits, at)]
            followed.spoiled = dict.fromkeys(names, followed.accepted)

    def widen(self, level: Frontier) -> bool:
        """Add what hidden steps lead to, one step on at a time: so each bit comes to a spot by as
        few as it can. Whether that could be done.
        """
        followed, most = self.followed, self.followed.limits.hidden
        edges: dict[Spot, set[Spot]] = {}
        gained, taken = dict(level.bits), 0
        while gained and followed.hidden:
            if taken == most:
                ways = (after for spot in gained for after, _ in self.unlogged(spot))
                level.cut = any(after not in level.bits for after in ways)
                break
            taken += 1
            following: dict[Spot, int] = {}
            for spot, bits in gained.items():
                for after, step in self.unlogged(spot):
                    if bits & self.marks.there:
                        edges.setdefault(spot, set()).add(after)
                    if new := self.reach(level, spot, after, step, bits):
                        following[after] = following.get(after, 0) | new
                if not len(level.bits) % _TELL:
                    self.tell(len(level.bits))
                if self.ends(len(level.bits)):
                    return False
            gained = following
        self.count(level, edges)
        return True

    def unlogged(self, spot: Spot) -> Iterator[tuple[Spot, Step]]:
        """Yield the hidden steps from a spot that change something, and where they lead."""
        for action in self.followed.hidden:
            for way in self.followed.steps.ways(spot[1], action):
                if way.error is not None or way.after == spot[1]:
                    continue
                if not (self.watched and self.is_logged(spot[1], way.after)):
                    yield (spot[0], way.after, spot[2]), Step(action.index, way.script)

    def is_logged(self, before: int, after: int) -> bool:
        """Return whether a step changes a field of which every change is logged."""
        old, new = map(self.followed.content, (before, after))
        return any(not same(old.get(path, ABSENT), new.get(path, ABSENT)) for path in self.watched)

    def reach(self, level: Frontier, spot: Spot, after: Spot, step: Step, bits: int) -> int:
        """Note a hidden step; which bits it is the first to bring to where it leads."""
        broken, known = self.followed.steps.broken(spot[1], after[1]), level.bits.get(after, 0)
        new = self.marks.after(bits, broken) & ~known
        if new & self.marks.there:
            level.went[after] = (spot, step, None)
        if new & self.marks.clean:
            level.clean.went[after] = (spot, step, None)
        if new:
            level.bits[after] = known | new
        return new

    def count(self, level: Frontier, edges: dict[Spot, set[Spot]]) -> None:
        """Count the behaviors that lead to each spot; hidden steps in circles: endless."""
        most = self.followed.limits.hidden
        if most is not None:
            self.count_within(level, edges, most)
            return
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
        self.followed.endless = self.followed.endless or done < len(level.bits)

    def count_within(self, level: Frontier, edges: dict[Spot, set[Spot]], most: int) -> None:
        """Count those with so many hidden steps at most; in a large circle, none."""
        last, work = dict(level.ways), 0
        for _ in range(most):
            ways: dict[Spot, int] = {}
            for spot, several in last.items():
                for target in edges.get(spot, ()):
                    ways[target] = min(MANY, ways.get(target, 0) + several)
            for target, several in ways.items():
                level.ways[target] = min(MANY, level.ways.get(target, 0) + several)
            last, work = ways, work + len(ways)
            if not ways:
                return
            if work > _MOST_COUNTED:
                self.followed.endless = True
                return

    def taken(self, level: Frontier) -> Frontier:
        """Return what may be true after one more event."""
        found, marks = Frontier(), self.marks
        for spot, bits in level.bits.items():
            for event, cut in self.followed.order.next(spot[0]):
                for step, after in self.going(event, spot, cut):
                    link = (spot, step, event)
                    new = marks.after(bits, self.followed.steps.broken(spot[1], after[1]))
                    found.came.setdefault(after, link)
                    if new & marks.clean:
                        found.clean.came.setdefault(after, link)
                    found.bits[after] = found.bits.get(after, 0) | new
                    ways = found.ways.get(after, 0) + level.ways.get(spot, 1)
                    found.ways[after] = min(ways, MANY)
        return found

    def going(self, event: Event, spot: Spot, cut: Cut) -> Iterator[tuple[Step, Spot]]:
        """Yield the steps that an event can be, and the spots that they lead to."""
        followed = self.followed
        for step, number in self.fitting(event, spot[1]):
            if not followed.messages.speaks(event):
                yield step, (cut, number, spot[2])
                continue
            ways = followed.steps.ways(spot[1], followed.model.actions[step.action])
            way = next(way for way in ways if way.script == step.choices)
            contents = map(followed.content, (spot[1], number))
            for known in followed.messages.after(spot[2], event, cut, way, *contents):
                yield step, (cut, number, known)

    def actions(self, event: Event) -> list[Action]:
        """Return the action instances that an event may mean."""
        key = repr((event.action, event.actor, event.chosen))
        if key not in self.meant:
            self.meant[key] = actions_of(self.followed.model, event)
        return self.meant[key]

    def fitting(self, event: Event, number: int) -> tuple[tuple[Step, int], ...]:
        """Return the steps in a state that an event can be, and the states that they lead to."""
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
        """Return what was logged to change and does not."""
        contents = map(self.followed.content, (before, after))
        return self.followed.fields.unchanged(action, event, *contents)

    def fields_differ(
        self, event: Event, action: Action, number: int, said: object
    ) -> Iterator[str]:
        """Return what was logged of a state and is otherwise in it."""
        content = self.followed.content(number)
        return self.followed.fields.differences(said, action.actor, event, content)  # type: ignore[arg-type]
