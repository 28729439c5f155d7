"""The mermaid texts that `statewalk export` and pages of models write, as pictures of ours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from typing import Any, Literal

from statewalk.checker.traces.exports.lanes import drawing_of, svg_of
from statewalk.checker.traces.exports.layered import Spot, layered
from statewalk.checker.traces.exports.sequence import Event

_NODE = re.compile(r'^  (\w+)(\(?)\["(.*)"\]\)?$')
_EDGE = re.compile(r'^  (\w+) -->\|"(.*)"\| (\w+)$')
_TURN = re.compile(r"^  (\w+|\[\*\]) --> (\w+)(?:: (.*))?$")
_LANE = re.compile(r"^  participant (L\d+) as (.*)$")
_NOTE = re.compile(r"^  Note over (L\d+): (\d{1,9})\. (.*?)(?: ← (.*))?$")
_ARROW = re.compile(r"^  (L\d+)->>(L\d+): (.*)$")
_BACK = re.compile(r"^  Note over L\d+: back to state (\d{1,9}), for ever$")
_MARKS = (("#quot;", '"'), ("#lt;", "<"), ("#gt;", ">"), ("#35;", "#"))
_WIDE = 1050
_CHANGES = ("~ ", "+ ", "- ")


def drawn(text: str) -> str:
    """A picture; nothing where the text is of another kind, or has an arrow of another kind."""
    if text.startswith("flowchart"):
        return _graph(text.splitlines())
    if text.startswith("stateDiagram"):
        return _graph([*_as_flowchart(text.splitlines())])
    return _sequence(text.splitlines()) if text.startswith("sequenceDiagram") else ""


def framed(drawing: dict[str, Any]) -> str:
    """A drawing in a frame. One that is too wide to be read when it is made smaller is scrolled."""
    far = " far" * (drawing["width"] > _WIDE)
    return f'<div class="lanes{far}">{svg_of(drawing, painted=False)}</div>'


def _sequence(lines: list[str]) -> str:
    """Lanes, with the last step marked where nothing goes back from it."""
    names: dict[str, str] = {}
    found: list[Event] = []
    loop = None
    for line in lines:
        if declared := _LANE.match(line):
            names[declared[1]] = _plain(declared[2])
        elif back := _BACK.match(line):
            loop = int(back[1])
        elif note := _NOTE.match(line):
            got = (_plain(note[4]),) if note[4] else ()
            lane = names.get(note[1], note[1])  # a lane may begin without being declared
            found.append(Event(int(note[2]), lane, _plain(note[3]), received=got))
        elif (arrow := _ARROW.match(line)) and found:
            kind: Literal["call", "message"] = "call" if arrow[3][:2] in _CHANGES else "message"
            told = _plain(arrow[3], "\n")
            step = found[-1].step
            source, target = (names.get(name, name) for name in (arrow[1], arrow[2]))
            found.append(Event(step, source, told, target, kind))
        elif "->" in line:
            return ""
    if not found:
        return ""
    picture = drawing_of(found, loop, bad=found[-1].step if loop is None else None)
    return f'<figure class="drawn">{framed(picture)}</figure>\n'


def _as_flowchart(lines: list[str]) -> Iterator[str]:
    """The lines of a state diagram as those of a graph."""
    turns = [(m[1], m[2], m[3] or "") for m in map(_TURN.match, lines) if m]
    first = {b for a, b, _ in turns if a == "[*]"}
    for name in dict.fromkeys(name for a, b, _ in turns for name in (a, b) if name != "[*]"):
        yield f'  {name}(["{name}"])' if name in first else f'  {name}["{name}"]'
    for a, b, label in turns:
        if a != "[*]":
            yield f'  {a} -->|"{label}"| {b}'


def _graph(lines: list[str]) -> str:
    """Boxes, and what leads from one to another, which unfolds."""
    nodes = {m[1]: (m[3].split("<br/>"), bool(m[2])) for m in map(_NODE.match, lines) if m}
    edges = [(m[1], m[3], _plain(m[2])) for m in map(_EDGE.match, lines) if m]
    if not nodes or any("--" in s and not (_NODE.match(s) or _EDGE.match(s)) for s in lines):
        return ""
    for name in (name for a, b, _ in edges for name in (a, b)):
        nodes.setdefault(name, ([name], False))  # one without a text need not be declared
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
    picture = layered(spots, [(at[a], at[b]) for a, b, _ in edges if a != b])
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
        f'<figure class="drawn">{framed({"head": [], **picture})}'
        f"<details><summary>All {len(nodes)} in full, and what leads where</summary>"
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
