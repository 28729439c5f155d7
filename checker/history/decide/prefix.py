"""Prefix consistency as serializability: each transaction in two, its reads and its writes.

The reads of a transaction see one earlier state of a single order of commits; its writes come
some time later. So a history is prefix consistent exactly when its halves, reads before writes,
are serializable: the same rules and search decide it.
Source: Biswas and Enea (OOPSLA 2019), section 4.
"""

from __future__ import annotations

import numpy as np

from statewalk.checker.history.data import Floats, History, Ints
from statewalk.checker.history.decide.graph import BC, Graph, build
from statewalk.checker.history.decide.scan import Facts
from statewalk.dsl.library.levels import LEVELS, IsolationLevel


def halves(facts: Facts) -> Facts:
    """Return the same facts about halves: 2t reads what t reads, 2t + 1 writes what t writes."""
    reads, writes, order = facts.reads.copy(), 2 * facts.writes, 2 * facts.order
    reads[:, 0] *= 2
    reads[:, 2] = np.where(reads[:, 2] < 0, reads[:, 2], 2 * reads[:, 2] + 1)
    writes[:, 0] += 1
    writes[:, 1] = facts.writes[:, 1]
    order[:, :2] += 1
    order[:, 2] = facts.order[:, 2]
    return Facts(np.repeat(facts.members, 2), reads, writes, order)


def build_halves(history: History, facts: Facts, level: IsolationLevel) -> Graph:
    """Return the graph of the halves: one node each."""
    serial = LEVELS["strong-session-serializable" if level.session else "serializable"]
    graph = build(history, halves(facts), serial, 0.0)
    if not level.session:
        inside = np.full((len(facts.members), 8), -1, np.int64)
        inside[:, 0] = 2 * np.arange(len(facts.members))
        inside[:, 1] = inside[:, 0] + 1
        inside[:, 2], inside[:, 4] = BC, 0
        graph.add(inside, 0)
    return graph


def priority_of_halves(history: History, facts: Facts) -> Floats:
    """Return when each half probably was: the recorded begin and end, else the place in
    the file.
    """
    begin, end = history.begin[facts.members], history.end[facts.members]
    guess = np.repeat(facts.members.astype(np.float64), 2)
    if not np.isnan(begin).any():
        guess[::2], guess[1::2] = begin, np.where(np.isnan(end), begin, end)
    return guess


def events_of_halves(facts: Facts, order: Ints) -> list[tuple[int, bool]]:
    """Return an order of halves as begin and commit events of the history's transactions."""
    order = order[order < 2 * len(facts.members)]
    members = facts.members[order // 2].tolist()
    return list(zip(members, (order % 2 == 1).tolist(), strict=True))
