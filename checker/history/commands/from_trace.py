"""`statewalk history from-trace`: what the clients of a store would have recorded of a trace.

The spec says how its state maps to a history: a function `recorded_history` that takes nothing and
returns `dsl.library.recording.Recorded` transactions, or a function `recorded_operations` that
returns the events of `dsl.operations`. The trace is data: it is repeated on the spec
that the caller names, and only if that gives the same states is the spec asked.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from statewalk.dsl.library.recording import HOOK, Recorded

if TYPE_CHECKING:
    from statewalk.checker.history.data import History
    from statewalk.checker.traces.trace import Trace
    from statewalk.dsl.model import Model
    from statewalk.dsl.view import State

OPERATIONS = "recorded_operations"
_STATUS = ("ok", "fail", "info")
_FIELDS = 6  # of a transaction; the seventh, what the store knows, is not for clients


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the sub-command."""
    parser = commands.add_parser(
        "from-trace",
        help="write what the clients of a store saw in a trace as a recorded history",
        description="Repeat a trace on its spec, and write what its recorded_history "
        "returns at the end, as JSON Lines. Times are positions in the order of "
        "events.",
        epilog="Exit codes: 0 written, 5 the trace does not happen on this spec, 2 mistake.",
    )
    parser.add_argument("trace", metavar="TRACE", help="a *.trace.json file of a run folder")
    parser.add_argument(
        "--spec", metavar="SPEC", required=True, help="the spec that the trace is of; it is run"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="the file to write; without it, standard output"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Repeat the trace and write its history; the exit code."""
    from statewalk.checker.behaviours.replay import replay
    from statewalk.checker.history.formats.jsonl import lines_of
    from statewalk.checker.library import spec_path
    from statewalk.checker.machine import streams
    from statewalk.checker.machine.files import write_text
    from statewalk.checker.machine.limits import Interruptions, within
    from statewalk.checker.report.trace import replay_page
    from statewalk.checker.traces.reading import load_trace
    from statewalk.checker.verdict.exits import DIVERGED, HOLDS

    trace = load_trace(args.trace)
    with Interruptions(), within(spec_path(args.spec), "repeating the trace"):
        model, hook = load_with_hook(args.spec, trace)
        outcome = replay(trace, model)
        if not outcome.reproduced:
            replay_page(outcome, width=streams.width()).show(sys.stderr)
            return DIVERGED
        if hook.__name__ == OPERATIONS:
            lines = operation_lines(model, hook, outcome.states[-1])
            count = f"{sum('invoke' in line for line in lines)} operations"
        else:
            history = history_of(model, hook, outcome.states, source=str(args.trace))
            lines, count = [*lines_of(history)], f"{len(history)} transactions"
    text = "\n".join([*lines, ""])
    if args.out is None:
        streams.out().write(text)
        return HOLDS
    write_text(args.out, text, named=True)
    streams.say(f"{args.out}: {count} in {trace.length} steps\n")
    return HOLDS


Hook = Callable[[], Iterable[Any]]


def load_with_hook(spec: str, trace: Trace) -> tuple[Model, Hook]:
    """Return the model of a spec with the trace's constants, and its function that tells the
    history.

    Raises:  RunError[SW710] for a spec without one; what loading a spec raises.
    """
    from statewalk.checker.behaviours.replay import another_spec
    from statewalk.checker.library import spec_path
    from statewalk.dsl.errors import RunError, StatewalkError
    from statewalk.dsl.loader import model_of, read_spec
    from statewalk.dsl.mutants import run_spec

    spec = spec_path(spec)
    if not Path(spec).exists():
        raise RunError("SW405", f"The spec {spec} is not there.", help=f"Trace of: {trace.spec}.")
    try:
        loading = run_spec(read_spec(spec), trace.constants)
    except StatewalkError as error:
        if error.code == "SW301":
            raise another_spec(trace, spec, error.message) from None
        raise
    model = model_of(loading, spec, optimize=False)
    named = [m.namespace for m in loading.modules[::-1]]
    hook = next((n[name] for name in (HOOK, OPERATIONS) for n in named if name in n), None)
    if not callable(hook):
        raise RunError(
            "SW710",
            f"{spec} does not say what its clients record.",
            help=f"Give it a function {HOOK}() as statewalk.dsl.library.recording describes, or "
            f"{OPERATIONS}() with the events of statewalk.dsl.operations.",
        )
    return model, cast(Hook, hook)


def history_of(model: Model, hook: Hook, states: Sequence[State], source: str = "trace") -> History:
    """Return the history at the last of some successive states.

    Each transaction's ``state`` has the numbers of the states in which it had begun and ended.
    Raises:  RunError[SW710] for what is no transaction.
    """
    from statewalk.checker.history.formats.jsonl import from_records

    begun: dict[Any, int] = {}
    over: dict[Any, int] = {}
    last: tuple[Recorded, ...] = ()
    for number, state in enumerate(states):
        last = recorded_in(model, hook, state)
        for transaction in last:
            begun.setdefault(transaction.name, number)
            if transaction.end is not None:
                over.setdefault(transaction.name, number)
    records = [
        record(t) | {"state": _numbers(begun[t.name], over.get(t.name))}
        for t in sorted(last, key=lambda t: t.begin)
    ]
    return from_records([{"statewalk-history": 1}, *records], source)


def _numbers(begin: int, end: int | None) -> dict[str, int]:
    return {"begin": begin} | ({} if end is None else {"end": end})


def recorded_in(model: Model, hook: Hook, state: State) -> tuple[Recorded, ...]:
    """Return what a spec says was recorded up to a state. Raises RunError[SW710]."""
    from statewalk.dsl.binding import bound
    from statewalk.dsl.errors import RunError
    from statewalk.dsl.state.plain_view import PlainView

    model.outside.enter()
    with bound(PlainView(state), None, model.classes, HOOK, model.actions):
        found: tuple[Any, ...] = tuple(hook())
    for t in found:
        if not isinstance(t, Recorded) or len(t) < _FIELDS or t.status not in _STATUS:
            raise RunError(
                "SW710",
                f"{HOOK}() of {model.path} returned {t!r:.60}, which is no transaction.",
                help="It returns Recorded transactions of statewalk.dsl.library.recording.",
            )
    return found


def operation_lines(model: Model, hook: Hook, state: State) -> list[str]:
    """Return what clients recorded up to a state, as JSON Lines. Raises RunError[SW710]."""
    from statewalk.checker.history.objects.reading import from_records
    from statewalk.checker.states.json import plain
    from statewalk.checker.states.shortening import text_of
    from statewalk.dsl.binding import bound
    from statewalk.dsl.errors import RunError
    from statewalk.dsl.operations import operations_of
    from statewalk.dsl.state.plain_view import PlainView
    from statewalk.dsl.values.stored import freeze

    def named(client: Any) -> int | str:
        return client if type(client) in (int, str) else text_of(freeze(client))

    model.outside.enter()
    with bound(PlainView(state), None, model.classes, OPERATIONS, model.actions):
        events = [tuple(event) for event in hook()]
        try:
            operations_of(tuple(events))
        except ValueError as error:
            said = f"{OPERATIONS}() of {model.path} returned no history: {error}."
            raise RunError("SW710", said, help="See statewalk.dsl.operations.") from None
        records = [
            {"client": named(client), "event": "invoke", "op": rest[0], "args": plain(rest[1:])}
            if what == "call"
            else {"client": named(client), "event": "ok"}
            | ({"answer": plain(rest[0])} if rest else {})
            for what, client, *rest in events
        ]
    from_records(records)
    return [json.dumps(one, ensure_ascii=False) for one in records]


def record(t: Recorded) -> dict[str, Any]:
    """Return a transaction as a line of our format."""
    known = t.end is not None and t.status != "info"  # else it may still take effect, at any time
    times = {"begin": t.begin} | ({"end": t.end} if known else {})
    status = {} if t.status == "ok" else {"status": t.status}
    ops = [list(op) for op in t.ops]
    return {"session": t.session, "id": t.name, **status, **times, "ops": ops}
