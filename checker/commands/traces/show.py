"""``statewalk show``: look at a saved trace. Needs no spec."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from statewalk.checker.machine import streams
from statewalk.checker.verdict.exits import HOLDS

if TYPE_CHECKING:
    from statewalk.checker.traces.trace import Trace


def add_parser(subparsers: Any) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "show",
        help="print a trace",
        description="Show a saved trace: its steps, and what each changed. The spec is not needed.",
    )
    parser.add_argument("trace", metavar="TRACE", help="a *.trace.json file of a run folder")
    parser.add_argument("--full", action="store_true", help="show every state whole")
    parser.add_argument(
        "--props", action="store_true", help="show where each property is true and where false"
    )
    parser.add_argument(
        "--html", metavar="FILE", help="write a page to look at instead: one file, for any browser"
    )
    parser.add_argument(
        "--spec", metavar="SPEC",
        help="with --html: also repeat the trace on this spec, and draw alternatives",
    )  # fmt: skip
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print a trace; the exit code."""
    from statewalk.checker.report.page import Page
    from statewalk.checker.report.trace import add_abstract, props_page, trace_page
    from statewalk.checker.traces.reading import load_trace
    from statewalk.dsl.errors import RunError

    trace = load_trace(arguments.trace)
    if arguments.spec is not None:
        if not arguments.html:
            help = "statewalk replay repeats a trace."
            raise RunError("SW325", "--spec says what a page is to have: --html FILE.", help=help)
        trace = repeated(trace, arguments.spec)
    if arguments.html:
        return write_page(trace, arguments.html)
    page = Page(streams.width())
    what = "reached" if trace.of_kind.witness else "violated"
    page.add(
        (trace.property, "head"),
        f"  ({trace.of_kind.word})  {what} after {trace.length} steps of {trace.spec}",
    )
    page.blank()
    page.join(trace_page(trace, width=page.width, full=arguments.full))
    add_abstract(page, trace)
    if arguments.props:
        page.blank()
        page.join(props_page(trace, width=page.width))
    page.show(streams.out())
    return HOLDS


def repeated(trace: Trace, spec: str) -> Trace:
    """Return a trace as it happens on a spec. Raises RunError[SW405] where it does not."""
    from dataclasses import replace

    from statewalk.checker.behaviours.replay import model_for, replay
    from statewalk.checker.library import spec_path
    from statewalk.checker.machine.limits import Interruptions, within
    from statewalk.dsl.errors import RunError

    with Interruptions(), within(spec_path(spec), "repeating the trace"):
        model = model_for(trace, spec)
        again = replay(trace, model)
    if not again.reproduced:
        said = f"The trace does not happen on {spec}: at step {again.step}, {again.why}."
        raise RunError("SW405", said, help="Without --spec the page has what the trace holds.")
    return replace(again.trace, model=model)


def write_page(trace: Trace, file: str) -> int:
    """Write the page of a trace; the exit code."""
    from statewalk.checker.machine.files import write_text
    from statewalk.checker.page.data import of_trace
    from statewalk.checker.page.html import to_html

    help = "Give another place with --html FILE."
    write_text(Path(file), to_html(of_trace(trace)), help=help, named=True)
    return HOLDS
