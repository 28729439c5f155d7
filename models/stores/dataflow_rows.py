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
