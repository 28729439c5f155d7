"""Liveness within a check: when it can be decided, on which graph, and what is told of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from statewalk.checker.contract.search import NO_ERROR, Finding
from statewalk.checker.contract.stops import StoppedBy, stop_of
from statewalk.checker.engines.small import Kept, SmallFirst
from statewalk.checker.machine.watch import interruptible
from statewalk.checker.verdict.expected import expectation
from statewalk.dsl.assemble.suspended import MAX_ACTIONS
from statewalk.dsl.errors import RunError

INCOMPLETE = "SW503"
if TYPE_CHECKING:
    from statewalk.checker.contract.options import CheckOptions
    from statewalk.checker.contract.search import Engine, Exploration, SearchOptions
    from statewalk.checker.liveness.graph import StateGraph
    from statewalk.checker.liveness.result import Lasso, LivenessResult, NotTaken
    from statewalk.checker.liveness.small import Lists
    from statewalk.dsl.model import Model, Property

ALLOW = "--allow-unsound takes the risk"
_UNFAIR = (
    "SW501 '{}' is a liveness property, but no action is fair: every behaviour may stop in any "
    'state. Say which actions must not wait for ever: @action(fair="weak").'
)


@dataclass(frozen=True)
class Live:
    """What is known of the liveness properties, by name.

    ``findings`` hold lassos as stem and cycle in one sequence of steps; ``loops`` the number of the
    state to which the last step returns (the number of the last state itself: nothing happens any
    more). ``not_taken`` says in words what is enabled on a cycle and never taken. ``unchecked``
    says why nothing is known of a property. ``unsound`` are decided on a search that was cut;
    ``unfinished`` says that a bound ended the building of the graph, though not the search.
    """

    findings: Mapping[str, Finding] = field(default_factory=dict)
    loops: Mapping[str, int] = field(default_factory=dict)
    not_taken: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unchecked: Mapping[str, str] = field(default_factory=dict)
    vacuous: frozenset[str] = frozenset()
    unsound: frozenset[str] = frozenset()
    warnings: tuple[str, ...] = ()
    unfinished: bool = False


def wanted(model: Model, asked: SearchOptions) -> list[Property]:
    """The liveness properties that were asked for."""
    return [p for p in model.properties if p.of_kind.liveness and asked.wants(p.name)]


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
        why="Nothing is known of what lies beyond a constraint: a property may seem to hold only\n"
        "because its counterexamples were cut off.",
        help="Bound the model inside its actions instead (require(...)). Check safety alone with "
        "--no-liveness, or take the risk with --allow-unsound.",
    )


@dataclass(frozen=True)
class _Keeping:
    """The native engine; what it explores whole it keeps as a state graph."""

    properties: tuple[Property, ...]
    rows: bool

    def explore(self, model: Model, options: SearchOptions) -> Exploration:
        """See `checker.contract.search`."""
        with interruptible("loading the engine"):
            from statewalk.checker.liveness.collect import explored

        found, graph = explored(model, options, self.properties, rows=self.rows)
        return replace(found, kept=graph)


def keeping(
    engine: Engine,
    name: str,
    model: Model,
    options: CheckOptions,
    asked: SearchOptions,
    *,
    rows: bool,
) -> Engine:
    """The engine of that name; one that keeps the state graph where liveness is decided after its
    search, and memory is not limited; or where it is wanted with its ``rows``.
    """
    left = decided(model, options, asked)
    parts = asked.view or asked.symmetry or model.constraints or model.step_constraints
    unable = parts or asked.resume or options.max_memory is not None
    if name != "native" or not (rows or (left and not unable)):
        return engine
    keeps = _Keeping(tuple(left), rows)
    if isinstance(engine, SmallFirst) and not rows:
        return replace(engine, large=keeps)
    return keeps


def decided(model: Model, options: CheckOptions, asked: SearchOptions) -> list[Property]:
    """The liveness properties that are decided after a search that saw everything."""
    return wanted(model, asked) if options.liveness and not model.no_liveness else []


def check_liveness(
    model: Model, options: CheckOptions, asked: SearchOptions, exploration: Exploration
) -> Live:
    """Decide the liveness properties that were asked for, or say why not."""
    left = wanted(model, asked)
    off = model.no_liveness if options.liveness else "--no-liveness"
    if off:
        return Live(unchecked=dict.fromkeys((p.name for p in left), off))
    why = {p.name: why_not(model, options, exploration, p) for p in left}
    unchecked = {name: text for name, text in why.items() if text}
    left = [p for p in left if p.name not in unchecked]
    if not left:
        return Live(unchecked=unchecked)
    from statewalk.checker.liveness.explore import PredicateRaisedError
    from statewalk.checker.liveness.small import small_graph

    limits = limits_of(asked, exploration)
    try:
        graph = exploration.kept
        if isinstance(graph, Kept):
            graph = small_graph(model, limits, tuple(left), graph)
        graph = graph or graph_of(model, limits, tuple(left), exploration.engine)
    except PredicateRaisedError as e:
        error = Finding(NO_ERROR, "error", e.initial, e.steps, error=e.error)
        raised = dict.fromkeys((p.name for p in left), "the spec raised an exception")
        return Live(findings={NO_ERROR: error}, unchecked={**unchecked, **raised})
    if not (graph.complete or options.allow_unsound or exploration.stopped):
        ended = f"{INCOMPLETE}: time or memory ended the building of its graph{_unmerged(asked)}"
        unknown = dict.fromkeys((p.name for p in left), ended)
        return Live(unchecked={**unknown, **unchecked}, unfinished=True)
    found = _live(_results(model, graph, left), asked, options, exploration.engine, graph.n)
    unfinished = (
        exploration.stopped in (None, "violation")
        and graph.stopped is not None
        and not (graph.stopped == "depth" and options.max_depth is None)
    )
    return replace(found, unchecked={**found.unchecked, **unchecked}, unfinished=unfinished)


def _results(
    model: Model, graph: StateGraph | Lists, properties: list[Property]
) -> list[LivenessResult]:
    """What a graph says of each property."""
    from statewalk.checker.liveness.small import Lists, all_hold

    if isinstance(graph, Lists):
        if (found := all_hold(graph, properties)) is not None:
            return found
        graph = graph.work.graph()
    from statewalk.checker.liveness.check import check_liveness as decide

    return decide(model, graph, properties)


def _unmerged(asked: SearchOptions) -> str:
    """Why a graph may be far larger than the search was, or have no end."""
    merged = (("symmetry", asked.symmetry), ("a view", asked.view))
    what = " and ".join(word for word, on in merged if on)
    endless = " (endless where an Auxiliary field only grows)" if asked.view else ""
    said = f", which is built without {what}{endless}; --no-liveness checks the rest"
    return said if what else ""


def not_decided(model: Model, asked: SearchOptions, stopped: StoppedBy) -> Live:
    """Of every liveness property, that nothing is known: the spec hung in what came before."""
    left = [p.name for p in wanted(model, asked)]
    why = f"{INCOMPLETE}: {stop_of(stopped).liveness}"
    return Live(unchecked=dict.fromkeys(left, why), unfinished=True)


def limits_of(asked: SearchOptions, exploration: Exploration) -> SearchOptions:
    """How far the graph goes: as far as the search went."""
    timeout = None
    if asked.timeout is not None:
        timeout = max(1.0, asked.timeout - exploration.seconds)
    limits = replace(asked, timeout=timeout, checkpoint=None, resume=False)
    if exploration.stopped == "violation":
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
    """The state graph: natively, unless the reference is asked for or only it can."""
    from statewalk.checker.liveness.explore import build

    graph = None
    if engine != "reference":
        from statewalk.checker.liveness.collect import collect

        graph = collect(model, limits, properties, rows=rows)
    return graph or build(model, limits, properties)


def why_not(model: Model, options: CheckOptions, exploration: Exploration, prop: Property) -> str:
    """Why a property cannot be decided after a search, in words; empty where it can.

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
    """Whether the spec's own bound on depth cut the search: lassos are looked for all the same."""
    return exploration.stopped == "depth" and options.max_depth is None


