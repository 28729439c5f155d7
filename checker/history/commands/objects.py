"""`statewalk history check --object`: operations on one object, against a spec of it."""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from statewalk.checker.history.errors import HistoryError, no_access
from statewalk.checker.machine import streams
from statewalk.checker.verdict.exits import HOLDS, INCONCLUSIVE, INTERNAL, MISTAKE, VIOLATED
from statewalk.dsl.errors import StatewalkError, one_line, printable

if TYPE_CHECKING:
    from statewalk.checker.history.objects.asking import ObjectVerdict
    from statewalk.checker.history.objects.explain import Explanation

ORDERS = ("real-time", "sessions")
_PLACE = "Give another place with --{} FILE."
_ENDINGS = (".edn", ".jsonl", ".log", ".txt")
# What the exit code tells of many files: the first of these that there is.
_WORST = (INTERNAL, VIOLATED, MISTAKE, INCONCLUSIVE, HOLDS)
_WORDS = {
    HOLDS: "holds",
    VIOLATED: "violated",
    MISTAKE: "unreadable",
    INCONCLUSIVE: "undecided",
    INTERNAL: "internal error",
}


def add_options(check: argparse.ArgumentParser) -> None:
    """Add the options of a check against an object."""
    group = check.add_argument_group("a history of operations on one object")
    group.add_argument(
        "--object",
        metavar="SPEC",
        help="check that the history is linearizable: an object of the library, such as "
        "register, kv, queue, lock, or a spec whose actions are the operations",
    )
    group.add_argument(
        "--order",
        choices=ORDERS,
        default=ORDERS[0],
        help="the order that counts: real time (linearizable, the default) or each client's "
        "(sequentially consistent)",
    )
    group.add_argument(
        "--set", action="append", default=[], dest="settings", metavar="NAME=VALUE",
        help="give a constant of the object a value; repeatable",
    )  # fmt: skip
    group.add_argument(
        "--html", type=Path, metavar="FILE", help="write the picture and the report as one page"
    )
    group.add_argument(
        "--nil",
        choices=("value", "unknown"),
        default="value",
        help="what an answer of nil says: nil (the default), or nothing, as in Knossos",
    )


def add_conversion(convert: argparse.ArgumentParser) -> None:
    """Add the options of a conversion of operations."""
    convert.add_argument(
        "--object", metavar="SPEC", help="the history is one of operations on this object"
    )
    convert.set_defaults(settings=[], nil="value")


def convert(args: argparse.Namespace) -> int:
    """Write operations in another format; the exit code."""
    from statewalk.checker.history.objects.asking import object_of
    from statewalk.checker.history.objects.reading import read_operations
    from statewalk.checker.history.objects.writing import lines_of
    from statewalk.checker.machine.files import write_text

    history = read_operations(args.file, args.format)
    if args.to_file.exists() and args.to_file.samefile(args.file):
        raise HistoryError(
            "the history would be written over itself",
            source=str(args.file),
            expected="another file",
            code="SW706",
        )
    lines, lost = lines_of(object_of(args.object, {}, nil_is_unknown=False), history, args.to)
    write_text(args.to_file, "\n".join([*lines, ""]), _PLACE.format("to"), named=True)
    streams.say(f"{args.to_file}: {len(history.all)} operations as {args.to}\n")
    for what in lost or ["nothing"]:
        streams.say(f"  dropped: {what}\n" if lost else "  nothing was dropped\n")
    return HOLDS


def run(args: argparse.Namespace) -> int:
    """Check a history, or each file of a folder, and report; the exit code."""
    _refuse_others(args)
    if args.file.is_dir():
        return _run_folder(args)
    try:
        return _checked(args, args.file)[0]
    except OSError as error:
        streams.warn(f"{no_access(error, args.file)}\n")
        return MISTAKE


