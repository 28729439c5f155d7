"""The constants of the Paimon model, by what they belong to.

- The *protocol*: what Paimon does, what it did, what was proposed. A variant is a value.
- The *deployment*: who runs where, on which store, with which options of table and procedures.
- The *workload*: how much happens, how often what goes wrong.
- The *checking*: how fine the steps are, and what is asked.
- *Planted defects*: what no version does. The others are mutants, beside what they break.

Left at their defaults, the constants below the line "corrections" give the abstraction that the
public specification has, with compactions of one level. What is counted is bounded in `effort`.
"""

from typing import Literal

from statewalk import Constant

# -- the protocol ----------------------------------------------------------------------------------
COMMIT_GUARD: Constant[
    Literal[
        "put_if_absent",  # the store refuses a rename to a name that exists
        "lock",  # rename overwrites; who holds the lock looks whether the version is still free
        "lock_without_recheck",  # the lock is taken, but nobody looks
        "none",  # rename overwrites
    ]
] = "put_if_absent"
CONFLICT_CHECK: Constant[
    Literal[
        "none",  # Paimon, of primary-key tables
        "bucket",  # against what was done since to the bucket: writes to writes, merges to merges
        "bucket_strict",  # the same, but writes forbid merges too: a busy bucket is never merged
        "file_dv_pair",  # a proposal: against what became of what a merge read, and its vectors
    ]
] = "none"
SEQUENCE: Constant[
    Literal[
        "per_writer",  # each writer numbers its own rows, from 1
        "opened",  # the same, from the highest number there is when it opens (MergeTreeWriter)
        "resumed",  # the same, going on from the highest number in the latest snapshot
        "global",  # one counter for all, drawn when an operation starts
        "timestamp",  # the writer's clock when an operation starts; see SKEW
        "snapshot_order",  # a later snapshot wins, numbers decide within one (since 2.0.0)
    ]
] = "per_writer"
TIE: Constant[Literal["first", "last"]] = "first"  # of rows with equal numbers: which one wins
# corrections
COMPACTION: Constant[
    Literal[
        "level",  # the abstraction: one level's files become a file of the next, beside the others
        "universal",  # Paimon: the newest sorted runs become one; see `universal`
    ]
] = "level"
VIEW: Constant[
    Literal[
        "latest",  # a compaction looks at the latest snapshot
        "cached",  # at what its job saw when it opened, was told of and did; a refusal ends it
        "cached_for_good",  # the same, but the job goes on after a refusal
    ]
] = "latest"
COMMITTABLE: Constant[
    Literal[
        "one_change",  # each write and each compaction is committed by itself
        "checkpoint",  # what arrived since the last one: writes, then compactions, one identifier
    ]
] = "one_change"
# -- the deployment --------------------------------------------------------------------------------
TOPOLOGY: Constant[
    Literal[
        "flink",  # writers own buckets; one committer publishes everybody's files, one at a time
        "topo1",  # writers own buckets; each worker commits for itself
        "topo2",  # everybody works on all buckets and commits for itself
    ]
] = "topo2"
WRITERS: Constant[int] = 2
COMPACTORS: Constant[int] = 0
BUCKETS: Constant[int] = 1
MAX_LEVEL: Constant[int] = 3  # the top level: num-levels - 1
DELETION_VECTORS: Constant[bool] = False
ENGINE: Constant[Literal["deduplicate", "partial_update"]] = "deduplicate"
BUCKET_MODE: Constant[
    Literal[
        "fixed",  # a key's bucket follows from the key
        "dynamic",  # an index tells the bucket of each key; a new one may go anywhere
    ]
] = "fixed"
INDEX_UPDATE: Constant[Literal["serial", "racy"]] = "serial"  # of the key-to-bucket index
SKEW: Constant[int] = 1  # by how much writer 0's clock is ahead
STOP_RUNS: Constant[int | None] = None  # num-sorted-run.stop-trigger: above it, writers wait
MAX_RETRIES: Constant[int | None] = None  # commit.max-retries
OVERWRITE_UPGRADE: Constant[bool] = True  # overwrite-upgrade: files go to the top level (universal)
CLEANING: Constant[
    Literal[
        "old",  # orphans that are older than any operation lasts (older_than)
        "at_once",  # all orphans
    ]
] = "old"

