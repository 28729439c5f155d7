"""Kafka's consumer groups: clients, and the coordinator that answers their heartbeats.

A client says in each heartbeat who it is, in which epoch, what it subscribes to and, if that has
changed, which partitions it owns. The coordinator joins, reconciles, fences or releases it in one
step and answers. Fields that only say "as before" are left out of requests, as in Kafka.

Names of classes and methods are of Kafka's trunk when KAFKA-16147 was merged (January 2024, the
development of 3.8); docs/models/kafka-consumer-groups.md says what each leaves out.
"""

from typing import Literal

from statewalk import Auxiliary, Message, Record, Role, State, action, any_of, replace, require
from statewalk.models.kafka.membership.reconciling import Member
from statewalk.models.kafka.membership.settings import (
    ALL_PARTITIONS,
    ALL_TOPICS,
    CLIENTS,
    DISCONNECTS,
    FENCING,
    LATE,
    NOTHING,
    PERTURBATIONS,
    SUBSCRIPTIONS,
    VARIANT,
    Partition,
    Partitions,
    Topics,
)

ClientStatus = Literal[
    "JOINING",
    "STABLE",
    "RECONCILING",
    "ACKNOWLEDGING",
    "PREPARE_LEAVING",
    "LEAVING",
    "UNSUBSCRIBED",
]
GroupStatus = Literal["EMPTY", "ASSIGNING", "RECONCILING", "STABLE"]
Code = Literal["FENCED_MEMBER_EPOCH", "UNKNOWN_MEMBER_ID"]

NO_ID = 0
JOIN = 0  # member epochs that say what a heartbeat is for
LEAVE = -1

# From which statuses each may be entered: MemberState. FENCED is passed through in one step.
ENTERED_FROM: dict[str, tuple[ClientStatus, ...]] = {
    "JOINING": ("UNSUBSCRIBED",),
    "STABLE": ("JOINING", "ACKNOWLEDGING", "RECONCILING"),
    "RECONCILING": ("STABLE", "JOINING", "ACKNOWLEDGING"),
    "ACKNOWLEDGING": ("RECONCILING",),
    "PREPARE_LEAVING": ("JOINING", "STABLE", "RECONCILING", "ACKNOWLEDGING"),
    "LEAVING": ("PREPARE_LEAVING",),
    "UNSUBSCRIBED": ("LEAVING",),
}


# -- messages and records ------------------------------------------------------------------------
class Request(Message):
    source: "Client"
    connection: int
    member_id: int
    epoch: int
    subscribed: Topics
    owned: Partitions | None  # None: as said before


class Response(Message):
    source: "Coordinator"
    connection: int
    member_id: int = NO_ID
    epoch: int = 0
    assigned: Partitions | None = None  # None: as said before
    error: Code | None = None


class Reconciliation(Record):
    """Callbacks of the application, under way for an assignment."""

    epoch: int  # of the client when it began
    assigned: Partitions


class GroupMember(Member):
    host: "Client"


# -- what is counted -----------------------------------------------------------------------------
class Counters(State):
    member_ids: int = 0
    connections: int = 0
    perturbations: int = 0
    disconnects: int = 0


class Network(State):
    discarded: Auxiliary[Request | Response | None] = None  # in the last step that used it


def perturb() -> None:
    require(counters.perturbations < PERTURBATIONS)
    counters.perturbations += 1


