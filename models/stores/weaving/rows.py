"""The runs of the stamping store: what each sets, and what it must find.

Each states how many states there are in all. `docs/models/weaver.md` says what the rows show.
"""

from statewalk import Expectation, holds, violates

Settings = dict[str, object]
ROWS: list[tuple[str, Expectation, Settings]] = []


def row(name: str, expect: Expectation, **constants: object) -> None:
    """Add a run."""
    ROWS.append((name, expect, constants))


# -- orders of what meets at shards ----------------------------------------------------------------
row("WV-1", violates("serializable", length=10, states=169), ORACLE="none")
row("WV-1-one-gatekeeper", holds(distinct=14), ORACLE="none", GATEKEEPERS=1)
row("WV-1-one-shard", holds(distinct=41), ORACLE="none", SHARDS=1)
row("WV-1-oracle", holds(distinct=145))
THREE: Settings = {"WORKLOAD": "circle", "GATEKEEPERS": 3, "SHARDS": 3}
BOTH = {"oracle_consistent": 6, "serializable": 18}
row("WV-2", violates(BOTH, states=156546), **THREE, ORACLE="pairwise")
row("WV-2-acyclic", holds(distinct=140914), **THREE)
row("WV-2-two", holds(distinct=145), ORACLE="pairwise")
CHAIN = {"oracle_consistent": 5, "serializable": 13}
row("WV-2-chain", violates(CHAIN, states=650), WORKLOAD="chain", ORACLE="pairwise")
row("WV-2-chain-acyclic", holds(distinct=590), WORKLOAD="chain")
row("WV-2-chain-one-shard", holds(distinct=225), WORKLOAD="chain", ORACLE="pairwise", SHARDS=1)

# -- programs --------------------------------------------------------------------------------------
ONE: Settings = {"GATEKEEPERS": 1, "HOPS": "current"}
row(
    "WV-3",
    violates({"traversal_snapshot": 9, "serializable": 4}, states=30),
    WORKLOAD="walk",
    **ONE,
)
row("WV-3-one-update", violates({"serializable": 4}, states=14), WORKLOAD="half-walk", **ONE)
row("WV-3-stamped", holds(distinct=25), WORKLOAD="walk", GATEKEEPERS=1)
row("WV-3-two-gatekeepers", holds(distinct=512), WORKLOAD="walk")
row("WV-3-by-vertex", holds(distinct=487), WORKLOAD="walk", GRAIN="vertex")

# -- what keeps a transaction waiting --------------------------------------------------------------
STUCK = {"every_transaction_applied": 2, "Deadlock": 2}
row("WV-4", violates(STUCK, states=3), WORKLOAD="one", NOPS=False)
row("WV-4-nops", holds(distinct=5), WORKLOAD="one")
row("WV-4-one-gatekeeper", holds(distinct=3), WORKLOAD="one", NOPS=False, GATEKEEPERS=1)

# -- what the oracle is asked ----------------------------------------------------------------------
row("WV-5", violates("no_needless_order", length=3, states=49), WORKLOAD="strangers", SHARDS=1)
row("WV-5-by-vertex", holds(distinct=44), WORKLOAD="strangers", SHARDS=1, GRAIN="vertex")
row("both-by-vertex", holds(distinct=230), GRAIN="vertex")
row("chain-by-vertex", holds(distinct=1039), WORKLOAD="chain", GRAIN="vertex")

# -- what clients are told -------------------------------------------------------------------------
STRICT = "strictly_serializable"
row("answered-at-once", violates(STRICT, length=8, states=313), SHARDS=1, ACKS="at_once")
row("answered-applied", holds(distinct=241), ACKS="applied")
row("answered-heard", holds(distinct=480), ACKS="heard")
row(
    "walk-missed-at-once",
    violates(STRICT, length=8, states=220),
    WORKLOAD="looked-at",
    SHARDS=1,
    ACKS="at_once",
)
row("walk-applied", holds(distinct=120), WORKLOAD="looked-at", SHARDS=1, ACKS="applied")
row("walk-heard", holds(distinct=151), WORKLOAD="looked-at", SHARDS=1, ACKS="heard")
row("three-applied", holds(distinct=39311), WORKLOAD="followed", GATEKEEPERS=3, ACKS="applied")
row("three-heard", holds(distinct=115468), WORKLOAD="followed", GATEKEEPERS=3, ACKS="heard")
