"""Levels below snapshot isolation: against their axioms, and how they are explained.

The oracle (axioms.py) tries every order of a few transactions; it cannot say how fast large
histories are decided, or whether a report is readable.
"""

import os
import random
from itertools import count, product
from typing import Any

import pytest

from statewalk.checker.history.certify.replay import Mismatch
from statewalk.checker.history.certify.replay_weak import replay_weak
from statewalk.checker.history.decide import weak
from statewalk.checker.history.decide.check import Options, check, check_levels, summary
from statewalk.checker.history.decide.scan import scan
from statewalk.checker.history.explain.anomaly import explain
from statewalk.checker.history.explain.telling import lines
from statewalk.checker.history.formats.jsonl import from_records
from statewalk.dsl.library.levels import LEVELS, weaker
from tests.cases import slow, some
from tests.checker.history.axioms import RULES, levels_of
from tests.checker.history.simulated import ANOMALIES, Record, Workload, plant, shuffled, simulate
from tests.checker.history.test_oracle import random_histories

JUDGED = {p + r for p in ("", "strong-session-") for r in RULES}


def compare(count: int, seed: int) -> dict[str, int]:
    """Check histories at every level without real time; how often each held."""
    rng = random.Random(seed)
    tally = dict.fromkeys([*sorted(JUDGED), "none"], 0)
    for made, _ in random_histories(count, seed):
        alone = 0.0 if rng.random() < 0.5 else 0.4
        records = [{**r, "session": r["session"] if rng.random() >= alone else f"own{i}"}
                   for i, r in enumerate(made)]  # fmt: skip
        expected = levels_of(records)
        history = from_records(records)
        for via in (True, False):
            options = Options(via_sessions=via, guess=via)
            found = {n for n in sorted(JUDGED) if check(history, n, options).holds}

            assert expected == found, (sorted(expected ^ found), seed, records)
        lattice = check_levels(history)
        assert found == {n for n in JUDGED if lattice[n].holds}
        for n in expected:
            assert weaker(n) <= expected
            tally[n] += 1
        tally["none"] += not expected
    return tally


@pytest.mark.parametrize(("count", "seed"), [(15, 0), *(slow(40, seed) for seed in range(4))])
def test_verdicts_agree_with_the_axioms(count: int, seed: int) -> None:
    tally = compare(count, seed)

    assert tally["strong-session-serializable"] > 4
    assert tally["read-committed"] > tally["strong-session-si"]


@pytest.mark.slow
def test_verdicts_agree_with_the_axioms_on_many_histories() -> None:
    count, seed = int(os.environ.get("HISTORIES", "4000")), int(os.environ.get("SEED", "500"))
    tally = compare(count, seed)

    assert len(set(tally.values())) > 10, tally


@pytest.mark.parametrize(("count", "seed"), [(20, 0), slow(60, 0), slow(60, 1)])
def test_every_violation_is_explained_by_transactions_that_violate_it_alone(
    count: int, seed: int
) -> None:
    told = 0
    for records, _ in random_histories(count, 900 + seed):
        history = from_records(records)
        known = scan(history)
        for name in sorted(JUDGED):
            verdict = check(history, name, known=known)
            if verdict.holds:
                continue
            found = explain(history, verdict)
            kept = [{**records[t], "status": "ok"} for t in found.transactions]  # info was read
            assert name not in levels_of(kept) or verdict.findings, (name, records)
            assert found.refutes in weaker(name)
            if not verdict.findings:
                assert found.cycle
                assert found.refutes not in levels_of(kept)
                assert found.minimal
            told += len(lines(history, found)) > 2

    assert told > 2 * count


PLANTED = {
    "lost-update": ("strong-session-prefix", "parallel-si"),
    "long-fork": ("strong-session-parallel-si", "prefix"),
    "G-nonadjacent": ("strong-session-parallel-si", "prefix"),
    "causality-violation": ("strong-session-read-atomic", "causal"),
    "read-skew": ("strong-session-monotonic-atomic-view", "read-atomic"),
    "fractured-read": ("strong-session-monotonic-atomic-view", "read-atomic"),
}


