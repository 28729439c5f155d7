"""Kafka replication: to where a follower shortens its log, and four proposals that changed it.

A partition has replicas. One leads, the others fetch from it. A record counts as committed once it
lies below the high watermark: every in-sync replica has it. A follower learns the high watermark
one fetch late, so what lies above its own may be committed or not; when it comes to follow another
leader it must drop what that leader does not have. `TRUNCATION` says to where.

All else is one protocol. A rule also differs in what a leader asks of a follower before it counts
it: `follows`, `has_reached`, `may_add_to_isr`. The bounds and the grain of steps are those of the
public TLA+ specs of these rules, so that numbers can be compared; names of classes and methods are
of Kafka 2.1.

Simplified: ZooKeeper is read and written in one step, by whoever may; a LeaderAndIsr request is
never lost and may be acted on however late; a fetch is one step and brings one record. Left out:
unclean elections, failing disks, leaders that are slow rather than replaced.
"""

from typing import Literal

from statewalk import (
    Constant,
    Record,
    Role,
    action,
    always,
    any_of,
    config,
    deadlock,
    draw,
    exists,
    old,
    on_step,
    picture,
    require,
)
from statewalk.models.kafka.replication_rows import ROWS

# -- constants -----------------------------------------------------------------------------------
REPLICAS: Constant[int] = 2
LOG_SIZE: Constant[int] = 2
MAX_RECORDS: Constant[int] = 2
MAX_EPOCH: Constant[int] = 1  # leader epochs are 0 to MAX_EPOCH
TRUNCATION: Constant[  # to where a follower shortens its log
    Literal[
        "high_watermark",  # to its own high watermark, before Kafka 0.11
        "kip101",  # to where the leader's log leaves the epoch of the follower's last record
        "kip279",  # to the end of what both logs have in common
        "kip320_first",  # a try at KIP-320: once a fetch does not fit, and leaders compare epochs
        "kip320",  # Kafka 2.1: once an epoch, by the log of its leader, who refuses other epochs
    ]
] = "kip320"

COMPARES_EPOCHS = TRUNCATION in ("kip320_first", "kip320")


class Entry(Record):
    id: int  # each write has its own
    epoch: int  # of the leader that took it


class LeaderAndIsr(Record):
    """A request of the controller to the replicas, and what the quorum holds."""

    epoch: int
    leader: "Replica | None"
    isr: frozenset["Replica"]


# -- the controller ------------------------------------------------------------------------------
class Quorum(Role):
    """ZooKeeper's state of the partition, and the controller's view of it."""

    epoch: int = -1
    leader: "Replica | None" = None
    isr: frozenset["Replica"]
    requests: set[LeaderAndIsr] = set()  # all that were ever sent
    records: int = 0  # written so far, by whichever leader

    def announce(self, leader: "Replica | None", isr: frozenset["Replica"]) -> None:
        require(self.epoch < MAX_EPOCH)
        self.epoch += 1
        self.leader = leader
        self.isr = isr
        self.requests.add(LeaderAndIsr(self.epoch, leader, isr))

    @action
    def take_out(self, replica: "Replica") -> None:
        """A broker fails or shuts down: ReplicaStateMachine.doRemoveReplicasFromIsr.

        A leader that is the only member stays in the ISR. The broker may well go on, not knowing.
        """
        if self.leader == replica:
            self.announce(None, self.isr - {replica} or self.isr)
        else:
            require(replica in self.isr)
            self.announce(self.leader, self.isr - {replica})

    @action
    def elect(self, replica: "Replica") -> None:
        """Any other member of the ISR: PartitionStateMachine.doElectLeaderForPartitions."""
        require(replica in self.isr and replica != self.leader)
        self.announce(replica, self.isr)


