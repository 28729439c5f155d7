"""The state graph as part of a check: whether one can be written, and what came of writing it."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from statewalk.checker.contract.search import Pass
from statewalk.checker.graph.dataset import refuse_others, unwritable
from statewalk.checker.verdict.evidence import Graph
from statewalk.dsl.errors import RunError

if TYPE_CHECKING:
    from statewalk.checker.contract.search import Exploration, SearchOptions
    from statewalk.checker.graph.write import Written
    from statewalk.checker.verdict.judge import Checked
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
        from statewalk.checker.graph.labels import NamingView

        assert self.written is not None
        return native.explore(model, options, self.written.sink, NamingView)

    def after(self, found: Exploration) -> Exploration:
        """Write what is left; a problem is noted, so that the verdict is not lost."""
        graph = self.checked.graph = self._graph(found)
        if graph.unwritable and graph.problem is not None:
            self.checked.warnings.append(graph.problem.one_line)
        return found

    def _graph(self, found: Exploration) -> Graph:
        from statewalk.checker.graph.write import write_graph

        try:
            about = (
                write_graph(self.checked.model, self.asked, found, self.folder)
                if self.written is None
                else self.written.finish_own(found)
            )
        except OSError as error:
            return Graph(self.folder, problem=unwritable(Path(self.folder), error))
        except RunError as problem:
            return Graph(self.folder, problem=problem)
        return Graph(self.folder, about.states, about.transitions)
