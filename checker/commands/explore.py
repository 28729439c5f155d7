"""``statewalk explore``: go through the states of a spec by hand, in a browser."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from statewalk.checker.machine import streams, supervisor
from statewalk.checker.verdict.exits import HOLDS

if TYPE_CHECKING:
    from statewalk.checker.behaviours.walk import Path as Way
    from statewalk.checker.explore.answering import Ask
    from statewalk.checker.explore.answers import Answers

_SECONDS = 30.0  # for one question


def add_parser(subparsers: Any) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "explore",
        help="step through states in a browser",
        description="Serve a page on this machine that walks through the states of a spec: the "
        "enabled steps of each, and why others are disabled. Nothing is searched "
        "beforehand. Ctrl-C ends it.",
    )
    add_source(parser)
    parser.add_argument("--port", type=int, default=0, metavar="N", help="the port (any free one)")
    parser.add_argument("--open", action="store_true", help="also open it in the browser")
    parser.set_defaults(run=run)


def add_source(parser: argparse.ArgumentParser) -> None:
    """Add what is explored to a parser."""
    parser.add_argument(
        "source",
        metavar="SPEC",
        help="a spec or model, a *.trace.json file, or the folder of a run",
    )
    parser.add_argument(
        "--set", action="append", default=[], dest="settings", metavar="NAME=VALUE",
        help="a constant of the spec",
    )  # fmt: skip
    parser.add_argument("--config", metavar="NAME", help="a configuration that the spec declares")
    parser.add_argument(
        "--spec", metavar="SPEC", help="of a trace: the spec to repeat it on (its own)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Serve until somebody ends it; the exit code."""
    from statewalk.checker.explore.answering import Answering, Server
    from statewalk.checker.machine.limits import Interruptions
    from statewalk.checker.page.html import policy, to_html
    from statewalk.dsl.errors import RunError

    with Interruptions() as asked, ExitStack() as stack:
        answers = answers_of(arguments)
        ask: Ask = partial(_asked, answers)
        other = Answering(ask, _SECONDS, asked) if supervisor.possible() else None
        if other is not None:
            answers.waiting, ask = other.waiting, other.ask
            stack.enter_context(other)
        try:
            server = Server(to_html({"live": True}, live=True), policy(live=True), arguments.port)
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or error
            raise RunError("SW372", f"Port {arguments.port} cannot be used: {why}.") from None
        if other is None:
            answers.waiting = server.is_asked
        else:
            other.others = server.is_asked
        stack.enter_context(server)
        streams.say(f"exploring {answers.model.path}\n\n  {server.address}\n\nCtrl-C ends it.\n")
        streams.out().flush()
        if arguments.open:
            import webbrowser

            webbrowser.open(server.address)
        server.answer_until(asked, ask)
    return HOLDS


def _asked(answers: Answers, question: str, asked: Any) -> dict[str, Any]:
    """Return an answer, or why there is none."""
    from statewalk.checker.machine.limits import within
    from statewalk.checker.machine.watch import CutShort
    from statewalk.dsl.errors import StatewalkError
    from statewalk.dsl.view import Endless

    try:
        with within(answers.model.path, "answering", _SECONDS):
            return answers.answer(question, asked)
    except StatewalkError as error:
        return {"error": f"{error.message} {error.help}".strip()}
    except Endless as endless:
        return {"error": endless.error.message}
    except SystemExit:
        return {"error": "This asks to end the program, and has no value."}
    except CutShort as cut:
        if cut.reason == "interrupt":
            raise
        return {"error": f"This took longer than {_SECONDS:.0f} seconds, in {cut.place}."}


def answers_of(arguments: argparse.Namespace) -> Answers:
    """Return the model that is explored, and where it begins."""
    from statewalk.checker.api import load
    from statewalk.checker.contract.options import read_settings
    from statewalk.checker.explore.answers import Answers
    from statewalk.checker.library import spec_path
    from statewalk.checker.machine.limits import within

    source = Path(spec_path(arguments.source))
    file = _trace_in(source) if source.is_dir() else source
    if file.suffix not in (".py", ".fizz"):
        from statewalk.checker.traces.reading import load_trace

        return _repeated(load_trace(file), file, arguments.spec)
    with within(str(file), "loading the spec"):
        settings = read_settings(arguments.settings).fixed
        return Answers(load(arguments.source, settings, config=arguments.config, listed=True))


def _trace_in(folder: Path) -> Path:
    """Return the trace of a run's folder that is looked at first: of what is violated, if
    something is.
    """
    from statewalk.checker.report.runs import RESULT, SUFFIX
    from statewalk.checker.traces.reading import read_json
    from statewalk.dsl.errors import RunError

    found = sorted(folder.glob(f"*{SUFFIX}"))
    if (folder / RESULT).is_file():
        result = read_json(folder / RESULT)
        listed = result.get("properties") if isinstance(result, dict) else None
        parts = [p for p in listed if isinstance(p, dict)] if isinstance(listed, list) else []
        wrong = [Path(str(p.get("trace"))).name for p in parts if p.get("verdict") == "violated"]
        found = [file for file in found if file.name in wrong] or found
    if not found:
        raise RunError(
            "SW404",
            f"There is no trace in {folder}.",
            help="Name the spec: statewalk explore SPEC.",
        )
    return found[0]


def _repeated(trace: Any, file: Path, spec: str | None) -> Answers:
    """Return the model of a trace, at the end of its path."""
    from statewalk.checker.behaviours.replay import model_for, replay
    from statewalk.checker.commands.elsewhere import ask_to_run
    from statewalk.checker.explore.answers import Answers
    from statewalk.checker.machine.limits import within

    if spec is None:
        ask_to_run(trace.spec, file)
    with within(spec or trace.spec, "repeating the trace"):
        model = model_for(trace, spec, listed=True)
        answers = Answers(model)
        again = replay(trace, model)
        if again.reproduced:
            answers.start, answers.shown = _way(answers, again.trace), trace
        else:
            said = f"The trace does not happen any more, at step {again.step}: {again.why}\n"
            streams.warn(said)
    return answers


def _way(answers: Answers, trace: Any) -> Way:
    return answers.walk.path_of(trace)
