"""JSON in the shape that TLC's ``-dumpTrace json`` writes, for tools that read those files.

Lossy, as TLC's own is: sets, lists and tuples are arrays, roles and enum members strings. States
count from 1; a lasso has one more action whose target is the state it returns to.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from statewalk.checker.states.json import plain
from statewalk.checker.traces.exports.naming import variables
from statewalk.dsl.values.stored import ABSENT

if TYPE_CHECKING:
    from statewalk.checker.traces.trace import Trace, TraceStep


def to_tlc(trace: Trace) -> str:
    """A trace as TLC's JSON."""
    names = variables(trace)
    states = [
        {n: plain(c[p]) if c.get(p, ABSENT) is not ABSENT else "None" for p, n in names.items()}
        for c in trace.contents
    ]
    numbered = [[at + 1, state] for at, state in enumerate(states)]
    done = [step for step in trace.steps if step.completed]
    actions = []
    for at, step in enumerate(done):
        target = at + 1
        if at == len(done) - 1 and trace.loop is not None:
            target = trace.loop
        actions.append([numbered[at], _action(step), numbered[min(target, len(numbered) - 1)]])
    if trace.loop is not None:
        numbered = numbered[: len(done)] or numbered
    document = {
        "counterexample": {"action": actions, "state": numbered},
        "vars": list(names.values()),
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _action(step: TraceStep) -> dict[str, Any]:
    module = step.file.rpartition("/")[2].partition(".")[0]
    arguments = {"self": repr(step.actor)} if step.actor is not None else {}
    arguments |= {name: plain(value) for name, value in step.arguments}
    return {
        "name": step.action,
        "location": {
            "beginLine": step.line,
            "beginColumn": 1,
            "endLine": step.line,
            "endColumn": 1,
            "module": module,
        },
        "context": arguments,
        "parameters": list(arguments),
    }
