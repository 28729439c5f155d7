"""The workloads of the driver's sessions: transactions as lists of steps, and initial data.

Steps: ("r", k) read, ("w", k) write, ("list", k) read a list, ("append", k), ("range", low,
high), ("meet",) wait until the session's partner is as far, ("pause",), ("abort",) give up.
BlindW is Cobra's (OSDI 2020): reading and writing transactions apart, blind writes.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from statewalk.checker.history.collect.applications import APPLICATIONS, Application

Step = tuple[str, *tuple[int, ...]]
Plan = list[Step]
_WIDTH = 10


@dataclass(frozen=True, slots=True)
class Shape:
    """The size of a workload: operations per transaction, keys, sessions."""

    operations: int = 8
    keys: int = 100
    sessions: int = 4


def _keys(rng: random.Random, shape: Shape, n: int) -> list[int]:
    return rng.sample(range(shape.keys), min(n, shape.keys))


def _blindw(reading: float) -> Callable[[random.Random, Shape, int], Plan]:
    def plan(rng: random.Random, shape: Shape, _: int) -> Plan:
        if rng.random() < reading:
            return [("r", k) for k in _keys(rng, shape, shape.operations)]
        # in order of the keys, or databases that lock would spend the time in deadlocks
        return [("w", k) for k in sorted(_keys(rng, shape, shape.operations))]

    return plan


def _rmw(rng: random.Random, shape: Shape, _: int) -> Plan:
    steps: Plan = []
    for k in sorted(_keys(rng, shape, max(1, shape.operations // 2))):
        steps += [("r", k), ("pause",), ("w", k)]
    return steps


def _append(rng: random.Random, shape: Shape, _: int) -> Plan:
    words = ("append", "list")
    return [(rng.choice(words), k) for k in sorted(_keys(rng, shape, shape.operations))]


def _range(rng: random.Random, shape: Shape, _: int) -> Plan:
    if rng.random() < 0.5:
        lows = _keys(rng, shape, max(1, shape.operations // 4))
        return [("range", k, k + _WIDTH - 1) for k in lows]
    return [("w", k) for k in sorted(_keys(rng, shape, shape.operations))]


def _bank(rng: random.Random, shape: Shape, _: int) -> Plan:
    if rng.random() < 0.2:
        return [("r", k) for k in range(min(shape.keys, 2 * shape.operations))]
    a, b = sorted(rng.sample(range(max(2, shape.keys)), 2))
    return [("r", a), ("r", b), ("pause",), ("w", a), ("w", b)]


def _application(application: Application) -> Callable[[random.Random, Shape, int], Plan]:
    def plan(rng: random.Random, shape: Shape, _: int) -> Plan:
        return application.plan(rng, shape.keys)

    return plan


def _partners(*steps: str) -> Callable[[random.Random, Shape, int], Plan]:
    """Let two sessions meet over two keys of their own: x and y, or y and x, by who it is."""

    def plan(rng: random.Random, shape: Shape, session: int) -> Plan:
        x = 2 * (session // 2)
        here, there = (x, x + 1) if session % 2 == 0 else (x + 1, x)
        named = {"r-first": ("r", x), "r-second": ("r", x + 1), "w-own": ("w", here),
                 "w-other": ("w", there), "w-first": ("w", x)}  # fmt: skip
        return [named.get(step, (step,)) for step in steps]

    return plan


def _dirty_read(_: random.Random, shape: Shape, session: int) -> Plan:
    """One session writes and gives up; between, another reads."""
    x = session // 2
    if session % 2:
        return [("meet",), ("r", x), ("meet",)]
    return [("w", x), ("meet",), ("meet",), ("abort",)]


def _late_append(_: random.Random, shape: Shape, session: int) -> Plan:
    """One session reads two lists, lets another append to both, appends to one, reads both."""
    x = 2 * (session // 2)
    if session % 2:  # begins when the partner has read, and again when this is committed
        return [("meet",), ("append", x), ("append", x + 1)]
    lists: Plan = [("list", x), ("list", x + 1)]
    return [*lists, ("meet",), ("meet",), ("append", x), *lists]


WORKLOADS: dict[str, tuple[str, Callable[[random.Random, Shape, int], Plan]]] = {
    "blindw-rw": ("half read-only and half write-only transactions", _blindw(0.5)),
    "blindw-rm": ("nine in ten transactions read-only", _blindw(0.9)),
    "rmw": ("read a key, pause, write it", _rmw),
    "append": ("append to lists and read them", _append),
    "range": ("range queries and blind writes, inserting", _range),
    "bank": ("transfers between two accounts, and reading all", _bank),
    "lost-update": (
        "pairs of sessions read one key, meet, and write it",
        _partners("r-first", "meet", "w-first"),
    ),
    "write-skew": (
        "pairs of sessions read two keys, meet, and write one each",
        _partners("r-first", "r-second", "meet", "w-own"),
    ),
    "late-append": (
        "one session reads two lists, another appends to both, the first appends and reads",
        _late_append,
    ),
    **{name: (a.text, _application(a)) for name, a in APPLICATIONS.items()},
    "dirty-read": ("one session writes, another reads, the first gives up", _dirty_read),
}


def initial_of(workload: str, shape: Shape) -> list[tuple[int, int]]:
    """Return what registers hold before: 0, everywhere but for lists, and for `range` in every
    other.
    """
    if workload in APPLICATIONS:
        return [(k, 0) for k in APPLICATIONS[workload].initial(shape.keys)]
    if workload in ("append", "late-append"):
        return []
    if workload in ("lost-update", "write-skew", "dirty-read"):
        return [(k, 0) for k in range(shape.sessions + 1)]
    return [(k, 0) for k in range(0, shape.keys, 2 if workload == "range" else 1)]
