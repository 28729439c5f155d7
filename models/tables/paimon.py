"""Apache Paimon: writers, compactors and a committer on one primary-key table.

An operation has two phases. The *write phase* puts a data file, which nobody sees yet. The *commit
phase* publishes it as part of the next snapshot. Where to read:

- `paimon_settings`: all constants with their values;
- `lsm`: the table, its files, and how they are read; `universal`: which files a compaction takes;
- `metadata`: the files between a snapshot and its data files, with `GRAIN=files`;
- `workers`: writers, compactors, the committer of flink, the commit phase that they share, and who
  deletes orphans;
- `safety`: what must hold of every version; `paimon_rows`, `_real`, `_files`: the runs.

With `COMPACTION=level`, the default, compactions are those of the public specification, an
abstraction; with `COMPACTION=universal` they are Paimon's. The constants belong to:

- the protocol: COMMIT_GUARD, CONFLICT_CHECK, SEQUENCE, TIE, COMPACTION, VIEW, COMMITTABLE
- the deployment: TOPOLOGY, WRITERS, COMPACTORS, BUCKETS, MAX_LEVEL, DELETION_VECTORS, ENGINE,
  BUCKET_MODE, INDEX_UPDATE, SKEW, STOP_RUNS, MAX_RETRIES, OVERWRITE_UPGRADE, CLEANING
- the workload: WORKLOAD, KEYS, VALUES, OPS, OPS_PER_WRITER, COMPACTIONS, CRASHES, RESTARTS,
  LOST_ANSWERS, START, CLEANUPS
- the checking: GRAIN, LIVENESS, ASK_FOR_RUNS
- planted defects: LOCK_PER, LOCK_LEAKS, DELETED_FILE_CHECK, KEY_RANGE_CHECK, LISTED_FIRST,
  SKIP_COMMITTED
"""

from statewalk import (
    always,
    config,
    draw,
    eventually,
    exists,
    init,
    picture,
    terminal,
    violates,
)
from statewalk.models.tables.comparison import rows_of as compared_rows
from statewalk.models.tables.lsm import (
    Row,
    latest,
    level_of,
    live,
    merging_reader,
    rows_of,
    store,
    vectors,
)
from statewalk.models.tables.paimon_rows_files import ROWS
from statewalk.models.tables.paimon_settings import (
    ALL_KEYS,
    BUCKET_MODE,
    COMMITTABLE,
    COMPACTIONS,
    COMPACTORS,
    CONFLICT_CHECK,
    CRASHES,
    DELETION_VECTORS,
    GRAIN,
    INDEX_UPDATE,
    KEYS,
    LIVENESS,
    LOCK_LEAKS,
    LOCKED,
    OPS,
    RESTARTS,
    SKIP_COMMITTED,
    START,
    TIE,
    TOPOLOGY,
    VERSIONS,
    VIEW,
    WORKLOAD,
    WRITERS,
)
from statewalk.models.tables.safety import consistent_read, expected, read
from statewalk.models.tables.workers.cleaner import everybody
from statewalk.models.tables.workers.commit import Worker
from statewalk.models.tables.workers.committer import is_committed
from statewalk.models.tables.workers.compactors import compactors
from statewalk.models.tables.workers.operation import history, inbox, lock
from statewalk.models.tables.workers.writers import started, writers

# -- the initial state -----------------------------------------------------------------------------
if START == "two_levels":

    @init
    def two_levels() -> None:
        """Begin where a vector can be lost: two keys at level 1, one marked there, one
        newer below.
        """
        finish_write(0)
        finish_write(1)
        finish_compaction()
        finish_write(1)
        finish_compaction()
        finish_write(0)

    def finish_write(key: int) -> None:
        if merging_reader(latest(), key):
            writers[0].upsert(key)
        else:
            writers[0].insert(key)
        if GRAIN != "fused":
            writers[0].write_data()
        publish(writers[0])

    def finish_compaction() -> None:
        compactors[0].start_compaction(0, 0)
        if GRAIN != "fused":
            compactors[0].merge()
        publish(compactors[0])

    def publish(worker: Worker) -> None:
        worker.write_metadata()
        if LOCKED:
            worker.prepare()
        worker.commit()


# -- safety of the workers; that of what they publish is in safety ---------------------------------
@always
def no_bad_state() -> bool:
    """A writer that has written data has a file in the store."""
    return all(
        w.op.row is None or w.op.stage == "data" or w.op.file in store.files for w in everybody()
    )


if WORKLOAD == "increment":

    @always
    def no_lost_increment() -> bool:
        """Column a counts the increments that were acknowledged."""
        return all(
            row.a == sum(a.row is not None and a.row.key == key for a in history.acked) - 1
            for key in ALL_KEYS
            for row in merging_reader(latest(), key)
        )


# -- witnesses, each where the constants allow it --------------------------------------------------
RACERS = 1 if TOPOLOGY == "flink" else min(WRITERS, OPS) + min(COMPACTORS, COMPACTIONS)
ONE_BY_ONE = BUCKET_MODE == "dynamic" and INDEX_UPDATE == "serial"

