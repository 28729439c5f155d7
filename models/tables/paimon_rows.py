"""The runs of the Paimon model: what each sets, and what it must find.

Each states how many states there are in all. `docs/models/paimon.md` says what the rows show.
"""

from statewalk import Expectation, holds, violates
from statewalk.models.tables.lsm import early_tombstone_drop, keep_vectors, own_stamp
from statewalk.models.tables.safety import (
    committed_once,
    consistent_read,
    no_dangling_vector,
    no_snapshot_lost,
    one_valid_row,
    pk_in_one_bucket,
)

Settings = dict[str, object]
ROWS: list[tuple[str, Expectation, Settings]] = []


def row(name: str, expect: Expectation, *settings: Settings, **constants: object) -> None:
    """Add a run: settings that several runs share, then its own."""
    merged: Settings = {}
    for part in (*settings, constants):
        merged |= part
    ROWS.append((name, expect, merged))


ONE_WRITER: Settings = {"WRITERS": 1}
OWNERS: Settings = {"TOPOLOGY": "topo1", "BUCKETS": 2, "KEYS": 2, "WORKLOAD": "upsert"}
UPSERTS: Settings = {"WORKLOAD": "upsert"}
THREE: Settings = {"OPS": 3}
GLOBAL: Settings = {"SEQUENCE": "global"}
RESUMED: Settings = {"SEQUENCE": "resumed"}
BY_SNAPSHOT: Settings = {"SEQUENCE": "snapshot_order"}
CHECKED: Settings = {"CONFLICT_CHECK": "bucket"}
PARTIAL: Settings = {"ENGINE": "partial_update"}
VECTORS: Settings = {"DELETION_VECTORS": True}
MERGERS: Settings = {**ONE_WRITER, **UPSERTS, "COMPACTORS": 2}  # two compactors of one bucket
DELETES: Settings = {**ONE_WRITER, "WORKLOAD": "delete", "COMPACTORS": 1, "COMPACTIONS": 2}
PLACES: Settings = {
    "BUCKETS": 2,
    "BUCKET_MODE": "dynamic",
    "WORKLOAD": "put",
    "OPS_PER_WRITER": 1,
}
BESIDE: Settings = {**ONE_WRITER, **UPSERTS, "TOPOLOGY": "topo1", "COMPACTORS": 1}

# -- the commit guard ------------------------------------------------------------------------------
row("one_writer_alone", holds(distinct=22), ONE_WRITER, THREE, TOPOLOGY="topo1")
row("own_buckets_put_if_absent", holds(distinct=195), OWNERS, THREE, RESUMED)
row("own_buckets_lock", holds(distinct=281), OWNERS, THREE, RESUMED, COMMIT_GUARD="lock")
row(
    "version_overwritten_no_guard",
    violates(no_snapshot_lost, length=6, states=41),
    OWNERS,
    COMMIT_GUARD="none",
)
row(
    "version_overwritten_no_second_look",
    violates(no_snapshot_lost, length=8, states=61),
    OWNERS,
    COMMIT_GUARD="lock_without_recheck",
)
row(
    "version_overwritten_shared_lock",
    violates(consistent_read, no_snapshot_lost, length=12, states=66),
    BESIDE,
    COMPACTIONS=1,
    COMMIT_GUARD="lock",
    LOCK_PER="instance",
)
row("lock_of_each_operation", holds(distinct=56), BESIDE, COMPACTIONS=1, COMMIT_GUARD="lock")
row(
    "lock_leaked_by_crash",
    violates("all_ops_settle", states=58),
    UPSERTS,
    BY_SNAPSHOT,
    COMMIT_GUARD="lock",
    CRASHES=1,
    LOCK_LEAKS=True,
)
row(
    "lock_leased",
    holds(distinct=44),
    UPSERTS,
    BY_SNAPSHOT,
    COMMIT_GUARD="lock",
    CRASHES=1,
)

