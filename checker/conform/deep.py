"""Following a log depth first: one behavior that it can be, without all the others.

It goes on with the newest state that may be true, a logged step before a hidden one, and keeps
nothing but where it was. What it finds is a behavior that violates nothing; where it finds none,
nothing is known yet, and the log is followed breadth first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from statewalk.checker.conform.followed import Followed, Frontier, Link, Spot, Trail
from statewalk.checker.conform.follower import Follower


@dataclass
class _Place:
    """A spot on the way: the hidden steps since the last event, and how one may go on from it."""

    spot: Spot
    hidden: int
    going: Iterator[tuple[Spot, int, Link]]
    link: Link | None = None


def go_deep(follower: Follower, most: int) -> bool:
    """Look for a behavior of the whole log; whether there is one is said only where it is found.

    It gives up after so many spots, and another for each event.
    """
    followed = follower.followed
    limits, length = followed.limits, followed.order.length
    seen: dict[Spot, int] = {}
    for first in followed.levels[0].came:
        if followed.steps.violated(first[1]):
            continue
        way = [_Place(first, 0, _next(follower, first, 0))]
        seen[first] = 0
        while way:
            if sum(way[-1].spot[0]) == length:
                _keep(followed, way)
                return True
            if limits.interrupted() or len(seen) > most + length:
                return False
            found = next(way[-1].going, None)
            if found is None:
                way.pop()
                continue
            spot, hidden, link = found
            if spot in seen and (limits.hidden is None or seen[spot] <= hidden):
                continue
            seen[spot] = hidden
            way.append(_Place(spot, hidden, _next(follower, spot, hidden), link))
    return False


def _next(follower: Follower, spot: Spot, hidden: int) -> Iterator[tuple[Spot, int, Link]]:
    """Yield where one may be after a step that violates nothing, with the hidden steps since an
    event.
    """
    followed, steps = follower.followed, follower.followed.steps
    for event, cut in followed.order.next(spot[0]):
        for step, after in follower.going(event, spot, cut):
            if not steps.broken(spot[1], after[1]):
                yield after, 0, (spot, step, event)
    if followed.limits.hidden is not None and hidden >= followed.limits.hidden:
        return
    for after, step in follower.unlogged(spot):
        if not steps.broken(spot[1], after[1]):
            yield after, hidden + 1, (spot, step, None)


def _keep(followed: Followed, way: list[_Place]) -> None:
    """Put the behavior into levels, as if nothing else had been possible."""
    levels = [Frontier({way[0].spot: None}, clean=Trail({way[0].spot: None}))]
    for place in way[1:]:
        assert place.link is not None
        if place.link[2] is None:
            levels[-1].went[place.spot] = levels[-1].clean.went[place.spot] = place.link
        else:
            came: dict[Spot, Link | None] = {place.spot: place.link}
            levels.append(Frontier(came, clean=Trail(dict(came))))
    followed.levels = levels
    followed.first = True
    followed.widest = 1
