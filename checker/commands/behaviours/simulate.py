"""``statewalk simulate``: random walks through a spec."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from statewalk.checker.behaviours.strategies import BUG_DEPTH, NAMES
from statewalk.checker.commands.arguments import add_settings, argument
from statewalk.checker.commands.behaviours.cover import add_files
from statewalk.checker.contract.options import read_count
from statewalk.checker.machine import streams
from statewalk.checker.verdict.exits import HOLDS, INCONCLUSIVE, MISTAKE, VIOLATED
from statewalk.dsl.errors import RunError

if TYPE_CHECKING:
    from statewalk.checker.behaviours.random_walk import Simulation
    from statewalk.checker.report.page import Page
    from statewalk.dsl.model import Model


def add_parser(subparsers: Any) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "simulate",
        help="walk through a spec at random",
        description="Take random walks. Finds violations fast in specs too large to check; "
        "never shows that there is none.",
        epilog="Exit codes: 0 scenarios were written (--events, --pytest) without a violation, "
        "1 a violation, 2 mistake or an exception of the spec, 3 no violation (which "
        "proves nothing).",
    )
    parser.add_argument("spec", metavar="SPEC", help="a .py or .fizz file, or a model by name")
    add_settings(parser)
    parser.add_argument("--config", metavar="NAME", help="one of the spec's configurations")
    parser.add_argument(
        "--runs", type=argument(read_count), default=100, metavar="N", help="how many walks (100)"
    )
    parser.add_argument(
        "--depth", type=argument(read_count), default=100, metavar="N", help="steps at most (100)"
    )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="S", help="equal seeds, equal walks (0)"
    )
    parser.add_argument(
        "--strategy", choices=NAMES, default="uniform", help="how steps are chosen (uniform)"
    )
    parser.add_argument(
        "--bug-depth", type=argument(read_count), metavar="D",
        help=f"with pct: how many steps have to come in a certain order ({BUG_DEPTH})",
    )  # fmt: skip
    parser.add_argument("--out", metavar="FILE", help="where to save the trace of a violation")
    add_files(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Walk, and print what was met; the exit code."""
    from statewalk.checker.api import load_within
    from statewalk.checker.behaviours.simulate import simulate
    from statewalk.checker.contract.options import CheckOptions, read_settings
    from statewalk.checker.machine.limits import Interruptions
    from statewalk.checker.report.page import Page

    bug_depth = arguments.bug_depth or BUG_DEPTH
    if arguments.bug_depth and arguments.strategy != "pct":
        said = "--bug-depth does nothing here."
        raise RunError("SW326", said, help="It goes with --strategy pct.")
    constants = read_settings(arguments.settings).fixed
    with Interruptions() as asked:
        model = load_within(arguments.spec, constants, CheckOptions(config=arguments.config))
        found = simulate(
            model,
            runs=arguments.runs,
            depth=arguments.depth,
            seed=arguments.seed,
            keep=bool(arguments.events or arguments.pytest),
            interrupted=asked,
            strategy=arguments.strategy,
            bug_depth=bug_depth,
        )
        written, ended = _write(model, found, arguments, asked)
    page = Page(streams.width())
    whole = not ended and found.running is None and not asked()
    code = HOLDS if written and whole else INCONCLUSIVE
    if found.findings:
        kind = _finding(page, model, found, arguments.out)
        code = MISTAKE if kind == "error" else VIOLATED
    else:
        page.add(
            ("NO VIOLATION MET", "head"),
            "  which proves nothing: statewalk check looks at every state",
        )
    page.blank()
    _figures(page, model, found, arguments.depth)
    if written:
        page.add(f"  written     {written}")
    if ended:
        page.add(("  ended       ", "warn"), f"before all were written: {ended}")
    settings = "".join(f" --set {shlex.quote(text)}" for text in arguments.settings)
    other = arguments.strategy != "uniform"
    settings += f" --strategy {arguments.strategy}" if other else ""
    settings += f" --bug-depth {bug_depth}" if arguments.strategy == "pct" else ""
    config = f" --config {shlex.quote(arguments.config)}" if arguments.config else ""
    page.add(
        f"  again       statewalk simulate {shlex.quote(arguments.spec)}{settings}{config} "
        f"--seed {arguments.seed} --runs {arguments.runs} --depth {arguments.depth}"
    )
    page.show(sys.stderr if arguments.events == "-" else streams.out())
    return code


