"""The settings of the multiversion store: its workload, and the variants of its parts."""

from typing import Literal

from statewalk import Constant

# -- the workload ----------------------------------------------------------------------------------
WORKLOAD: Constant[str] = "r x, w x || r x, w x"  # a script of `scripts`, or "free"
SESSIONS: Constant[int] = 2  # the bounds of the free workload
TRANSACTIONS: Constant[int] = 2  # of each session
OPS: Constant[int] = 2  # of each transaction
KEYS: Constant[int] = 2
# Of free transactions that differ only in the order of their operations, or in repeating some, all
# or one? The one reads before it writes, each key once, in alphabetical order, and may be shorter.
# Nor are begins told apart that follow each other in another order.
EVERY_ORDER: Constant[bool] = True
REPLICAS: Constant[int] = 1  # with more, a commit reaches the others later; sessions are pinned

READS: Constant[
    Literal[
        "snapshot",
        "committed",  # what is newest when it reads
        "uncommitted",  # what another transaction has just written, if one has
        "intermediate",  # the same, and also what that one has overwritten since
    ]
] = "snapshot"
PUBLISH: Constant[
    Literal[
        "atomic",
        "by_key",  # a commit installs one key in each step
        "lost",  # a commit is acknowledged and installs nothing
    ]
] = "atomic"

# -- what is checked, and who gives way ------------------------------------------------------------
CHECK: Constant[
    Literal[
        "first_committer",  # a commit aborts if the snapshot lacks a version of a key it wrote
        "first_updater",  # a write waits for the key's lock, and aborts if there is such a version
        "replica",  # first_committer, but only against what has arrived at its own replica
        "reads",  # first_committer, and the same for the keys that it read
        "ssi",  # first_committer, and no transaction may have rw conflicts in and out
        "ssi_committed_only",  # the same, but conflicts are forgotten when the other commits
        "none",
    ]
] = "first_committer"
SNAPSHOT: Constant[
    Literal[
        "newest",  # everything that is committed when the transaction begins
        "any",  # as of any time before
        "session",  # the same, but not older than what the session itself committed last
        "ahead",  # clocks differ: it may be as of a time that a later commit is going to have
    ]
] = "newest"
VICTIM: Constant[Literal["youngest", "none"]] = "youngest"  # who aborts when locks form a circle
ABORTS: Constant[bool] = False  # whether clients may abort where they could commit
CRASHES: Constant[int] = 0  # how many sessions may fail in the middle of a transaction
CRASH: Constant[Literal["rolled_back", "locks_kept"]] = "rolled_back"

# -- what is left when the store itself fails ------------------------------------------------------
STORE_CRASHES: Constant[int] = 0
LOG: Constant[
    Literal[
        "none",  # the store keeps all that it has
        "whole",  # a commit writes one record, with all its writes
        "by_key",  # each key has a log of its own
        "marked",  # the same, and after a crash only what has a mark at the end of it counts
    ]
] = "none"
ACK: Constant[Literal["logged", "early"]] = "logged"  # early: before the record is written
RECORDS: Constant[
    Literal[
        "atomic",  # a record is on disk or not
        "torn",  # a crash may leave the first part of a record, and this counts
        "checked",  # the same, but a checksum tells
    ]
] = "atomic"
REPEATS: Constant[
    Literal[
        "none",  # a client that gets no answer goes away
        "known",  # it asks again to commit, and the store knows what it has
        "blind",  # it asks again, and its writes are installed again
        "checked",  # it asks again, and the store checks as if it never had
    ]
] = "none"

# -- what is promised ------------------------------------------------------------------------------
LEVEL: Constant[Literal["parallel-si", "si", "strong-session-si", "strong-si", "serializable"]] = (
    "strong-si"
)
LIVENESS: Constant[bool] = False

FREE = WORKLOAD == "free"
DIRTY = READS in ("uncommitted", "intermediate") or PUBLISH == "by_key"
LOCKING = CHECK == "first_updater"

assert 1 <= KEYS <= 3 and REPLICAS >= 1
assert LOG != "none" or (STORE_CRASHES == 0 and ACK == "logged" and REPEATS == "none")
assert LOG == "none" or (PUBLISH == "atomic" and REPLICAS == 1 and not LOCKING)
assert REPLICAS == 1 or (SNAPSHOT == "newest" and READS == "snapshot" and PUBLISH == "atomic")
