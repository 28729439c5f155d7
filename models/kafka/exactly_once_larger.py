"""The runs of part 3 in a larger grain: with consumers, and with more of everything.

As in `exactly_once_rows`, each says what it must find.
"""

from functools import partial

from statewalk.models.kafka import exactly_once_rows
from statewalk.models.kafka.exactly_once_rows import (
    AT_ONCE,
    HANGS,
    KIP98,
    KIP939,
    LEAKS,
    LOSES,
    UNNUMBERED,
    Row,
    Settings,
)
from statewalk.models.kafka.parties import mutants

LARGER: list[Row] = []
row = partial(exactly_once_rows.row, into=LARGER)

READS = "read_committed_returns_what_is_committed"
MISSES = "atomic_visibility"
CONSUMERS: Settings = {"CONSUMERS": 1}
TWO_PARTITIONS: Settings = {"RECORDS": 2, "PARTITIONS": 2}


# -- Two transactional ids, each with a coordinator of its own; with two partitions, and failovers
row("two-ids", states=627, IDS=2)
row("two-ids-leak", KIP98, UNNUMBERED, states=1217, breaks={HANGS: 5, LEAKS: 11}, IDS=2)
row("two-ids-p2", TWO_PARTITIONS, states=7645, IDS=2)
row("two-ids-moves", states=10673, IDS=2, ELECTIONS=1, TXN_TIMEOUTS=1)
row("two-ids-consumers", CONSUMERS, states=7729, IDS=2)
row("two-ids-kip939", KIP939, AT_ONCE, states=9907, IDS=2, PRODUCERS=2)
row("kip939-p2", KIP939, TWO_PARTITIONS, states=31721, PRODUCERS=2, CRASHES=1, ELECTIONS=1)

# -- KIP-939 with faults together, and with epochs that run out in recovery or at its end
row(
    "kip939-all",
    KIP939,
    AT_ONCE,
    states=19644,
    PRODUCERS=2,
    ELECTIONS=1,
    DELAYED_ENDS=1,
    LOST_RESPONSES=1,
    ZOMBIES=True,
)
row(
    "kip939-run-out",
    KIP939,
    AT_ONCE,
    states=8162,
    PRODUCERS=2,
    MAX_EPOCH=1,
    ELECTIONS=1,
    DELAYED_ENDS=1,
    LOST_RESPONSES=1,
)
row("kip939-run-out-e2", KIP939, AT_ONCE, states=3236, PRODUCERS=3, MAX_EPOCH=2, DELAYED_ENDS=1)


# -- Consumers: what is wrong in the logs is read one step later
row("consumers", CONSUMERS, states=483)
row("consumers-two", states=7533, CONSUMERS=2)
row("consumers-p2-t1", CONSUMERS, TWO_PARTITIONS, states=491, TXNS=1)
row("consumers-p2", CONSUMERS, TWO_PARTITIONS, states=23543)
row(
    "consumers-leak",
    CONSUMERS,
    KIP98,
    UNNUMBERED,
    states=1174,
    breaks={HANGS: 5, LEAKS: 11, READS: 12},
)
row(
    "consumers-markers",
    CONSUMERS,
    KIP98,
    AT_ONCE,
    states=7070,
    breaks={LEAKS: 8, LOSES: 9, READS: 9, MISSES: 10, "committed_is_visible": 11},
    LOST_ACKS=1,
    DUPLICATE_MARKERS=1,
)
row("consumers-moves", CONSUMERS, AT_ONCE, states=3343, TXN_TIMEOUTS=1, ELECTIONS=1)
row(
    "reads-to-the-end",
    CONSUMERS,
    AT_ONCE,
    states=62,
    breaks={READS: 3, MISSES: 4},
    TXNS=1,
    MUTANT=mutants.reads_to_the_end,
)
row(
    "no-aborted-index",
    CONSUMERS,
    AT_ONCE,
    states=44,
    breaks={READS: 5},
    TXNS=1,
    MUTANT=mutants.no_aborted_index,
)
row(
    "aborted-ids-stay",
    CONSUMERS,
    AT_ONCE,
    states=354,
    breaks={MISSES: 10},
    MUTANT=mutants.aborted_ids_stay,
)
