"""List-append: the longest read of a key is its version order; all others must be prefixes.

Where the initial state is unknown, the list begins with those elements of it that nobody appended.

Source: Elle (PVLDB 14). Linear in the length of the lists that were read.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from statewalk.checker.history.data import FAIL, Bools, Ints
from statewalk.checker.history.decide.findings import Scan, bad_source, lookup
from statewalk.checker.history.decide.kernels import scan as kernels


def longest_reads(work: Scan, is_list: Ints) -> Ints:
    """For each key the row of `reads` with its longest list, -1 = none."""
    rows = np.flatnonzero(work.reads[:, 4] >= 0)
    longest = np.full(len(is_list), -1, np.int64)
    by_length = rows[np.argsort(work.reads[rows, 4], kind="stable")]
    longest[work.reads[by_length, 1]] = by_length
    return longest


def given_lengths(work: Scan, longest: Ints, codes: Ints, index: Ints) -> Ints:
    """Return how many elements each list had at the start: none where the initial state
    is known.
    """
    given = np.zeros(len(longest), np.int64)
    if work.history.initial_known:
        return given
    for k in np.flatnonzero(longest >= 0).tolist():
        elements = work.elements(int(longest[k]))
        written = lookup(work, np.full(len(elements), k), elements, codes, index) >= 0
        given[k] = int(written.argmax()) if written.any() else len(elements)
    return given


def list_orders(
    work: Scan,
    longest: Ints,
    begins: Ints,
    included: Bools,
    is_list: Ints,
    codes: Ints,
    index: Ints,
) -> Ints:
    """Version orders of list keys, from the longest read; rows before, after, key."""
    found = np.empty((len(work.reads), 2), np.int64)
    n = kernels.prefixes(work.reads, work.ops, work.history.items, longest, found)
    for _, q in found[:n].tolist():
        best = int(work.reads[longest[work.ops[q, 1]], 3])
        work.say(
            "incompatible-order", [q, best], f"{work.told(q)} is not a prefix of {work.told(best)}"
        )
    live = included[work.writes[:, 0]] & (is_list[work.writes[:, 1]] == 1)
    appends: dict[int, dict[int, list[int]]] = {}
    for row in np.flatnonzero(live).tolist():
        t, k = int(work.writes[row, 0]), int(work.writes[row, 1])
        appends.setdefault(k, {}).setdefault(t, []).append(row)
    pairs: list[tuple[int, int, int]] = []
    for k, by_writer in appends.items():
        read = int(longest[k])
        chain = np.zeros(0, np.int64)
        if read >= 0:
            chain = _chain(work, k, read, int(begins[k]), codes, index)
        if not len(chain):
            continue
        owners: list[int] = work.writes[chain, 0].tolist()
        _own_order(work, int(work.reads[read, 3]), by_writer, chain.tolist(), owners)
        pairs += [(a, b, k) for a, b in pairwise(owners) if a != b]
        pairs += [(owners[-1], t, k) for t in by_writer.keys() - set(owners)]
    return np.array(sorted(pairs), np.int64).reshape(-1, 3)


def _chain(work: Scan, k: int, read: int, given: int, codes: Ints, index: Ints) -> Ints:
    """Return the write rows of the elements of the longest list of k, in order, without those
    given at the start; none if it is bad.
    """
    q, elements = int(work.reads[read, 3]), work.elements(read)
    elements = elements[given:]
    if len(np.unique(elements)) < len(elements):
        work.say("incompatible-order", [q], f"{work.told(q)} repeats an element")
    rows = lookup(work, np.full(len(elements), k), elements, codes, index)
    unknown = np.flatnonzero(rows < 0)
    if len(unknown):
        if unknown[0] < len(elements) - 1:  # the last element is judged as a read of its version
            value = work.history.values[elements[unknown[0]]]
            work.say("garbage-read", [q], f"{work.told(q)}: nobody appended {value}")
        return np.zeros(0, np.int64)
    aborted = np.flatnonzero(work.history.status[work.writes[rows[:-1], 0]] == FAIL)
    for x in aborted.tolist():
        bad_source(work, read, int(rows[x]))
    return rows


def _own_order(
    work: Scan, q: int, appends: dict[int, list[int]], rows: list[int], owners: list[int]
) -> None:
    """Each transaction's appends must appear in its order, and all of them before another's."""
    shown: dict[int, list[int]] = {}
    for row, t in zip(rows, owners, strict=True):
        shown.setdefault(t, []).append(row)
    for t, mine in shown.items():
        all_of_t, name = appends.get(t, mine), work.history.name(t)
        if mine != all_of_t[: len(mine)]:
            work.say(
                "incompatible-order",
                [q, int(work.writes[mine[0], 3])],
                f"{work.told(q)} shows {name}'s appends out of its order",
            )
        elif len(mine) < len(all_of_t) and t != owners[-1]:
            work.say(
                "G1b",
                [q, int(work.writes[all_of_t[len(mine)], 3])],
                f"{work.told(q)} shows only some of what {name} appended",
            )
