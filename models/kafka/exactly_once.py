"""Kafka transactions, part 3: exactly once, and the proposals that mended it.

A producer begins a transaction, sends records to partitions, and ends it. The coordinator decides,
and has the leader of each partition write a marker; consumers see what a commit marker closes. The
network may keep a batch, a request or a marker for long, and repeat it. What then goes wrong with
the protocol as first shipped, and which later proposal mends it, is what this model is for.

Who takes part is told in `parties`, and who holds what:

- coordinators (`ending`): the metadata of a transactional id each, as in part 2 (`metadata`), and
  which partitions have not acknowledged a marker;
- the leader of a data partition (`leader`): a log of batches and markers, what it knows of each
  producer id (epoch, last sequence number, where the open transaction begins), batches on their
  way, and, with KIP-890 part 1, those between the check and the append;
- producers (`producer`): instances of one application, of which the last is no zombie; each has its
  producer id and epoch, and the transaction it is in;
- consumers of both isolation levels (`consumer`), where there are any;
- brokers that take batches, and diskless coordinators that order them (`diskless`), in place of
  leaders, where topics are diskless;
- a database (`two_phase`), where the application commits to one, too;
- history, for properties: which transactions were decided how, and what producers were told.

`proposals` has the constants: `VARIANT`, `CLIENT`, and a budget for each fault; `mutants` has
defects. A call of the coordinator is one step with its answer. Properties are here, runs in
`exactly_once_rows` and `exactly_once_larger`.

Left out: replication (part 2, `replication`). Without consumers, what they could see follows from
the last stable offset and the marker that closes each batch. Consumer groups are in `groups`.
"""

from statewalk import always, config, eventually, exists, leads_to, old, on_step, pairs, terminal
from statewalk.models.kafka.exactly_once_diskless import ROWS as DISKLESS_ROWS
from statewalk.models.kafka.exactly_once_larger import LARGER
from statewalk.models.kafka.exactly_once_rows import ROWS
from statewalk.models.kafka.metadata import DECIDED
from statewalk.models.kafka.parties.consumer import read_committed, read_uncommitted
from statewalk.models.kafka.parties.diskless_settings import BARRIER, DISKLESS
from statewalk.models.kafka.parties.ending import (
    Coordinator,
    ProducerId,
    coordinator_of,
    coordinators,
    history,
)
from statewalk.models.kafka.parties.leader import Batch, Partition, partitions
from statewalk.models.kafka.parties.producer import Producer, producers
from statewalk.models.kafka.parties.proposals import (
    CONSUMERS,
    DATABASE,
    DELAYED_PRODUCE,
    GUARD,
    MAX_EPOCH,
    PRODUCERS,
    RECORDS,
    TXN_TIMEOUTS,
    TXNS,
    VARIANT,
    ZOMBIES,
    txn_timeout,
)
from statewalk.models.kafka.parties.two_phase import databases


# -- safety: what is in the logs -----------------------------------------------------------------
@always
def no_hanging_txn() -> bool:
    """An open transaction in a log is one that the coordinator knows, and will end."""
    return all(
        will_be_ended(partition, pid)
        for partition in partitions
        for pid in partition.known
        if partition.is_open(pid)
    )


def will_be_ended(partition: Partition, pid: int) -> bool:
    return any(will_end(c, partition) for c in coordinators if c.metadata.pid == pid)


def will_end(coordinator: Coordinator, partition: Partition) -> bool:
    now = coordinator.metadata
    if now.state in DECIDED:
        return partition.index in coordinator.unmarked
    return now.state == "Ongoing" and partition.index in now.partitions


@always
def aborted_never_committed() -> bool:
    """Only records of transactions that their producers committed are committed in a log."""
    return all(
        batch.txn in history.committed
        for partition in partitions
        for offset, batch in enumerate(partition.log)
        if isinstance(batch, Batch) and is_ended(partition, offset, commit=True)
    )


@always
def committed_never_aborted() -> bool:
    """No record of a committed transaction is aborted in a log."""
    return all(
        batch.txn not in history.committed
        for partition in partitions
        for offset, batch in enumerate(partition.log)
        if isinstance(batch, Batch) and is_ended(partition, offset, commit=False)
    )


def is_ended(partition: Partition, offset: int, commit: bool) -> bool:
    marker = partition.ending(offset)
    return marker is not None and marker.commit == commit


