"""Searches of the Kafka models, for their tests."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from statewalk.checker import native
from statewalk.checker.contract.search import Exploration, SearchOptions
from statewalk.checker.engines import reference
from statewalk.checker.liveness.check import check_liveness
from statewalk.checker.liveness.explore import build
from statewalk.checker.liveness.graph import StateGraph
from statewalk.dsl.loader import load
from statewalk.dsl.model import Model
from tests.places import ROOT

FOLDER = ROOT / "models" / "kafka"
Constants = dict[str, Any]


def loaded(
    spec: str | Path, constants: Mapping[str, Any] | None = None, *, optimize: bool = True
) -> Model:
    """A model of this folder; what was asked for lately is not loaded again."""
    return _loaded(spec, optimize, *sorted((constants or {}).items()))


@lru_cache(maxsize=16)
def _loaded(spec: str | Path, optimize: bool, *constants: tuple[str, Any]) -> Model:
    return load(FOLDER / spec, dict(constants), optimize=optimize)


def search(spec: str | Path, *properties: str, **constants: Any) -> Exploration:
    """A search of a model of this folder for violations of some properties; for none, of all.

    The latest results are kept, as several tests ask for the same.
    """
    return _searched(spec, properties or None, False, *sorted(constants.items()))


def explored(spec: str | Path, **constants: Any) -> Exploration:
    """All states of a model of this folder, violations or not; the latest results are kept."""
    return _searched(spec, None, True, *sorted(constants.items()))


@lru_cache(maxsize=16)
def _searched(
    spec: str | Path,
    properties: tuple[str, ...] | None,
    keep_going: bool,
    *constants: tuple[str, Any],
) -> Exploration:
    options = SearchOptions(properties=properties, keep_going=keep_going)
    return native.explore(loaded(spec, dict(constants)), options)


def slowly(spec: str, *, optimize: bool, **constants: Any) -> Exploration:
    """The reference engine's search."""
    return reference.explore(loaded(spec, constants, optimize=optimize), SearchOptions())


def counts(found: Exploration) -> tuple[int, int, int]:
    """Generated, distinct, depth: the order of the tables."""
    return found.counts.generated, found.counts.distinct, found.counts.depth


def violated(found: Exploration) -> dict[str, int]:
    """The lengths of the shortest traces to violations."""
    return {f.property: f.length for f in found.findings}


def reached(found: Exploration) -> dict[str, int]:
    """The lengths of the shortest traces to witnesses."""
    return {f.property: f.length for f in found.witnesses}


def steps(spec: str, found: Exploration, **constants: Any) -> list[str]:
    """The actions of the only violation found."""
    model = loaded(spec, constants)
    (finding,) = found.findings
    return [model.actions[step.action].label for step in finding.steps]


def graph_of(spec: str, **constants: Any) -> tuple[Model, StateGraph]:
    """The state graph of a model, with what its liveness properties say of each state."""
    model = loaded(spec, constants)
    live = tuple(p for p in model.properties if p.of_kind.liveness)
    return model, build(model, SearchOptions(), live)


def live(spec: str, **constants: Any) -> dict[str, str]:
    """The verdicts on the liveness properties of a model."""
    model, graph = graph_of(spec, **constants)
    return {r.property: r.verdict for r in check_liveness(model, graph, model.properties)}


def states_without_successor(graph: StateGraph) -> int:
    """Return how many states end all behaviors that reach them (no step changes anything)."""
    return int(np.count_nonzero(np.diff(graph.offsets) == 0))
