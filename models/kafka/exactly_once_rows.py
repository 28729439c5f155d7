"""The runs of part 3: what each sets, and what it must find.

A row that breaks something says after how many steps, at the shortest; all say how many states
there are. `docs/models/kafka-transactions.md` says what they show, and `kafka-transactions-runs.md`
which defects were found later. Runs with consumers, and with more of everything, are in
`exactly_once_larger`.
"""

from statewalk import Expectation, holds, violates
from statewalk.models.kafka.parties import mutants

Settings = dict[str, object]
Row = tuple[str, Expectation, Settings]
ROWS: list[Row] = []

HANGS = "no_hanging_txn"
LEAKS = "aborted_never_committed"
LOSES = "committed_never_aborted"
STUCK = "Deadlock"
FAILS = "never_failed"
FENCED = "non_zombie_never_fenced"


def row(
    name: str,
    *settings: Settings,
    states: int,
    breaks: dict[str, int] | None = None,
    into: list[Row] = ROWS,
    **constants: object,
) -> None:
    """Add a run: settings that several runs share, then its own."""
    merged: Settings = {}
    for part in (*settings, constants):
        merged |= part
    expect = violates(breaks, states=states) if breaks else holds(distinct=states)
    into.append((name, expect, merged))


KIP98: Settings = {"VARIANT": "kip98", "CLIENT": "kip98"}
KIP360: Settings = {"VARIANT": "kip98", "CLIENT": "kip360"}
PART1: Settings = {"VARIANT": "kip890_p1", "CLIENT": "kip98"}
PART1_KIP360: Settings = {"VARIANT": "kip890_p1", "CLIENT": "kip360"}
KIP939: Settings = {"VARIANT": "kip939", "DATABASE": True}
AT_ONCE: Settings = {"DELAYED_PRODUCE": False}
UNNUMBERED: Settings = {"SEQUENCES": False}


# -- Which proposal cures what: one partition, batches that arrive late
row("hanging", KIP98, UNNUMBERED, states=15, breaks={HANGS: 5}, TXNS=1)
row("leak", KIP98, UNNUMBERED, states=88, breaks={HANGS: 5, LEAKS: 11})
row("leak-numbered", KIP98, states=76, breaks={HANGS: 5, LEAKS: 11})
row("hanging-kip360", KIP360, states=21, breaks={HANGS: 5}, TXNS=1)
row("leak-kip360", KIP360, states=138, breaks={HANGS: 5, LEAKS: 12})
row("part1-fused-t1", PART1, UNNUMBERED, states=16, TXNS=1, GUARD="fused")
row("part1-fused", PART1, UNNUMBERED, states=96, breaks={LEAKS: 11}, GUARD="fused")
row("part1-unguarded", PART1, UNNUMBERED, states=22, breaks={HANGS: 6}, TXNS=1, GUARD="none")
row("part1-t1", PART1, UNNUMBERED, states=20, TXNS=1)
row("part1", PART1, UNNUMBERED, states=151, breaks={LEAKS: 12})
row("part1-kip360", PART1_KIP360, states=188)
row("part1-kip360-moves", PART1_KIP360, states=382, LEADER_ELECTIONS=1)
row("part2-t1", UNNUMBERED, states=12, TXNS=1)
row("part2", UNNUMBERED, states=56)
row("part2-p2", states=342, RECORDS=2, PARTITIONS=2)
row("late-end", KIP98, AT_ONCE, states=121, breaks={LEAKS: 10}, DELAYED_ENDS=1)
row("late-end-part2", AT_ONCE, states=105, DELAYED_ENDS=1)

# -- A transaction times out after its first record
row(
    "kafka-6119",
    KIP98,
    UNNUMBERED,
    states=199,
    breaks={HANGS: 5, LOSES: 9},
    TXNS=1,
    RECORDS=2,
    TXN_TIMEOUTS=1,
    MUTANT=mutants.kafka_6119,
)
row(
    "kafka-6119-mended",
    KIP98,
    UNNUMBERED,
    states=116,
    breaks={HANGS: 5},
    TXNS=1,
    RECORDS=2,
    TXN_TIMEOUTS=1,
)
row("timeout-part1-t1", PART1, UNNUMBERED, states=198, TXNS=1, RECORDS=2, TXN_TIMEOUTS=1)
row("timeout", KIP98, AT_ONCE, states=25, TXNS=1, RECORDS=2, TXN_TIMEOUTS=1)
row("timeout-part1", PART1_KIP360, states=4049, RECORDS=2, TXN_TIMEOUTS=1)
row("timeout-part2", states=875, RECORDS=2, TXN_TIMEOUTS=1)
row(
    "kafka-20785",
    AT_ONCE,
    states=20,
    breaks={FAILS: 6},
    TXNS=1,
    TXN_TIMEOUTS=1,
    MUTANT=mutants.kafka_20785,
)
row("kafka-20785-mended", AT_ONCE, states=20, TXNS=1, TXN_TIMEOUTS=1)

