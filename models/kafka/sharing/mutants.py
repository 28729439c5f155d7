"""Kafka's share partitions: defects that Kafka once had, named after their issues."""

from statewalk import mutant
from statewalk.models.kafka.sharing.leader import InFlight, RecordState, SharePartition, Timer


@mutant(InFlight.may_be_acquired)
def kafka18084(self: InFlight) -> bool:
    """A record may be acquired while its release is being written."""
    return self.state == "AVAILABLE"


@mutant(SharePartition.stays_archived)
def kafka19476_archived(self: SharePartition, record: InFlight) -> bool:
    """A write that fails takes an archived record back to the consumer that released it."""
    return False


@mutant(SharePartition.is_expired)
def kafka19476_no_timer(self: SharePartition, record: InFlight) -> bool:
    """A write that fails gives a record back, though the timer of its lock has run out."""
    return False


@mutant(SharePartition.ignores)
def kafka19476_cancelled(self: SharePartition, timer: Timer) -> bool:
    """A timer that was cancelled while it waited takes the record from whoever has it."""
    return False


@mutant(SharePartition.after_expiry)
def kafka19476_limit(self: SharePartition, offset: int, record: InFlight) -> RecordState:
    """A write that fails after the lock expired makes a record available without limit."""
    return "AVAILABLE"
