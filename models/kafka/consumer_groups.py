"""Kafka's consumer groups (KIP-848): each partition moves to a new member, and never has two.

Clients that subscribe to topics are members of a group. The coordinator chooses a target: who shall
have which partition. Members get there by heartbeats, each at its own pace: one gives a partition
up, and says so in its next heartbeat; then another one is told to take it. Epochs count targets
(the group's), and how far each member has come (its own).

Who takes part is told in `membership`, and who holds what:

- clients (`heartbeats`): who they are and in which epoch, what they consume, what they were told,
  and the callbacks of their application that are under way;
- the coordinator (`heartbeats`): the group's epoch and target, its members, and for each partition
  the epoch of its owner;
- a member (`reconciling`): what it is assigned, what it has to revoke, what it waits for.

`settings` has the constants: `VARIANT` for three ways to reconcile, fencing, budgets for faults;
`mutants` has defects that Kafka once had. A heartbeat is one step of the coordinator, its answer
another one of the client. Properties are here, runs in `consumer_groups_rows`.

Left out: offsets and their commits, static members, client-side and failing assignors, regular
expressions, topics that come and go, a coordinator that moves, and timeouts of revocation.
`groups` and `exactly_once` are about groups of the older protocol, and their transactions.
"""

from statewalk import always, config, deadlock, exists, leads_to, old, on_step, pairs
from statewalk.models.kafka.consumer_groups_rows import ROWS
from statewalk.models.kafka.membership.heartbeats import (
    LEAVE,
    clients,
    converged,
    coordinator,
    is_settled,
)
from statewalk.models.kafka.membership.settings import ALL_PARTITIONS, CONVERGES

deadlock(False)  # a group that has converged may rest


# -- safety --------------------------------------------------------------------------------------
@always
def type_ok() -> bool:
    """Numbers are in their ranges, and each partition has an epoch."""
    return (
        all(client.epoch >= LEAVE and client.member_id >= 0 for client in clients)
        and all(m.epoch >= 0 and m.target_epoch >= 0 for m in coordinator.members.values())
        and list(coordinator.partition_epoch) == ALL_PARTITIONS
        and all(epoch >= 0 for epoch in coordinator.partition_epoch.values())
    )


@always
def legal_target_assignment() -> bool:
    """Each partition is meant for exactly one member."""
    return not coordinator.target or all(
        sum(p in meant for meant in coordinator.target.values()) == 1 for p in ALL_PARTITIONS
    )


@always
def no_double_client_assignment() -> bool:
    """No two clients that are members both consume a partition."""
    return not any(
        a.assigned & b.assigned
        for a, b in pairs(clients)
        if a.member_id in coordinator.members and b.member_id in coordinator.members
    )


@always
def valid_partition_epoch() -> bool:
    """A partition that is free belongs to nobody."""
    return not any(
        coordinator.partition_epoch[p] == 0
        for member in coordinator.members.values()
        for p in member.owned()
    )


@always
def valid_stable_group_state() -> bool:
    """In a stable group, each member has what is meant for it, and nothing to revoke."""
    return coordinator.status != "STABLE" or all(
        is_settled(m) and not m.to_revoke and m.assigned == coordinator.target[m.member_id]
        for m in coordinator.members.values()
    )


@always
def valid_member_epoch() -> bool:
    """A client in the target's epoch has nothing that is meant for another member.

    So the offsets of what it had before are committed.
    """
    return not any(
        client.assigned & meant
        for client in clients
        if client.epoch == coordinator.target_epoch
        for member_id, meant in coordinator.target.items()
        if member_id != client.member_id
    )


@on_step
def client_epoch_monotone() -> bool:
    """But for joining and leaving."""
    return all(client.epoch <= 0 or client.epoch >= old(client.epoch) for client in clients)


@on_step
def member_epoch_monotone() -> bool:
    before = old(coordinator.members)
    return all(
        member.epoch >= before[member_id].epoch
        for member_id, member in coordinator.members.items()
        if member_id in before
    )


# -- liveness and witnesses ----------------------------------------------------------------------
@exists
def has_converged() -> bool:
    return converged()


def not_converged() -> bool:
    return not converged()


if CONVERGES:
    eventually_converges = leads_to(not_converged, converged)

# -- configurations ------------------------------------------------------------------------------
for name, expect, constants in ROWS:
    config(name, expect=expect, **constants)
