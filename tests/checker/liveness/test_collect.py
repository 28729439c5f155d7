"""The graph that the native engine keeps is the one that the reference semantics gives."""

from collections.abc import Sequence
from dataclasses import astuple, replace
from pathlib import Path

import numpy as np
import pytest

from statewalk.checker import replaying
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.liveness.check import check_liveness
from statewalk.checker.liveness.collect import collect, explored
from statewalk.checker.liveness.explore import build, built
from statewalk.checker.liveness.graph import StateGraph
from statewalk.checker.liveness.in_a_check import small_graph
from statewalk.checker.native import explore
from statewalk.dsl.loader import load
from statewalk.dsl.model import Model, Property
from tests.cases import slow, some
from tests.places import ROOT

FOLDER = Path(__file__).parent / "specs"
INIT_PID = ROOT / "models/kafka/init_pid.py"
SPECS = sorted(FOLDER.glob("*.py"))


def transitions(graph: StateGraph) -> list[tuple[object, ...]]:
    prints = graph.fingerprints.tolist()
    sources = np.repeat(np.arange(graph.n), np.diff(graph.offsets)).tolist()
    moves = zip(sources, graph.targets.tolist(), graph.labels.tolist(), strict=True)
    labels = graph.table
    return sorted(
        (prints[s], prints[t] if t >= 0 else -1, *astuple(labels[k])) for s, t, k in moves
    )


def told(graph: StateGraph, properties: Sequence[Property]) -> dict[str, object]:
    prints = graph.fingerprints.tolist()
    return {
        "initial": [prints[s] for s in graph.initial],
        "transitions": transitions(graph),
        **{p.name: set(graph.fingerprints[graph.holds(p.name)].tolist()) for p in properties},
    }


def both(model: Model, options: SearchOptions) -> tuple[StateGraph, StateGraph, list[Property]]:
    properties = [p for p in model.properties if p.of_kind.liveness]
    native = collect(model, options, tuple(properties))
    assert native is not None
    return native, build(model, options, tuple(properties)), properties


def replayed(model: Model, properties: Sequence[Property]) -> StateGraph:
    """Of the steps that the replaying engine kept."""
    options = SearchOptions(keep_going=True)
    kept = replaying.explore(model, options).kept
    assert kept.whole
    graph = small_graph(model, options, tuple(properties), kept)
    assert graph is not None
    return graph


@pytest.mark.sampled(3)
@pytest.mark.parametrize("threads", [slow(1), 2])
@pytest.mark.parametrize("path", some(SPECS, every=6), ids=lambda p: p.stem)
def test_native_and_reference_build_one_graph(path: Path, threads: int) -> None:
    for config in load(path).configurations:
        model = load(path, config=config.name)
        native, reference, properties = both(model, SearchOptions(threads=threads))
        first = check_liveness(model, native, properties)
        second = check_liveness(model, reference, properties)

        assert told(reference, properties) == told(native, properties)
        assert told(reference, properties) == told(replayed(model, properties), properties)
        assert [(r.verdict, r.vacuous, r.lasso) for r in second] == [
            (r.verdict, r.vacuous, r.lasso) for r in first
        ]


@pytest.mark.thorough
@pytest.mark.parametrize(
    "constants",
    [
        slow({}),
        {"CLIENTS": 1, "MUTANT": "weak_send"},
        slow({"CLIENTS": 3, "BROKERS": 1, "TIDS": 2, "MUTANT": "phantom_pending"}),
    ],
)
def test_they_agree_on_init_pid(constants: dict[str, object]) -> None:
    model = load(INIT_PID, constants)
    native, reference, properties = both(model, SearchOptions(threads=2))

    assert told(reference, properties) == told(native, properties)
    assert told(reference, properties) == told(replayed(model, properties), properties)
    assert check_liveness(model, reference, properties)[0].lasso == (
        check_liveness(model, native, properties)[0].lasso
    )


def test_a_graph_built_in_python_counts_as_a_search() -> None:
    """Bounds on counts end it too. Steps that change nothing are generated, and are no edges."""
    model = load(ROOT / "models/toys/die_hard.py")
    found = explore(model, SearchOptions(keep_going=True)).counts
    work = built(model, SearchOptions(), ())

    assert (found.distinct, found.generated) == (len(work.rows), work.generated)


@pytest.mark.thorough
@pytest.mark.parametrize("depth", [slow(1), slow(2), 5])
def test_they_agree_on_what_is_cut(depth: int) -> None:
    native, reference, properties = both(load(INIT_PID), SearchOptions(max_depth=depth))

    assert told(reference, properties) == told(native, properties)
    assert reference.stopped == native.stopped == "depth"
    assert native.expanded is not None
    assert reference.expanded is not None
    assert set(reference.fingerprints[reference.expanded].tolist()) == set(
        native.fingerprints[native.expanded].tolist()
    )


WIDE = """
from statewalk import *

class It(Role):
    at: int = 0
    beside: int = 0

    @action
    def go(self) -> None:
        require(self.at < 40)
        self.at += 40

it = It()

@init
def begin() -> None:
    it.at = any_of(range(40))
    it.beside = any_of(range(40))
"""


@pytest.mark.parametrize("looks", [1, 2])
def test_what_was_not_expanded_to_its_end_is_not_called_expanded(
    tmp_path: Path, looks: int
) -> None:
    (tmp_path / "wide.py").write_text(WIDE)
    asked = iter([False] * looks)
    ends = SearchOptions(interrupted=lambda: next(asked, True))
    graph = collect(load(tmp_path / "wide.py"), ends, (), rows=True)

    assert graph is not None
    assert graph.stopped == "interrupt"
    assert graph.expanded is not None
    begin = np.arange(graph.n) < 1600
    steps = np.diff(graph.offsets)
    assert (steps[graph.expanded & begin] == 1).all()
    assert (steps[~graph.expanded] == 0).all()


@pytest.mark.thorough
def test_a_search_that_keeps_its_graph_finds_the_same() -> None:
    model = load(INIT_PID, {"MUTANT": "no_epoch_bump", "BROKERS": 1})
    options = SearchOptions(threads=2, keep_going=True)
    properties = tuple(p for p in model.properties if p.of_kind.liveness)
    found, graph = explored(model, options, properties, rows=True)
    plain = explore(model, options)

    assert (plain.counts, plain.findings, plain.fired) == (
        found.counts, found.findings, found.fired
    )  # fmt: skip
    assert graph is not None
    assert told(build(model, options, properties), properties) == told(graph, properties)
    assert graph.rows is not None
    assert len(graph.rows) == graph.n


@pytest.mark.thorough
@pytest.mark.parametrize(
    "options",
    [
        SearchOptions(max_depth=3),
        slow(SearchOptions(view=True)),
        slow(SearchOptions(symmetry=True)),
    ],
)
def test_no_graph_is_kept_of_a_search_that_is_not_of_all_states(options: SearchOptions) -> None:
    model = load(INIT_PID)
    found, graph = explored(model, replace(options, threads=1), (), rows=False)

    assert graph is None
    assert found == replace(explore(model, replace(options, threads=1)),
                            seconds=found.seconds, statistics=found.statistics)  # fmt: skip
