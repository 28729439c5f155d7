"""Snapshot isolation: a multi-version store, its sessions, and what isolation they get.

A transaction begins with a snapshot, reads from it, buffers its writes, and commits. Whether
everybody then sees one order of things depends on which snapshot it is, what is checked when, and
how writes become visible. Each of these is a constant; the correct store is the default.

Left out: deletions and range queries, and what a crash of the store leaves behind.
"""

from typing import Literal

from statewalk import Constant, Role, action, always, any_of, config, eventually, require, terminal
from statewalk.dsl.library.recording import reads_own_writes as consistent_inside
from statewalk.models.stores.conflicts import closes_dangerous_structure
from statewalk.models.stores.snapshot_rows import ROWS
from statewalk.models.stores.store import (
    ALL_KEYS,
    ALL_TRANSACTIONS,
    EVERY_ORDER,
    FREE,
    LETTERS,
    OPS,
    PUBLISH,
    READS,
    REPLICAS,
    SCRIPTS,
    SESSION_COUNT,
    history,
    install,
    just_begun_after,
    keys_read,
    keys_written,
    names_of,
    newest,
    newest_received,
    replicas,
    skips_a_key,
    store,
    transactions_of,
    versions,
    writes_to,
)
from statewalk.models.stores.verdicts import anomaly

# -- constants; those of the workload, READS and PUBLISH are in store ------------------------------
CHECK: Constant[
    Literal[
        "first_committer",  # a commit aborts if the snapshot lacks a version of a key it wrote
        "first_updater",  # a write waits for the key's lock, and aborts if there is such a version
        "replica",  # first_committer, but only against what has arrived at its own replica
        "reads",  # first_committer, and the same for the keys that it read
        "ssi",  # first_committer, and no transaction may have rw conflicts in and out
        "ssi_committed_only",  # the same, but conflicts are forgotten when the other commits
        "none",
    ]
] = "first_committer"
SNAPSHOT: Constant[
    Literal[
        "newest",  # everything that is committed when the transaction begins
        "any",  # as of any time before
        "session",  # the same, but not older than what the session itself committed last
        "ahead",  # clocks differ: it may be as of a time that a later commit is going to have
    ]
] = "newest"
VICTIM: Constant[Literal["youngest", "none"]] = "youngest"  # who aborts when locks form a circle
ABORTS: Constant[bool] = False  # whether clients may abort where they could commit
CRASHES: Constant[int] = 0  # how many sessions may fail in the middle of a transaction
CRASH: Constant[Literal["rolled_back", "locks_kept"]] = "rolled_back"
LEVEL: Constant[Literal["parallel-si", "si", "strong-session-si", "strong-si", "serializable"]] = (
    "strong-si"
)
LIVENESS: Constant[bool] = False

LOCKING = CHECK == "first_updater"

assert REPLICAS == 1 or (SNAPSHOT == "newest" and READS == "snapshot" and PUBLISH == "atomic")


# -- sessions --------------------------------------------------------------------------------------
class Session(Role):
    """A client that runs one transaction after the other."""

    stage: Literal["idle", "open", "publishing"] = "idle"
    begun: int = 0  # transactions
    snapshot: int = 0  # the time as of which it reads
    arrived: frozenset[str] = frozenset()  # the transactions it sees, where there are replicas
    since: int = 0  # the time of its last commit, where snapshots may be old
    unpublished: list[str] = []  # keys

    def name(self) -> str:
        """The transaction that is open, or was last."""
        return names_of(self.index)[self.begun - 1]

    # -- what the workload lets it do next -----------------------------------------------------
    def next_is(self, kind: str, key: str) -> bool:
        ops = history.ops[self.name()]
        if FREE:
            in_order = EVERY_ORDER or not ops or (ops[-1][0], ops[-1][1]) < (kind, key)
            return len(ops) < OPS and in_order and not skips_a_key(key)
        script = SCRIPTS[self.index][self.begun - 1]
        return len(ops) < len(script) and script[len(ops)] == (kind, key)

    def has_done_all(self) -> bool:
        done = len(history.ops[self.name()])
        if FREE:
            return done == OPS or (done > 0 and not EVERY_ORDER)
        return done == len(SCRIPTS[self.index][self.begun - 1])

    # -- actions -------------------------------------------------------------------------------
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
        require(self.stage == "open" and self.next_is("r", key))
        own = writes_to(self.name(), key)
        value = own[-1] if own else any_of(visible(self, key))
        history.ops[self.name()].append(("r", key, value))

    @action(fair="weak")
    def write(self, key: str = any_of(ALL_KEYS)) -> None:
        """Buffer a value that is written only once."""
        require(self.stage == "open" and self.next_is("w", key))
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
        require(self.stage == "open" and self.has_done_all())
        keys = keys_written(self.name())
        if must_abort(self):
            self.end("abort")
        elif PUBLISH == "by_key" and len(keys) > 1:
            self.stage = "publishing"
            self.unpublished = keys
            self.publish_next()
            history.events.append(("publish", self.name()))
        else:
            if keys:
                store.clock += 1
            for key in keys:
                if PUBLISH != "lost":
                    install(self.name(), key, store.clock)
            self.end("commit")

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

    @action
    def abort(self) -> None:
        """The client changes its mind."""
        require(ABORTS and self.stage == "open" and self.has_done_all())
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
        require(must_give_way(self))
        self.end("abort")

    def end(self, how: Literal["commit", "abort", "crash"]) -> None:
        for key in ALL_KEYS:
            if store.locks.get(key) == self.name():
                store.locks.pop(key)
        self.close(how)

    def close(self, how: Literal["commit", "abort", "crash"]) -> None:
        history.events.append((how, self.name()))
        if REPLICAS > 1:
            self.arrived = frozenset()
            if how == "commit" and keys_written(self.name()):
                own = replicas[self.index % REPLICAS]
                own.received = own.received | {self.name()}
        if SNAPSHOT == "session" and how == "commit":
            self.since = store.clock
        self.snapshot = 0
        self.stage = "idle"


