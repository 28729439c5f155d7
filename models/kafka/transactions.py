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
    holds,
    old,
    on_step,
    pairs,
    terminal,
    violates,
)
from statewalk.models.kafka.cluster import brokers, clients
from statewalk.models.kafka.coordinator import (
    InitPidResponse,
    LogEntry,
    partition_of,
    partitions,
    pids,
)
from statewalk.models.kafka.coordinator_mutants import (
    early_reply,
    no_complete_partial,
    no_epoch_check,
    pid_regress,
    silent_truncation,
    stale_commit,
)
from statewalk.models.kafka.metadata import shared_pids
from statewalk.models.kafka.settings import (
    ALL_PARTITIONS,
    BROKERS,
    CLIENTS,
    MATERIALISE,
    MAX_ELECTIONS,
    TIDS,
)


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


@on_step
def fenced_stays_fenced() -> bool:
    """When a client has been told that it is fenced, nothing more is committed in its name."""
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
    """What two copies of a partition both know to be committed is the same."""
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
    mine = [entry.transition for entry in entries if entry.tid == tid]
    return all(
        a.epoch < b.epoch if b.state == "Empty" else a.epoch <= b.epoch for a, b in pairwise(mine)
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
        [entry.transition for entry in broker.uncommitted(partition_of(tid)) if entry.tid == tid]
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
# c, b, t, p, e: clients, brokers, tids, log partitions, elections. "published" is as the public
# spec has it. Where another violation comes first, --keep-going or --property finds the one meant.
config("c1b2e1", CLIENTS=1, expect=holds(generated=68, distinct=56, depth=14))
config("c2b2e0", MAX_ELECTIONS=0, expect=holds(generated=581, distinct=324, depth=22))
config("c2b2e1", expect=holds(generated=7286, distinct=3688, depth=27))
config("c2b2e2", MAX_ELECTIONS=2, expect=holds(generated=40368, distinct=18644, depth=32))
config(
    "c2b2e1-processed", KEEP_PROCESSED=True, expect=holds(generated=18662, distinct=10336, depth=36)
)
config(
    "c2b2e2-processed",
    KEEP_PROCESSED=True,
    MAX_ELECTIONS=2,
    expect=holds(generated=257008, distinct=137409, depth=47),
)
config(
    "c2b2e1-from-cache",
    MATERIALISE="from_cache",
    expect=holds(generated=7520, distinct=3809, depth=27),
)
config(
    "c2b2e2-from-cache",
    MATERIALISE="from_cache",
    MAX_ELECTIONS=2,
    expect=holds(generated=42659, distinct=19715, depth=32),
)
config(
    "published",
    MATERIALISE="from_cache",
    MUTANT=pid_regress,
    expect=holds(generated=7000, distinct=3517, depth=27),
)
config(
    "published-processed",
    MATERIALISE="from_cache",
    MUTANT=pid_regress,
    KEEP_PROCESSED=True,
    expect=holds(generated=19646, distinct=10897, depth=36),
)
config(
    "c2b2t2p2e1", TIDS=2, LOG_PARTITIONS=2, expect=holds(generated=24379, distinct=11593, depth=27)
)
config("c2b3e1", BROKERS=3, expect=holds(generated=22413, distinct=10004, depth=28))
config(
    "no-complete-partial",
    MUTANT=no_complete_partial,
    expect=violates(eventually_all_clients_have_pid),
)
config(
    "silent-truncation", CLIENTS=1, MUTANT=silent_truncation, expect=violates("Deadlock", length=4)
)
config(
    "silent-truncation-waits",
    CLIENTS=1,
    MUTANT=silent_truncation,
    expect=violates(eventually_all_clients_have_pid, eventually_one_client_adds_all_partitions),
)
config("stale-commit", MUTANT=stale_commit, expect=violates(log_prefix, length=6))
config(
    "no-epoch-check",
    BROKERS=1,
    MAX_ELECTIONS=0,
    MUTANT=no_epoch_check,
    expect=violates(owner_only_transitions, length=9),
)
config(
    "early-reply",
    CLIENTS=1,
    BROKERS=1,
    MAX_ELECTIONS=0,
    MUTANT=early_reply,
    expect=violates(no_ok_above_hwm, length=2),
)
# Two clients come to hold the same epoch. A new leader that reads the log gives a fresh producer id
# when nothing was committed, so that it then takes a third client.
config(
    "early-reply-twice-from-cache",
    MATERIALISE="from_cache",
    MUTANT=early_reply,
    expect=violates(distinct_epochs, length=7),
)
config(
    "early-reply-twice", CLIENTS=3, MUTANT=early_reply, expect=violates(distinct_epochs, length=10)
)
# A failover lets two transactional ids and three clients do what otherwise takes three and four.
config(
    "pid-regress",
    CLIENTS=4,
    BROKERS=1,
    TIDS=3,
    MAX_ELECTIONS=0,
    MUTANT=pid_regress,
    expect=violates(pid_per_tid, length=8),
)
config(
    "pid-regress-failover",
    CLIENTS=3,
    TIDS=2,
    MUTANT=pid_regress,
    expect=violates(pid_per_tid, length=10),
)
