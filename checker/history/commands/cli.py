"""`statewalk history check`, `convert` and `collect`.

The exit codes are those of `statewalk check`; undecided within --timeout is inconclusive.
"""

from __future__ import annotations

import argparse
import math
import re
import time
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from statewalk.checker.commands.arguments import argument
from statewalk.checker.contract.options import read_count, read_seconds
from statewalk.checker.history.commands import collect, from_trace, objects
from statewalk.checker.history.errors import HistoryError, Undecided, no_access
from statewalk.checker.machine import streams
from statewalk.checker.machine.files import write_text
from statewalk.checker.verdict.exits import HOLDS, INCONCLUSIVE, INTERNAL, MISTAKE, VIOLATED
from statewalk.dsl.errors import printable
from statewalk.dsl.library.levels import LEVELS, PREFIX

if TYPE_CHECKING:
    from statewalk.checker.history.data import History
    from statewalk.checker.history.decide.check import Options

_PLACE = "Give another place with --{} FILE."
FORMATS = ("jsonl", "viper", "edn", "polysi", "dbcop", "cobra")
WRITTEN = ("jsonl", "edn")
OF_OBJECTS = ("log",)


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register `history` with its sub-commands."""
    parser = subparsers.add_parser(
        "history",
        help="check, collect or convert histories of transactions",
        description="Black-box checking of recorded transactional histories.",
    )
    commands = parser.add_subparsers(dest="history_command", required=True, metavar="COMMAND")
    _add_check(commands)
    _add_convert(commands)
    collect.add_parser(commands)
    from_trace.add_parser(commands)


def _add_check(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    check = commands.add_parser(
        "check",
        help="say which isolation levels a recorded history keeps",
        description="Without --level: the strongest level that holds and the weakest that fails; "
        "the exit code then is about si (snapshot isolation).",
    )
    check.add_argument(
        "file", type=Path, metavar="FILE", help="a history file or log folder, or a folder of those"
    )
    check.add_argument("--level", choices=tuple(LEVELS), help="check this level only")
    _add_format(check, *OF_OBJECTS)
    check.add_argument(
        "--clock-error",
        type=argument(_time_units),
        default=0.0,
        metavar="TIME",
        help="how far clocks may differ, in the history's time unit: an end precedes a begin "
        "only if it is more than this before it",
    )
    check.add_argument("--json", metavar="FILE", help="write the result as JSON; - for output")
    check.add_argument("--svg", type=Path, metavar="FILE", help="draw the violation as lanes")
    check.add_argument("--dot", type=Path, metavar="FILE", help="write the cycle for Graphviz")
    check.add_argument(
        "--mermaid", action="store_true", help="print the cycle for Markdown, and nothing else"
    )
    check.add_argument(
        "--heuristic",
        choices=("off", "add", "double"),
        default="off",
        help="Viper's heuristic pruning of the search, for comparison; "
        "the verdict never depends on it",
    )
    _add_timeout(
        check,
        " with exit code 3; in a folder: for each file, level and explanation",
    )
    check.add_argument(
        "--certain",
        action="store_true",
        help="use only what reads, sessions and times show: quick; violations found are "
        "real, otherwise nothing is decided (exit code 3)",
    )
    objects.add_options(check)
    several = check.add_argument_group("a folder of histories")
    several.add_argument("--jobs", type=argument(read_count), metavar="N", help="processes")
    check.set_defaults(run=run_check)


def _add_convert(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    convert = commands.add_parser(
        "convert", help="write a history in another format and say what was dropped"
    )
    convert.add_argument("file", type=Path, metavar="FILE", help="a history file or log folder")
    convert.add_argument("to_file", type=Path, metavar="TO", help="the file to write")
    convert.add_argument("--to", choices=WRITTEN, default="jsonl", help="its format (jsonl)")
    _add_format(convert, *OF_OBJECTS)
    objects.add_conversion(convert)
    _add_timeout(convert, " with exit code 3, and write nothing")
    convert.set_defaults(run=run_convert)


def _add_format(parser: argparse.ArgumentParser, *of_objects: str) -> None:
    parser.add_argument(
        "--format",
        choices=("auto", *FORMATS, *of_objects),
        default="auto",
        help="the format of FILE; auto recognises it by its content",
    )
    parser.add_argument(
        "--initial",
        choices=("known", "unknown"),
        help="whether a value that nobody wrote may be the initial one",
    )


def _add_timeout(parser: argparse.ArgumentParser, covers: str) -> None:
    parser.add_argument(
        "--timeout",
        type=argument(read_seconds),
        default=math.inf,
        metavar="S",
        help=f"give up after this time (e.g. 90, 10m, 2h){covers}",
    )


def _time_units(text: str) -> float:
    """Return a span in the history's own unit of time. Raises ValueError."""
    if not re.fullmatch(r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", text.strip()):
        raise ValueError(f"'{text}' is not a number of 0 or more")
    number = float(text)
    if not math.isinf(number) and Decimal(repr(number)) != Decimal(text.strip()):
        raise ValueError(f"'{text}' would be rounded to {number!r}: give at most 15 digits")
    return number


def run_check(args: argparse.Namespace) -> int:
    """Check a history, or a folder of them, and report; the exit code."""
    if args.object:
        return objects.run(args)
    if args.html:
        raise HistoryError(
            "--html is for operations on an object", expected="--object", code="SW709"
        )
    from statewalk.checker.history.certify.replay import Mismatch
    from statewalk.checker.history.commands import many
    from statewalk.checker.history.decide.check import Options
    from statewalk.checker.machine.limits import Interruptions
    from statewalk.checker.machine.watch import CutShort, Watchdog, interruptible

    heuristic = args.heuristic != "off"
    options = Options(
        clock_error=args.clock_error,
        schedule=args.heuristic,
        guess=not heuristic,
        via_sessions=not heuristic,
        timeout=args.timeout,
        certain=args.certain,
    )
    try:
        _check_certain(args)
        folder = args.file.is_dir() and args.format in ("auto", "jsonl", "polysi", "dbcop")
        if folder and not many.is_one(args.file):
            return _check_many(args, options)
        if args.jobs:
            raise HistoryError(
                "--jobs is for a folder of histories",
                source=str(args.file),
                expected="such a folder; one history is checked by one process",
                code="SW709",
            )
        with Interruptions(), Watchdog(_limit(args), None, "reading the history"):
            began = time.process_time()
            history = _read(args)
            read = time.process_time() - began
            with interruptible("checking the history"):
                return _check(history, args, options, read)
    except (Undecided, CutShort) as end:
        if isinstance(end, CutShort) and end.reason != "time":
            raise
        streams.warn(f"{args.file}: undecided within {args.timeout:g} seconds\n")
        return INCONCLUSIVE
    except Mismatch as error:
        streams.warn(
            f"{args.file}: accepted, but the order found is no execution of it: {error}\n"
            "   This is a bug in statewalk, not in your history. Please report it with the file.\n"
        )
        return INTERNAL
    except OSError as error:
        streams.warn(f"{no_access(error, args.file)}\n")
        return MISTAKE


def _check_certain(args: argparse.Namespace) -> None:
    """Refuse what --certain says nothing about. Raises HistoryError."""
    if not args.certain:
        return
    args.level = args.level or "si"
    level = LEVELS[args.level]
    if level.weak and level.rule != PREFIX:
        raise HistoryError(
            f"--certain says nothing about {args.level}, which needs no long search",
            source=str(args.file),
            expected="a level from prefix on, or no --certain",
            code="SW709",
        )


def _check(history: History, args: argparse.Namespace, options: Options, read: float) -> int:
    from statewalk.checker.history.explain import drawing, report
    from statewalk.checker.history.explain.judging import judged

    verdicts, found = judged(history, args.level or "", options)
    first = next(iter(found.values()), None)
    if args.mermaid:
        streams.out().write(drawing.mermaid(history, first) if first is not None else "")
    elif args.json == "-":
        streams.out().write(printable(report.as_json(history, verdicts, found, read)) + "\n")
    else:
        streams.out().write(printable(report.text(history, verdicts, found, args.level or "")))
        if args.json:
            text = report.as_json(history, verdicts, found, read) + "\n"
            write_text(Path(args.json), text, _PLACE.format("json"), named=True)
    for name, path, draw in (("svg", args.svg, drawing.svg), ("dot", args.dot, drawing.dot)):
        if path and first is not None:
            write_text(path, draw(history, first), _PLACE.format(name), named=True)
        elif path:
            streams.warn(f"{path} is not written: there is no violation to draw\n")
    verdict = verdicts[args.level or "si"]
    if not verdict.settled:
        return INCONCLUSIVE
    return HOLDS if verdict.holds else VIOLATED


def _check_many(args: argparse.Namespace, options: Options) -> int:
    from statewalk.checker.history.commands import many

    if options.certain:
        raise HistoryError(
            "--certain is for one history",
            source=str(args.file),
            expected="one of them, or no --certain",
            code="SW709",
        )
    if args.svg or args.dot or args.mermaid:
        raise HistoryError(
            "there is one drawing for one history", expected="--json for a folder", code="SW709"
        )
    files = many.histories(args.file)
    _refuse_overwriting(args, files)
    asked = many.FileChecks(args.level or "", args.format, args.initial or "", options)
    jobs = args.jobs or many.default_jobs()
    rows = list(many.in_processes(files, asked, jobs))
    if args.json == "-":
        streams.out().write(printable(many.as_json(rows, args.file)) + "\n")
    else:
        streams.out().write(printable(many.table(rows, args.file, asked)))
        if args.json:
            text = many.as_json(rows, args.file) + "\n"
            write_text(Path(args.json), text, _PLACE.format("json"), named=True)
    return many.exit_code(rows)


def _refuse_overwriting(args: argparse.Namespace, files: list[Path]) -> None:
    """Raise HistoryError[SW706] where --json names one of the histories."""
    path = Path(args.json or "-")
    if path.exists() and any(path.samefile(file) for file in files if file.exists()):
        raise HistoryError(
            "the history would be written over itself",
            source=str(path),
            expected="another file",
            code="SW706",
        )


def run_convert(args: argparse.Namespace) -> int:
    """Convert a history; the exit code."""
    from statewalk.checker.history import formats
    from statewalk.checker.machine.limits import Interruptions
    from statewalk.checker.machine.watch import CutShort, Watchdog

    try:
        with Interruptions(), Watchdog(_limit(args), None, "reading the history"):
            if args.object:
                return objects.convert(args)
            history = _read(args)
        read = (args.file, Path(history.source), *args.file.glob("*.log"))
        if args.to_file.exists() and any(args.to_file.samefile(file) for file in read):
            raise HistoryError(
                "the history would be written over itself",
                source=str(args.file),
                expected="another file",
                code="SW706",
            )
        lost = formats.write(history, args.to_file, args.to)
    except CutShort as end:
        if end.reason != "time":
            raise
        streams.warn(f"{args.file}: not read within {args.timeout:g} seconds\n")
        return INCONCLUSIVE
    except OSError as error:
        streams.warn(f"{no_access(error, args.file)}\n")
        return MISTAKE
    streams.say(f"{args.to_file}: {len(history)} transactions as {args.to}\n")
    for note in history.notes:
        streams.say(printable(f"  {note}\n"))
    for what in lost:
        streams.say(f"  dropped: {what}\n")
    if not lost:
        streams.say(f"  nothing {'else ' * bool(history.notes)}was dropped\n")
    return HOLDS


def _limit(args: argparse.Namespace) -> float | None:
    seconds: float = args.timeout
    return None if math.isinf(seconds) else seconds


def _read(args: argparse.Namespace) -> History:
    from statewalk.checker.history import formats

    return formats.read(args.file, args.format, args.initial)
