"""Names that are imported on first use.

What a check returns shows itself in ways that know more than it: as a page, as a state graph.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from statewalk.checker.machine.extras import asking


def named(module: str, name: str) -> Any:
    """Something of a module, imported now. Raises RunError[SW329] where that needs an extra."""
    with asking():
        return getattr(import_module(module), name)


class ShownPage(Protocol):
    """A page to look at (`checker.page.html`)."""

    @property
    def html(self) -> str: ...

    def save(self, file: str | Path) -> None:
        """Write it to a file."""
        ...


class Table(Protocol):
    """States or steps as rows (`checker.graph.relations`)."""

    @property
    def columns(self) -> tuple[str, ...]: ...

    def __len__(self) -> int: ...

    def to_arrow(self) -> Any:
        """A table of Arrow."""
        ...

    def to_pandas(self) -> Any:
        """A DataFrame."""
        ...

    def to_duckdb(self) -> Any:
        """A relation of DuckDB."""
        ...


class StateGraph(Protocol):
    """All states and steps of a check (`checker.graph.relations`)."""

    folder: Path

    def states(self) -> Table: ...

    def steps(self) -> Table: ...