sessions = [Session() for _ in range(SESSION_COUNT)]


def crashes() -> int:
    return sum(event[0] == "crash" for event in history.events)


# -- what a transaction sees -----------------------------------------------------------------------
def visible(session: Session, key: str) -> list[str | None]:
    """The values that a read of a key may return."""
    if READS == "snapshot":
        if REPLICAS > 1:
            return [newest_received(key, session.arrived)]
        return [newest(key, session.snapshot)]
    if READS == "committed":
        return [newest(key, store.clock)]
    return in_progress(session, key) or [newest(key, store.clock)]


def in_progress(reader: Session, key: str) -> list[str | None]:
    """What other open transactions have written to a key."""
    return [
        value
        for other in sessions
        if other != reader and other.stage != "idle"
        for value in exposed(other.name(), key)
    ]


def exposed(transaction: str, key: str) -> list[str | None]:
    """The writes of an open transaction that others can see."""
    mine = writes_to(transaction, key)
    return mine if READS == "intermediate" else mine[-1:]


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
    return any(v.time > session.snapshot for v in versions(key))


# -- locks -----------------------------------------------------------------------------------------
def waits_for(session: Session) -> Session | None:
    """Whose lock a session waits for."""
    if session.stage == "open":
        for key in ALL_KEYS:
            holder = store.locks.get(key)
            if holder is not None and holder != session.name() and session.next_is("w", key):
                return owner(holder)
    return None


def owner(transaction: str) -> Session:
    return sessions[LETTERS.index(transaction[0])]


def must_give_way(session: Session) -> bool:
    """Whether a session is the youngest of a circle of sessions that wait for each other."""
    circle = [session]
    after = waits_for(session)
    while after is not None and after not in circle:
        circle.append(after)
        after = waits_for(after)
    return after == session and all(
        began(other.name()) <= began(session.name()) for other in circle
    )


def began(transaction: str) -> int:
    return history.events.index(("begin", transaction))


# -- the levels, of which a run promises one -------------------------------------------------------
if LEVEL == "parallel-si":

    @always
    def parallel_si() -> bool:
        """What was seen of others is seen whole; no two that write the same key miss each other."""
        return anomaly("parallel-si") == ""


if LEVEL == "si":

    @always
    def snapshot_isolation() -> bool:
        """Each reads an earlier snapshot, of any age; no two that overlap write the same key."""
        return anomaly("si") == ""


if LEVEL == "strong-session-si":

    @always
    def strong_session_si() -> bool:
        """And the snapshot has what its own session did before."""
        return anomaly("strong-session-si") == ""


if LEVEL == "strong-si":

    @always
    def strong_si() -> bool:
        """And everything that was committed before the transaction began."""
        return anomaly("strong-si") == ""


if LEVEL == "serializable":

    @always
    def serializable() -> bool:
        """The transactions might have run one after the other."""
        return anomaly("serializable") == ""


@always
def reads_own_writes() -> bool:
    """Where a transaction has written a key, it reads what it wrote last."""
    return all(
        consistent_inside(history.ops[name][:]) for name in ALL_TRANSACTIONS if name in history.ops
    )


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
