"""The ways to a verdict that small or easy histories do not take: stopping early, going deep.

What decides here is the brute-force store where histories are small, and otherwise that the
rules and the search, which share little, agree. It cannot tell how fast any of them is.
"""

from typing import Any

import numpy as np
import pytest

from statewalk.checker.history.decide import saturate
from statewalk.checker.history.decide.check import Options, check
from statewalk.checker.history.decide.core import cycle_support
from statewalk.checker.history.decide.graph import build, ranks
from statewalk.checker.history.decide.guess import executed, try_order
from statewalk.checker.history.decide.saturate import Reach
from statewalk.checker.history.decide.scan import scan
from statewalk.checker.history.explain.anomaly import explain
from statewalk.checker.history.formats.jsonl import from_records
from statewalk.dsl.library.levels import LEVELS
from tests.checker.history.simulated import Workload, plant, shuffled, simulate
from tests.checker.history.test_oracle import possible, random_histories

ALONE = Options(via_sessions=False, guess=False, saturation=False)
RULES = Options(via_sessions=False, guess=False)
SEARCHED = ("si", "strong-session-si", "strong-si", "serializable", "strict-serializable")


@pytest.mark.thorough
@pytest.mark.parametrize("guess", [True, False])
def test_verdicts_are_right_when_saturation_stops_after_one_pass(
    monkeypatch: pytest.MonkeyPatch, guess: bool
) -> None:
    monkeypatch.setattr(saturate, "PATIENCE", 0)
    options = Options(via_sessions=False, guess=guess)
    for records, error in random_histories(60, 77):
        history = from_records(records)
        for name in SEARCHED:
            asked = Options(error, options.via_sessions, guess=guess)
            expected = possible(records, LEVELS[name], error)

            assert expected == check(history, name, asked).holds, (name, records)


def deep(seed: int, lost: float) -> list[dict[str, Any]]:
    work = Workload(
        "blind", 120, 8, 4, keys=12, writes=0.8, stale=4, lost=lost, session_order=False, seed=seed
    )
    return shuffled(list(simulate(work)), seed)


@pytest.mark.thorough
def test_the_search_alone_agrees_with_the_rules_on_histories_of_many_decisions() -> None:
    tally, conflicts, decisions = [0, 0], 0, 0
    for seed in range(12):
        history = from_records(deep(seed, lost=0.004 * (seed % 3)))
        for level in ("si", "strong-session-si"):
            by_rules, alone = check(history, level, RULES), check(history, level, ALONE)

            assert by_rules.holds == alone.holds
            tally[alone.holds] += 1
            conflicts += alone.stats.get("conflicts", 0)
            decisions += alone.stats.get("decisions", 0)

    assert min(tally) > 0, tally
    assert decisions > 1000
    assert conflicts > 100


def test_a_rejection_after_an_early_stop_still_ends_in_a_cycle(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    records = plant(list(simulate(Workload("mixed", 150, keys=60, seed=2))), "long-fork", 3)
    history = from_records(shuffled(records, 1))
    known = scan(history)
    monkeypatch.setattr(saturate, "PATIENCE", 0)
    verdict = check(history, "si", RULES, known=known)

    assert (False, "saturation") == (verdict.holds, verdict.stage)
    assert verdict.graph is not None
    assert 4 <= len(cycle_support(verdict.graph)) < 20
    assert "long-fork" == explain(history, verdict).name


@pytest.mark.parametrize("level", ["si", "serializable"])
def test_running_the_known_graph_gives_a_topological_order_of_all_nodes(level: str) -> None:
    for seed in range(5):
        history = from_records(deep(seed, lost=0.0))
        graph = build(history, scan(history)[0], LEVELS[level], 0.0)
        saturate.saturate(graph)
        if len(graph.connect()) < graph.size:
            continue
        order = executed(graph, graph.edges[:, :2], np.arange(graph.size, dtype=np.float64))

        assert list(range(graph.size)) == sorted(order.tolist())
        rank = ranks(order)
        assert (rank[graph.edges[:, 0]] < rank[graph.edges[:, 1]]).all()


def test_running_the_known_graph_orders_versions_by_who_reads_them() -> None:
    # by place alone x=3 would come last, and its reader would have to see y=1 and y=4 at once
    records: list[dict[str, Any]] = [
        {"session": 1, "ops": [["w", "x", 1], ["w", "y", 1]]},
        {"session": 2, "ops": [["w", "y", 4]]},
        {"session": 3, "ops": [["w", "x", 3]]},
        {"session": 4, "ops": [["r", "x", 3], ["r", "y", 1]]},
    ]
    history = from_records(records)
    graph = build(history, scan(history)[0], LEVELS["serializable"], 0.0)
    graph.connect()
    base, priority = graph.edges[:, :2], np.arange(4, dtype=np.float64)

    order = executed(graph, base, priority)

    assert [0, 2, 3, 1] == order.tolist()
    assert len(try_order(graph, base, order, ranks(order).astype(np.float64))[0]) == 4


@pytest.mark.parametrize("level", ["si", "strong-session-si"])
def test_few_edges_reach_what_all_edges_reach(level: str) -> None:
    work = Workload("mixed", 200, sessions=4, keys=20, stale=4, seed=1)
    history = from_records(shuffled(list(simulate(work)), 1))
    graph = build(history, scan(history)[0], LEVELS[level], 0.0)
    saturate.saturate(graph, exact=True)
    order = graph.connect()
    edges, few = graph.edges[:, :2].copy(), Reach(graph, order).few_edges()
    graph.edges = graph.edges[: len(few)]
    graph.edges[:, :2] = few
    smaller = Reach(graph, graph.connect())

    assert len(order) == graph.size
    assert graph.by_session is (level != "si")
    assert 2 * len(few) < len(edges)
    assert smaller.implied(edges[:, 0].copy(), edges[:, 1].copy()).all()
