"""Local checks: what one transaction, or one read and its writer, already proves.

Finds internal, future, non-repeatable, garbage, aborted (G1a) and intermediate (G1b) reads and
incompatible list orders; what passes becomes `Facts`: who read whose version, who wrote what.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from checker.history import scan_kernels as kernels
from checker.history.data import (
    APPEND,
    FAIL,
    INFO,
    INITIAL,
    LIST,
    OK,
    Bools,
    History,
    Ints,
)
from checker.history.errors import HistoryError


@dataclass(frozen=True, slots=True)
class Finding:
    """A violation that needs no cycle: its name, the operations that show it, and a sentence."""

    name: str
    refutes: str
    operations: tuple[tuple[int, int], ...]
    text: str


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of the committed transactions of a history.

    Shapes:  members (n,) their places in the history; reads (·, 3): reader, key, writer
             (INITIAL = T0); writes (·, 2): writer, key; order (·, 3): known version order,
             before, after, key. Readers and writers are places in `members`.
    """

    members: Ints
    reads: Ints
    writes: Ints
    order: Ints


@dataclass(slots=True)
class _Scan:
    """The working state of one scan: expanded operations and the rows the kernels made."""

    history: History
    ops: Ints
    first: Ints
    reads: Ints
    writes: Ints
    findings: list[Finding]

    def at(self, q: int) -> tuple[int, int]:
        """(transaction, operation) of an expanded operation."""
        t = int(np.searchsorted(self.first, q, side="right")) - 1
        return t, int(self.ops[q, 4])

    def say(self, name: str, refutes: str, qs: list[int], text: str) -> None:
        """Record one finding."""
        self.findings.append(Finding(name, refutes, tuple(self.at(q) for q in qs), text))

    def told(self, q: int) -> str:
        """An operation with its transaction's name, for a sentence."""
        t, op = self.at(q)
        return f"{self.history.name(t)} {self.history.show(op)}"


def scan(history: History) -> tuple[Facts, list[Finding]]:
    """The facts of a history and every violation that local checks find.

    Raises:  HistoryError[SW703] for a value written twice, [SW704] for a key used both as a
             list and as a register.
    """
    first, ops = _expand(history)
    is_list = _list_keys(history, ops)
    work, found = _scan_rows(history, first, ops, is_list)
    codes, index = _code(work.writes[:, 1], work.writes[:, 2], len(history.values))
    _refuse_duplicates(work, codes, index)
    writer = _lookup(work, work.reads[:, 1], work.reads[:, 2], codes, index)
    included = _members(work, writer)
    for code, q in found.tolist():
        if included[work.at(q)[0]]:
            _internal(work, code, q)
    committed = included[work.reads[:, 0]]
    work.reads, writer = work.reads[committed], writer[committed]
    source = _judge_reads(work, writer)
    order = _list_orders(work, is_list, included, codes, index)
    return _facts(work, included, source, order), work.findings


def _expand(history: History) -> tuple[Ints, Ints]:
    """Operations (·, 5) with ranges written out, and where each transaction's begin."""
    m = len(history.kind)
    low, high = np.zeros(m, np.int64), np.full(m, -1, np.int64)
    numbers = sorted(k for k in history.keys if isinstance(k, int))
    strings = sorted(k for k in history.keys if isinstance(k, str))
    ranked = [*numbers, *strings]
    key_id = {key: i for i, key in enumerate(history.keys)}
    for op, b in history.bounds.items():
        a, z = (0, len(ranked))
        if b.low is not None:
            a = (bisect_left(numbers, b.low) if isinstance(b.low, int)
                 else len(numbers) + bisect_left(strings, b.low))
            z = len(numbers) if isinstance(b.low, int) else z
        if b.high is not None:
            z = (bisect_right(numbers, b.high) if isinstance(b.high, int)
                 else len(numbers) + bisect_right(strings, b.high))
            a = max(a, len(numbers)) if isinstance(b.high, str) else a
        low[op], high[op] = a, z - 1
    by_rank = np.array([key_id[k] for k in ranked], np.int64)
    high = np.maximum(high, low - 1)
    size = kernels.count_expanded(history.kind, history.value, history.count, low, high)
    out, first = np.empty((size, 5), np.int64), np.zeros(len(history) + 1, np.int64)
    n = kernels.expand(history.first, history.kind, history.key, history.value, history.count,
                       history.items, low, high, by_rank,
                       np.full(len(history.keys), -1, np.int64), out, first)
    return first, out[:n].copy()