@always
def committed_is_visible() -> bool:
    """Once the coordinator is done, all records of a committed transaction are committed.

    A consumer that reads what is committed sees all of them once the last stable offset lets it.
    """
    return all(
        committed_records(txn) == RECORDS
        for txn in history.committed
        if not any(c.txn == txn and c.metadata.state in DECIDED for c in coordinators)
    )


def committed_records(txn: int) -> int:
    return sum(
        isinstance(batch, Batch) and batch.txn == txn and is_ended(partition, offset, commit=True)
        for partition in partitions
        for offset, batch in enumerate(partition.log)
    )


@on_step
def last_stable_offset_monotone() -> bool:
    return all(p.last_stable_offset() >= old(p.last_stable_offset()) for p in partitions)


@always
def epochs_monotone() -> bool:
    """Along a log, the epochs of a producer id never decrease."""
    return all(
        a.id.pid != b.id.pid or a.id.epoch <= b.id.epoch
        for p in partitions
        for n, b in enumerate(p.log)
        for a in p.log[:n]
    )


@always
def no_duplicate_record() -> bool:
    return all(
        sum(isinstance(e, Batch) and (e.txn, e.number) == (b.txn, b.number) for e in p.log) == 1
        for p in partitions
        for b in p.log
        if isinstance(b, Batch)
    )


if CONSUMERS:

    @always
    def read_committed_returns_what_is_committed() -> bool:
        """Not what is undecided or aborted: by the producers' word, not by the log's."""
        return all(
            batch.txn in history.committed
            for partition in partitions
            for offset, batch in enumerate(partition.log)
            if isinstance(batch, Batch)
            and any(consumer.has_read(partition, offset) for consumer in read_committed)
        )

    @always
    def atomic_visibility() -> bool:
        """Of a committed transaction, who reads what is committed misses no record.

        Where a marker is written, it has read what it is past; where none is, it is not past it.
        """
        return all(
            consumer.has_read(partition, offset) == consumer.is_past(partition, offset)
            and (partition.ending(offset) is not None or not consumer.is_past(partition, offset))
            for consumer in read_committed
            for partition in partitions
            for offset, batch in enumerate(partition.log)
            if isinstance(batch, Batch) and batch.txn in history.committed
        )


if DISKLESS:

    @always
    def ends_at_once() -> bool:
        """A transaction has its markers in all its partitions, or in none of them."""
        return all(
            len(c.unmarked & c.metadata.partitions) in (0, len(c.metadata.partitions))
            for c in coordinators
            if c.metadata.state in DECIDED
        )

    if BARRIER == "before_marker":

        @always
        def barrier_never_waits() -> bool:
            """Each batch of a transaction has its offset when its commit is decided."""
            return not any(c.awaited and c.metadata.state == "PrepareCommit" for c in coordinators)


# -- safety: what producers are told -------------------------------------------------------------
@always
def end_txn_answers_truthfully() -> bool:
    """A client that is told of a commit can rely on it."""
    return all(txn in history.committed for txn in history.told)


@always
def epoch_in_range() -> bool:
    return all(c.metadata.epoch <= MAX_EPOCH for c in coordinators)


@always
def non_zombie_never_fenced() -> bool:
    """Only an instance that was replaced is fenced, or one whose transaction timed out."""
    return txn_timeout.left < TXN_TIMEOUTS or all(
        producers[c.owner].state != "Fenced" for c in coordinators
    )


@always
def never_failed() -> bool:
    """No producer gets an error that its application cannot recover from."""
    return all(producer.state != "Failed" for producer in producers)


if PRODUCERS > 1:

    @always
    def distinct_ids() -> bool:
        """No two instances that can still do something have the same producer id and epoch."""
        return all(a.id != b.id for a, b in pairs([p for p in producers if p.can_send()]))

    @on_step
    def no_zombie_writes() -> bool:
        """Leaders that know the new instance's epoch append nothing of a replaced one."""
        return all(
            not (isinstance(entry, Batch) and entry.producer != owner_of(entry).index)
            or not any(outdates(known.id, owner_of(entry)) for known in p.log[: old(len(p.log))])
            for p in partitions
            for entry in p.log[old(len(p.log)) :]
        )

    def owner_of(batch: Batch) -> Producer:
        return producers[coordinator_of(batch.producer).owner]

    def outdates(id: ProducerId, owner: Producer) -> bool:
        return owner.state != "Starting" and id.pid == owner.id.pid and id.epoch >= owner.id.epoch


