"""The library's model of consumer groups, with what we want to see of it."""

from statewalk import exists
from statewalk.models.kafka import consumer_groups  # noqa: F401 - its properties
from statewalk.models.kafka.membership.heartbeats import clients, coordinator


@exists
def told_and_not_yet_taking() -> bool:
    """A client was told to take a partition, and consumes nothing yet."""
    return any(c.target and not c.assigned and c.member_id in coordinator.members for c in clients)
