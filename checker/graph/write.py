"""Writes the state graph of a check as tables: collected by its search on the way, or by one more
search, without properties.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from statewalk.checker.contract.search import NO_ERROR
from statewalk.checker.contract.stops import whole_levels
from statewalk.checker.graph.collect import (
    Aside,
    Collected,
    Collector,
    Labels,
    States,
    Steps,
    collect,
    collected_by,
    stopped_inside,
)
from statewalk.checker.graph.columns import Column, columns_of, texts
from statewalk.checker.graph.dataset import (
    STATES,
    TRANSITIONS,
    About,
    Table,
    finish,
    new_graph,
    unwritable,
)
from statewalk.checker.verdict.conclude import constant_json
from statewalk.dsl.errors import EngineError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from statewalk.checker.contract.search import Exploration, SearchOptions
    from statewalk.checker.native.state import NativeSearch
    from statewalk.dsl.model import Model

FILE = "part-00000.parquet"


class Written:
    """A graph as it is written: ``on_states`` and ``on_steps`` take what is found, `finish` makes a
    graph of it. What keeps it from being written is raised there, and not where it was met.
    """

    def __init__(self, model: Model, folder: Path, work: Path) -> None:
        self.model = model
        self.folder = folder
        self.work = work
        self.names = Labels(model)
        self.problem: OSError | None = None
        self._steps = Table(work / TRANSITIONS / FILE)
        self._states = Table(work / STATES / FILE)
        self._aside = Aside(work / "rows")
        self._collector: Collector | None = None
        self.on_steps(none())

    def sink(self, search: NativeSearch) -> Collector:
        """Return what a native search is to tell of its transitions."""
        self._collector = Collector(search, self.on_states, self.on_steps, self.names)
        return self._collector

    def on_states(self, states: States) -> None:
        """Set states aside."""
        self._try(lambda: self._aside.add(states))

    def on_steps(self, steps: Steps) -> None:
        """Write steps."""
        self._try(lambda: self._steps.add(step_table(steps, self.names)))

    def _try(self, write: Callable[[], None]) -> None:
        try:
            if self.problem is None:
                write()
        except OSError as error:
            self.problem = error

    def finish_own(self, found: Exploration) -> About:
        """As `finish`, after the search that was told to tell this one."""
        assert self._collector is not None
        refuse_parts(found)
        return self.finish(collected_by(self._collector.search, found.complete), found)

    def finish(self, seen: Collected, found: Exploration) -> About:
        """Put the graph of a search into its place; what it says of itself."""
        columns = columns_of(self.model, seen.layout)
        slots = len(seen.layout.slots)
        self._states.add(state_table(nobody(slots), columns, self.names, 0))
        for part in self._aside.read(slots) if self.problem is None else ():
            self._states.add(state_table(part, columns, self.names, seen.expanded))
        self.close()
        if self.problem is not None:
            raise unwritable(self.folder, self.problem) from self.problem
        counts = (found.counts.distinct, found.counts.generated, found.counts.depth)
        if (seen.distinct, seen.generated, seen.depth) != counts or (
            self._states.rows != seen.distinct
        ):
            raise EngineError(
                "SW906",
                f"The state graph has {seen.distinct:,} states and {seen.generated:,} generated, "
                f"the search {counts[0]:,} and {counts[1]:,}.",
            )
        about = about_of(self.model, found, columns, self._steps.rows, seen.expanded)
        return finish(self.work, self.folder, about)

    def close(self) -> None:
        """Close the files."""
        self._try(self._steps.close)
        self._try(self._states.close)
        self._aside.close()


@contextmanager
def written(model: Model, folder: Path) -> Iterator[Written]:
    """A graph to be written to a folder: there once it is finished, and nothing of it if it is not.

    Raises:  RunError[SW350] and RunError[SW403] for a place where no graph can be written
    """
    with new_graph(folder) as work:
        graph = Written(model, folder, work)
        try:
            yield graph
        finally:
            graph.close()


def write_graph(
    model: Model, options: SearchOptions, found: Exploration, folder: str | Path
) -> About:
    """Write the graph of what a search saw, by searching once more; what the graph says of itself.

    A search that stopped between levels gives the levels that it saw.

    Raises:  RunError[SW354] for a search that was ended inside a level; RunError[SW350] and
    RunError[SW403] for a place where no graph can be written
    """
    refuse_parts(found)
    limits = replace(options, max_depth=None if found.complete else found.counts.depth)
    with written(model, Path(folder)) as graph:
        seen = collect(model, limits, graph.on_states, graph.on_steps, graph.names)
        return graph.finish(seen, found)


def refuse_parts(found: Exploration) -> None:
    """Raises RunError[SW354] for a search that was ended inside a level."""
    if any(f.property == NO_ERROR for f in found.findings):
        raise stopped_inside("error")
    if found.stopped is not None and not whole_levels(found.stopped):
        raise stopped_inside(found.stopped)


def about_of(
    model: Model, found: Exploration, columns: list[Column], transitions: int, expanded: int
) -> About:
    """Return what a graph says of itself."""
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
    """Return fingerprints as signed integers of 64 bits, which every tool knows."""
    return pa.array(np.ascontiguousarray(fingerprints).view(np.int64))


def step_table(steps: Steps, names: Labels) -> pa.Table:
    """Return steps as rows of the table of transitions."""
    cells = {
        "source": signed(steps.source),
        "target": signed(steps.target),
        "action": texts(names.action, steps.action),
        "actor": texts(names.actor, steps.action),
        "arguments": texts(names.arguments, steps.action),
        "choices": texts(list(names.choices), steps.choices),
    }
    there = {"source", "target", "action", *(() if None in names.actor else ("actor",))}
    return _table(cells, there)


def _table(cells: dict[str, pa.Array], there: set[str]) -> pa.Table:
    """Return a table; that columns have a value in each row, where that is known, is half of
    the work.
    """
    fields = [pa.field(name, cell.type, name not in there) for name, cell in cells.items()]
    return pa.table([*cells.values()], schema=pa.schema(fields))


def state_table(part: States, columns: list[Column], names: Labels, expanded: int) -> pa.Table:
    """Return states of one level as rows of the table of states."""
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
    cells |= {c.name: c.of(part.values) for c in columns}
    return _table(cells, {"fingerprint", "depth", "expanded"})
