"""The one object that the page reads: what a check or a trace holds, and how it is said.

Results, evidence and traces are in it as they are in their files. Beside each trace stands what a
reader would otherwise derive again: the words of its steps, what they changed, the drawing. Keys:

- ``format``, ``version``: ``statewalk-page``, 1; ``spec``, ``constants``: the file; names and
  values as strings;
- ``result``, ``evidence``, ``report``: of a check: ``--json``, ``evidence.json``, lines of
  ``[text, style]``; ``kinds``, ``always``: words per kind of property; invariants;
- ``traces[]``: ``trace`` as in its file (its ``reason`` is the false clause), ``witness``,
  ``steps``, ``lanes``, ``mermaid``, ``fair`` (why no fair action ends a lasso), ``why``, ``title``,
  ``side``, ``beside``, ``around`` (per state, its neighborhood), ``decided`` (constants
  that decide, what comes of the steps with other values), ``judged`` (the property's functions);
- ``compared``: of a comparison: ``sides``, ``rows``, ``whole``;
- ``alone``, ``code``: the reason if there is no graph; functions of the steps.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from statewalk.checker.behaviours.walk import Walk, along
from statewalk.checker.contract.stops import whole_levels
from statewalk.checker.machine.limits import within
from statewalk.checker.machine.watch import CutShort
from statewalk.checker.page.about import about, author_line, docs_of, sentence
from statewalk.checker.page.deciding import Deciding
from statewalk.checker.page.fair import fair_in
from statewalk.checker.page.places import shared
from statewalk.checker.page.ran import FUNCTIONS, functions_of, states_and_lines
from statewalk.checker.report.check import evidence_page, failure_page, why_page
from statewalk.checker.report.page import Page
from statewalk.checker.report.runs import evidence_of
from statewalk.checker.report.trace import add_abstract
from statewalk.checker.states.shortening import place, text_of
from statewalk.checker.traces.exports.drawn import pictures_of
from statewalk.checker.traces.exports.lanes import drawing
from statewalk.checker.traces.exports.sequence import to_mermaid
from statewalk.checker.traces.file import to_dict
from statewalk.checker.traces.trace import label_parts
from statewalk.checker.verdict.reasons import reads_of_step
from statewalk.checker.verdict.spec_text import lines_of as text_lines
from statewalk.dsl.errors import StatewalkError
from statewalk.dsl.values.stored import ABSENT
from statewalk.dsl.view import Endless

if TYPE_CHECKING:
    from collections.abc import Sequence

    from statewalk.checker.page.ran import Ran
    from statewalk.checker.states.diff import Change
    from statewalk.checker.traces.trace import Trace, TraceStep
    from statewalk.checker.verdict.run import PropertyResult, Run
    from statewalk.dsl.model import Model, Property
    from statewalk.dsl.view import State


FORMAT, VERSION = "statewalk-page", 1
_WIDTH = 96  # letters of a line of the report
_ONLY = 240  # letters of a choice that had no other option
_ALONE = (
    "What else was possible only the spec tells: show --html FILE --spec SPEC draws it, "
    "and statewalk explore goes on from here."
)


def of_run(run: Run) -> dict[str, Any]:
    """Return the page of a check."""
    whys = {v.property: why_page(v, width=_WIDTH) for v in run.evidence.violations}
    if (failure := run.evidence.failure) is not None:
        whys[failure.trace.property] = failure_page(failure, width=_WIDTH)
    wrong = [p.name for p in run.properties if p.verdict == "violated"]
    names = dict.fromkeys([*whys, *(n for n in wrong if n in run.traces), *run.traces])
    whole = whole_levels(run.evidence.stopped)
    around = Around(run.model) if run.model is not None and whole else None
    traces = [run.traces[name] for name in names if name in run.traces]
    deciding = Deciding()
    paths = [of_path(trace, around, deciding) for trace in traces]
    page = {
        **head(run.spec, run.constants.items()),
        **about(run.model),
        "result": run.to_dict(),
        "kinds": {p.kind: p.of_kind.word for p in run.properties},
        "always": always_of(run.properties),
        "evidence": evidence_of(run),
        "report": lines_of(evidence_page(run, width=_WIDTH)),
        "code": code_of([*((s.file, s.line) for t in traces for s in t.steps), *_places(paths)]),
        "traces": [
            {**path, "why": lines_of(whys[name]) if (name := trace.property) in whys else []}
            for trace, path in zip(traces, paths, strict=True)
        ],
    }
    return shared(page, run.spec)


def of_trace(trace: Trace) -> dict[str, Any]:
    """Return the page of a trace alone."""
    above = Page(_WIDTH)
    add_abstract(above, trace)
    path = of_path(trace, Around(trace.model) if trace.model else None, Deciding())
    places = _places([path])
    page = {
        **head(trace.spec, trace.constants.items()),
        **about(trace.model),
        "kinds": {trace.kind: trace.of_kind.word},
        "always": always_of(trace.model.properties) if trace.model else [],
        "code": code_of([*((step.file, step.line) for step in trace.steps), *places])
        if trace.model
        else {},
        "alone": "" if trace.model else _ALONE,
        "traces": [
            {
                **path,
                "why": lines_of(above),
            }
        ],
    }
    return shared(page, trace.spec)


def _places(paths: Iterable[dict[str, Any]]) -> list[tuple[str, int]]:
    """Take the places of functions out of paths: their texts go into the page once."""
    return [place for path in paths for place in path.pop("places")]


def always_of(properties: Iterable[Property | PropertyResult]) -> list[str]:
    """Return the names of what has to hold in every state."""
    return [p.name for p in properties if p.of_kind.invariant]


def of_path(
    trace: Trace, around: Around | None = None, deciding: Deciding | None = None
) -> dict[str, Any]:
    """Return a trace as it is saved, with the words of its steps and its drawings."""
    found = states_and_lines(trace.model, trace) if trace.model is not None else None
    states, lines = found if found is not None else ([], [])
    steps = [told(trace, step, changes) for step, changes in trace]
    for step, ran in zip(steps, lines, strict=False):
        step["ran"] = functions_of(ran)
    for step, taken, state in zip(steps, trace.steps, states, strict=False):
        step["reads"] = reads_in(trace, taken, state)
    docs = docs_of(trace.steps) if trace.model is not None else {}
    decided = deciding.of(trace, states, lines) if deciding else {}
    judged: Ran = decided.pop("judged", [])
    for step, taken in zip(steps, trace.steps, strict=True):
        if doc := docs.get((taken.file, taken.line)):
            step["doc"] = doc
    return {
        **(around.of(trace) if around else {}),
        "trace": to_dict(trace),
        "witness": trace.of_kind.witness,
        "sentence": sentence(trace.model, trace.property),
        "steps": steps,
        "lanes": drawing(trace),
        "mermaid": to_mermaid(trace),
        **fair_in(trace, states),
        **decided,
        **({"judged": functions_of(judged)} if judged else {}),
        **_pictures(trace, states),
        "places": [(file, first) for of in (*lines, judged) for file, first, _ in of[:FUNCTIONS]],
    }


def _pictures(trace: Trace, states: Sequence[State]) -> dict[str, Any]:
    """Return the pictures that the spec declares, of each state."""
    model = trace.model
    if model is None or not model.pictures or not states:
        return {}
    try:
        with within(trace.spec, "drawing pictures", _ENDLESS):
            return {"pictures": pictures_of(model, states)}
    except CutShort:
        error = {"error": f"The pictures take longer than {_ENDLESS:.0f} seconds."}
        late = {"name": "pictures", "doc": "", "drawings": [error], "at": [0] * len(states)}
        return {"pictures": [late]}


def reads_in(trace: Trace, step: TraceStep, state: State) -> list[str]:
    """Return the places that a step reads in the state before it."""
    model = trace.model
    if model is None:
        return []
    choices = [choice.index for choice in step.choices]
    return [*reads_of_step(model, state, model.actions[step.index], choices)]


def told(trace: Trace, step: TraceStep, changes: Sequence[Change]) -> dict[str, Any]:
    """Return a step in words, and what it changed."""
    return {
        "label": [list(part) for part in label_parts(trace, step, _ONLY)],
        "place": place(step.file, author_line(step.file, step.line)) if step.file else "",
        "changes": [changed(change) for change in changes],
    }


def changed(change: Change) -> list[Any]:
    """Return a change: mark, place, value before, value after, and whether it is of an element."""
    before, after = (None if v is ABSENT else text_of(v) for v in (change.before, change.after))
    return [change.mark, change.place, before, after, change.element]


def lines_of(page: Page) -> list[list[list[str]]]:
    """Return a part of the report: its lines, each of texts with their styles."""
    return [[list(segment) for segment in line] for line in page.lines]


def head(spec: str, constants: Any) -> dict[str, Any]:
    """Return what every page begins with."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "spec": spec,
        "constants": [[name, text_of(value)] for name, value in constants],
    }


