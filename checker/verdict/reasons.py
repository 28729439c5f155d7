"""The reason of a counterexample: its false clause with values, and the places that it reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import combinations
from typing import TYPE_CHECKING, Any

from statewalk.checker.states.content import short_names, show_field
from statewalk.checker.states.shortening import (
    Steps,
    first_difference,
    fit,
    fit_in_lines,
    text_of,
)
from statewalk.checker.traces.clauses import Clause, Reason
from statewalk.checker.traces.trace import states_of
from statewalk.checker.verdict.explain import Explanation, explain_in
from statewalk.dsl.state.plain_view import PlainView

if TYPE_CHECKING:
    from statewalk.checker.contract.search import Finding
    from statewalk.checker.traces.trace import Trace
    from statewalk.checker.verdict.evidence import Guard, Violation
    from statewalk.checker.verdict.explain import Values
    from statewalk.dsl.model import Action, Model, Property
    from statewalk.dsl.view import Path, State


_LINE, _LINES = 100, 300  # characters of a value
_GUARDS = 3  # guards of a deadlock


class _ReadingView(PlainView):
    """A plain view that notes the fields that are read."""

    __slots__ = ("read",)

    def __init__(self, base: State, script: Sequence[int] = ()) -> None:
        super().__init__(base, script)
        self.read: dict[Path, None] = {}

    def get(self, path: Path) -> Any:
        self.read[path[:3]] = None
        return super().get(path)

    def update(self, path: Path, key: object, fn: Callable[[Any], Any]) -> None:
        self.writes[path] = fn(super().get(path))  # to add to a set is not to read it


def reason_of(model: Model, finding: Finding, violation: Violation) -> Reason:
    """Return why the trace of a violation is a counterexample."""
    trace = violation.trace
    doc = " ".join(violation.doc.split("\n\n")[0].split())
    if trace.abstract is not None:
        return Reason(doc, (_refused(trace),), (), trace.length)
    if violation.kind == "deadlock":
        return Reason(doc, _blocked(violation), (), trace.length)
    states = states_of(model, finding)
    at = len(states) - 1 if trace.loop is None else _false_at(trace)
    prop = next((p for p in model.properties if p.name == violation.property), None)
    if prop is None or not 0 <= at < len(states):
        return Reason(doc, clauses_of(violation.explanation), (), trace.length)
    before = states[at - 1] if prop.of_kind.over == "steps" and at else None
    explanation = violation.explanation
    if explanation is None:
        explanation = _explained(model, prop, states[at])
    clauses = clauses_of(explanation)
    if trace.loop is not None:
        clauses = (*_never(trace), *clauses)
    return Reason(doc, clauses, reads_of(model, prop, states[at], before), at)


def clauses_of(explanation: Explanation | None) -> tuple[Clause, ...]:
    """Return the layers of an explanation as texts."""
    return tuple(
        Clause(
            layer.text,
            layer.truth,
            _texts((*layer.bindings, *layer.values)),
            layer.span.file if layer.span else "",
            layer.span.line if layer.span else 0,
            layer.depth,
        )
        for layer in (explanation.layers if explanation else ())
    )


def _texts(values: Values) -> tuple[tuple[str, str], ...]:
    """Return values as texts, without what says itself; two long ones by where they differ."""
    long = [(n, v) for n, v in values if len(text_of(v)) > _LINE]
    paths: dict[str, Steps] = {}
    for (one, a), (other, b) in combinations(long, 2):
        path = first_difference(a, b)
        if path and one not in paths and other not in paths:
            paths |= {one: path, other: path}
    told = (
        (n, fit(v, _LINE, paths[n]) if n in paths else fit_in_lines(v, _LINE, _LINES))
        for n, v in values
    )
    return tuple((name, text) for name, text in told if name != text)


def reads_of(
    model: Model, prop: Property, state: State, before: State | None = None
) -> tuple[str, ...]:
    """Return the places that a property reads in a state, as reports show them."""
    view = _ReadingView(state)
    old = PlainView(before) if before is not None else None
    with suppress(Exception):  # a property that raises has read something, too
        model.holds(prop.whole, view, old)
    names = short_names(model)
    return tuple(show_field(path, names) for path in view.read)


def reads_of_step(
    model: Model, state: State, action: Action, choices: Sequence[int]
) -> tuple[str, ...]:
    """Return the places that a step reads in the state before it, as reports show them."""
    view = _ReadingView(state, choices)
    with suppress(Exception):  # a step that fails has read something, too
        model.take(action, view)
    names = short_names(model)
    return tuple(show_field(path, names) for path in view.read)


def _explained(model: Model, prop: Property, state: State) -> Explanation | None:
    try:
        return explain_in(model, prop, state)
    except Exception:  # a courtesy, as in `explain`
        return None


def _false_at(trace: Trace) -> int:
    """Return the last state of a lasso's cycle in which the property's predicate is false."""
    truth = trace.truths.get(trace.property, ())
    last = len(trace.contents) - 1
    cycle = range(last, (trace.loop if trace.loop is not None else last) - 1, -1)
    return next((at for at in cycle if at < len(truth) and truth[at] is False), last)


def _never(trace: Trace) -> tuple[Clause, ...]:
    loop = trace.length if trace.loop is None else trace.loop
    if loop == trace.length:
        return (Clause(f"stuttering for ever after step {loop}"),)
    return (Clause(f"steps {loop + 1} to {trace.length} repeat for ever"),)


def _refused(trace: Trace) -> Clause:
    abstract = trace.abstract
    assert abstract is not None  # by the caller
    if abstract.breaks:
        return Clause(f"seen as {abstract.name}, {abstract.breaks} is violated")
    if not trace.length:
        return Clause(f"{abstract.name} begins otherwise")
    seen = "; ".join(
        str(c) for number, found in abstract.seen for c in found if number == trace.length
    )
    allowed = ", ".join(abstract.allowed) or "nothing"
    values = (("the step", seen or "no change"), ("allowed", allowed))
    return Clause(f"{abstract.name} does not allow step {trace.length}", False, values)


def _blocked(violation: Violation) -> tuple[Clause, ...]:
    clauses = [Clause("no action is enabled")]
    groups: dict[tuple[str, int], list[tuple[str, Guard]]] = {}
    for label, guard in violation.blocked:
        if guard is not None and guard.text:
            groups.setdefault((guard.file, guard.line), []).append((label, guard))
    for alike in [*groups.values()][:_GUARDS]:
        label, guard = alike[0]
        values = _texts(guard.values)
        more = f" and {len(alike) - 1} more" if len(alike) > 1 else ""
        text = f"{label}{more}: {guard.text}"
        clauses.append(Clause(text, False, values, guard.file, guard.line, 1))
    return tuple(clauses)
