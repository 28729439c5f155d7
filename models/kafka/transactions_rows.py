"""The runs of part 2: what each sets, and what must come of it.

`docs/models/kafka-coordinator.md` says what they show.
"""

from statewalk import Expectation, holds, violates
from statewalk.models.kafka.coordinator_mutants import (
    early_reply,
    no_complete_partial,
    no_epoch_check,
    pid_regress,
    silent_truncation,
    stale_commit,
)
from statewalk.models.kafka.fine.mutants import (
    any_epoch_counts,
    catch_up_to_hwm,
    fence_again,
    fence_at_commit,
    load_committed,
    no_truncation,
    serve_while_loading,
    truncate_to_hwm,
)

ROWS: list[tuple[str, Expectation, dict[str, object]]] = []


def row(name: str, *, expect: Expectation, **constants: object) -> None:
    ROWS.append((name, expect, constants))


# c, b, t, p, e: clients, brokers, tids, log partitions, elections. "published" is as the public
# spec has it. Where another violation comes first, --keep-going or --property finds the one meant.
row("c1b2e1", CLIENTS=1, expect=holds(generated=68, distinct=56, depth=14))
row("c2b2e0", MAX_ELECTIONS=0, expect=holds(generated=581, distinct=324, depth=22))
row("c2b2e1", expect=holds(generated=7286, distinct=3688, depth=27))
row("c2b2e2", MAX_ELECTIONS=2, expect=holds(generated=40368, distinct=18644, depth=32))
row(
    "c2b2e1-processed", KEEP_PROCESSED=True, expect=holds(generated=18662, distinct=10336, depth=36)
)
row(
    "c2b2e2-processed",
    KEEP_PROCESSED=True,
    MAX_ELECTIONS=2,
    expect=holds(generated=257008, distinct=137409, depth=47),
)
row(
    "c2b2e1-from-cache",
    MATERIALISE="from_cache",
    expect=holds(generated=7520, distinct=3809, depth=27),
)
row(
    "c2b2e2-from-cache",
    MATERIALISE="from_cache",
    MAX_ELECTIONS=2,
    expect=holds(generated=42659, distinct=19715, depth=32),
)
row(
    "published",
    MATERIALISE="from_cache",
    MUTANT=pid_regress,
    expect=holds(generated=7000, distinct=3517, depth=27),
)
row(
    "published-processed",
    MATERIALISE="from_cache",
    MUTANT=pid_regress,
    KEEP_PROCESSED=True,
    expect=holds(generated=19646, distinct=10897, depth=36),
)
row("c2b2t2p2e1", TIDS=2, LOG_PARTITIONS=2, expect=holds(generated=24379, distinct=11593, depth=27))
row("c2b3e1", BROKERS=3, expect=holds(generated=22413, distinct=10004, depth=28))
row(
    "no-complete-partial",
    MUTANT=no_complete_partial,
    expect=violates("eventually_all_clients_have_pid"),
)
row("silent-truncation", CLIENTS=1, MUTANT=silent_truncation, expect=violates("Deadlock", length=4))
row(
    "silent-truncation-waits",
    CLIENTS=1,
    MUTANT=silent_truncation,
    expect=violates("eventually_all_clients_have_pid", "eventually_one_client_adds_all_partitions"),
)
row("stale-commit", MUTANT=stale_commit, expect=violates("log_prefix", length=6))
row(
    "no-epoch-check",
    BROKERS=1,
    MAX_ELECTIONS=0,
    MUTANT=no_epoch_check,
    expect=violates("owner_only_transitions", length=9),
)
row(
    "early-reply",
    CLIENTS=1,
    BROKERS=1,
    MAX_ELECTIONS=0,
    MUTANT=early_reply,
    expect=violates("no_ok_above_hwm", length=2),
)
# Two clients come to hold the same epoch. A new leader that reads the log gives a fresh producer id
# when nothing was committed, so that it then takes a third client.
row(
    "early-reply-twice-from-cache",
    MATERIALISE="from_cache",
    MUTANT=early_reply,
    expect=violates("distinct_epochs", length=7),
)
row(
    "early-reply-twice",
    CLIENTS=3,
    MUTANT=early_reply,
    expect=violates("distinct_epochs", length=10),
)
# A failover lets two transactional ids and three clients do what otherwise takes three and four.
row(
    "pid-regress",
    CLIENTS=4,
    BROKERS=1,
    TIDS=3,
    MAX_ELECTIONS=0,
    MUTANT=pid_regress,
    expect=violates("pid_per_tid", length=8),
)
row(
    "pid-regress-failover",
    CLIENTS=3,
    TIDS=2,
    MUTANT=pid_regress,
    expect=violates("pid_per_tid", length=10),
)