if RACERS > 1 and OPS + COMPACTIONS - (KEYS == 1) > 1 and not ONE_BY_ONE:

    @exists
    def somebody_is_late() -> bool:
        """A snapshot is about to be published that is built on an outdated one."""
        return any(w.op.next is not None and w.op.base < latest() for w in everybody())


if DELETION_VECTORS and OPS > 1 and COMPACTIONS > 1:

    @exists
    def a_row_is_marked() -> bool:
        return bool(vectors(latest()))


if CONFLICT_CHECK == "bucket" and WORKLOAD == "update" and WRITERS > 1:

    @exists
    def an_update_is_refused() -> bool:
        """A data file is in the store that nobody will publish."""
        published = [ack.file for ack in history.acked]
        return settled() and any(file not in published for file in range(1, store.files_made + 1))


if RESTARTS > 0:

    @exists
    def something_is_replayed() -> bool:
        return any(is_committed(op.file) for op in inbox.queue)


if COMMITTABLE == "checkpoint" and RESTARTS > 0 and SKIP_COMMITTED:

    @exists
    def a_compaction_is_dropped() -> bool:
        """A crash between the snapshots of a committable: what the second had is not published."""
        merged = [
            v for v in VERSIONS if v in store.snapshots and store.snapshots[v].kind != "append"
        ]
        return settled() and history.compactions > len(merged) and latest() == OPS


if VIEW != "latest" and COMPACTIONS > 2:

    @always
    def a_refused_job_recovers() -> bool:
        """Nobody is refused a second time when the others are at rest."""
        return all(compactor.refusals <= 1 for compactor in compactors)


# -- liveness and the end --------------------------------------------------------------------------
def settled() -> bool:
    return all(w.op.stage == "idle" for w in everybody()) and not inbox.queue


if LIVENESS:

    @eventually
    @always
    def all_ops_settle() -> bool:
        """Every operation that started is committed or given up in the end."""
        return settled()


if LIVENESS and TOPOLOGY != "topo2" and CRASHES == 0:

    @eventually
    @always
    def all_snapshots_committed() -> bool:
        """Without conflicts, each operation ends up in a snapshot
        of its own.
        """
        return latest() == started() + history.compactions


@terminal
def nothing_under_way() -> bool:
    """Or what waits waits for a leaked lock: that is for `all_ops_settle` to report."""
    return settled() or (LOCK_LEAKS and lock.holder is not None)


# -- configurations --------------------------------------------------------------------------------
config("defaults", expect=violates(consistent_read, length=6, states=29))

for name, expect, constants in ROWS:
    config(name, expect=expect, **constants)

for compared in compared_rows("paimon"):
    config(compared.name, expect=compared.expect, **compared.constants)


# -- a picture -------------------------------------------------------------------------------------
@picture
def levels() -> draw.Part:
    """The latest version: files by level with the version that added them, rows with their numbers.

    Of a key, the row of the highest number is read: it has a strong edge. Rows are colored by key;
    gray ones are marked.
    """
    now = latest()
    by_level: dict[int, list[int]] = {}
    for file in live(now):
        by_level.setdefault(level_of(now, file), []).append(file)
    files = draw.grid(
        *([f"level {n}", *(box_of(now, file) for file in by_level[n])] for n in sorted(by_level)),
        title=f"version {now}",
    )
    rows = [
        [key, told(read(now, key)), told(expected(now, key)), last_write(now, key)]
        for key in ALL_KEYS
        if now
    ]
    columns = ["key", "reads (a, b)", "should read", "last committed write"]
    rule = f"equal numbers: the {TIE} file is read"
    return draw.column(files, draw.grid(*rows, columns=columns), rule)


def told(columns: list[tuple[int | None, int | None]]) -> str:
    return ", ".join(map(str, columns)) or "nothing"


def last_write(version: int, key: int) -> str:
    """The write of a key that was acknowledged last."""
    acked = [
        ack
        for ack in history.acked
        if ack.version <= version and ack.row is not None and ack.row.key == key
    ]
    return f"file {acked[-1].file}, version {acked[-1].version}" if acked else ""


def box_of(version: int, file: int) -> draw.Part:
    rows = rows_of_file(version, file)
    return draw.box(
        *(token_of(row, version, kept) for row, kept in rows),
        title=f"file {file}, version {live(version)[file]}",
    )


def rows_of_file(version: int, file: int) -> list[tuple[Row, bool]]:
    """The rows of a live file as they are read, each with whether no vector marks it."""
    rows = rows_of([file], live(version), frozenset())
    return [(row, (file, at) not in vectors(version)) for at, row in enumerate(rows)]


def token_of(row: Row, version: int, kept: bool) -> draw.Part:
    return draw.token(
        f"{row.kind} key {row.key} = ({row.a}, {row.b}) no. {row.sequence}",
        color=row.key if kept else None,
        strong=kept and row in merging_reader(version, row.key),
    )