def _write(
    model: Model, found: Simulation, arguments: argparse.Namespace, asked: Callable[[], bool]
) -> tuple[str, str]:
    """Write the walks that met no violation as scenarios, where that is asked for; what is to be
    said of that, and why it was ended before all were written.
    """
    if not (arguments.events or arguments.pytest):
        return "", ""
    from statewalk.checker.conform.follow import said_of
    from statewalk.checker.conform.steps import Steps
    from statewalk.checker.machine.watch import CutShort, Watchdog
    from statewalk.checker.scenarios.make import Enough
    from statewalk.checker.scenarios.scenario import Fields, Files, scenario_of

    steps = Steps(model)
    fields = Fields(model, steps)
    starts = [steps.number(state) for state in model.initial_states]
    files, enough = Files(model, arguments.events, arguments.pytest), Enough(None, asked)
    ended = ""
    with files.open(), Watchdog(enough.begin()):
        try:
            for number, (initial, taken) in enumerate(found.walks, 1):
                if ended := enough.why(number):
                    break
                if taken:
                    files.add(scenario_of(fields, starts[initial], taken, (), f"walk {number}"))
        except CutShort as cut:
            ended = said_of(cut)
    return files.said, ended


def _finding(page: Page, model: Model, found: Simulation, out: str | None) -> str:
    """Say what the last walk met, as a check does; its kind."""
    from statewalk.checker.behaviours.shrink import shrunk
    from statewalk.checker.contract.search import NO_ERROR
    from statewalk.checker.report.check import show_failure, show_violation
    from statewalk.checker.report.page import plural
    from statewalk.checker.traces.trace import build
    from statewalk.checker.verdict.conclude import violation_of
    from statewalk.checker.verdict.evidence import failure_of
    from statewalk.checker.verdict.run import PropertyResult, Result

    first = min(found.findings.values(), key=lambda f: (f.kind != "error", f.length, f.property))
    met, first = first, shrunk(model, first)
    trace = build(model, first)
    if out:
        from statewalk.checker.traces.file import save_trace

        save_trace(trace, out)
    told = PropertyResult(name=first.property, kind=first.kind, verdict="violated", trace=out)
    result = Result(spec=model.path, engine="simulation", verdict="violated", properties=(told,))
    if first.property == NO_ERROR:
        show_failure(page, result, failure_of(model, first, trace))
    else:
        show_violation(page, result, violation_of(model, first, trace), shortest=False)
    shorter = f" after {plural(met.length, 'step')}, shrunk" if first is not met else ""
    page.blank()
    page.add(
        f"  met in walk {found.runs:,}{shorter}; there may be shorter ways (statewalk check finds "
        "them)"
    )
    return first.kind


def _figures(page: Page, model: Model, found: Simulation, depth: int) -> None:
    """Print the results of the walks."""
    from statewalk.checker.report.page import number, plural

    fired = [f"{name} {number(n)}" for name, n in sorted(found.fired.items())]
    if found.running is not None:
        page.flow([("  interrupted ", "warn")], [f"in {found.running}"])
    never = sorted({a.name for a in model.actions} - set(found.fired))
    walks = [
        number(found.runs),
        plural(found.steps, "step"),
        f"the longest {number(found.longest)}",
        f"{number(found.ended)} ended",
    ]
    page.flow(["  walks       "], walks)
    page.flow(["  actions     "], fired or ["none"])
    if found.cut:
        refused = [f"{name} refused {number(n)}" for name, n in sorted(found.cut.items())]
        page.flow(["  cut         "], refused)
    if model.max_depth is not None and model.max_depth <= depth:
        page.add(f"  bounded     by the spec's bound on depth {model.max_depth}")
    if never:
        page.flow([("  never       ", "warn")], never)
    for prop in model.properties:
        if prop.of_kind.witness:
            walks_met = f"in {number(found.witnesses[prop.name])} of {plural(found.runs, 'walk')}"
            page.add(f"  witness     {prop.name} {walks_met}")
    live = [p.name for p in model.properties if not p.of_kind.searched]
    if live:
        page.flow([("  unchecked   ", "warn")], [f"{name} (liveness)" for name in live])
