"""The states a log may have led to: a level per event, and how each was reached."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from statewalk.checker.conform.fits import Fields
from statewalk.checker.conform.steps import Steps
from statewalk.checker.contract.search import Step

if TYPE_CHECKING:
    from statewalk.checker.conform.events import Event
    from statewalk.checker.conform.messages import Messages
    from statewalk.checker.conform.order import Cut, Order
    from statewalk.dsl.model import Action, Model
    from statewalk.dsl.view import Path

Spot = tuple["Cut", int, int]
"""The part of the log that has happened, the number of the spec's state, and that of what is known
of the log's messages.
"""
Link = tuple[Spot, Step, "Event | None"]
"""Where a spot was reached from, by which step, and the event that it is (None: a hidden one)."""
MANY = 10**18
"""Behaviors are counted so far."""


@dataclass
class Limits:
    """``hidden`` steps at most between two events (None: any number), ``states`` at most in a level
    (a log that needs more is undecided). No hidden step changes a field that is ``watched``.
    ``told`` hears how far it is.
    ``deep``: one behavior is looked for first, depth first.
    """

    hidden: int | None = None
    states: int = 100_000
    interrupted: Callable[[], bool] = lambda: False
    told: Callable[[str], None] = lambda said: None
    watched: Sequence[str] = ()
    deep: bool = False


@dataclass(frozen=True)
class Marks:
    """Facts about the behaviors that lead to a spot, a bit each: of each property, whether
    one keeps it; whether one is ``clean``, violating nothing; whether one is ``there`` at all; and
    again of each property, whether one violates it.

    Each bit says that there is a behavior, so those of several ways are joined.
    """

    properties: int

    @property
    def clean(self) -> int:
        return 1 << self.properties

    @property
    def there(self) -> int:
        return 2 << self.properties

    def first(self, broken: int) -> int:
        """Return those of an initial state that violates some properties."""
        return self.after((4 << self.properties) - 1, broken)

    def after(self, bits: int, broken: int) -> int:
        """Return those of what is one step on, which violates some properties."""
        if not broken:
            return bits
        kept = bits & ~(broken | self.clean)
        return kept | broken << self.properties + 2 if bits & self.there else kept

    def kept(self, bits: int, at: int) -> int:
        """Return whether a behavior keeps a property."""
        return bits >> at & 1

    def violated(self, bits: int, at: int) -> int:
        """Return whether a behavior violates a property."""
        return bits >> self.properties + 2 + at & 1


@dataclass(slots=True)
class Trail:
    """The first way to each spot: ``came`` from the level before (None: it is an initial state),
    ``went`` by hidden steps within this one.
    """

    came: dict[Spot, Link | None] = field(default_factory=dict)
    went: dict[Spot, Link] = field(default_factory=dict)

    def parents(self) -> set[Spot]:
        """Return the spots of the level before that this one was reached from."""
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


@dataclass(slots=True)
class Frontier(Trail):
    """The possible states after so many events, and the ways there; ``clean`` says
    the same of the behaviors that violate nothing. ``bits`` are those of `Marks`.
    """

    clean: Trail = field(default_factory=Trail)
    bits: dict[Spot, int] = field(default_factory=dict)
    ways: dict[Spot, int] = field(default_factory=dict)
    cut: bool = False

    def forget(self, following: Frontier) -> bool:
        """Forget what leads to nothing in the level that follows; whether there was such."""
        forgotten = self.clean.keep(following.clean.parents())
        return self.keep(following.parents()) or forgotten


@dataclass
class Followed:
    """The result of following a log. ``levels`` are as many as events were accepted, and one.

    ``undecided`` says why it is not known further. ``broken`` names properties that are violated
    in every behavior that the log can be, with the number of events after which that is so;
    ``spoiled`` those of which every behavior violates one, not always the same.
    ``endless``: hidden steps may go round, so behaviors are not counted. ``first``: one
    behavior was looked for, and no others, ``instead`` of so many states at a time; ``tried``: for
    one that was not found.
    """

    model: Model
    order: Order
    steps: Steps
    fields: Fields
    messages: Messages
    levels: list[Frontier]
    limits: Limits
    hidden: tuple[Action, ...] = ()
    undecided: str = ""
    broken: dict[str, int] = field(default_factory=dict)
    spoiled: dict[str, int] = field(default_factory=dict)
    endless: bool = False
    first: bool = False
    instead: int = 0
    tried: bool = False
    widest: int = 0
    bounded: bool = False

    def content(self, number: int) -> Mapping[Path, Any]:
        """Return the content of a state with a number."""
        return self.fields.content(number, self.steps.states[number])

    @property
    def accepted(self) -> int:
        """Return how many events were accepted."""
        return len(self.levels) - 1

    @property
    def conforms(self) -> bool:
        """Return whether the whole log is a behavior of the spec."""
        return not self.undecided and self.accepted == self.order.length

    @property
    def behaviors(self) -> int:
        """Return how many behaviors the events accepted so far can be, `MANY` at most."""
        return min(MANY, sum(self.levels[-1].ways.get(spot, 0) for spot in self.levels[-1].came))

    def path(self) -> tuple[int, list[tuple[Step, Event | None]]]:
        """Return a behavior of the accepted events, one that violates nothing if there is:
        its initial state, its steps with their events.
        """
        first, links = self._links()
        initials = [self.steps.number(state) for state in self.model.initial_states]
        return initials.index(first[1]), [(step, event) for _, step, event in links]

    def numbers(self, last: Spot | None = None) -> list[int]:
        """Return the states of that behavior, or of one to another spot of the last level."""
        end, (_, links) = last or self._end(), self._links(last)
        return [*(before[1] for before, _, _ in links), end[1]]

    def _end(self) -> Spot:
        """Return where the behavior ends that is shown."""
        last = self.levels[-1]
        return min(last.clean.came or last.came)

    def _links(self, last: Spot | None = None) -> tuple[Spot, list[Link]]:
        """Return where that behavior begins, and the links that it takes."""
        clean = last is None and bool(self.levels[-1].clean.came)
        trails: list[Trail] = [level.clean if clean else level for level in self.levels]
        number, spot = len(trails) - 1, last or self._end()
        found: list[Link] = []
        while True:
            level = trails[number]
            if spot in level.came:
                link = level.came[spot]
                if link is None:
                    return spot, found[::-1]
                number -= 1
            else:
                link = level.went[spot]
            found.append(link)
            spot = link[0]
