"""Orphans: files that no snapshot leads to, and who deletes them (OrphanFilesClean).

A crash between two writes leaves orphans behind, and so does who is refused or loses a race. But a
file that somebody is about to commit is an orphan as well, for as long as it takes. So only old
ones are taken, and they are listed before anybody looks which files are used.
"""

from typing import Literal

from statewalk import Role, action, exists, require
from statewalk.models.tables.lsm import latest
from statewalk.models.tables.metadata import Object, metadata, there, used
from statewalk.models.tables.paimon_settings import (
    CLEANING,
    CLEANUPS,
    COMPACTIONS,
    CRASHES,
    DELETION_VECTORS,
    GRAIN,
    LISTED_FIRST,
    OPS,
    TOPOLOGY,
    WRITERS,
)
from statewalk.models.tables.workers.commit import Worker
from statewalk.models.tables.workers.committer import committer
from statewalk.models.tables.workers.compactors import compactors
from statewalk.models.tables.workers.files import remove
from statewalk.models.tables.workers.operation import inbox
from statewalk.models.tables.workers.writers import writers


def everybody() -> list[Worker]:
    return [*writers, *compactors, committer]


def is_old(thing: Object) -> bool:
    """Return whether it is older than any operation lasts: none that is under way has put it."""
    operations = [*(worker.op for worker in everybody()), *inbox.queue, *committer.rest]
    return not any(thing in op.put or thing == ("data", op.file) for op in operations)


def old_files() -> frozenset[Object]:
    return frozenset(thing for thing in there() if CLEANING == "at_once" or is_old(thing))


class Cleaner(Role):
    """Lists files, looks which are used, deletes the others (LocalOrphanFilesClean.clean)."""

    cleanups: int = 0
    stage: Literal["rests", "looks", "deletes"] = "rests"
    found: frozenset[Object] = frozenset()

    @action
    def begin(self) -> None:
        """List the old files. Those that are used by now stay so: snapshots do not expire."""
        require(self.stage == "rests" and self.cleanups < CLEANUPS)
        self.found = old_files() - used() if LISTED_FIRST else used()
        require(self.found or not LISTED_FIRST)
        self.cleanups += 1
        self.stage = "looks"

    @action(fair="weak")
    def look(self) -> None:
        """Keep those that are not used; in the wrong order, of those that are listed now."""
        require(self.stage == "looks")
        self.found = self.found - used() if LISTED_FIRST else old_files() - self.found
        self.stage = "deletes"

    @action(fair="weak")
    def delete(self) -> None:
        require(self.stage == "deletes")
        remove(self.found)
        gone = {number for kind, number in self.found if kind == "data"}
        metadata.deleted = metadata.deleted | gone
        self.found = frozenset()
        self.stage = "rests"


if GRAIN == "files":
    cleaner = Cleaner()

    @exists
    def all_is_committed() -> bool:
        return latest() == OPS + COMPACTIONS


def left_behind() -> set[str]:
    """Return what kinds of orphans there are that nobody will commit."""
    return {thing[0] for thing in there() - used() if is_old(thing)}


if GRAIN == "files" and CRASHES > 0:  # a crash between any two writes of an append

    @exists
    def a_crash_after_the_data() -> bool:
        return left_behind() == {"data"}

    @exists
    def a_crash_after_the_base_list() -> bool:
        return left_behind() == {"data", "base list"}

    @exists
    def a_crash_after_the_manifest() -> bool:
        return left_behind() == {"data", "base list", "manifest"}

    @exists
    def a_crash_after_the_delta_list() -> bool:
        return left_behind() == {"data", "base list", "manifest", "delta list"}

    @exists
    def a_crash_after_the_temporary_snapshot() -> bool:
        return "temporary snapshot" in left_behind()


if GRAIN == "files" and CRASHES > 0 and DELETION_VECTORS:  # and of a compaction

    @exists
    def a_crash_after_the_vectors() -> bool:
        return left_behind() - {"data"} == {"vectors"}

    @exists
    def a_crash_after_the_index_manifest() -> bool:
        return "index manifest" in left_behind() and "temporary snapshot" not in left_behind()


if GRAIN == "files" and CRASHES == 0 and TOPOLOGY != "flink" and WRITERS > 1:

    @exists
    def a_lost_race_leaves_metadata() -> bool:
        return left_behind() == {"base list", "manifest", "delta list"}


if GRAIN == "files" and CLEANUPS > 0:

    @exists
    def an_orphan_is_deleted() -> bool:
        return cleaner.cleanups > 0 and cleaner.stage == "rests"
