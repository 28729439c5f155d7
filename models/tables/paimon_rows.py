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
row("P-1", holds(distinct=22), ONE_WRITER, THREE, TOPOLOGY="topo1")
row("P-2", holds(distinct=195), OWNERS, THREE, RESUMED)
row("P-3", holds(distinct=281), OWNERS, THREE, RESUMED, COMMIT_GUARD="lock")
row("P-4", violates(no_snapshot_lost, length=6, states=41), OWNERS, COMMIT_GUARD="none")
row(
    "P-5",
    violates(no_snapshot_lost, length=8, states=61),
    OWNERS,
    COMMIT_GUARD="lock_without_recheck",
)
row(
    "P-M9",
    violates(consistent_read, no_snapshot_lost, length=12, states=66),
    BESIDE,
    COMPACTIONS=1,
    COMMIT_GUARD="lock",
    LOCK_PER="instance",
)
row("P-M9-per-operation", holds(distinct=56), BESIDE, COMPACTIONS=1, COMMIT_GUARD="lock")
row(
    "P-29",
    violates("all_ops_settle", states=58),
    UPSERTS,
    BY_SNAPSHOT,
    COMMIT_GUARD="lock",
    CRASHES=1,
    LOCK_LEAKS=True,
)
row(
    "P-29-lease",
    holds(distinct=44),
    UPSERTS,
    BY_SNAPSHOT,
    COMMIT_GUARD="lock",
    CRASHES=1,
)

# -- the order of rows -----------------------------------------------------------------------------
row("P-6", violates(consistent_read, length=6, states=18), UPSERTS)
row("P-6-tie-last", violates(consistent_read, length=9, states=84), UPSERTS, THREE, TIE="last")
row("P-7a", holds(distinct=78), UPSERTS, THREE, GLOBAL)
row("P-7b", violates(consistent_read, length=9, states=265), UPSERTS, THREE, GLOBAL, VALUES=3)
row("P-7c", holds(distinct=265), UPSERTS, THREE, BY_SNAPSHOT, VALUES=3)
row(
    "P-7c-compactions",
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
    "P-7d",
    violates(consistent_read, length=9, states=241),
    UPSERTS,
    BY_SNAPSHOT,
    VALUES=3,
    COMPACTORS=1,
    COMPACTIONS=1,
    MUTANT=own_stamp,
)
row("P-27", violates(consistent_read, length=6, states=19), UPSERTS, SEQUENCE="timestamp")
row("P-27-no-skew", holds(distinct=78), UPSERTS, THREE, SEQUENCE="timestamp", SKEW=0)
row("P-resumed", holds(distinct=19), UPSERTS, SEQUENCE="resumed")
row(
    "P-resumed-3",
    violates(consistent_read, length=9, states=303),
    UPSERTS,
    THREE,
    SEQUENCE="resumed",
    VALUES=3,
)

# -- reading before writing ------------------------------------------------------------------------
row("P-8", violates(consistent_read, length=9, states=269), THREE, GLOBAL)
row("P-9", holds(distinct=237), THREE, GLOBAL, CHECKED)
row("P-9-three-values", holds(distinct=508), THREE, GLOBAL, CHECKED, VALUES=3)
row("P-9-by-snapshot", holds(distinct=237), THREE, BY_SNAPSHOT, CHECKED)
row("P-9-by-snapshot-three-values", holds(distinct=508), THREE, BY_SNAPSHOT, CHECKED, VALUES=3)
row("P-10", violates(consistent_read, length=6, states=261), THREE, CHECKED)
row("P-10-tie-last", violates(consistent_read, length=9, states=261), THREE, CHECKED, TIE="last")
row("P-11", holds(distinct=568), THREE, PARTIAL, BY_SNAPSHOT, VALUES=3)
row("P-11b", violates(consistent_read, length=9, states=568), THREE, PARTIAL, GLOBAL, VALUES=3)
row(
    "P-12",
    violates("no_lost_increment", length=9, states=78),
    THREE,
    PARTIAL,
    BY_SNAPSHOT,
    WORKLOAD="increment",
)
row("P-28", violates(consistent_read, length=9, states=576), THREE, BY_SNAPSHOT, VALUES=3)

# -- deletion vectors, tombstones and compaction ---------------------------------------------------
row("P-13", holds(distinct=263), BESIDE, VECTORS, COMPACTIONS=3)
row("P-13-two-compactions", holds(distinct=118), BESIDE, VECTORS, COMPACTIONS=2)
row("P-14", holds(distinct=553), MERGERS, VECTORS, COMPACTIONS=2)
row(
    "P-15",
    violates(no_dangling_vector, one_valid_row, length=15, states=3070),
    MERGERS,
    VECTORS,
    COMPACTIONS=3,
)
row("P-16", holds(distinct=3028), MERGERS, VECTORS, CHECKED, COMPACTIONS=3)
row(
    "P-16-strict",
    holds(distinct=2447),
    MERGERS,
    VECTORS,
    COMPACTIONS=3,
    CONFLICT_CHECK="bucket_strict",
)
row(
    "P-16-pairs",
    holds(distinct=3028),
    MERGERS,
    VECTORS,
    COMPACTIONS=3,
    CONFLICT_CHECK="file_dv_pair",
)
row("P-17", holds(distinct=3065), MERGERS, COMPACTIONS=3)
row(
    "P-18",
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
    "P-19",
    violates("doubled_rows_leave_a_trace", one_valid_row, length=6, states=106),
    LOST_VECTOR,
)
row("P-19-checked", holds(distinct=98), LOST_VECTOR, CHECKED)
row("P-19-pairs", holds(distinct=98), LOST_VECTOR, CONFLICT_CHECK="file_dv_pair")
row(
    "P-20",
    violates(consistent_read, length=12, states=118),
    DELETES,
    MUTANT=early_tombstone_drop,
)
row(
    "P-20-vectors",
    violates(consistent_read, length=12, states=118),
    DELETES,
    VECTORS,
    MUTANT=early_tombstone_drop,
)
row("P-21", holds(distinct=118), DELETES)
row("P-21-vectors", holds(distinct=118), DELETES, VECTORS)
row(
    "P-22",
    violates(no_dangling_vector, length=15, states=263),
    BESIDE,
    VECTORS,
    COMPACTIONS=3,
    MUTANT=keep_vectors,
)

# -- dynamic buckets -------------------------------------------------------------------------------
row(
    "P-23",
    violates(pk_in_one_bucket, consistent_read, length=6, states=101),
    PLACES,
    INDEX_UPDATE="racy",
)
row("P-24", holds(distinct=23), PLACES)

# -- flink -----------------------------------------------------------------------------------------
FLINK: Settings = {"TOPOLOGY": "flink", "WORKLOAD": "upsert", "RESTARTS": 1}
row(
    "P-25",
    holds(distinct=42863),
    FLINK,
    THREE,
    BUCKETS=2,
    KEYS=2,
    COMPACTORS=2,
    COMPACTIONS=2,
    LIVENESS=False,
)
row("P-25-small", holds(distinct=178), FLINK, ONE_WRITER, COMPACTORS=1, COMPACTIONS=1)
row(
    "P-26",
    violates(committed_once, length=6, states=13),
    FLINK,
    ONE_WRITER,
    OPS=1,
    SKIP_COMMITTED=False,
)
