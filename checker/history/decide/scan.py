"""Local checks: what one transaction, or one read and its writer, already proves.

Finds internal, future, non-repeatable, garbage, aborted (G1a) and intermediate (G1b) reads and
incompatible list orders; what passes becomes `Facts`: who read whose version, who wrote what.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass

import numpy as np

from statewalk.checker.history.data import (
    APPEND,
    FAIL,
    INFO,
    INITIAL,
    LIST,
    NIL,
    OK,
    Bools,
    History,
    Ints,
    Scalar,
)
from statewalk.checker.history.decide.findings import Finding, Scan, bad_source, lookup
from statewalk.checker.history.decide.kernels import scan as kernels
from statewalk.checker.history.decide.lists import given_lengths, list_orders, longest_reads
from statewalk.checker.history.decide.rows import judge_rows
from statewalk.checker.history.errors import HistoryError

_MOST = 1 << 24  # reads of a key that range queries stand for: about 4 GB


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts about the committed transactions of a history.

    Shapes:  members (n,) their places in the history; reads (·, 4): reader, key, writer
             (INITIAL = T0), operation; writes (·, 2): writer, key; order (·, 3): known version
             order, before, after, key. Readers and writers are places in `members`.
    """

    members: Ints
    reads: Ints
    writes: Ints
    order: Ints


def scan(history: History, *, again: bool = False) -> tuple[Facts, list[Finding]]:
    """Return the facts of a history and every violation that local checks find.

    Reads are in the order of the transaction; the repetition of a read is left out unless
    `again`, since only levels below read-atomic ask for it.
    Raises:  HistoryError[SW703] for a value written twice, [SW704] for a key used both as a
             list and as a register.
    """
    first, ops = _expand(history)
    is_list = _list_keys(history, ops)
    work, found = _scan_rows(history, first, ops, is_list, again)
    codes, index = _code(work.writes, len(history.values))
    _refuse_duplicates(work, codes, index)
    writer = lookup(work, work.reads[:, 1], work.reads[:, 2], codes, index)
    writer[_reads_initial(work, writer)] = -1
    included = _members(work, writer)
    judge_rows(work, included, codes, index)
    for code, q in found.tolist():
        if included[work.at(q)[0]]:
            _internal(work, code, q)
    committed = included[work.reads[:, 0]]
    work.reads, writer = work.reads[committed], writer[committed]
    longest = longest_reads(work, is_list)
    begins = given_lengths(work, longest, codes, index)
    source = _judge_reads(work, writer, longest, begins)
    order = list_orders(work, longest, begins, included, is_list, codes, index)
    return _facts(work, included, source, order), work.findings


def _reads_initial(work: Scan, writer: Ints) -> Bools:
    """Mark reads of a stated initial value that only aborted transactions wrote again."""
    stated = np.full(len(work.history.keys), -1, np.int64)
    for k, v in work.history.initial.items():
        stated[k] = v
    same: Bools = (work.reads[:, 4] < 0) & (work.reads[:, 2] == stated[work.reads[:, 1]])
    same &= writer >= 0
    same[same] = work.history.status[work.writes[writer[same], 0]] == FAIL
    return same


def _expand(history: History) -> tuple[Ints, Ints]:
    """Return operations (·, 5) with ranges written out, and where each transaction's begin."""
    m = len(history.kind)
    low, high = np.zeros(m, np.int64), np.full(m, -1, np.int64)
    numbers = sorted(k for k in history.keys if isinstance(k, int))
    strings = sorted(k for k in history.keys if isinstance(k, str))
    ranked: list[Scalar] = [*numbers, *strings]
    key_id = {key: i for i, key in enumerate(history.keys)}
    for op, b in history.bounds.items():
        a, z = (0, len(ranked))
        if b.low is not None:
            a = (
                bisect_left(numbers, b.low)
                if isinstance(b.low, int)
                else len(numbers) + bisect_left(strings, b.low)
            )
            z = len(numbers) if isinstance(b.low, int) else z
        if b.high is not None:
            z = (
                bisect_right(numbers, b.high)
                if isinstance(b.high, int)
                else len(numbers) + bisect_right(strings, b.high)
            )
            a = max(a, len(numbers)) if isinstance(b.high, str) else a
        low[op], high[op] = a, z - 1
    by_rank = np.array([key_id[k] for k in ranked], np.int64)
    high = np.maximum(high, low - 1)
    covered = int((high - low + 1).sum())
    if covered > _MOST:
        raise HistoryError(
            f"the range queries of the history cover {covered:,} keys in all, more than {_MOST:,}",
            source=history.source,
            expected="a shorter history, fewer keys, or narrower bounds: a query reads each key "
            "within its bounds that the history names anywhere",
        )
    size = m - len(history.bounds) + covered
    out, first = np.empty((size, 5), np.int64), np.zeros(len(history) + 1, np.int64)
    kernels.expand(
        history.first,
        history.kind,
        history.key,
        history.value,
        history.count,
        history.items,
        low,
        high,
        by_rank,
        np.full(len(history.keys), -1, np.int64),
        out,
        first,
    )
    return first, out


