"""An application writes to a database and to Kafka: both, or neither."""

from typing import Literal

from statewalk import (
    Auxiliary,
    Constant,
    Record,
    Role,
    action,
    always,
    any_of,
    exists,
    mutant,
    require,
    terminal,
)

TXNS: Constant[int] = 1
CRASHES: Constant[int] = 1
TIMEOUTS: Constant[int] = 0  # transactions that Kafka may abort by itself
# A new instance has what is open aborted, or (KIP-939) asks the database what to do with it.
RECOVERY: Constant[Literal["abort", "kip939"]] = "abort"

Outcome = Literal["commit", "abort"]


class Open(Record):
    """A transaction of Kafka's that is not decided; ``epoch`` is that of who began it."""

    epoch: int
    txn: int
    written_by: frozenset[int] = frozenset()  # the instances whose records are in it


class Ghost(Record):
    """An instance that is not as dead as it seems."""

    instance: int
    epoch: int


class Application(Role):
    state: Literal["down", "ready", "writing", "prepared", "decided", "recovering"] = "ready"
    epoch: int = 0
    txn: int = 0
    ghosts: list[Ghost] = []

    def instance(self) -> int:
        return len(self.ghosts)

    @action
    def begin(self) -> None:
        require(self.state == "ready" and self.txn < TXNS)
        self.txn += 1
        self.state = "writing"

    @action
    def write(self) -> None:
        """To both. In the database that is seen by nobody until it commits."""
        require(self.state == "writing")
        self.state = "prepared" if kafka.write(self.epoch, self.txn, self.instance()) else "ready"

    @action
    def decide(self) -> None:
        """The database commits, or not; the ids of Kafka's transaction are in one of its rows."""
        require(self.state == "prepared")
        if any_of([True, False]):
            database.committed.add(self.txn)
            database.prepared = self.epoch
        self.state = "decided"

    @action
    def tell_kafka(self) -> None:
        require(self.state == "decided")
        kafka.end(self.epoch, "commit" if self.txn in database.committed else "abort")
        self.epoch = kafka.epoch
        self.state = "ready"

    @action
    def crash(self) -> None:
        require(self.state != "down" and len(self.ghosts) < CRASHES)
        self.ghosts.append(Ghost(self.instance(), self.epoch))
        self.state = "down"

    @action
    def start(self) -> None:
        require(self.state == "down")
        kafka.recover()
        if RECOVERY == "kip939":
            self.state = "recovering"
        else:
            kafka.close("abort")
            self.state = "ready"
        self.epoch = kafka.epoch

    if RECOVERY == "kip939":

        @action
        def complete(self) -> None:
            """Tell Kafka what the database knows."""
            require(self.state == "recovering")
            kafka.complete(database.prepared)
            self.epoch = kafka.epoch
            self.state = "ready"

    @action
    def write_as_a_ghost(self) -> None:
        """It still has a record to write, and does not know how late it is."""
        ghost = any_of(self.ghosts)
        require(kafka.open is not None)
        kafka.write(ghost.epoch, self.txn, ghost.instance)


class Database(Role):
    committed: set[int] = set()
    prepared: int = -1  # the epoch of the last transaction it has committed


class Kafka(Role):
    epoch: int = 0  # of who may speak
    open: Open | None = None
    outcomes: Auxiliary[dict[int, Outcome]] = {}
    timeouts: int = 0

    def write(self, epoch: int, txn: int, instance: int) -> bool:
        if epoch != self.epoch:
            return False
        if self.open is None:
            self.open = Open(epoch, txn)
        self.open.written_by |= {instance}
        return True

    def end(self, epoch: int, outcome: Outcome) -> None:
        if epoch == self.epoch:
            self.close(outcome)

    def close(self, outcome: Outcome) -> None:
        """Each transaction has an epoch of its own (KIP-890), so the next begins with a new one."""
        if self.open is not None:
            self.outcomes[self.open.txn] = outcome
            self.open = None
            self.epoch += 1

    def recover(self) -> None:
        """A new instance comes, and those before are fenced."""
        self.epoch += 1

    def complete(self, prepared: int) -> None:
        """Commit what is open if it is what was prepared, else abort it."""
        if self.open is not None:
            self.close("commit" if self.open.epoch == prepared else "abort")

    if TIMEOUTS > 0:

        @action
        def time_out(self) -> None:
            require(self.open is not None and self.timeouts < TIMEOUTS)
            self.timeouts += 1
            self.close("abort")


application = Application()
database = Database()
kafka = Kafka()


@always
def both_or_neither() -> bool:
    """What Kafka has ended is committed there exactly where it is in the database."""
    return all(
        (outcome == "commit") == (txn in database.committed)
        for txn, outcome in kafka.outcomes.items()
    )


@exists
def both() -> bool:
    return "commit" in kafka.outcomes.values() and bool(database.committed)


@exists
def neither() -> bool:
    return "abort" in kafka.outcomes.values() and not database.committed


@terminal
def at_rest() -> bool:
    return application.state == "ready" and application.txn == TXNS


@mutant(Kafka.recover)
def same_epoch(self: Kafka) -> None:
    """A new instance gets the epoch of the one before."""


@always
def one_writer() -> bool:
    """The records of a transaction are of one instance."""
    return kafka.open is None or len(kafka.open.written_by) <= 1
