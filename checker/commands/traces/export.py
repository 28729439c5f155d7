"""``statewalk export``: a trace, or a small state graph, for other tools."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from statewalk.checker.machine import streams
from statewalk.checker.verdict.exits import HOLDS


def add_parser(subparsers: Any) -> None:
    """Add the command to the parser."""
    from statewalk.checker.traces.exports import FORMATS

    listed = "; ".join(f"{name}: {text}" for name, (_, text) in FORMATS.items())
    parser = subparsers.add_parser(
        "export",
        help="convert a trace or a state graph for other tools",
        description="Write a saved trace in the format of another tool, or draw the state graph of "
        "a spec (a spec instead of a trace, --format dot or mermaid).",
        epilog=f"Formats: {listed}.",
    )
    parser.add_argument("source", metavar="TRACE", help="a *.trace.json file, or a spec or model")
    parser.add_argument(
        "--format", choices=list(FORMATS), required=True, help="the format to write"
    )
    parser.add_argument("--out", metavar="FILE", help="where to write it (standard output)")
    parser.add_argument(
        "--mbt", action="store_true", help="itf: add the variables that test drivers read"
    )
    parser.add_argument(
        "--by",
        metavar="FIELDS",
        default="",
        help="graph: one node for all states alike in these fields",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        dest="settings",
        metavar="NAME=VALUE",
        help="graph: a constant",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write; the exit code."""
    from statewalk.dsl.errors import printable

    text = printable(_text(arguments))
    if arguments.out:
        from statewalk.checker.machine.files import write_text

        write_text(Path(arguments.out), text, named=True)
    else:
        streams.out().write(text)
    return HOLDS


def _text(arguments: argparse.Namespace) -> str:
    from statewalk.checker.library import spec_path
    from statewalk.dsl.errors import RunError

    source = spec_path(arguments.source)
    if source.endswith((".py", ".fizz")):
        if arguments.format not in ("dot", "mermaid"):
            raise RunError(
                "SW322",
                f"A state graph can be written as dot or mermaid, not as {arguments.format}.",
            )
        from statewalk.checker.api import load
        from statewalk.checker.contract.options import read_settings
        from statewalk.checker.machine.limits import Interruptions, within
        from statewalk.checker.traces.exports.dot import graph_to_dot, graph_to_mermaid

        with Interruptions(), within(source, "drawing the graph"):
            model = load(source, read_settings(arguments.settings).fixed)
            write = graph_to_dot if arguments.format == "dot" else graph_to_mermaid
            return write(model, tuple(b for b in arguments.by.split(",") if b))
    from statewalk.checker.traces.exports import export_trace
    from statewalk.checker.traces.reading import load_trace

    trace = load_trace(arguments.source)
    if arguments.format == "itf":
        from statewalk.checker.traces.exports.plain import to_itf

        return to_itf(trace, mbt=arguments.mbt)
    return export_trace(trace, arguments.format)
