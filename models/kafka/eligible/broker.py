"""Kafka's eligible leader replicas: a broker, which starts, stops, leads or follows."""

from statewalk import action, any_of, init, maybe, replace, require
from statewalk.models.kafka.eligible.controller import (
    Partition,
    Registration,
    controller,
    seen,
    subsets,
)
from statewalk.models.kafka.eligible.replica import (
    BLANK,
    UNKNOWN,
    AlterPartitionRequest,
    AlterPartitionResponse,
    Brokers,
    Code,
    Entry,
    Fetch,
    Fetcher,
    FetchRequest,
    FetchResponse,
    Metadata,
    Peer,
    RegisterRequest,
    RegisterResponse,
    Replica,
    history,
)
from statewalk.models.kafka.eligible.settings import (
    BROKERS,
    CLEAN_SHUTDOWNS,
    INITIAL_ISR,
    MIN_ISR,
    REPLICAS,
    SHRINKS,
    UNCLEAN_SHUTDOWNS,
    VALUES,
)


class Broker(Replica):
    # -- starting

    @action
    def start(self) -> None:
        """BrokerLifecycleManager.sendBrokerRegistration, with the epoch of a clean shutdown."""
        require(self.status in ("STOPPED", "CRASHED"))
        controller.incarnations += 1
        self.status = "STARTING"
        self.incarnation = controller.incarnations
        self.role = None
        controller.inbox.add(RegisterRequest(self, self.broker_epoch, self.incarnation))

    @action
    def receive_registration(self) -> None:
        """It reads the metadata log as it was when it registered, but for the last record."""
        response = any_of([m for m in self.inbox if isinstance(m, RegisterResponse)])
        require(self.status == "STARTING" and response.incarnation == self.incarnation)
        self.inbox.remove(response)
        self.status = "RUNNING"
        self.broker_epoch = response.broker_epoch
        self.read = max(response.read - 1, 0)
        self.metadata = UNKNOWN

    # -- stopping

    if CLEAN_SHUTDOWNS:

        @action
        def stop(self) -> None:
            """Nothing is lost. Only a clean shutdown leaves its epoch: CleanShutdownFileHandler."""
            require(controller.stops < CLEAN_SHUTDOWNS and self.is_up())
            controller.stops += 1
            if not maybe():
                self.broker_epoch = 0
            self.go_down()
            self.status = "STOPPED"

    if UNCLEAN_SHUTDOWNS:

        @action
        def crash(self) -> None:
            """The whole log is lost."""
            require(controller.crashes < UNCLEAN_SHUTDOWNS and self.is_up())
            controller.crashes += 1
            self.broker_epoch = 0
            self.go_down()
            self.status = "CRASHED"
            self.log = []
            self.high_watermark = 0
            self.epoch_start = None

    def is_up(self) -> bool:
        return self.status in ("STARTING", "RUNNING")

    def go_down(self) -> None:
        """And the controller notices."""
        if self.role == "LEADER":
            self.refuse_writes()
        self.incarnation = 0
        self.role = None
        self.asked = None
        self.floor = None
        self.forget_followers()
        for broker in brokers:
            if broker == self:
                self.fetchers = dict.fromkeys(self.fetchers, Fetcher())
                self.inbox = {
                    m for m in self.inbox if not isinstance(m, FetchRequest | FetchResponse)
                }
            else:
                broker.fail_fetches_from(self)
        controller.fence(self)

    # -- metadata: ReplicaManager.applyDelta

    @action
    def read_metadata(self) -> None:
        """Up to some record that concerns this replica, in one step."""
        require(self.status == "RUNNING")
        read = any_of(
            [
                n + 1
                for n in range(self.read, len(controller.log))
                if self.is_concerned(controller.log[n])
            ]
        )
        self.read = read
        new = seen(controller.log[read - 1])
        if new.partition_epoch > self.metadata.partition_epoch:
            self.apply(new)

    def is_concerned(self, change: Partition) -> bool:
        if self.role == "LEADER":
            return True
        if self in self.metadata.replicas:
            return change.leader_epoch > self.metadata.leader_epoch
        return self in change.replicas

    def apply(self, new: Metadata) -> None:
        known = self.metadata
        if self not in new.replicas:
            require(self in known.replicas)
            self.delete(new)
            return
        self.metadata = new
        if new.leader == self:
            if known.leader == self and known.leader_epoch == new.leader_epoch:
                self.remain_leader(new)
            else:
                self.become_leader(new)
        elif new.leader is None:
            self.renounce(new)
            self.role = None
            self.stop_fetching()
            self.epoch_start = None
        elif known.leader_epoch != new.leader_epoch or known.leader == self:
            self.become_follower(new, new.leader, known.leader_epoch)

    def remain_leader(self, new: Metadata) -> None:
        self.raise_high_watermark(new.isr, self.committed(new.maximal_isr))
        if self.asked is not None and new.partition_epoch > self.asked.partition_epoch:
            self.asked = None

    def become_leader(self, new: Metadata) -> None:
        """Partition.makeLeader. Followers of an older epoch have to show what they have anew."""
        self.raise_high_watermark(new.isr, self.committed(new.maximal_isr))
        self.forget_followers(keep=new.isr if self.role == "LEADER" else frozenset())
        self.role = "LEADER"
        self.epoch_start = len(self.log)
        self.asked = None
        self.stop_fetching()

    def become_follower(self, new: Metadata, leader: Replica, epoch_before: int) -> None:
        """Partition.makeFollower. It drops records only when a fetch shows that it has to."""
        self.renounce(new)
        self.role = "FOLLOWER"
        self.epoch_start = None
        if new.leader_epoch > epoch_before or self.fetchers[leader].partition is None:
            self.stop_fetching()
            fetch = Fetch(len(self.log), self.last_epoch())
            self.fetchers[leader] = Fetcher(fetch, self.fetchers[leader].is_waiting)

    def delete(self, new: Metadata) -> None:
        """Partition.delete: a reassignment has removed this replica."""
        self.renounce(new)
        self.metadata = UNKNOWN
        self.role = None
        self.stop_fetching()
        self.epoch_start = None
        self.log = []
        self.high_watermark = 0

    def renounce(self, new: Metadata) -> None:
        """What it was as leader, if it was, is over."""
        if len(new.isr) < MIN_ISR or new.leader != self:
            self.refuse_writes()
        self.forget_followers()
        self.asked = None
        self.floor = None

    # -- as leader

    @action
    def write(self) -> None:
        """Partition.appendRecordsToLeader, with acks=all."""
        require(self.status == "RUNNING" and self.role == "LEADER")
        require(len(self.metadata.maximal_isr) >= MIN_ISR)
        value = any_of([v for v in range(VALUES) if v not in history.sent])
        history.sent.add(value)
        end = self.committed(self.metadata.maximal_isr)
        if self.floor is None:
            self.floor = len(self.log)
        self.log.append(Entry(self.metadata.leader_epoch, value))
        if end > 0:  # as in the public spec, the first record waits for the next event
            end = self.committed(self.metadata.maximal_isr)
        self.raise_high_watermark(self.metadata.isr, end)

    @action
    def ask_for_isr(self) -> None:
        """Partition.maybeExpandIsr and maybeShrinkIsr: AlterPartitionManager.submit."""
        require(self.status == "RUNNING" and self.role == "LEADER" and not self.is_asking())
        known = self.metadata
        slow: Brokers = frozenset()
        if controller.shrinks < SHRINKS:
            slow = any_of(subsets(known.isr - {self}))
        isr = frozenset(
            b
            for b in known.replicas
            if b == self or (b not in slow if b in known.isr else self.is_caught_up(b))
        )
        require(isr != known.isr)
        if not known.isr <= isr:
            controller.shrinks += 1
        self.asked = AlterPartitionRequest(
            self,
            isr,
            frozenset((b, self.epoch_to_claim(b)) for b in isr),
            known.leader_epoch,
            known.partition_epoch,
            self.broker_epoch,
        )
        controller.inbox.add(self.asked)
        self.metadata = replace(known, maximal_isr=isr | known.isr)

    def is_caught_up(self, follower: Replica) -> bool:
        """Partition.isFollowerInSync: up to the high watermark, and to where this epoch began."""
        end = self.peers[follower].end
        if end is None or self.epoch_start is None:
            return False
        return end >= self.high_watermark and end >= self.epoch_start

    def epoch_to_claim(self, broker: Replica) -> int:
        if broker == self:
            return self.broker_epoch
        return 0 if broker in self.metadata.isr else self.peers[broker].broker_epoch

    @action
    def receive_isr(self) -> None:
        """Partition.handleAlterPartitionUpdate, or handleAlterPartitionError: as it was before."""
        response = any_of([m for m in self.inbox if isinstance(m, AlterPartitionResponse)])
        require(self.status == "RUNNING" and self.role == "LEADER" and self.is_asking())
        require(response.request == self.asked)
        new = replace(self.metadata, maximal_isr=self.metadata.isr)
        if response.error is None:
            new = response.metadata
            require(new.partition_epoch > self.metadata.partition_epoch)
            require(new.leader_epoch == self.metadata.leader_epoch)
        self.inbox.remove(response)
        self.asked = None
        self.metadata = new
        self.raise_high_watermark(new.isr, self.committed(new.maximal_isr))

    # -- fetching

    @action
    def send_fetch(self, leader: Replica) -> None:
        """AbstractFetcherThread.maybeFetch, as long as the two have something to tell."""
        fetcher = self.fetchers[leader]
        require(leader != self and self.status == "RUNNING" and self.metadata.leader == leader)
        partition = fetcher.partition
        require(partition is not None and not fetcher.is_waiting)
        assert partition is not None
        require(not self.has_all_of(leader))
        leader.inbox.add(
            FetchRequest(
                self,
                self.broker_epoch,
                self.metadata.leader_epoch,
                partition.offset,
                partition.last_epoch,
            )
        )
        self.fetchers[leader] = Fetcher(replace(partition, delayed=False), True)

    def has_all_of(self, leader: Replica) -> bool:
        return (
            len(leader.log) == len(self.log)
            and leader.high_watermark == self.high_watermark
            and leader.peers[self] == Peer(len(self.log), self.broker_epoch)
        )

    @action
    def receive_fetch(self) -> None:
        """Partition.fetchRecords, and updateFollowerFetchState. One record at a time."""
        request = any_of([m for m in self.inbox if isinstance(m, FetchRequest)])
        require(self.status == "RUNNING")
        self.inbox.remove(request)
        epoch = self.metadata.leader_epoch
        answer = FetchResponse(self, epoch, request.offset, self.high_watermark)
        end = self.end_of_epoch(request.last_epoch, leads=True)
        if self.role != "LEADER" or epoch != request.leader_epoch:
            error: Code = "NOT_LEADER_OR_FOLLOWER"
            if epoch < request.leader_epoch:
                error = "UNKNOWN_LEADER_EPOCH"
            elif epoch > request.leader_epoch:
                error = "FENCED_LEADER_EPOCH"
            request.source.inbox.add(replace(answer, error=error))
        elif end.epoch < request.last_epoch or end.end < request.offset:
            request.source.inbox.add(replace(answer, diverging=end))
        else:
            self.peers[request.source] = Peer(request.offset, request.broker_epoch)
            self.raise_high_watermark(self.metadata.isr, self.committed(self.metadata.maximal_isr))
            request.source.inbox.add(
                replace(
                    answer,
                    high_watermark=self.high_watermark,
                    records=tuple(self.log[request.offset : request.offset + 1]),
                )
            )

    @action
    def receive_fetched(self, leader: Replica) -> None:
        """AbstractFetcherThread.processFetchRequest."""
        response = any_of(
            [m for m in self.inbox if isinstance(m, FetchResponse) and m.source == leader]
        )
        fetcher = self.fetchers[leader]
        require(self.status == "RUNNING" and fetcher.is_waiting)
        self.inbox.remove(response)
        fetch = fetcher.partition
        if (
            fetch is not None
            and fetch.offset == response.offset
            and self.metadata.leader_epoch == response.leader_epoch
        ):
            fetch = self.fetched(fetch, response)
        self.fetchers[leader] = Fetcher(fetch)

    def fetched(self, fetch: Fetch, response: FetchResponse) -> Fetch:
        if response.error is not None:
            return replace(fetch, delayed=True)
        if response.diverging is not None:
            self.log = self.log[: self.truncation_point(response.diverging)]
            return Fetch(len(self.log), self.last_epoch())
        self.log += response.records
        if response.high_watermark <= len(self.log):
            self.high_watermark = response.high_watermark
        return Fetch(
            len(self.log), response.records[-1].epoch if response.records else fetch.last_epoch
        )


