"""Models of the library beside each other: what was read in these comparisons stays so."""

from __future__ import annotations

from typing import Any

import pytest

from statewalk.checker.api import check
from statewalk.checker.compare.compare import Versus, changed, compare
from statewalk.checker.contract.options import CheckOptions
from statewalk.checker.refinement.sights import Map
from statewalk.checker.verdict.run import Counts
from statewalk.dsl.loader import load
from tests.cases import slow
from tests.places import ROOT

MODELS = ROOT / "models"
KAFKA = MODELS / "kafka"
NO_LIVENESS = CheckOptions(liveness=False)
BATCH = "Partition#0 · receive_produce"


def versus(
    spec: str, name: str, values: tuple[str, str], **constants: Any
) -> tuple[Versus, dict[str, str]]:
    """A model with a constant at two values; and which properties changed, and how."""
    models = [(v, load(MODELS / spec, {**constants, name: v})) for v in values]
    found = compare(models, CheckOptions())
    [one] = found.others
    names = [p.name for p in found.base.run.properties]
    marks = {n: changed(found.base.run, one.other.run, n) for n in names}
    assert found.whole
    return one, {name: mark for name, mark in marks.items() if mark}


def stops(found: Versus) -> dict[str, tuple[int | None, str]]:
    """Of each counterexample of the base: where the other stops it, and by which line."""
    return {c.trace.property: (c.step, c.guard.text if c.guard else c.why) for c in found.crossed}


def as_part_one(clients: int) -> Versus:
    seen = load(KAFKA / "maps/seen_as_init_pid.py", {"CLIENTS": clients, "MAX_ELECTIONS": 0})
    mapped: Map = seen.functions["as_init_pid"]
    models = [("part 1", load(KAFKA / "init_pid.py", {"CLIENTS": clients})), ("part 2", seen)]
    return compare(models, NO_LIVENESS, seen=mapped).others[0]


@pytest.mark.thorough
def test_part_two_of_kafka_refines_part_one_for_one_client() -> None:
    found = as_part_one(1)

    assert found.forth.refusal is None
    assert found.forth.whole
    assert found.back.refusal is not None, "a broker that is no coordinator is not asked"


@pytest.mark.slow
def test_the_epoch_that_fences_is_what_part_one_has_not() -> None:
    found = as_part_one(2).forth.refusal

    assert found is not None
    assert 16 == found.trace.length
    assert "receive_init_pid_response" == found.trace.steps[-1].action
    assert [(-1, 2)] == [
        (c.before, c.after) for c in found.trace.diffs[-1] if c.place.endswith(".epoch")
    ]


@pytest.mark.slow
def test_part_one_of_kip_890_mends_what_hangs_and_not_what_leaks() -> None:
    found, marks = versus(
        "kafka/exactly_once.py", "VARIANT", ("kip98", "kip890_p1"), CLIENT="kip98"
    )

    assert {"no_hanging_txn": "fixed", "lso_advances": "fixed"} == marks
    assert "aborted_never_committed" in {c.trace.property for c in found.crossed_back}
    assert BATCH in found.back.refusal.trace.steps[-1].label  # type: ignore[union-attr]


@pytest.mark.slow
def test_part_two_of_kip_890_stops_the_leak() -> None:
    found, marks = versus(
        "kafka/exactly_once.py", "VARIANT", ("kip890_p1", "kip890_p2"), CLIENT="kip98"
    )
    [(step, guard)] = stops(found).values()

    assert {"aborted_never_committed": "fixed"} == marks
    assert (4, "require(self.index in coordinator.unmarked)") == (step, guard)


@pytest.mark.parametrize(
    ("rules", "expected", "alone"),
    [
        slow(("high_watermark", "kip101"), {"no_committed_record_lost": "fixed"}, (210, 1296)),
        slow(("kip101", "kip279"), {"weak_isr": "fixed", "strong_isr": "fixed"}, (2, 20)),
        slow(("kip279", "kip320_first"), {}, (586, 1184)),
        slow(("kip320_first", "kip320"), {}, (0, 2456)),
    ],
)
def test_each_rule_for_truncation_beside_the_one_before(
    rules: tuple[str, str], expected: dict[str, str], alone: tuple[int, int]
) -> None:
    found, marks = versus("kafka/replication.py", "TRUNCATION", rules, MAX_EPOCH=2)

    assert expected == marks
    assert alone == (found.gained.sights, found.lost.sights)
    assert all(crossing.step is None for crossing in found.crossed), "the same steps do no harm"


@pytest.mark.slow
def test_a_conflict_check_keeps_paimon_from_losing_an_update() -> None:
    found, marks = versus(
        "tables/paimon.py", "CONFLICT_CHECK", ("none", "bucket"), OPS=3, SEQUENCE="global"
    )

    assert {"consistent_read": "fixed"} == marks
    assert {"consistent_read": (9, 'require(op.stage == "commit")')} == stops(found)
    refused = found.forth.refusal
    assert refused is not None
    assert "write_metadata" == refused.trace.steps[-1].action, "where the check refuses"


@pytest.mark.slow
def test_a_store_that_refuses_to_overwrite_keeps_paimons_snapshots() -> None:
    owners = {"TOPOLOGY": "topo1", "BUCKETS": 2, "KEYS": 2, "WORKLOAD": "upsert"}
    guards = ("none", "put_if_absent")
    found, marks = versus("tables/paimon.py", "COMMIT_GUARD", guards, **owners)
    ends = {crossing.ends[0].place for crossing in found.crossed}

    assert {"no_snapshot_lost", "consistent_read", "all_snapshots_committed"} == set(marks)
    assert {"fixed"} == set(marks.values())
    assert {"ObjectStore.snapshots[1].bucket"} == ends, "the second does not replace the first"
    assert 0 == found.gained.sights


def test_a_queue_refines_a_set_and_its_mutants_do_not() -> None:
    for config, expected in (("three", "holds"), ("loses", "violated"), ("keeps", "violated")):
        run = check(MODELS / "toys/queue.py", config=config)

        assert run.as_expected
        assert expected == run.result.of("is_a_set").verdict
        if expected == "violated":
            assert (config == "keeps") == (run.traces["is_a_set"].loop is not None)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("engine", ["native", "reference"])
def test_two_phase_commit_refines_transaction_commit(engine: str) -> None:
    """Counts are TLC's, as the manifest of the public TLA+ examples has them."""
    refined = check(MODELS / "toys/two_phase_commit_refines.py", config="three", engine=engine)
    commit = check(MODELS / "toys/transaction_commit.py", config="three", engine=engine)

    assert "holds" == refined.result.of("is_transaction_commit").verdict
    assert (288, 1146, 11) == astuple(refined.counts)
    assert (34, 94, 7) == astuple(commit.counts)


def astuple(counts: Counts) -> tuple[int, int, int]:
    return counts.distinct, counts.generated, counts.depth
