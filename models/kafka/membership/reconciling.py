"""Kafka's consumer groups: a member's assignment on its way to the target.

A member owns what it is assigned, and what it has to revoke. It may be assigned a partition once
no other member owns it. In its state, the member goes to the epoch of the target when it has
nothing to revoke; the offsets of what it revoked are committed in the epoch before.

`VARIANT` has three ways to get there: two candidates of the public specs, and that of Kafka 3.8.
"""

from typing import Literal, Self

from statewalk import Record, replace
from statewalk.models.kafka.membership.settings import NOTHING, VARIANT, Partitions, Topics

MemberStatus = Literal["STABLE", "REVOKING", "ASSIGNING", "UNACKED"]


class Member(Record):
    """What the coordinator knows of a member: ConsumerGroupMember."""

    member_id: int
    epoch: int
    target_epoch: int
    subscribed: Topics
    status: MemberStatus
    assigned: Partitions
    to_revoke: Partitions
    to_assign: Partitions  # wanted, owned by others; only the second candidate remembers it
    reported: Partitions | None  # what the client said last that it owns

    def owned(self) -> Partitions:
        return self.assigned | self.to_revoke

    if VARIANT == "second":

        def reconciled(
            self, epoch: int, target: Partitions, free: Partitions, reported: Partitions | None
        ) -> Self:
            """CurrentAssignmentBuilder.build, as of KAFKA-16147."""
            if self.target_epoch != epoch:
                return self.begin_anew(epoch, target, free)
            if self.status == "REVOKING":
                if not self.to_revoke or self.assigned == self.reported:
                    return self.take(epoch, free)
            if self.status == "ASSIGNING" and self.to_assign & free:
                return self.take(epoch, free)
            return self

        def begin_anew(self, epoch: int, target: Partitions, free: Partitions) -> Self:
            """CurrentAssignmentBuilder.transitionToNewTargetAssignmentState.

            What is still to be revoked is owned, so the new target may leave it.
            """
            keep = self.owned() & target
            to_revoke = self.owned() - keep
            to_assign = target - keep
            if not to_revoke:
                return replace(self, assigned=keep, to_assign=to_assign).take(epoch, free)
            return replace(
                self,
                status="REVOKING",
                target_epoch=epoch,
                assigned=keep,
                to_revoke=to_revoke,
                to_assign=to_assign,
            )

        def take(self, epoch: int, free: Partitions) -> Self:
            """CurrentAssignmentBuilder.maybeAssignPendingPartitions, and go to the epoch."""
            to_assign = self.to_assign - free
            return replace(
                self,
                status="ASSIGNING" if to_assign else "STABLE",
                epoch=epoch,
                target_epoch=epoch,
                assigned=self.assigned | (self.to_assign & free),
                to_revoke=NOTHING,
                to_assign=to_assign,
            )

    if VARIANT == "first":

        def reconciled(
            self, epoch: int, target: Partitions, free: Partitions, reported: Partitions | None
        ) -> Self:
            """A member that has something new acknowledges it before anything else happens."""
            if self.status == "UNACKED":
                return self.acknowledged(epoch, target, free) if reported == self.assigned else self
            if self.status == "STABLE" and self.epoch == epoch:
                return self
            return self.acknowledged(epoch, target, free)

        def acknowledged(self, epoch: int, target: Partitions, free: Partitions) -> Self:
            keep = self.assigned & target
            to_revoke = self.assigned - keep
            if to_revoke:
                return replace(self, status="UNACKED", assigned=keep, to_revoke=to_revoke)
            wanted = target - keep
            status: MemberStatus = "STABLE"
            if wanted & free:
                status = "UNACKED"
            elif wanted:
                status = "ASSIGNING"
            return replace(
                self,
                status=status,
                epoch=epoch,
                target_epoch=epoch,
                assigned=keep | (wanted & free),
                to_revoke=NOTHING,
            )

    if VARIANT == "kafka16249":

        def reconciled(
            self, epoch: int, target: Partitions, free: Partitions, reported: Partitions | None
        ) -> Self:
            """CurrentAssignmentBuilder.build, from KAFKA-16249 to KAFKA-19974."""
            if self.status == "STABLE" and self.epoch == epoch:
                return self
            if self.status == "REVOKING":
                if reported is None or reported & self.to_revoke:
                    return self
                return self.next(self.epoch + 1, epoch, target, free, reported)
            return self.next(self.epoch, epoch, target, free, reported)

        def next(
            self,
            own_epoch: int,
            epoch: int,
            target: Partitions,
            free: Partitions,
            reported: Partitions | None,
        ) -> Self:
            """CurrentAssignmentBuilder.computeNextAssignment, since KAFKA-16615."""
            keep = self.assigned & target
            to_revoke = self.assigned - keep
            if to_revoke and (reported is None or reported & to_revoke):
                return replace(
                    self, status="REVOKING", epoch=own_epoch, assigned=keep, to_revoke=to_revoke
                )
            wanted = target - keep
            return replace(
                self,
                status="ASSIGNING" if wanted - free else "STABLE",
                epoch=epoch,
                target_epoch=epoch,
                assigned=keep | (wanted & free),
                to_revoke=NOTHING,
            )
