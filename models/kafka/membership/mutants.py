"""Kafka's consumer groups: defects that Kafka once had, named after their issues."""

from statewalk import mutant
from statewalk.models.kafka.membership.heartbeats import Client, Coordinator
from statewalk.models.kafka.membership.reconciling import Member
from statewalk.models.kafka.membership.settings import NOTHING


@mutant(Coordinator.update_partition_epochs)
def kafka16147(self: Coordinator, before: Member | None, after: Member | None) -> None:
    """A partition that is given back while it is being revoked loses its epoch."""
    assigned_before = before.assigned if before is not None else NOTHING
    to_revoke_before = before.to_revoke if before is not None else NOTHING
    assigned = after.assigned if after is not None else NOTHING
    to_revoke = after.to_revoke if after is not None else NOTHING
    epoch = after.epoch if after is not None else 0
    if assigned != assigned_before:
        self.partition_epoch.update(dict.fromkeys(assigned_before, 0))
        self.partition_epoch.update(dict.fromkeys(assigned, epoch))
    if to_revoke != to_revoke_before:
        self.partition_epoch.update(dict.fromkeys(to_revoke_before, 0))
        self.partition_epoch.update(dict.fromkeys(to_revoke, epoch))


@mutant(Client.report_again)
def kafka16185(self: Client) -> None:
    """What a client gave up before it had it is not reported, and the coordinator waits for it."""
