"""The replication model: the counts of the public specs, and how far each rule lets the story that
broke another one go.

Distinct states, depths and lengths are those of the public TLA+ specs under TLC. It generates more
for `kip279` and `kip320`, since it counts each way in which a step's condition is true.
"""

from __future__ import annotations

from typing import Any

import pytest

from statewalk.checker import native
from statewalk.checker.behaviours.guided import Guided, follow, read_steps
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines import reference
from statewalk.checker.traces.trace import Trace, build, label_of
from statewalk.models.kafka.replication_rows import ROWS, Row
from tests.cases import slow, some
from tests.models.kafka import FOLDER, counts, loaded, reached, violated

SPEC = FOLDER / "replication.py"
HW = "high_watermark"
QUICK = ("high-watermark", "kip320")


def sized(replicas: int, epoch: int, rule: str) -> dict[str, Any]:
    return {"REPLICAS": replicas, "MAX_EPOCH": epoch, "TRUNCATION": rule}


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "row", [row if row.name in QUICK else slow(row) for row in ROWS], ids=[row.name for row in ROWS]
)
def test_rows_of_the_table(row: Row) -> None:
    found = native.explore(loaded(SPEC, row.constants()), SearchOptions(keep_going=True))

    assert row.numbers == counts(found)
    assert row.breaks == violated(found)
    assert {"zombie_leader": 4, "diverged": 6} == reached(found)


def test_each_row_is_a_configuration() -> None:
    found = {c.name: c.constants for c in loaded(SPEC).configurations}

    assert {row.name: row.constants() for row in ROWS} == found


@pytest.mark.thorough
@pytest.mark.parametrize("epoch", [0, slow(1)])
@pytest.mark.parametrize("rule", some([HW, "kip101", "kip320"], every=3))
def test_the_reference_engine_agrees(rule: str, epoch: int) -> None:
    constants = sized(2, epoch, rule)
    found = native.explore(loaded(SPEC, constants), SearchOptions(keep_going=True))

    again = reference.explore(loaded(SPEC, constants), SearchOptions(keep_going=True))

    assert counts(found) == counts(again)
    assert violated(found) == violated(again)


def followed(constants: dict[str, Any], property_: str, *, under: str) -> Guided:
    """The shortest violation under one rule, as far as another one lets it go."""
    model = loaded(SPEC, constants)
    found = native.explore(model, SearchOptions(properties=(property_,)))
    trace = build(model, found.findings[0])
    steps = "\n".join(label_of(trace, step) for step in trace.steps)
    return follow(loaded(SPEC, {**constants, "TRUNCATION": under}), read_steps(steps))


@pytest.mark.thorough
def test_kip101_keeps_the_record_that_the_high_watermark_does_not_cover() -> None:
    constants = sized(2, 1, HW)

    lost = followed(constants, "strong_isr", under=HW).trace()
    kept = followed(constants, "strong_isr", under="kip101").trace()

    assert "become_follower" == lost.steps[-1].action == kept.steps[-1].action
    assert [0, 1] == lengths(lost)
    assert [1, 1] == lengths(kept)


@pytest.mark.slow
def test_kip279_drops_only_the_record_that_the_leader_does_not_have() -> None:
    constants = sized(2, 2, "kip101")

    lost = followed(constants, "strong_isr", under="kip101").trace()
    kept = followed(constants, "strong_isr", under="kip279").trace()

    assert [0, 1] == sorted(lengths(lost))
    assert [1, 1] == lengths(kept)


def lengths(trace: Trace) -> list[int]:
    """Return how many records the replicas have in the end."""
    return [len(value) for path, value in trace.last.items() if path[-1] == "log"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "sizes", "why"),
    [
        ("kip279", (3, 1), "leader.epoch == request.epoch"),
        ("kip320_first", (3, 2), "no way of taking it makes the choices request="),
    ],
)
def test_kip320_asks_only_a_leader_of_the_same_epoch(
    rule: str, sizes: tuple[int, int], why: str
) -> None:
    guided = followed(sized(*sizes, rule), "strong_isr", under="kip320")

    assert guided.failed is not None
    assert "become_follower" in guided.failed.text
    assert why in guided.why


def test_kip320_lets_nobody_join_before_its_own_epoch_is_reached() -> None:
    model = loaded(SPEC, sized(3, 1, "kip320"))

    guided = follow(model, read_steps(OVERTAKEN))

    assert guided.failed is not None
    assert "expand_isr" in guided.failed.text
    assert "self.may_add_to_isr()" in guided.why


# The story of kip279, but that replica 1 waits until replica 0 knows that it leads
OVERTAKEN = """
Quorum#0.elect(replica=Replica#2)
Replica#2.become_leader
Replica#2.write
Replica#0.become_follower(leader=Replica#2)
Replica#0.fetch(leader=Replica#2)
Replica#2.shrink_isr(replica=Replica#1)
Replica#2.raise_high_watermark
Quorum#0.elect(replica=Replica#0)
Replica#0.become_leader
Replica#1.become_follower(leader=Replica#0)
Replica#0.expand_isr(replica=Replica#1)
"""
