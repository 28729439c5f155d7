"""The command line: arguments in, exit code out. Only ``python -m statewalk`` imports this."""

from __future__ import annotations

import argparse
import errno
import gc
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NoReturn

from statewalk.checker.commands import COMMANDS, GROUPS, SUPERVISED
from statewalk.checker.commands.release import VERSION
from statewalk.checker.contract.stops import ended_by
from statewalk.checker.machine import signals, streams, supervisor
from statewalk.checker.verdict.exits import HOLDS, INCONCLUSIVE, INTERNAL, MISTAKE

_NO_MEMORY = b"\nstatewalk: there is not enough memory, so there is no result\n"
_NO_FILES = b"\nstatewalk: processes or files run short, so there is no result\n"
_NOT_LOADED = ("failed to map segment", "annot allocate memory")
_NO_PLACE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG)
# Imports and learning make many objects that stay and few cycles: looking for cycles after every
# few hundred of them is a tenth of a short check.
COLLECT_AFTER = (50_000, 20, 100)
# Of a database, as a URL or in libpq's words: the file of an internal error is for others to read.
_PASSWORD = re.compile(
    r"(\w://[^\s:/@]*:|\bpassword\s*=\s*)('[^']*'|\S+(?=@)|[^\s&]+)", re.IGNORECASE
)
# Of a help text: what opens a section, options, commands.
_HEADINGS = re.compile(r"^(?: {2}[A-Z][a-z ]+$|[A-Za-z][^\n]*:$|usage:)", re.MULTILINE)
_OPTIONS = re.compile(r"(?<![\w-])--?[a-z][a-z-]*")
_COMMANDS = re.compile(r"(?<=^    )[a-z]+(?=  )", re.MULTILINE)
_stop = signals.Stop()
# Nothing here multiplies matrices, and making threads for it is a tenth of a short check.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


class _Grouped(argparse.RawDescriptionHelpFormatter):
    """Help that lists commands in groups."""

    def _format_action(self, action: argparse.Action) -> str:
        if not isinstance(action, argparse._SubParsersAction):
            return super()._format_action(action)
        texts = {choice.dest: choice.help or "" for choice in action._get_subactions()}
        lines = []
        for group, names in GROUPS.items():
            lines += [
                "",
                f"  {group.capitalize()}",
                *(f"    {n:<12} {texts[n]}" for n in names if n in texts),
            ]
        return "\n".join(lines) + "\n"


class _Parser(argparse.ArgumentParser):
    """A parser whose mistakes end with our exit code and tell where help is."""

    def error(self, message: str) -> NoReturn:
        from statewalk.dsl.errors import one_line

        streams.warn(f"{self.prog}: {one_line(message)}\n")
        print(f"Try '{self.prog} --help'.", file=sys.stderr)
        sys.exit(MISTAKE)

    def print_help(self, file: Any = None) -> None:
        """Print the help, in a terminal with headings, options and commands in colour."""
        from statewalk.checker.report.page import wants_colour

        text = self.format_help()
        if file is None and wants_colour(sys.stdout):
            text = _COMMANDS.sub("\033[36m\\g<0>\033[0m", text)
            text = _HEADINGS.sub("\033[1m\\g<0>\033[0m", text)
            text = _OPTIONS.sub("\033[36m\\g<0>\033[0m", text)
        self._print_message(text, file or sys.stdout)


def make_parser(only: str | None = None) -> argparse.ArgumentParser:
    """The parser of all commands there are, or of one."""
    parser = _Parser(
        prog="statewalk",
        description="Check designs of distributed protocols: search all states a spec can reach.",
        epilog="'statewalk COMMAND --help' lists the options of a command.",
        formatter_class=_Grouped if only is None else argparse.HelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"statewalk {VERSION}")
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", required=True, dest="command"
    )
    for name, module in COMMANDS.items():
        if only in (None, name):
            import_module(module).add_parser(commands)
    return parser


