"""The same workloads on every format: what goes wrong, and what it costs where nothing does.

`docs/models/tables.md` shows these rows as a table. How many operations are given up and attempts
made again at most is part of what a row expects: one less, and it would be violated.
"""

from typing import NamedTuple

from statewalk import Expectation, holds, violates

Settings = dict[str, object]


class Row(NamedTuple):
    """A cell of the table: a workload on a format under some settings."""

    workload: str
    format: str
    setting: str
    anomaly: str  # "none", or its name
    name: str  # of the configuration
    expect: Expectation
    constants: Settings


CHANGE = "two writers change one row that they read"
INSERT = "two writers put one new key"
COMPACT = "a change beside a merge of files"
ALL = "a change of all rows beside an insert"

READ: Settings = {"SEQUENCE": "resumed", "OPS": 3, "LIVENESS": False}
PUT: Settings = {"WORKLOAD": "put", "OPS_PER_WRITER": 1, "LIVENESS": False}
PLACED: Settings = {**PUT, "BUCKETS": 2, "BUCKET_MODE": "dynamic"}
THREE: Settings = {"OPS": 3, "CRASHES": False}
FILES: Settings = {**THREE, "CHECK": "files"}
SNAPSHOT: Settings = {**THREE, "CHECK": "files_snapshot"}
BARE: Settings = {**THREE, "VALUES": 2, "PUT_IF_ABSENT": False}
ROWS: Settings = {"OPS": 3, "VALUES": 1}
KEYS: Settings = {"GROUPS": 2}
SPARK: Settings = {"ISOLATION": "snapshot", "DELETES_DELETE": False}
PREDICATE: Settings = {"KEYS": 2, "PREDICATE": "all_rows", "KINDS": "insert_update"}
MERGE: Settings = {"OPS": 2, "COMPACTIONS": 1}
RUNS: Settings = {"SEQUENCE": "resumed", "COMPACTION": "universal", "LIVENESS": False}
LOADED: Settings = {
    **RUNS,
    "SEQUENCE": "per_writer",
    "WRITERS": 1,
    "WORKLOAD": "overwrite_any",
    "OPS": 3,
    "COMPACTORS": 2,
    "COMPACTIONS": 3,
    "DELETION_VECTORS": True,
}


def most(aborts: int | None, retries: int | None, constants: Settings) -> Settings:
    return {**constants, "MOST_ABORTS": aborts, "MOST_RETRIES": retries}


def wrong(states: int, **lengths: int) -> Expectation:
    return violates(lengths, states=states)