# -- the order of rows -----------------------------------------------------------------------------
row("order_lost_own_counters", violates(consistent_read, length=6, states=18), UPSERTS)
row(
    "order_lost_own_counters_tie_last",
    violates(consistent_read, length=9, states=84),
    UPSERTS,
    THREE,
    TIE="last",
)
row("order_lost_unseen_two_values", holds(distinct=78), UPSERTS, THREE, GLOBAL)
row(
    "order_lost_shared_counter",
    violates(consistent_read, length=9, states=265),
    UPSERTS,
    THREE,
    GLOBAL,
    VALUES=3,
)
row("order_kept_by_snapshot", holds(distinct=265), UPSERTS, THREE, BY_SNAPSHOT, VALUES=3)
row(
    "order_kept_by_snapshot_compacted",
    holds(distinct=31827),
    UPSERTS,
    THREE,
    BY_SNAPSHOT,
    VALUES=3,
    COMPACTORS=1,
    COMPACTIONS=2,
    LIVENESS=False,
)
row(
    "order_lost_own_stamp",
    violates(consistent_read, length=9, states=241),
    UPSERTS,
    BY_SNAPSHOT,
    VALUES=3,
    COMPACTORS=1,
    COMPACTIONS=1,
    MUTANT=own_stamp,
)
row(
    "order_lost_clock_skew",
    violates(consistent_read, length=6, states=19),
    UPSERTS,
    SEQUENCE="timestamp",
)
row(
    "order_kept_no_skew_two_values",
    holds(distinct=78),
    UPSERTS,
    THREE,
    SEQUENCE="timestamp",
    SKEW=0,
)
row("order_kept_numbers_resumed_two_writes", holds(distinct=19), UPSERTS, SEQUENCE="resumed")
row(
    "order_lost_numbers_resumed",
    violates(consistent_read, length=9, states=303),
    UPSERTS,
    THREE,
    SEQUENCE="resumed",
    VALUES=3,
)

# -- reading before writing ------------------------------------------------------------------------
row("lost_update_shared_counter", violates(consistent_read, length=9, states=269), THREE, GLOBAL)
row("update_checked_shared_counter", holds(distinct=237), THREE, GLOBAL, CHECKED)
row(
    "update_checked_shared_counter_three_values",
    holds(distinct=508),
    THREE,
    GLOBAL,
    CHECKED,
    VALUES=3,
)
row("update_checked_by_snapshot", holds(distinct=237), THREE, BY_SNAPSHOT, CHECKED)
row(
    "update_checked_by_snapshot_three_values",
    holds(distinct=508),
    THREE,
    BY_SNAPSHOT,
    CHECKED,
    VALUES=3,
)
row("order_lost_update_checked", violates(consistent_read, length=6, states=261), THREE, CHECKED)
row(
    "order_lost_update_checked_tie_last",
    violates(consistent_read, length=9, states=261),
    THREE,
    CHECKED,
    TIE="last",
)
row("partial_update_by_snapshot", holds(distinct=568), THREE, PARTIAL, BY_SNAPSHOT, VALUES=3)
row(
    "partial_update_order_lost",
    violates(consistent_read, length=9, states=568),
    THREE,
    PARTIAL,
    GLOBAL,
    VALUES=3,
)
row(
    "lost_increment_partial_update",
    violates("no_lost_increment", length=9, states=78),
    THREE,
    PARTIAL,
    BY_SNAPSHOT,
    WORKLOAD="increment",
)
row(
    "lost_update_by_snapshot",
    violates(consistent_read, length=9, states=576),
    THREE,
    BY_SNAPSHOT,
    VALUES=3,
)