# -- the client ----------------------------------------------------------------------------------
class Client(Role, symmetric=True):
    status: ClientStatus = "JOINING"
    member_id: int = NO_ID
    epoch: int = JOIN
    subscribed: Topics = ALL_TOPICS
    assigned: Partitions = NOTHING  # what it consumes
    target: Partitions = NOTHING  # what it was told; in the first candidate, as far as not done
    reported: Partitions | None = None  # the owned partitions it sent last
    reconciliation: Reconciliation | None = None
    leaving_with: Partitions | None = None  # what its callback for leaving has to release
    connection: int = 0
    is_waiting: bool = False
    inbox: set[Response] = set()

    def move_to(self, status: ClientStatus) -> None:
        assert self.status == status or self.status in ENTERED_FROM[status], "a legal transition"
        self.status = status

    def has_reconciled(self) -> bool:
        """MembershipManagerImpl.allPendingAssignmentsReconciled."""
        return not self.target if VARIANT == "first" else self.target == self.assigned

    def forget(self) -> None:
        """It is no member any more, or not yet."""
        self.member_id = NO_ID
        self.epoch = JOIN
        self.assigned = NOTHING
        self.target = NOTHING
        self.reported = None

    # -- heartbeats

    @action(fair="weak")
    def send_heartbeat(self) -> None:
        """HeartbeatRequestManager.poll and MembershipManagerImpl.onHeartbeatRequestSent.

        A group that has converged sends no more, so that behaviors may end.
        """
        require(not self.is_waiting)
        require(not converged())
        if counters.perturbations < PERTURBATIONS:
            subscribed = any_of(SUBSCRIPTIONS)
            if subscribed != self.subscribed:
                perturb()
            self.subscribed = subscribed
        if self.connection == 0:
            counters.connections += 1
            self.connection = counters.connections
        coordinator.inbox.add(
            Request(
                self, self.connection, self.member_id, self.epoch, self.subscribed, self.report()
            )
        )
        network.discarded = None
        self.is_waiting = True
        if self.status == "UNSUBSCRIBED":
            self.move_to("JOINING")
        elif self.status == "ACKNOWLEDGING":
            self.move_to("STABLE" if self.has_reconciled() else "RECONCILING")
        elif self.status == "LEAVING":
            self.move_to("UNSUBSCRIBED")
            self.member_id = NO_ID
            self.epoch = JOIN

    def report(self) -> Partitions | None:
        """HeartbeatState.buildRequestData: the owned partitions, unless they were sent before.

        The second candidate says them as long as they are not what it was told.
        """
        is_again = VARIANT == "second" and self.assigned != self.target
        if self.reported == self.assigned and not is_again:
            return None
        self.reported = self.assigned
        return self.assigned

    def report_again(self) -> None:
        """What was reconciled is reported even if it is what was sent last: LocalAssignment.

        Its local epoch came after KAFKA-16249, with KAFKA-16185.
        """
        if VARIANT == "kafka16249":
            self.reported = None

    def take(self) -> Response:
        response = any_of(m for m in self.inbox if m.connection == self.connection)
        self.inbox.remove(response)
        network.discarded = response
        self.is_waiting = False
        return response

    @action(fair="weak")
    def receive_error(self) -> None:
        """MembershipManagerImpl.transitionToFenced: it gives up all, and joins as a new member."""
        require(self.take().error is not None)
        if self.status != "UNSUBSCRIBED":
            is_leaving = self.status in ("PREPARE_LEAVING", "LEAVING")
            self.forget()
            self.status = "UNSUBSCRIBED" if is_leaving else "JOINING"

    @action(fair="weak")
    def receive_success(self) -> None:
        """MembershipManagerImpl.onHeartbeatResponseReceived."""
        response = self.take()
        require(response.error is None)
        if self.status in ("UNSUBSCRIBED", "PREPARE_LEAVING", "LEAVING"):
            return
        self.member_id = response.member_id
        self.epoch = response.epoch
        if response.assigned is None:
            if self.has_reconciled():
                self.move_to("STABLE")
            elif VARIANT != "first" and self.status == "RECONCILING":
                self.reconcile()
        elif response.assigned != self.assigned:
            self.target = response.assigned
            self.reconcile()
        else:
            self.target = response.assigned if VARIANT == "kafka16249" else self.target
            self.report_again()
            if self.status in ("JOINING", "RECONCILING"):
                self.move_to("STABLE")

    # -- reconciliation

    def reconcile(self) -> None:
        """MembershipManagerImpl.reconcile, unless one is under way."""
        if self.reconciliation is None:
            self.move_to("RECONCILING")
            self.reconciliation = Reconciliation(self.epoch, self.target)

    @action(fair="weak")
    def complete_reconciliation(self) -> None:
        """MembershipManagerImpl.revokeAndAssign; it is void if the epoch has changed meanwhile."""
        done = self.reconciliation
        require(done is not None)
        assert done is not None
        self.reconciliation = None
        if self.status == "RECONCILING" and done.epoch == self.epoch:
            self.move_to("ACKNOWLEDGING")
            self.assigned = done.assigned
            if VARIANT == "first":
                self.target -= done.assigned
            self.report_again()

    # -- leaving, crashing and losing a connection

    @action
    def start_leaving(self) -> None:
        """MembershipManagerImpl.leaveGroup."""
        perturb()
        require(self.epoch > 0)
        require(self.status not in ("UNSUBSCRIBED", "PREPARE_LEAVING", "LEAVING"))
        self.move_to("PREPARE_LEAVING")
        self.leaving_with = self.assigned

    @action(fair="weak")
    def complete_leaving(self) -> None:
        """MembershipManagerImpl.transitionToSendingLeaveGroup."""
        require(self.leaving_with is not None)
        self.leaving_with = None
        if self.status == "PREPARE_LEAVING":
            self.move_to("LEAVING")
            member_id = self.member_id
            self.forget()
            self.member_id = member_id
            self.epoch = LEAVE
            self.subscribed = frozenset()

    @action
    def crash(self) -> None:
        """And another one starts in its place, which has no member id yet."""
        perturb()
        require(self.epoch > 0)
        self.forget()
        self.status = "JOINING"
        self.subscribed = ALL_TOPICS
        self.reconciliation = None
        self.leaving_with = None
        self.connection = 0
        self.is_waiting = False

    if DISCONNECTS:

        @action
        def disconnect(self) -> None:
            """HeartbeatRequestManager.onFailure, which resets what was sent."""
            require(self.is_waiting and counters.disconnects < DISCONNECTS)
            counters.disconnects += 1
            if not LATE:
                coordinator.lose(self.connection)
            self.connection = 0
            self.is_waiting = False
            self.reported = None


