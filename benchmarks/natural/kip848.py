"""Kafka's consumer group protocol (KIP-848): heartbeats, target assignments and reconciliation.

It follows candidate version 2 of Jack Vanlightly's TLA+ spec.
"""

from itertools import combinations, product
from typing import Literal

from statewalk import (
    Constant,
    Message,
    Record,
    Role,
    State,
    action,
    always,
    any_of,
    config,
    deadlock,
    exists,
    holds,
    leads_to,
    old,
    on_step,
    replace,
    require,
)

CLIENTS: Constant[int] = 2
TOPICS: Constant[int] = 2
PARTITIONS: Constant[int] = 1  # of each topic
PERTURBATIONS: Constant[int] = 1  # events that begin a new round of convergence

assert min(TOPICS, PARTITIONS, PERTURBATIONS) >= 0

Partition = tuple[int, int]
ALL_TOPICS = frozenset(range(1, TOPICS + 1))
ALL_PARTITIONS = list(product(sorted(ALL_TOPICS), range(1, PARTITIONS + 1)))
SUBSCRIPTIONS = [
    frozenset(topics)
    for n in range(1, TOPICS + 1)
    for topics in combinations(sorted(ALL_TOPICS), n)
]

ClientStatus = Literal[
    "RECONCILING",
    "STABLE",
    "FENCED",
    "UNSUBSCRIBED",
    "JOINING",
    "ACKNOWLEDGING",
    "PREPARE_LEAVING",
    "LEAVING",
]
MemberStatus = Literal["STABLE", "REVOKING", "ASSIGNING"]
GroupStatus = Literal["EMPTY", "STABLE", "ASSIGNING", "RECONCILING"]
ErrorCode = Literal["FENCED_MEMBER_EPOCH", "UNKNOWN_MEMBER_ID"]

JOIN = 0  # as member epochs, JOIN and LEAVE are requests
LEAVE = -1

# The statuses from which a client may enter another one.
ENTERED_FROM: dict[str, frozenset[str]] = {
    "STABLE": frozenset({"JOINING", "ACKNOWLEDGING", "RECONCILING"}),
    "RECONCILING": frozenset({"STABLE", "JOINING", "ACKNOWLEDGING"}),
    "ACKNOWLEDGING": frozenset({"RECONCILING"}),
    "FENCED": frozenset(
        {"JOINING", "STABLE", "RECONCILING", "ACKNOWLEDGING", "PREPARE_LEAVING", "LEAVING"}
    ),
    "JOINING": frozenset({"FENCED", "UNSUBSCRIBED"}),
    "PREPARE_LEAVING": frozenset(
        {"JOINING", "STABLE", "RECONCILING", "ACKNOWLEDGING", "UNSUBSCRIBED", "FENCED"}
    ),
    "LEAVING": frozenset({"PREPARE_LEAVING"}),
    "UNSUBSCRIBED": frozenset({"FENCED", "LEAVING"}),
}


def may_move(before: ClientStatus, after: ClientStatus) -> bool:
    return before == after or before in ENTERED_FROM[after]


class HeartbeatRequest(Message):
    member_id: int
    member_epoch: int
    subscribed: frozenset[int]
    partitions: frozenset[Partition] | None
    connection_id: int
    source: "Client"


class HeartbeatResponse(Message):
    error: ErrorCode | None
    member_epoch: int
    member_id: int
    assignment: frozenset[Partition] | None
    connection_id: int
    source: "Coordinator"
    dest: "Client"


class Member(Record):
    """A group member as the coordinator knows it."""

    host: "Client"
    member_id: int
    member_epoch: int
    target_epoch: int
    subscribed: frozenset[int]
    status: MemberStatus
    assigned: frozenset[Partition]
    to_revoke: frozenset[Partition]
    to_assign: frozenset[Partition]
    reported: frozenset[Partition] | None  # the cached topic partitions


class Reconciliation(Record):
    epoch_on_start: int
    assignment: frozenset[Partition]


class Leave(Record):
    assignment: frozenset[Partition]