def _list_keys(history: History, ops: Ints) -> Ints:
    """Which keys hold lists (1) and which hold registers (0)."""
    is_list = np.zeros(len(history.keys), np.int64)
    lists = (ops[:, 0] == APPEND) | (ops[:, 0] == LIST)
    is_list[ops[lists, 1]] = 1
    writes = (ops[:, 0] >= 1) & (ops[:, 0] < APPEND)
    valued = (ops[:, 0] == 0) & (ops[:, 2] > 0)
    mixed = np.flatnonzero((writes | valued) & (is_list[ops[:, 1]] == 1))
    if len(mixed):
        op = int(ops[mixed[0], 4])
        t = int(np.searchsorted(history.first, op, side="right")) - 1
        raise HistoryError(
            f"key {history.keys[ops[mixed[0], 1]]!r} is used both as a list and as a register "
            f"({history.show(op)})", source=history.source, where=f"at {history.place[t]}",
            expected="each key either appended to or overwritten", code="SW704")
    return is_list


def _scan_rows(history: History, first: Ints, ops: Ints, is_list: Ints) -> tuple[_Scan, Ints]:
    m = len(ops)
    reads, writes = np.empty((m, 5), np.int64), np.empty((m, 5), np.int64)
    found, sizes = np.empty((m, 2), np.int64), np.zeros(3, np.int64)
    longest = int(np.diff(first).max())
    kernels.scan(first, ops, history.status, history.items, is_list,
                 np.full((len(history.keys), 4), -1, np.int64), reads, writes, found, sizes,
                 np.empty(longest + 1, np.int64))
    work = _Scan(history, ops, first, reads[: sizes[0]].copy(), writes[: sizes[1]].copy(), [])
    return work, found[: sizes[2]]


def _code(key: Ints, value: Ints, values: int) -> tuple[Ints, Ints]:
    """Sorted (key, value) codes of the writes, and the write row of each."""
    code = key * values + value
    index = np.argsort(code, kind="stable")
    return code[index], index


def _refuse_duplicates(work: _Scan, codes: Ints, index: Ints) -> None:
    """Two transactions that may both have committed one value of one key: input error.

    A value of an aborted transaction may come again (a retry): the committed one counts.
    """
    status, t = work.history.status, work.writes[:, 0]
    live = status[t[index]] != FAIL
    code, row = codes[live], index[live]
    same = np.flatnonzero((code[1:] == code[:-1]) & (t[row[1:]] != t[row[:-1]]))
    if len(same):
        a, b = (int(work.writes[row[same[0] + d], 3]) for d in (0, 1))
        place = work.history.place[work.at(b)[0]]
        raise HistoryError(
            f"duplicate-write: {work.told(a)} and {work.told(b)} write the same value",
            source=work.history.source, where=f"at {place}",
            expected="each value written to a key at most once, so that a read names its writer",
            code="SW703")


def _lookup(work: _Scan, key: Ints, value: Ints, codes: Ints, index: Ints) -> Ints:
    """The write row of each (key, value), -1 = none; one that did not abort where there is."""
    if not len(codes):
        return np.full(len(key), -1, np.int64)
    code = key * len(work.history.values) + value
    at = np.minimum(np.searchsorted(codes, code), len(codes) - 1)
    found = np.where((codes[at] == code) & (value != 0), index[at], -1)
    status, writes = work.history.status, work.writes
    for x in np.flatnonzero((found >= 0) & (status[writes[found, 0]] == FAIL)).tolist():
        q = int(at[x])
        while q < len(codes) and codes[q] == code[x]:
            if status[writes[index[q], 0]] != FAIL:
                found[x] = index[q]
            q += 1
    return found


def _members(work: _Scan, writer: Ints) -> Bools:
    """Which transactions count as committed: ok, and info that a committed one read from."""
    status, reads, writes = work.history.status, work.reads, work.writes
    included: Bools = status == OK
    if not (status == INFO).any():
        return included
    listed = _info_in_lists(work)
    while True:
        seen = (writer >= 0) & included[reads[:, 0]]
        more = np.concatenate((writes[writer[seen], 0], listed[included[listed[:, 0]], 1]))
        more = more[(status[more] == INFO) & ~included[more]]
        if not len(more):
            return included
        included[more] = True


