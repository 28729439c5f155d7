"""Kafka's share partitions (KIP-932): consumers of a group share the records of a partition.

A queue on top of a log. The leader lends each record to one consumer at a time, until a timer ends
that or the consumer accepts, releases or rejects it, and as often as a limit says. The start offset
moves over what is done. All that the leader knows of records is in memory; what was acknowledged is
written by the persister first, so that the next leader knows it.

Who takes part is told in `sharing`, and who holds what:

- consumers: nothing; who holds a record is known to the leader;
- the share partition (`leader`): for each record its state, deliveries, holder and timer, and an
  acknowledgement that is being written; timers that run, and those that wait for its lock;
- the persister: what was written, and the epochs that fence writes: the leader's, and that of the
  state, which counts resets of the group's offsets;
- the log: where it starts.

`settings` has the constants: budgets for faults, and a variant; `mutants` has defects that Kafka
once had. Properties are here, runs in `sharing.rows`.

Left out: batches of several records, sessions and their close, limits of records in flight, renewed
locks (KIP-1222), dead letters (KIP-1191), compacted and transactional topics, and members, which
the group coordinator assigns partitions to.
"""

from statewalk import always, config, deadlock, draw, exists, old, on_step, picture
from statewalk.models.kafka.sharing.leader import Persisted, history, partition, persister
from statewalk.models.kafka.sharing.rows import ROWS
from statewalk.models.kafka.sharing.settings import (
    DELETIONS,
    MAX_DELIVERIES,
    OFFSET_RESETS,
    RECORDS,
)

deadlock(False)  # a partition whose records are done rests


# -- safety --------------------------------------------------------------------------------------
@always
def lock_has_timer() -> bool:
    """Who holds a record does not hold it for ever."""
    return all(
        record.timer is not None and partition.will_end(record.timer)
        for record in partition.cache.values()
        if record.is_settled("ACQUIRED")
    )


@on_step
def lock_lasts() -> bool:
    """As long as its timer runs, only its holder can give a record back."""
    return partition.instance != old(partition.instance) or all(
        before.timer not in old(partition.scheduled) or is_held(offset) or is_acknowledged(offset)
        for offset, before in old(dict(partition.cache)).items()
        if before.is_settled("ACQUIRED")
    )


def is_held(offset: int) -> bool:
    return partition.cache[offset].is_settled("ACQUIRED")


def is_acknowledged(offset: int) -> bool:
    return partition.cache[offset].acknowledged_by is not None


if DELETIONS:

    @always
    def deleted_is_archived() -> bool:
        """A record that was archived because the log begins after it stays so."""
        return all(
            record.state == "ARCHIVED" for record in partition.cache.values() if record.is_deleted
        )


@always
def delivery_limit() -> bool:
    """A record is not delivered more often than it may be, and is not offered for that."""
    return all(
        record.deliveries <= MAX_DELIVERIES - record.is_settled("AVAILABLE")
        for record in partition.cache.values()
    )


@always
def nothing_offered_below_start() -> bool:
    """What is behind the start offset is not offered any more."""
    return not any(
        record.is_settled("AVAILABLE")
        for offset, record in partition.cache.items()
        if offset < partition.start
    )


@always
def fetches_go_on() -> bool:
    """The next fetch is not behind the start offset, where the log may have nothing."""
    return partition.next_fetch_offset() >= partition.start


@always
def accepted_is_written() -> bool:
    """A record whose consumer was told that it is accepted is done for the next leader, too."""
    return all(
        offset < persister.start or persister.states[offset].state in ("ACKNOWLEDGED", "ARCHIVED")
        for offset in history.accepted
    )


@always
def accepted_is_done() -> bool:
    """Nobody gets a record whose consumer was told that it is accepted."""
    return not partition.is_active or all(
        offset < partition.start
        or (offset in partition.cache and partition.cache[offset].is_done())
        for offset in history.accepted
    )


if OFFSET_RESETS:

    @always
    def reset_is_kept() -> bool:
        """Every record that the persister holds was written in its present epoch, which a reset of
        the group's offsets begins anew.
        """
        return all(
            known.state_epoch == persister.state_epoch for known in persister.states.values()
        )


# -- witnesses -----------------------------------------------------------------------------------
@exists
def accepted() -> bool:
    return bool(history.accepted)


# -- a picture -----------------------------------------------------------------------------------
@picture
def records() -> draw.Part:
    """Records as the leader lends them, as they are written, and writes on their way.

    Colors are epochs of the group's state: one that a reset ended is to write nothing.
    """
    offsets = range(RECORDS)
    return draw.grid(
        ["the leader", partition.start, epoch_of(partition.state_epoch), *map(lent, offsets)],
        ["on its way", "", "", *map(on_its_way, offsets)],
        ["written", persister.start, epoch_of(persister.state_epoch), *map(written, offsets)],
        columns=["", "start", "state", *(f"record {offset}" for offset in offsets)],
    )


def epoch_of(epoch: int) -> draw.Part:
    return draw.token(f"epoch {epoch}", color=epoch)


def lent(offset: int) -> object:
    record = partition.cache.get(offset)
    if record is None:
        return ""
    who = record.acknowledged_by or record.holder
    said = "acknowledged by" if record.acknowledged_by else "held by"
    lines = [record.state, f"delivery {record.deliveries}", *([f"{said} {who}"] if who else [])]
    return draw.box(*lines, color=partition.state_epoch, strong=record.timer is not None)


def on_its_way(offset: int) -> object:
    return draw.row(*(known(w.written) for w in persister.inbox if w.offset == offset))


def written(offset: int) -> object:
    return known(persister.states[offset]) if offset in persister.states else ""


def known(record: Persisted) -> draw.Part:
    lines = [record.state, f"delivery {record.deliveries}", f"epoch {record.state_epoch}"]
    return draw.box(*lines, color=record.state_epoch)


# -- configurations ------------------------------------------------------------------------------
for name, expect, constants in ROWS:
    config(name, expect=expect, **constants)
