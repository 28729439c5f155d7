"""The edges that range queries give for their rows: live ones are of writes, tombstones of
deletes.
"""

from __future__ import annotations

import numpy as np

from statewalk.checker.history.data import DELETE, FAIL, RANGE, READ, Bools, Ints
from statewalk.checker.history.decide.findings import Scan, lookup


def judge_rows(work: Scan, included: Bools, codes: Ints, index: Ints) -> None:
    """Find the rows of committed range queries that are live though a delete wrote them, or dead
    though none did. What the initial state held is either, but not now one and now the other.
    """
    history, values = work.history, len(work.history.values)
    ops = work.ops[:, 4]
    rows = np.flatnonzero((history.kind[ops] == RANGE) & (work.ops[:, 0] == READ))
    if not len(rows):
        return
    op = ops[rows]
    rows = rows[included[np.searchsorted(history.first, op, side="right") - 1]]
    op = ops[rows]
    live_rows = np.zeros(len(history.kind), np.int64)
    for each, bounds in history.bounds.items():
        live_rows[each] = bounds.live
    live = np.arange(len(op)) - np.searchsorted(op, op) < live_rows[op]
    code = work.ops[rows, 1] * values + work.ops[rows, 2]
    sure = history.status[work.writes[index, 0]] != FAIL
    deletes = work.ops[work.writes[index, 3], 0] == DELETE
    deleted, written = codes[sure & deletes], codes[sure & ~deletes]
    in_deleted, in_written = np.isin(code, deleted), np.isin(code, written)
    wrong = np.where(live, in_deleted & ~in_written, in_written & ~in_deleted)
    for x in np.flatnonzero(wrong).tolist():
        q = int(rows[x])
        row = lookup(work, work.ops[q : q + 1, 1], work.ops[q : q + 1, 2], codes, index)[0]
        p = int(work.writes[row, 3])
        key = history.keys[work.ops[q, 1]]
        how = "live, and that is what a delete left" if live[x] else "deleted, and nobody did that"
        work.say("garbage-read", [q, p], f"{work.told(q)}: {key!r} is {how}: {work.told(p)}")
    _both(work, rows[~in_deleted & ~in_written], live[~in_deleted & ~in_written], values)


def _both(work: Scan, rows: Ints, live: Bools, values: int) -> None:
    """Versions that no transaction wrote, and that are live in one query and dead in another."""
    first: dict[int, tuple[int, bool]] = {}
    for q, alive in zip(rows.tolist(), live.tolist(), strict=True):
        code = int(work.ops[q, 1]) * values + int(work.ops[q, 2])
        p, before = first.setdefault(code, (q, alive))
        if alive != before:
            work.say(
                "garbage-read",
                [p, q],
                f"{work.told(p)}, {work.told(q)}: one version is both live and deleted",
            )
