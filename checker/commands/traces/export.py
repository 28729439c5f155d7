"""``statewalk export``: a trace, or a small state graph, for other tools."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from statewalk.checker.machine import streams
from statewalk.checker.verdict.exits import HOLDS

if TYPE_CHECKING:
    from statewalk.checker.traces.exports.figures import Figure
    from statewalk.checker.traces.trace import Trace
    from statewalk.dsl.model import Model


def add_parser(subparsers: Any) -> None:
    """Add the command to the parser."""
    from statewalk.checker.traces.exports import FORMATS, MACHINE, PICTURE

    listed = "; ".join(f"{name}: {text}" for name, (_, text) in FORMATS.items())
    parser = subparsers.add_parser(
        "export",
        help="convert a trace or a state graph for other tools",
        description="Write a saved trace in the format of another tool. Of a spec, draw the state "
        "graph (dot, mermaid), the roles and their messages (actors), a role as a state "
        "machine (machine --by Client.state), or its @picture of a state (picture --at "
        "3).",
        epilog=f"Formats: {listed}.",
    )
    parser.add_argument("source", metavar="TRACE", help="a *.trace.json file, or a spec or model")
    parser.add_argument(
        "--format", choices=[*FORMATS, MACHINE, PICTURE], required=True, help="the format to write"
    )
    parser.add_argument("--out", metavar="FILE", help="where to write it (standard output)")
    parser.add_argument(
        "--mbt", action="store_true", help="itf: add the variables that test drivers read"
    )
    parser.add_argument(
        "--by",
        metavar="FIELDS",
        default="",
        help="graph: one node for all states alike in these fields; machine: the field, as in "
        "Client.state",
    )
    parser.add_argument(
        "--at", type=int, metavar="STEP", help="picture: the state after this step (the last)"
    )
    parser.add_argument("--spec", metavar="SPEC", help="picture: the spec of the trace (its own)")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        dest="settings",
        metavar="NAME=VALUE",
        help="graph: a constant",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write; the exit code."""
    from statewalk.dsl.errors import printable

    text = printable(_text(arguments))
    if arguments.out:
        from statewalk.checker.machine.files import write_text

        write_text(Path(arguments.out), text, named=True)
    else:
        streams.out().write(text)
    return HOLDS


def _text(arguments: argparse.Namespace) -> str:
    from statewalk.checker.library import spec_path
    from statewalk.dsl.errors import RunError

    source = spec_path(arguments.source)
    if source.endswith((".py", ".fizz")):
        if arguments.format in ("actors", "machine", "picture"):
            return _figure(arguments, source)
        if arguments.format not in ("dot", "mermaid"):
            raise RunError(
                "SW322",
                f"A state graph can be written as dot or mermaid, not as {arguments.format}.",
            )
        from statewalk.checker.api import load
        from statewalk.checker.contract.options import read_settings
        from statewalk.checker.machine.limits import Interruptions, within
        from statewalk.checker.traces.exports.dot import graph_to_dot, graph_to_mermaid

        with Interruptions(), within(source, "drawing the graph"):
            model = load(source, read_settings(arguments.settings).fixed)
            write = graph_to_dot if arguments.format == "dot" else graph_to_mermaid
            return write(model, tuple(b for b in arguments.by.split(",") if b))
    from statewalk.checker.traces.exports import MACHINE, PICTURE, export_trace
    from statewalk.checker.traces.reading import load_trace

    if arguments.format == MACHINE:
        help = "Name the spec: statewalk export SPEC --format machine --by Client.state."
        raise RunError("SW322", "A state machine is of a spec, not of a trace.", help=help)
    trace = load_trace(arguments.source)
    if arguments.format == PICTURE:
        return _picture(arguments, trace)
    if arguments.format == "actors":
        from statewalk.checker.traces.exports.figures import actors_of

        return _drawn(arguments, actors_of(trace))
    if arguments.format == "itf":
        from statewalk.checker.traces.exports.plain import to_itf

        return to_itf(trace, mbt=arguments.mbt)
    return export_trace(trace, arguments.format)


_STATES = 20_000  # that are searched for a witness
_STEPS = 24  # of a walk, where no witness is found


def _figure(arguments: argparse.Namespace, source: str) -> str:
    """Return a figure of a spec: who takes part, or a role as a state machine."""
    from statewalk.checker.api import load
    from statewalk.checker.contract.options import read_settings
    from statewalk.checker.machine.limits import Interruptions, within
    from statewalk.checker.traces.exports.figures import actors_of, machine_of

    model = load(source, read_settings(arguments.settings).fixed)
    if arguments.format == "picture":
        from statewalk.checker.traces.exports.drawn import to_picture

        return to_picture(model, model.initial_states[0], svg=_is_svg(arguments))
    if arguments.format == "actors":
        return _drawn(arguments, actors_of(_shown(model)))
    with Interruptions(), within(source, "drawing the state machine"):
        return _drawn(arguments, machine_of(model, arguments.by))


def _drawn(arguments: argparse.Namespace, figure: Figure) -> str:
    return figure.to_svg() if _is_svg(arguments) else figure.to_mermaid()


def _is_svg(arguments: argparse.Namespace) -> bool:
    return (arguments.out or "").endswith(".svg")


def _picture(arguments: argparse.Namespace, trace: Trace) -> str:
    """Return the pictures of a state of a trace, which is repeated for that."""
    from statewalk.checker.behaviours.replay import model_for, replay
    from statewalk.checker.commands.elsewhere import ask_to_run
    from statewalk.checker.machine.limits import Interruptions, within
    from statewalk.checker.traces.exports.drawn import states_of, to_picture
    from statewalk.dsl.errors import RunError

    if arguments.spec is None:
        ask_to_run(trace.spec, Path(arguments.source))
    with Interruptions(), within(trace.spec, "drawing the picture"):
        model = model_for(trace, arguments.spec)
        again = replay(trace, model)
        if not again.reproduced:
            said = f"The trace does not happen any more, at step {again.step}: {again.why}"
            raise RunError("SW405", said)
        states = states_of(model, again.trace)
        at = len(states) - 1 if arguments.at is None else arguments.at
        if not 0 <= at < len(states):
            said = f"The trace has no state {at}."
            raise RunError("SW322", said, help=f"Its states are 0 to {len(states) - 1}.")
        return to_picture(model, states[at], svg=_is_svg(arguments))


def _shown(model: Model) -> Trace:
    """Return the trace that numbers a figure: the longest witness, else a walk at random."""
    from statewalk.checker.api import check

    run = check(model, max_states=_STATES, liveness=False, keep_going=True)
    traces = sorted(run.traces.values(), key=lambda t: (not t.of_kind.witness, -t.length))
    if traces:
        return traces[0]
    from statewalk.checker.behaviours.simulate import simulate
    from statewalk.checker.contract.search import Finding
    from statewalk.checker.traces.trace import build

    found = simulate(model, runs=1, depth=_STEPS, keep=True)
    walk = Finding("a walk", "exists", *found.walks[0]) if found.walks else None
    return build(model, walk or next(iter(found.findings.values())), told=False)
