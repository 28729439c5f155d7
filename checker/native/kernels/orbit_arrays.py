"""The flat arrays that canonical fingerprints are computed from. No code here, only shapes.

Short names
  L  lanes: words of a fingerprint, 1 or 2     K  members that may change places
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from statewalk.checker.native.kernels.arrays import Array

HIDDEN = -1  # capacity of a slot that does not count
# Rows of ``constants``.
LANE, SELF, APART = range(3)


class OrbitTables(NamedTuple):
    """The facts about members that each value of each slot gives; see
    `checker.symmetry.facts.Slice`.

    An entry stands for a value of a slot. A fact is a run of nodes, a node a run of arguments.
    """

    base: Array  # (slots,) int64: start in entry
    capacity: Array  # (slots,) int64: value ids there is room for, or HIDDEN
    entry: Array  # int32: entry + 1 by value id, 0 unknown
    rest: Array  # (entries, L) uint64
    single_start: Array  # (entries,) int64
    single_count: Array  # (entries,) int32
    single_member: Array  # int32
    single_sum: Array  # (singles, L) uint64
    facts_start: Array  # (entries,) int64
    facts_count: Array  # (entries,) int32
    fact: Array  # int32: facts of entries
    node_start: Array  # (facts,) int64
    node_count: Array  # (facts,) int32
    member_start: Array  # (facts,) int64
    member_count: Array  # (facts,) int32
    member: Array  # int32: members of facts
    ordered: Array  # (nodes,) uint8
    digest: Array  # (nodes, L) uint64
    argument_start: Array  # (nodes,) int64
    argument_count: Array  # (nodes,) int32
    argument: Array  # int32: a member, or -1 - node within the fact
    cell: Array  # (K,) uint64: number of the cell, from 1
    always: Array  # (L,) uint64: what constant fields add
    constants: Array  # (3, 2) uint64, see `checker.symmetry.facts`


class OrbitScratch(NamedTuple):
    """Room for one state; the first axis of the search for the least labelling is its depth."""

    row: Array  # (slots,) int64
    facts: Array  # int64: facts of the state that relate members
    values: Array  # (nodes of a fact, L) uint64
    sums: Array  # (K, L) uint64
    names: Array  # (K, L) uint64
    tied: Array  # (K,) uint8
    colours: Array  # (K + 1, K, L) uint64
    group: Array  # (K + 1, K) int64: members to set apart
    size: Array  # (K + 1,) int64: how many
    at: Array  # (K + 1,) int64: how many have been
    tried: Array  # (K + 1, K, L) uint64: what came of each
    fixes: Array  # (K + 1, K) float64: permutations that leave it as it is
    result: Array  # (L,) uint64
    stabiliser: Array  # (1,) float64


def make_orbit_scratch(
    slots: int, facts: int, nodes: int, members: int, lanes: int
) -> OrbitScratch:
    """Scratch for states of so many slots and facts."""

    def words(*shape: int) -> Array:
        return np.zeros((*shape, lanes), np.uint64)

    k = members
    return OrbitScratch(
        row=np.zeros(slots, np.int64),
        facts=np.zeros(facts, np.int64),
        values=words(nodes),
        sums=words(k),
        names=words(k),
        tied=np.zeros(k, np.uint8),
        colours=words(k + 1, k),
        group=np.zeros((k + 1, k), np.int64),
        size=np.zeros(k + 1, np.int64),
        at=np.zeros(k + 1, np.int64),
        tried=words(k + 1, k),
        fixes=np.zeros((k + 1, k), np.float64),
        result=words(),
        stabiliser=np.zeros(1, np.float64),
    )
