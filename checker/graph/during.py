"""The state graph as part of a check: whether one can be written, and what came of writing it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from statewalk.checker.graph.dataset import refuse_others
from statewalk.checker.verdict.evidence import Graph
from statewalk.dsl.errors import RunError

if TYPE_CHECKING:
    from statewalk.checker.contract.search import Exploration, SearchOptions
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


def graph_of(folder: str, model: Model, asked: SearchOptions, exploration: Exploration) -> Graph:
    """Write the graph of a search; a problem is noted, so that the verdict is not lost."""
    from statewalk.checker.graph.write import write_graph

    try:
        about = write_graph(model, asked, exploration, folder)
    except RunError as problem:
        return Graph(folder, problem=problem)
    return Graph(folder, about.states, about.transitions)
