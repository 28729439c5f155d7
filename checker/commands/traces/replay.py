"""``statewalk replay``: repeat a saved trace."""

from __future__ import annotations

import argparse
from typing import Any

from statewalk.checker.machine import streams
from statewalk.checker.verdict.exits import DIVERGED, HOLDS


def add_parser(subparsers: Any) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "replay",
        help="repeat a trace, or report where it no longer applies",
        description="Repeat a saved trace step by step, or name the step that differs, with "
        "the reason.",
        epilog="Exit codes: 0 reproduced, 5 diverged, 2 mistake (no trace, another spec).",
    )
    parser.add_argument(
        "trace", metavar="TRACE", nargs="?", help="a *.trace.json file of a run folder"
    )
    parser.add_argument(
        "--spec", metavar="SPEC", help="the spec to repeat it on (the one it was made from)"
    )
    parser.add_argument(
        "--steps", metavar="FILE", help="follow the steps a text file names, instead of a trace"
    )
    parser.add_argument(
        "--set", action="append", default=[], dest="settings", metavar="NAME=VALUE",
        help="with --steps: a constant of the spec, which comes before what the file says of it",
    )  # fmt: skip
    parser.add_argument(
        "--extend", type=int, default=0, metavar="N",
        help="with --steps: list what comes next, N steps far",
    )  # fmt: skip
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Repeat, and print what came of it; the exit code."""
    from pathlib import Path

    from statewalk.checker.behaviours.replay import replay
    from statewalk.checker.commands.elsewhere import ask_to_run
    from statewalk.checker.library import spec_path
    from statewalk.checker.machine.limits import Interruptions, within
    from statewalk.checker.report.trace import replay_page
    from statewalk.checker.traces.reading import load_trace
    from statewalk.dsl.errors import RunError

    if arguments.steps is not None:
        return run_steps(arguments)
    if arguments.trace is None:
        raise RunError(
            "SW325", "There is nothing to replay.", help="Name a trace, or --steps FILE."
        )
    trace = load_trace(arguments.trace)
    if arguments.spec is None:
        ask_to_run(trace.spec, Path(arguments.trace))
    with Interruptions(), within(spec_path(arguments.spec or trace.spec), "repeating the trace"):
        outcome = replay(trace, arguments.spec)
    replay_page(outcome, width=streams.width()).show(streams.out())
    return HOLDS if outcome.reproduced else DIVERGED


def run_steps(arguments: argparse.Namespace) -> int:
    """Follow named steps, and print where they lead; the exit code."""
    from statewalk.checker.api import load
    from statewalk.checker.behaviours.guided import extension, follow, possible, read_steps
    from statewalk.checker.library import spec_path
    from statewalk.checker.machine.limits import Interruptions, within
    from statewalk.checker.report.page import Page
    from statewalk.checker.report.trace import trace_page
    from statewalk.dsl.errors import RunError
    from statewalk.dsl.files import read_text

    if arguments.spec is None:
        raise RunError("SW325", "--steps needs a spec.", help="Say which: --spec SPEC.")
    try:
        text = read_text(arguments.steps)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        help = "Give a text file with one step on a line."
        raise RunError(
            "SW404", f"{arguments.steps} cannot be read: {reason}.", help=help
        ) from error
    with Interruptions(), within(spec_path(arguments.spec), "following the steps"):
        model = load(arguments.spec, _settings(arguments, text))
        guided = follow(model, read_steps(text))
        page = Page(streams.width())
        page.join(trace_page(guided.trace(), width=streams.width()))
        page.blank()
        if guided.failed is not None:
            step = guided.failed
            page.add((f"line {step.line}: {step.text}", "bad"), "  is disabled here")
            page.add(f"  {guided.why}")
            page.add("  possible here, each to be written as it is shown:")
            for taken in possible(model, guided.state):
                page.add(f"    {taken.step.label}")
        for line in extension(model, guided.state, arguments.extend):
            page.add(f"  next  {line}")
    page.show(streams.out())
    return HOLDS if guided.failed is None else DIVERGED


def _settings(arguments: argparse.Namespace, text: str) -> dict[str, Any]:
    """Return the constants of the options, and those that a copied report says, whole.

    Raises RunError[SW306] for one that it does not.
    """
    from statewalk.checker.behaviours.guided import read_constants
    from statewalk.checker.contract.options import read_settings
    from statewalk.dsl.errors import RunError

    given = read_settings(arguments.settings).fixed
    said = read_settings(read_constants(text)).fixed
    for name, value in said.items():
        if name not in given and "…" in value:
            raise RunError(
                "SW306",
                f"{arguments.steps} does not say all of {name}: {value}.",
                help=f"Say it with --set {name}=VALUE.",
            )
    return {**said, **given}
