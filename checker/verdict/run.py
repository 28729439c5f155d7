"""A check that was made: its result, the traces and the evidence for it. What `check` returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from statewalk.checker.contract.late import ShownPage, StateGraph, Table, named
from statewalk.checker.traces.exports.notebook import fenced, pre_of
from statewalk.checker.verdict.evidence import Evidence, Notice
from statewalk.checker.verdict.result import (
    ActionResult,
    Counts,
    PropertyResult,
    Result,
    RunVerdict,
)

if TYPE_CHECKING:
    from statewalk.checker.traces.trace import Trace
    from statewalk.dsl.model import Model


@dataclass(frozen=True, repr=False)
class Run:
    """See the fields. What the result has is at hand here too. It is true where ``statewalk check``
    ends with 0: everything holds, or is as the configuration expects. A bound is no pass.

    ``traces`` has by property the counterexample, or the way to the witness. ``shown`` gives the
    text of the run: what ``print`` and a notebook show. ``model`` is what was checked, where it got
    as far as that.
    """

    result: Result
    evidence: Evidence
    traces: Mapping[str, Trace]
    shown: Callable[[Run], str] = field(compare=False)
    model: Model | None = field(default=None, compare=False)

    @property
    def spec(self) -> str:
        return self.result.spec

    @property
    def constants(self) -> Mapping[str, Any]:
        return self.result.constants

    @property
    def engine(self) -> str:
        return self.result.engine

    @property
    def verdict(self) -> RunVerdict:
        return self.result.verdict

    @property
    def holds(self) -> bool:
        """Whether everything that was asked holds in every reachable state."""
        return self.result.holds

    def __bool__(self) -> bool:
        return bool(named("statewalk.checker.verdict.exits", "exit_code")(self) == 0)

    @property
    def exhaustive(self) -> bool:
        return self.result.exhaustive

    @property
    def as_expected(self) -> bool | None:
        return self.result.as_expected

    @property
    def counts(self) -> Counts:
        return self.result.counts

    @property
    def seconds(self) -> float:
        return self.result.seconds

    @property
    def properties(self) -> tuple[PropertyResult, ...]:
        return self.result.properties

    @property
    def actions(self) -> tuple[ActionResult, ...]:
        return self.result.actions

    @property
    def warnings(self) -> tuple[str, ...]:
        return self.result.warnings

    def graph(self, folder: str | Path | None = None) -> StateGraph:
        """All states and steps that were seen, as tables; in a ``folder``, or as long as somebody
        has them. Raises RunError where no state graph can be written.
        """
        found: StateGraph = named("statewalk.checker.graph.relations", "graph_of_run")(self, folder)
        return found

    def states(self) -> Table:
        """A table of the states: ``run.states().to_pandas()``. See `graph`."""
        return self._graph.states()

    def steps(self) -> Table:
        """A table of the steps between them. See `graph`."""
        return self._graph.steps()

    @cached_property
    def _graph(self) -> StateGraph:
        return self.graph()

    def explore(self) -> ShownPage:
        """The page to look at, within a notebook."""
        page: ShownPage = named("statewalk.checker.page.html", "page")(self)
        return page

    def of(self, name: str) -> PropertyResult:
        """The result on one property. Raises KeyError."""
        return self.result.of(name)

    def to_dict(self) -> dict[str, Any]:
        """The result's JSON object as Python values."""
        return self.result.to_dict()

    def to_json(self) -> str:
        """The result's JSON object as text."""
        return self.result.to_json()

    def with_files(self, folder: str, files: Mapping[str, str]) -> Run:
        """The run with its folder, and the files of its traces by property."""
        named = tuple(replace(p, trace=files.get(p.name)) for p in self.properties)
        return replace(
            self,
            result=replace(self.result, properties=named),
            evidence=replace(self.evidence, folder=folder),
        )

    def with_unsaved(self, text: str) -> Run:
        """The run with a warning of what could not be saved."""
        notices = (*self.evidence.warnings, Notice("saving", "", text))
        return replace(
            self,
            result=replace(self.result, warnings=tuple(n.text for n in notices)),
            evidence=replace(self.evidence, warnings=notices),
        )

    def __str__(self) -> str:
        return self.shown(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """What a notebook shows: the report, without scripts."""
        return pre_of(str(self))

    def _repr_markdown_(self) -> str:
        """The same as Markdown."""
        return fenced(str(self))
