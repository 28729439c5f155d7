"""A starting point of the search for the version orders of parallel snapshot isolation.

A history that is not of snapshot isolation mostly is when a few reads are forgotten. Then the
order of commits of what is left is a good guess, and if nothing was forgotten it is a proof.
"""

from __future__ import annotations

import numpy as np

from statewalk.checker.history.data import Floats, History
from statewalk.checker.history.decide.core import cycle_support, support_of
from statewalk.checker.history.decide.graph import build, ranks
from statewalk.checker.history.decide.saturate import Reach, saturate
from statewalk.checker.history.decide.scan import Facts
from statewalk.checker.history.decide.search import decide
from statewalk.dsl.library.levels import LEVELS, IsolationLevel

_ROUNDS = 12


def commit_order(
    history: History, facts: Facts, level: IsolationLevel, priority: Floats, deadline: float
) -> Floats:
    """Return when each member may have committed; `priority` (n,) itself when that is not found
    out.

    Raises:  Undecided after the deadline (monotonic seconds).
    """
    snapshot = LEVELS["strong-session-si" if level.session else "si"]
    kept = facts
    for _ in range(_ROUNDS):
        graph = build(history, kept, snapshot, 0.0)
        guess = np.full(graph.size, -np.inf)
        guess[: 2 * graph.n] = np.repeat(priority, 2)
        done = saturate(graph, deadline=deadline)
        if len(done.order) < graph.size:
            blamed = cycle_support(graph)
        else:
            reach = Reach(graph, done.order)
            found = decide(graph, reach, guess, saturated=True, deadline=deadline)
            if found.holds:
                return ranks(found.order)[1 : 2 * graph.n : 2].astype(np.float64)
            blamed = support_of(graph, found.used)
        reads = kept.reads[~np.isin(kept.reads[:, 0], blamed)]
        if len(reads) == len(kept.reads):
            break
        kept = Facts(kept.members, reads, kept.writes, kept.order)
    return priority
