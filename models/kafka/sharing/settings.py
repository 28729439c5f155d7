"""Kafka's share partitions: how many there are of each, which proposal, which faults."""

from typing import Literal

from statewalk import Constant

# -- size ----------------------------------------------------------------------------------------
RECORDS: Constant[int] = 1
CONSUMERS: Constant[int] = 2
MAX_DELIVERIES: Constant[int] = 2  # group.share.delivery.count.limit

# -- proposals -----------------------------------------------------------------------------------
# What becomes of a record below the start offset whose lock expired while its acknowledgement was
# written, if that fails.
EXPIRED_BELOW_START: Constant[
    Literal[
        "available",  # as any other record; since PR 20286
        "archived",  # as if its lock expired at any other time
    ]
] = "available"
# Whether the persister refuses what is written in an older epoch, of the leader or of the state.
FENCING: Constant[bool] = True

# -- what may happen -----------------------------------------------------------------------------
LOCKS_EXPIRE: Constant[bool] = True
WRITE_FAILURES: Constant[int] = 1  # of the persister, whether or not the state is written
DELETIONS: Constant[int] = 0  # of records at the beginning of the log
LEADER_MOVES: Constant[int] = 0
SESSIONS_END: Constant[int] = 0  # all that the group has on the leader's broker
OFFSET_RESETS: Constant[int] = 0

assert RECORDS >= 1 and CONSUMERS >= 1 and MAX_DELIVERIES >= 1
