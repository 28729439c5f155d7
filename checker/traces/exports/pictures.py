"""Drawings as text: SVG for files and pages, HTML and Markdown for notebooks.

A drawing is data, a list of shapes of SVG with their attributes and texts: the page makes elements
of them, `svg_of` a text.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Any

from statewalk.dsl.errors import printable

if TYPE_CHECKING:
    pass


Shape = tuple[str, dict[str, Any], str]
"""The tag, its attributes, its text"""

HEAD = 36  # height of the row of names

_STATES = ("#d8e2ff", "#fde2b8", "#cdeedd", "#ecd9fb", "#ffd6d9", "#cfeef2")
_NIGHT = ("#31406f", "#5a4213", "#1f4d36", "#4b3269", "#642f36", "#1d4a52")
_PAINT = {
    "life": {"stroke": "#c8ccd4"},
    "row": {"fill": "none"},
    "s": {"fill": "#e8eaef"},
    **{f"s{at}": {"fill": colour} for at, colour in enumerate(_STATES)},
    "note": {"fill": "#f4f5f8", "stroke": "#c8ccd4"},
    "bad": {"fill": "#fdecec", "stroke": "#c2352b"},
    "why": {"fill": "#fdecec", "stroke": "#c2352b"},
    "message": {"stroke": "#3d5bd9"},
    "call": {"stroke": "#7a8190"},
    "lost": {"stroke": "#c2352b", "fill": "none"},
    "arc": {"stroke": "#c2352b", "fill": "none"},
    "paper": {"fill": "#fff"},
    "tip": {"fill": "#5b6472"},
    "spot": {"fill": "#fff", "stroke": "#b9bfcc"},
    "way": {"stroke": "#7a8190", "fill": "none"},
    "part": {"fill": "#fff", "stroke": "#7a8190"},
    "strong": {"stroke": "#1b1f2a", "stroke-width": "2"},
    "link": {"stroke": "#7a8190", "stroke-width": "1.5"},
    "again": {"stroke": "#3b5bdb", "stroke-dasharray": "4 3"},
}
_LETTERS = {
    "name": {"font-weight": "600", "font-size": "13"},
    "state": {"font-weight": "600"},
    "false": {"font-weight": "700", "fill": "#b9302a"},
    "got": {"fill": "#5b6472"},
    "own": {"fill": "#5b6472"},
    "read": {"fill": "#1b1f2a"},
    "number": {"fill": "#5b6472"},
}


_DARK = (
    """<style>@media (prefers-color-scheme: dark) {
rect[fill="#fff"] { fill: #16181d } text { fill: #e3e6ec }
text[fill="#5b6472"] { fill: #a9b1c0 } text[fill="#1b1f2a"] { fill: #e3e6ec }
text[fill="#b9302a"] { fill: #ff8a80 }
rect[fill="#f4f5f8"] { fill: #262a33; stroke: #4b5262 } rect[fill="#fdecec"] { fill: #4a1f1d }
rect[fill="#e8eaef"] { fill: #2a2f3a }
[stroke="#1b1f2a"] { stroke: #e3e6ec } [stroke="#c8ccd4"] { stroke: #3a404d }
[stroke="#3d5bd9"] { stroke: #8ea2ff }
"""
    + "".join(
        f'rect[fill="{day}"] {{ fill: {night} }}\n'
        for day, night in zip(_STATES, _NIGHT, strict=True)
    )
    + "}</style>"
)
_ASKED = ("data-step", "data-spot", "data-lane", "data-end")  # what only the page asks for


def svg_of(found: dict[str, Any], *, painted: bool = True, alone: bool = False) -> str:
    """Return a drawing as SVG that needs no style sheet; if not ``painted``, its classes stay
    for one.

    One that stands ``alone`` in a file has dark colours too; in a page they would reach others.
    """
    head = HEAD if found["head"] else 0
    width, height = found["width"], found["height"] + head
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">',
        *([_DARK] if alone else []),
        *(['<rect width="100%" height="100%" fill="#fff"/>'] if painted else []),
        *(_text(shape, painted) for shape in found["head"]),
        f'<g transform="translate(0 {head})">',
        *(_text(shape, painted) for shape in found["shapes"]),
        "</g></svg>\n",
    ]
    return "\n".join(lines)


_NAMED = {
    "#fff": "card",
    "#1b1f2a": "ink",
    "#5b6472": "dim",
    "#7a8190": "dim",
    "#c8ccd4": "line",
    "#f4f5f8": "soft",
    "#e8eaef": "soft",
    **{colour: f"s{at}" for at, colour in enumerate(_STATES)},
}  # what the colours are called by a page's style sheet


def in_colours(svg: str) -> str:
    """Return a painted picture with the colours of the page that it stands in, light or dark."""
    named = re.sub(
        r'="(#[0-9a-f]{3,6})"',
        lambda found: f'="var(--{_NAMED[found[1]]})"' if found[1] in _NAMED else found[0],
        svg,
    )
    return named.replace("<svg ", '<svg fill="var(--ink)" ', 1)


def _text(shape: Shape, painted: bool) -> str:
    tag, attributes, text = shape
    paint: dict[str, str] = {}
    paints = _LETTERS if tag == "text" else _PAINT
    for name in str(attributes["class"]).split() if painted else ():
        paint |= paints.get(name, {})
    kept = {
        n: v for n, v in attributes.items() if n not in _ASKED and not (painted and n == "class")
    }
    told = "".join(f' {n}="{escape(str(v))}"' for n, v in (paint | kept).items())
    return f"<{tag}{told}>{escape(printable(text))}</{tag}>"


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
