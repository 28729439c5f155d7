"""A state graph from Python: its states and steps as tables that Arrow, pandas and DuckDB take."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import cached_property
from html import escape
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from statewalk.checker.contract.search import Exploration, Pass, SearchCounts, SearchOptions
from statewalk.checker.graph.collect import stopped_inside
from statewalk.checker.graph.dataset import (
    STATES,
    TRANSITIONS,
    read_about,
    refuse_others,
    rows_of,
    unwritable,
)
from statewalk.checker.graph.write import write_graph
from statewalk.checker.machine.extras import missing
from statewalk.checker.traces.exports.layered import FEW, Spot, layered
from statewalk.checker.traces.exports.pictures import fenced, sized, svg_of
from statewalk.checker.verdict.evidence import Graph as GraphWritten
from statewalk.dsl.errors import RunError, printable

if TYPE_CHECKING:
    import duckdb
    import pandas
    import pyarrow

    from statewalk.checker.graph.dataset import About
    from statewalk.checker.graph.write import Written
    from statewalk.checker.verdict.judge import Checked
    from statewalk.checker.verdict.run import Run
    from statewalk.dsl.model import Model


_SHOWN = 10  # rows of a table in a notebook
_DRAWN = min(60, FEW)  # states of a graph that is drawn there
_NUMBERS = ("fingerprint", "parent")  # what a reader looks at last
_WIDE = 40  # letters of a cell


class Graph:
    """A state graph in a folder: ``states()`` and ``steps()`` are tables (how-to/graph.md)."""

    def __init__(self, folder: str | Path) -> None:
        """Raises RunError[SW350], RunError[SW351] where there is no graph, or a damaged one."""
        self.folder = Path(folder)
        self.about: About = read_about(self.folder)

    def states(self) -> Relation:
        """Return a row for each state."""
        return Relation(self, STATES)

    def steps(self) -> Relation:
        """Return a row for each step."""
        return Relation(self, TRANSITIONS)

    def __str__(self) -> str:
        about = self.about
        sizes = f"{about.states:,} states, {about.transitions:,} steps, depth {about.depth}"
        part = "" if about.complete else "; the search was not exhaustive"
        return printable(f"state graph of {about.spec}: {sizes}{part}")

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return what a notebook shows: a small graph as a drawing, of a large one the first
        states.
        """
        head = f"<p>{escape(str(self))}</p>"
        return head + (self._drawing() if self.about.states <= _DRAWN else _table(self.states()))

    def _repr_markdown_(self) -> str:
        return f"{fenced(str(self))}\n{self.states()._repr_markdown_()}"

    def _drawing(self) -> str:
        states, steps = self.states().to_arrow().to_pylist(), self.steps().to_arrow().to_pylist()
        number = {row["fingerprint"]: at for at, row in enumerate(states)}
        spots = [Spot(row["depth"], _came(row), _held(row, states[0])) for row in states]
        edges = {(number[row["source"]], number[row["target"]]) for row in steps}
        return sized(svg_of({"head": [], **layered(spots, {(a, b) for a, b in edges if a != b})}))


def _came(row: dict[str, Any]) -> str:
    arguments = f"({row['arguments']})" if row["arguments"] else ""
    call = f"{row['action'] or 'init'}{arguments}"
    return f"{row['actor']} · {call}" if row["actor"] else call


def _held(row: dict[str, Any], first: dict[str, Any]) -> str:
    """Return the fields of a state that are not as in the first."""
    own = list(row)[list(row).index("expanded") + 1 :]
    return ", ".join(f"{name} = {_shown(row[name])}" for name in own if row[name] != first[name])


