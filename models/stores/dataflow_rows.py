"""The runs of the dataflow store: what each sets, and what it must find.

Each states how many states there are in all. `docs/models/dataflow.md` says what the rows show.
"""

from statewalk import Expectation, holds, violates

Settings = dict[str, object]
ROWS: list[tuple[str, Expectation, Settings]] = []


def row(name: str, expect: Expectation, **constants: object) -> None:
    """Add a run."""
    ROWS.append((name, expect, constants))


# -- resolving an epoch ----------------------------------------------------------------------------
DIFFERS = "ordered_equals_sequential"
row("DF-1", violates(DIFFERS, length=4, states=225), WORKLOAD="dependent", HOW="naive")
row("DF-1-one", holds(distinct=23), WORKLOAD="insert", HOW="naive")
row("DF-1-ordered", holds(distinct=225), WORKLOAD="dependent")
row("DF-2", violates(DIFFERS, "serial_in_order_of_ids", length=4, states=225), HOW="naive")
row("DF-2-ordered", holds(distinct=225), WORKLOAD="mutual")
row("DF-3", violates(DIFFERS, length=3, states=23), WORKLOAD="zero", MUTANT="tid_zero")
row("DF-3-tagged-below", holds(distinct=23), WORKLOAD="zero")
for mutant, found in (
    ("exists_join", [DIFFERS]),
    ("no_tid_bound", [DIFFERS, "fixpoint_terminates", "serial_in_order_of_ids"]),
    ("arrival_order", ["deterministic"]),
):
    free: Settings = {"WORKLOAD": "free", "SERVE": False, "MUTANT": mutant}
    row(f"free-{mutant}", violates(*found, length=4, states=5538), **free)
    row(f"free-1-{mutant}", holds(distinct=138), **free, TRANSACTIONS=1)
row("free-2", holds(distinct=5538), WORKLOAD="free", SERVE=False)
row(
    "free-3",
    holds(distinct=4556),
    WORKLOAD="free",
    SERVE=False,
    TRANSACTIONS=3,
    REMOVALS=False,
    EPOCHS="one",
)

# -- acknowledgements and crashes ------------------------------------------------------------------
row(
    "DF-4",
    violates("durable_ack", "all_acknowledged", states=64),
    WORKLOAD="insert",
    ACK="early",
    CRASHES=1,
)
row("DF-4-no-crash", holds(distinct=24), WORKLOAD="insert", ACK="early")
row("DF-4-durable", holds(distinct=60), WORKLOAD="insert", CRASHES=1)
row("differences", holds(distinct=2137), WORKLOAD="dependent", RECOVERY="differences", CRASHES=2)
row(
    "differences-replayed",
    violates("replay_idempotent", length=7, states=1820),
    WORKLOAD="dependent",
    RECOVERY="differences",
    CRASHES=1,
    MUTANT="replay_twice",
)
LOADED: Settings = {"WORKLOAD": "dependent", "RECOVERY": "differences", "CRASHES": 1}
for harm in ("damaged", "lost"):
    row(f"differences-{harm}", holds(distinct=1994), **LOADED, DAMAGE=harm)
row(
    "differences-unchecked",
    violates(DIFFERS, "deterministic", length=8, states=1902),
    **LOADED,
    DAMAGE="damaged",
    MUTANT="no_checksum",
)
row(
    "differences-in-their-order",
    violates(DIFFERS, "deterministic", length=13, states=2239),
    **LOADED,
    DAMAGE="lost",
    MUTANT="in_their_order",
)
LAST: Settings = {**LOADED, "WORKLOAD": "insert"}  # one epoch: none comes after the lost one
row("differences-lost-last", holds(distinct=130), **LAST, DAMAGE="lost", MUTANT="in_their_order")
row("free-2-crash", holds(distinct=371676, depth=27), WORKLOAD="free", CRASHES=1)

# -- answers kept up to date -----------------------------------------------------------------------
WRONG = "maintained_equals_recomputed"
row("DF-5", violates(WRONG, length=8, states=225), WORKLOAD="ring", MUTANT="count_support")
row("DF-5-rederived", holds(distinct=650), WORKLOAD="ring", CRASHES=1)
row("DF-6", violates(WRONG, length=5, states=1509), WORKLOAD="twice", MUTANT="as_set")
row("DF-6-counted", holds(distinct=4941), WORKLOAD="twice", CRASHES=1)
row(
    "frontier",
    violates("frontier_honest", length=5, states=7185),
    WORKLOAD="twice",
    MUTANT="early_frontier",
)
row("session", holds(distinct=101046), WORKLOAD="session", EPOCHS="each")
row("session-at-once", holds(distinct=231), WORKLOAD="session", EPOCHS="one", CRASHES=1)

# -- a join, queries that are taken back, merged differences ---------------------------------------
row("colours", holds(distinct=1374), WORKLOAD="colours")
row("colours-answers", holds(distinct=630), WORKLOAD="colours", EPOCHS="each")
for mutant, steps in (("edges_alone", 8), ("both_after", 4)):
    row(
        f"colours-{mutant}",
        violates(WRONG, length=steps, states=1374),
        WORKLOAD="colours",
        MUTANT=mutant,
    )
BACK: Settings = {"WORKLOAD": "taken_back", "EPOCHS": "each"}
row("taken-back", holds(distinct=4446), **BACK)
row(
    "taken-back-left",
    violates(WRONG, length=16, states=4446),
    **BACK,
    MUTANT="answers_left",
)
row(
    "taken-back-once",
    violates("session_answers", length=23, states=4446),
    **BACK,
    MUTANT="asked_or_not",
)
row("merged", holds(distinct=2789), WORKLOAD="twice", MERGES=True)
row("merged-crash", holds(distinct=61143), **BACK, MERGES=True, CRASHES=1)
row(
    "merged-too-far",
    violates("durable_ack", length=14, states=3173),
    WORKLOAD="twice",
    MERGES=True,
    MUTANT="all_that_is_complete",
)