def _info_in_lists(work: _Scan) -> Ints:
    """Pairs (reader, indeterminate transaction) for every element of every list read."""
    status, writes = work.history.status, work.writes
    by_value = {(int(k), int(v)): int(t) for t, k, v, *_ in writes[status[writes[:, 0]] == INFO]}
    pairs = [(t, by_value[k, int(v)]) for t, k, _, q, length in work.reads.tolist() if length > 0
             for v in work.history.items[work.ops[q, 2]: work.ops[q, 2] + length]
             if (k, int(v)) in by_value]
    return np.array(pairs, np.int64).reshape(-1, 2)


def _internal(work: _Scan, code: int, q: int) -> None:
    """One finding of the kernel, named: internal, future-read or non-repeatable."""
    t, k, v = work.at(q)[0], work.ops[q, 1], work.ops[q, 2]
    mine = [p for p in range(work.first[t], work.first[t + 1]) if work.ops[p, 1] == k]
    later = [p for p in mine if p > q and 1 <= work.ops[p, 0] <= APPEND and work.ops[p, 2] == v]
    before = [p for p in mine if p < q]
    if later and work.ops[q, 0] != LIST:
        work.say("future-read", "read committed", [q, later[0]],
                 f"{work.told(q)} returns what it only writes afterwards")
    elif code == kernels.DIFFER:
        work.say("non-repeatable", "read atomic", [before[0], q],
                 f"{work.told(before[0])}, then {work.told(q)}, without writing between")
    else:
        work.say("internal", "read committed", [*before[-1:], q],
                 f"{work.told(q)} does not return the transaction's own last write")


def _judge_reads(work: _Scan, writer: Ints) -> Ints:
    """The writer of each read (transaction, or INITIAL), with findings for the impossible."""
    history, writes = work.history, work.writes
    source = np.where(writer >= 0, writes[writer, 0] if len(writes) else -1, INITIAL)
    t = work.reads[:, 0]
    bad = (writer >= 0) & ((history.status[source] == FAIL) | (source == t))
    if len(writes):
        bad |= (writer >= 0) & (writes[writer, 4] == 0)
    for row in np.flatnonzero(bad).tolist():
        _bad_source(work, row, int(writer[row]))
    initial = np.zeros(len(history.keys), np.int64)
    for k, v in history.initial.items():
        initial[k] = v
    if not history.initial_known:
        _assume_initial(work, writer, initial)
    unknown = (writer < 0) & (work.reads[:, 2] != initial[work.reads[:, 1]])
    for row in np.flatnonzero(unknown).tolist():
        q = int(work.reads[row, 3])
        work.say("garbage-read", "read committed", [q],
                 f"{work.told(q)}: no transaction wrote that, and it is not the initial value")
    return source


def _bad_source(work: _Scan, row: int, write: int) -> None:
    q, p = int(work.reads[row, 3]), int(work.writes[write, 3])
    t = int(work.writes[write, 0])
    if t == int(work.reads[row, 0]):
        work.say("future-read", "read committed", [q, p],
                 f"{work.told(q)} returns what it only writes afterwards")
    elif work.history.status[t] == FAIL:
        work.say("G1a", "read committed", [q, p],
                 f"{work.told(q)}, but {work.history.name(t)}, which wrote it, aborted")
    else:
        work.say("G1b", "read committed", [q, p],
                 f"{work.told(q)}, but {work.history.name(t)} overwrote it before committing")


def _assume_initial(work: _Scan, writer: Ints, initial: Ints) -> None:
    """With an unknown initial state, the first value of a key that nobody wrote is T0's."""
    for row in np.flatnonzero(writer < 0)[::-1].tolist():
        if work.reads[row, 1] not in work.history.initial:
            initial[work.reads[row, 1]] = work.reads[row, 2]