# -- the workload ----------------------------------------------------------------------------------
WORKLOAD: Constant[
    Literal[
        "update",  # insert, then read the row and change one column
        "increment",  # insert, then read the row and add one to column a
        "upsert",  # insert, then overwrite the row without reading
        "delete",  # insert, then delete
        "put",  # write the same row whether or not the key is there
        "overwrite",  # insert, then update or INSERT OVERWRITE the bucket by what was read in it
        "overwrite_blind",  # the same, by what was not read
        "overwrite_any",  # the same, of an empty bucket too
    ]
] = "update"
KEYS: Constant[int] = 1  # primary keys
VALUES: Constant[int] = 2  # of column a; column b has two
OPS: Constant[int] = 2  # writes that start, of all writers together
OPS_PER_WRITER: Constant[int | None] = None
COMPACTIONS: Constant[int] = 0  # compactions that start
CRASHES: Constant[int] = 0  # of workers
RESTARTS: Constant[int] = 0  # of the committer
LOST_ANSWERS: Constant[int] = 0  # renames that happen, and look as if they had failed
START: Constant[Literal["empty", "two_levels"]] = "empty"  # see the initial states
CLEANUPS: Constant[int] = 0  # of orphans

# -- the checking ----------------------------------------------------------------------------------
GRAIN: Constant[
    Literal[
        "fused",  # start and write the data in one step, then the metadata as one object
        "fine",  # start, then write the data
        "files",  # the same, and the metadata file by file
    ]
] = "fused"
LIVENESS: Constant[bool] = True  # off where it would take longer than the search
ASK_FOR_RUNS: Constant[bool] = False  # check one_run_per_level of the abstraction too

# -- planted defects -------------------------------------------------------------------------------
LOCK_PER: Constant[Literal["operation", "instance"]] = "operation"  # instance: writer and compactor
LOCK_LEAKS: Constant[bool] = False  # a crash leaves the lock taken
DELETED_FILE_CHECK: Constant[bool] = True  # a compaction gives up if a file it replaces is gone
KEY_RANGE_CHECK: Constant[bool] = True  # or if key ranges of a level would overlap (universal)
LISTED_FIRST: Constant[bool] = True  # orphans are listed before it is looked which files are used
SKIP_COMMITTED: Constant[bool] = True  # on replay, the committer skips what it has committed

UNIVERSAL = COMPACTION == "universal"
INDEXED = BUCKET_MODE == "dynamic"
LOCKED = COMMIT_GUARD in ("lock", "lock_without_recheck")
ALL_KEYS = range(KEYS)
ALL_BUCKETS = range(BUCKETS)
VERSIONS = range(1, (OPS + COMPACTIONS) * (1 + RESTARTS) + LOST_ANSWERS + 1)  # there can be

assert GRAIN == "files" or CLEANUPS == 0, "orphans are files"
assert TOPOLOGY == "flink" or RESTARTS == 0, "only flink has a committer to restart"
assert TOPOLOGY == "flink" or COMMITTABLE == "one_change", "only flink has checkpoints"
assert COMMITTABLE == "one_change" or WRITERS == 1 >= COMPACTORS, "a snapshot has one change"
assert "overwrite" not in WORKLOAD or KEYS <= BUCKETS, "an overwrite is of a bucket, so of one key"
assert START == "empty" or WRITERS == 1, "the prepared table was written by one writer"
assert START == "empty" or not UNIVERSAL, "the prepared table has two files in a level"
assert VIEW == "latest" or (UNIVERSAL and BUCKETS == 1), "cached are the sorted runs of a bucket"