# -- Markers, each taken or refused by its epoch; one comes twice, one acknowledgement is lost
row(
    "markers",
    KIP98,
    AT_ONCE,
    states=235,
    breaks={LEAKS: 8, LOSES: 9},
    LOST_ACKS=1,
    DUPLICATE_MARKERS=1,
)
row(
    "kafka-19446",
    AT_ONCE,
    states=271,
    breaks={LEAKS: 8, LOSES: 9},
    LOST_ACKS=1,
    DUPLICATE_MARKERS=1,
    MARKERS="at_least",
)
row(
    "kafka-19999",
    AT_ONCE,
    states=87,
    breaks={STUCK: 4},
    LOST_ACKS=1,
    DUPLICATE_MARKERS=1,
    MARKERS="above",
)
row(
    "kafka-19999-t1",
    AT_ONCE,
    states=19,
    breaks={STUCK: 4},
    TXNS=1,
    LOST_ACKS=1,
    DUPLICATE_MARKERS=1,
    MARKERS="above",
)
row(
    "kafka-19999-failover",
    AT_ONCE,
    states=22,
    breaks={STUCK: 5},
    TXNS=1,
    ELECTIONS=1,
    MARKERS="above",
)
row("markers-part2", AT_ONCE, states=155, LOST_ACKS=1, DUPLICATE_MARKERS=1)

# -- Defects that were found later, each with the size at which it shows
row(
    "librdkafka-3575",
    KIP98,
    AT_ONCE,
    states=26,
    breaks={LOSES: 9},
    TXNS=1,
    RECORDS=2,
    CLIENT="librdkafka_1_6",
)
row(
    "kafka-14884",
    PART1,
    states=144,
    breaks={"append_under_own_check": 10, LEAKS: 12},
    GUARD="state",
)
row("kafka-14884-mended", PART1, states=133, breaks={LEAKS: 12})
# Markers by the rule of its time: KAFKA-19446 came later.
row(
    "kafka-18575",
    AT_ONCE,
    states=51,
    breaks={LEAKS: 6},
    EAGER_BEGIN=True,
    MARKERS="at_least",
    MUTANT=mutants.kafka_18575,
)
row("kafka-18575-mended", AT_ONCE, states=29, EAGER_BEGIN=True)
row("kafka-18464", states=72, breaks={FENCED: 7}, EAGER_BEGIN=True, MUTANT=mutants.kafka_18464)
row("kafka-18464-mended", states=72, EAGER_BEGIN=True)
row(
    "kafka-19367",
    AT_ONCE,
    states=34,
    breaks={"epoch_in_range": 4},
    TXNS=1,
    PRODUCERS=2,
    MAX_EPOCH=1,
    MUTANT=mutants.kafka_19367,
)
row(
    "kafka-19367-e2",
    AT_ONCE,
    states=128,
    breaks={"epoch_in_range": 9},
    PRODUCERS=2,
    MAX_EPOCH=2,
    MUTANT=mutants.kafka_19367,
)
row("kafka-18660", AT_ONCE, states=15, breaks={FENCED: 8}, MAX_EPOCH=1, MUTANT=mutants.kafka_18660)
row(
    "kafka-20090",
    AT_ONCE,
    states=60,
    breaks={STUCK: 8},
    MAX_EPOCH=1,
    TXN_TIMEOUTS=1,
    MUTANT=mutants.kafka_20090,
)
row(
    "kafka-20090-e2",
    AT_ONCE,
    states=160,
    breaks={STUCK: 13},
    TXNS=3,
    MAX_EPOCH=2,
    TXN_TIMEOUTS=1,
    MUTANT=mutants.kafka_20090,
)
row(
    "kafka-9666",
    KIP98,
    AT_ONCE,
    states=40,
    breaks={STUCK: 5},
    TXNS=1,
    PRODUCERS=2,
    MAX_EPOCH=2,
    APPEND_FAILURES=2,
    MUTANT=mutants.kafka_9666,
)
row(
    "kafka-9666-mended",
    KIP98,
    AT_ONCE,
    states=44,
    TXNS=1,
    PRODUCERS=2,
    MAX_EPOCH=2,
    APPEND_FAILURES=2,
)
row(
    "kafka-20310",
    AT_ONCE,
    states=70,
    breaks={FENCED: 7},
    TXNS=1,
    MAX_EPOCH=1,
    ELECTIONS=1,
    LOST_RESPONSES=1,
    MUTANT=mutants.kafka_20310,
)
row("kafka-20310-mended", AT_ONCE, states=48, TXNS=1, MAX_EPOCH=1, ELECTIONS=1, LOST_RESPONSES=1)
row(
    "kafka-9144",
    KIP98,
    states=55,
    breaks={HANGS: 5, "epochs_monotone": 6},
    TXNS=1,
    TXN_TIMEOUTS=1,
    EXPIRIES=1,
)
row("kafka-9144-mended", KIP98, states=31, breaks={HANGS: 5}, TXNS=1, TXN_TIMEOUTS=1)
row("epochs-run-out", states=543, TXNS=3, MAX_EPOCH=2, TXN_TIMEOUTS=1)

