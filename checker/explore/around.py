"""The states around one, as a graph: what it leads to in so many steps, laid out by distance."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from statewalk.checker.explore.walk import Path, joined, write_path
from statewalk.checker.report.page import plural
from statewalk.checker.states.content import content_of
from statewalk.checker.states.diff import changes
from statewalk.checker.traces.labels import label_of

if TYPE_CHECKING:
    from statewalk.checker.contract.search import Step
    from statewalk.checker.explore.walk import Possible, Walk
    from statewalk.checker.traces.exports.lanes import Shape
    from statewalk.dsl.view import State

MOST = 150  # states drawn
_WIDE, _TALL = 228, 40  # of a state
_APART, _BELOW = 84, 12  # between levels, and between the states of one
_LETTERS = 36


@dataclass
class Spot:
    """A state of the graph: how it is reached, and what is said of the last step of that."""

    state: State
    level: int
    steps: tuple[Step, ...]
    label: str = ""
    news: str = ""
    top: float = 0.0
    parents: list[int] = field(default_factory=list)


def around(walk: Walk, path: Path, depth: int) -> dict[str, Any]:
    """The states that a state leads to in at most ``depth`` steps, as a drawing."""
    spots, edges, whole = _found(walk, path, depth)
    height = _placed(spots)
    shapes: list[Shape] = [_edge(spots[a], spots[b]) for a, b in sorted(edges)]
    for at, spot in enumerate(spots):
        shapes += _box(at, spot)
    levels = max(spot.level for spot in spots) + 1
    width = levels * (_WIDE + _APART)
    said = f"{plural(len(spots), 'state')} within {plural(levels - 1, 'step')}"
    return {
        "drawing": {"width": width, "height": height, "shapes": shapes},
        "paths": [write_path(joined(path, spot.steps)) for spot in spots],
        "said": said if whole else f"{said}; {MOST} are the most that are drawn",
    }


def _found(walk: Walk, path: Path, depth: int) -> tuple[list[Spot], set[tuple[int, int]], bool]:
    """The states, the steps between them, and whether these are all."""
    trace = walk.trace(path)
    first = walk.state(path)
    spots = [Spot(first, 0, (), f"state {len(path.steps)}")]
    known = {walk.row(first): 0}
    edges: set[tuple[int, int]] = set()
    whole = True
    at = 0
    while at < len(spots) and spots[at].level < depth:
        here = spots[at]
        for one in walk.possible(here.state)[0]:
            if one.taken.state is None or one.cut:
                continue
            row = walk.row(one.taken.state)
            if row not in known and len(spots) >= MOST:
                whole = False
                continue
            if row not in known:
                known[row] = len(spots)
                label = label_of(trace, one.taken.step)
                news = _news(walk, here.state, one)
                steps = (*here.steps, one.step)
                spots.append(Spot(one.taken.state, here.level + 1, steps, label, news))
            if known[row] != at:
                edges.add((at, known[row]))
                spots[known[row]].parents.append(at)
        at += 1
    return spots, edges, whole


def _news(walk: Walk, before: State, one: Possible) -> str:
    after = content_of(walk.model, one.taken.state or {})
    found = list(changes(content_of(walk.model, before), after, walk.names))
    return "; ".join(map(str, found)) or "changes nothing"


def _placed(spots: list[Spot]) -> int:
    """Place each state below those of its level whose parents are above its own; the height."""
    height = 0.0
    for level in range(spots[-1].level + 1):
        row = [spot for spot in spots if spot.level == level]
        middle = {
            id(s): sum(spots[p].top for p in s.parents if spots[p].level < level)
            / max(1, sum(spots[p].level < level for p in s.parents))
            for s in row
        }
        row.sort(key=lambda spot: middle[id(spot)])
        for at, spot in enumerate(row):
            spot.top = 8 + at * (_TALL + _BELOW)
        height = max(height, 8 + len(row) * (_TALL + _BELOW))
    return int(height) + 8


def _left(spot: Spot) -> int:
    return 8 + spot.level * (_WIDE + _APART)


def _edge(a: Spot, b: Spot) -> Shape:
    """A step: to the right where it leads further, else back."""
    x, y = _left(a) + _WIDE, a.top + _TALL / 2
    u, v = _left(b), b.top + _TALL / 2
    if b.level > a.level:
        bend = (u - x) / 2
        return (
            "path",
            {"class": "way", "d": f"M{x} {y}C{x + bend} {y} {u - bend} {v} {u} {v}"},
            "",
        )
    x, out = _left(a), 34
    u += _WIDE if b.level < a.level else 0
    way = out if b.level < a.level else -out
    curve = f"M{x} {y + 8}C{x - out} {y + 8} {u + way} {v + 8} {u} {v + 8}"
    return ("path", {"class": "way again", "d": curve}, "")


def _box(at: int, spot: Spot) -> list[Shape]:
    x, y = _left(spot), int(spot.top)
    kind = "spot here" if at == 0 else "spot"
    box = {"x": x, "y": y, "width": _WIDE, "height": _TALL, "rx": 8}
    return [
        ("rect", {"class": kind, "data-spot": at, **box}, ""),
        ("text", {"class": "call", "x": x + 12, "y": y + 17}, _cut(spot.label)),
        ("text", {"class": "got", "x": x + 12, "y": y + 31}, _cut(spot.news)),
    ]


def _cut(text: str) -> str:
    return text if len(text) <= _LETTERS else text[: _LETTERS - 1] + "…"
