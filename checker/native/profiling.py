"""The time of a search by action and property, and its widest variables."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from statewalk.checker.native.kernels.arrays import (
    BASE,
    CALL,
    CAPACITY,
    EDGES,
    FORK,
    KIND,
    OPERAND,
    SLOT,
)
from statewalk.checker.native.learn.learned import Learned, widths
from statewalk.checker.native.state import NativeSearch

_WIDEST = 20
_MOST_NODES = 10_000  # a sample is enough to see what a trie branches on


def profile_of(search: NativeSearch) -> dict[str, Any]:
    """Per root: kind, label, fired, walks, evaluations, seconds; the slots with most values."""
    learner = search.learner
    fired = {search.roots.first_action + i: int(n) for i, n in enumerate(search.fired)}
    worst = int(np.argmax(learner.time)) if len(learner.time) else -1
    return {
        "roots": [
            {
                "kind": root.kind,
                "label": root.label,
                "fired": fired.get(number, 0),
                "walks": int(search.walks[number]),
                "evaluations": int(learner.evaluations[number]),
                "seconds": float(learner.time[number]),
            }
            for number, root in enumerate(search.roots.all)
        ],
        "untranslated": [] if learner.programs is None else learner.programs.refused,
        "slots": widths(search.layout).most_common(_WIDEST),
        "looked_at": looked_at(learner.learned, worst, search.roots.all[worst].kind == "step")
        if worst >= 0
        else [],
    }


def looked_at(learned: Learned, root: int, of_steps: bool = False) -> list[tuple[str, int]]:
    """Return what a root's trie branches on: slots (and calls) with the number of branches, most
    first.

    In tries ``of_steps`` slots are numbered twice over: after the step and before it.
    """
    branches: Counter[str] = Counter()
    waiting = [int(learned.roots[root])]
    visited = 0
    while waiting and visited < _MOST_NODES:
        node = waiting.pop()
        if node <= 0:
            continue
        visited += 1
        record = learned.nodes.data[node]
        kind = int(record[KIND])
        if kind < CALL:
            slot = int(record[SLOT]) // 2 if of_steps else int(record[SLOT])
            branches[learned.layout.show(learned.layout.slots[slot].path)] += int(record[EDGES])
        elif kind < FORK:
            branches[_function(learned, int(record[OPERAND]))] += int(record[EDGES])
        if kind == FORK or not kind & 1:  # children that are hashed are not followed
            first = int(record[BASE])
            waiting += learned.edges.data[first : first + int(record[CAPACITY])].tolist()
    return branches.most_common(5)


def _function(learned: Learned, call: int) -> str:
    """Return the function of a remembered call, as in ``Store.read()``."""
    names = learned.calls[call].function
    return f"{names[-1]}()" if isinstance(names, tuple) else "a function"
