"""The runs that hold the abstraction against Paimon's source, named by what they show.

In brackets is the number of the correction: what the model had otherwise before.
"""

from statewalk import holds, violates
from statewalk.models.tables.comparison import LOADED
from statewalk.models.tables.paimon_rows import (
    CHECKED,
    MERGERS,
    OWNERS,
    RESUMED,
    ROWS,
    THREE,
    UPSERTS,
    VECTORS,
    Settings,
    row,
)
from statewalk.models.tables.safety import (
    committed_once,
    consistent_read,
    no_dangling_vector,
    one_valid_row,
)
from statewalk.models.tables.universal import forgotten_vector_file
from statewalk.models.tables.workers.checks import no_look_up

__all__ = ["ROWS"]

UNIVERSAL: Settings = {"COMPACTION": "universal", "LIVENESS": False}

# -- sorted runs (E1): the abstraction breaks what a level is --------------------------------------
RUNS: Settings = {"ASK_FOR_RUNS": True, "LIVENESS": False}
row(
    "level_is_no_run_one_compactor",
    violates("one_run_per_level", length=12, states=263),
    {**MERGERS, "COMPACTORS": 1, "TOPOLOGY": "topo1"},
    VECTORS,
    RUNS,
    COMPACTIONS=3,
)
row(
    "level_is_no_run_no_deleted_file_check",
    violates("one_run_per_level", length=9, states=36),
    MERGERS,
    VECTORS,
    RUNS,
    OPS=1,
    COMPACTIONS=2,
    DELETED_FILE_CHECK=False,
)
row(
    "level_is_no_run_prepared_table",
    violates("one_run_per_level", length=0, states=106),
    MERGERS,
    VECTORS,
    RUNS,
    KEYS=2,
    OPS=4,
    COMPACTIONS=4,
    START="two_levels",
)

# -- vectors under universal compaction (E3): the smallest damage, and why each bound is needed ----
DAMAGE: Settings = {**MERGERS, **VECTORS, **UNIVERSAL, "OPS": 3, "COMPACTIONS": 4}
row(
    "vectors_damaged_two_compactors",
    violates(
        {
            no_dangling_vector: 21,
            one_valid_row: 21,
            "doubled_rows_leave_a_trace": 21,
            "vector_reader_agrees": 21,
        },
        states=82465,
    ),
    DAMAGE,
)
row("vectors_whole_two_writes", holds(distinct=2901), DAMAGE, OPS=2)
row("vectors_whole_three_compactions", holds(distinct=18879), DAMAGE, COMPACTIONS=3)
row("vectors_whole_one_compactor", holds(distinct=1291), DAMAGE, COMPACTORS=1)
row("vectors_whole_two_levels", holds(distinct=77297), DAMAGE, MAX_LEVEL=2)
row("vectors_whole_merge_check", holds(distinct=82405), DAMAGE, CHECKED)
row("vectors_whole_pair_check", holds(distinct=82405), DAMAGE, CONFLICT_CHECK="file_dv_pair")
row("no_vectors_two_compactors", holds(distinct=82465), DAMAGE, DELETION_VECTORS=False)
row(  # (E2) the key ranges refuse nothing that the deleted files let pass, to who looks at all
    "vectors_damaged_no_range_check",
    violates(no_dangling_vector, one_valid_row, length=21, states=82465),
    DAMAGE,
    KEY_RANGE_CHECK=False,
)

# -- an INSERT OVERWRITE goes to the top level: one compaction less is enough (E3, E11) ------------
row("overwrite_vectors_whole_at_level_0", holds(distinct=84237), LOADED, OVERWRITE_UPGRADE=False)
row("overwrite_vectors_whole_two_writes", holds(distinct=1768), LOADED, OPS=2)
row("overwrite_vectors_whole_two_compactions", holds(distinct=8198), LOADED, COMPACTIONS=2)
row("overwrite_vectors_whole_one_compactor", holds(distinct=1987), LOADED, COMPACTORS=1)
row("overwrite_vectors_whole_two_levels", holds(distinct=42276), LOADED, MAX_LEVEL=2)
row("overwrite_vectors_whole_merge_check", holds(distinct=43377), LOADED, CHECKED)

# -- a vector file forgotten by one compactor (E13) ------------------------------------------------
REWRITE: Settings = {
    **VECTORS,
    **UNIVERSAL,
    "WRITERS": 1,
    "COMPACTORS": 1,
    "WORKLOAD": "delete",
    "COMPACTIONS": 3,
}
row("top_rewritten", holds(distinct=75), REWRITE)
row(
    "vector_file_forgotten",
    violates({no_dangling_vector: 15}, states=75),
    REWRITE,
    MUTANT=forgotten_vector_file,
)
row(
    "vector_file_forgotten_two_compactions",
    holds(distinct=63),
    REWRITE,
    COMPACTIONS=2,
    MUTANT=forgotten_vector_file,
)

