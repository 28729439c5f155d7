"""A check that was made: its result, the traces and the evidence for it. What `check` returns."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from statewalk.checker.contract.late import ShownPage, StateGraph, Table, named
from statewalk.checker.machine.turns import in_turn
from statewalk.checker.traces.exports.pictures import fenced, pre_of
from statewalk.checker.verdict.evidence import Evidence, Notice
from statewalk.dsl.errors import printable
from statewalk.dsl.kinds import OfKind

if TYPE_CHECKING:
    from statewalk.checker.traces.trace import Trace
    from statewalk.dsl.model import Model


@dataclass(frozen=True, repr=False)
class Run:
    """A check: its result, evidence and traces. It has the fields and methods of `Result`.

    It is true if ``statewalk check`` would exit with 0. ``traces`` has counterexamples and
    witnesses by property, ``shown`` returns the printed report, ``model`` is what was checked, if
    it was loaded.
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
        """Return whether everything that was asked holds in every reachable state."""
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

    @in_turn
    def graph(self, folder: str | Path | None = None) -> StateGraph:
        """Return all states and steps that were seen, as tables; in a ``folder``, or as long
        as somebody has them. Raises RunError where no state graph can be written.
        """
        found: StateGraph = named("statewalk.checker.graph.relations", "graph_of_run")(self, folder)
        return found

    def states(self) -> Table:
        """Return a table of the states: ``run.states().to_pandas()``. See `graph`."""
        return self._graph.states()

    def steps(self) -> Table:
        """Return a table of the steps between them. See `graph`."""
        return self._graph.steps()

    @cached_property
    def _graph(self) -> StateGraph:
        return self.graph()

    def explore(self) -> ShownPage:
        """Return the page to look at, within a notebook."""
        page: ShownPage = named("statewalk.checker.page.html", "page")(self)
        return page

    def of(self, name: str) -> PropertyResult:
        """Return the result on one property. Raises KeyError."""
        return self.result.of(name)

    def to_dict(self) -> dict[str, Any]:
        """Return the result's JSON object as Python values."""
        return self.result.to_dict()

    def to_json(self) -> str:
        """Return the result's JSON object as text."""
        return self.result.to_json()

    def with_files(self, folder: str, files: Mapping[str, str]) -> Run:
        """Return the run with its folder, and the files of its traces by property."""
        named = tuple(replace(p, trace=files.get(p.name)) for p in self.properties)
        return replace(
            self,
            result=replace(self.result, properties=named),
            evidence=replace(self.evidence, folder=folder),
        )

    def with_unsaved(self, text: str) -> Run:
        """Return the run with a warning of what could not be saved."""
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
        """Return what a notebook shows: the report, without scripts."""
        return pre_of(str(self))

    def _repr_markdown_(self) -> str:
        """Return the same as Markdown."""
        return fenced(str(self))


SCHEMA = 1
RunVerdict = Literal["holds", "violated", "bounded", "error"]
PropertyVerdict = Literal["holds", "violated", "unknown"]


class _Part:
    """The parts that `read_result` reads: other fields than these are a mistake."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = {"extra": "forbid"}


@dataclass(frozen=True, kw_only=True)
class Counts(_Part):
    """Sizes of the search, in states; ``depth`` in levels."""

    initial: int = 0
    distinct: int = 0
    generated: int = 0
    depth: int = 0


@dataclass(frozen=True, kw_only=True)
class PropertyResult(_Part, OfKind):
    """The verdict on one property. ``trace`` is a file that shows it, ``length`` the trace's
    transitions.
    """

    name: str
    kind: str
    verdict: PropertyVerdict
    vacuous: bool = False
    trace: str | None = None
    length: int | None = None


def held_vacuously(properties: Iterable[PropertyResult]) -> dict[str, PropertyResult]:
    """Return the properties that held vacuously, by name; those invariants that do together,
    by theirs.
    """
    found: dict[str, PropertyResult] = {}
    for prop in properties:
        if prop.vacuous:
            together = prop.of_kind.searched and prop.name.endswith(")")
            found.setdefault(prop.name.partition("(")[0] if together else prop.name, prop)
    return found


@dataclass(frozen=True, kw_only=True)
class ActionResult(_Part):
    """The number of transitions of an action, over all its instances."""

    name: str
    fired: int


@dataclass(frozen=True, kw_only=True)
class Result(_Part):
    """The verdict and counts of a check: the fields of the JSON object.

    It is true if everything holds or is as expected; a bound is not enough.
    """

    schema_: int = SCHEMA
    spec: str
    constants: dict[str, Any] = field(default_factory=dict)
    engine: str
    verdict: RunVerdict
    exhaustive: bool = False
    as_expected: bool | None = None
    counts: Counts = field(default_factory=Counts)
    seconds: float = 0.0
    properties: tuple[PropertyResult, ...] = ()
    actions: tuple[ActionResult, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Return whether everything that was asked holds in every reachable state."""
        return self.verdict == "holds"

    def __bool__(self) -> bool:
        return self.holds if self.as_expected is None else self.as_expected

    def of(self, name: str) -> PropertyResult:
        """Return the result on one property. Raises KeyError."""
        for found in self.properties:
            if found.name == name:
                return found
        raise KeyError(name)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object as Python values."""
        data: dict[str, Any] = _plain(self)
        return data

    def to_json(self) -> str:
        """Return the JSON object as text."""
        return printable(json.dumps(self.to_dict(), indent=2, ensure_ascii=False))


def _plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    if is_dataclass(value):
        return {f.name.rstrip("_"): _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    return value


def read_result(data: Mapping[str, Any]) -> Result:
    """Return the result of which this is the JSON object. Raises ValueError for what is none."""
    from pydantic import TypeAdapter  # it takes longer to load than most checks to be made

    given = {"schema_" if name == "schema" else name: part for name, part in data.items()}
    result: Result = TypeAdapter(Result).validate_python(given)
    return result
