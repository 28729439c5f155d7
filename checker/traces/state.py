"""A state of a trace as a person looks at it: its fields by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from statewalk.checker.states.content import Content, show_field
from statewalk.checker.states.showing import text_of
from statewalk.dsl.errors import printable

_LEFT = ' style="text-align: left"'  # notebooks align cells themselves


class TraceState(Mapping[str, Any]):
    """A state by the names of its fields, as reports show them: ``state["Client#0.inbox"]``."""

    def __init__(self, at: int, content: Content, names: Mapping[str, str]) -> None:
        self.at = at
        self._fields = {show_field(path, names): value for path, value in content.items()}

    def __getitem__(self, name: str) -> Any:
        return self._fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __str__(self) -> str:
        wide = max(map(len, self), default=0)
        lines = (f"{name:<{wide}}  {text_of(value)}" for name, value in self.items())
        return "\n".join(printable(line) for line in lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td{_LEFT}>{_safe(name)}</td>"
            f"<td{_LEFT}><code>{_safe(text_of(value))}</code></td></tr>"
            for name, value in self.items()
        )
        return f"<p>state {self.at}</p><table>{rows}</table>"

    def _repr_markdown_(self) -> str:
        lines = [f"| state {self.at} | |", "| --- | --- |"]
        lines += [f"| {_cell(name)} | {_cell(text_of(value))} |" for name, value in self.items()]
        return "\n".join(lines) + "\n"


def _safe(text: str) -> str:
    return escape(printable(text))


def _cell(text: str) -> str:
    """A text in a table of Markdown: nothing in it ends the cell or is markup."""
    found = _safe(text)
    for sign in "\\`*_[]|~":
        found = found.replace(sign, f"&#{ord(sign)};")
    return found
