"""The effect of outcomes on each variable alone, as moves from value to value.

An operation takes a variable from each value that it was met with to another. A write of which it
is not known what it replaces may replace everything: each value leads to the variable's *hub*, and
that to what is written.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from statewalk.checker.native.kernels.arrays import Array
from statewalk.checker.native.learn.learned import Learned


class Moves(NamedTuple):
    """Moves by their places among the values of all variables and the hubs, ``places`` in all.

    Shapes:     pairs (2, moves), to_hub (2, places) int64: from, to · write (moves,) int64: which
                write makes it · outcome (writes,) int64
    """

    places: int
    pairs: Array
    to_hub: Array
    write: Array
    outcome: Array


def moves_of(learned: Learned) -> Moves:
    """Return what the outcomes that are known do."""
    sizes = np.array([len(slot.values) + 1 for slot in learned.layout.slots], np.int64)
    ends = np.cumsum(sizes)
    places = int(sizes.sum())
    to_hub = np.stack([np.arange(places), np.repeat(ends - 1, sizes)])
    return Moves(places, *_moves(learned, (ends - sizes).tolist(), (ends - 1).tolist(), to_hub))


def _moves(
    learned: Learned, first: list[int], hub: list[int], to_hub: Array
) -> tuple[Array, Array, Array, Array]:
    """Return the arrays; ``first`` and ``hub`` are the places by slot."""
    source: list[int] = []
    target: list[int] = []
    write: list[int] = []
    outcome: list[int] = []
    for (known, blind, _), number in learned.outcome_of.items():
        for slot, old, new in known:
            source.append(first[slot] + old)
            target.append(first[slot] + new)
            write.append(len(outcome))
            outcome.append(number)
        for slot, new in blind:
            if new >= 0:
                found = [(hub[slot], first[slot] + new), (first[slot] + new,) * 2]
            else:
                met = learned.operated.pairs(-1 - new)
                found = [(first[slot] + old, first[slot] + to) for old, to in met]
            for pair in found:
                source.append(pair[0])
                target.append(pair[1])
                write.append(len(outcome))
            outcome.append(number)
    pairs = np.array([source, target], np.int64)
    return pairs, to_hub, np.array(write, np.int64), np.array(outcome, np.int64)
