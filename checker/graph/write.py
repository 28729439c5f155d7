"""Writes the state graph of a check: collected once more, without properties, then as tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from statewalk.checker.contract.search import NO_ERROR
from statewalk.checker.graph.collect import Collected, Steps, collect, stopped_inside
from statewalk.checker.graph.columns import Column, columns_of, texts
from statewalk.checker.graph.dataset import STATES, TRANSITIONS, About, Table, finish, new_graph
from statewalk.checker.graph.labels import Labels
from statewalk.checker.graph.rows import Aside, States
from statewalk.checker.verdict.conclude import constant_json
from statewalk.dsl.errors import EngineError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from statewalk.checker.contract.search import Exploration, SearchOptions
    from statewalk.dsl.model import Model

FILE = "part-00000.parquet"


def write_graph(
    model: Model, options: SearchOptions, found: Exploration, folder: str | Path
) -> About:
    """Write the graph of what a search saw; what the graph says of itself.

    A search that stopped between levels gives the levels that it saw.

    Raises:  RunError[SW354] for a search that was ended inside a level; RunError[SW350] and
    RunError[SW403] for a place where no graph can be written
    """
    if any(f.property == NO_ERROR for f in found.findings):
        raise stopped_inside("error")
    if found.stopped in ("time", "memory", "interrupt"):
        raise stopped_inside(found.stopped)
    limits = replace(options, max_depth=None if found.complete else found.counts.depth)
    with new_graph(Path(folder)) as work:
        steps = Table(work / TRANSITIONS / FILE)
        states = Table(work / STATES / FILE)
        aside = Aside(work / "rows")
        names = Labels(model)
        try:
            steps.add(step_table(none(), names))
            seen = _collector(found.engine)(
                model, limits, aside.add, lambda s: steps.add(step_table(s, names)), names
            )
            columns = columns_of(model, seen.layout)
            states.add(state_table(nobody(len(seen.layout.slots)), columns, names, 0))
            for part in aside.read(len(seen.layout.slots)):
                states.add(state_table(part, columns, names, seen.expanded))
        finally:
            steps.close()
            states.close()
            aside.close()
        counts = (found.counts.distinct, found.counts.generated, found.counts.depth)
        if (seen.distinct, seen.generated, seen.depth) != counts or states.rows != seen.distinct:
            raise EngineError(
                "SW906",
                f"The state graph has {seen.distinct:,} states and {seen.generated:,} generated, "
                f"the search {counts[0]:,} and {counts[1]:,}.",
            )
        about = about_of(model, found, columns, steps.rows, seen.expanded)
        finish(work, about)
    return about


def _collector(engine: str) -> Callable[..., Collected]:
    """What collects the graph of a search: tasks, where tasks have searched."""
    if engine == "spark":
        from statewalk.checker.graph.by_spark import collect as collect_with_tasks

        return collect_with_tasks
    return collect


def about_of(
    model: Model, found: Exploration, columns: list[Column], transitions: int, expanded: int
) -> About:
    """What a graph says of itself."""
    return About(
        spec=model.path,
        sources=model.origins,
        constants={n: constant_json(v) for n, v in model.constants.items()},
        engine=found.engine,
        states=found.counts.distinct,
        transitions=transitions,
        initial=found.counts.initial,
        generated=found.counts.generated,
        depth=found.counts.depth,
        expanded_depth=expanded,
        complete=found.complete,
        columns={c.name: c.shows for c in columns},
    )


def none() -> Steps:
    """No steps."""
    words, ints = np.zeros(0, np.uint64), np.zeros(0, np.int32)
    return Steps(words, words, ints, ints)


def nobody(slots: int) -> States:
    """No states, of so many slots."""
    words = np.zeros(0, np.uint64)
    return States(0, np.zeros((0, slots), np.uint16), words, words, np.zeros(0, np.int32))


def signed(fingerprints: NDArray[np.uint64]) -> pa.Array:
    """Fingerprints as signed integers of 64 bits, which every tool knows."""
    return pa.array(np.ascontiguousarray(fingerprints).view(np.int64))


def step_table(steps: Steps, names: Labels) -> pa.Table:
    """Steps as rows of the table of transitions."""
    return pa.table(
        {
            "source": signed(steps.source),
            "target": signed(steps.target),
            "action": texts(names.action, steps.action),
            "actor": texts(names.actor, steps.action),
            "arguments": texts(names.arguments, steps.action),
            "choices": texts(list(names.choices), steps.choices),
        }
    )


def state_table(part: States, columns: list[Column], names: Labels, expanded: int) -> pa.Table:
    """States of one level as rows of the table of states."""
    n = len(part.fp)
    parent = signed(part.parent)
    came = part.action  # -1 for none, which is the last
    cells: dict[str, Any] = {
        "fingerprint": signed(part.fp),
        "depth": pa.array(np.full(n, part.depth, np.int32)),
        "parent": parent if part.depth else pa.nulls(n, pa.int64()),
        "action": texts([*names.action, None], came),
        "actor": texts([*names.actor, None], came),
        "arguments": texts([*names.arguments, None], came),
        "expanded": pa.array(np.full(n, part.depth < expanded)),
    }
    return pa.table({**cells, **{c.name: c.of(part.values) for c in columns}})
