"""Violations that local checks find, and the rows that those checks work on."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from statewalk.checker.history.data import APPEND, FAIL, History, Ints


@dataclass(frozen=True, slots=True)
class Finding:
    """A violation that needs no cycle: its name, the operations that show it, and a sentence."""

    name: str
    refutes: str
    operations: tuple[tuple[int, int], ...]
    text: str


@dataclass(slots=True)
class Scan:
    """The working state of one scan: expanded operations and the rows the kernels made."""

    history: History
    ops: Ints
    first: Ints
    reads: Ints
    writes: Ints
    findings: list[Finding]
    lasting: Ints | None = None  # of each row in the order of `codes`, the next that did not fail
    _of_key: dict[tuple[int, int], tuple[Ints, Ints]] = field(default_factory=dict)

    def of_key(self, t: int, k: int) -> tuple[Ints, Ints]:
        """Return the operations of a transaction on a key, and those of them that write."""
        if (t, k) not in self._of_key:
            first = int(self.first[t])
            mine = first + np.flatnonzero(self.ops[first : self.first[t + 1], 1] == k)
            kinds = self.ops[mine, 0]
            self._of_key[t, k] = mine, mine[(kinds > 0) & (kinds <= APPEND)]
        return self._of_key[t, k]

    def elements(self, row: int) -> Ints:
        """Return the elements that a list read, a row of `reads`, has from others."""
        start = self.ops[self.reads[row, 3], 2]
        return self.history.items[start : start + max(0, self.reads[row, 4])]

    def at(self, q: int) -> tuple[int, int]:
        """(transaction, operation) of an expanded operation."""
        t = int(np.searchsorted(self.first, q, side="right")) - 1
        return t, int(self.ops[q, 4])

    def say(self, name: str, qs: list[int], text: str, refutes: str = "read-committed") -> None:
        """Record one finding, which refutes a level and all above it."""
        self.findings.append(Finding(name, refutes, tuple(self.at(q) for q in qs), text))

    def told(self, q: int) -> str:
        """Return an operation with its transaction's name, for a sentence."""
        t, op = self.at(q)
        return f"{self.history.name(t)} {self.history.show(op)}"


def lookup(work: Scan, key: Ints, value: Ints, codes: Ints, index: Ints) -> Ints:
    """Return the write row of each (key, value), -1 = none; one that did not abort where
    there is.
    """
    if not len(codes):
        return np.full(len(key), -1, np.int64)
    code = key * len(work.history.values) + value
    at = np.minimum(np.searchsorted(codes, code), len(codes) - 1)
    found = np.where((codes[at] == code) & (value != 0), index[at], -1)
    if work.lasting is None:
        failed = work.history.status[work.writes[index, 0]] == FAIL
        rows = np.where(failed, len(codes), np.arange(len(codes)))
        work.lasting = np.minimum.accumulate(rows[::-1])[::-1]
    # the first that did not fail: a transaction's last write of a value is there
    other = np.minimum(work.lasting[at], len(codes) - 1)
    better = (found >= 0) & (work.lasting[at] < len(codes)) & (codes[other] == code)
    return np.where(better, index[other], found)


def bad_source(work: Scan, row: int, write: int) -> None:
    """An aborted, intermediate or future read: row of `reads`, row of `writes`."""
    q, p = int(work.reads[row, 3]), int(work.writes[write, 3])
    t = int(work.writes[write, 0])
    if t == int(work.reads[row, 0]):
        work.say("future-read", [q, p], f"{work.told(q)} returns what it only writes afterwards")
    elif work.history.status[t] == FAIL:
        work.say(
            "G1a", [q, p], f"{work.told(q)}, but {work.history.name(t)}, which wrote it, aborted"
        )
    else:
        work.say(
            "G1b",
            [q, p],
            f"{work.told(q)}, but {work.history.name(t)} overwrote it before committing",
        )