def prepare_streams() -> None:
    """Make printing safe: what a code page lacks becomes what looks alike, half a character is
    written as in JSON, and a closed stream swallows all.
    """
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (to the end)
    if sys.stderr is None:
        sys.stderr = sys.stdout
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError):
            unicode = stream.encoding.lower().replace("-", "") == "utf8"
            errors = "backslashreplace" if unicode else streams.FALL_BACK
            stream.reconfigure(errors=errors)  # type: ignore[union-attr]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; the exit code. Whatever goes wrong, it is none that means a verdict."""
    if argv is not None:
        return _run(list(argv))
    signals.handle(_stop)
    arguments = sys.argv[1:]
    if SUPERVISED & {*arguments[:1], " ".join(arguments[:2])} and supervisor.possible():
        try:
            streams.divert()
            return supervisor.supervised(lambda: _run(arguments))
        except KeyboardInterrupt as end:
            return _interrupted(end)
    return _run(arguments)


def _run(arguments: list[str]) -> int:
    try:
        gc.set_threshold(*COLLECT_AFTER)
        prepare_streams()
        return _guarded(_parsed(arguments))
    except SystemExit as end:  # of the parser
        return end.code if end.code in (HOLDS, MISTAKE) else INTERNAL
    except KeyboardInterrupt as end:
        return _interrupted(end)
    except BaseException as error:
        # what was interrupted while it was imported may say so in a way of its own
        return _interrupted(error) if _stop.at else _internal(error)


def _parsed(arguments: list[str]) -> argparse.Namespace:
    """Return the arguments as their command understands them. Exits where it does not."""
    parser = make_parser(arguments[0] if arguments and arguments[0] in COMMANDS else None)
    if arguments and arguments[0] not in COMMANDS and not arguments[0].startswith("-"):
        close = get_close_matches(arguments[0], COMMANDS, n=1)
        meant = f"Did you mean {close[0]}?" if close else f"There are: {', '.join(COMMANDS)}."
        parser.error(f"there is no command {arguments[0]}. {meant}")
    parsed, unknown = parser.parse_known_args(arguments)
    late = getattr(parsed, "late", None)  # an argument that may come after options too
    if late and len(unknown) == 1 and not unknown[0].startswith("-"):
        if getattr(parsed, late) is None:
            setattr(parsed, late, unknown.pop())
    if unknown:
        _refuse(parser, parsed, unknown)
    parsed.command_line = arguments
    return parsed


def _rescued(arguments: argparse.Namespace) -> int:
    """Report for a process that did not end by itself; the exit code."""
    from statewalk.checker.contract import rescue

    end = supervisor.rescue
    assert end is not None
    if not end.facts.get("check"):
        rescue.give_up(end)
    return int(arguments.run(arguments))


def _interrupted(end: BaseException) -> int:
    """Say that there is no result, and where the spec was."""
    places = sys.modules.get("statewalk.checker.machine.places")
    place = places.place_of_error(end) if places is not None else None
    where = f", in {place}" if place is not None else ""
    streams.warn(f"\nstatewalk: interrupted before there was a result{where}\n")
    return INCONCLUSIVE


def _refuse(
    parser: argparse.ArgumentParser, parsed: argparse.Namespace, unknown: list[str]
) -> None:
    """Say which arguments the command that was given does not know. Exits."""
    known: list[str] = []
    inner: argparse.ArgumentParser | None = parser
    while inner is not None:
        parser, inner = inner, None
        for action in parser._actions:
            known += [name for name in action.option_strings if name.startswith("--")]
            if isinstance(action, argparse._SubParsersAction):
                inner = action.choices.get(str(getattr(parsed, action.dest, "")))
    options = [word.partition("=")[0] for word in unknown if word.startswith("-")]
    if not options:
        parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    close = get_close_matches(options[0], known, n=1, cutoff=0.7)
    parser.error(f"there is no {options[0]}." + (f" Did you mean {close[0]}?" if close else ""))


