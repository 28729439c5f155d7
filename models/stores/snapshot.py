"""Snapshot isolation: a multi-version store, its sessions, and what isolation they get.

A transaction begins with a snapshot, reads from it, buffers its writes, and commits. Whether
everybody then sees one order of things depends on which snapshot it is, what is checked when, and
how writes become visible; whether it lasts, on what is written to disk before a client is told.
Each of these is a constant; the correct store is the default.

Left out: deletions and range queries.
"""

from typing import Literal

from statewalk import Role, action, always, any_of, config, eventually, maybe, require, terminal
from statewalk.models.stores.multiversion import levels  # noqa: F401 - its properties
from statewalk.models.stores.multiversion.conflicts import closes_dangerous_structure
from statewalk.models.stores.multiversion.disk import Entry, Keys, disk, rebuild, records_of
from statewalk.models.stores.multiversion.locking import must_give_way, release
from statewalk.models.stores.multiversion.reading import visible
from statewalk.models.stores.multiversion.replicas import replicas
from statewalk.models.stores.multiversion.rows import ROWS
from statewalk.models.stores.multiversion.settings import (
    ABORTS,
    ACK,
    CHECK,
    CRASH,
    CRASHES,
    EVERY_ORDER,
    FREE,
    LIVENESS,
    LOCKING,
    LOG,
    PUBLISH,
    RECORDS,
    REPEATS,
    REPLICAS,
    SNAPSHOT,
    STORE_CRASHES,
    VICTIM,
)
from statewalk.models.stores.multiversion.store import (
    has,
    history,
    install,
    keys_read,
    keys_written,
    store,
    versions,
    writes_to,
)
from statewalk.models.stores.multiversion.workload import (
    ALL_KEYS,
    SESSION_COUNT,
    has_done_all,
    just_begun_after,
    names_of,
    next_is,
    transactions_of,
)


# -- sessions --------------------------------------------------------------------------------------
class Session(Role):
    """A client that runs one transaction after the other."""

    stage: Literal["idle", "open", "publishing", "logging", "repeating"] = "idle"
    begun: int = 0  # transactions
    snapshot: int = 0  # the time as of which it reads
    arrived: frozenset[str] = frozenset()  # the transactions it sees, where there are replicas
    since: int = 0  # the time of its last commit, where snapshots may be old
    unpublished: list[str] = []  # keys
    records: list[Keys] = []  # that are still to be written to disk

    def name(self) -> str:
        """The transaction that is open, or was last."""
        return names_of(self.index)[self.begun - 1]

    @action
    def begin(self) -> None:
        """Take a snapshot."""
        require(self.stage == "idle" and self.begun < transactions_of(self.index))
        if FREE and self.index > 0:
            require(sessions[self.index - 1].begun > 0)  # sessions are alike: begin in their order
        if FREE and not EVERY_ORDER:
            require(not just_begun_after(self.index))
        self.snapshot = self.time_of_snapshot()
        if REPLICAS > 1:
            self.arrived = replicas[self.index % REPLICAS].received
        self.begun += 1
        self.stage = "open"
        history.ops[self.name()] = []
        history.events.append(("begin", self.name()))

    def time_of_snapshot(self) -> int:
        if SNAPSHOT == "any":
            return any_of(range(store.clock + 1))
        if SNAPSHOT == "session":
            return any_of(range(self.since, store.clock + 1))
        if SNAPSHOT == "ahead":
            return any_of([store.clock, store.clock + 1])
        return store.clock

    @action(fair="weak")
    def read(self, key: str = any_of(ALL_KEYS)) -> None:
        """Its own write if there is one, else what the variant lets it see."""
        require(self.stage == "open" and next_is(self.name(), "r", key))
        own = writes_to(self.name(), key)
        value = own[-1] if own else any_of(visible(self.name(), key, self.snapshot, self.arrived))
        history.ops[self.name()].append(("r", key, value))

    @action(fair="weak")
    def write(self, key: str = any_of(ALL_KEYS)) -> None:
        """Buffer a value that is written only once."""
        require(self.stage == "open" and next_is(self.name(), "w", key))
        if LOCKING:
            require(store.locks.get(key, self.name()) == self.name())
            if overwritten(self, key):
                self.end("abort")
                return
            store.locks[key] = self.name()
        number = len(history.ops[self.name()]) + 1
        history.ops[self.name()].append(("w", key, f"{self.name()}.{number}"))

    @action(fair="weak")
    def commit(self) -> None:
        """Check, then make the writes versions; or abort."""
        require(self.stage == "open" and has_done_all(self.name()))
        keys = keys_written(self.name())
        if must_abort(self):
            self.end("abort")
        elif PUBLISH == "by_key" and len(keys) > 1:
            self.stage = "publishing"
            self.unpublished = keys
            self.publish_next()
            history.events.append(("publish", self.name()))
        elif LOG != "none" and ACK == "logged" and keys:
            self.stage = "logging"
            self.records = records_of(self.name())
        else:
            if PUBLISH != "lost":
                self.install_all()
            elif keys:
                store.clock += 1
            if ACK == "early" and keys:
                disk.unlogged.append(self.name())
            self.end("commit")

    def install_all(self) -> None:
        keys = keys_written(self.name())
        if keys:
            store.clock += 1
        for key in keys:
            install(self.name(), key, store.clock)

    @action(fair="weak")
    def publish(self) -> None:
        """Install one more key."""
        require(self.stage == "publishing")
        self.publish_next()
        if self.unpublished:
            history.events.append(("publish", self.name()))
        else:
            self.end("commit")

    def publish_next(self) -> None:
        key = self.unpublished.pop(0)
        store.clock += 1
        install(self.name(), key, store.clock)

    if LOG != "none" and ACK == "logged":

        @action(fair="weak")
        def log(self) -> None:
            """Write one record."""
            require(self.stage == "logging" and self.records)
            disk.logged.append(Entry(self.name(), self.records.pop(0)))

        @action(fair="weak")
        def acknowledge(self) -> None:
            """All is on disk: make the writes versions, and tell the client."""
            require(self.stage == "logging" and not self.records)
            self.install_all()
            self.end("commit")

    if REPEATS != "none":

        @action(fair="weak")
        def repeat(self) -> None:
            """The client asks again to commit, having got no answer."""
            require(self.stage == "repeating")
            if REPEATS == "known" and any(has(self.name(), key) for key in ALL_KEYS):
                self.end("commit")
            elif REPEATS != "blind" and must_abort(self):
                self.end("abort")
            else:
                self.stage = "logging"
                self.records = records_of(self.name())

    @action
    def abort(self) -> None:
        """The client changes its mind."""
        require(ABORTS and self.stage == "open" and has_done_all(self.name()))
        self.end("abort")

    @action
    def crash(self) -> None:
        """The client is gone, and the store rolls its transaction back."""
        require(self.stage == "open" and crashes() < CRASHES)
        if CRASH == "rolled_back":
            self.end("crash")
        else:
            self.close("crash")

    @action(fair="weak")
    def resolve_deadlock(self) -> None:
        """The youngest of those that wait for each other in a circle aborts."""
        require(LOCKING and VICTIM == "youngest" and self.stage == "open")
        require(must_give_way(self.name()))
        self.end("abort")

    def tear(self) -> None:
        """A crash may leave the first part of the record that is being written."""
        if RECORDS != "atomic" and self.records and len(self.records[0]) > 1 and maybe():
            disk.logged.append(Entry(self.name(), self.records[0][:1], torn=True))

    def lose(self) -> None:
        """The store has crashed: what was open is gone, and nobody is told what is not."""
        found = self.stage == "logging" and any(has(self.name(), key) for key in ALL_KEYS)
        if self.stage == "logging" and REPEATS != "none":
            self.stage = "repeating"
            self.records = []
            if found:
                history.events.append(("recover", self.name()))
        elif self.stage in ("open", "logging"):
            self.close("recover" if found else "crash")

    def end(self, how: Literal["commit", "abort", "crash"]) -> None:
        release(self.name())
        self.close(how)

    def close(self, how: Literal["commit", "abort", "crash", "recover"]) -> None:
        history.events.append((how, self.name()))
        if REPLICAS > 1:
            self.arrived = frozenset()
            if how == "commit" and keys_written(self.name()):
                own = replicas[self.index % REPLICAS]
                own.received = own.received | {self.name()}
        if SNAPSHOT == "session" and how == "commit":
            self.since = store.clock
        self.records = []
        self.snapshot = 0
        self.stage = "idle"