# -- a replica -----------------------------------------------------------------------------------
class Replica(Role):
    log: list[Entry] = []
    high_watermark: int = 0  # records below it are committed, as far as this replica knows
    epoch: int = -1
    leader: "Replica | None" = None  # whom it believes to lead; itself if it leads
    isr: frozenset["Replica"] = frozenset()

    def leads(self) -> bool:
        """Return whether it believes so: a zombie does, too."""
        return self.leader == self

    def obey(self, request: LeaderAndIsr) -> None:
        self.epoch = request.epoch
        self.leader = request.leader
        self.isr = request.isr

    def newer_requests(self, leader: "Replica") -> list[LeaderAndIsr]:
        return [r for r in quorum.requests if r.leader == leader and r.epoch > self.epoch]

    # -- what a leader asks of a follower

    def follows(self, leader: "Replica") -> bool:
        """Return whether the leader takes this replica's fetches.

        Partition.checkCurrentLeaderEpoch came with KIP-320; before, epochs made no difference.
        """
        if not leader.leads() or self.leader != leader:
            return False
        return TRUNCATION != "kip320" or self.epoch == leader.epoch

    def has_reached(self, leader: "Replica", end: int) -> bool:
        """Return whether the leader takes this replica to have its log up to `end`."""
        if not self.follows(leader) or min(len(self.log), len(leader.log)) < end:
            return False
        if TRUNCATION != "kip320_first" or end == 0:
            return True
        return self.log[end - 1].epoch == leader.log[end - 1].epoch

    def may_add_to_isr(self) -> bool:
        """Return whether this leader's high watermark has come to its own epoch.

        Below that it does not know what its predecessor had committed.
        """
        if not COMPARES_EPOCHS or self.high_watermark == len(self.log):
            return True
        return self.log[self.high_watermark].epoch == self.epoch

    # -- as leader

    @action
    def become_leader(self) -> None:
        """Partition.makeLeader. The high watermark stays where it was as a follower: behind."""
        self.obey(any_of(self.newer_requests(self)))

    @action
    def write(self) -> None:
        """A producer's record: Partition.appendRecordsToLeader."""
        require(self.leads())
        require(quorum.records < MAX_RECORDS and len(self.log) < LOG_SIZE)
        self.log.append(Entry(quorum.records, self.epoch))
        quorum.records += 1

    @action
    def raise_high_watermark(self) -> None:
        """Partition.maybeIncrementLeaderHW, which goes by what followers last fetched."""
        require(self.leads())
        require(all(replica.has_reached(self, self.high_watermark + 1) for replica in self.isr))
        self.high_watermark += 1

    @action
    def shrink_isr(self, replica: "Replica") -> None:
        """Partition.maybeShrinkIsr; that the replica lags for too long is left to chance."""
        require(replica in self.isr and replica != self)
        require(not replica.has_reached(self, len(self.log)))
        self.update_isr(self.isr - {replica})

    @action
    def expand_isr(self, replica: "Replica") -> None:
        """Partition.maybeExpandIsr."""
        require(replica not in self.isr)
        require(replica.has_reached(self, self.high_watermark) and self.may_add_to_isr())
        self.update_isr(self.isr | {replica})

    def update_isr(self, isr: frozenset["Replica"]) -> None:
        """Partition.updateIsr: ZooKeeper takes it only from the leader it knows, in its epoch."""
        require(self.leads() and quorum.leader == self and quorum.epoch == self.epoch)
        self.isr = isr
        quorum.isr = isr

    # -- as follower

    @action
    def become_follower(self, leader: "Replica") -> None:
        """Partition.makeFollower, then AbstractFetcherThread.maybeTruncate, before any fetch."""
        require(leader != self)
        request = any_of(self.newer_requests(leader))
        if TRUNCATION == "kip320":
            require(leader.leads() and leader.epoch == request.epoch)
        if TRUNCATION != "kip320_first":
            self.truncate(self.truncation_point(leader))
        self.obey(request)

    @action
    def fetch(self, leader: "Replica") -> None:
        """A record, and the leader's high watermark: ReplicaFetcherThread.processPartitionData."""
        end = len(self.log)
        require(self.follows(leader) and end < len(leader.log))
        if TRUNCATION == "kip320_first":
            require(self.has_reached(leader, end))
        self.log.append(leader.log[end])
        self.high_watermark = min(leader.high_watermark, end + 1)

    if TRUNCATION == "kip320_first":

        @action
        def truncate_on_mismatch(self, leader: "Replica") -> None:
            """No method of Kafka: a fetch is answered with an error, since last records differ."""
            require(self.follows(leader) and self.log)
            last = len(self.log) - 1
            require(last >= len(leader.log) or self.log[last].epoch != leader.log[last].epoch)
            self.truncate(self.end_in_common(leader))

    def truncate(self, end: int) -> None:
        require(end <= len(self.log))  # a leader that is ahead: nothing to drop, another request
        self.log = self.log[:end]
        self.high_watermark = min(self.high_watermark, end)

    # -- the rule

    def truncation_point(self, leader: "Replica") -> int:
        if TRUNCATION == "high_watermark":
            return self.high_watermark
        if TRUNCATION == "kip101":
            return self.end_of_last_epoch(leader)
        return self.end_in_common(leader)

    def end_of_last_epoch(self, leader: "Replica") -> int:
        """Return where the leader's log goes on to a later epoch than that of this replica's last
        record.

        LeaderEpochFileCache.endOffsetFor, which knows nothing of an epoch that the leader missed.
        """
        if not self.log:
            return 0
        epoch = self.log[-1].epoch
        if leader.log and leader.log[-1].epoch == epoch:
            return len(leader.log)
        later = [offset for offset, entry in enumerate(leader.log) if entry.epoch > epoch]
        return later[0] if later else self.high_watermark

    def end_in_common(self, leader: "Replica") -> int:
        """Behind the last record that both have at the same place.

        AbstractFetcherThread.getOffsetTruncationState comes to it epoch by epoch.
        """
        both = range(min(len(self.log), len(leader.log)))
        return max([n + 1 for n in both if self.log[n] == leader.log[n]], default=0)


