"""Texts broken into lines of a width, where something begins in them."""

from __future__ import annotations

import re

# where a long word may be broken; each, where the one before it is not enough
_PLACES = (
    re.compile(r"(?<=[,;({/])(?=[^,;({/])"),
    re.compile(r"(?<=[=._\[])(?=[^=._\[])"),
    re.compile(r"(?<=[a-z])(?=[A-Z])"),
)


def size_of(text: str, letter: float) -> int:
    """Return about how wide a text is, with letters of such a width."""
    return round(len(text) * letter)


def wrapped(text: str, width: int, letter: float, *, hang: str = "") -> list[str]:
    """Return a text in lines of a width; all but the first begin with ``hang``. Nothing is left
    out: blanks are the first places to break at, then what stands after signs.
    """
    most = max(8, int(width / letter))
    lines: list[str] = []
    for part in text.split("\n"):
        lines += _wrapped(part, most, hang)
    return lines or [""]


def _wrapped(text: str, most: int, hang: str) -> list[str]:
    lines, line = [], ""
    for word in text.split(" "):
        glued = f"{line} {word}" if line.strip() else line + word
        if len(glued) <= most:
            line = glued
            continue
        pieces = [word] if len(word) <= most - len(hang) else _pieces(word, most - len(hang))
        joint = " " if line.strip() else ""
        for piece in pieces:
            if len(line) + len(joint) + len(piece) <= most:
                line += joint + piece
            else:
                if line.strip():
                    lines.append(line)
                line = hang + piece
            joint = ""
    return [*lines, line]


def _pieces(word: str, most: int) -> list[str]:
    """Return the parts of a word that may stand on lines of their own."""
    parts = [word]
    for places in _PLACES:
        parts = [p for part in parts for p in (places.split(part) if len(part) > most else [part])]
    return [part[at : at + most] for part in parts for at in range(0, len(part), most)]
