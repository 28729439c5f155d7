"""Traces and small state graphs in the formats of other tools. One-way: exact files are our own
traces.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from statewalk.checker.traces.trace import Trace

FORMATS: dict[str, tuple[str, str]] = {
    "itf": (
        "statewalk.checker.traces.exports.plain",
        "Informal Trace Format, for Apalache, Quint and trace viewers",
    ),
    "tlc": ("statewalk.checker.traces.exports.plain", "JSON as TLC's -dumpTrace json writes it"),
    "mermaid": ("statewalk.checker.traces.exports.sequence", "a sequence diagram for Markdown"),
    "plantuml": ("statewalk.checker.traces.exports.sequence", "a sequence diagram for PlantUML"),
    "svg": ("statewalk.checker.traces.exports.lanes", "a sequence diagram as a picture"),
    "actors": (
        "statewalk.checker.traces.exports.figures",
        "who takes part, and what goes between them (mermaid, or SVG by the name of --out)",
    ),
    "dot": ("statewalk.checker.traces.exports.dot", "a chain of states for Graphviz"),
    "json": (
        "statewalk.checker.traces.exports.plain",
        "plain JSON: states and steps, values untagged",
    ),
}


MACHINE = "machine"
"""The format that only a spec can be written in: the state machine of a role"""


PICTURE = "picture"
"""The format of the pictures that a spec declares, of a state of a trace"""


def export_trace(trace: Trace, format: str) -> str:
    """Return a trace as the text of a format of `FORMATS`."""
    module, _ = FORMATS[format]
    writer: Callable[[Trace], str] = getattr(import_module(module), f"to_{format}")
    return writer(trace)