def _list_orders(
    work: _Scan, is_list: Ints, included: Bools, codes: Ints, index: Ints
) -> Ints:
    """Version orders of list keys, from the longest read; rows before, after, key."""
    rows = np.flatnonzero(work.reads[:, 4] >= 0)
    longest = np.full(len(is_list), -1, np.int64)
    by_length = rows[np.argsort(work.reads[rows, 4], kind="stable")]
    longest[work.reads[by_length, 1]] = by_length
    found = np.empty((len(work.reads), 2), np.int64)
    n = kernels.prefixes(work.reads, work.ops, work.history.items, longest, found)
    for _, q in found[:n].tolist():
        best = int(work.reads[longest[work.ops[q, 1]], 3])
        work.say("incompatible-order", "read committed", [q, best],
                 f"{work.told(q)} is not a prefix of {work.told(best)}")
    live = included[work.writes[:, 0]] & (is_list[work.writes[:, 1]] == 1)
    appends: dict[int, dict[int, list[int]]] = {}
    for row in np.flatnonzero(live).tolist():
        t, k = int(work.writes[row, 0]), int(work.writes[row, 1])
        appends.setdefault(k, {}).setdefault(t, []).append(row)
    pairs: list[tuple[int, int, int]] = []
    for k, by_writer in appends.items():
        read = int(longest[k])
        chain = _chain(work, k, read, codes, index) if read >= 0 else np.zeros(0, np.int64)
        if not len(chain):
            continue
        owners: list[int] = work.writes[chain, 0].tolist()
        _own_order(work, int(work.reads[read, 3]), by_writer, chain.tolist(), owners)
        pairs += [(a, b, k) for a, b in pairwise(owners) if a != b]
        pairs += [(owners[-1], t, k) for t in by_writer.keys() - set(owners)]
    return np.array(sorted(pairs), np.int64).reshape(-1, 3)


def _chain(work: _Scan, k: int, read: int, codes: Ints, index: Ints) -> Ints:
    """The write rows of the elements of the longest list of k, in order; none if it is bad."""
    q, length = int(work.reads[read, 3]), int(work.reads[read, 4])
    elements = work.history.items[work.ops[q, 2]: work.ops[q, 2] + length]
    rows = _lookup(work, np.full(length, k), elements, codes, index)
    if len(np.unique(elements)) < length:
        work.say("incompatible-order", "read committed", [q], f"{work.told(q)} repeats an element")
    unknown = np.flatnonzero(rows < 0)
    if len(unknown):
        if unknown[0] < length - 1:  # the last element is judged as a read of its version
            value = work.history.values[elements[unknown[0]]]
            work.say("garbage-read", "read committed", [q],
                     f"{work.told(q)}: nobody appended {value}")
        return np.zeros(0, np.int64)
    aborted = np.flatnonzero(work.history.status[work.writes[rows[:-1], 0]] == FAIL)
    for x in aborted.tolist():
        _bad_source(work, read, int(rows[x]))
    return rows


def _own_order(
    work: _Scan, q: int, appends: dict[int, list[int]], rows: list[int], owners: list[int]
) -> None:
    """Each transaction's appends must appear in its order, and all of them before another's."""
    shown: dict[int, list[int]] = {}
    for row, t in zip(rows, owners, strict=True):
        shown.setdefault(t, []).append(row)
    for t, mine in shown.items():
        all_of_t, name = appends.get(t, mine), work.history.name(t)
        if mine != all_of_t[: len(mine)]:
            work.say("incompatible-order", "read committed", [q, int(work.writes[mine[0], 3])],
                     f"{work.told(q)} shows {name}'s appends out of its order")
        elif len(mine) < len(all_of_t) and t != owners[-1]:
            work.say("G1b", "read committed", [q, int(work.writes[all_of_t[len(mine)], 3])],
                     f"{work.told(q)} shows only some of what {name} appended")


def _facts(
    work: _Scan, included: Bools, source: Ints, order: Ints
) -> Facts:
    members = np.flatnonzero(included).astype(np.int64)
    number = np.full(len(included) + 1, INITIAL, np.int64)  # the last place is INITIAL's
    number[members] = np.arange(len(members))
    reads = np.stack([number[work.reads[:, 0]], work.reads[:, 1], number[source]], 1)
    written = work.writes[included[work.writes[:, 0]] & (work.writes[:, 4] == 1)]
    writes = np.stack([number[written[:, 0]], written[:, 1]], 1)
    order = order.copy()
    if len(order):
        order[:, :2] = number[order[:, :2]]
        keep = (order[:, 0] >= 0) & (order[:, 1] >= 0)
        order = np.unique(order[keep], axis=0)
    return Facts(members, np.ascontiguousarray(reads), np.ascontiguousarray(writes), order)
