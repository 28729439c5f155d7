"""The runs of the Paimon model whose metadata is files: crashes between writes, and orphans."""

from statewalk import holds, violates
from statewalk.models.tables.paimon_rows import OWNERS, UPSERTS, VECTORS, Settings, row
from statewalk.models.tables.paimon_rows_real import ROWS
from statewalk.models.tables.workers.files import cleaned_up

__all__ = ["ROWS"]

BY_FILE: Settings = {**UPSERTS, "GRAIN": "files", "WRITERS": 1, "LIVENESS": False}
TWO: Settings = {**BY_FILE, **OWNERS, "WRITERS": 2}
BY_COMMITTER: Settings = {**BY_FILE, "TOPOLOGY": "flink", "RESTARTS": 1}
MERGED: Settings = {
    **BY_FILE,
    **VECTORS,
    "COMPACTORS": 1,
    "COMPACTION": "universal",
    "MAX_LEVEL": 2,
}
OVERWRITTEN: Settings = {**MERGED, "WORKLOAD": "overwrite_any", "COMPACTIONS": 1}
WRONG = {"data_is_there": 11, "metadata_is_there": 11, "files_say_what_the_snapshot_is": 11}

# -- what a crash between any two writes leaves ----------------------------------------------------
row("files_crash_between_writes", holds(distinct=77), BY_FILE, CRASHES=1)
row("files_crash_between_writes_of_vectors", holds(distinct=10220), OVERWRITTEN, CRASHES=1)
row("files_of_vectors", holds(distinct=6663), MERGED, COMPACTIONS=2)
row("files_of_overwrite", holds(distinct=5289), OVERWRITTEN)
row("files_lost_race", holds(distinct=2984), TWO)
row("files_committer_restarts", holds(distinct=222), BY_COMMITTER)

# -- a rename that seems to fail: who takes away what it put ---------------------------------------
ONE: Settings = {**BY_FILE, "OPS": 1}
row("lost_answer_nothing_cleaned", holds(distinct=11), ONE, LOST_ANSWERS=1)
row(
    "lost_answer_cleaned_up",
    violates({"metadata_is_there": 8, "files_say_what_the_snapshot_is": 8}, states=11),
    ONE,
    LOST_ANSWERS=1,
    MUTANT=cleaned_up,
)

# -- orphans ---------------------------------------------------------------------------------------
row("orphans_old_only", holds(distinct=227), BY_FILE, CRASHES=1, CLEANUPS=1)
row("orphans_old_only_two_writers", holds(distinct=3524), TWO, CLEANUPS=1)
row("orphans_old_only_committer_restarts", holds(distinct=714), BY_COMMITTER, CLEANUPS=1)
row("orphans_old_only_vectors", holds(distinct=6369), OVERWRITTEN, CLEANUPS=1)
row("orphans_at_once", violates(WRONG, states=81), ONE, CLEANUPS=1, CLEANING="at_once")
row("orphans_used_first", violates(WRONG, states=39), ONE, CLEANUPS=1, LISTED_FIRST=False)
row("orphans_none_cleaned", holds(distinct=9), ONE, CLEANING="at_once")
