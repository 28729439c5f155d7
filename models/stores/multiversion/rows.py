"""The runs of the store: a script, a variant, and the level that it must keep or break.

Rows that break a level state the steps to the shortest violation and how many states there are in
all. `docs/models/stores.md` says what the rows show.
"""

from statewalk import Expectation, holds, violates

Settings = dict[str, object]
ROWS: list[tuple[str, Expectation, Settings]] = []

PROPERTY = {
    "parallel-si": "parallel_si",
    "si": "snapshot_isolation",
    "strong-session-si": "strong_session_si",
    "strong-si": "strong_si",
    "serializable": "serializable",
}


def row(
    name: str,
    level: str,
    workload: str,
    states: int,
    *variants: Settings,
    broken_in: int | None = None,
    **constants: object,
) -> None:
    """Add a run; ``broken_in`` is the length of the shortest violation, if there is one."""
    merged: Settings = {"WORKLOAD": workload, "LEVEL": level}
    for part in variants:
        merged |= part
    expect = holds(distinct=states)
    if broken_in is not None:
        expect = violates(PROPERTY[level], length=broken_in, states=states)
    ROWS.append((name, expect, merged | constants))


# -- variants: first those that are right, each at its level ---------------------------------------
FCW: Settings = {}
FUW: Settings = {"CHECK": "first_updater"}
OCC: Settings = {"CHECK": "reads"}
SSI: Settings = {"CHECK": "ssi"}
STALE: Settings = {"SNAPSHOT": "any"}
SESSION_STALE: Settings = {"SNAPSHOT": "session"}

NO_CHECK: Settings = {"CHECK": "none"}
READ_COMMITTED: Settings = {"CHECK": "none", "READS": "committed"}
READ_UNCOMMITTED: Settings = {"CHECK": "none", "READS": "uncommitted"}
INTERMEDIATE: Settings = {"CHECK": "none", "READS": "intermediate"}
PARTIAL_PUBLISH: Settings = {"PUBLISH": "by_key"}
PSI: Settings = {"REPLICAS": 2}
PSI_UNCHECKED: Settings = {"REPLICAS": 2, "CHECK": "replica"}
SKEWED_CLOCK: Settings = {"SNAPSHOT": "ahead"}
LOST_COMMIT: Settings = {"PUBLISH": "lost"}
SSI_FORGETFUL: Settings = {"CHECK": "ssi_committed_only"}

# -- two increments --------------------------------------------------------------------------------
INCREMENTS = "r x, w x || r x, w x"
row("increments-fcw", "strong-si", INCREMENTS, 51, FCW)
row("increments-fuw", "strong-si", INCREMENTS, 45, FUW)
row("increments-fcw-serializable", "serializable", INCREMENTS, 51, FCW)
row("increments-fuw-serializable", "serializable", INCREMENTS, 45, FUW)
row("lost-update-no-check", "si", INCREMENTS, 51, NO_CHECK, broken_in=8)
row("lost-update-blind", "si", "w x || r x, w x", 41, NO_CHECK, broken_in=7)
row("lost-update-read-committed", "si", INCREMENTS, 63, READ_COMMITTED, broken_in=8)
row("lost-update-psi-unchecked", "si", INCREMENTS, 111, PSI_UNCHECKED, broken_in=8)
row("increments-psi", "si", INCREMENTS, 93, PSI)
row("lost-update-lost-commit", "si", INCREMENTS, 51, LOST_COMMIT, broken_in=8)
row("lost-update-skewed-clock", "si", INCREMENTS, 145, SKEWED_CLOCK, broken_in=8)

# -- write skew ------------------------------------------------------------------------------------
CROSSED = "r x, w y || r y, w x"
BOTH_READ = "r x, r y, w x || r x, r y, w y"
row("crossed-fcw", "strong-si", CROSSED, 51, FCW)
row("crossed-fuw", "strong-si", CROSSED, 51, FUW)
row("write-skew-fcw", "serializable", CROSSED, 51, FCW, broken_in=8)
row("write-skew-fuw", "serializable", CROSSED, 51, FUW, broken_in=8)
row("crossed-occ", "serializable", CROSSED, 51, OCC)
row("crossed-ssi", "serializable", CROSSED, 59, SSI)
row("both-read-fcw", "strong-si", BOTH_READ, 73, FCW)
row("write-skew-both-read", "serializable", BOTH_READ, 73, FCW, broken_in=10)
row("both-read-occ", "serializable", BOTH_READ, 73, OCC)