@pytest.mark.parametrize(
    ("anomaly", "kind"), some(product(PLANTED, ["rw", "mixed", "range", "c-tpcc"]), every=9)
)
def test_a_planted_anomaly_leaves_the_levels_that_allow_it(anomaly: str, kind: str) -> None:
    base = list(simulate(Workload(kind, 300, keys=600, seed=4)))
    records = shuffled(plant(base, anomaly, 7), 5)
    history = from_records(records)
    known = scan(history)
    verdicts = check_levels(history, known=known)
    held, failed = summary(verdicts)

    assert ([PLANTED[anomaly][0]], [PLANTED[anomaly][1]]) == (held, failed)
    found = explain(history, verdicts[failed[0]])
    alike = ("read-skew", "fractured-read")  # the same history, by the order of the writers
    assert failed[0] == found.refutes
    assert found.name in (alike if anomaly in alike else (anomaly,))
    assert len(found.transactions) <= 1 + len(ANOMALIES[anomaly])


def test_session_order_counts_at_the_levels_that_are_named_for_it() -> None:
    records = [
        {"session": 1, "ops": [["w", "x", 1]]},
        {"session": 2, "ops": [["r", "x", 1]]},
        {"session": 2, "ops": [["w", "y", 1]]},
        {"session": 3, "ops": [["r", "y", 1], ["r", "x", None]]},
    ]
    verdicts = check_levels(from_records(records))

    assert summary(verdicts) == (["strong-session-read-atomic", "serializable"],
                                 ["strong-session-causal"])  # fmt: skip


def test_the_interpreter_rejects_an_order_that_is_no_execution() -> None:
    wx, rx = {"session": 1, "ops": [["w", "x", 1]]}, {"session": 2, "ops": [["r", "x", 1]]}
    missing = {"session": 3, "ops": [["r", "x", None]]}
    history = from_records([wx, rx, missing])

    replay_weak(history, [0, 1, 2], LEVELS["causal"])
    with pytest.raises(Mismatch, match="nobody wrote before"):
        replay_weak(history, [1, 0, 2], LEVELS["causal"])
    with pytest.raises(Mismatch, match="missing"):
        replay_weak(history, [0, 1], LEVELS["causal"])


def test_the_interpreter_rejects_what_misses_a_visible_write() -> None:
    causality = [
        {"session": 1, "ops": [["w", "x", 1]]},
        {"session": 2, "ops": [["r", "x", 1], ["w", "y", 1]]},
        {"session": 3, "ops": [["r", "y", 1], ["r", "x", None]]},
    ]
    fractured = [
        {"session": 1, "ops": [["w", "x", 1], ["w", "y", 1]]},
        {"session": 2, "ops": [["r", "x", None], ["r", "y", 1]]},
    ]

    replay_weak(from_records(causality), [0, 1, 2], LEVELS["read-atomic"])
    with pytest.raises(Mismatch, match="older than what was visible"):
        replay_weak(from_records(causality), [0, 1, 2], LEVELS["causal"])
    replay_weak(from_records(fractured), [0, 1], LEVELS["monotonic-atomic-view"])
    with pytest.raises(Mismatch, match="older than what was visible"):
        replay_weak(from_records(fractured), [0, 1], LEVELS["read-atomic"])


@pytest.mark.thorough
def test_the_search_for_version_orders_of_parallel_si_is_needed_and_works() -> None:
    decisions = 0
    for records, _ in random_histories(150, 77):
        history = from_records(records)
        verdict = check(history, "parallel-si", Options(via_sessions=False, guess=False))
        assert ("parallel-si" in levels_of(records)) == verdict.holds
        decisions += verdict.stats.get("decisions", 0)

    assert decisions > 3


