"""The flat arrays that kernels work on, by name. No code here, only shapes.

Short names
  P  partitions of the seen table      W  slots in a row         N  rows of a level
  R  roots (checks, then actions)      B  words of 64 bits that hold a bit per root

Two words make a fingerprint of 128 bits: ``fp`` the high word, ``low`` the low word. With 64 bits
``fp`` is everything and the ``low`` arrays are empty.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# Kinds of nodes. The odd ones keep their children in the shared hash table.
READ, READ_HASHED, PROJECT, PROJECT_HASHED, CALL, CALL_HASHED, FORK = range(7)
PROGRAM = 8
# Fields of a node.
KIND, SLOT, BASE, CAPACITY, OPERAND, EDGES = range(6)
NODE_FIELDS = 8
# What stands where a child is expected: a node (> 0), nothing yet (0), or a leaf (< 0).
MISSING, QUIET, ASSERTION, ERROR, EVENT = 0, -1, -2, -3, -4
FIRST_RESULT = -16  # leaf -16 - k: outcome k of an action, result k of a call

# Kinds of misses: (kind, node, value), (kind, projection, value id), (kind, operation, value id)
# (kind, root, answer of its program)
EDGE, PROJECTION, OPERATION, PROGRAM_MISS = range(4)

# Links: how a state was reached, in the canonical order of rule 5 of the engine contract.
# (position of the parent in its level, action index, ordinal of the outcome), high bits first.
POSITION_SHIFT = 28
NO_LINK = (1 << 63) - 1

# Counters of a batch.
N_MISSES, N_CANDIDATES, FIRST_ASSERTION, FIRST_ERROR = range(4)
# Answers of kernels.
DONE, MISSES_FULL, CANDIDATES_FULL, SCRATCH_FULL, TABLE_FULL, SEGMENT_FULL = range(6)


class Tries(NamedTuple):
    """Decision tries of all roots. ``hash_keys`` are (node << 32 | value)."""

    roots: Array  # (R,) int32: node or leaf
    nodes: Array  # (nodes, 8) int32
    edges: Array  # (edges,) int32: child by value
    hash_keys: Array  # (power of two,) uint64, 0 empty
    hash_children: Array  # the same, int32
    project_base: Array  # (projections,) int64: start in project_result
    project_capacity: Array  # (projections,) int64
    project_result: Array  # int32: result id + 1 by value id, 0 unknown
    call_roots: Array  # (calls,) int32
    programs: Array  # (programs, 2) int64: addresses of code and arguments


class Outcomes(NamedTuple):
    """The writes of an action. The first ``blind[o]`` writes of outcome o ignore the old value."""

    delta: Array  # (outcomes,) uint64: what the other writes add to the fingerprint
    delta_low: Array
    start: Array  # (outcomes,) int64: first write
    blind: Array  # (outcomes,) int32
    total: Array  # (outcomes,) int32: writes
    slot: Array  # (writes,) int32
    value: Array  # (writes,) int32: new value id, or -1 - operation
    operation_base: Array  # (operations,) int64: start in operation_result
    operation_capacity: Array  # (operations,) int64
    operation_result: Array  # int32: new value id + 1 by old value id, 0 unknown
    contribution_base: Array  # (slots,) int64: start in contribution
    contribution: Array  # uint64 by value id
    contribution_low: Array
    dirty: Array  # (outcomes, B) uint64: roots that may see the writes


class Rows(NamedTuple):
    """The states of a level, in the order of their fingerprints."""

    values: Array  # (N, W) uint8, uint16 or uint32: value ids
    fp: Array  # (N,) uint64
    low: Array
    quiet: Array  # (N, B) uint64: bit set where a root must be looked at


class Batch(NamedTuple):
    """Candidates of one worker by partition, and what it noticed."""

    fp: Array  # (P, capacity) uint64
    low: Array
    link: Array  # (P, capacity) int64
    outcome: Array  # (P, capacity) int32
    number: Array  # (P, capacity) int32: of the state, once inserted; (P, 0) without numbers
    used: Array  # (P,) int64: candidates
    misses: Array  # (capacity, 5) int64: position, root, kind, operand, value
    counters: Array  # (4,) int64
    fired: Array  # (R,) int64: transitions per root
    walks: Array  # (R,) int64
    moves: Array  # (rows of the batch,) uint8: 1 where a transition was found that is no fault
    moving: Array  # (R,) uint8: 0 for actions that are faults


class Scratch(NamedTuple):
    """Room for one walk."""

    stack: Array  # int32: children of forks still to be visited
    calls: Array  # int32: call nodes to return to
    leaves: Array  # int32
    fp: Array  # uint64, per leaf
    low: Array  # uint64, per leaf
    miss: Array  # (3,) int64
    looks: Array  # (1,) int64: states looked at so far, or walks
    asked: Array  # int64 by call: in which of them its result was last found; empty: not kept
    results: Array  # int32 by call: that result
    run: Array  # int64: what a program's run needs, see `checker.native.programs.runtime`


class Segment(NamedTuple):
    """New states of one partition, in the order of insertion."""

    values: Array  # (capacity, W)
    fp: Array
    low: Array
    quiet: Array
    link: Array  # int64


# What becomes of a random walk: it goes on, waits for something to be learned, has ended, ended
# where no step was left, or does what plain Python has to look at.
GOING, WAITING, ENDED, NO_STEP, TOLD = range(5)


class Walks(NamedTuple):
    """N random walks side by side. What a walk tried and did not complete is in none of these."""

    values: Array  # (N, W) uint32: the state it is in
    coming: Array  # (N, W) uint32: the state that was looked at when something was missed
    quiet: Array  # (N, B) uint64: as in Rows
    chance: Array  # (N,) uint64: where its random numbers are
    length: Array  # (N,) int64: steps, -1 before its initial state was judged
    status: Array  # (N,) int64
    tried: Array  # (N,) int64: steps, those that a constraint refused too
    fired: Array  # (N, actions) int64
    cut: Array  # (N, constraints of states, then of steps) int64
    met: Array  # (N, watched) uint8: 1 for a witness that was met
    log: Array  # (N, steps to keep) int64: (action << 32) | number of the leaf
    misses: Array  # as in Batch
    counters: Array


class Stride(NamedTuple):
    """Room for one step of a walk."""

    root: Array  # int32: of each way to go
    ordinal: Array  # int32: its number among the root's
    leaf: Array  # int32
    drawn: Array  # int32: roots of the ways that were tried
    row: Array  # (W,) uint32: the state after it
    quiet: Array  # (B,) uint64
    pair: Array  # (2 W,) int64: both rows, interleaved: after, before
    cut: Array  # int64, as a row of Walks
    met: Array  # uint8, as a row of Walks


def make_scratch(size: int, calls_kept: int = 0, run: Array | None = None) -> Scratch:
    """Scratch for so many leaves, calls in each other or waiting children.

    The results of so many calls are kept while one state is looked at.
    """
    stack, calls, leaves = (np.zeros(size, np.int32) for _ in range(3))
    fp, low = (np.zeros(size, np.uint64) for _ in range(2))
    asked, results = np.zeros(calls_kept, np.int64), np.zeros(calls_kept, np.int32)
    run = np.zeros(0, np.int64) if run is None else run
    miss, looks = np.zeros(3, np.int64), np.zeros(1, np.int64)
    return Scratch(stack, calls, leaves, fp, low, miss, looks, asked, results, run)


def nonzero(counts: Array) -> dict[int, int]:
    """Counts by index, without those that are 0."""
    return {int(i): int(counts[i]) for i in np.flatnonzero(counts)}
