"""Universal compaction: which files of a bucket a compaction takes, and what becomes of them.

A file of level 0 is a sorted run of its own, the files of a higher level are one together. A
compaction takes the newest runs, and makes them one. How many is decided by sizes, of which the
model has none: it may be any number that `UniversalCompaction.pick` can come to.
"""

from itertools import pairwise

from statewalk import Record, mutant
from statewalk.models.tables.lsm import (
    Mark,
    Row,
    Snapshot,
    as_written,
    is_kept,
    latest,
    level_of,
    live_in,
    marks_in,
    marks_of,
    results_of,
    rows_of,
    store,
    without,
)
from statewalk.models.tables.paimon_settings import DELETION_VECTORS, MAX_LEVEL

Run = tuple[int, tuple[int, ...]]  # its level, its files


class Unit(Record):
    """The input of a compaction, and its output level (CompactUnit)."""

    files: tuple[int, ...]
    level: int


class View(Record):
    """A bucket as somebody sees it: its files with their levels, and its deletion vectors."""

    levels: dict[int, int] = {}
    marks: frozenset[Mark] = frozenset()


class Outcome(Record):
    """``raised`` is a file that changes its level as it is, 0 for none: then rows are written."""

    rows: tuple[Row, ...]
    raised: int
    marks: frozenset[Mark]


def latest_view(bucket: int, version: int | None = None) -> View:
    """A bucket as it is in the latest version, or in an earlier one."""
    at = latest() if version is None else version
    return View({f: level_of(at, f) for f in live_in(at, bucket)}, marks_in(at, bucket))


def runs_of(view: View) -> list[Run]:
    """The sorted runs, newest first (Levels.levelSortedRuns)."""
    newest = sorted((f for f, level in view.levels.items() if level == 0), reverse=True)
    higher = sorted({level for level in view.levels.values() if level > 0})
    return [
        *((0, (file,)) for file in newest),
        *((at, tuple(f for f, level in view.levels.items() if level == at)) for at in higher),
    ]


def unit(runs: list[Run], count: int) -> Unit:
    """So many runs, and what must go with them (UniversalCompaction.createUnit)."""
    level = MAX_LEVEL if count == len(runs) else max(0, runs[count][0] - 1)
    if level == 0:  # nothing is made for level 0: go on up to the next run above it
        for at, _ in runs[count:]:
            count += 1
            if at > 0:
                level = at
                break
    if count == len(runs):
        level = MAX_LEVEL
    return Unit(tuple(sorted(f for _, files in runs[:count] for f in files)), level)


def units(view: View) -> list[Unit]:
    """All that a compaction may take: several runs, or all, or all of level 0 (forcePickL0).

    A lone top level is rewritten if it has vectors (CompactStrategy.pickFullCompaction).
    """
    runs = runs_of(view)
    if is_lone_top(runs):
        return [unit(runs, 1)] if any(mark[0] in view.levels for mark in view.marks) else []
    zero = sum(level == 0 for level, _ in runs)
    counts = [n for n in range(1, len(runs) + 1) if n > 1 or n in (zero, len(runs))]
    return list(dict.fromkeys([unit(runs, n) for n in counts]))


def is_lone_top(runs: list[Run]) -> bool:
    return len(runs) == 1 and runs[0][0] == MAX_LEVEL


def merge(view: View, taken: Unit, added: dict[int, int]) -> Outcome:
    """Return what a compaction makes of what it takes (MergeTreeCompactTask,
    FileRewriteCompactTask).

    ``added`` are the snapshots that the rows of files count as written by.
    """
    higher = [f for f, level in view.levels.items() if level > taken.level]
    rows = results_of(rows_of(list(taken.files), added, view.marks))
    fresh = any(view.levels[file] == 0 for file in taken.files)
    marks = view.marks
    if DELETION_VECTORS and fresh:  # only what comes from level 0 is looked up in what is above
        marks = marks | marks_of({row.key for row in rows}, higher)
    if is_raised(view, taken):
        return Outcome((), taken.files[0], marks)
    kept = tuple(as_written(row) for row in rows if is_kept(row, higher))
    lone = is_lone_top(runs_of(view))
    marks = rewritten(marks, taken.files) if lone else without(marks, list(taken.files))
    return Outcome(kept, 0, marks)


def is_raised(view: View, taken: Unit) -> bool:
    """Return whether a file overlaps nothing that is taken, and keeps its name
    (CompactRewriter.upgrade).

    One with deletions is rewritten where those are dropped; one at its level gets no new one.
    """
    if len(taken.files) > 1 or view.levels[taken.files[0]] == taken.level:
        return False
    deletes = any(row.kind == "-D" for row in store.files[taken.files[0]].rows)
    return not (deletes and (DELETION_VECTORS or taken.level == MAX_LEVEL))


def rewritten(marks: frozenset[Mark], files: tuple[int, ...]) -> frozenset[Mark]:
    """The vectors after a rewrite of the top level's files."""
    return without(marks, list(files))


def ranges_overlap(snapshot: Snapshot) -> bool:
    """Return whether two files of a level above 0 have keys, or what is between keys, in common."""
    found = []
    for file in snapshot.live:
        level = snapshot.raised.get(file, store.files[file].level)
        keys = [row.key for row in store.files[file].rows]
        if level > 0 and keys:
            found.append((store.files[file].bucket, level, min(keys), max(keys)))
    found.sort()
    return any(a[:2] == b[:2] and a[3] >= b[2] for a, b in pairwise(found))


# -- mutants ---------------------------------------------------------------------------------------
@mutant(rewritten)
def forgotten_vector_file(marks: frozenset[Mark], files: tuple[int, ...]) -> frozenset[Mark]:
    """A rewrite of the top level does not hand in its vectors (#8778, in 1.2.0 to 1.4.2)."""
    return marks