# -- views of a job that are not the latest (E2, E12) ----------------------------------------------
VIEWS: Settings = {**MERGERS, **UNIVERSAL, "MAX_LEVEL": 2, "VIEW": "cached"}
row("stale_view_refused_by_ranges", holds(distinct=1183), VIEWS, COMPACTIONS=2)
row(
    "stale_view_no_range_check",
    violates("one_run_per_level", length=14, states=1199),
    VIEWS,
    COMPACTIONS=2,
    KEY_RANGE_CHECK=False,
)
REFUSED: Settings = {**VIEWS, **THREE, "COMPACTIONS": 3, "MAX_LEVEL": 1}
row("refused_job_opens_again", holds(distinct=24978), REFUSED)
row(
    "refused_job_goes_on",
    violates({"a_refused_job_recovers": 18}, states=19318),
    REFUSED,
    VIEW="cached_for_good",
)

# -- topology 1 in full ----------------------------------------------------------------------------
OWN: Settings = {
    **OWNERS,
    **VECTORS,
    **RESUMED,
    "COMPACTORS": 2,
    "COMPACTIONS": 2,
    "LIVENESS": False,
}
row("own_buckets_vectors", holds(distinct=903), OWN)
row("own_buckets_vectors_own_counters", holds(distinct=735), OWN, SEQUENCE="per_writer")
row("own_buckets_vectors_universal", holds(distinct=579), OWN, COMPACTION="universal")
row("own_buckets_three_writes", holds(distinct=21513), OWN, THREE, COMPACTION="universal")
row(
    "own_buckets_back_pressure",
    holds(distinct=20795),
    OWN,
    THREE,
    COMPACTION="universal",
    STOP_RUNS=1,
)

# -- who commits, and how often (E4, E5, E6) -------------------------------------------------------
row("lost_answer_looked_up", holds(distinct=85), OWNERS, LOST_ANSWERS=1)
row(
    "lost_answer_committed_twice",
    violates({committed_once: 5}, states=7),
    UPSERTS,
    WRITERS=1,
    OPS=1,
    LOST_ANSWERS=1,
    LIVENESS=False,
    MUTANT=no_look_up,
)
row(
    "retries_bounded_gives_up_for_nothing",
    violates("all_snapshots_committed", states=41),
    OWNERS,
    MAX_RETRIES=0,
)
row("retries_bounded_enough", holds(distinct=45), OWNERS, MAX_RETRIES=1)
TOGETHER: Settings = {
    **UPSERTS,
    "TOPOLOGY": "flink",
    "WRITERS": 1,
    "COMPACTORS": 1,
    "COMPACTIONS": 1,
    "RESTARTS": 1,
    "COMMITTABLE": "checkpoint",
    "LIVENESS": False,
}
row("two_snapshots_crash_between", holds(distinct=274), TOGETHER)
row(
    "two_snapshots_committed_twice",
    violates({committed_once: 6, consistent_read: 9}, states=783),
    TOGETHER,
    SKIP_COMMITTED=False,
)

# -- numbers of rows (E8, E9) ----------------------------------------------------------------------
OPENED: Settings = {"SEQUENCE": "opened"}
row(
    "order_lost_writer_opened_early",
    violates(consistent_read, length=8, states=49),
    UPSERTS,
    OPENED,
)
row("order_kept_one_writer", holds(distinct=8), UPSERTS, OPENED, WRITERS=1)
row(
    "lost_update_checked_opened_early",
    violates(consistent_read, length=8, states=624),
    THREE,
    CHECKED,
    OPENED,
)
row("update_checked_number_read_with_row", holds(distinct=271), THREE, CHECKED, RESUMED)
row(
    "update_checked_number_read_three_values",
    holds(distinct=583),
    THREE,
    CHECKED,
    RESUMED,
    VALUES=3,
)
row(
    "update_checked_number_read_three_writers",
    holds(distinct=48934),
    CHECKED,
    RESUMED,
    VALUES=3,
    WRITERS=3,
    OPS=4,
    LIVENESS=False,
)

# -- INSERT OVERWRITE (E11) ------------------------------------------------------------------------
BY_SNAPSHOT: Settings = {"SEQUENCE": "snapshot_order", "VALUES": 3, "LIVENESS": False, "OPS": 3}
row(
    "overwrite_of_what_was_read_loses",
    violates(consistent_read, length=9, states=655),
    THREE,
    RESUMED,
    WORKLOAD="overwrite",
    LIVENESS=False,
)
row(
    "overwrite_of_what_was_read_loses_by_snapshot",
    violates(consistent_read, length=9, states=1546),
    BY_SNAPSHOT,
    WORKLOAD="overwrite",
)
row("overwrite_one_writer", holds(distinct=40), THREE, RESUMED, WORKLOAD="overwrite", WRITERS=1)
row("overwrite_two_operations", holds(distinct=43), RESUMED, WORKLOAD="overwrite")
row("overwrite_checked", holds(distinct=571), THREE, RESUMED, CHECKED, WORKLOAD="overwrite")
row("overwrite_blind", holds(distinct=995), BY_SNAPSHOT, WORKLOAD="overwrite_blind")
