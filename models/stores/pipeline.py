"""The parts of the dataflow store: log, engine, outputs and client, and what they do.

See `dataflow` for what must hold of them.
"""

from typing import Literal

from statewalk import Constant, Record, Role, State, action, any_of, init, mutant, require
from statewalk.models.stores.maintenance import (
    Rows,
    differences,
    kept_edges,
    kept_look_up,
    kept_reach,
)
from statewalk.models.stores.resolution import (
    Counts,
    How,
    Item,
    Resolution,
    Transaction,
    resolve,
    summed,
)
from statewalk.models.stores.workloads import ITEMS, SCRIPTS, Workload, starts

# -- constants -------------------------------------------------------------------------------------
WORKLOAD: Constant[Workload] = "mutual"
TRANSACTIONS: Constant[int] = 2  # of the free workload
REMOVALS: Constant[bool] = True  # whether the free workload has them
EPOCHS: Constant[Literal["any", "each", "one"]] = "any"  # how the log is cut
HOW: Constant[How] = "ordered"  # how an epoch is resolved
SERVE: Constant[bool] = True  # outputs, durability and acknowledgements, or resolution alone
ACK: Constant[Literal["durable", "early"]] = "durable"  # early: before the epoch is on disk
RECOVERY: Constant[Literal["replay", "differences"]] = "replay"
CRASHES: Constant[int] = 0

SCRIPT = SCRIPTS[WORKLOAD]
LENGTH = TRANSACTIONS if WORKLOAD == "free" else len(SCRIPT)
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
    saved: list[Resolution] = []  # differences on disk
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
        require(len(self.saved) < min(log.durable, len(self.resolved)))
        self.saved.append(self.resolved[len(self.saved)])

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
        require(not self.up)
        self.up = True
        self.collection = log.start
        for resolution in self.saved:
            self.collection = summed((*self.collection, *resolution.changes))
        self.resolved = self.saved


class Change(Record):
    """Of an answer: a row is so many times more in it from an epoch on."""

    epoch: int
    row: Item
    count: int


class Output(Role):
    answers: Literal["look_up", "reach"] = "look_up"
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
        answer = self.kept(after, queries(epoch), queries(epoch + 1))
        for row, count in differences(self.current, answer):
            self.changes.append(Change(epoch, row, count))
        self.edges = after
        self.current = answer
        self.frontier += 1

    def kept(self, after: Counts, before: "Queries", now: "Queries") -> Rows:
        if self.answers == "reach":
            return kept_reach(self.current, now.roots, self.edges, after)
        new = now.look_ups - before.look_ups
        return kept_look_up(self.current, new, now.look_ups, after, differences(self.edges, after))

    @action(fair="weak")
    def report(self) -> None:
        require(SERVE and engine.up and self.reported < self.frontier)
        self.reported = self.frontier

    def forget(self) -> None:
        self.frontier = self.reported = 0
        self.edges = log.start
        self.current = ()
        self.changes = []


class Queries(Record):
    """The nodes with standing queries."""

    look_ups: frozenset[int]
    roots: frozenset[int]


def queries(epochs: int) -> Queries:
    """Those that committed transactions of the first epochs have registered."""
    live = [
        t
        for epoch in range(epochs)
        for t in log.epochs[epoch]
        if t.tid not in engine.resolved[epoch].aborted
    ]
    return Queries(
        frozenset(node for t in live for node in t.look_ups),
        frozenset(node for t in live for node in t.roots),
    )


# -- the client ------------------------------------------------------------------------------------
class Told(Record):
    """What a client knows of an epoch: the transactions that aborted and the answers after it."""

    aborted: frozenset[int]
    looked_up: Rows
    reached: Rows


class Client(State):
    told: list[Told] = []  # by epoch acknowledged

    @action(fair="weak")
    def acknowledge(self) -> None:
        epoch = len(self.told)
        require(SERVE and engine.up and epoch < min(output.reported for output in outputs))
        require(ACK == "early" or epoch < log.durable)
        self.told.append(
            Told(
                engine.resolved[epoch].aborted, answer(outputs[0], epoch), answer(outputs[1], epoch)
            )
        )


def answer(output: Output, epoch: int) -> Rows:
    """An answer as it was after an epoch, from the changes."""
    return summed((c.row, c.count) for c in output.changes if c.epoch <= epoch)


log = Log()
engine = Engine()
outputs = [Output(answers="look_up"), Output(answers="reach")]
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
    for resolution in self.saved:
        self.collection = summed((*self.collection, *resolution.changes))
