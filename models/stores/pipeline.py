"""The parts of the dataflow store: log, engine, outputs and client, and what they do.

See `dataflow` for what must hold of them.
"""

from statewalk import Record, Role, State, action, any_of, init, mutant, require
from statewalk.models.stores.dataflow_settings import (
    ACK,
    CRASHES,
    DAMAGE,
    EPOCHS,
    HOW,
    LENGTH,
    MERGES,
    RECOVERY,
    REMOVALS,
    SCRIPT,
    SERVE,
    WORKLOAD,
)
from statewalk.models.stores.maintenance import (
    Change,
    Rows,
    differences,
    kept,
    kept_edges,
    merged,
)
from statewalk.models.stores.resolution import (
    Answers,
    Counts,
    Item,
    Resolution,
    Transaction,
    resolve,
    summed,
)
from statewalk.models.stores.saving import Saved, usable
from statewalk.models.stores.workloads import ITEMS, OUTPUTS, SERVED, starts

Epoch = tuple[Transaction, ...]


# -- the log ---------------------------------------------------------------------------------------
class Log(State):
    start: Counts = ()  # the collection before the first epoch
    epochs: list[Epoch] = []
    buffer: Epoch = ()
    submitted: int = 0  # transactions; those lost in a crash are not submitted again
    durable: int = 0  # epochs on disk

    @action(fair="weak")
    def submit(self) -> None:
        require(engine.up and self.submitted < LENGTH)
        require(EPOCHS != "each" or not self.buffer)
        t = free(self.submitted + 1) if WORKLOAD == "free" else SCRIPT[self.submitted]
        self.buffer = (*self.buffer, t)
        self.submitted += 1

    @action(fair="weak")
    def close_epoch(self) -> None:
        require(engine.up and self.buffer)
        require(EPOCHS != "one" or self.submitted == LENGTH)
        self.epochs.append(self.buffer)
        self.buffer = ()

    @action(fair="weak")
    def persist(self) -> None:
        require(SERVE and engine.up and self.durable < len(self.epochs))
        self.durable += 1


def free(tid: int) -> Transaction:
    """A transaction with one requirement and one change at most."""
    required: Item | None = any_of((None, *ITEMS))
    changed: Item | None = any_of((None, *ITEMS))
    count = 0 if changed is None else any_of((1, -1)) if REMOVALS else 1
    return Transaction(
        tid,
        () if required is None else (required,),
        () if changed is None else ((changed, count),),
    )


# -- the engine and its outputs --------------------------------------------------------------------
class Engine(Role):
    up: bool = True
    resolved: list[Resolution] = []  # by epoch
    collection: Counts = ()
    saved: list[Saved] = []  # differences on disk
    crashes: int = 0

    @action(fair="weak")
    def resolve_epoch(self) -> None:
        epoch = len(self.resolved)
        require(self.up and epoch < len(log.epochs))
        resolution = resolve(self.collection, log.epochs[epoch], HOW)
        self.resolved.append(resolution)
        self.collection = summed((*self.collection, *resolution.changes))

    @action(fair="weak")
    def save_differences(self) -> None:
        require(SERVE and self.up and RECOVERY == "differences")
        epoch = len(self.saved)
        require(epoch < min(log.durable, len(self.resolved)))
        self.saved.append(Saved(epoch, self.resolved[epoch]))

    @action
    def crash(self) -> None:
        """All is lost but the disk."""
        require(self.up and self.crashes < CRASHES)
        self.crashes += 1
        self.up = False
        self.resolved = []
        self.collection = ()
        log.buffer = ()
        log.epochs = log.epochs[: log.durable]
        for output in outputs:
            output.forget()

    @action(fair="weak")
    def recover(self) -> None:
        """Add up what was saved, as far as it is sound; the log has the rest."""
        require(not self.up)
        self.up = True
        self.saved = usable(self.saved[:])
        self.resolved = [saved.resolution for saved in self.saved]
        self.collection = before(len(self.resolved))

    if DAMAGE != "none":
        harmed: bool = False  # whether one of them was

        @action
        def harm(self) -> None:
            """While nobody looks, one of the saved differences is damaged, or gets lost."""
            require(not self.up and not self.harmed and self.saved)
            self.harmed = True
            epoch = any_of(range(len(self.saved)))
            if DAMAGE == "lost":
                self.saved.pop(epoch)
            else:
                self.saved[epoch] = Saved(epoch, Resolution(frozenset(), (), 1), sound=False)


def before(epoch: int) -> Counts:
    """The collection that an epoch is resolved on."""
    resolved = engine.resolved[:epoch]
    return summed((*log.start, *(pair for r in resolved for pair in r.changes)))


