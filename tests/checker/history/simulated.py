"""Histories to test and measure with: a small simulated store, and known anomalies to plant.

The store keeps every version and gives snapshots; the first to commit wins. Records have the
shape of the lines of our format (docs/reference/history-format.md).
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from statewalk.checker.history.collect.applications import APPLICATIONS

WORKLOADS = ("rw", "rm", "mixed", "range", "blind", "append", *APPLICATIONS)
Record = dict[str, Any]
Op = list[Any]
_APPENDS_PER_KEY = 16
_RANGE = 10


@dataclass(frozen=True, slots=True)
class Workload:
    """The workload: `rw` half read-only and half write-only transactions, `rm` nine in ten
    read-only, `mixed` random operations, `range` queries and blind writes, `blind` `writes` of
    writes, `append` lists, or an application of the collector.

    `stale` lets a snapshot be that many commits old, but not older than its session's last
    commit unless `session_order` is off; `lost` is the chance that a write conflict is missed.
    """

    kind: str
    transactions: int
    sessions: int = 24
    operations: int = 8
    keys: int = 2000
    seed: int = 0
    writes: float = 0.5
    stale: int = 0
    session_order: bool = True
    lost: float = 0.0


@dataclass(slots=True)
class _Running:
    session: int
    snapshot: int
    plan: list[tuple[str, int]]
    begin: int
    ops: list[Op] = field(default_factory=list)
    own: dict[int, Any] = field(default_factory=dict)


class Store:
    """Versions by key with the time of their commit."""

    def __init__(self) -> None:
        """An empty store at time 0."""
        self.now = 0
        self.times: dict[int, list[int]] = {}
        self.values: dict[int, list[Any]] = {}

    def read(self, key: int, at: int) -> Any:
        """The newest value committed at `at` or before; None where there is none."""
        place = bisect_right(self.times.get(key, ()), at)
        return self.values[key][place - 1] if place else None

    def conflicts(self, running: _Running) -> bool:
        """Return whether someone committed to one of its written keys after its snapshot."""
        return any(k in self.times and self.times[k][-1] > running.snapshot for k in running.own)

    def commit(self, own: dict[int, Any]) -> None:
        """Install all writes at once."""
        self.now += 1
        for key, value in own.items():
            self.times.setdefault(key, []).append(self.now)
            self.values.setdefault(key, []).append(value)


def simulate(work: Workload) -> Iterator[Record]:
    """The committed transactions of one run, in the order in which they ended."""
    rng, store = random.Random(work.seed), Store()
    running: dict[int, _Running] = {}
    floor = [0] * work.sessions
    values, clock, done = iter(range(1, 1 << 62)), 0, 0
    appended: dict[int, int] = {}
    while done < work.transactions:
        clock += 1
        session = rng.randrange(work.sessions)
        if session not in running:
            oldest = max(0, store.now - work.stale)
            if work.session_order:
                oldest = max(oldest, floor[session]) if work.stale else store.now
            running[session] = _Running(
                session, rng.randint(oldest, store.now), _plan(work, rng, appended), clock
            )
            continue
        txn = running[session]
        if txn.plan:
            _step(store, txn, *txn.plan.pop(0), values)
            continue
        del running[session]
        if store.conflicts(txn) and rng.random() >= work.lost:
            continue
        if txn.own:
            store.commit(txn.own)
            floor[session] = store.now
        else:
            floor[session] = max(floor[session], txn.snapshot)
        done += 1
        yield {"session": session, "begin": txn.begin, "end": clock, "ops": txn.ops}


def _step(store: Store, txn: _Running, word: str, key: int, values: Iterator[int]) -> None:
    """Run one planned operation and record what it returned."""
    seen = txn.own[key] if key in txn.own else store.read(key, txn.snapshot)
    if word in ("r", "rmw"):
        txn.ops.append(["r", key, seen])
    if word == "list":
        txn.ops.append(["r", key, list(seen or ())])
    if word in ("w", "rmw"):
        txn.own[key] = next(values)
        txn.ops.append(["w", key, txn.own[key]])
    if word == "append":
        value = next(values)
        txn.own[key] = (*(seen or ()), value)
        txn.ops.append(["append", key, value])
    if word == "range":
        rows = []
        for k in range(key, key + _RANGE):
            value = txn.own[k] if k in txn.own else store.read(k, txn.snapshot)
            if value is not None:
                rows.append([k, value])
        txn.ops.append(["range", key, key + _RANGE - 1, rows])


def _plan(work: Workload, rng: random.Random, appended: dict[int, int]) -> list[tuple[str, int]]:
    """The operations of one transaction, as (word, key)."""

    def keys(n: int) -> list[int]:
        return [rng.randrange(work.keys) for _ in range(n)]

    if work.kind in ("rw", "rm"):
        reads = rng.random() < (0.5 if work.kind == "rw" else 0.9)
        return [("r" if reads else "w", k) for k in keys(work.operations)]
    if work.kind in ("mixed", "blind"):
        return [("w" if rng.random() < work.writes else "r", k) for k in keys(work.operations)]
    if work.kind == "range":
        if rng.random() < 0.5:
            return [("range", k) for k in keys(max(1, work.operations // 4))]
        return [("w", k) for k in keys(work.operations)]
    if work.kind == "append":
        plan = []
        for slot in keys(work.operations):
            word = "append" if rng.random() < work.writes else "list"
            appended[slot] = appended.get(slot, 0) + (word == "append")
            plan.append((word, slot + work.keys * (appended[slot] // _APPENDS_PER_KEY)))
        return plan
    if work.kind in APPLICATIONS:
        steps = APPLICATIONS[work.kind].plan(rng, work.keys // 10 or 1)
        return [(step[0], step[1]) for step in steps if len(step) > 1]
    raise ValueError(f"workload {work.kind!r} is not one of {', '.join(WORKLOADS)}")


def shuffled(records: list[Record], seed: int) -> list[Record]:
    """The same sessions in a random interleaving without times: nothing hints at the order."""
    sessions: dict[Any, list[Record]] = {}
    for r in records:
        bare = {name: part for name, part in r.items() if name not in ("begin", "end")}
        sessions.setdefault(r["session"], []).append(bare)
    turns = [s for s, mine in sessions.items() for _ in mine]
    random.Random(seed).shuffle(turns)
    following = {s: iter(mine) for s, mine in sessions.items()}
    return [next(following[s]) for s in turns]


_BASE: list[Op] = [["w", "x", 1], ["w", "y", 2], ["w", "z", 3]]
_READ_X, _READ_Y = ["r", "x", 1], ["r", "y", 2]

# name: transactions after one that writes x=1, y=2, z=3; a leading "!" is an aborted one.
ANOMALIES: dict[str, list[list[Op]]] = {
    "lost-update": [[_READ_X, ["w", "x", 4]], [_READ_X, ["w", "x", 5]]],
    "long-fork": [
        [["w", "x", 4]],
        [["w", "y", 5]],
        [["r", "x", 4], _READ_Y],
        [_READ_X, ["r", "y", 5]],
    ],
    "read-skew": [[["w", "x", 4], ["w", "y", 5]], [_READ_X, ["r", "y", 5]]],
    "fractured-read": [[["w", "x", 4], ["w", "y", 5]], [["r", "y", 5], _READ_X]],
    "causality-violation": [
        [["r", "x", 1], ["w", "x", 4]],
        [["r", "x", 4], ["w", "y", 5]],
        [["r", "y", 5], _READ_X],
    ],
    "G1a": [[["!"], ["w", "x", 4]], [["r", "x", 4]]],
    "G1b": [[["w", "x", 4], ["w", "x", 5]], [["r", "x", 4]]],
    "G1c": [[["w", "x", 4], ["r", "y", 5]], [["w", "y", 5], ["r", "x", 4]]],
    "G0": [
        [["append", "p", 4], ["append", "q", 5]],
        [["append", "p", 6], ["append", "q", 7]],
        [["r", "p", [4, 6]]],
        [["r", "q", [7, 5]]],
    ],
    "internal": [[["w", "x", 4], _READ_X]],
    "future-read": [[["r", "x", 4], ["w", "x", 4]]],
    "non-repeatable": [[["w", "x", 4]], [_READ_X, ["r", "x", 4]]],
    "garbage-read": [[["r", "x", 77]]],
    "incompatible-order": [
        [["append", "p", 4]],
        [["append", "p", 5]],
        [["r", "p", [4, 5]]],
        [["r", "p", [5]]],
    ],
    "G-nonadjacent": [
        [["w", "x", 4]],
        [["r", "x", 4], ["r", "z", 3], ["w", "u", 6]],
        [["r", "u", 6], _READ_Y],
        [["w", "y", 5]],
        [["r", "y", 5], _READ_X],
    ],
    "write-skew": [[_READ_X, ["w", "y", 4]], [_READ_Y, ["w", "x", 5]]],
    "read-only-anomaly": [
        [_READ_X, _READ_Y, ["w", "y", 4]],
        [_READ_X, ["w", "x", 5]],
        [["r", "x", 5], _READ_Y],
    ],
}


def plant(records: list[Record], anomaly: str, seed: int) -> list[Record]:
    """The records with one anomaly spliced in, over keys and values of its own.

    Its transactions join sessions of the history at a random place and have no times.
    """
    rng = random.Random(seed)
    sessions = rng.sample(sorted({r["session"] for r in records}), 6)
    parts: list[Record] = [{"session": sessions[0], "ops": _BASE}]
    for session, ops in zip(sessions[1:], ANOMALIES[anomaly], strict=False):
        aborted = ops[0] == ["!"]
        parts.append(
            {"session": session, "ops": ops[aborted:], "status": "fail" if aborted else "ok"}
        )
    renamed = [{**part, "ops": [_rename(op, seed) for op in part["ops"]]} for part in parts]
    place = rng.randrange(len(records))
    return [*records[:place], *renamed, *records[place:]]


def _rename(op: Op, seed: int) -> Op:
    """An operation of an anomaly over values that the history does not use."""

    def far(value: Any) -> Any:
        return [far(v) for v in value] if isinstance(value, list) else value + (seed + 1) * 10**9

    return [op[0], f"{op[1]}{seed}", *(far(v) for v in op[2:])]
