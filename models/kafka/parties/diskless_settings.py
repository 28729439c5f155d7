"""Kafka transactions, part 3: what KIP-1164 has left open, each question a constant.

The defaults are what the page `docs/models/kafka-diskless.md` argues for.
"""

from typing import Literal

from statewalk import Constant
from statewalk.models.kafka.parties.proposals import (
    LEADER_ELECTIONS,
    PART2,
    PARTITIONS,
    TOPICS,
    VARIANT,
    Fault,
)

DISKLESS = TOPICS == "diskless"

# -- size ----------------------------------------------------------------------------------------
BROKERS: Constant[int] = 1  # that take batches; any of them takes any batch
SHARDS: Constant[int] = 1  # diskless coordinators; partitions are theirs in turn

# -- questions -----------------------------------------------------------------------------------
# When a producer is told that its batch is safe: when it has an offset, or when it is uploaded.
ACK: Constant[Literal["sequenced", "uploaded"]] = "sequenced"
# The commit barrier: what waits until each batch that a broker took for the transaction has an
# offset. The decision that is made can only wait; the one that is not made yet may become an abort.
BARRIER: Constant[Literal["none", "before_marker", "before_decision"]] = "none"
# Who asks the transaction coordinator about a batch: the broker that takes it, once for each
# transaction and partition, or each time; or who orders it.
ASKS: Constant[Literal["broker", "broker_once", "sequencer"]] = "broker"
# The diskless coordinator deletes what it knows of a producer as soon as its transaction has ended.
FORGETS: Constant[bool] = False
# A fetch takes the last stable offset and the aborted transactions from one state of the diskless
# coordinator, or the second from a broker's copy, which may be behind.
FETCH: Constant[Literal["one_state", "two_states"]] = "one_state"

# -- what may happen -----------------------------------------------------------------------------
BROKER_CRASHES: Constant[int] = 0  # files that are uploaded get no offsets any more


class BrokerCrash(Fault):
    pass


broker_crash = BrokerCrash(left=BROKER_CRASHES)

assert 1 <= SHARDS <= PARTITIONS, "each diskless coordinator needs a partition"
assert BROKERS >= 1, "a broker is needed"
assert not DISKLESS or VARIANT != "kip939", "KIP-939 over diskless topics is not modelled"
assert BARRIER == "none" or (PART2 and ASKS != "sequencer"), "brokers tell of what they take"
assert not (DISKLESS and LEADER_ELECTIONS), "diskless partitions have no leaders that move"
