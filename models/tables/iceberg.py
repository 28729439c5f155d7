"""Apache Iceberg: writers of a table whose metadata a catalog swaps atomically.

An operation *starts* from a snapshot, *writes* data files and (merge on read) marks of rows,
*validates* against what was committed since, and *commits* by a swap of the catalog's pointer. Who
loses that race refreshes, validates again, and swaps again: nothing but the validation keeps it
from committing what no longer fits. Each validation is a constant, and each has a row without it.

Source: BaseRowDelta, BaseOverwriteFiles, BaseRewriteFiles, MergingSnapshotProducer of 1.11, and
which of them an engine asks for: SparkPositionDeltaWrite, SparkWrite. A snapshot is one object;
manifests, partitions, equality deletes and branches are left out. Marks count in any order: a row
that is marked is gone.
"""

from statewalk import always, config, exists, holds, terminal, violates
from statewalk.models.tables.comparison import rows_of
from statewalk.models.tables.writers.iceberg import (
    COMPACTIONS,
    KEYS,
    OPS,
    WRITERS,
    history,
    rows,
    table,
    writers,
)


# -- properties ------------------------------------------------------------------------------------
@always
def consistent_read() -> bool:
    """Every version shows the rows that the committed operations made, each of what it found."""
    return all(
        sorted(row for _, row in rows(v)) == expected(v, again=False) for v in table.snapshots
    )


@always
def serial_in_commit_order() -> bool:
    """Every version shows what the operations would make, if each looked when it is committed."""
    return all(
        sorted(row for _, row in rows(v)) == expected(v, again=True) for v in table.snapshots
    )


def expected(version: int, *, again: bool) -> list[tuple[int, int]]:
    values: dict[int, int] = {}
    for done in history.committed:
        change = done.change
        if done.version > version:
            continue
        if change.kind == "insert":
            values[change.key or 0] = change.value or 0
        found = [k for k in values if (change.key in (None, k) if again else k in done.keys)]
        for key in found:
            if change.kind == "delete":
                del values[key]
            elif change.kind == "update":
                values[key] = change.value or 0
    return sorted(values.items())


if min(WRITERS, OPS + COMPACTIONS - (KEYS == 1)) > 1:

    @exists
    def somebody_lost_the_race() -> bool:
        return any(
            w.op is not None and w.stage == "commit" and w.op.base + 1 in table.snapshots
            for w in writers
        )


@terminal
def nothing_under_way() -> bool:
    return all(w.stage == "ready" for w in writers)


# -- configurations --------------------------------------------------------------------------------
SNAPSHOT = {"ISOLATION": "snapshot"}
COPIES = {"UPDATE_MODE": "copy_on_write", "DELETE_MODE": "copy_on_write"}
COMPACTED = {"OPS": 2, "COMPACTIONS": 1}
ALL_ROWS = {"KEYS": 2, "PREDICATE": "all_rows", "KINDS": "insert_update"}
BROKEN = {consistent_read: 12, serial_in_commit_order: 12}

config("merge-on-read", expect=holds(distinct=581))
config("merge-on-read-snapshot", **SNAPSHOT, expect=holds(distinct=581))
config(
    "I-1",
    **SNAPSHOT,
    DELETES_DELETE=False,
    expect=violates(BROKEN, states=593),
)
config("I-1-two-operations", **SNAPSHOT, DELETES_DELETE=False, OPS=2, expect=holds(distinct=57))
config("I-1-one-writer", **SNAPSHOT, DELETES_DELETE=False, WRITERS=1, expect=holds(distinct=97))
config("I-1-serializable", DELETES_DELETE=False, expect=holds(distinct=585))
config("I-1-format-3", **SNAPSHOT, DELETES_DELETE=False, FORMAT=3, expect=holds(distinct=581))
config("I-2", **SNAPSHOT, expect=holds(distinct=581))
config("I-3-copy-on-write", **COPIES, COMPACTIONS=1, expect=holds(distinct=5307))
config(
    "I-3-copy-on-write-snapshot", **COPIES, **SNAPSHOT, COMPACTIONS=1, expect=holds(distinct=5307)
)
config("I-3-merge-on-read", COMPACTIONS=1, expect=holds(distinct=5767))
config("I-3-merge-on-read-snapshot", **SNAPSHOT, COMPACTIONS=1, expect=holds(distinct=5767))
config("I-3-mixed", UPDATE_MODE="copy_on_write", COMPACTIONS=1, expect=holds(distinct=5767))
config("I-4", **ALL_ROWS, **SNAPSHOT, expect=violates({serial_in_commit_order: 12}, states=3789))
config("I-4-two-operations", **ALL_ROWS, **SNAPSHOT, OPS=2, expect=holds(distinct=365))
config("I-4-serializable", **ALL_ROWS, expect=holds(distinct=3693))

# One validation off; what the others still catch, and what they do not.
config(
    "no-data-files-check",
    **ALL_ROWS,
    DATA_FILES=False,
    expect=violates({serial_in_commit_order: 12}, states=3789),
)
config(
    "no-deletes-check-of-updates",
    **SNAPSHOT,
    DELETES_UPDATE=False,
    expect=violates(BROKEN, states=621),
)
config(
    "no-files-exist-check",
    **COMPACTED,
    **SNAPSHOT,
    FILES_EXIST=False,
    expect=violates(BROKEN, states=479),
)
config(
    "no-files-exist-check-serializable",
    COMPACTIONS=1,
    FILES_EXIST=False,
    expect=holds(distinct=5767),
)
config(
    "no-deletes-check-of-overwrites",
    UPDATE_MODE="copy_on_write",
    DELETES_OVERWRITE=False,
    expect=violates(BROKEN, states=589),
)
config(
    "no-deletes-check-of-overwrites-marks-of-deletes-only",
    **COPIES,
    DELETES_OVERWRITE=False,
    expect=holds(distinct=581),
)
config(
    "no-deletes-check-of-compactions",
    **COMPACTED,
    DELETES_REWRITE=False,
    expect=violates(BROKEN, states=479),
)
config("compaction-beside-writes", **COMPACTED, expect=holds(distinct=459))
config(
    "no-removed-files-check",
    **COPIES,
    **SNAPSHOT,
    REMOVED_EXIST=False,
    expect=violates(BROKEN, states=633),
)
config(
    "no-removed-files-check-of-compactions",
    **COPIES,
    **COMPACTED,
    **SNAPSHOT,
    REMOVED_EXIST=False,
    expect=violates(BROKEN, states=485),
)
config(
    "no-compare-and-swap",
    COMPARE_AND_SWAP=False,
    expect=violates(BROKEN, states=555),
)

for compared in rows_of("iceberg"):
    config(compared.name, expect=compared.expect, **compared.constants)