class Counters(State):
    """The ids given so far and the number of perturbations: not part of the protocol."""

    member_id: int = 0
    connection_id: int = 0
    perturbations: int = 0


class Network(State):
    last_discarded: HeartbeatRequest | HeartbeatResponse | None = None


def perturb() -> None:
    require(counters.perturbations < PERTURBATIONS)
    counters.perturbations += 1


class Client(Role, symmetric=True):
    connection_id: int = 0
    member_id: int = 0
    member_epoch: int = JOIN
    status: ClientStatus = "JOINING"
    subscribed: frozenset[int] = ALL_TOPICS
    assigned: frozenset[Partition] = frozenset()  # the current assignment
    target: frozenset[Partition] = frozenset()  # the target assignment
    last_sent: frozenset[Partition] | None = None
    in_flight: bool = False
    recon: Reconciliation | None = None
    leave: Leave | None = None
    inbox: set[HeartbeatResponse] = set()

    def move_to(self, status: ClientStatus) -> None:
        assert may_move(self.status, status), "a legal transition"
        self.status = status

    @action(fair="weak")
    def send_heartbeat(self) -> None:
        """Send a heartbeat unless the group has converged, so that behaviors end."""
        require(not self.in_flight)
        require(not converged())
        topics = self.subscribed
        if counters.perturbations < PERTURBATIONS:
            topics = any_of(SUBSCRIPTIONS)
            if topics != self.subscribed:
                counters.perturbations += 1
        if self.connection_id == 0:
            counters.connection_id += 1
            self.connection_id = counters.connection_id
        partitions: frozenset[Partition] | None = None
        if self.last_sent != self.assigned or self.assigned != self.target:
            partitions = self.assigned
            self.last_sent = self.assigned
        self.subscribed = topics
        self.in_flight = True
        coordinator.inbox.add(
            HeartbeatRequest(
                self.member_id,
                self.member_epoch,
                topics,
                partitions,
                self.connection_id,
                source=self,
            )
        )
        network.last_discarded = None
        if self.status == "UNSUBSCRIBED":
            self.status = "JOINING"
        elif self.status == "ACKNOWLEDGING":
            self.status = "STABLE" if self.target == self.assigned else "RECONCILING"
        elif self.status == "LEAVING":
            self.status = "UNSUBSCRIBED"
            self.member_id = 0
            self.member_epoch = 0

    @action
    def start_leave_group(self) -> None:
        perturb()
        require(self.member_epoch > 0)
        require(self.status not in ("UNSUBSCRIBED", "PREPARE_LEAVING", "LEAVING"))
        self.move_to("PREPARE_LEAVING")
        self.leave = Leave(self.assigned)

    @action(fair="weak")
    def complete_leave_group(self) -> None:
        require(self.leave is not None)
        self.leave = None
        if self.status == "PREPARE_LEAVING":
            self.move_to("LEAVING")
            self.member_epoch = LEAVE
            self.subscribed = frozenset()
            self.assigned = frozenset()
            self.target = frozenset()
            self.last_sent = None

    @action(fair="weak")
    def complete_reconciliation(self) -> None:
        recon = self.recon
        require(recon is not None)
        self.recon = None
        if self.status == "RECONCILING" and recon.epoch_on_start == self.member_epoch:
            self.move_to("ACKNOWLEDGING")
            self.assigned = recon.assignment

    def take(self) -> HeartbeatResponse:
        response = any_of(m for m in self.inbox if m.connection_id == self.connection_id)
        self.inbox.remove(response)
        network.last_discarded = response
        return response

    @action(fair="weak")
    def receive_error(self) -> None:
        response = self.take()
        require(response.error is not None)
        self.in_flight = False
        if self.status != "UNSUBSCRIBED":
            leaving = self.status in ("PREPARE_LEAVING", "LEAVING")
            self.member_id = 0
            self.member_epoch = 0
            self.assigned = frozenset()
            self.target = frozenset()
            self.last_sent = None
            self.move_to("FENCED")
            self.move_to("UNSUBSCRIBED" if leaving else "JOINING")

    @action(fair="weak")
    def receive_success(self) -> None:
        response = self.take()
        require(response.error is None)
        self.in_flight = False
        if self.status in ("UNSUBSCRIBED", "PREPARE_LEAVING", "LEAVING"):
            return
        self.member_id = response.member_id
        self.member_epoch = response.member_epoch
        if response.assignment is None:
            if self.target == self.assigned:
                self.move_to("STABLE")
            elif self.status == "RECONCILING" and self.recon is None:
                self.reconcile()
        else:
            assert may_move(self.status, "RECONCILING")
            if response.assignment != self.assigned:
                self.target = response.assignment
                self.reconcile()
            elif self.status in ("JOINING", "RECONCILING"):
                self.move_to("STABLE")

    def reconcile(self) -> None:
        if self.recon is None:
            self.move_to("RECONCILING")
            self.recon = Reconciliation(self.member_epoch, self.target)

    @action
    def crash(self) -> None:
        perturb()
        require(self.member_epoch > 0)
        self.connection_id = 0
        self.member_id = 0
        self.member_epoch = JOIN
        self.status = "JOINING"
        self.subscribed = ALL_TOPICS
        self.assigned = frozenset()
        self.target = frozenset()
        self.last_sent = None
        self.in_flight = False
        self.recon = None
        self.leave = None


