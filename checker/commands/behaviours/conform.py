"""``statewalk conform``: is what a system logged a behavior of its spec?"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from statewalk.checker.commands.arguments import add_settings, argument
from statewalk.checker.contract.options import read_count, read_seconds
from statewalk.checker.machine import streams
from statewalk.checker.machine.files import write_text
from statewalk.checker.verdict.exits import HOLDS, INCONCLUSIVE, MISTAKE, VIOLATED
from statewalk.dsl.errors import RunError

MAX_STATES = 100_000

if TYPE_CHECKING:
    from statewalk.checker.conform.answer import Conformance
    from statewalk.checker.conform.followed import Followed
    from statewalk.checker.conforming import LogCheck, Question
    from statewalk.checker.graph.dataset import Shown
    from statewalk.dsl.model import Model


def add_parser(subparsers: Any) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "conform",
        help="check logs of a system against its spec",
        description="Ask whether the event log of a running system is a behavior of a spec.",
        epilog="Exit codes: 0 it conforms, 1 it does not, or violates an invariant, 2 "
        "mistake, 3 undecided within the bounds.",
    )
    parser.add_argument("spec", metavar="SPEC", help="a .py or .fizz file, or a model by name")
    parser.add_argument(
        "logs",
        metavar="LOG",
        nargs="+",
        help="JSON Lines; several are of several processes; a folder holds many runs",
    )
    add_settings(parser)
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
        "--max-states", type=argument(read_count), default=MAX_STATES, metavar="N",
        help="states at a time at most; more is not decided (100,000)",
    )  # fmt: skip
    parser.add_argument(
        "--depth-first", action="store_true",
        help="look for one behavior first, depth first",
    )  # fmt: skip
    parser.add_argument(
        "--timeout", type=argument(read_seconds), metavar="TIME",
        help="of each run: it is undecided then",
    )  # fmt: skip
    parser.add_argument(
        "--full", action="store_true", help="show the states before what is refused whole"
    )
    _add_folder_options(parser)
    parser.add_argument(
        "--graph", metavar="DIR",
        help="of a folder of runs, say which states of a graph (check --graph) were shown",
    )  # fmt: skip
    parser.add_argument("--junit", metavar="FILE", help="write the answer as JUnit's XML")
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")
    parser.add_argument("--out", metavar="FILE", help="where to save the behavior as a trace")
    parser.set_defaults(run=run)


def _add_folder_options(parser: argparse.ArgumentParser) -> None:
    """Options for what follows the runs of a folder."""
    parser.add_argument(
        "--jobs", type=argument(read_count), default=1, metavar="N",
        help="processes for the runs of a folder (1)",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Follow the logs, and print where they led; the exit code."""
    from statewalk.checker.conforming import LogCheck
    from statewalk.checker.contract.options import read_settings
    from statewalk.checker.machine.limits import Interruptions
    from statewalk.checker.report.progress import Line

    many = len(arguments.logs) == 1 and Path(arguments.logs[0]).is_dir()
    asked = LogCheck(
        arguments.spec, read_settings(arguments.settings).fixed, arguments.config, arguments.map,
        tuple(arguments.hidden), tuple(arguments.watch), arguments.max_hidden,
        arguments.max_states, arguments.timeout, arguments.depth_first,
    )  # fmt: skip
    with Interruptions() as interrupted:
        question = asked.question(interrupted, Line(sys.stderr))
        if many:
            return _many(arguments, asked, question)
        if arguments.graph:
            raise RunError(
                "SW393", "--graph says what many runs showed, and this is one.",
                help="Put its logs into a folder in a folder, and name that one.",
            )  # fmt: skip
        return _one(arguments, question)


def _one(arguments: argparse.Namespace, question: Question) -> int:
    """Follow the logs of one run."""
    from statewalk.checker.report.conform import as_json, conform_page, to_junit, verdict_of

    followed = question.followed(arguments.logs)
    page = conform_page(followed, streams.width(), full=arguments.full)
    if arguments.out and not isinstance(followed, str) and not followed.undecided:
        _save(followed, arguments.out)
    if arguments.junit:
        answer = question.told(arguments.logs, followed, page)
        write_text(Path(arguments.junit), to_junit(question.model, [answer]))
    if arguments.json:
        said = as_json(question.model.path, followed)
        streams.say(json.dumps(said, indent=1) + "\n")
    else:
        page.show(streams.out())
    return code_of([verdict_of(followed)])


def _many(arguments: argparse.Namespace, asked: LogCheck, question: Question) -> int:
    """Follow the logs of every run in a folder."""
    from statewalk.checker.conforming import runs_in
    from statewalk.checker.report.conform import runs_json, runs_page, to_junit

    model, runs = question.model, runs_in(arguments.logs[0])
    if arguments.graph:  # a mistake is told before the work
        from statewalk.checker.graph.dataset import graph_of

        graph_of(arguments.graph, model)
    answers = _answers(arguments, asked, question, runs)
    if arguments.junit:
        write_text(Path(arguments.junit), to_junit(model, answers))
    graph = _graph(arguments.graph, model, answers) if arguments.graph else None
    if arguments.json:
        said = runs_json(model, answers, graph)
        streams.say(json.dumps(said, indent=1) + "\n")
    else:
        page = runs_page(model, answers, _again(arguments), streams.width(), graph)
        page.show(streams.out())
    return code_of([answer.verdict for answer in answers])


def _answers(
    arguments: argparse.Namespace,
    asked: LogCheck,
    question: Question,
    runs: Sequence[Sequence[str]],
) -> Sequence[Conformance]:
    """Return what becomes of the runs, by what is to follow them."""
    from statewalk.checker.conforming import in_processes

    jobs = min(arguments.jobs, len(runs))
    return list(in_processes(asked, runs, jobs) if jobs > 1 else map(question.of_many, runs))


def _again(arguments: argparse.Namespace) -> str:
    """Return the command that asks the same of other logs, which are to follow."""
    said = [("--set", text) for text in arguments.settings]
    said += [("--hidden", names) for names in arguments.hidden]
    said += [("--watch", name) for name in arguments.watch]
    said += [
        (option, str(given))
        for option, given, usual in (
            ("--config", arguments.config, None),
            ("--map", arguments.map, None),
            ("--max-hidden", arguments.max_hidden, None),
            ("--max-states", arguments.max_states, MAX_STATES),
            ("--timeout", arguments.timeout, None),
        )
        if given != usual
    ]
    words = [word for pair in said for word in pair]
    words += ["--depth-first"] if arguments.depth_first else []
    return shlex.join(["statewalk", "conform", arguments.spec, *words])


def _graph(folder: str, model: Model, answers: Sequence[Conformance]) -> Shown:
    """Return which states of a graph the runs showed."""
    from statewalk.checker.graph.dataset import shown_of
    from statewalk.checker.report.conform import shown_by

    return shown_of(folder, model, shown_by(answers).states)


def code_of(verdicts: Collection[str]) -> int:
    """The exit code of the answers for some runs."""
    if "mistake" in verdicts:
        return MISTAKE
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
