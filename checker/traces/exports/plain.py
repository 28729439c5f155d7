"""Plain JSON: for programs that only want to look."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from statewalk.checker.states.json import plain
from statewalk.checker.traces.exports.naming import variables

if TYPE_CHECKING:
    from statewalk.checker.traces.trace import Trace


def to_json(trace: Trace) -> str:
    """A trace as states and steps with untagged values."""
    names = variables(trace)
    document = {
        "spec": trace.spec,
        "property": trace.property,
        "kind": trace.kind,
        "constants": {name: plain(value) for name, value in trace.constants.items()},
        "loop": trace.loop,
        "states": [{names[p]: plain(v) for p, v in content.items()} for content in trace.contents],
        "steps": [
            {
                "action": step.action,
                "actor": None if step.actor is None else repr(step.actor),
                "arguments": {name: plain(value) for name, value in step.arguments},
                "choices": [
                    {"name": c.name, "index": c.index, "value": plain(c.value)}
                    for c in step.choices
                ],
            }
            for step in trace.steps
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
