"""``statewalk eval``: an expression in each state of a saved trace."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from statewalk.checker.machine import streams
from statewalk.checker.verdict.exits import DIVERGED, HOLDS

if TYPE_CHECKING:
    from statewalk.checker.explore.expressions import Expression
    from statewalk.checker.report.page import Page
    from statewalk.checker.traces.trace import Trace
    from statewalk.dsl.view import State


def add_parser(subparsers: Any) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "eval",
        help="evaluate expressions in each state of a trace",
        description="Repeat a saved trace, and print the value of each expression in each state. "
        "An expression is Python over the names of the spec's main module, or the name of "
        "a property.",
        epilog="Exit codes: 0 evaluated, 5 the trace does not happen any more, 2 mistake.",
    )
    parser.add_argument("trace", metavar="TRACE", help="a *.trace.json file of a run folder")
    parser.add_argument(
        "expressions", metavar="EXPR", nargs="+", help='for example "len(network.sent)"'
    )
    parser.add_argument(
        "--spec", metavar="SPEC", help="the spec to repeat it on (the one it was made from)"
    )
    parser.add_argument(
        "--changes", action="store_true", help="only the states in which a value is another one"
    )
    parser.add_argument("--json", metavar="FILE", help="also as JSON (- is standard output)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Repeat the trace, and print the values; the exit code."""
    from pathlib import Path

    from statewalk.checker.behaviours.replay import model_for, replay
    from statewalk.checker.commands.checking import STDOUT, write_json
    from statewalk.checker.commands.elsewhere import ask_to_run
    from statewalk.checker.explore.expressions import Expression
    from statewalk.checker.library import spec_path
    from statewalk.checker.machine.limits import Interruptions, within
    from statewalk.checker.report.trace import replay_page
    from statewalk.checker.traces.reading import load_trace

    trace = load_trace(arguments.trace)
    if arguments.spec is None:
        ask_to_run(trace.spec, Path(arguments.trace))
    with Interruptions(), within(spec_path(arguments.spec or trace.spec), "repeating the trace"):
        model = model_for(trace, arguments.spec)
        expressions = [Expression(model, text) for text in arguments.expressions]
        again = replay(trace, model)
        if not again.reproduced:
            replay_page(again, width=streams.width()).show(streams.out())
            return DIVERGED
        rows = [[expression.shown(state) for expression in expressions] for state in again.states]
    if arguments.json != STDOUT:
        _page(again.trace, expressions, rows, arguments.changes).show(streams.out())
    if arguments.json is not None:
        write_json(_data(again.trace, expressions, again.states), arguments.json)
    return HOLDS


def _page(
    trace: Trace, expressions: list[Expression], rows: list[list[str]], changes: bool
) -> Page:
    """Return a row for each state: its number, the step to it, a line for each value."""
    from statewalk.checker.report.page import Page

    page = Page(streams.width())
    wide = max(len(expression.text) for expression in expressions)
    last: list[str] = []
    for at, row in enumerate(rows):
        if not changes or row != last:
            label = trace.steps[at - 1].label if at else "init"
            page.add((f"{at:>5}  ", "dim"), (label, "action"))
            for expression, value in zip(expressions, row, strict=True):
                page.words((f"         {expression.text:<{wide}}  ", "dim"), value)
        last = row
    return page


def _data(trace: Trace, expressions: list[Expression], states: tuple[State, ...]) -> dict[str, Any]:
    """Return the object that ``--json`` prints; what an expression raised is an ``error``."""
    from statewalk.checker.states.json import plain

    def told(expression: Expression, state: State) -> dict[str, Any]:
        try:
            return {"value": plain(expression.value(state))}
        except Exception:
            return {"error": expression.shown(state)}

    return {
        "schema": 1,
        "spec": trace.spec,
        "expressions": [expression.text for expression in expressions],
        "states": [
            {
                "step": trace.steps[at - 1].label if at else None,
                "values": [told(expression, state) for expression in expressions],
            }
            for at, state in enumerate(states)
        ],
    }