def _list_keys(history: History, ops: Ints) -> Ints:
    """Return which keys hold lists (1) and which hold registers (0)."""
    is_list = np.zeros(len(history.keys), np.int64)
    lists = (ops[:, 0] == APPEND) | (ops[:, 0] == LIST)
    is_list[ops[lists, 1]] = 1
    stated = [k for k in history.initial if is_list[k]]
    if stated:
        raise HistoryError(
            f"key {history.keys[stated[0]]!r} is used as a list, but its stated initial value "
            "is no list",
            source=history.source,
            expected='an empty list at the start, or "initial": "unknown"',
            code="SW704",
        )
    writes = (ops[:, 0] >= 1) & (ops[:, 0] < APPEND)
    valued = (ops[:, 0] == 0) & (ops[:, 2] > 0)
    mixed = np.flatnonzero((writes | valued) & (is_list[ops[:, 1]] == 1))
    if len(mixed):
        op = int(ops[mixed[0], 4])
        t = int(np.searchsorted(history.first, op, side="right")) - 1
        raise HistoryError(
            f"key {history.keys[ops[mixed[0], 1]]!r} is used both as a list and as a register "
            f"({history.show(op)})",
            source=history.source,
            where=f"at {history.place[t]}",
            expected="each key either appended to or overwritten",
            code="SW704",
        )
    return is_list


def _scan_rows(
    history: History, first: Ints, ops: Ints, is_list: Ints, again: bool
) -> tuple[Scan, Ints]:
    m = len(ops)
    reads, writes = np.empty((m, 5), np.int64), np.empty((m, 5), np.int64)
    found, sizes = np.empty((m, 2), np.int64), np.zeros(3, np.int64)
    longest = int(np.diff(first).max())
    kernels.scan(
        first,
        ops,
        history.status,
        history.items,
        is_list,
        np.full((len(history.keys), 4), -1, np.int64),
        reads,
        writes,
        found,
        sizes,
        np.empty(longest + 1, np.int64),
        again,
    )
    work = Scan(history, ops, first, reads[: sizes[0]].copy(), writes[: sizes[1]].copy(), [])
    return work, found[: sizes[2]]


def _code(writes: Ints, values: int) -> tuple[Ints, Ints]:
    """Sorted (key, value) codes of the writes, and the write row of each.

    Of a transaction that writes one value twice, the write that it leaves behind comes first.
    """
    code = writes[:, 1] * values + writes[:, 2]
    index = np.lexsort((1 - writes[:, 4], code))
    return code[index], index


def _refuse_duplicates(work: Scan, codes: Ints, index: Ints) -> None:
    """Two transactions that may both have committed one value of one key: input error.

    So is a write of the stated initial value, and a repeated element of a list. A value of an
    aborted transaction may come again (a retry): the committed one counts.
    """
    history, values = work.history, len(work.history.values)
    t = work.writes[:, 0]
    live = history.status[t[index]] != FAIL
    code, row = codes[live], index[live]
    initial = [k * values + v for k, v in history.initial.items() if v != NIL]
    again = np.flatnonzero(np.isin(code, np.array(initial, np.int64)))
    if len(again):
        q = int(work.writes[row[again[0]], 3])
        raise _duplicate(work, f"{work.told(q)} writes the initial value", q)
    appends = work.ops[work.writes[row, 3], 0] == APPEND
    same = (code[1:] == code[:-1]) & ((t[row[1:]] != t[row[:-1]]) | appends[1:])
    if same.any():
        x = int(np.flatnonzero(same)[0])
        a, b = (int(work.writes[row[y], 3]) for y in (x, x + 1))
        raise _duplicate(work, f"{work.told(a)} and {work.told(b)} write the same value", b)


def _duplicate(work: Scan, what: str, q: int) -> HistoryError:
    return HistoryError(
        f"duplicate-write: {what}",
        source=work.history.source,
        where=f"at {work.history.place[work.at(q)[0]]}",
        expected="each value written to a key at most once, so that a read names its writer",
        code="SW703",
    )