# -- deletion vectors, tombstones and compaction ---------------------------------------------------
row("level_vectors_whole_one_compactor", holds(distinct=263), BESIDE, VECTORS, COMPACTIONS=3)
row(
    "level_vectors_whole_one_compactor_two_compactions",
    holds(distinct=118),
    BESIDE,
    VECTORS,
    COMPACTIONS=2,
)
row("level_vectors_whole_two_compactions", holds(distinct=553), MERGERS, VECTORS, COMPACTIONS=2)
row(
    "level_vectors_damaged",
    violates(no_dangling_vector, one_valid_row, length=15, states=3070),
    MERGERS,
    VECTORS,
    COMPACTIONS=3,
)
row(
    "level_vectors_whole_merge_check",
    holds(distinct=3028),
    MERGERS,
    VECTORS,
    CHECKED,
    COMPACTIONS=3,
)
row(
    "level_vectors_whole_strict_check",
    holds(distinct=2447),
    MERGERS,
    VECTORS,
    COMPACTIONS=3,
    CONFLICT_CHECK="bucket_strict",
)
row(
    "level_vectors_whole_pair_check",
    holds(distinct=3028),
    MERGERS,
    VECTORS,
    COMPACTIONS=3,
    CONFLICT_CHECK="file_dv_pair",
)
row("level_no_vectors", holds(distinct=3065), MERGERS, COMPACTIONS=3)
row(
    "level_doubled_row_no_deleted_file_check",
    violates(one_valid_row, length=9, states=36),
    MERGERS,
    VECTORS,
    OPS=1,
    COMPACTIONS=2,
    DELETED_FILE_CHECK=False,
)
LOST_VECTOR: Settings = {
    **MERGERS,
    **VECTORS,
    "KEYS": 2,
    "OPS": 4,
    "COMPACTIONS": 4,
    "START": "two_levels",
}
row(
    "level_vector_lost",
    violates("doubled_rows_leave_a_trace", one_valid_row, length=6, states=106),
    LOST_VECTOR,
)
row("level_vector_kept_merge_check", holds(distinct=98), LOST_VECTOR, CHECKED)
row("level_vector_kept_pair_check", holds(distinct=98), LOST_VECTOR, CONFLICT_CHECK="file_dv_pair")
row(
    "deleted_row_is_back_early_drop",
    violates(consistent_read, length=12, states=118),
    DELETES,
    MUTANT=early_tombstone_drop,
)
row(
    "deleted_row_is_back_early_drop_vectors",
    violates(consistent_read, length=12, states=118),
    DELETES,
    VECTORS,
    MUTANT=early_tombstone_drop,
)
row("deleted_row_stays_away", holds(distinct=118), DELETES)
row("deleted_row_stays_away_vectors", holds(distinct=118), DELETES, VECTORS)
row(
    "level_vectors_of_replaced_files_kept",
    violates(no_dangling_vector, length=15, states=263),
    BESIDE,
    VECTORS,
    COMPACTIONS=3,
    MUTANT=keep_vectors,
)

# -- dynamic buckets -------------------------------------------------------------------------------
row(
    "duplicate_key_racy_index",
    violates(pk_in_one_bucket, consistent_read, length=6, states=101),
    PLACES,
    INDEX_UPDATE="racy",
)
row("one_bucket_serial_index", holds(distinct=23), PLACES)

# -- flink -----------------------------------------------------------------------------------------
FLINK: Settings = {"TOPOLOGY": "flink", "WORKLOAD": "upsert", "RESTARTS": 1}
row(
    "replay_skips_committed",
    holds(distinct=42863),
    FLINK,
    THREE,
    BUCKETS=2,
    KEYS=2,
    COMPACTORS=2,
    COMPACTIONS=2,
    LIVENESS=False,
)
row(
    "replay_skips_committed_small",
    holds(distinct=178),
    FLINK,
    ONE_WRITER,
    COMPACTORS=1,
    COMPACTIONS=1,
)
row(
    "committed_twice_on_replay",
    violates(committed_once, length=6, states=13),
    FLINK,
    ONE_WRITER,
    OPS=1,
    SKIP_COMMITTED=False,
)
