"""Kafka transactions, part 2: what must hold while the coordinator moves.

The protocol is in `coordinator`, which is to be read first. Here is what it must achieve: that
producer ids, epochs and the log stay consistent, that all clients get an id and at least one of
them adds its partitions; what it can run into on the way; and how many states there are.
"""

from itertools import pairwise

from statewalk import (
    always,
    config,
    eventually,
    exists,
    old,
    on_step,
    pairs,
    terminal,
)
from statewalk.models.kafka.coordinator import (
    InitPidResponse,
    LogEntry,
    partition_of,
    partitions,
    pids,
)
from statewalk.models.kafka.fine import properties  # noqa: F401 - those of GRAIN=fine
from statewalk.models.kafka.fine.cluster import brokers, clients
from statewalk.models.kafka.metadata import shared_pids
from statewalk.models.kafka.settings import (
    ALL_PARTITIONS,
    BROKERS,
    CLIENTS,
    GRAIN,
    MATERIALISE,
    MAX_ELECTIONS,
    TIDS,
)
from statewalk.models.kafka.transactions_rows import ROWS


# -- safety: the producer ids and epochs that clients hold ---------------------------------------
@always
def type_ok() -> bool:
    """Responses carry what they promise exactly when OK; errors are kept with their state."""
    return all(
        ((m.pid >= 1 and m.epoch >= 0) if m.code == "OK" else (m.pid == -1 and m.epoch == -1))
        if isinstance(m, InitPidResponse)
        else (m.code == "OK") == bool(m.partitions)
        for client in clients
        for m in client.inbox
    ) and all((client.last_state is None) == (client.last_error is None) for client in clients)


@always
def no_illegal_state() -> bool:
    return all(m.code != "IllegalState" for client in clients for m in client.inbox)


@always
def distinct_epochs() -> bool:
    """Clients with the same producer id have different epochs, also those that are fenced."""
    return all((a.pid, a.epoch) != (b.pid, b.epoch) for a, b in pairs(clients) if a.pid != -1)


@always
def pid_per_tid() -> bool:
    """Over the entries of all logs, two transactional ids never share a producer id."""
    return all(
        not shared_pids(a.log[p], b.log[q])
        for a in brokers
        for b in brokers
        for p in partitions
        for q in partitions
    )


# -- safety: the log and its leaders -------------------------------------------------------------
@always
def one_leader_per_epoch() -> bool:
    """No two brokers believe that they lead a partition in the same coordinator epoch."""
    return all(
        not (a.leads(p) and b.leads(p) and a.view[p].epoch == b.view[p].epoch)
        for a, b in pairs(brokers)
        for p in partitions
    )


@always
def log_prefix() -> bool:
    """Two copies of a partition agree on the records that both know to be committed."""
    return all(
        a.log[p][: min(a.committed[p], b.committed[p])]
        == b.log[p][: min(a.committed[p], b.committed[p])]
        for a, b in pairs(brokers)
        for p in partitions
    )


@always
def committed_epoch_monotone() -> bool:
    """Along the committed log, epochs of an id never decrease, and a new owner gets a new one."""
    return all(
        increasing(broker.log[partition_of(tid)][: broker.committed[partition_of(tid)]], tid)
        for broker in brokers
        for tid in range(TIDS)
    )


def increasing(entries: list[LogEntry], tid: int) -> bool:
    """A request that timed out and is repeated leaves an entry twice: the fine grain allows it."""
    mine = [entry.transition for entry in entries if entry.tid == tid]
    return all(
        a.epoch < b.epoch if b.state == "Empty" and GRAIN == "atomic" else a.epoch <= b.epoch
        for a, b in pairwise(mine)
    )


