"""``statewalk simulate``: random walks through a spec."""

from __future__ import annotations

import argparse
import sys
from typing import Any


def add_parser(subparsers: Any) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "simulate",
        help="walk at random through a spec",
        description="Take random steps, many times over. Finds violations fast in specs too large "
        "to check; never shows that there is none.",
        epilog="Exit codes: 1 a violation was met, 2 mistake, 3 none was met (proves nothing).",
    )
    parser.add_argument("spec", metavar="SPEC", help="a spec: a .py or .fizz file")
    parser.add_argument("--set", action="append", default=[], dest="settings", metavar="NAME=VALUE")
    parser.add_argument("--config", metavar="NAME", help="one of the spec's configurations")
    parser.add_argument("--runs", type=int, default=100, metavar="N", help="how many walks (100)")
    parser.add_argument("--depth", type=int, default=100, metavar="N", help="steps at most (100)")
    parser.add_argument(
        "--seed", type=int, default=0, metavar="S", help="equal seeds, equal walks (0)"
    )
    parser.add_argument("--out", metavar="FILE", help="where to save the trace of a violation")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Walk, and print what was met; the exit code."""
    from checker.api import load
    from checker.exits import INCONCLUSIVE, VIOLATED
    from checker.options import read_settings
    from checker.report_page import Page
    from checker.report_trace import trace_page
    from checker.simulate import simulate
    from checker.trace import build

    model = load(arguments.spec, read_settings(arguments.settings).fixed, config=arguments.config)
    found = simulate(model, runs=arguments.runs, depth=arguments.depth, seed=arguments.seed)
    page = Page(100)
    again = f"--seed {arguments.seed} --runs {arguments.runs} --depth {arguments.depth}"
    if found.findings:
        finding = min(found.findings.values(), key=lambda f: (f.length, f.property))
        trace = build(model, finding)
        page.add(
            ("VIOLATED", "bad"),
            f"  {finding.property}  ({finding.kind})  in walk {found.runs}, after "
            f"{finding.length} steps; there may be shorter ways"
        )  # fmt: skip
        page.blank()
        page.join(trace_page(trace, width=100))
        if arguments.out:
            trace.save(arguments.out)
    else:
        page.add(
            ("NO VIOLATION MET", "head"),
            "  which proves nothing: statewalk check looks at every state",
        )
    page.blank()
    fired = " · ".join(f"{name} {n}" for name, n in sorted(found.fired.items()))
    never = sorted({a.name for a in model.actions} - set(found.fired))
    page.add(
        f"  walks       {found.runs}, {found.steps} steps, the longest {found.longest}, "
        f"{found.ended} ended"
    )
    page.add(
        f"  actions     {fired or 'none'}" + (f" · never: {', '.join(never)}" if never else "")
    )
    for prop in model.properties:
        if prop.kind == "exists":
            page.add(
                f"  witness     {prop.name} in {found.witnesses[prop.name]} of {found.runs} walks"
            )
    page.add(f"  again       statewalk simulate {arguments.spec} {again}")
    page.show(sys.stdout)
    return VIOLATED if found.findings else INCONCLUSIVE