# -- the fine grain ------------------------------------------------------------------------------
def fine(name: str, *, expect: Expectation, **constants: object) -> None:
    row(f"fine-{name}", expect=expect, GRAIN="fine", **constants)


fine("c1b2e1", CLIENTS=1, expect=holds(generated=589, distinct=357, depth=24))
fine("c2b2e0", MAX_ELECTIONS=0, expect=holds(generated=1005, distinct=540, depth=35))
fine("c2b2e1", expect=holds(generated=84036, distinct=34394, depth=46))
fine("c2b2e2", MAX_ELECTIONS=2, expect=holds(generated=1651799, distinct=580338, depth=57))
fine(
    "c1b3e2",
    CLIENTS=1,
    BROKERS=3,
    MAX_ELECTIONS=2,
    expect=holds(generated=103705, distinct=40818, depth=38),
)
fine("c2b2e1-v4", CHECKS="v4", expect=holds(generated=84524, distinct=34694, depth=46))
fine(
    "c2b2tp2e0",
    TOPIC_PARTITIONS=2,
    MAX_ELECTIONS=0,
    expect=holds(generated=7883, distinct=3868, depth=47),
)
fine("c2b2tp2e1", TOPIC_PARTITIONS=2, expect=holds(generated=740940, distinct=290268, depth=60))
fine("c2b2e1-isr", MAX_SHRINKS=1, expect=holds(generated=451960, distinct=150194, depth=48))
# An error whose entry lives on: the next owner's epoch is in the log, and then the old one's again.
fine(
    "timeout",
    BROKERS=1,
    MAX_ELECTIONS=0,
    MAX_TIMEOUTS=1,
    expect=violates({"committed_epoch_monotone": 12}, states=2976),
)
fine(
    "c2b2e1-timeout",
    MAX_TIMEOUTS=1,
    expect=violates({"committed_epoch_monotone": 15}, states=307070),
)
fine(
    "c2b2e1-min-isr",
    MAX_SHRINKS=1,
    MIN_ISR=2,
    expect=violates({"committed_epoch_monotone": 17}, states=402565),
)
# Kafka answers OK from what it has loaded, committed or not.
fine(
    "answered-above-hwm",
    CLIENTS=1,
    REPEATED="answer",
    expect=violates({"no_ok_above_hwm": 15}, states=345),
)
fine(
    "answered-and-lost",
    CLIENTS=1,
    BROKERS=3,
    MAX_ELECTIONS=2,
    REPEATED="answer",
    expect=violates({"no_ok_above_hwm": 16, "told_is_known": 19}, states=35450),
)
fine(
    "early-reply",
    CLIENTS=1,
    BROKERS=1,
    MAX_ELECTIONS=0,
    MUTANT=early_reply,
    expect=violates("no_ok_above_hwm", length=2),
)
fine("load-committed", CLIENTS=1, MUTANT=load_committed, expect=violates("told_is_known", length=8))
fine("serve-while-loading", MUTANT=serve_while_loading, expect=violates("told_is_known", length=10))
fine("any-epoch-counts", MUTANT=any_epoch_counts, expect=violates("log_prefix", length=8))
fine("no-truncation", CLIENTS=1, MUTANT=no_truncation, expect=violates("log_prefix", length=14))
fine(
    "truncate-to-hwm",
    CLIENTS=1,
    MAX_ELECTIONS=3,
    MUTANT=truncate_to_hwm,
    expect=violates("told_is_known", length=12),
)
fine(
    "truncate-to-hwm-b3",
    CLIENTS=1,
    BROKERS=3,
    MAX_ELECTIONS=2,
    MUTANT=truncate_to_hwm,
    expect=violates("told_is_known", length=11),
)
fine(
    "catch-up-to-hwm",
    CLIENTS=1,
    BROKERS=3,
    MAX_ELECTIONS=2,
    MAX_SHRINKS=1,
    MUTANT=catch_up_to_hwm,
    expect=violates("no_ok_above_hwm", length=11),
)
fine(
    "fence-at-commit",
    BROKERS=1,
    TOPIC_PARTITIONS=2,
    MAX_ELECTIONS=0,
    MAX_TIMEOUTS=1,
    MUTANT=fence_at_commit,
    expect=violates({"committed_epoch_monotone": 12, "fenced_epoch_is_over": 16}, states=32780),
)
fine(
    "fence-again",
    BROKERS=1,
    MAX_ELECTIONS=0,
    MAX_TIMEOUTS=1,
    MUTANT=fence_again,
    expect=violates(
        {"committed_epoch_monotone": 12, "fencing_raises_the_epoch_once": 17}, states=2976
    ),
)