TABLE = [
    Row(CHANGE, "paimon", "as it is", "lost update", "lost_update_no_check",
        wrong(383, consistent_read=9), most(0, 1, READ)),
    Row(CHANGE, "paimon", "with a check (proposed)", "none", "update_with_check",
        holds(distinct=319), most(1, 1, {**READ, "CONFLICT_CHECK": "bucket"})),
    Row(CHANGE, "paimon", "a store that overwrites, no lock", "overwritten version",
        "version_overwritten", wrong(319, consistent_read=9, no_snapshot_lost=9),
        most(0, 0, {**READ, "COMMIT_GUARD": "none"})),
    Row(CHANGE, "delta", "any entry of the partition", "none", "update-by-partition",
        holds(distinct=1073), most(1, 0, THREE)),
    Row(CHANGE, "delta", "checks of files", "none", "update-by-files",
        holds(distinct=1061), most(1, 2, FILES)),
    Row(CHANGE, "delta", "a store that overwrites, no lock", "overwritten version",
        "version-overwritten", wrong(7110, consistent_read=8, one_live_image=12),
        most(0, 0, BARE)),
    Row(CHANGE, "hudi", "optimistic", "none", "update-optimistic",
        holds(distinct=3332), most(1, 0, ROWS)),
    Row(CHANGE, "hudi", "pessimistic", "none", "update-pessimistic",
        holds(distinct=2184), most(1, 0, {**ROWS, "CONTROL": "pessimistic"})),
    Row(CHANGE, "hudi", "no concurrency control", "lost update", "lost-update-no-control",
        wrong(4158, consistent_read=14), most(1, 0, {**ROWS, "CONTROL": "none"})),
    Row(CHANGE, "iceberg", "serializable", "none", "update-serializable",
        holds(distinct=607), most(1, 1, {})),
    Row(CHANGE, "iceberg", "snapshot, as Spark validates", "deleted row is back",
        "deleted-row-is-back", wrong(631, consistent_read=12, serial_in_commit_order=12),
        most(1, 1, SPARK)),
    Row(CHANGE, "iceberg", "a catalog that overwrites", "overwritten version",
        "version-overwritten", wrong(555, consistent_read=12, serial_in_commit_order=12),
        most(1, 0, {"COMPARE_AND_SWAP": False})),
    Row(INSERT, "paimon", "fixed buckets", "none", "new_key_fixed_bucket",
        holds(distinct=39), most(0, 1, PUT)),
    Row(INSERT, "paimon", "dynamic buckets, index locked", "none", "new_key_index_locked",
        holds(distinct=23), most(0, 0, PLACED)),
    Row(INSERT, "paimon", "dynamic buckets, index not locked", "duplicate key",
        "duplicate_key_index_not_locked", wrong(141, consistent_read=6, pk_in_one_bucket=6),
        most(0, 1, {**PLACED, "INDEX_UPDATE": "racy"})),
    Row(INSERT, "hudi", "with a check of keys", "none", "new-key-checked",
        holds(distinct=3755), most(1, 0, KEYS)),
    Row(INSERT, "hudi", "without", "duplicate key", "duplicate-key-not-checked",
        wrong(3931, consistent_read=16, key_in_one_group=16),
        most(1, 0, {**KEYS, "PRIMARY_KEY_CHECK": False})),
    Row(COMPACT, "paimon", "as it is", "none", "merge_beside_delete",
        holds(distinct=189), most(0, 1, {**RUNS, "WORKLOAD": "delete", "COMPACTORS": 1, **MERGE})),
    Row(COMPACT, "paimon", "vectors, two compactors, after INSERT OVERWRITE", "dangling vector",
        "vectors_damaged_after_overwrite",
        wrong(43392, no_dangling_vector=18, one_valid_row=18), LOADED),
    Row(COMPACT, "delta", "checks of files", "none", "merge-by-files",
        holds(distinct=603), most(1, 2, {**FILES, **MERGE})),
    Row(COMPACT, "delta", "files removed twice not seen (Kernel before #7163)",
        "deleted row is back", "merge-not-compared",
        wrong(621, consistent_read=13, one_live_image=13),
        most(1, 2, {**FILES, **MERGE, "MUTANT": "no_delete_delete_check"})),
    Row(COMPACT, "iceberg", "validated", "none", "merge-validated",
        holds(distinct=479), most(1, 1, MERGE)),
    Row(COMPACT, "iceberg", "compaction not validated", "deleted row is back",
        "merge-not-validated", wrong(519, consistent_read=12, serial_in_commit_order=12),
        most(1, 1, {**MERGE, "DELETES_REWRITE": False})),
    Row(ALL, "delta", "checks of files added", "none", "all-rows-serializable",
        holds(distinct=1061), most(1, 2, FILES)),
    Row(ALL, "delta", "checks of files removed only", "write skew", "all-rows-snapshot",
        wrong(1081, consistent_read=13), most(1, 2, SNAPSHOT)),
    Row(ALL, "iceberg", "serializable", "none", "all-rows-serializable",
        holds(distinct=5245), most(1, 2, PREDICATE)),
    Row(ALL, "iceberg", "snapshot", "write skew", "all-rows-snapshot",
        wrong(5501, serial_in_commit_order=12), most(1, 2, {**PREDICATE, "ISOLATION": "snapshot"})),
]  # fmt: skip


def rows_of(format: str) -> list[Row]:
    return [row for row in TABLE if row.format == format]
