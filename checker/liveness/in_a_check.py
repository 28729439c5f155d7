"""Liveness within a check: when it can be decided, on which graph, and what is told of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from statewalk.checker.contract.search import NO_ERROR, Finding, Pass, SearchOptions
from statewalk.checker.contract.stops import StoppedBy, from_outside, stop_of
from statewalk.checker.engines.slices import Keeping, Unread
from statewalk.checker.engines.table import Allowance, Kept, SmallFirst
from statewalk.checker.liveness.conditions import LivenessResult, predicates
from statewalk.checker.liveness.explore import PredicateRaisedError, built
from statewalk.checker.machine.watch import interruptible
from statewalk.checker.verdict.judge import expectation
from statewalk.dsl.assemble.build import MAX_ACTIONS
from statewalk.dsl.errors import RunError, SpecError
from statewalk.dsl.model import Model, Property

if TYPE_CHECKING:
    from statewalk.checker.contract.options import CheckOptions
    from statewalk.checker.contract.search import Engine, Exploration
    from statewalk.checker.liveness.conditions import Lasso, NotTaken
    from statewalk.checker.liveness.graph import StateGraph
    from statewalk.checker.verdict.judge import Checked


INCOMPLETE = "SW503"

ALLOW = "--allow-unsound takes the risk"
_UNFAIR = (
    "SW501 '{}' is a liveness property, but no action is fair: every behavior may stop in any "
    'state. Say which actions must not wait for ever: @action(fair="weak").'
)


def refuse(model: Model, options: CheckOptions, asked: SearchOptions) -> None:
    """Liveness does not go with constraints: say so before the search. Raises RunError[SW502]."""
    found = decided(model, options, asked)
    cuts = [*model.constraints, *model.step_constraints]
    if not found or options.allow_unsound or all(cut.name == MAX_ACTIONS for cut in cuts):
        return
    raise RunError(
        "SW502",
        f"'{found[0].name}' is a liveness property, and the constraint '{cuts[0].name}' "
        "cuts the search.",
        at=cuts[0].span,
        why="States beyond a constraint are unknown: a property may seem to hold only\n"
        "because its counterexamples were cut off.",
        help="Bound the model inside its actions instead (require(...)). Check safety alone with "
        "--no-liveness, or take the risk with --allow-unsound.",
    )


@dataclass(frozen=True)
class _Keeping:
    """The native engine; what it explores whole it keeps as a state graph."""

    properties: tuple[Property, ...]
    rows: bool
    sliced: bool = False

    def explore(self, model: Model, options: SearchOptions) -> Exploration:
        """See `checker.contract.search`."""
        with interruptible("loading the engine"):
            from statewalk.checker.liveness.collect import explored

        found, graph = explored(model, options, self.properties, rows=self.rows, sliced=self.sliced)
        return replace(found, kept=graph)


def keeping(
    engine: Engine, name: str, model: Model, options: CheckOptions, asked: SearchOptions, rows: bool
) -> Engine:
    """Return the engine of that name; one that keeps the state graph where liveness is
    decided after its search, and memory is not limited; or where it is wanted with its ``rows``.
    """
    left = decided(model, options, asked)
    parts = asked.view or asked.symmetry or model.constraints or model.step_constraints
    unable = parts or asked.resume or options.max_memory is not None
    unable = unable or options.slices != "off" or options.reduce
    if name != "native" or not (rows or (left and not unable)):
        return engine
    keeps = _Keeping(_watched(model, left), rows or _need_rows(model, left))
    if isinstance(engine, SmallFirst) and not rows:
        return replace(engine, large=keeps)
    return keeps


def keeping_first(
    engine: Engine, name: str, model: Model, options: CheckOptions, asked: SearchOptions
) -> Keeping | None:
    """Return what keeps the state graph that liveness is decided on in the first of several slices;
    None where there is none, as in `keeping`.
    """
    left = decided(model, options, asked)
    parts = asked.symmetry or model.constraints or model.step_constraints
    if name != "native" or not left or parts or options.max_memory is not None:
        return None
    watched = _watched(model, left)
    if not _on_slices(left, watched):
        return None
    keeps = _Keeping(watched, rows=False, sliced=True)
    first = replace(engine, large=keeps) if isinstance(engine, SmallFirst) else keeps
    return Keeping(first, watched, tuple(predicates(watched).values()))


def _on_slices(left: Sequence[Property], watched: Sequence[Property]) -> bool:
    """Return whether properties can be decided without fields that nobody reads."""
    return not any(p.asks_steps for p in watched) and all(p.kind != "formula" for p in left)


def _watched(model: Model, left: Sequence[Property]) -> tuple[Property, ...]:
    """Return the properties whose predicates the graph has to know."""
    return (*left, *model.assumptions) if left else ()


def _need_rows(model: Model, left: Sequence[Property]) -> bool:
    """Return whether a predicate of steps has to be evaluated."""
    return any(prop.asks_steps for prop in _watched(model, left))


def decided(model: Model, options: CheckOptions, asked: SearchOptions) -> list[Property]:
    """Return the liveness properties that are decided after a search that saw everything."""
    return [] if options.liveness_off(model.no_liveness) else asked.wanted(model, "behaviors")


@dataclass(frozen=True)
class Liveness(Pass):
    """Decide the liveness properties that were asked for, or say why not.

    Lassos are findings with stem and cycle in one sequence of steps.
    """

    checked: Checked
    asked: SearchOptions

    def after(self, found: Exploration) -> Exploration:
        checked, asked = self.checked, self.asked
        model, options = checked.model, checked.options
        left = asked.wanted(model, "behaviors")
        if off := options.liveness_off(model.no_liveness):
            checked.unchecked |= dict.fromkeys((p.name for p in left), off)
            return found
        why = {p.name: why_not(model, options, found, p) for p in left}
        checked.unchecked |= {name: text for name, text in why.items() if text}
        if left := [p for p in left if p.name not in checked.unchecked]:
            self._decide(left, found)
        return found

    def _decide(self, left: list[Property], found: Exploration) -> None:
        from statewalk.checker.liveness.check import check_liveness

        checked, asked, names = self.checked, self.asked, [p.name for p in left]
        limits = limits_of(asked, found)
        watched, rows = _watched(checked.model, left), _need_rows(checked.model, left)
        options = checked.options
        try:
            graph = found.kept
            if isinstance(graph, Kept):
                graph = small_graph(checked.model, limits, watched, graph)
            if isinstance(graph, Unread):
                able = found.engine != "reference" and _on_slices(left, watched)
                graph = self._sliced(graph, limits, left, watched) if able else None
            graph = graph or graph_of(checked.model, limits, watched, found.engine, rows=rows)
            if not (graph.complete or options.allow_unsound or found.stopped):
                checked.unchecked |= dict.fromkeys(names, why_cut(graph.stopped, asked))
                checked.unfinished = True
                return
            results = check_liveness(checked.model, graph, left)
            action_names = checked.model.action_names()
            checked.fair_choices |= {
                (action_names[label.action], choice.fairness)
                for label in graph.table
                for choice in label.fair
            }
        except PredicateRaisedError as e:
            error = Finding(NO_ERROR, "error", e.initial, e.steps, error=e.error)
            checked.findings[NO_ERROR] = error
            checked.unchecked |= dict.fromkeys(names, stop_of("error").liveness)
            return
        except SpecError as unmet:
            if not (found.findings or checked.findings):
                raise
            checked.unchecked |= dict.fromkeys(names, f"{unmet.code}: {unmet.message}")
            return
        ended = next(filter(from_outside, (found.stopped, graph.stopped)), None)
        if ended:
            none = [r.property for r in results if r.lasso is None]
            checked.unchecked |= dict.fromkeys(none, why_cut(ended, asked))
            checked.unfinished = True
            results = [r for r in results if r.lasso is not None]
        _note(results, checked, asked, found.engine, graph.n)
        checked.unfinished |= (
            found.stopped in (None, "violation")
            and graph.stopped is not None
            and not (graph.stopped == "depth" and options.max_depth is None)
        )

    def _sliced(
        self, unread: Unread, limits: SearchOptions, left: list[Property],
        watched: tuple[Property, ...],
    ) -> StateGraph | None:  # fmt: skip
        """Return the state graph without fields that nobody reads; None unless every property
        holds on it, so that a lasso is one of whole states.
        """
        from statewalk.checker.engines.table import ENGINES, unable

        model = self.checked.model
        if model.constraints or model.step_constraints or unable(ENGINES["native"], model, limits):
            return None
        from statewalk.checker.liveness.check import check_liveness
        from statewalk.checker.liveness.collect import collect_sliced

        graph: StateGraph | None = unread.graph
        if graph is None:
            graph = collect_sliced(unread.hidden_from(model, watched), limits, watched)
        if graph is None or any(r.lasso for r in check_liveness(model, graph, left)):
            return None
        return graph


def why_cut(stopped: StoppedBy | None, asked: SearchOptions) -> str:
    """Return what ended the building of a graph, which may be far larger than the search, or
    endless.
    """
    ended = f", {stop_of(stopped).liveness}" if stopped else ""
    merged = (("symmetry", asked.symmetry), ("a view", asked.view))
    what = " and ".join(word for word, on in merged if on)
    endless = " (endless where an Auxiliary field only grows)" if asked.view else ""
    said = f", which is built without {what}{endless}; --no-liveness or --property checks the rest"
    return f"{INCOMPLETE}: its graph is not whole{ended}{said if what else ''}"


def not_decided(model: Model, asked: SearchOptions, stopped: StoppedBy) -> dict[str, str]:
    """Of every liveness property, that nothing is known: the spec hung in what came before."""
    why = f"{INCOMPLETE}: {stop_of(stopped).liveness}"
    return dict.fromkeys((p.name for p in asked.wanted(model, "behaviors")), why)


def limits_of(asked: SearchOptions, exploration: Exploration) -> SearchOptions:
    """Return how far the graph goes: as far as the search went; without its view, that may be for
    ever.
    """
    timeout = None
    if asked.timeout is not None:
        timeout = max(1.0, asked.timeout - exploration.seconds)
    limits = replace(asked, timeout=timeout, checkpoint=None, resume=False)
    if exploration.stopped == "violation" or (asked.view and not exploration.stopped):
        return limits
    return limits.unbounded(max(1, len(exploration.levels)) if exploration.stopped else None)


def graph_of(
    model: Model,
    limits: SearchOptions,
    properties: tuple[Property, ...],
    engine: str,
    *,
    rows: bool = False,
) -> StateGraph:
    """Return the state graph: natively, unless the reference is asked for or only it can."""
    from statewalk.checker.engines.table import ENGINES, unable
    from statewalk.checker.liveness.explore import build

    graph = None
    if engine != "reference" and not unable(ENGINES["native"], model, limits):
        from statewalk.checker.liveness.collect import collect

        graph = collect(model, limits, properties, rows=rows)
    return graph or build(model, limits, properties)


def why_not(model: Model, options: CheckOptions, exploration: Exploration, prop: Property) -> str:
    """Return why a property cannot be decided after a search, in words; empty where it can.

    A violation of safety comes first, unless the configuration expects this one to be violated.
    """
    if any(f.property == NO_ERROR for f in exploration.findings):
        return "the spec raised an exception"
    if exploration.stopped == "violation":
        expect = expectation(model, options.config)
        expected = expect is not None and expect.names(prop.name)
        return "" if expected else stop_of("violation").liveness
    if exploration.cut.get(MAX_ACTIONS) and not options.allow_unsound:
        return f"{INCOMPLETE}: the spec's bound on the starts of actions cuts the search; {ALLOW}"
    if exploration.stopped and not options.allow_unsound and not own_bound(options, exploration):
        return f"{INCOMPLETE}: {stop_of(exploration.stopped).liveness}; {ALLOW}"
    return ""


def own_bound(options: CheckOptions, exploration: Exploration) -> bool:
    """Return whether the spec's own bound on depth cut the search: lassos are looked for all the
    same.
    """
    return exploration.stopped == "depth" and options.max_depth is None


def _note(
    results: list[LivenessResult], checked: Checked, asked: SearchOptions, engine: str, states: int
) -> None:
    """Add the results to what is known; they were found on a graph of so many states."""
    warnings = checked.warnings
    checked.vacuous |= {r.property for r in results if r.vacuous}
    for r in results:
        if r.unsound and not checked.options.allow_unsound:
            checked.unchecked[r.property] = (
                f"{INCOMPLETE}: no lasso within the spec's bound on depth; {ALLOW}"
            )
            continue
        if r.unsound:
            checked.unsound.add(r.property)
            warnings.append(f"unsound: {r.property} was decided although the search was cut")
        if r.unfair:
            warnings.append(_UNFAIR.format(r.property))
        if r.lasso is not None:
            steps = (*r.lasso.stem, *r.lasso.cycle)
            checked.findings[r.property] = Finding(r.property, r.kind, r.lasso.initial, steps)
            checked.loops[r.property] = len(r.lasso.stem)
            checked.not_taken[r.property] = never_taken(r.lasso)
    if results and engine == "spark":
        warnings.append("liveness was decided by the native engine, on one machine")
    merged = {"symmetry": asked.symmetry, "view": asked.view, "reduction": checked.options.reduce}
    if what := " and ".join(word for word, on in merged.items() if on and results):
        warnings.append(f"liveness was checked without {what}, on {states:,} states")


def never_taken(lasso: Lasso) -> tuple[str, ...]:
    """Return what is enabled on the cycle of a lasso and never taken, in words."""
    return tuple(_said(found, lasso.cycle) for found in lasso.not_taken)


def _said(found: NotTaken, cycle: tuple[object, ...]) -> str:
    size = max(1, len(cycle))
    where = "continuously" if len(found.enabled_at) == size else "repeatedly"
    if found.fairness == "none":
        return f"{found.label}: enabled {where}, not fair"
    return f"{found.label}: enabled {where}, {found.fairness}ly fair"


def small_graph(
    model: Model, limits: SearchOptions, properties: tuple[Property, ...], kept: Kept
) -> StateGraph | None:
    """Return the state graph; None where building it is too much work for plain Python. Steps
    that a search ``kept`` are not taken again.

    Raises:  PredicateRaisedError
    """
    allowance, steps = Allowance(), kept.steps_of(model)
    if kept.whole:
        if not steps.taken:
            return None
        try:
            return built(model, limits, properties, steps).graph()
        except PredicateRaisedError:
            return None  # the way there is told by who takes steps
    work = built(model, allowance.limited(limits), properties, steps)
    return None if allowance.used_up else work.graph()