replicas = [Replica() for _ in range(REPLICAS)]
quorum = Quorum(isr=frozenset(replicas))
deadlock(False)  # records and epochs run out


# -- properties ----------------------------------------------------------------------------------
def have_committed(leader: Replica, isr: frozenset[Replica]) -> bool:
    end = leader.high_watermark
    return all(replica.log[:end] == leader.log[:end] for replica in isr)


@always
def weak_isr() -> bool:
    """Whoever believes that it leads: its ISR has all that it calls committed."""
    return all(have_committed(leader, leader.isr) for leader in replicas if leader.leads())


@always
def strong_isr() -> bool:
    """Whoever believes that it leads: all that can be elected have what it calls committed."""
    return all(have_committed(leader, quorum.isr) for leader in replicas if leader.leads())


@always
def leader_in_isr() -> bool:
    return quorum.leader is None or quorum.leader in quorum.isr


@on_step
def high_watermark_monotone() -> bool:
    """A leader's high watermark never falls within its epoch."""
    return all(
        replica.high_watermark >= old(replica.high_watermark)
        for replica in replicas
        if replica.leads() and old(replica.leads()) and replica.epoch == old(replica.epoch)
    )


@on_step
def no_committed_record_lost() -> bool:
    """No step takes a record that a leader called committed from all that can be elected.

    An ISR that was emptied has nobody to elect. Kafka keeps its last member; here, as in the public
    specs, it can go while nobody leads.
    """
    return not quorum.isr or all(
        any(entry in replica.log for replica in quorum.isr)
        for leader in replicas
        if old(leader.leads())
        for entry in old(leader.log[: leader.high_watermark])
        if old(any(entry in replica.log for replica in quorum.isr))
    )


# -- a picture -----------------------------------------------------------------------------------
@picture
def logs() -> draw.Part:
    """Records have the color of their epoch; strong ones lie below the high watermark."""
    return draw.grid(
        *(
            [
                replica,
                draw.token(f"epoch {replica.epoch}", color=replica.epoch, strong=replica.leads()),
                "leads" if replica.leads() else f"follows {replica.leader}",
                replica.isr,
                *(
                    draw.box(entry.id, color=entry.epoch, strong=at < replica.high_watermark)
                    for at, entry in enumerate(replica.log)
                ),
            ]
            for replica in replicas
        ),
        [
            quorum,
            draw.token(f"epoch {quorum.epoch}", color=quorum.epoch),
            f"has {quorum.leader} lead",
            quorum.isr,
        ],
        columns=["", "", "", "ISR", *(f"log[{at}]" for at in range(LOG_SIZE))],
    )


# -- witnesses -----------------------------------------------------------------------------------
@exists
def zombie_leader() -> bool:
    """Two replicas believe that they lead."""
    return sum(replica.leads() for replica in replicas) > 1


@exists
def diverged() -> bool:
    """Two logs differ at a place that both have: somebody will have to drop a record."""
    return any(
        x != y for a in replicas for b in replicas for x, y in zip(a.log, b.log, strict=False)
    )


# -- configurations ------------------------------------------------------------------------------
for row in ROWS:
    config(row.name, expect=row.expect(), **row.constants())