class Coordinator(Role):
    members: dict[int, Member] = {}
    epoch: int = 0
    status: GroupStatus = "EMPTY"
    target_epoch: int = 0
    target: dict[int, frozenset[Partition]] = {}
    partition_epoch: dict[Partition, int] = dict.fromkeys(ALL_PARTITIONS, 0)  # 0 is free
    inbox: set[HeartbeatRequest] = set()

    # Heartbeats -----------------------------------------------------------------------------

    def take(self, client: Client) -> HeartbeatRequest:
        request = any_of(m for m in self.inbox if m.source == client)
        self.inbox.remove(request)
        network.last_discarded = request
        return request

    def reply(
        self,
        request: HeartbeatRequest,
        member_id: int,
        member_epoch: int,
        assignment: frozenset[Partition] | None = None,
        error: ErrorCode | None = None,
    ) -> None:
        """Answer a request, unless its connection is closed."""
        client = request.source
        if request.connection_id == client.connection_id:
            client.inbox.add(
                HeartbeatResponse(
                    error,
                    member_epoch,
                    member_id,
                    assignment,
                    request.connection_id,
                    source=self,
                    dest=client,
                )
            )

    def is_unknown(self, request: HeartbeatRequest) -> bool:
        return request.member_id != 0 and request.member_id not in self.members

    def should_fence(self, request: HeartbeatRequest) -> bool:
        return (
            request.member_id in self.members
            and request.member_epoch != LEAVE
            and request.member_epoch != self.members[request.member_id].member_epoch
        )

    def is_leaving(self, request: HeartbeatRequest) -> bool:
        return request.member_id in self.members and request.member_epoch == LEAVE

    @action(fair="weak")
    def receive_bad_heartbeat(self, client: Client) -> None:
        request = self.take(client)
        if self.is_unknown(request):
            self.reply(request, 0, 0, error="UNKNOWN_MEMBER_ID")
        else:
            require(self.should_fence(request))
            self.fence(request.member_id)
            self.reply(request, 0, 0, error="FENCED_MEMBER_EPOCH")

    @action(fair="weak")
    def receive_leave_heartbeat(self, client: Client) -> None:
        request = self.take(client)
        require(self.is_leaving(request))
        self.fence(request.member_id)
        self.reply(request, request.member_id, LEAVE)

    @action(fair="weak")
    def receive_regular_heartbeat(self, client: Client) -> None:
        request = self.take(client)
        require(not self.is_unknown(request))
        require(not self.should_fence(request))
        require(not self.is_leaving(request))
        if request.member_id == 0:
            counters.member_id += 1
            known = None
            member = new_member(counters.member_id, client, request.subscribed)
        else:
            known = self.members[request.member_id]
            member = replace(
                known,
                subscribed=request.subscribed,
                reported=known.reported if request.partitions is None else request.partitions,
            )
        if known is None or known.subscribed != member.subscribed:
            self.epoch += 1
        if self.epoch > self.target_epoch:
            self.make_target(member)
        updated = self.next_assignment(member)
        self.update_partition_epochs(known, updated)
        self.members[member.member_id] = updated
        self.update_status()
        tell = request.partitions is not None or request.member_epoch == 0 or updated != member
        self.reply(
            request, updated.member_id, updated.member_epoch, updated.assigned if tell else None
        )

    # The target assignment -------------------------------------------------------------------

    def make_target(self, member: Member) -> None:
        """Choose an assignment: each partition goes to a member that subscribes to its topic."""
        subscribed = {mid: m.subscribed for mid, m in self.members.items()}
        subscribed[member.member_id] = member.subscribed
        owner = {
            p: any_of([mid for mid in subscribed if p[0] in subscribed[mid]])
            for p in ALL_PARTITIONS
        }
        self.target = {
            mid: frozenset(p for p in ALL_PARTITIONS if owner[p] == mid) for mid in subscribed
        }
        self.target_epoch = self.epoch

    # The current assignment of a member --------------------------------------------------------

    def next_assignment(self, member: Member) -> Member:
        if member.target_epoch != self.epoch:
            return self.towards(member, self.target[member.member_id])
        if member.status == "REVOKING":
            if not member.to_revoke or member.assigned == member.reported:
                return self.assign_what_is_free(member)
        if member.status == "ASSIGNING":
            if any(self.is_free(p) for p in member.to_assign):
                return self.assign_what_is_free(member)
        return member

    def towards(self, member: Member, target: frozenset[Partition]) -> Member:
        owned = member.assigned | member.to_revoke
        keep = owned & target
        to_revoke = owned - keep
        to_assign = target - keep
        if not to_revoke:
            return self.assign_what_is_free(replace(member, assigned=keep, to_assign=to_assign))
        return replace(
            member,
            status="REVOKING",
            target_epoch=self.epoch,
            assigned=keep,
            to_revoke=to_revoke,
            to_assign=to_assign,
        )

    def assign_what_is_free(self, member: Member) -> Member:
        free = frozenset(p for p in member.to_assign if self.is_free(p))
        to_assign = member.to_assign - free
        return replace(
            member,
            status="ASSIGNING" if to_assign else "STABLE",
            member_epoch=self.epoch,
            target_epoch=self.epoch,
            assigned=member.assigned | free,
            to_revoke=frozenset(),
            to_assign=to_assign,
        )

    def is_free(self, p: Partition) -> bool:
        return self.partition_epoch[p] == 0

    def update_partition_epochs(self, known: Member | None, updated: Member) -> None:
        owned = updated.assigned | updated.to_revoke
        owned_before = frozenset() if known is None else known.assigned | known.to_revoke
        for p in ALL_PARTITIONS:
            if p in owned:
                self.partition_epoch[p] = updated.member_epoch
            elif p in owned_before:
                self.partition_epoch[p] = 0

    # The group ---------------------------------------------------------------------------------

    def update_status(self) -> None:
        if not self.members:
            self.status = "EMPTY"
        elif self.epoch > self.target_epoch:
            self.status = "ASSIGNING"
        elif all(self.is_reconciled(m) for m in self.members.values()):
            self.status = "STABLE"
        else:
            self.status = "RECONCILING"

    def is_reconciled(self, member: Member) -> bool:
        return member.status == "STABLE" and member.target_epoch == self.target_epoch

    def fence(self, member_id: int) -> None:
        member = self.members.pop(member_id)
        for p in member.assigned | member.to_revoke:
            self.partition_epoch[p] = 0
        self.epoch += 1
        self.update_status()

    @action(fair="weak")
    def dead_member_expires(self) -> None:
        member_id = any_of(self.members)
        client = self.members[member_id].host
        require(client.member_id not in (0, member_id))
        require(client.status != "JOINING")
        self.fence(member_id)

    @action
    def live_member_expires(self, client: Client) -> None:
        perturb()
        self.fence(any_of(mid for mid, member in self.members.items() if member.host == client))


