"""A graph of states in columns, by how far each is: boxes where they are few, dots where many.

A drawing is a list of shapes, as those of `lanes`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from statewalk.checker.traces.exports.pictures import Shape
from statewalk.checker.traces.exports.wrapping import wrapped

FEW, FEWER = 120, 24  # states that are drawn as boxes; in boxes with room for more lines
_LETTER = 6.4  # pixels of a letter
_EDGE = 8
_GRIP = 18
_NAMED, _EDGE_TEXT = 132, 24  # room between columns for texts of edges, letters of one
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
    """Of a spot, and of the room between spots; ``rows`` are in a column before the next begins.

    Each of the two texts of a box has so many ``lines`` of so many ``letters``.
    """

    wide: int
    tall: int
    apart: int
    below: int
    rows: int
    letters: int = 29
    lines: int = 1


_LARGE = _Sizes(wide=256, tall=68, apart=40, below=12, rows=FEW, letters=35, lines=2)
_BOXES = _Sizes(wide=208, tall=40, apart=40, below=12, rows=FEW)
_DOTS = _Sizes(wide=10, tall=10, apart=56, below=6, rows=48)


def layered(
    spots: Sequence[Spot],
    edges: Iterable[tuple[int, int]],
    names: Mapping[tuple[int, int], str] | None = None,
) -> dict[str, Any]:
    """Return the drawing, and by spot the text that says what it is. ``names`` are texts of edges;
    the spot that an edge leads to may say it already.
    """
    names = names or {}
    sizes = _LARGE if len(spots) <= FEWER else _BOXES if len(spots) <= FEW else _DOTS
    if names and sizes is not _DOTS:
        sizes = replace(sizes, apart=_NAMED)
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
    if sizes.apart == _NAMED:
        shapes += [_named(places[a], places[b], sizes, text) for (a, b), text in names.items()]
    labels = _lines([spot.label for spot in spots], sizes)
    news = _lines([spot.news for spot in spots], sizes)
    for at, (spot, (x, y)) in enumerate(zip(spots, places, strict=True)):
        shapes += _shapes(at, spot, (labels[at], news[at]), x, y, sizes)
    width = max(x for x, _ in places) + sizes.wide + _EDGE + _GRIP
    height = max(y for _, y in places) + sizes.tall + _EDGE
    told = [f"{spot.label}\n{spot.news}".strip() for spot in spots]
    return {"width": width, "height": height, "shapes": shapes, "names": told}


def _named(a: tuple[int, int], b: tuple[int, int], sizes: _Sizes, text: str) -> Shape:
    """Return the text of an edge, in the middle of the room that it crosses."""
    (x, y), (u, v) = a, b
    across = (x + sizes.wide + u) // 2 if u > x else (u + sizes.wide + x) // 2 if u < x else x
    low = (y + v + sizes.tall) // 2 + (4 if u > x else 12)
    shown = text if len(text) <= _EDGE_TEXT else f"{text[: _EDGE_TEXT - 1]}…"
    return ("text", {"class": "edge", "x": across, "y": low, "text-anchor": "middle"}, shown)


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
    at: int, spot: Spot, told: tuple[list[str], list[str]], x: int, y: int, sizes: _Sizes
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
    lines = [("call", line) for line in told[0]] + [("got", line) for line in told[1]]
    shapes: list[Shape] = [rect]
    for down, (kind, line) in enumerate(lines):
        shapes.append(("text", {"class": kind, "x": x + 12, "y": y + 17 + 14 * down}, line))
    if not spot.is_marked(FOLDED):
        return shapes
    grip = {"x": x + sizes.wide, "y": y, "width": _GRIP, "height": sizes.tall, "rx": 6}
    plus = {"class": "more", "x": x + sizes.wide + 5, "y": y + sizes.tall // 2 + 5}
    return [
        *shapes,
        ("rect", {"class": "unfold", "data-unfold": at, **grip}, ""),
        ("text", plus, "+"),
    ]


def _lines(texts: Sequence[str], sizes: _Sizes) -> list[list[str]]:
    """Return the lines of each text in a box."""
    if sizes.lines == 1:
        return [[text] for text in cut_apart(texts, sizes.letters)]
    found = []
    for text in cut_apart(texts, sizes.letters * sizes.lines):
        lines = wrapped(text, round(sizes.letters * _LETTER), _LETTER)
        if len(lines) > sizes.lines:
            lines[sizes.lines - 1] = f"{lines[sizes.lines - 1][: sizes.letters - 1]}…"
        found.append(lines[: sizes.lines])
    return found


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
