"""Kafka's eligible leader replicas: the controller, which fences brokers and elects leaders.

Each change of the partition is a record of the metadata log, which brokers read in time.
"""

from itertools import combinations

from statewalk import Record, Role, action, any_of, replace, require
from statewalk.models.kafka.eligible.replica import (
    AlterPartitionRequest,
    AlterPartitionResponse,
    Brokers,
    Metadata,
    Refusal,
    RegisterRequest,
    RegisterResponse,
    Replica,
)
from statewalk.models.kafka.eligible.settings import FENCES, MIN_ISR, REASSIGNMENTS, VARIANT

NOBODY: Brokers = frozenset()


class Registration(Record):
    is_fenced: bool
    broker_epoch: int
    incarnation: int


class Partition(Record):
    """A PartitionChangeRecord, with all fields: PartitionRegistration of the controller."""

    replicas: Brokers
    isr: Brokers
    leader: Replica | None
    leader_epoch: int
    partition_epoch: int
    elr: Brokers = NOBODY
    last_known_elr: Brokers = NOBODY
    adding: Brokers = NOBODY
    removing: Brokers = NOBODY


class Controller(Role):
    registered: dict[Replica, Registration] = {}
    log: list[Partition] = []
    inbox: set[RegisterRequest | AlterPartitionRequest] = set()
    broker_epochs: int = 0  # given so far
    incarnations: int = 0
    fences: int = 0
    shrinks: int = 0
    reassignments: int = 0
    stops: int = 0
    crashes: int = 0

    def now(self) -> Partition:
        return self.log[-1]

    def unfenced(self) -> Brokers:
        return frozenset(b for b, known in self.registered.items() if not known.is_fenced)

    # -- changes of the partition: PartitionChangeBuilder

    def eligible_after(self, isr: Brokers, replicas: Brokers) -> Brokers:
        """PartitionChangeBuilder.maybePopulateTargetElr: who leaves an ISR below the minimum."""
        now = self.now()
        if VARIANT == "isr" or len(isr) >= MIN_ISR:
            return NOBODY
        return (now.elr & replicas) | ((now.isr & replicas) - isr)

    def change(self, to: Partition) -> None:
        now = self.now()
        last_known = now.last_known_elr | (to.replicas & (now.elr - to.elr))
        if len(to.isr) >= MIN_ISR or VARIANT == "isr":
            last_known = NOBODY
        self.log.append(
            replace(to, last_known_elr=last_known, partition_epoch=now.partition_epoch + 1)
        )

    def elect(self, isr: Brokers, elr: Brokers) -> None:
        """ReplicationControlManager.generateLeaderAndIsrUpdates, after a broker came or went."""
        now = self.now()
        unfenced = self.unfenced()
        if now.leader in isr & unfenced or (now.leader is None and not (isr | elr) & unfenced):
            if (isr, elr) != (now.isr, now.elr):
                self.change(replace(now, isr=isr, elr=elr))
            return
        leader: Replica | None = None
        if isr & unfenced:
            leader = any_of(isr & unfenced)
        elif elr & unfenced:
            leader = any_of(elr & unfenced)
            isr = isr | {leader}
            elr = elr - {leader}
        self.change(
            replace(now, isr=isr, elr=elr, leader=leader, leader_epoch=now.leader_epoch + 1)
        )

    def without(self, broker: Replica) -> Brokers:
        """Return the ISR without a broker; before KIP-966 the last member stays."""
        isr = self.now().isr
        return isr if VARIANT == "isr" and isr == {broker} else isr - {broker}

    # -- brokers come and go

    def fence(self, broker: Replica) -> None:
        self.registered[broker].is_fenced = True
        isr = self.without(broker)
        self.elect(isr, self.eligible_after(isr, self.now().replicas))

    def unfence(self, broker: Replica) -> None:
        self.registered[broker].is_fenced = False
        if self.now().leader is None:
            self.elect(self.now().isr, self.now().elr)

    @action
    def fence_broker(self, broker: Replica) -> None:
        """ReplicationControlManager.handleBrokerFenced: no heartbeat came in time."""
        require(self.fences < FENCES and not self.registered[broker].is_fenced)
        self.fences += 1
        self.fence(broker)

    @action
    def unfence_broker(self, broker: Replica) -> None:
        """ReplicationControlManager.handleBrokerUnfenced; its heartbeats are not modeled."""
        require(self.registered[broker].is_fenced and broker.status == "RUNNING")
        self.unfence(broker)

    @action
    def register_broker(self, broker: Replica) -> None:
        """ClusterControlManager.registerBroker, and the broker is unfenced at once.

        With KIP-966 a broker that did not shut down cleanly leaves ISR and ELR:
        ReplicationControlManager.handleBrokerUncleanShutdown.
        """
        request = any_of(
            [m for m in self.inbox if isinstance(m, RegisterRequest) and m.source == broker]
        )
        known = self.registered[broker]
        require(known.is_fenced or known.incarnation == request.incarnation)
        self.inbox.remove(request)
        read = len(self.log)
        self.broker_epochs += 1
        if VARIANT == "kip966" and request.broker_epoch == 0:
            known.is_fenced = False
            self.elect(self.without(broker), self.now().elr - {broker})
        else:
            self.unfence(broker)
        self.registered[broker] = Registration(False, self.broker_epochs, request.incarnation)
        broker.inbox.add(RegisterResponse(self.broker_epochs, request.incarnation, read))

    # -- the leader changes the ISR

    def refuses(self, request: AlterPartitionRequest) -> Refusal | None:
        """ReplicationControlManager.validateAlterPartitionData."""
        now = self.now()
        leader = self.registered[request.source]
        if (
            request.source != now.leader
            or request.broker_epoch != leader.broker_epoch
            or request.partition_epoch != now.partition_epoch
        ):
            return "FENCED_LEADER_EPOCH"
        for member, epoch in request.epochs:
            known = self.registered[member]
            if known.is_fenced or epoch not in (0, known.broker_epoch):
                return "INELIGIBLE_REPLICA"
        return None

    @action
    def alter_partition(self, broker: Replica) -> None:
        """ReplicationControlManager.alterPartition. It may complete a reassignment."""
        request = any_of(
            [m for m in self.inbox if isinstance(m, AlterPartitionRequest) and m.source == broker]
        )
        self.inbox.remove(request)
        error = self.refuses(request)
        if error is not None:
            broker.inbox.add(AlterPartitionResponse(request, error))
            return
        now = self.now()
        if now.adding or now.removing:
            self.reassign(now.replicas, request.isr, now.adding, now.removing)
        else:
            self.change_isr(replace(now, isr=request.isr))
        to = self.now()
        broker.inbox.add(AlterPartitionResponse(request, None, seen(to)))

    def change_isr(self, to: Partition) -> None:
        """The leader stays if it can."""
        leader = to.leader if to.leader in to.isr else any_of(to.isr)
        self.change(replace(to, leader=leader, elr=self.eligible_after(to.isr, to.replicas)))

    # -- reassignments

    def reassign(self, replicas: Brokers, isr: Brokers, adding: Brokers, removing: Brokers) -> None:
        """PartitionReassignmentReplicas.maybeCompleteReassignment, or go on until it can be."""
        now = self.now()
        final = isr - removing
        if adding <= final and len(final) >= MIN_ISR:
            self.change_isr(
                replace(
                    now,
                    replicas=(replicas | adding) - removing,
                    isr=final,
                    leader_epoch=now.leader_epoch + 1,
                    adding=NOBODY,
                    removing=NOBODY,
                )
            )
        else:
            self.change_isr(
                replace(now, replicas=replicas | adding, isr=isr, adding=adding, removing=removing)
            )

    if REASSIGNMENTS:

        @action
        def begin_reassignment(self) -> None:
            """ReplicationControlManager.alterPartitionReassignments."""
            now = self.now()
            require(self.reassignments < REASSIGNMENTS and not (now.adding or now.removing))
            adding = any_of(subsets(frozenset(self.registered) - now.replicas))
            removing = any_of(subsets(now.replicas))
            require(adding or removing)
            require(len(now.replicas | adding) - len(removing) >= MIN_ISR)
            self.reassignments += 1
            self.reassign(now.replicas, now.isr, adding, removing)


def subsets(brokers: Brokers) -> list[Brokers]:
    return [frozenset(some) for n in range(len(brokers) + 1) for some in combinations(brokers, n)]


def seen(partition: Partition) -> Metadata:
    """Return what a broker learns of a change. It knows nothing of eligible replicas."""
    return Metadata(
        partition.replicas,
        partition.isr,
        partition.isr,
        partition.leader,
        partition.leader_epoch,
        partition.partition_epoch,
    )


controller = Controller()
