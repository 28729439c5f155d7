"""Parts of a picture as lines of text: for terminals, Markdown, and who cannot see the picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from statewalk.checker.states.shortening import fit
from statewalk.dsl.words.draw import Part

_WIDE = 48  # letters of a value


def words(value: Any) -> str:
    """Return a value on one line; a string as it is."""
    return (
        (value if len(value) <= _WIDE else f"{value[: _WIDE - 1]}…")
        if isinstance(value, str)
        else fit(value, _WIDE)
    )


def lines_of(part: Any) -> list[str]:
    """Return a part as lines of text: boxes in brackets, tokens in parentheses."""
    if not isinstance(part, Part):
        return [words(part)]
    title = [f"{words(part.title)}:"] if part.titled else []
    inner = [_line(one) for one in part.content] if part.kind != "grid" else []
    match part.kind:
        case "box":
            return [" ".join([*title, f"[{' '.join(inner)}]{'*' * part.strong}"])]
        case "token":
            return [f"({inner[0]})"]
        case "arrow":
            text = f"—{inner[0]}—" if inner[0] else "—"
            return [f"←{text}" if part.strong else f"{text}→"]
        case "row":
            return [" ".join([*title, *inner])]
        case "ring":
            return [" ".join([*title, " → ".join([*inner, *inner[:1]])])]
        case "grid":
            return [*title, *_table([[_line(cell) for cell in line] for line in part.content])]
    return [*title, *(line for one in part.content for line in lines_of(one))]


def _line(part: Any) -> str:
    return "; ".join(lines_of(part))


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    wide = [max((len(row[at]) for row in rows if at < len(row)), default=0)
            for at in range(max(map(len, rows), default=0))]  # fmt: skip
    return ["  ".join(c.ljust(w) for c, w in zip(row, wide, strict=False)).rstrip() for row in rows]