def new_member(member_id: int, host: Client, subscribed: frozenset[int]) -> Member:
    nothing: frozenset[Partition] = frozenset()
    return Member(
        member_id=member_id,
        host=host,
        member_epoch=0,
        target_epoch=0,
        subscribed=subscribed,
        status="STABLE",
        assigned=nothing,
        to_revoke=nothing,
        to_assign=nothing,
        reported=None,
    )


counters = Counters()
network = Network()
clients = [Client() for _ in range(CLIENTS)]
coordinator = Coordinator()
deadlock(False)  # a group that has converged takes no more steps


# Properties ------------------------------------------------------------------------------------


def is_settled(member: Member) -> bool:
    return member.status == "STABLE" and member.member_epoch == coordinator.epoch


def converged() -> bool:
    return (
        coordinator.status == "STABLE"
        and all(
            c.status == "STABLE"
            and c.member_epoch == coordinator.epoch
            and c.member_id in coordinator.members
            for c in clients
        )
        and all(is_settled(m) for m in coordinator.members.values())
    )


@always
def type_ok() -> bool:
    """Check the ranges that types do not express."""
    return (
        all(c.member_epoch >= LEAVE and c.member_id >= 0 for c in clients)
        and all(m.member_epoch >= 0 and m.target_epoch >= 0 for m in coordinator.members.values())
        and list(coordinator.partition_epoch) == ALL_PARTITIONS
        and all(epoch >= 0 for epoch in coordinator.partition_epoch.values())
    )


