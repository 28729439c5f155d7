"""A figure of a few boxes: columns from left to right, each arrow with its text.

Arrows to the next column go across, those within a column up or down, all others below the boxes,
each on a line of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from statewalk.checker.traces.exports.pictures import Shape

Arrow = tuple[str, str]

_LETTER, _LINE = 6.6, 14
_EDGE, _TALL, _BELOW = 12, 36, 46  # around all, of a box, between boxes
_LEAST, _GAP = 90, 60  # of a box, between columns
_TRACK = 24  # between arrows below the boxes


@dataclass(frozen=True)
class _Box:
    x: int
    y: int
    wide: int
    tall: int

    @property
    def middle(self) -> int:
        return self.x + self.wide // 2


def boxed(
    boxes: Mapping[str, Sequence[str]],
    first: Collection[str],
    arrows: Mapping[Arrow, Sequence[str]],
) -> dict[str, Any]:
    """Return the drawing of boxes by name with their lines, those drawn as ``first`` ones, and the
    lines of text of the arrows between them.
    """
    levels = _levels(list(boxes), first, arrows)
    made = _Figure(boxes, arrows, levels)
    made.place()
    for arrow, lines in arrows.items():
        made.draw(arrow, lines)
    shapes = [*made.ways, *made.texts]
    for at, (name, box) in enumerate(made.boxed.items()):
        rect = {"x": box.x, "y": box.y, "width": box.wide, "height": box.tall}
        rx = 16 if name in first else 6
        shapes.append(("rect", {"class": "spot", "data-spot": at, **rect, "rx": rx}, ""))
        for line, text in enumerate(boxes[name]):
            place = {"x": box.middle, "y": box.y + 22 + line * _LINE, "text-anchor": "middle"}
            shapes.append(("text", {"class": "got" if line else "call", **place}, text))
    size = {"width": made.width, "height": made.height}
    return {**size, "head": [], "shapes": shapes, "names": ["\n".join(b) for b in boxes.values()]}


def _levels(
    names: Sequence[str], first: Collection[str], arrows: Mapping[Arrow, Any]
) -> dict[str, int]:
    """Return the column of each box: how far it is from the first one."""
    start = next((name for name in names if name in first), names[0])
    levels, queue = {start: 0}, [start]
    for name in queue:
        for a, b in arrows:
            if a == name and b not in levels:
                levels[b] = levels[name] + 1
                queue.append(b)
    return {name: levels.get(name, 0) for name in names}


@dataclass
class _Figure:
    boxes: Mapping[str, Sequence[str]]
    arrows: Mapping[Arrow, Sequence[str]]
    levels: Mapping[str, int]
    boxed: dict[str, _Box] = field(default_factory=dict)
    ways: list[Shape] = field(default_factory=list)
    texts: list[Shape] = field(default_factory=list)
    width: int = 0
    height: int = 0
    ends: dict[str, int] = field(default_factory=dict)

    def place(self) -> None:
        """Place the boxes, with room for the texts between columns."""
        left = 3 * _EDGE
        for level in range(max(self.levels.values()) + 1):
            column = [name for name, at in self.levels.items() if at == level]
            wide = max(max(map(_size, self.boxes[n]), default=0) for n in column) + 28
            top = _EDGE
            for name in column:
                tall = _TALL + _LINE * (len(self.boxes[name]) - 1)
                self.boxed[name] = _Box(left, top, max(_LEAST, wide), tall)
                top += tall + _BELOW
            across = [
                max(map(_size, lines), default=0)
                for (a, b), lines in self.arrows.items()
                if self.levels[a] == level and self.levels[b] in (level, level + 1)
            ]
            left += max(_LEAST, wide) + max([0, *across]) + _GAP
        self.boxed = {name: self.boxed[name] for name in self.boxes}
        self.width = max(b.x + b.wide for b in self.boxed.values()) + _EDGE
        self.low = max(b.y + b.tall for b in self.boxed.values()) + _TRACK
        self.height = self.low - _TRACK + _EDGE

    def draw(self, arrow: Arrow, lines: Sequence[str]) -> None:
        """Draw an arrow with its text."""
        one, two = (self.boxed[name] for name in arrow)
        by = self.levels[arrow[1]] - self.levels[arrow[0]]
        if by == 1:
            self._across(one, two, lines)
        elif by == 0 and one is not two and abs(one.y - two.y) <= one.tall + _BELOW:
            self._within(one, two, lines)
        else:
            self._below(arrow, lines)

    def _across(self, one: _Box, two: _Box, lines: Sequence[str]) -> None:
        x, y = one.x + one.wide, one.y + one.tall // 2
        u, v = two.x, two.y + two.tall // 2
        bend = (u - x) // 2
        self._way(f"M{x} {y}C{x + bend} {y} {u - bend} {v} {u} {v}", f"M{u} {v}l-9 -4v8z")
        self._text((x + u) // 2, (y + v) // 2, lines)

    def _within(self, one: _Box, two: _Box, lines: Sequence[str]) -> None:
        down = two.y > one.y
        x = one.middle + (14 if down else -14)
        y, v = (one.y + one.tall, two.y) if down else (one.y, two.y + two.tall)
        self._way(f"M{x} {y}V{v}", f"M{x} {v}l-4 {'-' if down else ''}9h8z")
        wide = max(map(_size, lines), default=0) // 2 + 8
        self._text(x + wide if down else x - wide, (y + v) // 2, lines)

    def _below(self, arrow: Arrow, lines: Sequence[str]) -> None:
        two = self.boxed[arrow[1]]
        y = self.low + _LINE * (len(lines) - 1) // 2
        self.low += _TRACK + _LINE * (len(lines) - 1)
        self.height = max(self.height, y + _EDGE + _LINE * len(lines) // 2)
        (x, down), (u, up) = self._out(arrow[0], into=False), self._out(arrow[1], into=True)
        tip = f"M{u} {two.y + two.tall}l-4 9h8z"
        if self._has_below(arrow[1]):
            tip = f"M{two.x} {two.y + two.tall // 2}l-9 -4v8z"
        self._way(f"{down}V{y}H{u}{up}", tip)
        self._text((x + u) // 2, y, lines)

    def _has_below(self, name: str) -> bool:
        box = self.boxed[name]
        return any(b.x == box.x and b.y > box.y for b in self.boxed.values())

    def _out(self, name: str, *, into: bool) -> tuple[int, str]:
        """Return where an arrow below the boxes leaves one, or comes to one: at its left if another
        stands below it.
        """
        box, x = self.boxed[name], self._end(name)
        middle = box.y + box.tall // 2
        if not self._has_below(name):
            return x, f"V{box.y + box.tall}" if into else f"M{x} {box.y + box.tall}"
        x = box.x - min(x - box.x, 2 * _EDGE)
        return x, f"V{middle}H{box.x}" if into else f"M{box.x} {middle + 6}H{x}"

    def _end(self, name: str) -> int:
        """Return where the next arrow below a box ends."""
        box = self.boxed[name]
        at = self.ends[name] = self.ends.get(name, 0) + 1
        return box.x + min(box.wide - 12, 14 * at + 6)

    def _way(self, path: str, tip: str) -> None:
        self.ways.append(("path", {"class": "way", "d": path}, ""))
        self.ways.append(("path", {"class": "tip call", "d": tip}, ""))

    def _text(self, x: int, y: int, lines: Sequence[str]) -> None:
        wide = max(map(_size, lines), default=0) + 8
        tall = _LINE * len(lines) + 4
        paper = {"class": "paper", "width": wide, "height": tall}
        self.texts.append(("rect", {**paper, "x": x - wide // 2, "y": y - tall // 2}, ""))
        for at, line in enumerate(lines):
            place = {"x": x, "y": y - tall // 2 + 13 + at * _LINE, "text-anchor": "middle"}
            self.texts.append(("text", {"class": "label", **place}, line))
        self.width = max(self.width, x + wide // 2 + _EDGE)


def _size(text: str) -> int:
    return round(len(text) * _LETTER)
