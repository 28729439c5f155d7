"""The states around one, as a graph: what it leads to in so many steps."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from statewalk.checker.contract.search import Step
from statewalk.checker.states.content import content_of
from statewalk.checker.states.diff import changes
from statewalk.checker.traces.exports.layered import FOLDED, Spot, layered
from statewalk.checker.traces.labels import label_of
from statewalk.checker.traces.trace import take_step
from statewalk.checker.walk.walk import Path, joined, write_path
from statewalk.dsl.state.plain_view import PlainView

if TYPE_CHECKING:
    from statewalk.checker.traces.trace import Trace
    from statewalk.checker.walk.walk import Possible, Walk
    from statewalk.dsl.view import State

Row = tuple[int, ...]
MOST = 2000  # states drawn
SECONDS = 12.0
BESIDE = 60  # states drawn around one of a path


@dataclass
class Around:
    """States near one: each with the way to it and what is said of it, and the steps between.

    ``whole`` where these are all that there are; ``states`` counts those that were looked at, at
    most ``depth`` steps away; ``late`` where the time was over.
    """

    spots: list[Spot] = field(default_factory=list)
    ways: list[tuple[Step, ...]] = field(default_factory=list)
    edges: set[tuple[int, int]] = field(default_factory=set)
    states: int = 0
    depth: int = 0
    whole: bool = True
    late: bool = False


def around(
    walk: Walk,
    path: Path,
    depth: int,
    by: Callable[[State], str] | None = None,
    *,
    unfolded: Collection[Row] = (),
    on: Collection[Row] = (),
    most: int = MOST,
    seconds: float = SECONDS,
) -> Around:
    """What a state leads to in at most ``depth`` steps, and what those that are ``unfolded`` lead
    to. States of which ``by`` says the same are one spot. Marked are states that are ``on`` a path,
    and those in which what has to hold does not.
    """
    until = time.monotonic() + seconds
    trace = walk.trace(path)
    first = walk.state(path)
    label = f"state {len(path.steps)}"
    found = Around([Spot(0, label, mark="here")], [()], states=1)
    states = [first]
    known = {walk.row(first): 0}
    at = 0
    while at < len(states):
        if found.spots[at].level >= depth and all(known.get(row) != at for row in unfolded):
            if not found.spots[at].is_marked("here"):
                found.spots[at] = found.spots[at].marked(FOLDED)
            at += 1
            continue
        if time.monotonic() > until:
            found.whole, found.late = False, True
            break
        for action in walk.model.actions:
            for outcome in walk.model.outcomes(action, states[at], []):
                after = walk.model.successor(states[at], outcome)
                if not walk.cut(states[at], after):
                    step = Step(action.index, outcome.choices)
                    _add(walk, trace, found, states, known, at, step, after, most)
        at += 1
    for at, state in enumerate(states):
        if at and walk.row(state) in on:
            found.spots[at] = found.spots[at].marked("on")
        if time.monotonic() > until:
            found.late = True
        elif _is_wrong(walk, state):
            found.spots[at] = found.spots[at].marked("wrong")
    found.states, found.depth = len(states), found.spots[-1].level
    return found if by is None else _grouped(found, [by(state) for state in states])


def _is_wrong(walk: Walk, state: State) -> bool:
    """Whether a property that has to hold in every state does not in this one."""
    for prop in walk.model.properties:
        try:
            kind = prop.of_kind
            if kind.over == "states" and not kind.witness:
                if walk.model.holds(prop.whole, PlainView(state)) is kind.sought:
                    return True
        except Exception:  # of this state it says nothing
            continue
    return False


def _add(
    walk: Walk,
    trace: Trace,
    found: Around,
    states: list[State],
    known: dict[Row, int],
    at: int,
    step: Step,
    after: State,
    most: int,
) -> None:
    """Note a step, and the state that it leads to if it is new."""
    row = walk.row(after)
    if row not in known:
        if len(states) >= most:
            found.whole = False
            return
        known[row] = len(states)
        states.append(after)
        found.ways.append((*found.ways[at], step))
        label, news = _said(walk, trace, states[at], step, after)
        found.spots.append(Spot(found.spots[at].level + 1, label, news))
    if known[row] != at:
        found.edges.add((at, known[row]))


def _said(walk: Walk, trace: Trace, before: State, step: Step, after: State) -> tuple[str, str]:
    """A step in words, and what it changed."""
    taken = take_step(walk.model, before, walk.model.actions[step.action], step.choices)
    label = label_of(trace, taken.step) if taken else ""
    old, new = content_of(walk.model, before), content_of(walk.model, after)
    return label, "; ".join(map(str, changes(old, new, walk.names))) or "changes nothing"


def _grouped(found: Around, names: list[str]) -> Around:
    """The same with one spot for each name, at the place of the first state that has it."""
    first: dict[str, int] = {}
    for at, name in enumerate(names):
        first.setdefault(name, at)
    marks: dict[str, set[str]] = {}
    for spot, name in zip(found.spots, names, strict=True):
        marks.setdefault(name, set()).update({*spot.mark.split()} - {FOLDED})
    number = {name: n for n, name in enumerate(first)}
    sizes = [names.count(name) for name in first]
    return replace(
        found,
        spots=[
            replace(
                found.spots[at],
                label=name,
                news=f"{size:,} states" if size > 1 else "1 state",
                mark=" ".join(sorted(marks[name])),
            )
            for (name, at), size in zip(first.items(), sizes, strict=True)
        ],
        ways=[found.ways[at] for at in first.values()],
        edges={
            (number[names[a]], number[names[b]]) for a, b in found.edges if names[a] != names[b]
        },
    )


def drawn(found: Around, path: Path) -> dict[str, Any]:
    """The graph as a drawing, with the path to each of its states."""
    ways = [write_path(joined(path, steps)) for steps in found.ways]
    return {"drawing": layered(found.spots, found.edges), "paths": ways}


def along(walk: Walk, path: Path, most: int) -> tuple[list[dict[str, Any] | None], int]:
    """Draw, for each state of a path, what it and the state before it lead to, from the last on.

    Marked are states of the path, and those in which what has to hold does not. ``goes`` says by
    spot which state of the path it is, if it is one. At most about ``most`` runs of actions are
    taken; how many were is returned too.
    """
    trace = walk.trace(path)
    states = [node.state for node in walk.nodes(path) if node.state is not None]
    rows = [walk.row(state) for state in states]
    where: dict[Row, list[int]] = {}
    for at, row in enumerate(rows):
        where.setdefault(row, []).append(at)
    kept: dict[int, list[Possible]] = {}
    wrong: dict[Row, bool] = {}
    drawings: list[dict[str, Any] | None] = [None] * (len(path.steps) + 1)
    runs = 0
    for here in reversed(range(len(states))):
        if runs > most:
            break
        for at in range(max(0, here - 1), here + 1):
            if at not in kept:
                kept[at] = _own_first(walk, path, states, at)
                runs += len(walk.model.actions) + len(kept[at])
        found, there = _beside(walk, trace, states, rows, here, kept)
        wrong |= {row: _is_wrong(walk, state) for row, state in there.items() if row not in wrong}
        goes = [
            min(where.get(row, ()), key=lambda to: abs(to - here), default=None) for row in there
        ]
        marks = ["here" if to == here else "" if to is None else "on" for to in goes]
        spots = [
            replace(spot, mark=f"{mark} wrong".strip() if wrong[row] else mark)
            for spot, mark, row in zip(found.spots, marks, there, strict=True)
        ]
        drawing = layered(spots, found.edges)
        drawings[here] = {"drawing": drawing, "goes": goes, "whole": found.whole}
    return drawings, runs


def _own_first(walk: Walk, path: Path, states: list[State], at: int) -> list[Possible]:
    """What is possible in a state of a path; first the step that the path takes."""
    own = path.steps[at] if at < len(path.steps) else None
    possible = sorted(walk.possible(states[at])[0], key=lambda one: one.step != own)
    return [replace(one, cut="") if one.step == own else one for one in possible]


def _beside(
    walk: Walk,
    trace: Trace,
    states: list[State],
    rows: list[Row],
    here: int,
    kept: dict[int, list[Possible]],
) -> tuple[Around, dict[Row, State]]:
    """What a state of a path, and the one before it, lead to; and the states of its spots."""
    begin = max(0, here - 1)
    found = Around([Spot(0, f"state {begin}")], [()])
    made = [states[begin]]
    known = {rows[begin]: 0}
    for at in range(begin, here + 1):
        spot = known.get(rows[at])
        if spot is None:  # it is one of more ways than are listed
            continue
        for one in kept[at]:
            if one.taken.state is not None and not one.cut:
                _add(walk, trace, found, made, known, spot, one.step, one.taken.state, BESIDE)
    return found, dict(zip(known, made, strict=True))
