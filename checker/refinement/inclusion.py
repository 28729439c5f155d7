"""Inclusion of one model's behaviors in another's, as far as both are compared.

A *match* of a way is the set of states that the other may be in, when it does what was seen. Steps
that change nothing seen are left out on both sides (stuttering). A way of which the match is empty
is none of the other's: breadth first, so the first is a shortest. Finite behaviors only.

Source:  the subset construction (Rabin and Scott, Finite Automata and Their Decision Problems,
         1959), on the fly
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from statewalk.checker.liveness.conditions import CUT
from statewalk.checker.liveness.graph import Ints
from statewalk.checker.refinement.space import Space
from statewalk.checker.traces.trace import Trace

_PART = 1 << 16  # states
_MARKED = 1 << 27  # steps that are marked one by one rather than sorted
_ASKED = 1 << 10  # pairs between two looks at the clock
_EACH = 10  # places where the other may be that are shown for each of its steps
MOST = 5_000_000
"""Pairs of a state and a match that are looked at."""


@dataclass(frozen=True)
class Refused:
    """The first way that the other has not: ``way`` ends with the step that it has not.

    ``start`` is the initial state; ``match`` are states of the other before that step. ``sure`` is
    false where the other may be in further states: an initial state or a step of a match on the way
    is not known, or it raises.
    """

    start: int
    way: list[int]
    match: tuple[int, ...]
    sure: bool


@dataclass(frozen=True)
class Inclusion:
    """``refused`` is None where every way is one of the other's, as far as was looked: ``whole``
    tells whether that was everywhere. ``pairs`` were looked at, until ``ended`` if that is not
    empty: the limit, in words.
    """

    refused: Refused | None
    pairs: int
    whole: bool = True
    ended: str = ""


@dataclass
class _Matches:
    """The matches met so far, by number, and what follows them.

    ``sure`` tells which are all states that the other may be in: no step that may have led
    elsewhere is unknown, from the initial states on and out of the match itself. Whether it raises
    is looked at only ``asked`` to.
    """

    space: Space
    seen: list[int]
    asked: bool
    numbers: dict[tuple[frozenset[int], bool], int] = field(default_factory=dict)
    sets: list[frozenset[int]] = field(default_factory=list)
    sure: list[bool] = field(default_factory=list)
    after: list[dict[int, int] | None] = field(default_factory=list)

    def number(self, states: Iterable[int], sure: bool) -> int:
        """Return the number of a match: the states, and what they lead to unseen. ``sure`` is
        that of the match before.
        """
        closed = set(states)
        queue = list(closed)
        for state in queue:
            for _, to in self.space.out(state):
                if to not in closed and self.seen[to] == self.seen[state]:
                    closed.add(to)
                    queue.append(to)
        sure = sure and all(self.space.whole[state] for state in closed)
        if self.asked:
            sure = sure and not any(map(self.space.raises, closed))
        key = frozenset(closed), sure
        if key not in self.numbers:
            self.numbers[key] = len(self.sets)
            self.sets.append(key[0])
            self.sure.append(key[1])
            self.after.append(None)
        return self.numbers[key]

    def step(self, match: int, seen: int) -> int | None:
        """Return the match after a step to another sight; None where there is no such step."""
        after = self.after[match]
        if after is None:
            found: dict[int, set[int]] = {}
            for state in self.sets[match]:
                for _, to in self.space.out(state):
                    if self.seen[to] != self.seen[state]:
                        found.setdefault(self.seen[to], set()).add(to)
            sure = self.sure[match]
            after = self.after[match] = {s: self.number(to, sure) for s, to in found.items()}
        return after.get(seen)


def included(
    space: Space,
    seen: Ints,
    other: Space,
    seen_other: Ints,
    ended: Callable[[], str] = lambda: "",
) -> Inclusion:
    """Return whether each way of a space is one of the other's. Shapes: seen (n,), sights by state.

    ``ended`` is asked now and then for a limit that ends it, in words; empty for none. A way that
    the other surely has not goes before one where that is not sure.
    """
    if _each_step_is_allowed(space, seen, other, seen_other):
        return Inclusion(None, space.graph.n, whole=not space.bound)
    found = _followed(space, seen, _Matches(other, seen_other.tolist(), asked=False), ended)
    if found.refused is None or not found.refused.sure or not other.graph.raised:
        return found
    return _followed(space, seen, _Matches(other, seen_other.tolist(), asked=True), ended)


def _followed(space: Space, seen: Ints, matches: _Matches, ended: Callable[[], str]) -> Inclusion:
    """Return the same, pair by pair."""
    mine: list[int] = seen.tolist()
    other = matches.space
    starts: dict[int, list[int]] = {}
    for state in other.initial:
        starts.setdefault(matches.seen[state], []).append(state)
    came: dict[tuple[int, int], tuple[tuple[int, int] | None, int]] = {}
    queue: list[tuple[int, int]] = []
    unsure: Refused | None = None
    begins = CUT not in other.graph.initial
    for state in space.initial:
        if mine[state] not in starts:
            refused = Refused(state, [], tuple(other.initial), begins)
            if begins:
                return Inclusion(refused, len(came))
            unsure = unsure or refused
            continue
        pair = (state, matches.number(starts[mine[state]], begins))
        if pair not in came:
            came[pair] = (None, -1)
            queue.append(pair)
    for number, pair in enumerate(queue):
        state, match = pair
        if number % _ASKED == 0 and (limit := ended()):
            return Inclusion(unsure, number, whole=False, ended=limit)
        for at, to in space.out(state):
            then = match if mine[to] == mine[state] else matches.step(match, mine[to])
            if then is None:
                if matches.sure[match]:
                    return Inclusion(_refused(matches, came, pair, at), len(came))
                unsure = unsure or _refused(matches, came, pair, at)
                continue
            if (to, then) not in came:
                came[(to, then)] = (pair, at)
                queue.append((to, then))
        if len(came) > MOST:
            return Inclusion(unsure, len(came), whole=False, ended=f"a limit of {MOST:,}")
    return Inclusion(unsure, len(came), whole=not space.bound)


def followed(found: Inclusion) -> str:
    """Return how far behaviors were followed until a limit, in words."""
    return f"{found.pairs:,} pairs of states were followed; {found.ended} ended it"


def beside(
    space: Space, seen: Ints, other: Space, seen_other: Ints, refused: Refused
) -> list[int] | None:
    """Return a way of the other on which the same is seen, up to the step that it has not;
    None where it does not even begin so. Empty where nothing is seen to happen.
    """
    states = [refused.start, *(space.targets[at] for at in refused.way[:-1])]
    word = [int(seen[state]) for state in states]
    word = [sight for at, sight in enumerate(word) if not at or sight != word[at - 1]]
    came: dict[tuple[int, int], tuple[tuple[int, int], int] | None] = {
        (state, 0): None for state in other.initial if seen_other[state] == word[0]
    }
    if not refused.way:
        return None
    queue = list(came)
    for state, met in queue:
        if met == len(word) - 1:
            way, back = [], came[(state, met)]
            while back is not None:
                way.append(back[1])
                back = came[back[0]]
            return way[::-1]
        for at, to in other.out(state):
            sight = seen_other[to]
            then = (to, met + int(sight != word[met]))
            if sight in (word[met], word[met + 1]) and then not in came:
                came[then] = ((state, met), at)
                queue.append(then)
    return None


def allowed(other: Space, refused: Refused) -> list[Trace]:
    """Return what the other has instead of the step that it has not, each as a trace of
    one step.
    """
    places: dict[int, list[tuple[int, int]]] = {}
    for state in refused.match if refused.way else ():
        for at, _ in other.out(state):
            known = places.setdefault(int(other.graph.labels[at]), [])
            if len(known) < _EACH:
                known.append((state, at))
    found: dict[str, Trace] = {}
    for state, at in (place for known in places.values() for place in known):
        one = other.step(state, at)
        found.setdefault(str(one), one)
    return list(found.values())


def _each_step_is_allowed(space: Space, seen: Ints, other: Space, seen_other: Ints) -> bool:
    """Return whether each step of a space is one of the other's, where a sight is of one state
    only.
    """
    most = int(max(seen.max(initial=0), seen_other.max(initial=0))) + 1
    if len(np.unique(seen_other)) < other.graph.n:
        return False
    if not np.isin(seen[space.graph.start()], seen_other[other.graph.start()]).all():
        return False
    theirs, mine = _steps_seen(other, seen_other, most), _steps_seen(space, seen, most)
    if most * most <= _MARKED:
        known = np.eye(most, dtype=np.bool_).ravel()  # what changes nothing seen is allowed
        for steps in theirs:
            known[steps] = True
        return all(known[steps].all() for steps in mine)
    found = np.unique(np.concatenate([*map(np.unique, theirs)]))
    return all(
        np.isin(steps[steps % most != steps // most], found).all() for steps in map(np.unique, mine)
    )


def _steps_seen(space: Space, seen: Ints, most: int) -> Iterator[NDArray[np.int64]]:
    """Yield the steps that are not cut, each as a number by what is seen, by parts of the graph."""
    graph = space.graph
    cut = any(graph.cut.values())
    for first in range(0, graph.n, _PART):
        end = min(graph.n, first + _PART)
        sources = seen[first:end].astype(np.int64) * most
        targets = graph.targets[graph.offsets[first] : graph.offsets[end]]
        steps = np.repeat(sources, np.diff(graph.offsets[first : end + 1])) + seen[targets]
        yield steps[targets != CUT] if cut else steps
    yield np.zeros(0, np.int64)


def _refused(
    matches: _Matches,
    came: dict[tuple[int, int], tuple[tuple[int, int] | None, int]],
    pair: tuple[int, int],
    at: int,
) -> Refused:
    """Return the way to a pair and one step more."""
    match, sure, way = matches.sets[pair[1]], matches.sure[pair[1]], [at]
    before, by = came[pair]
    while before is not None:
        way.append(by)
        pair = before
        before, by = came[pair]
    return Refused(pair[0], way[::-1], tuple(sorted(match)), sure)
