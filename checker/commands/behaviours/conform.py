"""``statewalk conform``: is what a system logged a behaviour of its spec?"""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from statewalk.checker.commands.arguments import argument
from statewalk.checker.contract.options import read_count, read_seconds
from statewalk.checker.machine import streams
from statewalk.checker.verdict.exits import HOLDS, INCONCLUSIVE, VIOLATED

if TYPE_CHECKING:
    from statewalk.checker.conform.follow import Followed
    from statewalk.dsl.model import Action, Model


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
        "logs", metavar="LOG", nargs="+", help="JSON Lines; several are of several processes"
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
        "--max-hidden", type=argument(read_count), metavar="N",
        help="hidden steps between two events at most (any number)",
    )  # fmt: skip
    parser.add_argument(
        "--max-states", type=argument(read_count), default=100_000, metavar="N",
        help="states at a time at most; more is not decided (100,000)",
    )  # fmt: skip
    parser.add_argument("--timeout", type=argument(read_seconds), metavar="TIME")
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")
    parser.add_argument("--out", metavar="FILE", help="where to save the behaviour as a trace")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Follow the log, and print where it led; the exit code."""
    from statewalk.checker.api import load_within
    from statewalk.checker.conform.follow import Limits, follow, said_of
    from statewalk.checker.conform.reading import order_in, reader_of
    from statewalk.checker.contract.options import CheckOptions, read_settings
    from statewalk.checker.machine.limits import Interruptions, within
    from statewalk.checker.machine.watch import CutShort
    from statewalk.checker.report.conform import as_json, conform_page

    constants = read_settings(arguments.settings).fixed
    with Interruptions() as asked:
        model = load_within(arguments.spec, constants, CheckOptions(config=arguments.config))
        hidden = hidden_of(model, arguments.hidden)
        limits = Limits(arguments.max_hidden, arguments.max_states, asked)
        try:
            with within(model.path, "reading or following the log", arguments.timeout):
                reader = reader_of(arguments.map) if arguments.map else None
                followed = follow(model, order_in(arguments.logs, reader), hidden, limits)
        except CutShort as cut:
            return _nothing(arguments, f"before the log was read: {said_of(cut)}")
        if arguments.out and not followed.undecided:
            _save(followed, arguments.out)
        if arguments.json:
            streams.out().write(json.dumps(as_json(followed), indent=1) + "\n")
        else:
            conform_page(followed, streams.width()).show(streams.out())
    return code_of(followed)


def _nothing(arguments: argparse.Namespace, why: str) -> int:
    """Say that nothing is known; the exit code."""
    if arguments.json:
        found = {"spec": arguments.spec, "verdict": "undecided", "undecided": why}
        streams.out().write(json.dumps(found, indent=1) + "\n")
    else:
        streams.out().write(f"UNDECIDED  {why}\n")
    return INCONCLUSIVE


def code_of(followed: Followed) -> int:
    """The exit code of an answer."""
    if followed.broken:
        return VIOLATED
    if followed.conforms:
        return HOLDS
    return INCONCLUSIVE if followed.undecided else VIOLATED


def hidden_of(model: Model, given: list[str]) -> list[Action]:
    """The actions that are never logged. Raises RunError[SW393]."""
    from statewalk.checker.conform.fits import names_of
    from statewalk.dsl.errors import RunError, did_you_mean

    names = [name.strip() for text in given for name in text.split(",")]
    if names == ["all"]:
        return list(model.actions)
    known = dict.fromkeys(name for action in model.actions for name in names_of(action))
    for name in names:
        if name not in known:
            said = did_you_mean(name, list(known))
            raise RunError("SW393", f"--hidden {name}: there is no such action. {said}")
    return [a for a in model.actions if not {*names_of(a)}.isdisjoint(names)]


def _save(followed: Followed, file: str) -> None:
    from statewalk.checker.contract.search import Finding
    from statewalk.checker.traces.file import save_trace
    from statewalk.checker.traces.trace import build

    initial, steps = followed.path()
    finding = Finding("conform", "exists", initial, tuple(step for step, _ in steps))
    save_trace(build(followed.model, finding), file)