class Output(Role):
    answers: Answers = "look_up"
    frontier: int = 0  # epochs taken in
    reported: int = 0  # epochs said to be complete
    edges: Counts = ()
    current: Rows = ()
    changes: list[Change] = []  # emitted

    @action(fair="weak")
    def advance(self) -> None:
        """Take in the differences of the next epoch and emit the changes of the answer."""
        epoch = self.frontier
        require(SERVE and engine.up and epoch < len(engine.resolved))
        after = kept_edges(self.edges, engine.resolved[epoch].changes)
        nodes = asked(self.answers, epoch), asked(self.answers, epoch + 1)
        answer = kept(self.answers, self.current, nodes, (self.edges, after))
        for row, count in differences(self.current, answer):
            self.changes.append(Change(epoch, row, count))
        self.edges = after
        self.current = answer
        self.frontier += 1

    @action(fair="weak")
    def report(self) -> None:
        require(SERVE and engine.up and self.reported < self.frontier)
        self.reported = self.frontier

    if MERGES:

        @action(fair="weak")
        def merge(self) -> None:
            """Take the changes of all epochs that nobody will ask for to the first one that is."""
            changes = merged(self.changes[:], mergeable(self))
            require(engine.up and self.changes != changes)
            self.changes = changes

    def forget(self) -> None:
        self.frontier = self.reported = 0
        self.edges = log.start
        self.current = ()
        self.changes = []


def mergeable(output: Output) -> int:
    """The first epoch that somebody may still ask for, of those that the output has taken in."""
    return min(len(client.told), output.frontier)


def asked(answers: Answers, epochs: int) -> frozenset[int]:
    """The nodes with standing queries after the first epochs, by their committed transactions."""
    counts: dict[int, int] = {}
    for epoch in range(epochs):
        for t in log.epochs[epoch]:
            if t.tid not in engine.resolved[epoch].aborted:
                for kind, node, count in t.queries:
                    if kind == answers:
                        counts[node] = counts.get(node, 0) + count
    return frozenset(node for node, count in counts.items() if count > 0)


# -- the client ------------------------------------------------------------------------------------
class Told(Record):
    """A client's knowledge of an epoch: the transactions that aborted and each answer after it."""

    aborted: frozenset[int]
    answers: tuple[Rows, ...]


class Client(State):
    told: list[Told] = []  # by epoch acknowledged

    @action(fair="weak")
    def acknowledge(self) -> None:
        epoch = len(self.told)
        require(SERVE and engine.up and epoch < min(output.reported for output in outputs))
        require(ACK == "early" or epoch < log.durable)
        answers = tuple(answer(output, epoch) for output in outputs)
        self.told.append(Told(engine.resolved[epoch].aborted, answers))


def answer(output: Output, epoch: int) -> Rows:
    """An answer as it was after an epoch, from the changes."""
    return summed((c.row, c.count) for c in output.changes if c.epoch <= epoch)


log = Log()
engine = Engine()
outputs = [Output(answers=answers) for answers in OUTPUTS.get(WORKLOAD, SERVED)]
client = Client()


@init
def some_collection() -> None:
    log.start = any_of(starts(WORKLOAD) if REMOVALS else starts(WORKLOAD)[:2])
    engine.collection = log.start
    for output in outputs:
        output.edges = log.start


# -- mutants; more of them in resolution and maintenance -------------------------------------------
@mutant(Output.report)
def early_frontier(self: Output) -> None:
    """An output reports what has been resolved, not what it has taken in."""
    require(SERVE and engine.up and self.reported < len(engine.resolved))
    self.reported = len(engine.resolved)


@mutant(Engine.recover)
def replay_twice(self: Engine) -> None:
    """After a crash, the saved differences are loaded and the log replayed as well."""
    require(not self.up)
    self.up = True
    self.collection = log.start
    for saved in self.saved:
        self.collection = summed((*self.collection, *saved.resolution.changes))


@mutant(mergeable)
def all_that_is_complete(output: Output) -> int:
    """Changes are merged up to the last epoch that is complete, whoever lags behind."""
    return max(output.reported - 1, 0)


@mutant(asked)
def asked_or_not(answers: Answers, epochs: int) -> frozenset[int]:
    """A query is there or not: taking it back once is enough, however often it was registered."""
    nodes: set[int] = set()
    for epoch in range(epochs):
        for t in log.epochs[epoch]:
            if t.tid not in engine.resolved[epoch].aborted:
                for kind, node, count in t.queries:
                    if kind == answers:
                        nodes = nodes | {node} if count > 0 else nodes - {node}
    return frozenset(nodes)