@pytest.mark.slow
def test_the_search_that_learns_decides_what_the_other_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Blind writes to few keys; those of BLIND are rejected by it alone."""
    monkeypatch.setattr(weak, "DECISIONS", 0)
    rng, learned, rejected = random.Random(4), 0, 0
    for records in (BLIND, *(few_keys(rng) for _ in range(40))):
        history = from_records(records)
        verdict = check(history, "parallel-si", Options(via_sessions=False, guess=False))
        assert ("parallel-si" in levels_of(records)) == verdict.holds
        learned += verdict.stage == "search" or "conflicts" in verdict.stats
        rejected += verdict.stage == "search" and not verdict.holds

    assert learned
    assert rejected


def few_keys(rng: random.Random) -> list[Record]:
    """Transactions that write two or three keys blindly, or read some version of them."""
    keys, values = "xyz"[: rng.choice((2, 3))], count(1)
    written: dict[str, list[int | None]] = {key: [None] for key in keys}
    records: list[Record] = []
    for at in range(rng.randint(4, 7)):
        ops: list[list[Any]] = []
        for key in rng.sample(keys, rng.randint(1, len(keys))):
            reads = rng.random() < 0.4
            ops.append(["r", key, None] if reads else ["w", key, next(values)])
            if not reads:
                written[key].append(ops[-1][2])
        records.append({"session": at % 4, "ops": ops})
    for op in (op for record in records for op in record["ops"] if op[0] == "r"):
        op[2] = rng.choice(written[op[1]])
    return records


BLIND = [
    {"session": 1, "ops": [["r", "z", 7], ["r", "y", 3]]},
    {"session": 2, "ops": [["w", "x", 6], ["w", "z", 7]]},
    {"session": 3, "ops": [["r", "x", 1], ["r", "z", 4]]},
    {"session": 4, "ops": [["w", "x", 1], ["w", "y", 2]]},
    {"session": 5, "ops": [["w", "y", 3], ["w", "z", 4], ["w", "x", 5]]},
]


def test_blind_writers_that_only_the_search_rejects_are_explained_by_cases() -> None:
    history = from_records(BLIND)
    verdict = check(history, "parallel-si", Options(via_sessions=False, guess=False))
    found = explain(history, verdict)

    assert ("search", False, 1) == (verdict.stage, verdict.holds, verdict.stats["decisions"])
    assert "parallel-si" not in levels_of(BLIND)
    assert (["strong-session-causal"], ["parallel-si", "prefix"]) == summary(check_levels(history))
    assert ("parallel-si", 5) == (found.refutes, len(found.transactions))
    assert any("in this case" in line for reason in found.reasons for line in reason.lines)


@pytest.mark.parametrize("left_out", range(5))
def test_without_any_one_of_them_the_blind_writers_have_an_order(left_out: int) -> None:
    kept = [r for i, r in enumerate(BLIND) if i != left_out]
    written = {tuple(op[1:]) for r in kept for op in r["ops"] if op[0] == "w"}  # type: ignore[attr-defined]
    records = [{**r, "ops": [op for op in r["ops"] if tuple(op[1:]) in written]} for r in kept]  # type: ignore[attr-defined]

    assert check(from_records(records), "parallel-si").holds


@pytest.mark.parametrize(
    "rows", [[[1, 0], [2, 2]], [[2, 2], [1, 0]], [[1, 1], [2, 0]], [[2, 0], [1, 1]]]
)
def test_a_range_query_sees_its_rows_at_one_moment(rows: list[Any]) -> None:
    records = [
        {"statewalk-history": 1, "initial": [[1, 0], [2, 0]]},
        {"session": 1, "ops": [["w", 1, 1], ["w", 2, 2]]},
        {"session": 2, "ops": [["range", 1, 2, rows]]},
    ]
    history = from_records(records)
    verdict = check(history, "monotonic-atomic-view")
    found = explain(history, verdict)

    assert not verdict.holds
    assert ("fractured-read", "monotonic-atomic-view") == (found.name, found.refutes)
    with pytest.raises(Mismatch, match="older than what was visible"):
        replay_weak(history, [0, 1], LEVELS["monotonic-atomic-view"])


def test_a_range_query_that_sees_a_write_orders_what_it_does_not_see() -> None:
    history = from_records(
        [
            {"session": 1, "ops": [["w", 3, 30]]},
            {"session": 2, "ops": [["d", 2, 21], ["w", 3, 31]]},
            {"session": 3, "ops": [["range", 1, 5, [[3, 30]], [[2, 21]]]]},
        ]
    )

    assert check(history, "monotonic-atomic-view").holds


@pytest.mark.parametrize("level", ["monotonic-atomic-view", "read-atomic", "causal", "si"])
def test_a_key_that_is_read_twice_refutes_the_weakest_level(level: str) -> None:
    history = from_records(
        [
            {"session": 1, "ops": [["r", 1, None], ["r", 2, 3], ["r", 1, None]]},
            {"session": 2, "ops": [["w", 1, 2], ["w", 2, 3]]},
        ]
    )
    found = explain(history, check(history, level))

    assert ("fractured-read", "monotonic-atomic-view") == (found.name, found.refutes)


def test_the_name_is_of_the_level_that_is_refuted() -> None:
    skipped = [
        {"session": 1, "ops": [["w", 1, 2], ["w", 2, 3]]},
        {"session": 2, "ops": [["r", 2, 3], ["w", 2, 4]]},
        {"session": 3, "ops": [["r", 2, 4], ["r", 1, None], ["w", 2, 9]]},
    ]
    blind = [
        {"session": 1, "ops": [["w", 2, 7], ["w", 1, 9]]},
        {"session": 2, "ops": [["r", 1, 9], ["w", 1, 2], ["r", 2, 1]]},
        {"session": 3, "ops": [["r", 2, None], ["w", 2, 1]]},
    ]
    for records, expected in (
        (skipped, ("causality-violation", "causal")),
        (blind, ("lost-update", "parallel-si")),
    ):
        history = from_records(records)
        found = explain(history, check(history, "si"))
        assert expected == (found.name, found.refutes)


@pytest.mark.parametrize("level", ["read-committed", "strong-session-monotonic-atomic-view", "si"])
def test_appends_that_interleave_are_explained(level: str) -> None:
    history = from_records(
        [
            {"session": 0, "ops": [["append", 2, 2], ["append", 2, 3]]},
            {"session": 1, "ops": [["append", 2, 8]]},
            {"session": 0, "ops": [["r", 2, [2, 8, 3]]]},
        ]
    )
    found = explain(history, check(history, level))

    assert ("G0", "read-committed") == (found.name, found.refutes)


def test_a_list_is_read_from_who_appended_its_last_element() -> None:
    records = [
        {"session": 1, "ops": [["append", "l", 1], ["w", "y", 1]]},
        {"session": 2, "ops": [["append", "l", 2]]},
        {"session": 3, "ops": [["r", "l", [1, 2]], ["r", "y", None]]},
    ]
    verdicts = check_levels(from_records(records))

    assert summary(verdicts) == (["strong-session-causal"], ["parallel-si", "prefix"])
    assert levels_of(records) == {name for name in JUDGED if verdicts[name].holds}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("count", "seed"), [(15, 0), slow(60, 0), *(slow(1500, seed) for seed in range(2))]
)
def test_the_order_in_which_a_range_lists_its_rows_changes_no_verdict(
    count: int, seed: int
) -> None:
    rng, held = random.Random(seed), 0
    for _ in range(count):
        records = ranges(rng)
        expected = levels_of(records)
        for record in records:
            for op in record["ops"]:
                if op[0] == "range":
                    rng.shuffle(op[3])
        history = from_records(records)

        known = scan(history)

        for name in sorted(JUDGED):
            verdict = check(history, name, known=known)
            assert (name in expected) == verdict.holds, (name, records)
            if not verdict.holds:
                assert explain(history, verdict).refutes not in expected
        held += "monotonic-atomic-view" in expected

    assert 0 < held < count


def ranges(rng: random.Random) -> list[Record]:
    """Writers of up to three keys, and readers that see some version of each key in a range."""
    keys, values = (1, 2, 3), count(1)
    written: dict[int, list[int | None]] = {key: [None] for key in keys}
    records: list[Record] = []
    for at in range(rng.randint(3, 4)):
        ops: list[list[Any]] = [
            ["w", key, next(values)] for key in rng.sample(keys, rng.randint(0, 3))
        ]
        for _, key, value in ops:
            written[key].append(value)
        records.append({"session": at % 3, "ops": ops})
    for record in records:
        own = {op[1] for op in record["ops"]}
        seen = {key: rng.choice(written[key]) for key in keys if key not in own}
        rows = [[key, value] for key, value in seen.items() if value is not None]
        if len(seen) == len(keys):
            record["ops"].append(["range", 1, 3, rows])
        elif rng.random() < 0.5:
            record["ops"] += [["r", key, value] for key, value in seen.items()]
    return records