# -- a writer and a reader of two keys -------------------------------------------------------------
TWO_KEYS = "w x, w y || r x, r y"
row("two-keys-fcw", "strong-si", TWO_KEYS, 51, FCW)
row("read-skew-read-committed", "si", TWO_KEYS, 61, READ_COMMITTED, broken_in=8)
row("fractured-read-partial-publish", "si", TWO_KEYS, 74, PARTIAL_PUBLISH, broken_in=9)
row("read-skew-skewed-clock", "si", TWO_KEYS, 139, SKEWED_CLOCK, broken_in=8)

# -- two writers that look afterwards --------------------------------------------------------------
LOOK_AFTER = "w x; r x, r y || w y; r x, r y"
row("look-after-fcw", "strong-si", LOOK_AFTER, 659, FCW)
row("long-fork-psi", "si", LOOK_AFTER, 15367, PSI, broken_in=14)
row("look-after-psi", "parallel-si", LOOK_AFTER, 15367, PSI)
row("causality-psi", "parallel-si", "w x; r x, w y || r y, r x", 710, PSI, broken_in=12)
row("look-after-stale", "si", LOOK_AFTER, 4005, STALE)
row("session-stale-read", "strong-session-si", LOOK_AFTER, 4005, STALE, broken_in=7)
row("stale-read", "strong-si", LOOK_AFTER, 4005, STALE, broken_in=7)

# -- how old a snapshot may be ---------------------------------------------------------------------
row("own-write-stale", "si", "w x; r x", 10, STALE)
row("own-write-missed", "strong-session-si", "w x; r x", 10, STALE, broken_in=6)
row("own-write-session-stale", "strong-session-si", "w x; r x", 7, SESSION_STALE)
row("other-write-stale", "strong-session-si", "w x || r x", 36, STALE)
row("other-write-psi", "strong-session-si", "w x || r x", 52, PSI)
row("other-write-missed-stale", "strong-si", "w x || r x", 36, STALE, broken_in=6)
row("other-write-missed-psi", "strong-si", "w x || r x", 52, PSI, broken_in=6)
row("own-write-lost", "strong-session-si", "r x, w x; r x", 8, LOST_COMMIT, broken_in=7)
row("own-write-lost-si", "si", "r x, w x; r x", 8, LOST_COMMIT)

# -- a reader makes the difference -----------------------------------------------------------------
WITH_READER = "r x, w x || r x, r y, w y || r x, r y"
row("with-reader-fcw", "strong-si", WITH_READER, 1160, FCW)
row("read-only-anomaly", "serializable", WITH_READER, 1160, FCW, broken_in=13)
row("with-reader-occ", "serializable", WITH_READER, 1160, OCC)
row("with-reader-ssi", "serializable", WITH_READER, 1246, SSI)
row("read-only-anomaly-ssi", "serializable", WITH_READER, 1190, SSI_FORGETFUL, broken_in=13)

# -- reads of what is not committed ----------------------------------------------------------------
row("aborted-read", "si", "w x || r x", 91, READ_UNCOMMITTED, broken_in=6, ABORTS=True)
row("aborts-fcw", "strong-si", "w x || r x", 65, FCW, ABORTS=True)
row("intermediate-read", "si", "w x, w x || r x", 65, INTERMEDIATE, broken_in=6)
row("intermediate-read-uncommitted", "si", "w x, w x || r x", 65, READ_UNCOMMITTED, broken_in=6)
row("dirty-write", "si", "w x, w y || w x, w y", 117, NO_CHECK, PARTIAL_PUBLISH, broken_in=10)

# -- locks, and clients that fail ------------------------------------------------------------------
OPPOSITE = "w x, w y || w y, w x"
row("opposite-locks", "strong-si", OPPOSITE, 43, FUW, LIVENESS=True)
row("crash-fuw", "strong-si", "w x || w x", 75, FUW, CRASHES=1, LIVENESS=True)
row("crash-fcw", "strong-si", INCREMENTS, 147, FCW, CRASHES=1)
ROWS.append(
    (
        "deadlock",
        violates("Deadlock", length=4, states=37),
        {"WORKLOAD": OPPOSITE, **FUW, "VICTIM": "none"},
    )
)
ROWS.append(
    (
        "locks-kept",
        violates("Deadlock", length=4, states=63),
        {"WORKLOAD": "w x || w x", **FUW, "CRASHES": 1, "CRASH": "locks_kept"},
    )
)