# -- Zombies, and two systems that commit together
row("zombie", KIP98, states=93, breaks={HANGS: 5}, TXNS=1, PRODUCERS=2, ZOMBIES=True)
row("zombie-at-once", KIP98, AT_ONCE, states=576, PRODUCERS=2, ZOMBIES=True, RECORDS=2)
row("zombie-part2", states=5028, TXNS=3, MAX_EPOCH=2, PRODUCERS=2, ZOMBIES=True)
row(
    "two-systems-crash",
    KIP98,
    AT_ONCE,
    states=41,
    breaks={"cross_system_atomic": 5},
    TXNS=1,
    PRODUCERS=2,
    DATABASE=True,
)
row(
    "two-systems-timeout",
    KIP98,
    AT_ONCE,
    states=22,
    breaks={"cross_system_atomic": 4},
    TXNS=1,
    TXN_TIMEOUTS=1,
    DATABASE=True,
)
row("kip939", KIP939, AT_ONCE, states=492, PRODUCERS=2, ELECTIONS=1)
row("kip939-crash", KIP939, AT_ONCE, states=1800, PRODUCERS=2, CRASHES=2, ELECTIONS=1)
row("kip939-late-end", KIP939, AT_ONCE, states=724, PRODUCERS=2, DELAYED_ENDS=1)
row(
    "kip939-no-bump",
    KIP939,
    AT_ONCE,
    states=769,
    breaks={"cross_system_atomic": 12, LEAKS: 13},
    PRODUCERS=2,
    DELAYED_ENDS=1,
    MUTANT=mutants.kip939_no_bump,
)
row("kip939-zombie", KIP939, AT_ONCE, states=119, TXNS=1, RECORDS=2, PRODUCERS=2, ZOMBIES=True)
row(
    "kip939-no-split",
    KIP939,
    AT_ONCE,
    states=117,
    breaks={"no_zombie_writes": 5},
    TXNS=1,
    RECORDS=2,
    PRODUCERS=2,
    ZOMBIES=True,
    MUTANT=mutants.kip939_no_split,
)
row(
    "kip939-wrong-prev",
    KIP939,
    AT_ONCE,
    states=104,
    breaks={FENCED: 8},
    TXNS=1,
    PRODUCERS=2,
    MAX_EPOCH=1,
    LOST_RESPONSES=1,
    MUTANT=mutants.kip939_wrong_prev,
)

# -- A client that asks again (KIP-360)
row("kip360-asks-again", PART1_KIP360, states=3648, LOST_RESPONSES=2, ELECTIONS=1)
row(
    "kafka-20357",
    PART1_KIP360,
    states=232,
    breaks={FENCED: 8},
    TXNS=1,
    ELECTIONS=1,
    LOST_RESPONSES=1,
    MUTANT=mutants.kafka_20357,
)
row(
    "last-epoch-kept",
    PART1_KIP360,
    states=153,
    breaks={"distinct_ids": 8},
    TXNS=1,
    PRODUCERS=2,
    ZOMBIES=True,
    MUTANT=mutants.last_epoch_kept,
)
row("last-epoch", PART1_KIP360, states=153, TXNS=1, PRODUCERS=2, ZOMBIES=True)

# -- Faults together
row(
    "first-release",
    KIP98,
    AT_ONCE,
    states=944,
    LOST_RESPONSES=1,
    TXN_TIMEOUTS=1,
    ELECTIONS=1,
    LEADER_ELECTIONS=1,
)
row("part2-crash", states=1765, PRODUCERS=2, CRASHES=1, TXN_TIMEOUTS=1)
row("part2-markers", states=2378, TXN_TIMEOUTS=1, ELECTIONS=1, LOST_ACKS=1, DUPLICATE_MARKERS=1)
row(
    "part2-requests",
    states=3510,
    LOST_RESPONSES=1,
    DELAYED_ENDS=1,
    TXN_TIMEOUTS=1,
    DUPLICATE_PRODUCES=1,
)
row(
    "part2-all",
    states=41109,
    TXNS=3,
    MAX_EPOCH=2,
    EAGER_BEGIN=True,
    TXN_TIMEOUTS=1,
    ELECTIONS=1,
    LOST_RESPONSES=1,
    LOST_ACKS=1,
    DUPLICATE_MARKERS=1,
)
