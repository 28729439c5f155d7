"""Kafka transactions, part 3: the constants. Which proposals are in, which defect, which faults.

`VARIANT` is what brokers do, `CLIENT` what producers do; a defect that Kafka once had is a mutant,
named after its issue (`mutants`). What a proposal adds stands where it belongs, under an ``if``; a
rule that it changes is a function that says which proposal it comes from. All else is one protocol.
"""

from typing import Literal

from statewalk import Constant, State, maybe, require

# -- size ----------------------------------------------------------------------------------------
IDS: Constant[int] = 1  # transactional ids: applications, each with a coordinator of its own
PRODUCERS: Constant[int] = 1  # instances of an application
TXNS: Constant[int] = 2  # transactions begun, in all
RECORDS: Constant[int] = 1  # records of a transaction; each is a batch of its own
PARTITIONS: Constant[int] = 1  # records go to them in turn
CONSUMERS: Constant[int] = 0  # of each isolation level
MAX_EPOCH: Constant[int] = 9  # Short.MaxValue in Kafka; the last one is never handed out

# -- proposals -----------------------------------------------------------------------------------
VARIANT: Constant[
    Literal[
        "kip98",  # as first shipped, in 0.11
        "kip890_p1",  # leaders ask the coordinator before a transaction's first append, 3.6
        "kip890_p2",  # each transaction has an epoch of its own, 4.0
        "kip939",  # part 2, and transactions that wait for an external decision; in review
    ]
] = "kip890_p2"
CLIENT: Constant[
    Literal[
        "kip98",  # goes on in the same epoch after it has given a batch up
        "kip360",  # asks for a new epoch first, 2.5
        "librdkafka_1_6",  # asks for one within a transaction, and goes on (librdkafka#3575)
    ]
] = "kip360"
# What ties an append to the check before it (part 1): nothing, a state per producer id, a token per
# check, or both are one step.
GUARD: Constant[Literal["none", "state", "token", "fused"]] = "token"
# Which markers a leader takes, by their epoch (part 2): as before that, at least the current one;
# above it (KAFKA-19446); above it, or applied already (KAFKA-19999).
MARKERS: Constant[Literal["at_least", "above", "above_or_applied"]] = "above_or_applied"
DATABASE: Constant[bool] = False  # the application commits to a database, too
# Who orders the records of a partition: its leader, or the diskless coordinator (KIP-1164); what
# that proposal has left open is in `diskless_settings`.
TOPICS: Constant[Literal["classic", "diskless"]] = "classic"

# -- what may happen -----------------------------------------------------------------------------
DELAYED_PRODUCE: Constant[bool] = True  # a batch may arrive long after its producer gave it up
SEQUENCES: Constant[bool] = True  # leaders check sequence numbers
EAGER_BEGIN: Constant[bool] = False  # begin when a decision is answered, before it is complete
ZOMBIES: Constant[bool] = False  # an instance that was replaced goes on
CRASHES: Constant[int] = 0  # of an instance, which another one may or may not replace
DUPLICATE_PRODUCES: Constant[int] = 0
LOST_RESPONSES: Constant[int] = 0  # of the coordinator to a producer, which asks again
DELAYED_ENDS: Constant[int] = 0  # EndTxn requests that are repeated, and arrive later all the same
TXN_TIMEOUTS: Constant[int] = 0
APPEND_FAILURES: Constant[int] = 0  # of the coordinator's log, when it fences
ELECTIONS: Constant[int] = 0  # of a coordinator
LEADER_ELECTIONS: Constant[int] = 0  # of data partitions
EXPIRIES: Constant[int] = 0  # a leader forgets a producer id too early (KAFKA-9144)
LOST_ACKS: Constant[int] = 0  # of markers, which are then sent again
DUPLICATE_MARKERS: Constant[int] = 0

PART2 = VARIANT in ("kip890_p2", "kip939")  # an epoch of its own for each transaction

assert min(IDS, PRODUCERS, TXNS, RECORDS, PARTITIONS, MAX_EPOCH) >= 1, "one of each is needed"
assert VARIANT != "kip939" or DATABASE, "KIP-939 is about an external decision"
assert not (APPEND_FAILURES and ELECTIONS), "what a failed append leaves is not in the log"

Code = Literal[
    "OK", "ConcurrentTransactions", "ProducerFenced", "InvalidPidMapping", "InvalidTxnState"
]


class Fault(State):
    """Something that may go wrong, and how often it still may."""

    left: int

    def happens(self) -> bool:
        """Perhaps."""
        if self.left == 0 or not maybe():
            return False
        self.left -= 1
        return True

    def strike(self) -> None:
        """Now, where it still may."""
        require(self.left > 0)
        self.left -= 1


# A class each, so that traces call them by their names.
class Crash(Fault):
    pass


class DuplicateProduce(Fault):
    pass


class LostResponse(Fault):
    pass


class DelayedEnd(Fault):
    pass


class TxnTimeout(Fault):
    pass


class AppendFailure(Fault):
    pass


class Election(Fault):
    pass


class LeaderElection(Fault):
    pass


class Expiry(Fault):
    pass


class SequenceError(Fault):
    pass


class LostAck(Fault):
    pass


class DuplicateMarker(Fault):
    pass


crash = Crash(left=CRASHES)
duplicate_produce = DuplicateProduce(left=DUPLICATE_PRODUCES)
lost_response = LostResponse(left=LOST_RESPONSES)
delayed_end = DelayedEnd(left=DELAYED_ENDS)
txn_timeout = TxnTimeout(left=TXN_TIMEOUTS)
append_failure = AppendFailure(left=APPEND_FAILURES)
election = Election(left=ELECTIONS)
leader_election = LeaderElection(left=LEADER_ELECTIONS)
expiry = Expiry(left=EXPIRIES)
sequence_error = SequenceError(left=1 if CLIENT == "librdkafka_1_6" else 0)
lost_ack = LostAck(left=LOST_ACKS)
duplicate_marker = DuplicateMarker(left=DUPLICATE_MARKERS)
