"""Kafka's eligible leader replicas (KIP-966): who leads when the last in-sync replica is gone.

A leader counts a record as committed once all in-sync replicas have it. Replicas that are too slow,
or gone, leave the ISR, down to nobody. Before KIP-966 the last one stayed, and led again when it
was back, whatever was left of its log. With KIP-966 replicas that leave while the ISR is below its
minimum become eligible: nothing is committed without the minimum, so they have all that is. One
that did not shut down cleanly is not eligible any more.

Who takes part is told in `eligible`, and who holds what:

- the controller (`controller`): which brokers are fenced, and the log of changes of the partition:
  replicas, ISR, ELR, leader, epochs, reassignments;
- brokers (`replica`, `broker`): what they read of that log, a log of records, a high watermark, and
  as leaders what followers have fetched and which change of the ISR they have asked for;
- history, for properties: what was written, answered and consumed.

`settings` has the constants: `VARIANT` for the rule before, and budgets for faults. Properties are
here, runs in `eligible.rows`. A broker asks for the same change again as long as the
controller refuses it. Left out: heartbeats, more than one partition, unclean elections (also those
of the last known leader), and the broker's own catching up before it is unfenced.
"""

from statewalk import always, config, deadlock, exists
from statewalk.models.kafka.eligible.broker import brokers
from statewalk.models.kafka.eligible.controller import controller
from statewalk.models.kafka.eligible.replica import Replica, history
from statewalk.models.kafka.eligible.rows import ROWS
from statewalk.models.kafka.eligible.settings import MIN_ISR, UNCLEAN_SHUTDOWNS

deadlock(False)  # a partition that has converged rests


# -- safety --------------------------------------------------------------------------------------
@always
def leader_completeness() -> bool:
    """A running leader that the controller chose has all that was ever committed."""
    leader = controller.now().leader
    return (
        leader is None
        or leader.status != "RUNNING"
        or not history.consumed
        or (
            len(leader.log) >= len(history.consumed)
            and history.acked <= {entry.value for entry in leader.log}
        )
    )


@always
def leader_candidate_completeness() -> bool:
    """Who may be elected has all that was ever committed, if it runs."""
    now = controller.now()
    return all(
        len(b.log) >= len(history.consumed) for b in now.isr | now.elr if b.status == "RUNNING"
    )


@always
def replication_quorum_superset() -> bool:
    """Up to whom a leader commits covers all that may be elected, as long as it may commit."""
    return all(covers_candidates(b) for b in brokers if leads_now(b))


def leads_now(b: Replica) -> bool:
    return b.role == "LEADER" and b.metadata.leader_epoch == controller.now().leader_epoch


def covers_candidates(b: Replica) -> bool:
    now = controller.now()
    if not b.is_asking() and b.metadata.maximal_isr != b.metadata.isr:
        return False
    return len(b.metadata.isr) < MIN_ISR or now.isr | now.elr <= b.metadata.maximal_isr


@always
def log_matching() -> bool:
    """Below both high watermarks, two logs are one."""
    return all(
        x.value == y.value
        for a in brokers
        for b in brokers
        for x, y in zip(a.log[: a.high_watermark], b.log[: b.high_watermark], strict=False)
    )


@always
def consistent_read() -> bool:
    """The leader still has what consumers have read, where they have read it."""
    return all(b.log[: len(history.consumed)] == history.consumed for b in brokers if leads_now(b))


@always
def min_isr_recovery_quorum() -> bool:
    """When nobody is eligible, the last ones that were are as many as the minimum."""
    now = controller.now()
    return bool(now.isr or now.elr) or len(now.last_known_elr) == MIN_ISR


if UNCLEAN_SHUTDOWNS < MIN_ISR:

    @always
    def no_committed_record_lost() -> bool:
        """Some broker has each record that its producer was told is safe."""
        return all(any(e.value == value for b in brokers for e in b.log) for value in history.acked)


# -- witnesses -----------------------------------------------------------------------------------
@exists
def acknowledged() -> bool:
    return bool(history.acked)


# -- configurations ------------------------------------------------------------------------------
for name, expect, constants in ROWS:
    config(name, expect=expect, **constants)
