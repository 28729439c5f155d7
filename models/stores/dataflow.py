"""A database that is a function of its input log: resolve, maintain, acknowledge, recover.

Clients append transactions to a log, which is cut into epochs. The engine resolves one epoch after
the other: which transactions abort, and what the others add to the collection. Two outputs take
these differences in, each at its own pace, and emit the changes of their answers: the look-ups and
the nodes got to from a root. A client is told of an epoch when both outputs report it complete.
Everything but the durable part of the log, and what clients were told, can be lost in a crash and
is computed again.

A transaction is appended as a whole: its records would otherwise fall into two epochs, and an epoch
is what is resolved together.
"""

from statewalk import always, config, eventually, exists, old, on_step, terminal
from statewalk.dsl.library.recording import Recorded
from statewalk.models.stores.dataflow_rows import ROWS
from statewalk.models.stores.dataflow_settings import (
    CRASHES,
    EPOCHS,
    HOW,
    LENGTH,
    SERVE,
    WORKLOAD,
)
from statewalk.models.stores.maintenance import Rows, recomputed
from statewalk.models.stores.pipeline import (
    Epoch,
    Output,
    asked,
    before,
    client,
    engine,
    log,
    outputs,
)
from statewalk.models.stores.resolution import (
    Item,
    Resolution,
    executions,
    in_order_of_ids,
    resolve,
    summed,
)
from statewalk.models.stores.workloads import ABORTED, CHANGED


def sequentially(epochs: list[Epoch]) -> list[Resolution]:
    """Return what executing the log in the order of ids gives."""
    collection, found = log.start, []
    for epoch in epochs:
        found.append(resolve(collection, epoch, "sequential"))
        collection = summed((*collection, *found[-1].changes))
    return found


@always
def ordered_equals_sequential() -> bool:
    """The same transactions abort, and the same collection comes of it, as one after the other."""
    resolved = engine.resolved
    expected = sequentially(log.epochs[: len(resolved)])
    return all(
        (a.aborted, a.changes) == (b.aborted, b.changes)
        for a, b in zip(resolved, expected, strict=True)
    )


@always
def fixpoint_terminates() -> bool:
    """A batch of n transactions settles within n + 1 rounds."""
    return all(resolution.settled for resolution in engine.resolved)


@always
def deterministic() -> bool:
    """Arriving the other way round, or being shared by two workers, changes no outcome."""
    return all(
        resolve(before(e), tuple(reversed(log.epochs[e])), HOW) == engine.resolved[e]
        and resolve(before(e), log.epochs[e], HOW, workers=2) == engine.resolved[e]
        for e in range(len(engine.resolved))
    )


@always
def serial_in_order_of_ids() -> bool:
    """The reads of committed transactions are a serial execution in the order of ids."""
    return in_order_of_ids(executions(log.epochs, engine.resolved, HOW)).holds


@always
def maintained_equals_recomputed() -> bool:
    """Each answer is what asking afresh gives, whatever was inserted and removed."""
    return all(output.current == afresh(output, output.frontier) for output in outputs)


def afresh(output: Output, epochs: int) -> Rows:
    return recomputed(output.answers, asked(output.answers, epochs), before(epochs))


@always
def changes_sum_to_state() -> bool:
    """The changes emitted add up to the answer."""
    return all(
        summed((c.row, c.count) for c in output.changes) == output.current for output in outputs
    )


@on_step
def frontier_honest() -> bool:
    """No change is emitted for an epoch that was reported complete."""
    return all(
        change.epoch >= old(output.reported)
        for output in outputs
        for change in output.changes[old(len(output.changes)) :]
    )


@always
def durable_ack() -> bool:
    """Answers to a client stay true: its epochs are in the log, and resolve to what it
    knows.
    """
    return len(client.told) <= len(log.epochs) and all(
        told.aborted == engine.resolved[e].aborted
        and told.answers == tuple(afresh(output, e + 1) for output in outputs)
        for e, told in enumerate(client.told)
        if e < len(engine.resolved)
    )


@always
def replay_idempotent() -> bool:
    """The collection holds each epoch resolved once, also after a crash."""
    return not engine.up or engine.collection == before(len(engine.resolved))


def recorded_history() -> tuple[Recorded, ...]:
    """The committed transactions as clients would record them: an epoch's run side by side."""
    done = executions(log.epochs, engine.resolved, HOW)
    found = []
    for at, t in enumerate(done):
        first = sum(other.name[0] < t.name[0] for other in done)  # of its epoch
        reads = [("r", key(item), None if w is None else value(w)) for item, w in t.reads]
        writes = [("w", key(item), value(t.name)) for item in t.writes]
        text = f"{t.name[0]}.{t.name[1]}"
        begin, end = 2 * first, 2 * at + 1
        found.append(Recorded(text, text, (*reads, *writes), "ok", begin, end))
    return tuple(found)


def key(item: Item) -> str:
    return "-".join(str(part) for part in item)


def value(name: tuple[int, int]) -> int:
    """A number for a version that no other transaction of the log has."""
    return name[0] * LENGTH + name[1]


if WORKLOAD in CHANGED and EPOCHS == "each" and CRASHES == 0:

    @always
    def session_answers() -> bool:
        """Clients get the answers that are written down with the workload."""
        return all(
            told.aborted == frozenset(t for t in ABORTED[WORKLOAD] if t == e + 1)
            and all(
                rows == summed(pair for epoch in CHANGED[WORKLOAD][: e + 1] for pair in epoch[o])
                for o, rows in enumerate(told.answers)
            )
            for e, told in enumerate(client.told)
        )


if SERVE:

    @eventually
    @always
    def all_acknowledged() -> bool:
        """In the end, clients have been told of everything that the log has."""
        return engine.up and not log.buffer and len(client.told) == len(log.epochs)


if WORKLOAD in ("free", "session", "colours") or (WORKLOAD == "mutual" and HOW != "naive"):

    @exists
    def some_abort() -> bool:
        return any(resolution.aborted for resolution in engine.resolved)


@terminal
def at_rest() -> bool:
    return log.submitted == LENGTH and not log.buffer and len(engine.resolved) == len(log.epochs)


for name, expect, constants in ROWS:
    config(name, expect=expect, **constants)
