"""KIP-848 in plain Python: the states of kip848.py without perturbations.

Without them no client leaves, crashes or is fenced, and all subscribe to every topic.
Usage: kip848_plain.py [NAME=VALUE ...].
"""

from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

from search import constants, search

CLIENTS, TOPICS, PERTURBATIONS = constants(CLIENTS=2, TOPICS=2, PERTURBATIONS=0)
PARTITIONS = range(TOPICS)
NOTHING = frozenset[int]()
Set = frozenset[int]
assert PERTURBATIONS == 0


class Client(NamedTuple):
    connection: int = 0
    id: int = 0
    epoch: int = 0
    status: str = "joining"
    assigned: Set = NOTHING
    target: Set = NOTHING
    last_sent: Set | None = None
    in_flight: bool = False
    recon: tuple[int, Set] | None = None
    inbox: frozenset[Any] = frozenset()  # responses: epoch, id, assignment, connection, client


class Member(NamedTuple):
    host: int
    epoch: int = 0
    target_epoch: int = 0
    status: str = "stable"
    assigned: Set = NOTHING
    to_revoke: Set = NOTHING
    to_assign: Set = NOTHING
    reported: Set | None = None


class State(NamedTuple):
    clients: tuple[Client, ...]
    members: tuple[Member, ...] = ()  # their ids count from 1
    connections: int = 0
    discarded: Any = None
    epoch: int = 0
    target_epoch: int = 0
    status: str = "empty"
    target: tuple[Set, ...] = ()  # of each member
    partition_epoch: tuple[int, ...] = (0,) * TOPICS
    inbox: frozenset[Any] = frozenset()  # requests: client, id, epoch, partitions, connection


def put(values: tuple[Any, ...], at: int, value: Any) -> tuple[Any, ...]:
    return (*values[:at], value, *values[at + 1 :])


def settled(s: State, member: Member) -> bool:
    return member.status == "stable" and member.epoch == s.epoch


def converged(s: State) -> bool:
    return (
        s.status == "stable"
        and all(c.status == "stable" and c.epoch == s.epoch and c.id > 0 for c in s.clients)
        and all(settled(s, m) for m in s.members)
    )


def successors(s: State) -> Iterator[State]:
    for i, c in enumerate(s.clients):
        if not c.in_flight and not converged(s):
            yield heartbeat(s, i, c)
        if c.recon is not None:
            new = c._replace(recon=None)
            if c.status == "reconciling" and c.recon[0] == c.epoch:
                new = new._replace(status="acknowledging", assigned=c.recon[1])
            yield s._replace(clients=put(s.clients, i, new))
        for response in c.inbox:
            new = received(c._replace(inbox=c.inbox - {response}), *response[:3])
            yield s._replace(clients=put(s.clients, i, new), discarded=response)
    for request in s.inbox:
        yield from handled(s._replace(inbox=s.inbox - {request}, discarded=request), request)


def heartbeat(s: State, i: int, c: Client) -> State:
    connections = s.connections + (c.connection == 0)
    c = c._replace(connection=c.connection or connections, in_flight=True)
    partitions = None
    if c.last_sent != c.assigned or c.assigned != c.target:
        partitions = c.assigned
        c = c._replace(last_sent=c.assigned)
    request = (i, c.id, c.epoch, partitions, c.connection)
    if c.status == "acknowledging":
        c = c._replace(status="stable" if c.target == c.assigned else "reconciling")
    return s._replace(
        clients=put(s.clients, i, c),
        connections=connections,
        discarded=None,
        inbox=s.inbox | {request},
    )


def received(c: Client, epoch: int, member_id: int, assignment: Set | None) -> Client:
    """Return a client after a response."""
    c = c._replace(in_flight=False, epoch=epoch, id=member_id)
    reconciles = False
    if assignment is None:
        if c.target == c.assigned:
            return c._replace(status="stable")
        reconciles = c.status == "reconciling"
    elif assignment != c.assigned:
        c = c._replace(target=assignment)
        reconciles = True
    elif c.status in ("joining", "reconciling"):
        return c._replace(status="stable")
    if reconciles and c.recon is None:
        return c._replace(status="reconciling", recon=(c.epoch, c.target))
    return c