@always
def legal_target_assignment() -> bool:
    """Check that each partition is assigned to exactly one member."""
    target = coordinator.target
    return not target or all(sum(p in target[mid] for mid in target) == 1 for p in ALL_PARTITIONS)


@always
def no_double_client_assignment() -> bool:
    """Check that no two clients that are members have the same partition."""
    return not any(
        a.assigned & b.assigned
        for a, b in combinations(clients, 2)
        if a.member_id in coordinator.members and b.member_id in coordinator.members
    )


@always
def valid_partition_epoch() -> bool:
    """Check that no member has a free partition."""
    return not any(
        coordinator.partition_epoch[p] == 0
        for m in coordinator.members.values()
        for p in m.assigned | m.to_revoke
    )


@always
def valid_stable_group_state() -> bool:
    return coordinator.status != "STABLE" or all(
        is_settled(m) and not m.to_revoke and m.assigned == coordinator.target[mid]
        for mid, m in coordinator.members.items()
    )


@always
def valid_member_epoch() -> bool:
    """Check that a client in the target epoch has no partition of another member's target."""
    return all(
        c.member_epoch != coordinator.target_epoch
        or not any(
            c.assigned & assigned
            for mid, assigned in coordinator.target.items()
            if mid != c.member_id
        )
        for c in clients
    )


@on_step
def client_side_member_epoch_is_monotonic() -> bool:
    return all(c.member_epoch <= 0 or c.member_epoch >= old(c.member_epoch) for c in clients)


@on_step
def coordinator_side_member_epoch_is_monotonic() -> bool:
    before = old(coordinator.members)
    return all(
        member.member_epoch >= before[mid].member_epoch
        for mid, member in coordinator.members.items()
        if mid in before
    )


@exists
def has_converged() -> bool:
    return converged()


def not_converged() -> bool:
    return not converged()


eventually_converges = leads_to(not_converged, converged)

config("t1p0", TOPICS=1, PERTURBATIONS=0, expect=holds(distinct=4009, generated=9511, depth=26))
config("t2p0", TOPICS=2, PERTURBATIONS=0, expect=holds(distinct=7673, generated=17983, depth=26))
config("tlc", expect=holds(distinct=9_630_295, generated=30_142_395, depth=56))