def _guarded(parsed: argparse.Namespace) -> int:
    """Run a command, and turn what it raises into a message and an exit code."""
    from statewalk.checker.commands.arguments import keep_apart
    from statewalk.checker.machine.watch import CutShort
    from statewalk.dsl.errors import EngineError, StatewalkError, one_line
    from statewalk.dsl.view import Endless

    try:
        keep_apart(parsed)
        code: int = parsed.run(parsed) if supervisor.rescue is None else _rescued(parsed)
        streams.out().flush()
        return code
    except BrokenPipeError:
        streams.keep_silent()
        return INCONCLUSIVE
    except CutShort as cut:
        why = ended_by(None, cut.reason, cut.place)
        streams.warn(f"\nstatewalk: ended by {why}\n")
        return INCONCLUSIVE
    except SystemExit as end:  # nothing of ours raises it here
        from statewalk.checker.contract.rescue import left

        print(left(end), file=sys.stderr)
        return MISTAKE
    except StatewalkError as error:
        print(error, file=sys.stderr)
        return INTERNAL if isinstance(error, EngineError) else MISTAKE
    except ModuleNotFoundError as error:
        from statewalk.checker.machine.extras import missing_of

        wanted = missing_of(error)
        if wanted is None:
            return _internal(error)
        print(wanted, file=sys.stderr)
        return MISTAKE
    except Endless as endless:
        print(endless.error, file=sys.stderr)
        return MISTAKE
    except OSError as error:
        if error.errno in _NO_PLACE and (error.filename or not _stdout_fails()):
            place = error.filename or "A file"
            streams.warn(f"SW403 {one_line(place)} cannot be written: {error.strerror}.\n")
            return MISTAKE
        if error.filename is None and not _short(error):  # nobody named a file: standard output
            return _unwritable(error)
        raise


def _stdout_fails() -> bool:
    """Return whether it is standard output that takes nothing more: one more line end tells."""
    try:
        streams.out().flush()
        os.write(streams.out().fileno(), b"\n")
    except OSError:
        return True
    return False


def _unwritable(error: OSError) -> int:
    """Say that standard output takes nothing more, and keep Python from trying again at its end."""
    streams.keep_silent()
    why = error.strerror or error
    try:
        print(f"SW403 Standard output cannot be written: {why}.", file=sys.stderr, flush=True)
    except OSError:  # a terminal that is gone takes this as little
        os.dup2(streams.out().fileno(), sys.stderr.fileno())
    return MISTAKE


def _internal(error: BaseException) -> int:
    """Report a bug of ours, as far as that can be done; the traceback goes to a file."""
    try:
        short = _short(error)
        if not short:
            _report(error)
            return INTERNAL
    except MemoryError:
        short = _NO_MEMORY
    except BaseException:
        with suppress(BaseException):
            os.write(2, b"\nstatewalk: SW900 internal error, of which no more can be said\n")
        return INTERNAL
    with suppress(BaseException):
        os.write(2, short)
    return INCONCLUSIVE


def _short(error: BaseException | None) -> bytes:
    """Return what is said of an error that came of too little memory or too few files; a library
    that cannot be loaded says it so. Empty of any other.
    """
    while error is not None:
        if isinstance(error, MemoryError) or getattr(error, "errno", 0) == errno.ENOMEM:
            return _NO_MEMORY
        if isinstance(error, ImportError | OSError) and any(w in str(error) for w in _NOT_LOADED):
            return _NO_MEMORY
        if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
            return _NO_FILES
        error = error.__cause__ or error.__context__
    return b""


def _report(error: BaseException) -> None:
    import tempfile
    import traceback

    text = "".join(traceback.format_exception(error))
    text = _PASSWORD.sub(r"\1***", f"{' '.join(sys.argv)}\n\n{text}")
    where = ""
    with suppress(OSError):
        handle, name = tempfile.mkstemp(prefix="statewalk-", suffix=".txt")
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(f"statewalk {VERSION}, Python {sys.version}\n{text}")
        where = f"\n   Please attach {name} to a report."
    try:
        said = f"{type(error).__name__}: {error}"
    except Exception:  # its text is what is broken
        said = type(error).__name__
    print(
        f"statewalk: SW900 internal error: {said}\n"
        f"   This is a bug in statewalk, not in your spec.{where}",
        file=sys.stderr,
    )
    if os.environ.get("STATEWALK_DEBUG") or not where:
        print(text, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
