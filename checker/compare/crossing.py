"""A trace of one model tried on another: how far that goes, and what stops it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from statewalk.checker.behaviours.guided import ways
from statewalk.checker.behaviours.replay import action_of, deadlocked
from statewalk.checker.contract.search import ASSERTION, DEADLOCK, NO_ERROR, Finding, Step
from statewalk.checker.states.content import Content, constants_of, content_of
from statewalk.checker.states.diff import Change, alike, changes
from statewalk.checker.traces.trace import Choice, Trace, TraceStep, build, truths
from statewalk.checker.verdict.evidence import Guard, raised_in
from statewalk.checker.verdict.guards import guard_of
from statewalk.dsl.model import Model
from statewalk.dsl.values.stored import ABSENT, same_state
from statewalk.dsl.view import State

_SHOWN = 3
_MOST = 64  # ways at a time that fit the steps so far


@dataclass(frozen=True)
class Crossing:
    """The result of trying a trace.

    ``followed`` is the other's trace of its steps, as far as it goes. ``step`` is the first that is
    not possible, counted from 1, None where all are. ``broken`` are the properties that are
    false at the end; of several ways to take the steps, of one where some are. ``guard`` stops it,
    or ``why`` says what does. ``otherwise`` are steps that had one way to be taken, and that with
    other choices. ``differs`` is the first step after which fields that both have are not the same,
    with the changes from the trace's state to the other's; ``ends`` are those at the end.
    ``goes_on`` are steps that follow there on each way, where none follows the trace. ``most`` is
    the number of ways that were followed where there were more, else 0: then what no way shows is
    not known.
    """

    trace: Trace
    followed: Trace
    step: int | None = None
    why: str = ""
    guard: Guard | None = None
    broken: tuple[str, ...] = ()
    differs: tuple[int, tuple[Change, ...]] | None = None
    ends: tuple[Change, ...] = ()
    otherwise: tuple[tuple[int, str], ...] = ()
    goes_on: tuple[str, ...] = ()
    most: int = 0


@dataclass(frozen=True)
class _Way:
    """A way of taking the steps so far: where it begins, what was taken, where it leads, and the
    state ``before`` its last step.

    ``otherwise`` are the steps that were taken with other choices, by number.
    """

    initial: int
    steps: tuple[Step, ...]
    state: State
    before: State
    otherwise: tuple[tuple[int, str], ...] = ()


def cross(trace: Trace, own: Model, model: Model) -> Crossing:
    """Try the steps of a trace of its ``own`` model on another; any way of taking them will do."""
    fixed = constants_of(own), constants_of(model)
    further = _starts(trace, model)
    found, most = further[:_MOST], _MOST if len(further) > _MOST else 0
    for number, step in enumerate(trace.steps, 1):
        after = trace.contents[min(number, len(trace.contents) - 1)]
        last = number == len(trace.steps)  # what a step breaks depends on where it began
        further = []
        for way in found:
            for one in _fitting(model, way, step):
                if not any(_same_way(one, known, last) for known in further):
                    further.append(one)
        if not further:
            stopped = _stopped(trace, model, number, step, found[0])
            differs = _first_differs(trace, stopped.followed, fixed)
            return replace(stopped, differs=differs, otherwise=found[0].otherwise, most=most)
        further.sort(
            key=lambda way: (len(way.otherwise), _far(content_of(model, way.state), after))
        )
        found, most = further[:_MOST], _MOST if len(further) > _MOST else most
    broken = [_broken(model, way) for way in found]
    follow = [_next(model, way.state, trace) for way in found]
    worst = min(
        range(len(found)),
        key=lambda at: (trace.property not in broken[at], not broken[at], bool(follow[at])),
    )
    followed = _followed(model, found[worst])
    ends = _differs(trace, trace.length, followed.last, fixed)
    return Crossing(
        trace,
        followed,
        broken=broken[worst],
        differs=_first_differs(trace, followed, fixed),
        ends=ends[1] if ends else (),
        otherwise=found[worst].otherwise,
        goes_on=follow[worst] if all(follow) else (),
        most=most,
    )


def _same_way(one: _Way, other: _Way, last: bool) -> bool:
    """Return whether two ways lead on alike; ``last`` asks for the last step too."""
    same = same_state(one.state, other.state)
    return same and (not last or same_state(one.before, other.before))


def _next(model: Model, state: State, trace: Trace) -> tuple[str, ...]:
    """Return steps that are possible where nothing happens after a trace, some of them. It stutters
    with those that change nothing; they do end a deadlock. Faults need not happen.
    """
    ended = trace.kind == "deadlock"
    if not ended and trace.loop != trace.length:
        return ()
    found = (one for a in model.actions if not a.fault for _, one in ways(model, state, a))
    moves = (
        taken.step.label
        for taken in found
        if taken.state is not None and (ended or not same_state(taken.state, state))
    )
    return tuple(islice(dict.fromkeys(moves), _SHOWN))


def _followed(model: Model, way: _Way) -> Trace:
    return build(model, Finding("followed", "exists", way.initial, way.steps))


def _first_differs(
    trace: Trace, followed: Trace, fixed: tuple[Content, Content]
) -> tuple[int, tuple[Change, ...]] | None:
    """Return the first step after which the followed state is another than the trace's."""
    found = (_differs(trace, at, content, fixed) for at, content in enumerate(followed.contents))
    return next((one for one in found if one is not None), None)


