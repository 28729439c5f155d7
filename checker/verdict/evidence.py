"""What a check found out besides its verdict: the figures and findings that a report is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from statewalk.checker.contract.options import CheckOptions
from statewalk.checker.contract.stops import StoppedBy
from statewalk.checker.states.shortening import fit
from statewalk.checker.verdict.spec_text import line_of
from statewalk.dsl.errors import Span
from statewalk.dsl.kinds import OfKind

if TYPE_CHECKING:
    from statewalk.checker.traces.trace import Trace
    from statewalk.checker.verdict.explain import Explanation
    from statewalk.dsl.declared import Expectation
    from statewalk.dsl.errors import RunError
    from statewalk.dsl.model import Dialect


_BUSY = "a run is suspended, and no more may be at a time"
_IDLE = "it does nothing, and what does nothing is no step"


@dataclass(frozen=True)
class Guard:
    """The line that stops an action, and the values it looked at: (text, value).

    Without a file it is no line of the spec: ``why``, or so many runs are suspended that none may
    begin.
    ``idle``: no guard is false, but a step of a text spec comes to its end and has done nothing.
    """

    file: str
    line: int
    values: tuple[tuple[str, Any], ...] = ()
    idle: bool = False
    why: str = ""

    @property
    def text(self) -> str:
        """The line as it is written."""
        return line_of(self.file, self.line) if self.file else ""

    @property
    def said(self) -> str:
        """What stops the action, in a sentence: the line in back-quotes."""
        if self.idle:
            return _IDLE
        return f"`{self.text}`" if self.file else self.why or _BUSY

    @property
    def shown(self) -> str:
        """The values in words; empty where none are known."""
        return " · ".join(f"{name} = {fit(v, 60)}" for name, v in self.values)


@dataclass(frozen=True)
class Violation(OfKind):
    """A violated property, with what is false and how it comes about.

    ``blocked`` says for a deadlock what stops each action there, ``not_taken`` for a lasso what is
    enabled on its cycle and never taken.
    """

    property: str
    kind: str
    trace: Trace
    explanation: Explanation | None = None
    doc: str = ""
    span: Span | None = None
    blocked: tuple[tuple[str, Guard | None], ...] = ()
    not_taken: tuple[str, ...] = ()
    dialect: Dialect = "python"


@dataclass(frozen=True)
class Failure:
    """An exception of the spec: what it says, where, and the way there."""

    title: str
    trace: Trace
    where: str = ""
    frames: tuple[Span, ...] = ()
    why: str = ""
    help: str = ""


@dataclass(frozen=True)
class NeverFired:
    """An action that made no transition. ``guard`` is the line that stopped it, in ``states``
    states tried; there is none where it is ``idle``: in some of them no guard did, and it would
    do nothing.
    """

    name: str
    span: Span | None = None
    guard: str = ""
    line: int = 0
    states: int = 0
    all_states: bool = False
    idle: bool = False


@dataclass(frozen=True)
class Graph:
    """The state graph that was written; or ``problem``, what kept that from being done."""

    folder: str
    states: int = 0
    transitions: int = 0
    problem: RunError | None = None

    @property
    def unwritable(self) -> bool:
        """Whether it was lost for want of a place, which takes nothing from the verdict."""
        return self.problem is not None and self.problem.code == "SW403"


NoticeKind = Literal[
    "error", "unchecked", "bounded", "never", "vacuous", "nothing", "spec", "search", "saving"
]


@dataclass(frozen=True)
class Notice:
    """A warning, which counts with --strict: what kind it is, what property, action or code it is
    about, and how it reads.

    Kinds: the ``error`` that ended the run; a property left ``unchecked``; what the search was
    ``bounded`` by; an action that ``never`` fired; a property that held in a ``vacuous`` way;
    ``nothing`` was checked; what the text of the ``spec`` gives reason for; what to know of the
    ``search``; and of ``saving`` its results.
    """

    kind: NoticeKind
    subject: str
    text: str
    span: Span | None = None


@dataclass(frozen=True)
class Evidence:
    """See the fields.

    ``collision`` is the probability that two different states were taken for one; None where states
    are compared whole. ``bounds`` says in words what limited the search. ``unchecked`` are
    properties that nobody looked at, with the reason. ``expectation`` is None where nothing of it
    was compared; ``left_out`` is what it speaks of and nobody asked for. ``hidden`` are
    fields that the view left out.
    ``compared`` names the fields through which each refinement was decided.
    ``symmetry`` says in words who changes places, and how many states the orbits stand for.
    """

    options: CheckOptions = field(default_factory=CheckOptions)
    stopped: StoppedBy | None = None
    bounds: tuple[str, ...] = ()
    levels: tuple[int, ...] = ()
    queue: int = 0
    violations: tuple[Violation, ...] = ()
    failure: Failure | None = None
    witnesses: tuple[tuple[str, int], ...] = ()
    unreached: tuple[str, ...] = ()
    unchecked: tuple[tuple[str, str], ...] = ()
    never: tuple[NeverFired, ...] = ()
    cut: Mapping[str, int] = field(default_factory=dict)
    hidden: tuple[str, ...] = ()
    collision: float | None = None
    fairness: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    symmetry: tuple[str, ...] = ()
    expectation: Expectation | None = None
    unexpected: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)
    statistics: Mapping[str, Any] = field(default_factory=dict)
    graph: Graph | None = None
    compared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    warnings: tuple[Notice, ...] = ()
    folder: str | None = None
    command: tuple[str, ...] = ()

    @property
    def error(self) -> Notice | None:
        """What ended the run, if it was an error."""
        return next((n for n in self.warnings if n.kind == "error"), None)
