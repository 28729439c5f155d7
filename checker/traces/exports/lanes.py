"""A trace as a sequence diagram: roles as lanes, time downwards. Laid out here, drawn elsewhere.

A drawing is data, a list of shapes of SVG with their attributes and texts: the page makes elements
of them, `svg_of` a text. What there is to draw is told by `events`.
"""

from __future__ import annotations

from html import escape
from itertools import groupby
from typing import TYPE_CHECKING, Any

from statewalk.checker.traces.exports.sequence import Event, events
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
    """The sequence diagram of a trace: its size, the row of names, and everything below."""
    fails = not trace.of_kind.witness and trace.loop is None
    return drawing_of(list(events(trace)), trace.loop, bad=trace.length if fails else None)


def drawing_of(found: list[Event], loop: int | None, bad: int | None) -> dict[str, Any]:
    """The same of events; ``bad`` is the step that should not have happened."""
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
    """How wide each lane is."""
    wide = {name: max(_LEAST, min(_MOST, int(len(name) * _BOLD) + 1)) for name in names}
    for event in found:
        for text in [event.text, *event.received] if event.kind == "step" else []:
            wide[event.source] = max(wide[event.source], _size(text))
    return wide


def _columns(wide: dict[str, int]) -> tuple[dict[str, int], int]:
    """Where the middle of each lane is, and how wide all are together."""
    left, centres = _GUTTER, {}
    for name, room in wide.items():
        centres[name] = left + room // 2
        left += room + _GAP
    return centres, left + _RIGHT


def _size(text: str) -> int:
    return min(_MOST, int(len(text) * _LETTER) + 22)


def _named(name: str, width: int) -> str:
    """The name above a lane, with its end, which tells instances apart."""
    most = int(width / _BOLD)
    return name if len(name) <= most else f"{name[: most - 7]}…{name[-6:]}"


def _fitted(text: str, width: int) -> str:
    most = int((width - 18) / _LETTER)
    return text if len(text) <= most else text[: most - 1] + "…"


def _row(
    found: list[Event], top: int, centres: dict[str, int], *, bad: bool
) -> tuple[list[Shape], int]:
    """What a step is drawn as, and its height."""
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
    """An arrow with its text, a line of it above, others below."""
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
    """The way back of a lasso, at the right."""
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
    """A trace as a sequence diagram that any browser shows."""
    return svg_of(drawing(trace), alone=True)


def svg_of(found: dict[str, Any], *, painted: bool = True, alone: bool = False) -> str:
    """A drawing as SVG that needs no style sheet; if not ``painted``, its classes stay for one.

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