def _refuse_others(args: argparse.Namespace) -> None:
    """Raise HistoryError[SW709] for options about transactions."""
    about = ("level", "certain", "clock_error", "dot", "mermaid", "initial", "jobs")
    given = [name for name in about if getattr(args, name)]
    given += ["heuristic"] * (args.heuristic != "off")
    if given:
        raise HistoryError(
            f"--{given[0].replace('_', '-')} is for histories of transactions",
            source=str(args.file),
            expected="--object without it",
            code="SW709",
        )
    if args.file.is_dir() and (args.svg or args.json or args.html):
        raise HistoryError(
            "--svg, --html and --json are for one history",
            source=str(args.file),
            expected="one of them",
            code="SW709",
        )


def _run_folder(args: argparse.Namespace) -> int:
    files = sorted(f for f in args.file.rglob("*") if f.suffix in _ENDINGS and f.is_file())
    if not files:
        expected = f"files that end in {', '.join(_ENDINGS)}"
        raise HistoryError(
            "there is no history", source=str(args.file), expected=expected, code="SW709"
        )
    codes = []
    for file in files:
        said = ""
        try:
            code, said = _checked(args, file, quiet=True)
        except (StatewalkError, OSError) as error:
            code, said = MISTAKE, str(error).partition("\n")[0]
        codes.append(code)
        name = file.relative_to(args.file)
        streams.say(printable(one_line(f"{_WORDS[code]:<10} {name}  {said}")) + "\n")
    counts = Counter(codes)
    told = ", ".join(f"{counts[code]} {_WORDS[code]}" for code in _WORST if counts[code])
    streams.say(f"{len(files)} histories: {told}\n")
    return next(code for code in _WORST if code in counts)


def _checked(args: argparse.Namespace, file: Path, *, quiet: bool = False) -> tuple[int, str]:
    """Check one file; the exit code, and a few words."""
    from statewalk.checker.contract.options import read_settings
    from statewalk.checker.history.objects.asking import object_of, verdict_of
    from statewalk.checker.history.objects.deciding import decide
    from statewalk.checker.history.objects.explain import explained
    from statewalk.checker.history.objects.reading import read_operations
    from statewalk.checker.history.objects.witness import NoWitness
    from statewalk.checker.machine.limits import Interruptions
    from statewalk.checker.machine.watch import CutShort, Watchdog, interruptible

    limit = None if math.isinf(args.timeout) else args.timeout
    found: Explanation | None = None
    try:
        with Interruptions(), Watchdog(limit, None, "reading the history"):
            history = read_operations(file, args.format)
            constants = read_settings(args.settings).fixed
            object = object_of(args.object, constants, nil_is_unknown=args.nil == "unknown")
            with interruptible("checking the history"):
                verdict = decide(object, history, args.order, args.timeout)
        if verdict.failing is not None and not quiet:
            with Interruptions():
                found = explained(object, verdict.failing, args.order)
    except CutShort as end:
        if end.reason != "time":
            raise
        if not quiet:
            streams.warn(f"{file}: undecided within {args.timeout:g} seconds\n")
        return INCONCLUSIVE, f"within {args.timeout:g} seconds"
    except NoWitness as error:
        streams.warn(
            f"{file}: accepted, but the order found is none: {error}\n"
            "   This is a bug in statewalk, not in your history. Please report it with the file.\n"
        )
        return INTERNAL, str(error)
    if not quiet:
        _write(args, verdict_of(object, history, verdict, found))
    code = {True: HOLDS, False: VIOLATED, None: INCONCLUSIVE}[verdict.holds]
    return code, f"{len(history.all)} operations, {verdict.seconds:.2f} s"


def _write(args: argparse.Namespace, found: ObjectVerdict) -> None:
    from statewalk.checker.machine.files import write_text

    data = json.dumps(found.json, indent=2, ensure_ascii=False) + "\n"
    if args.json == "-":
        streams.out().write(printable(data))
    else:
        streams.out().write(found.report)
        if args.json:
            write_text(Path(args.json), data, _PLACE.format("json"), named=True)
    for path in (args.svg, args.html):
        if path and not found.svg:
            streams.warn(f"{path} is not written: nothing is decided\n")
    if args.svg and found.svg:
        write_text(args.svg, found.svg, _PLACE.format("svg"), named=True)
    if args.html and found.svg:
        found.save(args.html)
