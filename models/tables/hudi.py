"""Apache Hudi, copy on write: a timeline of instants, and file groups with a slice for each.

A key belongs to a file group, which an index tells. An operation takes a *timestamp*, puts its
*requested* instant, *looks up* the key's file group, *reads* the newest slice there (and puts its
*inflight* instant), *writes* a new slice, *updates the index*, *checks* for conflicts, and puts its
*completed* instant, by which readers find the slice.

The step by step account is that of the public TLA+ specification of version 5 of the format
(Vanlightly/table-formats-tlaplus, hudi/v5_spec), and the counts of H-1 to H-8 are those TLC gives.
"""

from statewalk import always, config, exists, holds, terminal, violates
from statewalk.models.tables.comparison import rows_of
from statewalk.models.tables.writers.hudi import (
    CONTROL,
    KEYS,
    OPS,
    WRITERS,
    completed,
    history,
    last_time,
    overtaken,
    table,
    writers,
)


# -- properties ------------------------------------------------------------------------------------
@always
def consistent_read() -> bool:
    """At every timestamp, every key reads as the completed operations up to it say."""
    return all(
        found(key, time) == expected(key, time)
        for key in range(KEYS)
        for time in range(1, last_time() + 1)
    )


def found(key: int, time: int) -> set[int]:
    """The values of a key in the newest slices of all groups, up to a timestamp."""
    upto = [i for i in completed() if i[0] <= time]
    newest = [
        i
        for i in upto
        if not any(j[0] > i[0] and table.timeline[j] == table.timeline[i] for j in upto)
    ]
    slices = [table.slices[table.timeline[i] or 0, i[0], i[2]] for i in newest]
    return {rows[key] for rows in slices if key in rows}


def expected(key: int, time: int) -> set[int]:
    values: set[int] = set()
    for op in history.done[key]:
        if op.time <= time:
            values = set() if op.kind == "delete" else {op.value}
    return values


@always
def key_in_one_group() -> bool:
    """No key is in completed slices of two file groups."""
    groups = [(table.timeline[i] or 0, i) for i in completed()]
    holding = {(key, g) for g, i in groups for key in table.slices[g, i[0], i[2]]}
    return len(holding) == len({key for key, _ in holding})


if CONTROL == "optimistic" and min(WRITERS, OPS) > 1:

    @exists
    def somebody_is_overtaken() -> bool:
        return any(w.phase == "check" and overtaken(w) for w in writers)


@terminal
def nothing_under_way() -> bool:
    return all(w.phase in ("ready", "failed") for w in writers)


# -- configurations --------------------------------------------------------------------------------
ONE = {"KEYS": 2, "VALUES": 1}
config("H-1", expect=holds(generated=2769, distinct=1677, depth=17))
config("H-2", CONTROL="pessimistic", expect=holds(generated=1869, distinct=1215, depth=15))
config("H-3", CONTROL="none", expect=violates(consistent_read, length=14, states=1675))
config(
    "H-3-keys-of-one-group",
    CONTROL="none",
    **ONE,
    expect=violates(consistent_read, length=14, states=1387),
)
config("H-3-one-operation", CONTROL="none", OPS=1, expect=holds(distinct=42))
config("H-3-one-writer", CONTROL="none", WRITERS=1, expect=holds(distinct=105))
config(
    "H-4",
    PRIMARY_KEY_CHECK=False,
    GROUPS=2,
    expect=violates({consistent_read: 16, key_in_one_group: 16}, states=3927),
)
config("H-4-checked", GROUPS=2, expect=holds(distinct=3751))
config("H-4-one-group", PRIMARY_KEY_CHECK=False, expect=holds(distinct=1677))
config(
    "H-4-one-value",
    PRIMARY_KEY_CHECK=False,
    GROUPS=2,
    VALUES=1,
    expect=violates({key_in_one_group: 16}, states=1041),
)
config("H-6", TIMESTAMPS="any", expect=violates(consistent_read, length=13, states=2237))
config("H-6-one-writer", TIMESTAMPS="any", WRITERS=1, expect=holds(distinct=164))
config("H-6-put-if-absent", TIMESTAMPS="any", PUT_IF_ABSENT=True, expect=holds(distinct=1696))
config("H-8", TIMESTAMPS="salted", expect=holds(generated=4993, distinct=3014, depth=17))

for compared in rows_of("hudi"):
    config(compared.name, expect=compared.expect, **compared.constants)