sessions = [Session() for _ in range(SESSION_COUNT)]


def crashes() -> int:
    return sum(event[0] == "crash" for event in history.events)


if STORE_CRASHES > 0:

    @action(fault=True)
    def crash_of_the_store() -> None:
        """All is lost but the disk; the store comes back with what is there."""
        require(disk.crashes < STORE_CRASHES)
        disk.crashes += 1
        for session in sessions:
            if ACK == "logged":
                session.tear()
        disk.unlogged = []
        rebuild()
        for session in sessions:
            session.lose()


# -- whether a transaction must abort --------------------------------------------------------------
def must_abort(session: Session) -> bool:
    """What the check at the commit says."""
    name = session.name()
    if CHECK in ("none", "first_updater"):
        return False
    if any(overwritten(session, key) for key in keys_written(name)):
        return True
    if CHECK == "reads":
        return any(overwritten(session, key) for key in keys_read(name))
    if CHECK in ("ssi", "ssi_committed_only"):
        return closes_dangerous_structure(name, CHECK == "ssi_committed_only")
    return False


def overwritten(session: Session, key: str) -> bool:
    """Whether a key has a version that is not in the session's snapshot."""
    if CHECK == "replica":
        there = replicas[session.index % REPLICAS].received
        return any(v.writer in there and v.writer not in session.arrived for v in versions(key))
    if REPLICAS > 1:
        return any(v.writer not in session.arrived for v in versions(key))
    if LOG != "none" and any(is_logging(other, key) for other in sessions if other != session):
        return True
    return any(v.time > session.snapshot for v in versions(key))


def is_logging(session: Session, key: str) -> bool:
    """Whether a write to a key is on its way to disk."""
    return session.stage == "logging" and key in keys_written(session.name())


# -- the end ---------------------------------------------------------------------------------------
if LIVENESS:

    @eventually
    @always
    def terminates() -> bool:
        """Transactions that begin commit or abort."""
        return all(session.stage == "idle" for session in sessions)


@terminal
def everything_done() -> bool:
    return all(s.stage == "idle" and s.begun == transactions_of(s.index) for s in sessions)


# -- configurations --------------------------------------------------------------------------------
for row, expect, constants in ROWS:
    config(row, expect=expect, **constants)
