"""Kafka transactions, part 2: how many there are of each, how often what happens, which variant."""

from typing import Literal

from statewalk import Constant

CLIENTS: Constant[int] = 2
BROKERS: Constant[int] = 2
TIDS: Constant[int] = 1
LOG_PARTITIONS: Constant[int] = 1
TOPIC_PARTITIONS: Constant[int] = 1
MAX_ELECTIONS: Constant[int] = 1
KEEP_PROCESSED: Constant[bool] = False  # remember processed messages, a debugging aid
# A new leader replays the committed log, or (as the public spec has it) copies the old one's cache.
MATERIALISE: Constant[Literal["from_log", "from_cache"]] = "from_log"
# Whether an entry is committed in one step, or in as many as it takes.
GRAIN: Constant[Literal["atomic", "fine"]] = "atomic"
# Who adds partitions is asked for its id and epoch first, or (since KAFKA-18660) to wait its turn.
CHECKS: Constant[Literal["v3", "v4"]] = "v3"
# With the fine grain: how many appends time out, how often a follower falls out of the ISR, and how
# many in-sync replicas an append needs. Whether partitions that the transaction has already, for
# all that the coordinator knows, are appended again or (as in Kafka) answered at once.
MAX_TIMEOUTS: Constant[int] = 0
MAX_SHRINKS: Constant[int] = 0
MIN_ISR: Constant[int] = 1
REPEATED: Constant[Literal["append", "answer"]] = "append"

assert min(CLIENTS, BROKERS, TIDS, LOG_PARTITIONS, TOPIC_PARTITIONS) >= 1, "one of each is needed"

ClientState = Literal["Ready", "SentInitPidRequest", "HasPid", "BegunTxn", "Terminated"]
Code = Literal[
    "OK",
    "NotCoordinator",
    "CoordinatorNotAvailable",
    "CoordinatorLoadInProgress",
    "ConcurrentTransactions",
    "InvalidPidMapping",
    "ProducerFenced",
    "IllegalState",
]

# What a client takes for passing: it asks again, after these at whoever is coordinator by then.
ELSEWHERE = ("NotCoordinator", "CoordinatorNotAvailable")
LATER = (*ELSEWHERE, "CoordinatorLoadInProgress", "ConcurrentTransactions")

ALL_PARTITIONS = frozenset(range(TOPIC_PARTITIONS))
