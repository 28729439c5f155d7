"""Looking for a state near one: breadth first from it, so far as limits let."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from statewalk.checker.contract.search import SearchOptions, Step
from statewalk.checker.engines.table import choose
from statewalk.dsl.binding import binding
from statewalk.dsl.errors import StatewalkError
from statewalk.dsl.model import Property
from statewalk.dsl.values.stored import intern_key
from statewalk.dsl.view import Endless

if TYPE_CHECKING:
    from statewalk.checker.behaviours.walk import Path, Walk
    from statewalk.dsl.model import Model
    from statewalk.dsl.view import State


STATES, SECONDS = 50_000, 10.0
Row = tuple[int, ...]


@dataclass(frozen=True)
class Sought:
    """The result of a search for a state: the path to it, if there is one; how many states
    were looked at, within how many steps all of them; and whether these are all there are.
    """

    start: int
    steps: tuple[Step, ...] | None
    states: int
    depth: int
    all: bool


def nearest(
    walk: Walk,
    starts: Iterable[State],
    wanted: Callable[[State], bool],
    passable: Callable[[Row, Step, Row], bool] = lambda before, step, after: True,
    *,
    states: int = STATES,
    seconds: float = SECONDS,
    interrupted: Callable[[], bool] = lambda: False,
) -> Sought:
    """Return the nearest state that is wanted, a start included; constraints cut as in a search.

    ``passable`` may forbid steps. Steps that raise lead nowhere. ``interrupted`` says when to end.
    """
    model, until = walk.model, time.monotonic() + seconds
    came: dict[Row, tuple[Row, Step] | None] = {}
    first: dict[Row, int] = {}
    level: list[State] = []
    for at, state in enumerate(starts):
        row = walk.row(state)
        if row not in came:
            came[row], first[row] = None, at
            if wanted(state):
                return Sought(at, (), len(came), 0, True)
            level.append(state)
    depth = 0
    while level:
        depth += 1
        following: list[State] = []
        for state in level:
            if interrupted():
                return Sought(0, None, len(came), depth - 1, False)
            before = walk.row(state)
            for action in model.actions:
                for outcome in model.outcomes(action, state, []):
                    after = model.successor(state, outcome)
                    row, step = walk.row(after), Step(action.index, outcome.choices)
                    if row in came or not passable(before, step, row) or walk.cut(state, after):
                        continue
                    came[row] = (before, step)
                    if wanted(after):
                        steps = _way(came, row)
                        return Sought(first[_root(came, row)], steps, len(came), depth, False)
                    if len(came) >= states or time.monotonic() > until:
                        return Sought(0, None, len(came), depth - 1, False)
                    following.append(after)
        level = following
    return Sought(0, None, len(came), max(0, depth - 1), True)


def _way(came: dict[Row, tuple[Row, Step] | None], row: Row) -> tuple[Step, ...]:
    found = []
    while (last := came[row]) is not None:
        row, step = last
        found.append(step)
    return tuple(reversed(found))


def _root(came: dict[Row, tuple[Row, Step] | None], row: Row) -> Row:
    while (last := came[row]) is not None:
        row = last[0]
    return row


def another(
    walk: Walk,
    path: Path,
    *,
    states: int = STATES,
    seconds: float = SECONDS,
    interrupted: Callable[[], bool] = lambda: False,
) -> Sought:
    """Return the shortest way to the state at the end of a path whose last step is another one."""
    target = walk.row(walk.state(path))
    before = walk.row(walk.state(type(path)(path.initial, path.steps[:-1])))
    last = path.steps[-1]

    def passable(row: Row, step: Step, after: Row) -> bool:
        return after != target or (row, step) != (before, last)

    return nearest(
        walk,
        walk.model.initial_states,
        lambda state: walk.row(state) == target,
        passable,
        states=states,
        seconds=seconds,
        interrupted=interrupted,
    )


LARGEST = 20_000_000
MEMORY = 4 << 30
_WANTED = "wanted"


def search(
    model: Model,
    starts: tuple[State, ...],
    wanted: Callable[[], bool],
    interrupted: Callable[[], bool] = lambda: False,
    *,
    avoid: Callable[[], bool] | None = None,
    seconds: float = SECONDS,
) -> Sought | None:
    """Return the nearest state that is wanted, by a search from others; not on from states to
    ``avoid``.

    None where no engine can tell: the spec raises on the way, or refuses steps, behind which an
    engine looks at one more state.
    """
    if model.step_constraints:
        return None
    inside = [constraint.whole for constraint in model.constraints]

    def missing() -> bool:
        return not (all(holds() for holds in inside) and wanted())

    cuts = model.constraints
    if avoid is not None:
        cuts += (Property("avoided", "always", (), lambda: not avoid()),)
    asked = SearchOptions(
        properties=(_WANTED,),
        max_states=LARGEST,
        max_memory=MEMORY,
        timeout=seconds,
        threads=os.cpu_count() or 1,
        interrupted=interrupted,
    )
    sought = replace(
        model,
        initial_states=starts,
        properties=(Property(_WANTED, "always", (), missing),),
        constraints=cuts,
    )
    try:
        found = choose("auto", sought, asked)[1].explore(sought, asked)
    except (StatewalkError, Endless):
        return None
    if found.stopped == "error":
        return None
    states, whole = found.counts.distinct, max(0, found.counts.depth - 2)
    for finding in found.findings:
        if finding.property == _WANTED:
            return Sought(finding.initial, finding.steps, states, len(finding.steps), False)
    return Sought(0, None, states, whole, found.complete)


def being(state: State) -> Callable[[], bool]:
    """Return whether the state that is bound is this one, as far as this one's slots tell."""
    slots = [(path, intern_key(value)) for path, value in state.items()]

    def is_it() -> bool:
        assert binding.view is not None
        get = binding.view.get
        return all(intern_key(get(path)) == key for path, key in slots)

    return is_it
