"""The library's model of KIP-966, with what we want to see of it."""

from statewalk import exists
from statewalk.models.kafka import eligible_leaders  # noqa: F401 - its properties
from statewalk.models.kafka.eligible.controller import controller


@exists
def nobody_leads() -> bool:
    """There is no leader, though somebody is eligible."""
    now = controller.now()
    return now.leader is None and bool(now.elr)
