"""Breadth-first search in plain Python, shared by the twins.

States are hashable values. `successors(state)` yields the target of every transition, also where
two targets are equal. Counts are those of statewalk and TLC: an initial state is generated once,
and its depth is 1.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar

S = TypeVar("S", bound=Hashable)


def constants(**defaults: int) -> list[int]:
    """Return the constants of a twin: the defaults, or what `NAME=VALUE` arguments say instead."""
    given = dict(word.split("=") for word in sys.argv[1:])
    if unknown := given.keys() - defaults.keys():
        raise SystemExit(f"no such constants: {', '.join(sorted(unknown))}")
    return [int(given.get(name, value)) for name, value in defaults.items()]


def search(
    initial: S,
    successors: Callable[[S], Iterable[S]],
    correct: Callable[[S], bool],
    inside: Callable[[S], bool] = lambda state: True,
    step: Callable[[S, S], bool] = lambda state, target: True,
) -> None:
    """Search all states, check each, and print the counts.

    A state that is not `inside` is checked but neither counted nor searched. `step` is
    checked for every transition.
    """
    seen, outside, level = {initial}, set[Any](), [initial]
    generated, depth = 1, 1
    assert correct(initial), initial
    while True:
        following = []
        for state in level:
            for target in successors(state):
                generated += 1
                assert step(state, target), (state, target)
                if target in seen or target in outside:
                    continue
                assert correct(target), target
                if inside(target):
                    seen.add(target)
                    following.append(target)
                else:
                    outside.add(target)
        if not following:
            break
        level = following
        depth += 1
    print(f"distinct {len(seen)} generated {generated} depth {depth}")
