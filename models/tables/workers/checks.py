"""The effect of an operation on the next snapshot, and the checks before it is published.

Who builds a snapshot looks for what was committed since it read. Paimon asks whether the files
that an operation replaces are still there, and whether key ranges would overlap; the other checks
are proposals.
"""

from statewalk import mutant
from statewalk.models.tables.lsm import Snapshot, level_of, live, marks_in, store, vectors
from statewalk.models.tables.paimon_settings import (
    CONFLICT_CHECK,
    DELETED_FILE_CHECK,
    KEY_RANGE_CHECK,
    MAX_LEVEL,
    OVERWRITE_UPGRADE,
    UNIVERSAL,
)
from statewalk.models.tables.universal import ranges_overlap
from statewalk.models.tables.workers.operation import Operation


def next_snapshot(op: Operation, version: int) -> Snapshot:
    """The latest snapshot with an operation's files in place of those it replaces.

    An overwrite replaces those of the bucket in the latest snapshot, not those it read, and its own
    file, which overlaps nothing, goes to the top level (FileStoreCommitImpl.tryUpgrade).
    """
    files = {f: added for f, added in live(version).items() if f not in op.sources}
    marks = vectors(version)
    if op.kind == "overwrite":
        files = {f: added for f, added in files.items() if store.files[f].bucket != op.bucket}
        marks = marks - marks_in(version, op.bucket)
    if op.file in store.files:
        files[op.file] = version + 1
    raised = dict(store.snapshots[version].raised) if version else {}
    if op.raised:
        files[op.raised] = live(version)[op.raised]
        raised[op.raised] = op.level
    if op.kind == "overwrite" and UNIVERSAL and OVERWRITE_UPGRADE:
        raised[op.file] = MAX_LEVEL
    if op.vectors is not None:
        marks = (marks - marks_in(version, op.bucket)) | op.vectors
    raised = {f: at for f, at in raised.items() if f in files}
    return Snapshot(op.kind, op.bucket, op.file, files, marks, raised, op.checkpoint)


def is_published(op: Operation, version: int) -> bool:
    """Return whether an attempt that seemed to fail did not (FileStoreCommitImpl.tryCommitOnce)."""
    return any(store.snapshots[v].identifier == op.file for v in range(1, version + 1))


def lost_sources(op: Operation, version: int) -> bool:
    """Return whether a file that a compaction replaces is no longer live, at the level it had."""
    if not DELETED_FILE_CHECK:
        return False
    if any(file not in live(version) for file in op.sources):
        return True
    return any(level_of(version, f) != at for f, at in zip(op.sources, op.levels, strict=False))


def breaks_runs(op: Operation, version: int) -> bool:
    """Return whether key ranges of a level would overlap (PrimaryKeyConflictDetection)."""
    if not (UNIVERSAL and KEY_RANGE_CHECK) or op.kind == "append":
        return False
    return ranges_overlap(next_snapshot(op, version))


def conflicts(op: Operation, version: int) -> bool:
    """The data conflict check: whether something since the read forbids an operation to commit.

    A write that read is refused after another write to its bucket, a compaction after another
    compaction of its bucket. Blind writes read nothing, so nothing can have changed beneath them.
    """
    if CONFLICT_CHECK == "none" or (op.kind != "compact" and op.changed == "all"):
        return False
    if CONFLICT_CHECK == "file_dv_pair":
        return op.kind == "compact" and pairs_changed(op, version)
    later = [store.snapshots[v] for v in range(op.read + 1, version + 1)]
    merges = op.kind == "compact"
    strict = CONFLICT_CHECK == "bucket_strict" and merges
    return any(s.bucket == op.bucket and (strict or merges == (s.kind == "compact")) for s in later)


def pairs_changed(op: Operation, version: int) -> bool:
    """Return whether the vectors a compaction started from changed, or a file that it marks is
    gone.
    """
    gone = any(mark[0] not in live(version) for mark in op.vectors or ())
    return gone or marks_in(op.read, op.bucket) != marks_in(version, op.bucket)


# -- mutants ---------------------------------------------------------------------------------------
@mutant(is_published)
def no_look_up(op: Operation, version: int) -> bool:
    """A retry does not check whether the failure was one (before 1.2.0)."""
    return False
