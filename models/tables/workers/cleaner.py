"""Orphans: files that no snapshot refers to, and who deletes them (OrphanFilesClean).

A crash between two writes leaves orphans behind, and so does who is refused or loses a race. But a
file that somebody is about to commit is an orphan as well, for as long as it takes.
"""

from statewalk import Role, action, always, exists, require
from statewalk.models.tables.lsm import Object, latest, live, store
from statewalk.models.tables.paimon_settings import CLEANING, CLEANUPS, CRASHES, GRAIN, VERSIONS
from statewalk.models.tables.workers.commit import Worker, inbox
from statewalk.models.tables.workers.committer import committer
from statewalk.models.tables.workers.compactors import compactors
from statewalk.models.tables.workers.writers import writers


def everybody() -> list[Worker]:
    return [*writers, *compactors, committer]


def used() -> set[Object]:
    """All files that some snapshot refers to."""
    snapshots = [store.snapshots[v] for v in VERSIONS if v in store.snapshots]
    metadata = {thing for snapshot in snapshots for thing in snapshot.refers}
    return metadata | {("data", file) for snapshot in snapshots for file in snapshot.live}


def there() -> set[Object]:
    data = {("data", file) for file in store.files if file not in store.deleted}
    return data | store.objects


def is_old(thing: Object) -> bool:
    """Whether it is older than any operation lasts: none that is under way has put it."""
    operations = [*(worker.op for worker in everybody()), *inbox.queue]
    return not any(thing in op.put or thing == ("data", op.file) for op in operations)


class Cleaner(Role):
    """Looks for orphans, then deletes what it found; `older_than` is a day if not told."""

    cleanups: int = 0
    found: frozenset[Object] = frozenset()

    @action
    def look(self) -> None:
        require(self.cleanups < CLEANUPS and not self.found)
        found = {t for t in there() - used() if CLEANING == "at_once" or is_old(t)}
        require(found)
        self.cleanups += 1
        self.found = frozenset(found)

    @action(fair="weak")
    def delete(self) -> None:
        require(self.found)
        store.objects = store.objects - self.found
        store.deleted = store.deleted | {number for kind, number in self.found if kind == "data"}
        self.found = frozenset()


if GRAIN == "files":
    cleaner = Cleaner()

    @always
    def nothing_is_missing() -> bool:
        """Every file that a snapshot refers to is there."""
        return used() <= there()

    @exists
    def all_is_committed() -> bool:
        return all(v in store.snapshots for v in VERSIONS) and bool(live(latest()))


if GRAIN == "files" and CRASHES > 0:

    @exists
    def a_crash_leaves_metadata_behind() -> bool:
        return any(is_old(thing) for thing in store.objects - used())


if GRAIN == "files" and CLEANUPS > 0:

    @exists
    def an_orphan_is_deleted() -> bool:
        return cleaner.cleanups > 0 and not cleaner.found