RUNS = 20_000  # of actions, for the drawings of a page
_ENDLESS = 60.0  # seconds after which a step is taken for one that does not end
_LONGEST = 150  # lines of a function


class Around:
    """Draws what was possible along paths of a model, with so many runs of actions at most."""

    def __init__(self, model: Model, runs: int = RUNS) -> None:
        self.walk = Walk(model)
        self.left = runs

    def of(self, trace: Trace) -> dict[str, Any]:
        """By state of a trace a drawing of what is around it; nothing where the spec has changed,
        or a step does not end.
        """
        if self.left <= 0:
            return {}
        try:
            with within(trace.spec, "drawing what else was possible", _ENDLESS):
                drawings, runs = along(self.walk, self.walk.path_of(trace), self.left)
                self.left -= runs
                return {"around": drawings}
        except (StatewalkError, Endless, CutShort):
            return {}


def code_of(places: Iterable[tuple[str, int]]) -> dict[str, Any]:
    """By place the text of the function that is there, and its first line."""
    written = ((file, author_line(file, line)) for file, line in places)
    return {
        place(file, line): found
        for file, line in dict.fromkeys(written)
        if file and (found := _function(text_lines(file), line - 1)) is not None
    }


def _function(lines: tuple[str, ...], at: int) -> dict[str, Any] | None:
    """Return the lines that belong to the one at a place: its decorators, and what is further
    in.
    """
    if not 0 <= at < len(lines):
        return None
    first = at
    while first and lines[first - 1].lstrip().startswith("@"):
        first -= 1
    while at < len(lines) and lines[at].lstrip().startswith("@"):
        at += 1
    indent = _indent(lines[first])
    last = at + 1
    while last < len(lines) and (not lines[last].strip() or _indent(lines[last]) > indent):
        last += 1
    found = list(lines[first : min(last, first + _LONGEST)])
    while found and not found[-1].strip():
        found.pop()
    return {"first": first + 1, "lines": [line[indent:] for line in found]}


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