if VARIANT == "kip890_p1" and GUARD == "state":

    @always
    def append_under_own_check() -> bool:
        return not any(partition.strange_append for partition in partitions)


if DATABASE:

    @always
    def cross_system_atomic() -> bool:
        """Kafka and the database do not decide differently."""
        return not (databases[0].committed & history.aborted) and all(
            txn in databases[0].committed for txn in history.committed
        )


# -- liveness ------------------------------------------------------------------------------------
def decided() -> bool:
    return any(c.metadata.state in DECIDED for c in coordinators)


def not_decided() -> bool:
    return not decided()


decided_completes = leads_to(decided, not_decided)


def is_one_open() -> bool:
    return any(c.metadata.state == "Ongoing" for c in coordinators)


@always
@eventually
def lso_advances() -> bool:
    """Consumers get to the end of each log, unless a transaction is left open for ever."""
    return is_one_open() or all(p.last_stable_offset() == len(p.log) for p in partitions)


if CONSUMERS:

    @always
    @eventually
    def consumers_get_to_the_end() -> bool:
        return all(c.is_at_the_end() for c in read_uncommitted) and (
            is_one_open() or all(c.is_at_the_end() for c in read_committed)
        )


@always
@eventually
def clients_are_idle_or_done() -> bool:
    return all(producer.is_idle() for producer in producers)


def is_left_open(coordinator: Coordinator) -> bool:
    """Nobody is there to end the transaction: it blocks until somebody comes, or it times out."""
    owner = producers[coordinator.owner]
    return coordinator.metadata.state == "Ongoing" and owner.state == "Crashed"


if VARIANT == "kip939":

    def is_tended() -> bool:
        return any(c.metadata.state == "Ongoing" and not is_left_open(c) for c in coordinators)

    def is_resolved() -> bool:
        return not is_tended()

    prepared_is_resolved = leads_to(is_tended, is_resolved)


@terminal
def all_done() -> bool:
    return all(producer.is_idle() for producer in producers) and all(
        c.metadata.state not in (*DECIDED, "Ongoing") or is_left_open(c) for c in coordinators
    )


# -- witnesses -----------------------------------------------------------------------------------
@exists
def committed() -> bool:
    return bool(history.told)


if CONSUMERS:

    @exists
    def aborted_was_read() -> bool:
        """By who reads all; it may have been aborted since."""
        return any(
            is_ended(partition, offset, commit=False) and consumer.has_read(partition, offset)
            for consumer in read_uncommitted
            for partition in partitions
            for offset, batch in enumerate(partition.log)
            if isinstance(batch, Batch)
        )


if DISKLESS and CONSUMERS:

    def read_by_one(txn: int) -> int:
        """Return how many records of a transaction the first of those consumers has."""
        return sum(
            isinstance(batch, Batch) and batch.txn == txn and read_committed[0].has_read(p, offset)
            for p in partitions
            for offset, batch in enumerate(p.log)
        )

    @exists
    def committed_was_read() -> bool:
        return any(read_by_one(txn) > 0 for txn in history.committed)

    @exists
    def committed_was_read_whole() -> bool:
        return any(read_by_one(txn) == RECORDS for txn in history.committed)


if PRODUCERS > 1 and (ZOMBIES or DELAYED_PRODUCE):

    @exists
    def zombie_wrote() -> bool:
        """A batch of a replaced instance is appended, where nobody knows of the new one yet."""
        return history.zombie_wrote


if VARIANT == "kip939" and MAX_EPOCH <= 2:

    @exists
    def recovered_with_an_id_of_its_own() -> bool:
        """Epochs ran out in recovery: the transaction ends in its id, and the next has another."""
        return any(
            c.metadata.state == "Ongoing" and c.expected().pid != c.metadata.pid
            for c in coordinators
        )


if BARRIER == "before_decision" and TXN_TIMEOUTS:

    @exists
    def timed_out_at_the_barrier() -> bool:
        """What was to be committed, and waited, is aborted."""
        return any(
            producers[c.owner].state == "Committing" and c.metadata.state == "PrepareAbort"
            for c in coordinators
        )


@exists
def last_txn_begun() -> bool:
    return history.begun == TXNS


# -- configurations ------------------------------------------------------------------------------
for name, expect, constants in (*ROWS, *LARGER, *DISKLESS_ROWS):
    config(name, expect=expect, **constants)
