"""The runs of part 3 over diskless topics (KIP-1164): each question, and what speaks for an answer.

As in `exactly_once_rows`, each says what it must find; `docs/models/kafka-diskless.md` says what
they show.
"""

from functools import partial

from statewalk.models.kafka import exactly_once_rows
from statewalk.models.kafka.exactly_once_rows import (
    AT_ONCE,
    HANGS,
    KIP98,
    LEAKS,
    PART1_KIP360,
    STUCK,
    Row,
    Settings,
)
from statewalk.models.kafka.parties import mutants

ROWS: list[Row] = []
row = partial(exactly_once_rows.row, into=ROWS)

READS = "read_committed_returns_what_is_committed"
LOST = "committed_is_visible"
WAITS = "barrier_never_waits"
DISKLESS: Settings = {"TOPICS": "diskless"}
SOON: Settings = DISKLESS | AT_ONCE  # a batch is at a broker at once; its file is committed later
TWO_PARTITIONS: Settings = {"RECORDS": 2, "PARTITIONS": 2}
UPLOADED: Settings = SOON | {"ACK": "uploaded"}
BEFORE_MARKER: Settings = {"BARRIER": "before_marker"}
BEFORE_DECISION: Settings = {"BARRIER": "before_decision"}
CRASH: Settings = {"BROKER_CRASHES": 1}
ONCE: Settings = {"ASKS": "broker_once"}

# -- What the model argues for, and faults
row("diskless", DISKLESS, states=111)
row("diskless-crash", SOON, CRASH, states=90)
row("diskless-p2", SOON, TWO_PARTITIONS, states=261)
row("diskless-consumers", SOON, TWO_PARTITIONS, states=624, TXNS=1, CONSUMERS=1)
row("diskless-zombie", DISKLESS, states=2009, PRODUCERS=2, ZOMBIES=True, BROKERS=2)
row(
    "diskless-all",
    DISKLESS,
    CRASH,
    states=9667,
    TXN_TIMEOUTS=1,
    ELECTIONS=1,
    LOST_ACKS=1,
    DUPLICATE_MARKERS=1,
)

# -- Which version of transactions, and who asks the transaction coordinator
row("diskless-kip98", SOON, KIP98, states=66, breaks={HANGS: 5, LEAKS: 11})
row("diskless-part1", SOON, PART1_KIP360, states=113, breaks={HANGS: 5, LEAKS: 12})
row("diskless-part1-sequencer", SOON, PART1_KIP360, states=168, ASKS="sequencer")
row("diskless-sequencer", SOON, states=48, ASKS="sequencer")
row("diskless-once", SOON, ONCE, states=177, RECORDS=2)

# -- When a batch is acknowledged, and the commit barrier
row("diskless-uploaded", UPLOADED, states=112, breaks={LOST: 5})
row(
    "diskless-uploaded-p2",
    UPLOADED,
    TWO_PARTITIONS,
    states=867,
    breaks={LOST: 6},
    TXNS=1,
    CONSUMERS=1,
)
row("diskless-barrier", DISKLESS, BEFORE_MARKER, CRASH, states=689, DUPLICATE_PRODUCES=1)
row(
    "diskless-barrier-repeats",
    DISKLESS,
    BEFORE_MARKER,
    CRASH,
    states=741,
    breaks={WAITS: 6, STUCK: 7},
    DUPLICATE_PRODUCES=1,
    MUTANT=mutants.barrier_awaits_repeats,
)
row("diskless-uploaded-marker", UPLOADED, BEFORE_MARKER, states=67, breaks={WAITS: 3})
row(
    "diskless-uploaded-marker-crash",
    UPLOADED,
    BEFORE_MARKER,
    CRASH,
    states=107,
    breaks={WAITS: 3, STUCK: 4},
)
row("diskless-uploaded-decision", UPLOADED, BEFORE_DECISION, states=71)
row(
    "diskless-uploaded-decision-crash",
    UPLOADED,
    BEFORE_DECISION,
    CRASH,
    states=384,
    breaks={STUCK: 4},
    TXN_TIMEOUTS=1,
)
row(
    "diskless-once-barrier",
    UPLOADED,
    BEFORE_MARKER,
    ONCE,
    states=255,
    breaks={WAITS: 4, LOST: 7},
    RECORDS=2,
)

# -- What the diskless coordinator keeps, and what one fetch may mix
row(
    "diskless-forgets",
    SOON,
    states=66,
    breaks={HANGS: 5, "epochs_monotone": 5, LEAKS: 11},
    FORGETS=True,
)
row("diskless-forgets-sequencer", SOON, states=48, FORGETS=True, ASKS="sequencer")
row(
    "diskless-two-states",
    SOON,
    states=74,
    breaks={READS: 6},
    TXNS=1,
    CONSUMERS=1,
    FETCH="two_states",
)
row(
    "diskless-no-aborted-index",
    SOON,
    states=62,
    breaks={READS: 6},
    TXNS=1,
    CONSUMERS=1,
    MUTANT=mutants.no_aborted_index,
)
row("diskless-shards", SOON, TWO_PARTITIONS, states=405, breaks={"ends_at_once": 5}, SHARDS=2)
