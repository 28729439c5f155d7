"""The state graph as part of a check: whether one can be written, and what came of writing it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from statewalk.checker.graph.dataset import refuse_others, unwritable
from statewalk.checker.verdict.evidence import Graph
from statewalk.dsl.errors import RunError

if TYPE_CHECKING:
    from contextlib import ExitStack

    from statewalk.checker.contract.search import Exploration, SearchOptions
    from statewalk.checker.graph.write import Written
    from statewalk.dsl.model import Model


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
                f"There is no state graph to write with --{option} on.",
                why="The search merges states then, and a step between merged states is none of "
                "the spec's.",
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
            "There is no state graph to write with --fingerprint-bits 128.",
            why="A graph names states by 64 bits, which other tools can hold as a number.",
            help="Write the graph in a check of its own, with --fingerprint-bits 64.",
        )


def on_the_way(
    folder: str, model: Model, asked: SearchOptions, engine: str, stack: ExitStack
) -> Written | None:
    """A graph that the search is to write as it goes on; ``stack`` closes it.

    None where it is written after the search: that is where it needs all there is of memory, goes
    on from what was saved, or is on Spark; and where nothing can be written, which is said then.
    """
    if engine != "native" or asked.resume or asked.max_memory is not None:
        return None
    from statewalk.checker.graph.write import written

    try:
        return stack.enter_context(written(model, Path(folder)))
    except RunError:
        return None


def explored(model: Model, options: SearchOptions, graph: Written) -> Exploration:
    """A native search that writes its graph as it goes on."""
    from statewalk.checker import native
    from statewalk.checker.graph.labels import NamingView

    return native.explore(model, options, graph.sink, NamingView)


def graph_of(
    folder: str,
    model: Model,
    asked: SearchOptions,
    exploration: Exploration,
    graph: Written | None = None,
) -> Graph:
    """The graph of a search, written now if not on the way; a problem is noted, so that the verdict
    is not lost.
    """
    from statewalk.checker.graph.write import write_graph

    try:
        about = (
            write_graph(model, asked, exploration, folder)
            if graph is None
            else graph.finish_own(exploration)
        )
    except OSError as error:
        return Graph(folder, problem=unwritable(Path(folder), error))
    except RunError as problem:
        return Graph(folder, problem=problem)
    return Graph(folder, about.states, about.transitions)