def _live(
    results: list[LivenessResult],
    asked: SearchOptions,
    options: CheckOptions,
    engine: str,
    states: int,
) -> Live:
    """The results as a check keeps them; they were found on a graph of so many states."""
    findings, loops, not_taken, unchecked = {}, {}, {}, {}
    warnings: list[str] = []
    for r in results:
        if r.unsound and not options.allow_unsound:
            unchecked[r.property] = (
                f"{INCOMPLETE}: no lasso within the spec's bound on depth; {ALLOW}"
            )
            continue
        if r.unsound:
            warnings.append(f"unsound: {r.property} was decided although the search was cut")
        if r.unfair:
            warnings.append(_UNFAIR.format(r.property))
        if r.lasso is not None:
            steps = (*r.lasso.stem, *r.lasso.cycle)
            findings[r.property] = Finding(r.property, r.kind, r.lasso.initial, steps)
            loops[r.property] = len(r.lasso.stem)
            not_taken[r.property] = never_taken(r.lasso)
    if engine == "spark":
        warnings.append("liveness was decided by the native engine, on one machine")
    if asked.symmetry or asked.view:
        merged = (("symmetry", asked.symmetry), ("view", asked.view))
        what = " and ".join(word for word, on in merged if on)
        warnings.append(f"liveness was checked without {what}, on {states:,} states")
    return Live(
        findings=findings,
        loops=loops,
        not_taken=not_taken,
        unchecked=unchecked,
        vacuous=frozenset(r.property for r in results if r.vacuous),
        unsound=frozenset(r.property for r in results if r.unsound and options.allow_unsound),
        warnings=tuple(warnings),
    )


def never_taken(lasso: Lasso) -> tuple[str, ...]:
    """What is enabled on the cycle of a lasso and never taken, in words."""
    return tuple(_said(found, lasso.cycle) for found in lasso.not_taken)


def _said(found: NotTaken, cycle: tuple[object, ...]) -> str:
    size = max(1, len(cycle))
    where = "all along" if len(found.enabled_at) == size else "now and then"
    if found.fairness == "none":
        return f"{found.label}: enabled {where}, not fair"
    return f"{found.label}: enabled {where}, {found.fairness}ly fair"
