"""Kafka transactions, part 2: what must hold with `GRAIN=fine`, and what it can run into."""

from itertools import pairwise

from statewalk import always, exists, old, on_step, pairs
from statewalk.models.kafka.coordinator import (
    Client,
    InitPidResponse,
    LogEntry,
    Response,
    partition_of,
    partitions,
)
from statewalk.models.kafka.fine.cluster import brokers, clients, fine_brokers
from statewalk.models.kafka.metadata import Metadata
from statewalk.models.kafka.settings import (
    BROKERS,
    CLIENTS,
    GRAIN,
    MAX_ELECTIONS,
    MAX_TIMEOUTS,
    TIDS,
    TOPIC_PARTITIONS,
)

if GRAIN == "fine":

    @on_step
    def fenced_stays_fenced() -> bool:
        """Once a client has been told that it is fenced, no leader appends more in
        its name.
        """
        return all(
            not (entry.tid == client.tid and entry.transition.state == "Ongoing")
            or (entry.transition.pid, entry.transition.epoch) != (client.pid, client.epoch)
            for client in clients
            if client.last_error == "ProducerFenced"
            for broker in brokers
            for partition in partitions
            if broker.leads(partition)
            for entry in broker.log[partition][len(old(broker.log[partition])) :]
        )

    @always
    def owner_only_transitions() -> bool:
        """Partitions are only added on behalf of a client that holds the epoch of the entry."""
        return all(
            waiting.callback is None or waiting.callback.client.epoch == broker.pending[tid].epoch
            for broker in fine_brokers
            for tid, waiting in broker.waiting.items()
            if broker.pending[tid].state == "Ongoing"
        )

    @always
    def no_ok_above_hwm() -> bool:
        """An OK in flight is about what its sender knows to be committed."""
        return all(
            any(
                matches(entry.transition, response, client.epoch)
                for entry in response.source.log[partition_of(client.tid)][
                    : response.source.committed[partition_of(client.tid)]
                ]
            )
            for client in clients
            if client.tid is not None
            for response in client.inbox
            if response.code == "OK"
        )

    def matches(transition: Metadata, response: Response, epoch: int) -> bool:
        """Return whether an entry is one that may have led to a response."""
        if isinstance(response, InitPidResponse):
            return (transition.pid, transition.epoch) == (response.pid, response.epoch)
        return transition.epoch == epoch and response.partitions <= transition.partitions

    @always
    def pending_matches_log() -> bool:
        """Somebody waits for each pending transition; it is where they wait, if it is appended."""
        return all(
            set(broker.waiting) == set(broker.pending)
            and all(
                awaited_matches(broker.pending[tid], broker.log[partition_of(tid)], waiting.end)
                for tid, waiting in broker.waiting.items()
            )
            for broker in fine_brokers
        )

    def awaited_matches(transition: Metadata, log: list[LogEntry], end: int) -> bool:
        if end == 0:
            return transition.state == "PrepareEpochFence"
        return end <= len(log) and log[end - 1].transition == transition

    @always
    def told_is_known() -> bool:
        """The leader knows each answer to a client, as soon as that has
        loaded its log.
        """
        return all(
            partition in broker.loading
            or (client.tid in broker.metadata and covers(broker.metadata[client.tid], client))
            for client in clients
            if client.tid is not None and client.pid != -1
            for partition in [partition_of(client.tid)]
            for broker in fine_brokers
            if broker == partition.now.leader
        )

    def covers(now: Metadata, client: Client) -> bool:
        """Another client may have taken the id since; if not, all partitions are there."""
        if now.epoch == client.epoch:
            return now.pid == client.pid and client.partitions <= now.partitions
        return now.pid == client.pid and now.epoch > client.epoch

    @always
    def fenced_epoch_is_over() -> bool:
        """Behind a decision to abort a log has nothing of an older epoch, committed or not."""
        return all(
            a.epoch <= b.epoch
            for broker in brokers
            for tid in range(TIDS)
            for a, b in pairwise(of_id(broker.log[partition_of(tid)], tid))
            if a.state == "PrepareAbort"
        )

    @always
    def fencing_raises_the_epoch_once() -> bool:
        """However often the abort of a transaction is tried."""
        return all(
            b.epoch == a.epoch if a.state == "PrepareAbort" else b.epoch == a.epoch + 1
            for broker in brokers
            for tid in range(TIDS)
            for a, b in pairwise(of_id(broker.log[partition_of(tid)], tid))
            if b.state == "PrepareAbort"
        )

    def of_id(log: list[LogEntry], tid: int) -> list[Metadata]:
        return [entry.transition for entry in log if entry.tid == tid]


# -- witnesses -----------------------------------------------------------------------------------
if GRAIN == "fine" and CLIENTS > 1:

    @exists
    def fence_decided() -> bool:
        """To abort is decided and not begun: the epoch to fence with is not yet in effect."""
        return any(
            pending.state == "PrepareEpochFence"
            for broker in brokers
            for pending in broker.pending.values()
        )


if GRAIN == "fine" and CLIENTS > 1 and TOPIC_PARTITIONS > 1:

    @exists
    def fenced_before_commit() -> bool:
        """The old producer is refused while the entry that fences it is not committed."""
        return any(
            response.code == "ProducerFenced" and pending.state == "PrepareAbort"
            for client in clients
            for response in client.inbox
            for pending in response.source.pending.values()
        )


if GRAIN == "fine" and BROKERS > 1 and MAX_ELECTIONS > 0:

    @exists
    def load_in_progress_reply() -> bool:
        return any(m.code == "CoordinatorLoadInProgress" for c in clients for m in c.inbox)

    @exists
    def loaded_uncommitted() -> bool:
        """A leader goes by an entry of its predecessor that it does not know to be committed."""
        return any(
            broker.leads(partition) and partition not in broker.loading
            for broker in fine_brokers
            for partition in partitions
            for entry in broker.uncommitted(partition)
            if entry.epoch < broker.view[partition].epoch
        )

    @exists
    def committed_and_told_otherwise() -> bool:
        """A client was told that the coordinator has moved; its entry is committed all the same."""
        return any(
            broker.committed[partition] > 0
            and not broker.pending
            and all(client.pid == -1 for client in clients)
            and all(m.code == "NotCoordinator" for client in clients for m in client.inbox)
            for broker in brokers
            for partition in partitions
            if broker.leads(partition)
        )


if GRAIN == "fine" and BROKERS > 1 and MAX_ELECTIONS > 0 and CLIENTS > 1:

    @exists
    def logs_diverged() -> bool:
        return any(
            x != y
            for a, b in pairs(brokers)
            for partition in partitions
            for x, y in zip(a.log[partition], b.log[partition], strict=False)
        )


if GRAIN == "fine" and BROKERS > 1 and MAX_ELECTIONS > 1:

    @exists
    def election_overtook_loading() -> bool:
        return any(
            partition in broker.loading and broker.view[partition].epoch < partition.now.epoch
            for broker in fine_brokers
            for partition in partitions
        )


if GRAIN == "fine" and MAX_TIMEOUTS > 0:

    @exists
    def timed_out_yet_committed() -> bool:
        """No client was told of a producer id, and one is committed: its append had timed out."""
        return any(
            broker.committed[partition] > 0 and not broker.pending
            for broker in brokers
            for partition in partitions
            if any(client.last_error == "CoordinatorNotAvailable" for client in clients)
            and all(client.pid == -1 and not client.inbox for client in clients)
        )