class Relation:
    """A table of a state graph. It is in files, and read when it is asked for."""

    def __init__(self, graph: Graph, name: str) -> None:
        self.graph = graph
        self.name = name
        self._rows = rows_of(graph.folder, name)

    def to_arrow(self) -> pyarrow.Table:
        """Return the table as Arrow has it."""
        return self._rows.to_table()

    def to_pandas(self) -> pandas.DataFrame:
        """Return the table as a DataFrame. Numbers of 64 bits stay whole beside missing ones:
        they are of pandas' ``int64[pyarrow]``. Raises RunError[SW329] where pandas is not
        installed.
        """
        kind = _needed("pandas").ArrowDtype  # not Int64: what it looks up beside NA, as floats
        whole = _needed("pyarrow").int64()
        return self.to_arrow().to_pandas(types_mapper={whole: kind(whole)}.get)

    def to_duckdb(self) -> duckdb.DuckDBPyRelation:
        """Return the table as a relation, which further SQL may ask; ``states`` and
        ``transitions`` may be named in it. Raises RunError[SW329] where DuckDB is not installed.
        """
        return self.graph_in_duckdb.table(self.name)

    @cached_property
    def graph_in_duckdb(self) -> duckdb.DuckDBPyConnection:
        """A database with both tables."""
        connection: duckdb.DuckDBPyConnection = _needed("duckdb").connect(":memory:")
        for name in (STATES, TRANSITIONS):
            connection.register(name, rows_of(self.graph.folder, name))
        return connection

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._rows.schema.names)

    def __len__(self) -> int:
        about = self.graph.about
        return about.states if self.name == STATES else about.transitions

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield the rows, as dicts."""
        for batch in self._rows.to_batches():
            yield from batch.to_pylist()

    def __str__(self) -> str:
        return printable(f"{self.name} of {self.graph.about.spec}: {len(self):,} rows")

    def __repr__(self) -> str:
        return "\n".join([str(self), *(" · ".join(row) for row in self._cells())])

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>{_table(self)}"

    def _repr_markdown_(self) -> str:
        head, *rows = self._cells()
        lines = [head, ["---"] * len(head), *rows]
        return "".join(
            f"| {' | '.join(cell.replace('|', '&#124;') for cell in c)} |\n" for c in lines
        )

    def _cells(self) -> list[list[str]]:
        """Return the names of the columns, and the first rows, as short texts."""
        rows = self._rows.head(_SHOWN).to_pylist()
        return [list(self.columns), *([_short(row[c]) for c in self.columns] for row in rows)]


def _short(value: Any) -> str:
    text = "" if value is None else printable(_shown(value)).replace("\n", " ")
    return text if len(text) <= _WIDE else text[: _WIDE - 1] + "…"


def _shown(value: Any) -> str:
    """Return a cell as text; Arrow gives a map as a list of pairs."""
    if isinstance(value, list) and all(isinstance(v, tuple) for v in value) and value:
        return f"{{{', '.join(f'{_shown(k)}: {_shown(v)}' for k, v in value)}}}"
    return str(value)


def _table(relation: Relation) -> str:
    order = sorted(range(len(relation.columns)), key=lambda at: relation.columns[at] in _NUMBERS)
    head, *rows = ([row[at] for at in order] for row in relation._cells())
    cells = "".join(f"<th>{escape(name)}</th>" for name in head)
    lines = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    table = f"<table><thead><tr>{cells}</tr></thead><tbody>{lines}</tbody></table>"
    more = len(relation) - len(rows)
    told = f"<p>… and {more:,} more rows</p>" if more > 0 else ""
    return f'<div style="overflow-x: auto">{table}</div>{told}'


def graph_of_run(run: Run, folder: str | Path | None = None) -> Graph:
    """Return the state graph of what a check saw: the one that it wrote, or one written now.
    Without a ``folder`` it is written to a place that is gone when nobody has the graph any more.

    Raises:  RunError as for ``check --graph``
    """
    written = run.evidence.graph
    if folder is None and written is not None and written.problem is None:
        return Graph(written.folder)
    if folder is not None:
        return _written(run, Path(folder))
    place = Path(tempfile.mkdtemp(prefix="statewalk-graph-"))
    try:
        graph = _written(run, place / "graph")
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise
    weakref.finalize(graph, shutil.rmtree, place, ignore_errors=True)
    return graph


def _written(run: Run, folder: Path) -> Graph:
    model, options, stopped = run.model, run.evidence.options, run.evidence.stopped
    if model is None or run.evidence.failure is not None:
        raise stopped_inside("error")
    asked = SearchOptions(
        symmetry=bool(run.evidence.symmetry), view=bool(options.view),
        threads=options.threads or os.cpu_count() or 1, engine_settings=options.spark,
    )  # fmt: skip
    engine = "spark" if run.engine == "spark" else "native"
    refuse_graph(str(folder), asked, engine)
    counts = SearchCounts(
        run.counts.initial, run.counts.distinct, run.counts.generated, run.counts.depth
    )
    seen = Exploration(
        engine, counts, run.evidence.levels, (), (), {}, {}, stopped is None, stopped, run.seconds
    )
    write_graph(model, asked, seen, folder)
    return Graph(folder)


def _needed(package: str) -> Any:
    try:
        return import_module(package)
    except ImportError:
        raise missing(package) from None


def refuse_graph(folder: str, asked: SearchOptions, engine: str) -> None:
    """Say before the search that its graph cannot be written.

    Raises:  RunError[SW350] where something else is in the way, RunError[SW353] for a search that
    merges states, of the reference engine, or with fingerprints of 128 bits
    """
    refuse_others(Path(folder))
    for option, on in (("symmetry", asked.symmetry), ("view", asked.view)):
        if on:
            raise RunError(
                "SW353",
                f"A state graph cannot be written with --{option} on.",
                why="The search then merges states. An edge between merged states is not a step of "
                "the spec.",
                help=f"Write the graph with --{option} off.",
            )
    if engine == "reference":
        raise RunError(
            "SW353",
            "The reference engine writes no state graph.",
            help="Use --engine native or --engine spark.",
        )
    if asked.fingerprint_bits != 64:
        raise RunError(
            "SW353",
            "A state graph cannot be written with --fingerprint-bits 128.",
            why="A graph identifies states by 64 bits, which fit into an integer column.",
            help="Write the graph in a separate check, with --fingerprint-bits 64.",
        )


class Writing(Pass):
    """The state graph of a check: written as its search goes on, or after it.

    After it where the search needs all there is of memory, goes on from what was saved, or is on
    Spark; and where nothing can be written, which is said then. ``stack`` closes the graph.
    """

    def __init__(
        self, checked: Checked, asked: SearchOptions, engine: str, folder: str, stack: ExitStack
    ) -> None:
        self.checked, self.folder = checked, folder
        self.asked = replace(asked, checkpoint=None, resume=False)
        self.written: Written | None = None
        if engine == "native" and not asked.resume and asked.max_memory is None:
            from statewalk.checker.graph.write import written

            with suppress(RunError):
                self.written = stack.enter_context(written(checked.model, Path(folder)))

    def explore(self, model: Model, options: SearchOptions) -> Exploration:
        """Search natively, and write the graph as the search goes on."""
        from statewalk.checker import native
        from statewalk.checker.graph.collect import NamingView

        assert self.written is not None
        return native.explore(model, options, self.written.sink, NamingView)

    def after(self, found: Exploration) -> Exploration:
        """Write what is left; a problem is noted, so that the verdict is not lost."""
        graph = self.checked.graph = self._graph(found)
        if graph.unwritable and graph.problem is not None:
            self.checked.warnings.append(graph.problem.one_line)
        return found

    def _graph(self, found: Exploration) -> GraphWritten:
        from statewalk.checker.graph.write import write_graph

        try:
            about = (
                write_graph(self.checked.model, self.asked, found, self.folder)
                if self.written is None
                else self.written.finish_own(found)
            )
        except OSError as error:
            return GraphWritten(self.folder, problem=unwritable(Path(self.folder), error))
        except RunError as problem:
            return GraphWritten(self.folder, problem=problem)
        return GraphWritten(self.folder, about.states, about.transitions)