# -- the coordinator -----------------------------------------------------------------------------
class Coordinator(Role):
    status: GroupStatus = "EMPTY"
    epoch: int = 0
    members: dict[int, GroupMember] = {}
    target_epoch: int = 0
    target: dict[int, Partitions] = {}
    partition_epoch: dict[Partition, int] = dict.fromkeys(ALL_PARTITIONS, 0)  # 0: it is free
    inbox: set[Request] = set()

    # -- heartbeats: GroupMetadataManager.consumerGroupHeartbeat

    def take(self, client: Client) -> Request:
        request = any_of(m for m in self.inbox if m.source == client)
        self.inbox.remove(request)
        network.discarded = request
        return request

    def answer(self, request: Request, response: Response) -> None:
        """Nobody hears what is said to a connection that is closed."""
        if request.source.connection == request.connection:
            request.source.inbox.add(response)

    def lose(self, connection: int) -> None:
        self.inbox = {m for m in self.inbox if m.connection != connection}

    def is_unknown(self, request: Request) -> bool:
        return request.member_id != NO_ID and request.member_id not in self.members

    def is_leaving(self, request: Request) -> bool:
        return request.member_id in self.members and request.epoch == LEAVE

    def is_fenced(self, request: Request) -> bool:
        """GroupMetadataManager.throwIfMemberEpochIsInvalid; the epoch before never passes here."""
        return (
            FENCING
            and request.member_id in self.members
            and request.epoch not in (LEAVE, self.members[request.member_id].epoch)
        )

    @action(fair="weak")
    def refuse_heartbeat(self, client: Client) -> None:
        request = self.take(client)
        error: Code = "UNKNOWN_MEMBER_ID"
        if not self.is_unknown(request):
            require(self.is_fenced(request))
            self.remove(request.member_id)
            error = "FENCED_MEMBER_EPOCH"
        self.answer(request, Response(self, request.connection, error=error))

    @action(fair="weak")
    def receive_leave(self, client: Client) -> None:
        """GroupMetadataManager.consumerGroupLeave."""
        request = self.take(client)
        require(self.is_leaving(request))
        self.remove(request.member_id)
        self.answer(request, Response(self, request.connection, request.member_id, LEAVE))

    @action(fair="weak")
    def receive_heartbeat(self, client: Client) -> None:
        request = self.take(client)
        require(not self.is_unknown(request))
        require(not self.is_fenced(request) and not self.is_leaving(request))
        known = self.members.get(request.member_id)
        member = self.join(request) if known is None else updated(known, request)
        if known is None or known.subscribed != member.subscribed:
            self.epoch += 1
        if self.epoch > self.target_epoch:
            self.choose_target(member)
        reconciled = member.reconciled(
            self.epoch, self.target[member.member_id], self.free(), request.owned
        )
        self.update_partition_epochs(known, reconciled)
        self.members[member.member_id] = reconciled
        self.update_status()
        is_told = request.owned is not None or request.epoch == JOIN or has_news(member, reconciled)
        self.answer(
            request,
            Response(
                self,
                request.connection,
                reconciled.member_id,
                reconciled.epoch,
                reconciled.assigned if is_told else None,
            ),
        )

    def join(self, request: Request) -> GroupMember:
        counters.member_ids += 1
        return GroupMember(
            member_id=counters.member_ids,
            epoch=0,
            target_epoch=0,
            subscribed=request.subscribed,
            status="STABLE",
            assigned=NOTHING,
            to_revoke=NOTHING,
            to_assign=NOTHING,
            reported=None,
            host=request.source,
        )

    # -- targets and epochs

    def choose_target(self, member: GroupMember) -> None:
        """TargetAssignmentBuilder.build, with any assignor: each partition to a subscriber."""
        subscribed = {m: known.subscribed for m, known in self.members.items()}
        subscribed[member.member_id] = member.subscribed
        owner = {
            p: any_of([m for m in subscribed if p[0] in subscribed[m]]) for p in ALL_PARTITIONS
        }
        self.target = {m: frozenset(p for p in owner if owner[p] == m) for m in subscribed}
        self.target_epoch = self.epoch

    def free(self) -> Partitions:
        return frozenset(p for p in ALL_PARTITIONS if self.partition_epoch[p] == 0)

    def update_partition_epochs(self, before: Member | None, after: Member | None) -> None:
        """ConsumerGroup.maybeUpdatePartitionEpoch: what a member owns has its epoch."""
        for p in before.owned() if before is not None else NOTHING:
            self.partition_epoch[p] = 0
        if after is not None:
            for p in after.owned():
                self.partition_epoch[p] = after.epoch

    def update_status(self) -> None:
        """ConsumerGroup.maybeUpdateGroupState."""
        if not self.members:
            self.status = "EMPTY"
        elif self.epoch > self.target_epoch:
            self.status = "ASSIGNING"
        elif all(
            m.status == "STABLE" and m.target_epoch == self.target_epoch
            for m in self.members.values()
        ):
            self.status = "STABLE"
        else:
            self.status = "RECONCILING"

    # -- ending a membership

    def remove(self, member_id: int) -> None:
        """GroupMetadataManager.consumerGroupFenceMember."""
        self.update_partition_epochs(self.members.pop(member_id), None)
        self.epoch += 1
        self.update_status()

    @action(fair="weak")
    def expire_dead_member(self) -> None:
        """The session of somebody who is another member by now, or none."""
        member_id = any_of(self.members)
        client = self.members[member_id].host
        require(client.member_id not in (NO_ID, member_id))
        require(client.status != "JOINING")
        self.remove(member_id)

    @action
    def expire_live_member(self, client: Client) -> None:
        """GroupMetadataManager.scheduleConsumerGroupSessionTimeout: its heartbeats are too slow."""
        perturb()
        self.remove(any_of([m for m, known in self.members.items() if known.host == client]))


def updated(known: GroupMember, request: Request) -> GroupMember:
    reported = known.reported if request.owned is None else request.owned
    return replace(known, subscribed=request.subscribed, reported=reported)


def has_news(before: Member, after: Member) -> bool:
    """Return whether the client has to be told its assignment, asked or not."""
    if VARIANT == "first":
        return after.status == "UNACKED"
    if VARIANT == "second":
        return after != before
    return after.assigned != before.assigned


def is_settled(member: Member) -> bool:
    return member.status == "STABLE" and member.epoch == coordinator.epoch


def converged() -> bool:
    return (
        coordinator.status == "STABLE"
        and all(
            client.status == "STABLE"
            and client.epoch == coordinator.epoch
            and client.member_id in coordinator.members
            for client in clients
        )
        and all(is_settled(member) for member in coordinator.members.values())
    )


# -- instances -----------------------------------------------------------------------------------
counters = Counters()
network = Network()
clients = [Client() for _ in range(CLIENTS)]
coordinator = Coordinator()