def handled(s: State, request: Any) -> Iterator[State]:
    """Yield the states after a heartbeat: one for each target assignment."""
    client, member_id, epoch, reported, connection = request
    known = s.members[member_id - 1] if member_id else None
    if known is None:
        member = Member(client)
        s = s._replace(members=(*s.members, member), epoch=s.epoch + 1)
        member_id = len(s.members)
    else:
        member = known if reported is None else known._replace(reported=reported)
    targets: list[tuple[Set, ...]] = [s.target]
    if s.epoch > s.target_epoch:
        ids = range(len(s.members))
        owners = product(ids, repeat=TOPICS)
        targets = [
            tuple(frozenset(p for p in PARTITIONS if o[p] == m) for m in ids) for o in owners
        ]
    for target in targets:
        new = assigned_next(s, member, target[member_id - 1])
        owned = new.assigned | new.to_revoke
        before = known.assigned | known.to_revoke if known else NOTHING
        epochs = tuple(
            new.epoch if p in owned else 0 if p in before else old
            for p, old in enumerate(s.partition_epoch)
        )
        members = put(s.members, member_id - 1, new)
        done = all(m.status == "stable" and m.target_epoch == s.epoch for m in members)
        tell = reported is not None or epoch == 0 or new != member
        response = (new.epoch, member_id, new.assigned if tell else None, connection, client)
        c = s.clients[client]
        yield s._replace(
            clients=put(s.clients, client, c._replace(inbox=c.inbox | {response})),
            members=members,
            target=target,
            target_epoch=s.epoch,
            status="stable" if done else "reconciling",
            partition_epoch=epochs,
        )


def assigned_next(s: State, m: Member, target: Set) -> Member:
    free = frozenset(p for p in PARTITIONS if s.partition_epoch[p] == 0)
    if m.target_epoch != s.epoch:
        owned = m.assigned | m.to_revoke
        m = m._replace(assigned=owned & target, to_assign=target - owned)
        if owned - target:
            return m._replace(status="revoking", target_epoch=s.epoch, to_revoke=owned - target)
    elif m.status == "revoking":
        if m.to_revoke and m.assigned != m.reported:
            return m
    elif m.status != "assigning" or not m.to_assign & free:
        return m
    left = m.to_assign - free
    assigned = m.assigned | (m.to_assign & free)
    status = "assigning" if left else "stable"
    return Member(m.host, s.epoch, s.epoch, status, assigned, NOTHING, left, m.reported)


def correct(s: State) -> bool:
    held = [m.assigned | m.to_revoke for m in s.members]
    return (
        (not s.target or all(sum(p in t for t in s.target) == 1 for p in PARTITIONS))
        and len([p for c in s.clients if c.id for p in c.assigned])
        == len({p for c in s.clients if c.id for p in c.assigned})
        and all(s.partition_epoch[p] > 0 for owned in held for p in owned)
        and (
            s.status != "stable"
            or all(
                settled(s, m) and not m.to_revoke and m.assigned == target
                for m, target in zip(s.members, s.target, strict=True)
            )
        )
        and all(
            not any(c.assigned & t for n, t in enumerate(s.target) if n + 1 != c.id)
            for c in s.clients
            if c.epoch == s.target_epoch
        )
    )


def step(s: State, after: State) -> bool:
    """Check that epochs do not decrease."""
    mine = zip(s.clients, after.clients, strict=True)
    members = zip(s.members, after.members, strict=False)
    return all(b.epoch <= 0 or b.epoch >= a.epoch for a, b in mine) and all(
        b.epoch >= a.epoch for a, b in members
    )


search(State((Client(),) * CLIENTS), successors, correct, step=step)
