"""Trace files: JSON that a person can read and a program can trust to be data.

A file holds every state as content and every step with its choices, the constants, and the hashes
of the spec's files, so that a replay can say what differs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from statewalk.checker.machine.files import write_text
from statewalk.checker.states.content import Content
from statewalk.checker.states.json import describe_classes, to_json
from statewalk.checker.traces import clauses
from statewalk.checker.traces.trace import Abstract, Choice, Trace, TraceStep
from statewalk.dsl.errors import RunError, StatewalkError
from statewalk.dsl.values.stored import freeze, typed
from statewalk.dsl.words.constants import GivenText

FORMAT = "statewalk-trace"
VERSION = 1
_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]+")


def save_trace(trace: Trace, file: str | Path) -> None:
    """Write a trace as JSON, atomically. Raises RunError[SW403]."""
    write_text(Path(file), _text(to_dict(trace)))


def _text(data: Mapping[str, Any]) -> str:
    """Return a line for each field, state and step: Python's own indentation takes five times
    as long, and twice the room.
    """
    fields = [f"{_compact(name)}: {_lines(part)}" for name, part in data.items()]
    return "{\n " + ",\n ".join(fields) + "\n}\n"


def _lines(value: Any) -> str:
    if not isinstance(value, list) or not value:
        return _compact(value)
    return "[\n  " + ",\n  ".join(map(_compact, value)) + "\n ]"


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def to_dict(trace: Trace) -> dict[str, Any]:
    """Return the JSON object of a trace."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "spec": trace.spec,
        "names": dict(trace.names),
        "constants": {n: _constant(v) for n, v in trace.constants.items()},
        "sources": dict(trace.sources),
        "property": trace.property,
        "kind": trace.kind,
        "length": trace.length,
        "initial": trace.initial,
        "loop": trace.loop,
        "error": trace.error,
        "error_type": trace.error_type,
        "classes": describe_classes(trace.classes),
        "truths": {name: list(truth) for name, truth in trace.truths.items()},
        "steps": [_step(step) for step in trace.steps],
        "states": _states(trace.contents),
        **({} if trace.abstract is None else {"abstract": _abstract(trace.abstract)}),
        **({} if trace.reason is None else {"reason": clauses.to_dict(trace.reason)}),
    }


def _abstract(abstract: Abstract) -> dict[str, Any]:
    return {
        "name": abstract.name,
        "allowed": list(abstract.allowed),
        "breaks": abstract.breaks,
        "states": _states(abstract.contents),
    }


def _states(contents: Sequence[Content]) -> list[Any]:
    return [
        [[[to_json(part) for part in path], to_json(value)] for path, value in content.items()]
        for content in contents
    ]


def _constant(value: Any) -> Any:
    """Return a constant; what the state could not hold is kept as a person would type it."""
    try:
        return to_json(freeze(value))
    except (StatewalkError, TypeError):
        return {"#typed": typed(value)}


def _step(step: TraceStep) -> dict[str, Any]:
    return {
        "action": step.action,
        "index": step.index,
        "actor": to_json(step.actor),
        "arguments": [[n, to_json(v)] for n, v in step.arguments],
        "choices": _choices(step.choices),
        **({"only": _choices(step.only)} if step.only else {}),
        "completed": step.completed,
        "file": step.file,
        "line": step.line,
    }


def _choices(choices: Sequence[Choice]) -> list[dict[str, Any]]:
    return [
        {"index": c.index, "options": c.options, "value": to_json(c.value), "name": c.name}
        for c in choices
    ]


def check_constants(trace: Trace) -> None:
    """Raise RunError[SW405] for a constant that a file cannot name, such as a lambda."""
    for name, value in trace.constants.items():
        if isinstance(value, GivenText) and _ADDRESS.search(value):
            raise RunError(
                "SW405",
                f"The trace does not have the value of {name}, which was {value}.",
                why="A file holds a function or a class by its name, and this has none.",
                help=f"Give {name} a function at module level, and check again.",
            )
