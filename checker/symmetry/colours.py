"""Canonical fingerprints: equal for exactly the states of one orbit.

Each member gets a colour, first from the facts about it alone. Facts that relate members refine the
colours, until they tell no more members apart. Members that are still equal are interchangeable
unless a fact relates two of them; then each of a group in turn is set apart, and the least outcome
counts. A member that can change places with one already tried, everything else staying where it
is, need not be tried itself.

So equal orbits have equal fingerprints, and different ones different fingerprints up to a collision
of digests.

Source: colour refinement with individualisation, McKay and Piperno, "Practical graph isomorphism
II", 2014.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from statewalk.checker.states.fingerprints import Fingerprints
from statewalk.checker.symmetry.facts import APART, Fact, Facts, Lanes, Slice, added, join, mix, run
from statewalk.dsl.values.canonical import intern_key
from statewalk.dsl.view import State

Colours = list[Lanes]


@dataclass(frozen=True)
class Canonical:
    """The canonical form of a state.

    ``fingerprint`` is that of its orbit, ``colours`` tell the members' places in the
    representative, ``stabiliser`` counts the permutations that leave the state as it is.
    """

    fingerprint: Lanes
    colours: tuple[Lanes, ...]
    stabiliser: int


class Colouring:
    """Canonical fingerprints of one model's states. ``base`` is what constant fields add.

    Compiled twin:  statewalk.checker.native.kernels.orbit_kernels.orbits
    """

    def __init__(self, facts: Facts, fingerprints: Fingerprints, base: Lanes = (0, 0)) -> None:
        self.facts = facts
        self.fingerprints = fingerprints
        self.base = base
        self._slices: dict[object, Slice] = {}

    def of(self, state: State) -> Canonical:
        """Return the orbit of a state. Slots that a view hides do not count."""
        rest, colours, related = self.first(state)
        found = self._least(self._refined(colours, related), related)
        return Canonical(added(found.fingerprint, rest), found.colours, found.stabiliser)

    def slice(self, path: object, value: object) -> Slice:
        """Return what a slot says, worked out once."""
        key = (path, intern_key(value))
        known = self._slices.get(key)
        if known is None:
            known = self.facts.slice(path, value, self.fingerprints)  # type: ignore[arg-type]
            self._slices[key] = known
        return known

    def first(self, state: State) -> tuple[Lanes, Colours, list[Fact]]:
        """Return what mentions nobody; colours by the facts about each member alone; the other
        facts.
        """
        rest = self.base
        sums: list[Lanes] = [(0, 0)] * len(self.facts.members)
        related: list[Fact] = []
        for path, value in state.items():
            if self.fingerprints.hidden(path):
                continue
            found = self.slice(path, value)
            rest = added(rest, found.rest)
            related += found.facts
            for member, lanes in found.single:
                sums[member] = added(sums[member], lanes)
        colours = [
            _joined((cell + 1, cell + 1), s) for cell, s in zip(self.facts.cell, sums, strict=True)
        ]
        return rest, colours, related

    # -- refining --------------------------------------------------------------------------------

    def _refined(self, colours: Colours, related: Sequence[Fact]) -> Colours:
        """Colours refined until they tell no more members apart."""
        distinct = _distinct(colours)
        while related and distinct < len(colours):
            sums: list[Lanes] = [(0, 0)] * len(colours)
            for fact in related:
                for member in fact.members:
                    sums[member] = added(sums[member], _mixed(run(fact, colours, member)))
            # the last round counts too: a member set apart later must not look like one before
            colours = [_joined(c, s) for c, s in zip(colours, sums, strict=True)]
            before, distinct = distinct, _distinct(colours)
            if distinct == before:
                break
        return colours

    # -- breaking ties ---------------------------------------------------------------------------

    def _least(self, colours: Colours, related: Sequence[Fact]) -> Canonical:
        """Return the least outcome: ties that matter are broken in every way."""
        group = self._entangled(colours, related)
        if not group:
            ties = Counter(high for high, _ in colours).values()
            return Canonical(
                _total(colours, related), tuple(colours), math.prod(map(math.factorial, ties))
            )
        tried: list[tuple[int, Canonical]] = []
        for member in group:
            twin = next((o for m, o in tried if self._twins(m, member, related)), None)
            if twin is None:
                apart = list(colours)
                apart[member] = _joined(apart[member], APART)
                twin = self._least(self._refined(apart, related), related)
            tried.append((member, twin))
        least = min(tried, key=lambda t: t[1].fingerprint)[1]
        alike = sum(o.fingerprint == least.fingerprint for _, o in tried)
        return Canonical(least.fingerprint, least.colours, alike * least.stabiliser)

    def _entangled(self, colours: Colours, related: Sequence[Fact]) -> list[int]:
        """Return the group of equal members to set apart: that of the least colour which has
        one that a fact relates to another tied one. Empty where ties do not matter.
        """
        ties = Counter(high for high, _ in colours)
        touched: set[int] = set()
        for fact in related:
            loose = [m for m in fact.members if ties[colours[m][0]] > 1]
            if len(loose) > 1:
                touched.update(loose)
        if not touched:
            return []
        least = min(colours[m][0] for m in touched)
        return [m for m, (high, _) in enumerate(colours) if high == least]

    def _twins(self, one: int, other: int, related: Sequence[Fact]) -> bool:
        """Return whether exchanging two members, and nobody else, leaves all facts as they are."""
        names = [(mix(n + 1), mix(n + 1)) for n in range(len(self.facts.members))]
        touching = [f for f in related if one in f.members or other in f.members]
        before = _sum(touching, names)
        names[one], names[other] = names[other], names[one]
        return before == _sum(touching, names)


def _joined(one: Lanes, other: Lanes) -> Lanes:
    return join(one[0], other[0], 0), join(one[1], other[1], 1)


def _mixed(lanes: Lanes) -> Lanes:
    return mix(lanes[0]), mix(lanes[1])


def _distinct(colours: Colours) -> int:
    return len({high for high, _ in colours})


def _sum(facts: Sequence[Fact], colours: Colours) -> Lanes:
    total = (0, 0)
    for fact in facts:
        total = added(total, _mixed(run(fact, colours)))
    return total


def _total(colours: Colours, related: Sequence[Fact]) -> Lanes:
    """Return what members and facts add to the fingerprint under final colours."""
    total = _sum(related, colours)
    for colour in colours:
        total = added(total, _mixed(colour))
    return total