def _differs(
    trace: Trace, number: int, other: Content, fixed: tuple[Content, Content]
) -> tuple[int, tuple[Change, ...]] | None:
    """In what the state after so many steps is another than the trace's; None where in nothing.
    ``fixed`` are the fields that no step of the trace's model, or of the other, changes.
    """
    if number >= len(trace.contents):
        return None
    own, other = {**fixed[0], **trace.contents[number]}, {**fixed[1], **other}
    both = fixed[0].keys() & fixed[1].keys()  # a parameter of each, as it were
    common = [path for path in own if path in other and path not in both]
    was, now = ({path: content[path] for path in common} for content in (own, other))
    found = tuple(changes(was, now, trace.names))
    return (number, found) if found else None


def _starts(trace: Trace, model: Model) -> list[_Way]:
    """Return the initial states that are most like the trace's."""
    wanted = trace.contents[0]
    far = [_far(content_of(model, state), wanted) for state in model.initial_states]
    nearest, states = min(far), enumerate(model.initial_states)
    return [_Way(at, (), state, state) for at, state in states if far[at] == nearest]


def _far(content: Content, wanted: Content) -> int:
    """In how many common fields two contents differ."""
    return sum(
        not alike(content[path], value)
        for path, value in wanted.items()
        if value is not ABSENT and content.get(path, ABSENT) is not ABSENT
    )


def _fitting(model: Model, way: _Way, step: TraceStep) -> Iterator[_Way]:
    """Yield the ways of taking a step that contradict none of its choices; where there is but
    one way, that, whatever is chosen.
    """
    action = action_of(model, step)
    if action is None:
        return
    possible = list(ways(model, way.state, action))
    for choices, taken in possible:
        fits = _fits(taken.step, step)
        if taken.state is None or not (fits or len(possible) == 1):
            continue
        steps = (*way.steps, Step(action.index, choices))
        said = () if fits else ((len(steps), _chosen(taken.step)),)
        yield _Way(way.initial, steps, taken.state, way.state, (*way.otherwise, *said))


def _fits(one: TraceStep, step: TraceStep) -> bool:
    """Return whether what was chosen in one step contradicts nothing that was in another."""
    own = _numbered(one.made)
    wanted = _numbered(step.made).items()
    return all(alike(own.get(name, value), value) for name, value in wanted)


def _numbered(made: Iterable[Choice]) -> dict[tuple[str, int], Any]:
    """Return what was chosen, by name, and by place among those of one name."""
    found: dict[tuple[str, int], Any] = {}
    for choice in made:
        place = sum(choice.name == name for name, _ in found)
        found[choice.name, place] = choice.value
    return found


def _chosen(step: TraceStep) -> str:
    return ", ".join(map(str, step.made))


def _stopped(trace: Trace, model: Model, number: int, step: TraceStep, way: _Way) -> Crossing:
    """Return why a step is not possible at the end of a way."""
    followed, action = _followed(model, way), action_of(model, step)
    if action is None:
        return Crossing(trace, followed, number, f"it has no {step.call}")
    possible = [taken for _, taken in ways(model, way.state, action)]
    for taken in possible:
        if taken.error is not None and (_fits(taken.step, step) or len(possible) == 1):
            broken = ASSERTION if isinstance(taken.error, AssertionError) else NO_ERROR
            why = f"it raises {type(taken.error).__name__}"
            return Crossing(trace, followed, number, why, broken=(broken,))
    if possible:
        other = " or ".join(_chosen(taken.step) for taken in possible[:_SHOWN])
        why = f"it has other choices there, {other}" if other else "it has no such choice"
        return Crossing(trace, followed, number, why)
    guard = guard_of(model, action, way.state)
    if guard is None:
        return Crossing(trace, followed, number, "it is disabled")
    return Crossing(trace, followed, number, guard=guard)


def _broken(model: Model, way: _Way) -> tuple[str, ...]:
    """Return the properties that are false at the end of a way, or in the step that led there."""
    told = truths(model, [way.before, way.state])
    asked = [p for p in model.properties if p.of_kind.searched and not p.of_kind.witness]
    broken = tuple(p.name for p in asked if told[p.name][-1] is p.of_kind.sought)
    if raised_in(model, way.state, way.before if way.steps else None) is not None:
        return (*broken, NO_ERROR)
    if model.check_deadlock and deadlocked(model, way.state):
        return (*broken, DEADLOCK)
    return broken
