"""The runs of the model of share partitions: what each sets, and what must come of it.

`docs/models/kafka-share-partition.md` says what they show. There is no public TLA+ spec: the counts
are this model's own, and what must be found are races that Kafka once had.
"""

from statewalk import Expectation, holds, violates
from statewalk.models.kafka.sharing.mutants import (
    kafka18084,
    kafka19476_archived,
    kafka19476_cancelled,
    kafka19476_limit,
    kafka19476_no_timer,
)

ROWS: list[tuple[str, Expectation, dict[str, object]]] = []


def row(name: str, *, expect: Expectation, **constants: object) -> None:
    ROWS.append((name, expect, constants))


# -- as Kafka is
row("one-record", expect=holds(generated=2792, distinct=1057, depth=15))
row("two-records", RECORDS=2, expect=holds(generated=1786906, distinct=363345, depth=25))
row("leader-moves", LEADER_MOVES=1, expect=holds(generated=142461, distinct=34721, depth=26))
row("offset-reset", OFFSET_RESETS=1, expect=holds(generated=23672, distinct=7261, depth=25))
DELETED = {"RECORDS": 2, "DELETIONS": 1, "LOCKS_EXPIRE": False}
row("deleted", **DELETED, expect=holds(generated=68008, distinct=21908, depth=22))

# -- what Kafka once did
row(
    "kafka18084",
    MUTANT=kafka18084,
    expect=violates({"lock_has_timer": 6, "lock_lasts": 8}, states=1926),
)
row(
    "kafka19476-archived",
    **DELETED,
    MUTANT=kafka19476_archived,
    expect=violates({"deleted_is_archived": 7, "lock_has_timer": 7}, states=21917),
)
row(
    "kafka19476-no-timer",
    MUTANT=kafka19476_no_timer,
    expect=violates({"lock_has_timer": 7}, states=1044),
)
row(
    "kafka19476-cancelled",
    MUTANT=kafka19476_cancelled,
    expect=violates({"lock_lasts": 8}, states=1068),
)
row(
    "kafka19476-limit",
    MUTANT=kafka19476_limit,
    expect=violates({"delivery_limit": 9}, states=1606),
)

# -- what epochs are for
row(
    "leader-moves-unfenced",
    LEADER_MOVES=1,
    FENCING=False,
    expect=violates({"accepted_is_done": 7}, states=32705),
)
row(
    "offset-reset-unfenced",
    OFFSET_RESETS=1,
    FENCING=False,
    expect=violates({"reset_is_kept": 5}, states=3521),
)

# -- what Kafka still does, as its source is read here
row(
    "sessions-end",
    SESSIONS_END=1,
    expect=violates({"accepted_is_done": 7}, states=32705),
)
BEHIND = {"CONSUMERS": 1, "DELETIONS": 1}
row(
    "expired-behind",
    RECORDS=3,
    **BEHIND,
    expect=violates({"nothing_offered_below_start": 8, "fetches_go_on": 9}),
)
row(
    "expired-behind-archived",
    RECORDS=2,
    **BEHIND,
    EXPIRED_BELOW_START="archived",
    expect=holds(generated=2138095, distinct=419150, depth=26),
)