# -- instances and initial state -----------------------------------------------------------------
brokers = [Broker() for _ in range(BROKERS)]


@init
def begin_with_a_leader() -> None:
    """Broker 0 leads. Who is not in the ISR is fenced, and knows less."""
    leader = brokers[0]
    replicas: Brokers = frozenset(brokers[:REPLICAS])
    isr: Brokers = frozenset(brokers[:INITIAL_ISR])
    partition = Partition(replicas, isr, leader, 1, 1 if isr == replicas else 2)
    controller.log = [partition]
    controller.broker_epochs = BROKERS
    controller.incarnations = BROKERS
    for broker in brokers:
        number = broker.index + 1
        is_behind = broker in replicas - isr
        controller.registered[broker] = Registration(is_behind, number, number)
        broker.broker_epoch = number
        broker.incarnation = number
        broker.read = 0 if is_behind else 1
        if broker in isr:
            broker.metadata = seen(partition)
        elif is_behind:
            broker.metadata = Metadata(replicas, replicas, replicas, leader, 1, 1)
        broker.peers = dict.fromkeys(brokers, BLANK)
        broker.fetchers = dict.fromkeys(brokers, Fetcher())
        if broker == leader:
            broker.role = "LEADER"
            broker.epoch_start = 0
        else:
            broker.role = "FOLLOWER" if broker in replicas else None
            broker.fetchers[leader] = Fetcher(Fetch(0, 0))