def _members(work: Scan, writer: Ints) -> Bools:
    """Return which transactions count as committed: ok, and info that a committed one read from."""
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


def _info_in_lists(work: Scan) -> Ints:
    """Return pairs (reader, indeterminate transaction) for every element of every list read."""
    status, writes = work.history.status, work.writes
    by_value = {(int(k), int(v)): int(t) for t, k, v, *_ in writes[status[writes[:, 0]] == INFO]}
    pairs = [
        (t, by_value[k, int(v)])
        for t, k, _, q, length in work.reads.tolist()
        if length > 0
        for v in work.history.items[work.ops[q, 2] : work.ops[q, 2] + length]
        if (k, int(v)) in by_value
    ]
    return np.array(pairs, np.int64).reshape(-1, 2)


def _internal(work: Scan, code: int, q: int) -> None:
    """One finding of the kernel, named: internal, future-read or non-repeatable."""
    t, k, v = work.at(q)[0], work.ops[q, 1], work.ops[q, 2]
    mine, writes = work.of_key(t, k)
    before = mine[: np.searchsorted(mine, q)]
    later = writes[(writes > q) & (work.ops[writes, 2] == v)]
    if len(later) and work.ops[q, 0] != LIST:
        work.say(
            "future-read",
            [q, int(later[0])],
            f"{work.told(q)} returns what it only writes afterwards",
        )
    elif code == kernels.DIFFER:
        work.say(
            "non-repeatable",
            [int(before[0]), q],
            f"{work.told(int(before[0]))}, then {work.told(q)}, without writing between",
            refutes="read-atomic",
        )
    else:
        work.say(
            "internal",
            [*before[-1:].tolist(), q],
            f"{work.told(q)} does not return the transaction's own last write",
        )


def _judge_reads(work: Scan, writer: Ints, longest: Ints, begins: Ints) -> Ints:
    """Return the writer of each read (transaction, or INITIAL), with findings for the
    impossible.
    """
    history, writes = work.history, work.writes
    source = np.where(writer >= 0, writes[writer, 0] if len(writes) else -1, INITIAL)
    t = work.reads[:, 0]
    bad = (writer >= 0) & ((history.status[source] == FAIL) | (source == t))
    if len(writes):
        bad |= (writer >= 0) & (writes[writer, 4] == 0)
    for row in np.flatnonzero(bad).tolist():
        bad_source(work, row, int(writer[row]))
    initial = np.zeros(len(history.keys), np.int64)
    for k, v in history.initial.items():
        initial[k] = v
    if not history.initial_known:
        _assume_initial(work, writer, initial)
        for k in np.flatnonzero(longest >= 0).tolist():
            elements = work.elements(int(longest[k]))
            initial[k] = elements[begins[k] - 1] if begins[k] else NIL
    key, length = work.reads[:, 1], work.reads[:, 4]
    unknown = (writer < 0) & (work.reads[:, 2] != initial[key])
    # a list's last element says which version it is only as long as elements do not repeat
    unknown |= (writer < 0) & (length >= 0) & (length != begins[key])
    for row in np.flatnonzero(unknown).tolist():
        q = int(work.reads[row, 3])
        work.say(
            "garbage-read",
            [q],
            f"{work.told(q)}: no transaction wrote that, and it is not the initial value",
        )
    return source


def _assume_initial(work: Scan, writer: Ints, initial: Ints) -> None:
    """With an unknown initial state, the first value of a key that nobody wrote is T0's."""
    for row in np.flatnonzero(writer < 0)[::-1].tolist():
        if work.reads[row, 1] not in work.history.initial:
            initial[work.reads[row, 1]] = work.reads[row, 2]


def _facts(work: Scan, included: Bools, source: Ints, order: Ints) -> Facts:
    members = np.flatnonzero(included).astype(np.int64)
    number = np.full(len(included) + 1, INITIAL, np.int64)  # the last place is INITIAL's
    number[members] = np.arange(len(members))
    operation = work.ops[work.reads[:, 3], 4]
    reads = np.stack([number[work.reads[:, 0]], work.reads[:, 1], number[source], operation], 1)
    written = work.writes[included[work.writes[:, 0]] & (work.writes[:, 4] == 1)]
    writes = np.stack([number[written[:, 0]], written[:, 1]], 1)
    order = order.copy()
    if len(order):
        order[:, :2] = number[order[:, :2]]
        keep = (order[:, 0] >= 0) & (order[:, 1] >= 0)
        order = np.unique(order[keep], axis=0)
    return Facts(members, np.ascontiguousarray(reads), np.ascontiguousarray(writes), order)