# -- safety: entries and who waits for them. With the fine grain this is in `fine.properties` ------
if GRAIN == "atomic":

    @on_step
    def fenced_stays_fenced() -> bool:
        """Once a client has been told that it is fenced, nothing more is committed in its
        name.
        """
        return all(
            not (entry.tid == client.tid and entry.transition.state == "Ongoing")
            or (entry.transition.pid, entry.transition.epoch) != (client.pid, client.epoch)
            for client in clients
            if client.last_error == "ProducerFenced"
            for broker in brokers
            for partition in partitions
            for entry in broker.log[partition][
                old(broker.committed[partition]) : broker.committed[partition]
            ]
        )

    @always
    def owner_only_transitions() -> bool:
        """Partitions are only added on behalf of a client that holds the epoch of the entry."""
        return all(
            entry.callback is None or entry.callback.client.epoch == entry.transition.epoch
            for broker in brokers
            for partition in partitions
            for entry in broker.log[partition]
            if entry.transition.state == "Ongoing"
        )

    @always
    def no_ok_above_hwm() -> bool:
        """No OK response is in flight whose log entry is not committed."""
        return all(
            entry.callback is None
            or entry.callback.success.code != "OK"
            or entry.callback.success not in entry.callback.client.inbox
            for broker in brokers
            for partition in partitions
            for entry in broker.uncommitted(partition)
        )

    @always
    def pending_matches_log() -> bool:
        """A transition is pending exactly where one entry of that tid awaits commit."""
        return all(
            [
                entry.transition
                for entry in broker.uncommitted(partition_of(tid))
                if entry.tid == tid
            ]
            == ([broker.pending[tid]] if tid in broker.pending else [])
            for broker in brokers
            for tid in range(TIDS)
        )


# -- witnesses, each where the constants allow it ------------------------------------------------
if CLIENTS > 1:

    @exists
    def concurrent_transactions_reply() -> bool:
        return any(m.code == "ConcurrentTransactions" for client in clients for m in client.inbox)

    @exists
    def client_fenced() -> bool:
        """A client adds partitions with an epoch that another one has outdated, and is refused."""
        return any(client.last_error == "ProducerFenced" for client in clients)

    @exists
    def epoch_skipped() -> bool:
        """The epoch that fences is nobody's: the client that caused it comes back for the next."""
        return any(client.epoch >= CLIENTS for client in clients)


if BROKERS > 1 and MAX_ELECTIONS > 0:

    @exists
    def truncated_request_answered() -> bool:
        """An entry was appended and is gone without being committed; its client is told."""
        return any(
            m.code == "NotCoordinator"
            and pids.last > 0
            and not any(broker.log[partition] for broker in brokers for partition in partitions)
            for client in clients
            for m in client.inbox
        )

    @exists
    def request_repeated_elsewhere() -> bool:
        """A client adds all its partitions at a broker other than the one that gave it its id."""
        return any(
            client.partitions == ALL_PARTITIONS
            and client.coordinator is not None
            and client.last_error == "NotCoordinator"
            for client in clients
        )


if BROKERS > 1 and MAX_ELECTIONS > 0 and CLIENTS > 1:

    @exists
    def takeover_in_prepare_abort() -> bool:
        """The old leader had decided to abort; completing that is now up to the new one."""
        return any(
            broker.leads(partition_of(tid))
            and tid in broker.metadata
            and broker.metadata[tid].state == "PrepareAbort"
            and tid not in broker.pending
            for broker in brokers
            for tid in range(TIDS)
        )


if BROKERS > 1 and MAX_ELECTIONS > 0 and TIDS <= CLIENTS and MATERIALISE == "from_log":

    @exists
    def pid_lost() -> bool:
        """A producer id was issued and its entry lost: the next request starts with a new one."""
        return any(client.pid > TIDS for client in clients)


# -- liveness and the end ------------------------------------------------------------------------
@eventually
@always
def eventually_all_clients_have_pid() -> bool:
    return all(client.pid > -1 for client in clients)


@eventually
@always
def eventually_one_client_adds_all_partitions() -> bool:
    return any(
        client.state == "BegunTxn" and client.partitions == ALL_PARTITIONS for client in clients
    )


@terminal
def everyone_added_or_fenced() -> bool:
    return all(
        client.state == "Terminated" or client.partitions == ALL_PARTITIONS for client in clients
    )


# -- configurations ------------------------------------------------------------------------------
for name, expect, constants in ROWS:
    config(name, expect=expect, **constants)
