"""Sessions of the store: what it does for a client, from a snapshot to the end of a transaction.

A session has one transaction at a time. What its client asks comes from `clients`.
"""

from typing import Literal

from statewalk import Role, action, any_of, maybe, require
from statewalk.models.stores.multiversion.conflicts import closes_dangerous_structure
from statewalk.models.stores.multiversion.disk import Entry, Keys, disk, records_of
from statewalk.models.stores.multiversion.locking import may_lock, must_give_way, release, take
from statewalk.models.stores.multiversion.reading import visible
from statewalk.models.stores.multiversion.replicas import arrive, here
from statewalk.models.stores.multiversion.settings import (
    ACK,
    CHECK,
    LOCKING,
    LOG,
    PUBLISH,
    RECORDS,
    REPEATS,
    REPLICAS,
    SNAPSHOT,
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
from statewalk.models.stores.multiversion.workload import ALL_KEYS, SESSION_COUNT


class Session(Role):
    """The store's state of a client."""

    stage: Literal["idle", "open", "publishing", "logging", "repeating"] = "idle"
    transaction: str = ""  # that is open, or was last
    snapshot: int = 0  # the time as of which it reads
    arrived: frozenset[str] = frozenset()  # the transactions it sees, where there are replicas
    since: int = 0  # the time of its last commit, where snapshots may be old
    unpublished: list[str] = []  # keys
    records: list[Keys] = []  # that are still to be written to disk

    def start(self, transaction: str) -> None:
        """Take a snapshot."""
        self.snapshot = self.time_of_snapshot()
        if REPLICAS > 1:
            self.arrived = here(self.index)
        self.transaction = transaction
        self.stage = "open"
        history.ops[transaction] = []
        history.events.append(("begin", transaction))

    def time_of_snapshot(self) -> int:
        if SNAPSHOT == "any":
            return any_of(range(store.clock + 1))
        if SNAPSHOT == "session":
            return any_of(range(self.since, store.clock + 1))
        if SNAPSHOT == "ahead":
            return any_of([store.clock, store.clock + 1])
        return store.clock

    def answer(self, key: str) -> str | None:
        """Its own write if there is one, else what the variant lets it see."""
        own = writes_to(self.transaction, key)
        if own:
            return own[-1]
        return any_of(visible(self.transaction, key, self.snapshot, self.arrived))

    def put(self, key: str, value: str) -> None:
        """Buffer a write, with a lock where there are locks."""
        if LOCKING:
            require(may_lock(self.transaction, key))
            if overwritten(self, key):
                self.end("abort")
                return
            take(self.transaction, key)
        history.ops[self.transaction].append(("w", key, value))

    def finish(self) -> None:
        """Check, then make the writes versions; or abort."""
        keys = keys_written(self.transaction)
        if must_abort(self):
            self.end("abort")
        elif PUBLISH == "by_key" and len(keys) > 1:
            self.stage = "publishing"
            self.unpublished = keys
            self.publish_next()
            history.events.append(("publish", self.transaction))
        elif LOG != "none" and ACK == "logged" and keys:
            self.stage = "logging"
            self.records = records_of(self.transaction)
        else:
            if PUBLISH != "lost":
                self.install_all()
            elif keys:
                store.clock += 1
            if ACK == "early" and keys:
                disk.unlogged.append(self.transaction)
            self.end("commit")

    def install_all(self) -> None:
        keys = keys_written(self.transaction)
        if keys:
            store.clock += 1
        for key in keys:
            install(self.transaction, key, store.clock)

    @action(fair="weak")
    def publish(self) -> None:
        """Install one more key."""
        require(self.stage == "publishing")
        self.publish_next()
        if self.unpublished:
            history.events.append(("publish", self.transaction))
        else:
            self.end("commit")

    def publish_next(self) -> None:
        key = self.unpublished.pop(0)
        store.clock += 1
        install(self.transaction, key, store.clock)

    if LOG != "none" and ACK == "logged":

        @action(fair="weak")
        def log(self) -> None:
            """Write one record."""
            require(self.stage == "logging" and self.records)
            disk.logged.append(Entry(self.transaction, self.records.pop(0)))

        @action(fair="weak")
        def acknowledge(self) -> None:
            """All is on disk: make the writes versions, and tell the client."""
            require(self.stage == "logging" and not self.records)
            self.install_all()
            self.end("commit")

    if REPEATS != "none":

        def ask_again(self) -> None:
            """A client has got no answer to its commit."""
            if REPEATS == "known" and any(has(self.transaction, key) for key in ALL_KEYS):
                self.end("commit")
            elif REPEATS != "blind" and must_abort(self):
                self.end("abort")
            else:
                self.stage = "logging"
                self.records = records_of(self.transaction)

    @action(fair="weak")
    def resolve_deadlock(self) -> None:
        """The youngest of those that wait for each other in a circle aborts."""
        require(LOCKING and VICTIM == "youngest" and self.stage == "open")
        require(must_give_way(self.transaction))
        self.end("abort")

    def tear(self) -> None:
        """A crash may leave the first part of the record that is being written."""
        if RECORDS != "atomic" and self.records and len(self.records[0]) > 1 and maybe():
            disk.logged.append(Entry(self.transaction, self.records[0][:1], torn=True))

    def lose(self) -> None:
        """The store has crashed: what was open is gone, and nobody is told what is not."""
        found = self.stage == "logging" and any(has(self.transaction, key) for key in ALL_KEYS)
        if self.stage == "logging" and REPEATS != "none":
            self.stage = "repeating"
            self.records = []
            if found:
                history.events.append(("recover", self.transaction))
        elif self.stage in ("open", "logging"):
            self.close("recover" if found else "crash")

    def end(self, how: Literal["commit", "abort", "crash"]) -> None:
        release(self.transaction)
        self.close(how)

    def close(self, how: Literal["commit", "abort", "crash", "recover"]) -> None:
        history.events.append((how, self.transaction))
        if REPLICAS > 1:
            self.arrived = frozenset()
            if how == "commit" and keys_written(self.transaction):
                arrive(self.index, self.transaction)
        if SNAPSHOT == "session" and how == "commit":
            self.since = store.clock
        self.records = []
        self.snapshot = 0
        self.stage = "idle"


sessions = [Session() for _ in range(SESSION_COUNT)]


# -- whether a transaction must abort --------------------------------------------------------------
def must_abort(session: Session) -> bool:
    """Return what the check at the commit says."""
    name = session.transaction
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
    """Return whether a key has a version that is not in the session's snapshot."""
    if CHECK == "replica":
        there = here(session.index)
        return any(v.writer in there and v.writer not in session.arrived for v in versions(key))
    if REPLICAS > 1:
        return any(v.writer not in session.arrived for v in versions(key))
    if LOG != "none" and any(is_logging(other, key) for other in sessions if other != session):
        return True
    return any(v.time > session.snapshot for v in versions(key))


def is_logging(session: Session, key: str) -> bool:
    """Return whether a write to a key is on its way to disk."""
    return session.stage == "logging" and key in keys_written(session.transaction)
