"""Parts of a picture laid out as shapes.

A part says what is in it, never where: rows go to the right, columns down, rings around. Values
become text nodes of shapes, so nothing of a spec is markup.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

from statewalk.checker.traces.exports.pictures import Shape
from statewalk.checker.traces.exports.sketch_text import lines_of, words
from statewalk.dsl.words.draw import COLORS, Part

_LETTER, _LINE, _TITLE = 7.0, 17, 21
_PAD, _GAP, _EDGE = 8, 10, 12
_LEAST, _TALL = 30, 28  # of a box
_ARROW = 44
_GRAY = len(COLORS) - 1


def sketch_of(part: Part) -> dict[str, Any]:
    """Return a part as a drawing."""
    made = _Sketch()
    width, height = made.size(part)
    made.put(part, _EDGE, _EDGE)
    size = {"width": round(width) + 2 * _EDGE, "height": round(height) + 2 * _EDGE}
    return {**size, "head": [], "shapes": made.shapes, "text": "\n".join(lines_of(part))}


def color_of(value: Any) -> int:
    """Return the number of the color that a value gives."""
    if isinstance(value, str) and value in COLORS:
        return COLORS.index(value)
    if value is None or value is False:
        return _GRAY
    if value is True:
        return COLORS.index("green")
    if isinstance(value, int):
        return value % _GRAY
    return crc32(words(value).encode("utf-8", "backslashreplace")) % _GRAY


Size = tuple[float, float]


@dataclass
class _Sketch:
    """The shapes so far, and the sizes of parts."""

    shapes: list[Shape] = field(default_factory=list)
    sizes: dict[int, Size] = field(default_factory=dict)

    def size(self, part: Any) -> Size:
        """Return width and height of a part or value."""
        if not isinstance(part, Part):
            return len(words(part)) * _LETTER, _LINE
        known = self.sizes.get(id(part))
        if known is None:
            known = self.sizes[id(part)] = self._size(part)
        return known

    def _size(self, part: Part) -> Size:
        title = len(words(part.title)) * _LETTER + 4 if part.titled else 0.0
        above = _TITLE if part.titled else 0
        if part.kind == "grid":
            heights = [self._tallest(line) for line in part.content]
            return max(title, _sum(self._columns(part))), above + _sum(heights)
        sizes = [self.size(one) for one in part.content]
        across, down = [w for w, _ in sizes], [h for _, h in sizes]
        match part.kind:
            case "box":
                inner = sum(down) + 4 * max(0, len(down) - 1)
                least = max(_LEAST, max([0, *across]) + 2 * _PAD)
                return max(least, title + 2 * _PAD), max(_TALL, inner + above + 10)
            case "token":
                return max(24.0, across[0] + 16), 24
            case "arrow":
                return max(_ARROW, across[0] + 24), 2 * _LINE
            case "row":
                return max(title, _sum(across)), above + max([0, *down])
            case "ring":
                around = self._radius(part)
                wide, tall = 2 * around + max([0, *across]), 2 * around + max([0, *down])
                return max(title, wide), above + tall
        return max([title, *across]), above + _sum(down)

    def put(self, part: Any, x: float, y: float, room: float = 0) -> None:
        """Draw a part with its left upper corner at a place; boxes fill the room that they have."""
        width, height = self.size(part)
        if not isinstance(part, Part):
            self._text("call", x, y + 12.5, words(part))
            return
        if part.kind in ("box", "token"):
            self._box(part, x, y, max(width, room) if part.kind == "box" else width, height)
            return
        if part.titled:
            self._text("name", x, y + 12, words(part.title))
            y, height = y + _TITLE, height - _TITLE
        match part.kind:
            case "arrow":
                self._text("got", x + width / 2, y + 11, words(part.content[0]), middle=True)
                ends = (x + 3, x + width - 3)
                self._link(ends[part.strong], y + _LINE, ends[not part.strong], y + _LINE)
            case "row":
                for one in part.content:
                    wide, tall = self.size(one)
                    self.put(one, x, y + (height - tall) / 2)
                    x += wide + _GAP
            case "column":
                for one in part.content:
                    self._below(one, x, y, width)
                    y += self.size(one)[1] + _GAP
            case "grid":
                self._grid(part, x, y)
            case "ring":
                self._ring(part, x + width / 2, y + height / 2)

    def _below(self, one: Any, x: float, y: float, width: float) -> None:
        """Draw what stands in a column; an arrow there goes down."""
        if not isinstance(one, Part) or one.kind != "arrow":
            self.put(one, x, y, width)
            return
        tall = self.size(one)[1]
        ends = (y, y + tall)
        self._link(x + _ARROW / 2, ends[one.strong], x + _ARROW / 2, ends[not one.strong])
        self._text("got", x + _ARROW / 2 + 8, y + tall / 2 + 4, words(one.content[0]))

    def _box(self, part: Part, x: float, y: float, width: float, height: float) -> None:
        color = (
            f" s{n}"
            if part.colored and (n := color_of(part.color)) < _GRAY
            else " s" * part.colored
        )
        kind = f"part{color}{' strong' * part.strong}"
        rx = height / 2 if part.kind == "token" else 5
        place = {
            "x": _at(x),
            "y": _at(y),
            "width": _at(width),
            "height": _at(height),
            "rx": _at(rx),
        }
        self.shapes.append(("rect", {"class": kind, **place}, ""))
        if part.titled:
            self._text("state", x + width / 2, y + 15, words(part.title), middle=True)
        sizes = [self.size(one) for one in part.content]
        inner = sum(h for _, h in sizes) + 4 * max(0, len(sizes) - 1)
        top = y + (height - inner) / 2 + (_LINE / 2 if part.titled else 0)
        for one, (wide, tall) in zip(part.content, sizes, strict=True):
            if isinstance(one, Part):
                self.put(one, x + (width - wide) / 2, top)
            else:
                self._text("call", x + width / 2, top + 12.5, words(one), middle=True)
            top += tall + 4

    def _columns(self, part: Part) -> list[float]:
        most = max(map(len, part.content), default=0)
        return [max([0, *(self.size(line[at])[0] for line in part.content if at < len(line))])
                for at in range(most)]  # fmt: skip

    def _tallest(self, line: Sequence[Any]) -> float:
        return max([0, *(self.size(one)[1] for one in line)])

    def _grid(self, part: Part, x: float, y: float) -> None:
        columns = self._columns(part)
        for number, line in enumerate(part.content):
            tall, left = self._tallest(line), x
            for one, wide in zip(line, columns, strict=False):
                high = self.size(one)[1]
                if part.strong and not number and not isinstance(one, Part):
                    self._text("got", left, y + 12.5, words(one))
                else:
                    self.put(one, left, y + (tall - high) / 2, wide)
                left += wide + _GAP
            y += tall + _GAP

    def _radius(self, part: Part) -> float:
        widest = max([0.0, *(self.size(one)[0] for one in part.content)])
        return max(46.0, len(part.content) * (widest + _ARROW) / (2 * math.pi))

    def _ring(self, part: Part, x: float, y: float) -> None:
        around, many = self._radius(part), len(part.content)
        places = [
            (
                x + around * math.sin(2 * math.pi * at / many),
                y - around * math.cos(2 * math.pi * at / many),
            )
            for at in range(many)
        ]
        for at, one in enumerate(part.content):
            if many > 1:
                two = part.content[(at + 1) % many]
                a, b = places[at], places[(at + 1) % many]
                self._link(*self._edge(one, a, b), *self._edge(two, b, a))
        for one, (u, v) in zip(part.content, places, strict=True):
            wide, tall = self.size(one)
            self.put(one, u - wide / 2, v - tall / 2)

    def _edge(self, part: Any, at: Size, to: Size) -> Size:
        """Return where the way from the middle of a part to another place leaves the part."""
        wide, tall = self.size(part)
        dx, dy = to[0] - at[0], to[1] - at[1]
        by = min(
            (wide / 2 + 3) / abs(dx) if dx else math.inf,
            (tall / 2 + 3) / abs(dy) if dy else math.inf,
            0.5,
        )
        return at[0] + dx * by, at[1] + dy * by

    def _link(self, x: float, y: float, u: float, v: float) -> None:
        far = math.hypot(u - x, v - y) or 1
        dx, dy = (u - x) / far, (v - y) / far
        line = {"x1": _at(x), "y1": _at(y), "x2": _at(u - 7 * dx), "y2": _at(v - 7 * dy)}
        self.shapes.append(("line", {"class": "link", **line}, ""))
        left, right = ((u - 9 * dx - 4 * s * dy, v - 9 * dy + 4 * s * dx) for s in (1, -1))
        tip = f"M{_at(u)} {_at(v)}L{_at(left[0])} {_at(left[1])}L{_at(right[0])} {_at(right[1])}z"
        self.shapes.append(("path", {"class": "tip call", "d": tip}, ""))

    def _text(self, kind: str, x: float, y: float, text: str, *, middle: bool = False) -> None:
        if text:
            place: Mapping[str, Any] = {"x": _at(x), "y": _at(y)}
            centred = {"text-anchor": "middle"} if middle else {}
            self.shapes.append(("text", {"class": kind, **place, **centred}, text))


def _sum(sizes: Sequence[float]) -> float:
    return sum(sizes) + _GAP * max(0, len(sizes) - 1)


def _at(number: float) -> float | int:
    """Return a number with one decimal at most."""
    found = round(number, 1)
    return int(found) if found == int(found) else found
