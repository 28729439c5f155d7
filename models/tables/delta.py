"""Delta Lake, copy on write: a log of versions, each with the files it adds and removes.

A transaction *starts* from the log as it is, *reads* the files it will replace, *writes* new ones,
and *commits* by putting the entry of the next version. Where that is taken, it asks whether it
conflicts with what was committed since, and gives up or tries the version after the last.

The step by step account is that of the public TLA+ specification (Vanlightly/table-formats-tlaplus,
delta-lake/basic_cow), and the state counts of D-1 to D-5 are those TLC gives for it; it stands for
`OptimisticTransaction.doCommitRetryIteratively` and `ConflictChecker` of delta-spark. What it asks
is coarser than Delta (`CHECK=partition`); `CHECK=files` asks what Delta asks of each file.
A row is a key and a value; there are no primary keys, and two inserts of a row are one.
"""

from statewalk import always, config, exists, holds, mutant, terminal, violates
from statewalk.models.tables.comparison import rows_of
from statewalk.models.tables.writers.delta import (
    KEYS,
    OPS,
    WRITERS,
    Entry,
    Name,
    Writer,
    current,
    history,
    is_live,
    may_be_new,
    removed_twice,
    table,
    writers,
)


# -- properties ------------------------------------------------------------------------------------
@always
def consistent_read() -> bool:
    """In every version, every key reads as the committed changes up to it say."""
    return all(
        found(key, version) == expected(key, version)
        for key in range(KEYS)
        for version in range(1, current() + 1)
    )


def found(key: int, version: int) -> set[int]:
    log = {v: entry for v, entry in table.log.items() if v <= version}
    names = {name for entry in log.values() for name in entry.added if is_live(name, log)}
    return {row[1] for name in names for row in table.files[name] if row[0] == key}


def expected(key: int, version: int) -> set[int]:
    values: set[int] = set()
    for done in history.committed[key]:
        value = {done.change.value or 0}
        if done.version > version:
            continue
        if done.change.kind == "insert":
            values = values | value
        else:
            values = value if values and done.change.kind == "update" else set()
    return values


@always
def one_live_image() -> bool:
    """A file that was replaced was replaced once: no rows of it are live twice."""
    removed = [name for entry in table.log.values() for name in entry.removed]
    return len(removed) == len(set(removed))


if min(WRITERS, OPS) > 1:

    @exists
    def somebody_lost_the_race() -> bool:
        return any(w.phase in ("check", "commit") and w.version in table.log for w in writers)


@terminal
def nothing_under_way() -> bool:
    return all(w.phase in ("ready", "failed") for w in writers)


# -- mutants ---------------------------------------------------------------------------------------
@mutant(removed_twice)
def no_delete_delete_check(writer: Writer, entry: Entry) -> bool:
    """Ignore that a file it removes was removed by another (Kernel, before #7163)."""
    return False


@mutant(may_be_new)
def any_free_name(name: Name) -> bool:
    """A new file is named when it is read, as in the public specification."""
    return True


# -- configurations --------------------------------------------------------------------------------
UNGUARDED = {"PUT_IF_ABSENT": False, "VALUES": 2}
FILES = {"CHECK": "files_snapshot", "OPS": 3, "CRASHES": False}
config("D-1", expect=holds(generated=351, distinct=168, depth=9))
config("D-1-strict-after", CHECK="strict_after", expect=holds(distinct=168))
config(
    "D-3",
    COORDINATED=True,
    PUT_IF_ABSENT=False,
    expect=holds(generated=431, distinct=228, depth=11),
)
config("D-4", PARTITIONED=False, KEYS=2, expect=holds(generated=1273, distinct=575, depth=9))
config("D-5", **UNGUARDED, expect=violates(consistent_read, length=8, states=542))
config("D-5-one-value", PUT_IF_ABSENT=False, expect=holds(distinct=168))
config("D-5-one-writer", **UNGUARDED, WRITERS=1, expect=holds(distinct=97))
config("D-5-one-operation", **UNGUARDED, OPS=1, expect=holds(distinct=34))
config("D-5-coordinated", **UNGUARDED, COORDINATED=True, expect=holds(distinct=754))
config(
    "D-6",
    **FILES,
    MUTANT=no_delete_delete_check,
    expect=violates({consistent_read: 13, one_live_image: 13}, states=1087),
)
config(
    "D-6-two-operations",
    CHECK="files_snapshot",
    CRASHES=False,
    VALUES=2,
    MUTANT=no_delete_delete_check,
    expect=holds(distinct=286),
)
config("D-6-checked-files", CHECK="files", OPS=3, CRASHES=False, expect=holds(distinct=1025))
config(
    "free-name-taken",
    CHECK="files",
    CRASHES=False,
    VALUES=2,
    MUTANT=any_free_name,
    expect=violates({consistent_read: 9}, states=482),
)
config("phantom-under-snapshot", **FILES, expect=violates({consistent_read: 13}, states=1045))

for compared in rows_of("delta"):
    config(compared.name, expect=compared.expect, **compared.constants)
