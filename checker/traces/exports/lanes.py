"""A trace as a sequence diagram: roles as lanes, time downwards. Laid out here, drawn elsewhere.

Each lane begins with a band in the colour of the role's state; all that happens in the lane stands
to the right of it, and arrows go from band to band. Texts are wrapped into their lanes. What there
is to draw is told by `events`, what the states are by `bands`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any

from statewalk.checker.states.content import show_field
from statewalk.checker.states.shortening import text_of
from statewalk.checker.traces.exports.bands import Band, bands
from statewalk.checker.traces.exports.pictures import Shape, svg_of
from statewalk.checker.traces.exports.sequence import Event, events
from statewalk.checker.traces.exports.wrapping import size_of, wrapped

if TYPE_CHECKING:
    from statewalk.checker.traces.clauses import Reason
    from statewalk.checker.traces.trace import Trace


WIDTH = 860  # of a drawing, where its lanes can be made to fit
_GUTTER, _RIGHT = 40, 30  # left of the lanes: numbers; right of them: the arc of a lasso
_LETTER, _BOLD = 6.4, 7.9  # pixels, of a letter at 11 pixels, and at 13 in bold
_BAND, _PAD, _GAP = 10, 8, 12  # the band of a lane, the room right of it, between lanes
_LEAST, _MOST = 104, 270  # of what stands in a lane
_EMPTY = 60  # the least of a lane in which little stands
_FALSE = 150  # the least of the lane that has the false clause
_LINE, _ROW = 14, 8  # height of a line, and between rows
_SHOWN = 4  # lines of a text that may be shortened
_LONG = 60  # characters of a text that is not to be shortened


def drawing(trace: Trace) -> dict[str, Any]:
    """Return the sequence diagram of a trace: its size, the row of names, and everything below."""
    fails = not trace.of_kind.witness and trace.loop is None
    bad = trace.length if fails else None
    made = [*events(trace)], trace.loop, bad, bands(trace), trace.reason, trace.property
    return drawing_of(*made, _held(trace))


def to_svg(trace: Trace) -> str:
    """Return a trace as a sequence diagram that any browser shows."""
    return svg_of(drawing(trace), alone=True)


def drawing_of(
    found: list[Event],
    loop: int | None,
    bad: int | None,
    states: Mapping[str, Band] | None = None,
    reason: Reason | None = None,
    name: str = "",
    held: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Any]:
    """Return the same of events; ``bad`` is the step that should not have happened, ``states``
    the bands of lanes, ``reason`` what is false of the property of a ``name``, and ``held`` by
    lane the values of fields where it is false.
    """
    names = list(dict.fromkeys(n for e in found for n in (e.source, e.target) if n))
    states = {lane: band for lane, band in (states or {}).items() if lane in names}
    false = _False.of(reason, name, names, found, held or {})
    if false is not None and false.lane not in names:
        names.append(false.lane)
    lanes = _lanes(found, names, states, false)
    made = _Drawing(lanes, states, false)
    if found and (states or (false is not None and false.at == 0)):
        made.start()
    for step, group in groupby(found, key=lambda e: e.step):
        made.row(step, list(group), bad=step == bad)
    return made.result(loop)


def _held(trace: Trace) -> dict[str, list[str]]:
    """Return by lane the short values of fields that the property reads where it is false, and of
    fields of the same names elsewhere: who disagrees with whom is seen there.
    """
    reason = trace.reason
    if reason is None or not 0 <= reason.at < len(trace.contents):
        return {}
    names = {place.rpartition(".")[2] for place in reason.reads}
    found: dict[str, list[str]] = {}
    for path, value in trace.contents[reason.at].items():
        owner, _, name = show_field(path, trace.names).partition(".")
        if name in names and len(text := f"{name} = {text_of(value)}") <= _LONG:
            found.setdefault(owner, []).append(text)
    return found


@dataclass(frozen=True)
class _Lane:
    """A lane: its number, where its band begins, and how much room there is right of it."""

    at: int
    name: str
    left: int
    room: int

    @property
    def text(self) -> int:
        """The column in which texts begin."""
        return self.left + _BAND + _PAD

    @property
    def end(self) -> int:
        return self.text + self.room


@dataclass(frozen=True)
class _False:
    """The false clause: its lines, in which lane it stands, below which step; by lane values that
    are held there.
    """

    lines: tuple[str, ...]
    lane: str
    at: int
    held: Mapping[str, Sequence[str]]

    @classmethod
    def of(
        cls,
        reason: Reason | None,
        name: str,
        names: Sequence[str],
        found: Sequence[Event],
        held: Mapping[str, Sequence[str]],
    ) -> _False | None:
        if reason is None or not names or reason.innermost is None:
            return None
        here = [n for e in found if e.step == reason.at for n in (e.target, e.source) if n]
        named = [lane for lane in reason.lanes if lane in names]
        lane = next((n for n in named if n in here), None) or next(iter(named), None)
        lines = [f"✗ {name}" if name else "✗"]
        shown: set[str] = set()
        for clause in reversed(reason.clauses):
            said = f"{clause.text} is {str(clause.truth).lower()}" if clause.file else clause.text
            told = sorted(clause.values, key=lambda one: len(one[1]) > _LONG)  # long ones last
            values = [f"{n} = {v}" for n, v in told if n and n not in shown]
            shown |= {n for n, _ in clause.values}
            lines += [said, *values] if clause is reason.innermost else values
        shown_in = {of: values for of, values in held.items() if of in names}
        return cls(tuple(lines), lane or (here or list(names))[-1], reason.at, shown_in)


def _lanes(
    found: Sequence[Event], names: Sequence[str], states: Mapping[str, Band], false: _False | None
) -> dict[str, _Lane]:
    """Return the lanes: as wide as what they hold, narrower where all would not fit."""
    wanted = {name: max(_EMPTY, round(len(name) * _BOLD)) for name in names}
    order = {name: at for at, name in enumerate(names)}

    def want(lane: str, text: str) -> None:
        wanted[lane] = max(wanted[lane], min(_MOST, size_of(text, _LETTER) + 18))

    for event in found:
        for text in [event.text, *event.received] if not event.target else []:
            want(event.source, text)
        for note in event.changes:
            want(event.target or event.source, note.text)
        if event.kind == "message" and abs(order[event.source] - order[event.target]) == 1:
            want(min(event.source, event.target, key=order.__getitem__), event.text)
    for lane, band in states.items():
        for value in band.values:
            want(lane, value or "")
    if false is not None:
        wanted[false.lane] = max(wanted[false.lane], _FALSE)
        for lane, line in [
            *((false.lane, line) for line in false.lines),
            *((lane, line) for lane, values in false.held.items() for line in values),
        ]:
            want(lane, line)
    read = {
        e.target or e.source
        for e in found
        for note in e.changes
        if note.whole and len(note.text) > _LONG
    }
    around = _GUTTER + _RIGHT + len(names) * (_BAND + _PAD + _GAP)
    most = _level(list(wanted.values()), WIDTH - around)
    lanes, left = {}, _GUTTER
    for at, (name, room) in enumerate(wanted.items()):
        least = _FALSE if name in read or (false is not None and false.lane == name) else _LEAST
        lanes[name] = _Lane(at, name, left, min(room, max(most, least)))
        left = lanes[name].end + _GAP
    return lanes


def _level(sizes: list[int], room: int) -> int:
    """Return the size to which the largest have to be cut, for all to fit."""
    left, count = room, len(sizes)
    for size in sorted(sizes):
        if size * count >= left:
            return left // count
        left -= size
        count -= 1
    return max(sizes, default=0)


@dataclass
class _Drawing:
    """The rows so far: ``top`` is where the next begins, ``free`` by lane where there is room."""

    lanes: Mapping[str, _Lane]
    states: Mapping[str, Band]
    false: _False | None
    top: int = 4
    backs: list[Shape] = field(default_factory=list)
    shapes: list[Shape] = field(default_factory=list)
    tops: dict[int, int] = field(default_factory=dict)
    turns: dict[str, list[tuple[int, str]]] = field(default_factory=dict)

    def start(self) -> None:
        """Draw the states in which the lanes begin."""
        self._begin(0)
        for lane in self.states:
            self._pill(lane, 0)
        self._why(0)
        self._end(0)

    def row(self, step: int, found: list[Event], *, bad: bool) -> None:
        """Draw a step: what its actor does, what that changes, and its arrows."""
        self._begin(step)
        first, arrows = found[0], found[1:]
        self._note(first, bad=bad)
        self._changes(first.source, first)
        for event in arrows:
            if event.kind == "message":
                self._message(event)
            else:
                self._call(event)
        for lane in self.states:
            self._pill(lane, step)
        self._why(step)
        self._end(step)

    def result(self, loop: int | None) -> dict[str, Any]:
        """Return the drawing."""
        width = max((lane.end for lane in self.lanes.values()), default=_GUTTER) + _RIGHT
        for _, attributes, _ in self.backs:
            attributes["width"] = width
        if loop is not None and self.tops:
            self.shapes += _arc(self.tops, loop, self.top, width)
        head: list[Shape] = [
            ("text", {"class": "name", "x": lane.left, "y": 23}, _named(name, lane.room + _BAND))
            for name, lane in self.lanes.items()
        ]
        named = [
            {"name": name, "left": lane.left, "end": lane.end} for name, lane in self.lanes.items()
        ]
        shapes = [*self.backs, *self._lives(), *self.shapes]
        size = {"width": width, "height": self.top + 8}
        return {**size, "head": head, "lanes": named, "shapes": shapes}

    def _begin(self, step: int) -> None:
        self.tops[step] = self.top
        self.free = dict.fromkeys(self.lanes, self.top + _ROW)

    def _end(self, step: int) -> None:
        bottom = max([self.top + 30, *(y + _ROW for y in self.free.values())])
        row = {"class": "row", "x": 0, "y": self.top, "width": 0, "height": bottom - self.top}
        self.backs.append(("rect", {**row, "data-step": step}, ""))
        number = {"class": "number", "x": 26, "y": self.top + 22, "text-anchor": "end"}
        self.shapes.append(("text", number, str(step)))
        self.top = bottom

    def _lines(self, lane: str, kind: str, lines: Sequence[str]) -> None:
        """Put lines of text into a lane, below what is there."""
        of = self.lanes[lane]
        for line in lines:
            self.shapes.append(_text(kind, of, of.text, self.free[lane] + 11, line))
            self.free[lane] += _LINE

    def _boxed(self, lane: str, kind: str, lines: Sequence[tuple[str, str]], **more: Any) -> None:
        of, top = self.lanes[lane], self.free[lane]
        bold = {"false": _BOLD - 0.4}
        wide = max(size_of(text, bold.get(of_text, _LETTER)) for text, of_text in lines) + 16
        box = {"x": of.text - 6, "y": top, "width": min(wide, of.room + 6), "rx": 6}
        tall = {"height": len(lines) * _LINE + 8, "data-lane": of.at}
        self.shapes.append(("rect", {"class": kind, **box, **tall, **more}, ""))
        self.free[lane] = top + 4
        for text, of_text in lines:
            self._lines(lane, of_text, [text])
        self.free[lane] += 6

    def _note(self, event: Event, *, bad: bool) -> None:
        crash = event.text.startswith("crash")
        room = self.lanes[event.source].room - 8
        lines = [(line, "call") for line in wrapped(event.text, room, _LETTER)]
        for text in event.received:
            got = wrapped(f"← {text}", room, _LETTER, hang="   ")
            lines += [(line, "got") for line in got]
        kind = "note" + " bad" * bad + " crash" * crash
        self._boxed(event.source, kind, lines, **{"data-step": event.step})

    def _changes(self, lane: str, event: Event) -> None:
        of = self.lanes[lane]
        for note in event.changes:
            if (band := self.states.get(lane)) is not None and band.place == note.place:
                continue  # the pill says it
            lines = wrapped(note.text, of.room, _LETTER, hang="  ")
            if len(lines) > _SHOWN and not note.whole:
                lines = [*lines[: _SHOWN - 1], f"{lines[_SHOWN - 1][:-1]}…"]
            self._lines(lane, "own read" if note.whole else "own", lines)

    def _between(self, event: Event) -> tuple[_Lane, _Lane, list[str]]:
        one, two = self.lanes[event.source], self.lanes[event.target]
        low, high = sorted((one.at, two.at))
        return one, two, [n for n, lane in self.lanes.items() if low <= lane.at <= high]

    def _message(self, event: Event) -> None:
        one, two, over = self._between(event)
        low, high = (one, two) if one.at < two.at else (two, one)
        room = high.left - low.text - 8
        lines = wrapped(event.text, room, _LETTER, hang="  ")
        top = max(self.free[n] for n in over)
        for at, line in enumerate(lines):
            tag, place, shown = _text("label", low, low.text, top + 11 + at * _LINE, line)
            self.shapes.append((tag, {**place, "data-end": high.at}, shown))
        y = top + len(lines) * _LINE + 5
        self.shapes += _arrow(event, one, two, y)
        self.free |= dict.fromkeys(over, y + 7)

    def _call(self, event: Event) -> None:
        one, two, over = self._between(event)
        y = max(self.free[n] for n in over) + 6
        self.shapes += _arrow(event, one, two, y)
        self.free |= dict.fromkeys(over, y + 6)
        self._changes(event.target, event)

    def _pill(self, lane: str, step: int) -> None:
        """Say the state that a lane is in from here, where it is another one."""
        band, of = self.states[lane], self.lanes[lane]
        word = band.values[step] if step < len(band.values) else None
        if step and not band.turns(step):
            return
        y = self.free[lane] + 2
        kind = f"s{band.colours[word]}" if word is not None else "s"
        text = "—" if word is None else word
        wide = min(of.room + _BAND, size_of(text, _BOLD) + 14)
        box = {"x": of.left, "y": y, "width": wide, "height": 18, "rx": 5, "data-lane": of.at}
        self.shapes.append(("rect", {"class": f"pill {kind}", **box}, ""))
        fitted = wrapped(text, of.room, _LETTER)[0]
        self.shapes.append(_text("state", of, of.left + 8, y + 13, fitted))
        self.turns.setdefault(lane, []).append((y, kind))
        self.free[lane] = y + 22

    def _why(self, step: int) -> None:
        """Say what is false from here, and what the lanes hold."""
        false = self.false
        if false is None or false.at != step:
            return
        room = self.lanes[false.lane].room - 8
        lines = [
            (line, "false" if at < 2 else "falsity")
            for at, text in enumerate(false.lines)
            for line in wrapped(text, room, _LETTER if at > 1 else _BOLD - 0.4, hang="  ")
        ]
        self.free[false.lane] += 3
        self._boxed(false.lane, "note why", lines, **{"data-step": step})
        for lane, values in false.held.items():
            room = self.lanes[lane].room - 8
            lines = [
                (line, "read")
                for text in values
                for line in wrapped(text, room, _LETTER, hang="  ")
            ]
            self.free[lane] += 3
            self._boxed(lane, "note held", lines, **{"data-step": step})

    def _lives(self) -> list[Shape]:
        """Return the bands, and lines where a lane has none."""
        found: list[Shape] = []
        for name, lane in self.lanes.items():
            turns = self.turns.get(name, [])
            x = lane.left + _BAND // 2
            if not turns:
                life = {"class": "life", "x1": x, "y1": 0, "x2": x, "y2": self.top}
                found.append(("line", life, ""))
            ends = [y for y, _ in turns[1:]] + [self.top]
            for (y, kind), end in zip(turns, ends, strict=False):
                band = {"x": lane.left, "y": y + 4, "width": _BAND, "height": end - y}
                found.append(("rect", {"class": f"band {kind}", **band}, ""))
        return found


def _text(kind: str, lane: _Lane, x: int, y: int, text: str) -> Shape:
    """Return a line of text; blanks at its beginning become room."""
    shown = text.lstrip(" ")
    place = {"class": kind, "x": x + 4 * (len(text) - len(shown)), "y": y, "data-lane": lane.at}
    return ("text", place, shown)


def _named(name: str, width: int) -> str:
    """Return the name above a lane, with its end, which tells instances apart."""
    most = int(width / _BOLD)
    return name if len(name) <= most else f"{name[: most - 7]}…{name[-6:]}"


def _arrow(event: Event, one: _Lane, two: _Lane, y: int) -> list[Shape]:
    """Return an arrow from band to band."""
    way = 1 if two.at > one.at else -1
    start = one.left + (_BAND if way > 0 else 0)
    end = two.left + (0 if way > 0 else _BAND)
    tip = end - 7 * way if event.kind == "lost" else end
    line = {"class": event.kind, "x1": start, "y1": y, "x2": tip, "y2": y}
    parts: list[Shape] = [("line", {**line, "data-step": event.step}, "")]
    if event.kind == "lost":
        cross = f"M{end - 5} {y - 5}l10 10m0 -10l-10 10"
        return [*parts, ("path", {"class": "lost", "d": cross}, "")]
    head = f"M{end} {y}l{-9 * way} -4v8z"
    return [*parts, ("path", {"class": f"tip {event.kind}", "d": head}, "")]


def _arc(tops: Mapping[int, int], loop: int, bottom: int, width: int) -> list[Shape]:
    """Return the way back of a lasso, at the right: to where the first step of the cycle begins."""
    x = width - _RIGHT + 4
    high = tops.get(loop + 1, bottom - 10) + 6
    low = bottom - 6
    path = f"M{x} {low}h8q8 0 8 -8V{high + 8}q0 -8 -8 -8h-8"
    return [
        ("path", {"class": "arc", "d": path}, ""),
        ("path", {"class": "arc tip", "d": f"M{x - 2} {high}l9 -4v8z"}, ""),
    ]
