"""Kafka's consumer groups: how many there are of each, which proposal, which faults."""

from itertools import combinations, product
from typing import Literal

from statewalk import Constant

# -- size ----------------------------------------------------------------------------------------
CLIENTS: Constant[int] = 2
TOPICS: Constant[int] = 2
PARTITIONS: Constant[int] = 1  # of each topic
# Events that begin a new round: a subscription changes, a client leaves or crashes, or a live
# member's session expires. To join is not one.
PERTURBATIONS: Constant[int] = 1

# -- proposals -----------------------------------------------------------------------------------
# How a member's assignment is reconciled with its target, and what the client sends of it.
VARIANT: Constant[
    Literal[
        "first",  # a partition is revoked before the next target is looked at
        "second",  # each new target begins anew, and takes back what is being revoked
        "kafka16249",  # revoke first, and go epoch by epoch; 3.8
    ]
] = "second"
# Whether a heartbeat with another epoch than the member's ends its membership.
FENCING: Constant[bool] = True

# -- faults that are not in the public spec ------------------------------------------------------
# Connections that break with a heartbeat under way: its answer is lost, and so is the request if it
# has not arrived. The client sends a full heartbeat on a new connection.
DISCONNECTS: Constant[int] = 0
LATE: Constant[bool] = False  # a request on a broken connection may arrive all the same

# Whether each group has to converge. It cannot once nobody subscribes to some topic.
CONVERGES: Constant[bool] = True

assert CLIENTS >= 1 and TOPICS >= 1 and PARTITIONS >= 1, "one of each is needed"
assert PERTURBATIONS >= 0 and DISCONNECTS >= 0

Partition = tuple[int, int]  # topic and number
Partitions = frozenset[Partition]
Topics = frozenset[int]

NOTHING: Partitions = frozenset()
ALL_TOPICS: Topics = frozenset(range(1, TOPICS + 1))
ALL_PARTITIONS = list(product(sorted(ALL_TOPICS), range(1, PARTITIONS + 1)))
SUBSCRIPTIONS = [
    frozenset(topics)
    for n in range(1, TOPICS + 1)
    for topics in combinations(sorted(ALL_TOPICS), n)
]
