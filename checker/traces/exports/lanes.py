"""A trace as a sequence diagram: roles as lanes, time downwards. Laid out here, drawn elsewhere.

A drawing is data, a list of shapes of SVG with their attributes and texts: the page makes elements
of them, `svg_of` a text. What there is to draw is told by `events`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING, Any

from statewalk.checker.traces.exports.sequence import Event, events
from statewalk.checker.traces.trace import label_parts
from statewalk.dsl.errors import printable

if TYPE_CHECKING:
    from statewalk.checker.traces.trace import Trace


Shape = tuple[str, dict[str, Any], str]
"""The tag, its attributes, its text"""

_GUTTER, _RIGHT = 52, 44  # left of the lanes: numbers; right of them: the arc of a lasso
_LETTER, _BOLD = 6.4, 9.6  # pixels, of a letter at 11 pixels, and at 13 in bold
_LEAST, _MOST = 132, 300  # of a lane
_GAP = 20  # between notes of neighbours
_NOTE, _LINE, _ARROW, _PAD = 24, 14, 26, 10
HEAD = 36  # height of the row of names


def drawing(trace: Trace) -> dict[str, Any]:
    """Return the sequence diagram of a trace: its size, the row of names, and everything below."""
    fails = not trace.of_kind.witness and trace.loop is None
    return drawing_of(list(events(trace)), trace.loop, bad=trace.length if fails else None)


def drawing_of(found: list[Event], loop: int | None, bad: int | None) -> dict[str, Any]:
    """Return the same of events; ``bad`` is the step that should not have happened."""
    names = list(dict.fromkeys(n for e in found for n in (e.source, e.target) if n))
    wide = _widths(found, names)
    centres, width = _columns(wide)
    backs: list[Shape] = []
    shapes: list[Shape] = []
    tops: list[int] = []
    top = 4
    for step, group in groupby(found, key=lambda e: e.step):
        tops.append(top)
        parts, height = _row(list(group), top, centres, bad=step == bad)
        row = {"class": "row", "x": 0, "y": top, "width": width, "height": height}
        number = {"class": "number", "x": 30, "y": top + 21, "text-anchor": "end"}
        backs.append(("rect", {**row, "data-step": step}, ""))
        shapes += [("text", number, str(step)), *parts]
        top += height
    lives: list[Shape] = [
        ("line", {"class": "life", "x1": x, "y1": 0, "x2": x, "y2": top}, "")
        for x in centres.values()
    ]
    if loop is not None:
        shapes += _arc(tops, loop, top, width)
    head: list[Shape] = [
        (
            "text",
            {"class": "name", "x": x, "y": 23, "text-anchor": "middle"},
            _named(name, wide[name]),
        )
        for name, x in centres.items()
    ]
    return {"width": width, "height": top + 8, "head": head, "shapes": [*backs, *lives, *shapes]}


def _widths(found: list[Event], names: list[str]) -> dict[str, int]:
    """Return how wide each lane is."""
    wide = {name: max(_LEAST, min(_MOST, int(len(name) * _BOLD) + 1)) for name in names}
    for event in found:
        for text in [event.text, *event.received] if event.kind == "step" else []:
            wide[event.source] = max(wide[event.source], _size(text))
    return wide


def _columns(wide: dict[str, int]) -> tuple[dict[str, int], int]:
    """Return where the middle of each lane is, and how wide all are together."""
    left, centres = _GUTTER, {}
    for name, room in wide.items():
        centres[name] = left + room // 2
        left += room + _GAP
    return centres, left + _RIGHT


def _size(text: str) -> int:
    return min(_MOST, int(len(text) * _LETTER) + 22)


def _named(name: str, width: int) -> str:
    """Return the name above a lane, with its end, which tells instances apart."""
    most = int(width / _BOLD)
    return name if len(name) <= most else f"{name[: most - 7]}…{name[-6:]}"


def _fitted(text: str, width: int) -> str:
    most = int((width - 18) / _LETTER)
    return text if len(text) <= most else text[: most - 1] + "…"


def _row(
    found: list[Event], top: int, centres: dict[str, int], *, bad: bool
) -> tuple[list[Shape], int]:
    """Return what a step is drawn as, and its height."""
    step, arrows = found[0], found[1:]
    x = centres[step.source]
    crash = step.text.startswith("crash")
    kind = "note" + " bad" * bad + " crash" * crash
    lines = [step.text, *(f"← {text}" for text in step.received)]
    wide = max(_size(line) for line in lines)
    tall = _NOTE + _LINE * len(step.received)
    y = top + _PAD // 2
    box = {"x": x - wide // 2, "y": y, "width": wide, "height": tall, "rx": 6}
    parts: list[Shape] = [("rect", {"class": kind, **box, "data-step": step.step}, "")]
    for at, line in enumerate(lines):
        place = {"x": x, "y": y + 16 + at * _LINE, "text-anchor": "middle"}
        parts.append(("text", {"class": "got" if at else "call", **place}, _fitted(line, wide)))
    y += tall
    for arrow in arrows:
        drawn, height = _arrow(arrow, y, centres)
        parts += drawn
        y += height
    return parts, y + _PAD // 2 - top


def _arrow(event: Event, top: int, centres: dict[str, int]) -> tuple[list[Shape], int]:
    """Return an arrow with its text, a line of it above, others below."""
    start, end = centres[event.source], centres[event.target]
    way = 1 if end > start else -1
    lines = event.text.split("\n")[:4]
    y = top + _ARROW - 6 + _LINE * (len(lines) - 1)
    tip = end - 7 * way if event.kind == "lost" else end
    parts: list[Shape] = [
        ("line", {"class": event.kind, "x1": start, "y1": y, "x2": tip, "y2": y}, "")
    ]
    if event.kind == "lost":
        cross = f"M{end - 5} {y - 5}l10 10m0 -10l-10 10"
        parts.append(("path", {"class": "lost", "d": cross}, ""))
    else:
        head = f"M{end} {y}l{-9 * way} -4v8z"
        parts.append(("path", {"class": f"tip {event.kind}", "d": head}, ""))
    for at, line in enumerate(lines):
        place = {"x": (start + end) // 2, "y": y - 6 - _LINE * (len(lines) - 1 - at)}
        parts.append(("text", {"class": "label", "text-anchor": "middle", **place}, line))
    return parts, _ARROW + _LINE * (len(lines) - 1)


def _arc(tops: list[int], loop: int, bottom: int, width: int) -> list[Shape]:
    """Return the way back of a lasso, at the right."""
    x = width - _RIGHT + 10
    high = tops[loop] + 6 if loop < len(tops) else bottom - 4
    low = bottom - 6
    path = f"M{x} {low}h10q8 0 8 -8V{high + 8}q0 -8 -8 -8h-10"
    return [
        ("path", {"class": "arc", "d": path}, ""),
        ("path", {"class": "arc tip", "d": f"M{x - 2} {high}l9 -4v8z"}, ""),
    ]


_PAINT = {
    "life": {"stroke": "#c8ccd4"},
    "row": {"fill": "none"},
    "note": {"fill": "#f4f5f8", "stroke": "#c8ccd4"},
    "bad": {"fill": "#fdecec", "stroke": "#c2352b"},
    "message": {"stroke": "#3d5bd9"},
    "call": {"stroke": "#7a8190"},
    "lost": {"stroke": "#c2352b", "fill": "none"},
    "arc": {"stroke": "#c2352b", "fill": "none"},
    "spot": {"fill": "#fff", "stroke": "#b9bfcc"},
    "way": {"stroke": "#7a8190", "fill": "none"},
    "again": {"stroke": "#3b5bdb", "stroke-dasharray": "4 3"},
}


_DARK = """<style>@media (prefers-color-scheme: dark) {
rect[fill="#fff"] { fill: #16181d } text { fill: #e3e6ec }
rect[fill="#f4f5f8"] { fill: #262a33; stroke: #4b5262 } rect[fill="#fdecec"] { fill: #4a1f1d }
[stroke="#c8ccd4"] { stroke: #3a404d } [stroke="#3d5bd9"] { stroke: #8ea2ff }
}</style>"""
_ASKED = ("data-step", "data-spot")  # what only the page asks for


def to_svg(trace: Trace) -> str:
    """Return a trace as a sequence diagram that any browser shows."""
    return svg_of(drawing(trace), alone=True)


def svg_of(found: dict[str, Any], *, painted: bool = True, alone: bool = False) -> str:
    """Return a drawing as SVG that needs no style sheet; if not ``painted``, its classes stay
    for one.

    One that stands ``alone`` in a file has dark colours too; in a page they would reach others.
    """
    width, height = found["width"], found["height"] + HEAD
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">',
        *([_DARK] if alone else []),
        *(['<rect width="100%" height="100%" fill="#fff"/>'] if painted else []),
        *(_text(shape, painted) for shape in found["head"]),
        f'<g transform="translate(0 {HEAD})">',
        *(_text(shape, painted) for shape in found["shapes"]),
        "</g></svg>\n",
    ]
    return "\n".join(lines)


def _text(shape: Shape, painted: bool) -> str:
    tag, attributes, text = shape
    paint: dict[str, str] = {}
    if painted and tag != "text":
        for name in str(attributes["class"]).split():
            paint |= _PAINT.get(name, {})
    kept = {
        n: v for n, v in attributes.items() if n not in _ASKED and not (painted and n == "class")
    }
    told = "".join(f' {n}="{escape(str(v))}"' for n, v in (paint | kept).items())
    return f"<{tag}{told}>{escape(printable(text))}</{tag}>"


FEW = 120  # states that are drawn as boxes
_LETTERS = 29  # of a line in a box
_EDGE = 8
_GRIP = 18
FOLDED = "folded"  # the mark of a state that may lead further than is drawn


@dataclass(frozen=True)
class Spot:
    """A drawn state: how far it is, two lines of text, and how it is marked, in words."""

    level: int
    label: str
    news: str = ""
    mark: str = ""

    def is_marked(self, word: str) -> bool:
        """Return whether a word is among its marks."""
        return word in self.mark.split()

    def marked(self, word: str) -> Spot:
        """Return the same with one mark more."""
        return replace(self, mark=f"{self.mark} {word}".strip())


@dataclass(frozen=True)
class _Sizes:
    """Of a spot, and of the room between spots; ``rows`` are in a column before the next begins."""

    wide: int
    tall: int
    apart: int
    below: int
    rows: int


_BOXES = _Sizes(wide=208, tall=40, apart=40, below=12, rows=FEW)
_DOTS = _Sizes(wide=10, tall=10, apart=56, below=6, rows=48)


def layered(spots: Sequence[Spot], edges: Iterable[tuple[int, int]]) -> dict[str, Any]:
    """Return the drawing, and by spot the text that says what it is."""
    sizes = _BOXES if len(spots) <= FEW else _DOTS
    edges = sorted(set(edges))
    places = _placed(spots, edges, sizes)
    many = " many" if sizes is _DOTS else ""
    ways: dict[str, list[str]] = {f"way{many}": [], f"way again{many}": []}
    for a, b in edges:
        further = spots[b].level > spots[a].level
        curve = _curve(places[a], places[b], sizes, spots[b].level - spots[a].level)
        ways[f"way{many}" if further else f"way again{many}"].append(curve)
    shapes: list[Shape] = [
        ("path", {"class": kind, "d": "".join(curves)}, "")
        for kind, curves in ways.items()
        if curves
    ]
    labels = cut_apart([spot.label for spot in spots], _LETTERS)
    news = cut_apart([spot.news for spot in spots], _LETTERS)
    for at, (spot, (x, y)) in enumerate(zip(spots, places, strict=True)):
        shapes += _shapes(at, spot, (labels[at], news[at]), x, y, sizes)
    width = max(x for x, _ in places) + sizes.wide + _EDGE + _GRIP
    height = max(y for _, y in places) + sizes.tall + _EDGE
    names = [f"{spot.label}\n{spot.news}".strip() for spot in spots]
    return {"width": width, "height": height, "shapes": shapes, "names": names}


def _placed(
    spots: Sequence[Spot], edges: Iterable[tuple[int, int]], sizes: _Sizes
) -> list[tuple[int, int]]:
    """Return where each spot is: in its level by where those are from which steps lead to it."""
    before: dict[int, list[int]] = {}
    for a, b in edges:
        if spots[a].level < spots[b].level:
            before.setdefault(b, []).append(a)
    places = [(0, 0)] * len(spots)
    order = sorted(range(len(spots)), key=lambda at: spots[at].level)
    left = _EDGE
    for _, group in groupby(order, key=lambda at: spots[at].level):
        row = list(group)
        middle = {
            at: sum(places[p][1] for p in before.get(at, ())) / max(1, len(before.get(at, ())))
            for at in row
        }
        row.sort(key=lambda at: middle[at])
        columns = -(-len(row) // sizes.rows)
        for rank, at in enumerate(row):
            down, across = divmod(rank, columns)
            x = left + across * (sizes.wide + sizes.below)
            places[at] = (x, _EDGE + down * (sizes.tall + sizes.below))
        left += columns * (sizes.wide + sizes.below) - sizes.below + sizes.apart
    return places


def _curve(a: tuple[int, int], b: tuple[int, int], sizes: _Sizes, further: int) -> str:
    """Return a step: to the right where it leads further, else back."""
    half = sizes.tall // 2
    (x, y), (u, v) = a, b
    if further > 0:
        x += sizes.wide
        bend = (u - x) // 2
        return f"M{x} {y + half}C{x + bend} {y + half} {u - bend} {v + half} {u} {v + half}"
    out = 2 * sizes.apart // 5
    low = half + sizes.tall // 5
    u += sizes.wide if further < 0 else 0
    way = out if further < 0 else -out
    return f"M{x} {y + low}C{x - out} {y + low} {u + way} {v + low} {u} {v + low}"


def _shapes(
    at: int, spot: Spot, told: tuple[str, str], x: int, y: int, sizes: _Sizes
) -> list[Shape]:
    kind = " ".join(filter(None, ["spot", "dot" if sizes is _DOTS else "", spot.mark]))
    box = {"x": x, "y": y, "width": sizes.wide, "height": sizes.tall}
    rect: Shape = (
        "rect",
        {"class": kind, "data-spot": at, **box, "rx": min(8, sizes.wide // 2)},
        "",
    )
    if sizes is _DOTS:
        return [rect]
    shapes: list[Shape] = [
        rect,
        ("text", {"class": "call", "x": x + 12, "y": y + 17}, told[0]),
        ("text", {"class": "got", "x": x + 12, "y": y + 31}, told[1]),
    ]
    if not spot.is_marked(FOLDED):
        return shapes
    grip = {"x": x + sizes.wide, "y": y, "width": _GRIP, "height": sizes.tall, "rx": 6}
    plus = {"class": "more", "x": x + sizes.wide + 5, "y": y + 25}
    return [
        *shapes,
        ("rect", {"class": "unfold", "data-unfold": at, **grip}, ""),
        ("text", plus, "+"),
    ]


def cut_apart(texts: Sequence[str], most: int) -> list[str]:
    """Texts of at most so many letters: long ones lose their end, or, where others begin alike,
    what they have in common before they differ.
    """
    alike: dict[str, set[str]] = {}
    for text in texts:
        alike.setdefault(text[: most - 1], set()).add(text)
    return [
        text if len(text) <= most else _cut(text, alike[text[: most - 1]], most) for text in texts
    ]


def _cut(text: str, alike: set[str], most: int) -> str:
    if len(alike) == 1:
        return f"{text[: most - 1]}…"
    letters = zip(*alike, strict=False)
    same = (at for at, found in enumerate(letters) if len({*found}) > 1)
    differs = next(same, min(map(len, alike)))
    head = most // 3
    tail = text[max(head, min(differs - 4, len(text) - (most - head - 1))) :]
    room = most - head - 1
    return f"{text[:head]}…{tail if len(tail) <= room else tail[: room - 1] + '…'}"


_STEPS = 200  # steps
_TAGS = {"action": "<b>{}</b>", "actor": "<i>{}</i>"}


def html_of(trace: Trace) -> str:
    """Return the steps of a trace with what they changed, and the sequence diagram."""
    rows = [_table_row("0", "<b>init</b>", [])]
    for number, (step, changes) in enumerate(trace, 1):
        if number > _STEPS:
            rows.append(_table_row("", f"… and {trace.length - _STEPS} more", []))
            break
        label = "".join(
            _TAGS.get(kind, "{}").format(_safe(text)) for text, kind in label_parts(trace, step)
        )
        rows.append(_table_row(str(number), label, [_safe(str(change)) for change in changes]))
    error = f"<p>{_safe(trace.error)}</p>" if trace.error else ""
    loop = f"<p>back to {trace.loop}, for ever</p>" if trace.loop is not None else ""
    head = f"<p><b>{_safe(trace.property)}</b> · {trace.length} steps of {_safe(trace.spec)}</p>"
    drawn = sized(svg_of(drawing(trace))) if 0 < trace.length <= _STEPS else ""
    return f"{head}<table>{''.join(rows)}</table>{error}{loop}{drawn}"


def _table_row(number: str, label: str, changes: list[str]) -> str:
    told = "<br>".join(f"<code>{change}</code>" for change in changes)
    left = ' style="text-align: left; vertical-align: top"'  # notebooks align cells themselves
    cells = "".join(f"<td{left}>{cell}</td>" for cell in (number, label, told))
    return f"<tr>{cells}</tr>"


def _safe(text: str) -> str:
    return escape(printable(text))


def sized(svg: str) -> str:
    """Return a drawing in its own size; notebooks would make a wide one too small to be read."""
    kept = svg.replace("<svg ", '<svg style="max-width: none" ', 1)
    return f'<div style="overflow-x: auto">{kept}</div>'


def pre_of(text: str) -> str:
    """Return a report as it stands; some notebooks' style sheets have no fixed pitch for it."""
    return f'<pre style="font-family: var(--jp-code-font-family, monospace)">{_safe(text)}</pre>'


def fenced(text: str, kind: str = "text") -> str:
    """Return a text as a block of Markdown that nothing in it ends."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{kind}\n{text}\n{fence}\n"
