"""The transaction log as Kafka's own tool prints it, as events of part 3's coordinator.

    kafka-dump-log.sh --transaction-log-decoder --files 00000000000000000000.log > dump
    statewalk conform kafka/exactly_once dump --map models/kafka/maps/dumped.py:event --hidden all \
        --watch Coordinator#0.metadata --set PRODUCERS=2 --set TXNS=4 --set DELAYED_PRODUCE=False

Each record of one transactional id, the first that is met, is a step that gives the coordinator's
metadata this state, producer id, epoch and these partitions; which request led to it is searched
for, and no other step changes them. Producer ids and partitions are numbered as they come, epochs
from that of the first record. That one is no event: the model begins there, with an id that was
just given (Empty). An abort without partitions (part 2) is one step of the model and two records.

The format is that of TransactionLog.formatRecordKeyAndValue (Kafka 2.7 to 3.9), or the JSON of
DumpLogSegments.TransactionLogMessageParser, which came after it. Records written with
transaction.version 2 are those of `VARIANT=kip890_p2`, others of the variants before.
"""

import json
import re
from typing import Any

RECORD = re.compile(r"key: (?P<key>.*) payload: ?(?P<payload>.*)$")
PLAIN = re.compile(
    r"producerId:(?P<pid>-?\d+),producerEpoch:(?P<epoch>-?\d+),state=(?P<state>\w+),"
    r"partitions=\[(?P<partitions>[^\]]*)\]"
)
STATES = [
    "Empty",
    "Ongoing",
    "PrepareCommit",
    "PrepareAbort",
    "CompleteCommit",
    "CompleteAbort",
    "Dead",
    "PrepareEpochFence",
]
Content = tuple[str, int, int, list[str]]


class Dump:
    """The part read so far: whose records these are, and the numbers that were given."""

    def __init__(self) -> None:
        self.tid = ""
        self.epoch = 0
        self.pids: list[int] = []
        self.partitions: list[str] = []

    def event(self, line: str) -> dict[str, Any] | None:
        """The event of a line, if it has one."""
        found = RECORD.search(line)
        if found is None or found["payload"] == "<DELETE>":
            return None  # a batch's line, or the id was forgotten
        tid = transactional_id(found["key"])
        state, pid, epoch, partitions = content_of(found["payload"])
        if not self.tid:
            if state != "Empty":
                raise ValueError(f"the log of {tid} begins in the middle, in state {state}")
            self.tid, self.epoch, self.pids = tid, epoch, [pid]
            return None
        if tid != self.tid:
            return None
        said = {
            "state": state,
            "pid": number(pid, self.pids) + 1,
            "epoch": epoch - self.epoch if pid == self.pids[0] else epoch,
            "partitions": [number(name, self.partitions) for name in partitions],
        }
        return {
            "after": {"Coordinator#0.metadata": said},
            "changes": ["Coordinator#0.metadata"],
            "note": line.strip(),
        }


def number(name: Any, known: list[Any]) -> int:
    """The number of a name, in the order in which they come."""
    if name not in known:
        known.append(name)
    return known.index(name)


def transactional_id(key: str) -> str:
    """Of `transaction_metadata::transactionalId=ID`, or of JSON."""
    if key.startswith("{"):
        return str(json.loads(key)["data"]["transactionalId"])
    return key.partition("transactionalId=")[2]


def content_of(payload: str) -> Content:
    """Return what a record says: state, producer id, epoch, partitions."""
    if payload.startswith("{"):
        data = json.loads(payload)["data"]
        named = [
            f"{of['topic']}-{n}"
            for of in data["transactionPartitions"] or ()
            for n in of["partitionIds"]
        ]
        state = STATES[data["transactionStatus"]]
        return state, data["producerId"], data["producerEpoch"], named
    found = PLAIN.match(payload)
    if found is None:
        raise ValueError(f"this is no record of the transaction log: {payload}")
    named = [name.strip() for name in found["partitions"].split(",") if name.strip()]
    return found["state"], int(found["pid"]), int(found["epoch"]), named


event = Dump().event
