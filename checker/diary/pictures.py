"""The mermaid texts that `statewalk export` writes, as pictures of ours."""

from __future__ import annotations

import re
from html import escape
from typing import Literal

from statewalk.checker.traces.exports.lanes import drawing_of, svg_of
from statewalk.checker.traces.exports.layered import Spot, layered
from statewalk.checker.traces.exports.sequence import Event

_NODE = re.compile(r'^  (n\d+)(\(?)\["(.*)"\]\)?$')
_EDGE = re.compile(r'^  (n\d+) -->\|"(.*)"\| (n\d+)$')
_LANE = re.compile(r"^  participant (L\d+) as (.*)$")
_NOTE = re.compile(r"^  Note over (L\d+): (\d+)\. (.*?)(?: ← (.*))?$")
_ARROW = re.compile(r"^  (L\d+)->>(L\d+): (.*)$")
_BACK = re.compile(r"^  Note over L\d+: back to state (\d+), for ever$")
_MARKS = (("#quot;", '"'), ("#lt;", "<"), ("#gt;", ">"), ("#35;", "#"))
_CHANGES = ("~ ", "+ ", "- ")


def drawn(text: str) -> str:
    """A picture; nothing where the text is of another kind."""
    if text.startswith("flowchart"):
        return _graph(text.splitlines())
    return _sequence(text.splitlines()) if text.startswith("sequenceDiagram") else ""


def _sequence(lines: list[str]) -> str:
    """Lanes, with the last step marked where nothing goes back from it."""
    names: dict[str, str] = {}
    found: list[Event] = []
    loop = None
    for line in lines:
        if lane := _LANE.match(line):
            names[lane[1]] = _plain(lane[2])
        elif back := _BACK.match(line):
            loop = int(back[1])
        elif note := _NOTE.match(line):
            got = (_plain(note[4]),) if note[4] else ()
            found.append(Event(int(note[2]), names[note[1]], _plain(note[3]), received=got))
        elif (arrow := _ARROW.match(line)) and found:
            kind: Literal["call", "message"] = "call" if arrow[3][:2] in _CHANGES else "message"
            told = _plain(arrow[3], "\n")
            step = found[-1].step
            found.append(Event(step, names[arrow[1]], told, names[arrow[2]], kind))
    if not found:
        return ""
    picture = drawing_of(found, loop, bad=found[-1].step if loop is None else None)
    shown = svg_of(picture, painted=False)
    return f'<figure class="drawn"><div class="lanes">{shown}</div></figure>\n'


def _graph(lines: list[str]) -> str:
    """Boxes, and its states and steps, which unfold."""
    nodes = {m[1]: (m[3].split("<br/>"), bool(m[2])) for m in map(_NODE.match, lines) if m}
    edges = [(m[1], m[3], _plain(m[2])) for m in map(_EDGE.match, lines) if m]
    if not nodes:
        return ""
    initial = [name for name, (_, first) in nodes.items() if first] or list(nodes)[:1]
    levels = _levels(initial, edges)
    at = {name: number for number, name in enumerate(nodes)}
    spots = [
        Spot(
            levels.get(name, 0),
            _short(fields[0]),
            ", ".join(map(_short, fields[1:])),
            "start" if first else "",
        )
        for name, (fields, first) in nodes.items()
    ]
    picture = svg_of(
        {"head": [], **layered(spots, [(at[a], at[b]) for a, b, _ in edges if a != b])},
        painted=False,
    )
    told = "".join(
        f"<li><pre>{escape(chr(10).join(map(_plain, fields)))}</pre>"
        + "".join(
            f"<p><code>{escape(label)}</code> leads to {at[b] + 1}</p>"
            for a, b, label in edges
            if a == name
        )
        + "</li>"
        for name, (fields, _) in nodes.items()
    )
    return (
        f'<figure class="drawn"><div class="lanes">{picture}</div>'
        f"<details><summary>{len(nodes)} states, and the steps between them</summary>"
        f"<ol>{told}</ol></details></figure>\n"
    )


def _levels(first: list[str], edges: list[tuple[str, str, str]]) -> dict[str, int]:
    """How far each node is from the first ones."""
    levels = dict.fromkeys(first, 0)
    todo = list(first)
    for name in todo:
        for a, b, _ in edges:
            if a == name and b not in levels:
                levels[b] = levels[name] + 1
                todo.append(b)
    return levels


def _plain(text: str, between: str = ", ") -> str:
    text = text.replace("<br/>", between)
    for mark, letter in _MARKS:
        text = text.replace(mark, letter)
    return text


def _short(field: str) -> str:
    """A field and its value, without the name of its class."""
    return re.sub(r"^(\w+)\.", "", re.sub(r"^\w+(#\d+)\.", r"\1 ", _plain(field)))
