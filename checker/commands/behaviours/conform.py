"""``statewalk conform``: is what a system logged a behaviour of its spec?"""

from __future__ import annotations

import argparse
import json
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from statewalk.checker.commands.arguments import argument
from statewalk.checker.contract.options import read_count, read_seconds
from statewalk.checker.machine import streams
from statewalk.checker.machine.files import write_text
from statewalk.checker.verdict.exits import HOLDS, INCONCLUSIVE, VIOLATED

if TYPE_CHECKING:
    from statewalk.checker.conform.follow import Followed
    from statewalk.checker.conforming import Asked, Question


def add_parser(subparsers: Any) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "conform",
        help="check what a system logged against its spec",
        description="Ask whether the event log of a running system is a behaviour of a spec.",
        epilog="Exit codes: 0 it conforms, 1 it does not or an invariant is violated on the way, "
        "2 mistake, 3 not decided within the bounds.",
    )
    parser.add_argument("spec", metavar="SPEC", help="a .py or .fizz file, or a model by name")
    parser.add_argument(
        "logs",
        metavar="LOG",
        nargs="+",
        help="JSON Lines; several are of several processes; a folder holds many runs",
    )
    parser.add_argument("--set", action="append", default=[], dest="settings", metavar="NAME=VALUE")
    parser.add_argument("--config", metavar="NAME", help="one of the spec's configurations")
    parser.add_argument(
        "--map", metavar="FILE:FUNCTION", help="makes events of the lines of a log of any kind"
    )
    parser.add_argument(
        "--hidden", action="append", default=[], metavar="NAMES",
        help="actions that are never logged, with commas between; all: every action",
    )  # fmt: skip
    parser.add_argument(
        "--watch", action="append", default=[], metavar="FIELD",
        help="a field of which every change is logged: no hidden step changes it",
    )  # fmt: skip
    parser.add_argument(
        "--max-hidden", type=argument(read_count), metavar="N",
        help="hidden steps between two events at most (any number)",
    )  # fmt: skip
    parser.add_argument(
        "--max-states", type=argument(read_count), default=100_000, metavar="N",
        help="states at a time at most; more is not decided (100,000)",
    )  # fmt: skip
    parser.add_argument("--timeout", type=argument(read_seconds), metavar="TIME")
    parser.add_argument(
        "--jobs", type=argument(read_count), default=1, metavar="N",
        help="processes for the runs of a folder (1)",
    )  # fmt: skip
    parser.add_argument("--junit", metavar="FILE", help="write the answer as JUnit's XML")
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")
    parser.add_argument("--out", metavar="FILE", help="where to save the behaviour as a trace")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Follow the logs, and print where they led; the exit code."""
    from statewalk.checker.conforming import Asked
    from statewalk.checker.contract.options import read_settings
    from statewalk.checker.machine.limits import Interruptions

    asked = Asked(
        arguments.spec, read_settings(arguments.settings).fixed, arguments.config, arguments.map,
        tuple(arguments.hidden), tuple(arguments.watch), arguments.max_hidden,
        arguments.max_states, arguments.timeout,
    )  # fmt: skip
    with Interruptions() as interrupted:
        question = asked.question(interrupted)
        if len(arguments.logs) == 1 and Path(arguments.logs[0]).is_dir():
            return _many(arguments, asked, question)
        return _one(arguments, question)


def _one(arguments: argparse.Namespace, question: Question) -> int:
    """Follow the logs of one run."""
    from statewalk.checker.report.conform import as_json, conform_page, verdict_of
    from statewalk.checker.report.conform_runs import to_junit

    followed = question.followed(arguments.logs)
    if isinstance(followed, str):
        return _nothing(arguments, followed)
    if arguments.out and not followed.undecided:
        _save(followed, arguments.out)
    if arguments.junit:
        answer = question.told(arguments.logs, followed)
        write_text(Path(arguments.junit), to_junit(question.model, [answer]))
    if arguments.json:
        streams.out().write(json.dumps(as_json(followed), indent=1) + "\n")
    else:
        conform_page(followed, streams.width()).show(streams.out())
    return code_of([verdict_of(followed)])


def _many(arguments: argparse.Namespace, asked: Asked, question: Question) -> int:
    """Follow the logs of every run in a folder."""
    from statewalk.checker.conforming import in_processes, runs_in
    from statewalk.checker.report.conform_runs import runs_json, runs_page, to_junit

    runs = runs_in(arguments.logs[0])
    jobs = min(arguments.jobs, len(runs))
    answers = list(in_processes(asked, runs, jobs) if jobs > 1 else map(question.ask, runs))
    if arguments.junit:
        write_text(Path(arguments.junit), to_junit(question.model, answers))
    if arguments.json:
        streams.out().write(json.dumps(runs_json(question.model, answers), indent=1) + "\n")
    else:
        runs_page(question.model, answers, streams.width()).show(streams.out())
    return code_of([answer.verdict for answer in answers])


def _nothing(arguments: argparse.Namespace, why: str) -> int:
    """Say that nothing is known; the exit code."""
    if arguments.json:
        found = {"spec": arguments.spec, "verdict": "undecided", "undecided": why}
        streams.out().write(json.dumps(found, indent=1) + "\n")
    else:
        streams.out().write(f"UNDECIDED  {why}\n")
    return INCONCLUSIVE


def code_of(verdicts: Collection[str]) -> int:
    """The exit code of the answers for some runs."""
    if {"parts", "violated"}.intersection(verdicts):
        return VIOLATED
    return INCONCLUSIVE if "undecided" in verdicts else HOLDS


def _save(followed: Followed, file: str) -> None:
    from statewalk.checker.contract.search import Finding
    from statewalk.checker.traces.file import save_trace
    from statewalk.checker.traces.trace import build

    initial, steps = followed.path()
    finding = Finding("conform", "exists", initial, tuple(step for step, _ in steps))
    save_trace(build(followed.model, finding), file)