# -- crashes of the store --------------------------------------------------------------------------
LOGGED: Settings = {"LOG": "whole", "STORE_CRASHES": 1}
EARLY: Settings = {**LOGGED, "ACK": "early"}
BY_KEY: Settings = {"LOG": "by_key", "STORE_CRASHES": 1}
MARKED: Settings = {"LOG": "marked", "STORE_CRASHES": 1}
TORN: Settings = {**LOGGED, "RECORDS": "torn"}


def disk_row(name: str, workload: str, expect: Expectation, *variants: Settings) -> None:
    """Add a run that is about what is on disk."""
    merged: Settings = {"WORKLOAD": workload}
    for part in variants:
        merged |= part
    ROWS.append((name, expect, merged))


disk_row("early-ack", "w x", violates("durable", length=4, states=13), EARLY)
disk_row("early-ack-no-crash", "w x", holds(distinct=5), EARLY, {"STORE_CRASHES": 0})
disk_row("logged", "w x", holds(distinct=15), LOGGED)
disk_row(
    "early-ack-read", "w x || r x, w x", violates({"durable": 4, "strong_si": 8}, states=220), EARLY
)
disk_row("logged-read", "w x || r x, w x", holds(distinct=254), LOGGED)
disk_row("log-per-key", "w x, w y", violates("all_or_nothing", length=6, states=21), BY_KEY)
disk_row("log-per-key-one", "w x", holds(distinct=15), BY_KEY)
disk_row("log-per-key-no-crash", "w x, w y", holds(distinct=8), BY_KEY, {"STORE_CRASHES": 0})
disk_row("log-per-key-marked", "w x, w y", holds(distinct=24), MARKED)
disk_row("torn", "w x, w y", violates("all_or_nothing", length=5, states=19), TORN)
disk_row("torn-one", "w x", holds(distinct=15), TORN)
disk_row("torn-checked", "w x, w y", holds(distinct=19), TORN, {"RECORDS": "checked"})
disk_row("torn-marked", "w x, w y || r x, r y", holds(distinct=302), MARKED, {"RECORDS": "torn"})
disk_row(
    "repeated-blindly",
    "w x",
    violates("installed_once", length=8, states=19),
    LOGGED,
    {"REPEATS": "blind"},
)
disk_row(
    "repeated-blindly-no-crash", "w x", holds(distinct=6), {"LOG": "whole", "REPEATS": "blind"}
)
disk_row(
    "repeated-checked",
    "w x",
    violates("abort_leaves_nothing", length=6, states=17),
    LOGGED,
    {"REPEATS": "checked"},
)
disk_row("repeated-known", "w x", holds(distinct=17), LOGGED, {"REPEATS": "known"})
disk_row("increments-logged", INCREMENTS, holds(distinct=545), LOGGED, {"STORE_CRASHES": 2})
disk_row("increments-repeated", INCREMENTS, holds(distinct=414), LOGGED, {"REPEATS": "known"})
disk_row("two-keys-logged", TWO_KEYS, holds(distinct=228), LOGGED)
disk_row("two-keys-marked", TWO_KEYS, holds(distinct=302), MARKED)

# -- the free workload: every history of its size --------------------------------------------------
THREE: Settings = {"SESSIONS": 3, "TRANSACTIONS": 1, "EVERY_ORDER": False}
SMALL: Settings = {"OPS": 1}  # two sessions of two transactions
row("free-3x1x2x2-fcw", "strong-si", "free", 33880, FCW, THREE)
row("free-3x1x2x2-fuw", "strong-si", "free", 23552, FUW, THREE)
row("free-3x1x2x2-occ", "serializable", "free", 33880, OCC, THREE)
row("free-3x1x2x2-ssi", "serializable", "free", 38105, SSI, THREE)
TWO_EACH: Settings = {"EVERY_ORDER": False}
row("free-2x2x2x2-fcw", "strong-si", "free", 474597, FCW, TWO_EACH)
row("free-2x2x2x2-occ", "serializable", "free", 474597, OCC, TWO_EACH)
row("free-2x2x1x2-fcw", "strong-si", "free", 17271, FCW, SMALL)
row("free-2x2x1x2-fuw", "strong-si", "free", 16386, FUW, SMALL)
row("free-2x2x1x2-occ", "serializable", "free", 17271, OCC, SMALL)
row("free-2x2x1x2-ssi", "serializable", "free", 17271, SSI, SMALL)
row("free-2x2x1x2-session-stale", "strong-session-si", "free", 24315, SESSION_STALE, SMALL)
