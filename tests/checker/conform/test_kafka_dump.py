"""Dumps of the transaction log, in both of the formats that Kafka's tool has printed, against part
3 of the model. They are written here from the format; what a cluster writes is not shown.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from statewalk import Conformance, load
from statewalk.checker.conform.followed import Limits
from statewalk.checker.conform.logs import reader_of
from statewalk.checker.conforming import Question
from tests.cases import slow, some
from tests.places import ROOT

Record = tuple[str, int, int, list[str]]
STATES = ("Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort")
OLD = {"VARIANT": "kip98", "CLIENT": "kip98", "PRODUCERS": 2, "TXNS": 3, "DELAYED_PRODUCE": False}
NEW = OLD | {"VARIANT": "kip890_p2", "CLIENT": "kip360"}

# One epoch until another instance takes the id: a commit, fenced, and the new one's commit.
BEFORE_PART_2: list[Record] = [
    ("Empty", 891464, 4, []),
    ("Ongoing", 891464, 4, ["orders-3"]),
    ("PrepareCommit", 891464, 4, ["orders-3"]),
    ("CompleteCommit", 891464, 4, []),
    ("Ongoing", 891464, 4, ["orders-3"]),
    ("PrepareAbort", 891464, 5, ["orders-3"]),
    ("CompleteAbort", 891464, 5, []),
    ("Empty", 891464, 6, []),
    ("Ongoing", 891464, 6, ["orders-3"]),
    ("PrepareCommit", 891464, 6, ["orders-3"]),
    ("CompleteCommit", 891464, 6, []),
]
# Each transaction has an epoch of its own.
PART_2: list[Record] = [
    ("Empty", 7, 0, []),
    ("Ongoing", 7, 0, ["orders-3"]),
    ("PrepareCommit", 7, 1, ["orders-3"]),
    ("CompleteCommit", 7, 1, []),
    ("Ongoing", 7, 1, ["orders-3"]),
    ("PrepareCommit", 7, 2, ["orders-3"]),
    ("CompleteCommit", 7, 2, []),
]


def plain(offset: int, record: Record, tid: str = "payments") -> str:
    state, pid, epoch, partitions = record
    return (
        f"baseOffset: {offset} lastOffset: {offset} count: 1 baseSequence: -1 producerId: -1\n"
        f"| offset: {offset} CreateTime: 1630834794895 keySize: 30 valueSize: 37 sequence: -1 "
        f"headerKeys: [] key: transaction_metadata::transactionalId={tid} payload: "
        f"producerId:{pid},producerEpoch:{epoch},state={state},partitions=[{','.join(partitions)}],"
        "txnLastUpdateTimestamp=1630834794890,txnTimeoutMs=120000\n"
    )


def as_json(offset: int, record: Record, tid: str = "payments") -> str:
    state, pid, epoch, partitions = record
    key = {"type": "0", "data": {"transactionalId": tid}}
    named = [{"topic": n.rpartition("-")[0], "partitionIds": [int(n[-1])]} for n in partitions]
    data = {"producerId": pid, "producerEpoch": epoch, "transactionTimeoutMs": 120000,
            "transactionStatus": STATES.index(state), "transactionPartitions": named,
            "transactionLastUpdateTimestampMs": 1, "transactionStartTimestampMs": 0}  # fmt: skip
    value = {"version": "1", "data": data}
    shown = [json.dumps(each, separators=(",", ":")) for each in (key, value)]
    return f"| offset: {offset} CreateTime: 1 keySize: 30 key: {shown[0]} payload: {shown[1]}\n"


def followed(
    records: list[Record], constants: dict[str, Any], folder: Path, line: Any = plain
) -> Conformance:
    head = "Dumping /var/lib/kafka/__transaction_state-4/00000000000000000000.log\n"
    lines = [line(offset, record) for offset, record in enumerate(records)]
    others = [line(99, ("Ongoing", 3, 9, ["other-1"]), "another")]
    (folder / "dump").write_text(head + "".join(lines[:1] + others + lines[1:]), encoding="utf-8")
    asked = question(tuple(constants.items()))
    asked.reader = reader_of(f"{ROOT}/models/kafka/maps/dumped.py:event")  # numbers begin anew
    return asked.ask([str(folder / "dump")])


@cache
def question(constants: tuple[tuple[str, Any], ...]) -> Question:
    model = load("kafka/exactly_once", constants=dict(constants))
    return Question(model, None, ["all"], Limits(watched=["Coordinator#0.metadata"]))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("records", "constants", "line"),
    [
        (BEFORE_PART_2, OLD, plain),
        slow(BEFORE_PART_2, OLD, as_json),
        slow(PART_2, NEW, plain),
        (PART_2, NEW, as_json),
    ],
)
def test_what_kafka_writes_conforms(
    records: list[Record], constants: dict[str, Any], line: Any, tmp_path: Path
) -> None:
    answer = followed(records, constants, tmp_path, line)

    assert answer.conforms, answer
    assert answer.events == len(records) - 1


FAULTS: dict[str, tuple[int, Record | None, int]] = {
    "aborted after it was decided to commit": (3, ("CompleteAbort", 891464, 4, []), 0),
    "completed without a decision": (2, None, 0),
    "completed twice": (3, ("CompleteCommit", 891464, 4, []), 1),
    "a decision while it is empty": (1, None, 0),
    "an epoch that goes back": (7, ("Empty", 891464, 4, []), 0),
    "fenced in the epoch of the fenced": (5, ("PrepareAbort", 891464, 5, []), 0),
    "handed out the epoch that fenced": (7, ("Empty", 891464, 5, []), 0),
    "another producer id in the middle": (2, ("PrepareCommit", 891465, 4, ["orders-3"]), 0),
    "partitions lost at the decision": (2, ("PrepareCommit", 891464, 4, []), 0),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", some(FAULTS, every=6))
def test_a_planted_fault_is_found_where_it_is(name: str, tmp_path: Path) -> None:
    at, record, more = FAULTS[name]
    kept = BEFORE_PART_2[: at + more]
    rest = BEFORE_PART_2[at + more + (record is None or not more) :]
    records = [*kept, *([record] if record else []), *rest]

    answer = followed(records, OLD, tmp_path)

    assert answer.verdict == "parts"
    assert answer.accepted == at + more - 1, answer


@pytest.mark.thorough
def test_records_of_part_2_are_none_of_the_variants_before(tmp_path: Path) -> None:
    assert followed(PART_2, OLD, tmp_path).verdict == "parts"
    assert followed(BEFORE_PART_2, NEW, tmp_path).verdict == "parts"
