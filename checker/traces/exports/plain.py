"""Plain JSON: for programs that only want to look."""

from __future__ import annotations

import json
import re
from enum import Enum
from typing import TYPE_CHECKING, Any

from statewalk.checker.states.json import plain
from statewalk.dsl.state.roles import Role
from statewalk.dsl.values.records import Record, fields_of
from statewalk.dsl.values.stored import ABSENT, FrozenBag, FrozenDict, FrozenList, FrozenSet

if TYPE_CHECKING:
    from statewalk.checker.traces.trace import Trace, TraceStep
    from statewalk.dsl.view import Path


def to_json(trace: Trace) -> str:
    """Return a trace as states and steps with untagged values."""
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


def variables(trace: Trace) -> dict[Path, str]:
    """Return every place of a trace's states → an identifier; singletons without a number."""
    paths = list(dict.fromkeys(path for content in trace.contents for path in content))
    several = {path[0] for path in paths if len(path) > 1 and path[1] != 0}
    names: dict[Any, str] = {}
    for path in paths:
        parts = [str(p) for p in path if not (p == 0 and path[0] not in several and p is path[1])]
        name = re.sub(r"\W", "_", "_".join(parts))
        while name in names.values():
            name += "_"
        names[path] = name
    return names


_UNIT: dict[str, Any] = {"#tup": []}
_NONE = {"tag": "None", "value": _UNIT}


def to_itf(trace: Trace, *, mbt: bool = False) -> str:
    """Return a trace as ITF text; ``mbt`` adds what drivers of real systems read."""
    names = variables(trace)
    states = []
    for at, content in enumerate(trace.contents):
        step = trace.steps[at - 1] if at else None
        meta: dict[str, Any] = {"index": at}
        if step is not None:
            meta["statewalk"] = {"step": step.label}
        state: dict[str, Any] = {"#meta": meta}
        for path, name in names.items():
            value = content.get(path, ABSENT)
            state[name] = _NONE if value is ABSENT else to_value(value)
        if mbt:
            state["mbt::actionTaken"] = step.action if step else "init"
            state["mbt::nondetPicks"] = _picks(trace, step)
        states.append(state)
    shown = [*names.values(), *(["mbt::actionTaken", "mbt::nondetPicks"] if mbt else [])]
    document: dict[str, Any] = {"#meta": _meta(trace), "vars": shown, "states": states}
    if trace.loop is not None:
        document["loop"] = trace.loop
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _meta(trace: Trace) -> dict[str, Any]:
    constants = {name: repr(value) for name, value in trace.constants.items()}
    return {
        "format": "ITF",
        "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
        "description": f"{trace.property} of {trace.spec}, {trace.length} steps",
        "statewalk": {"property": trace.property, "kind": trace.kind, "constants": constants},
    }


def _picks(trace: Trace, step: TraceStep | None) -> dict[str, Any]:
    """Return every argument and named choice of the trace: what this step picked, None for
    the others.
    """
    picked: dict[str, Any] = {}
    if step is not None:
        picked.update(step.arguments)
        picked.update({c.name: c.value for c in (*step.only, *step.choices) if c.name})
    names = sorted(
        {n for s in trace.steps for n, _ in s.arguments}
        | {c.name for s in trace.steps for c in (*s.only, *s.choices) if c.name}
    )
    return {
        n: {"tag": "Some", "value": to_value(picked[n])} if n in picked else _NONE for n in names
    }


def to_value(value: Any) -> Any:
    """Return a stored value in ITF."""
    kind = type(value)
    if kind is bool or kind is str:
        return value
    if value is None:
        return _NONE
    if kind is int:
        return {"#bigint": str(value)}
    if kind is FrozenList:
        return [to_value(v) for v in value]
    if kind is tuple:
        return {"#tup": [to_value(v) for v in value]}
    if kind is FrozenSet:
        return {"#set": [to_value(v) for v in value]}
    if kind is FrozenBag:
        return {"#map": [[to_value(v), {"#bigint": str(n)}] for v, n in value.counts()]}
    if kind is FrozenDict:
        return {"#map": [[to_value(k), to_value(v)] for k, v in value.items()]}
    if isinstance(value, Enum):
        return value.name or repr(value)  # no flag at all may have no name
    if isinstance(value, Role):
        return repr(value)
    if isinstance(value, Record):
        return {name.lstrip("#"): to_value(getattr(value, name)) for name in fields_of(value)}
    return {"#unserializable": repr(value)}


def to_tlc(trace: Trace) -> str:
    """Return a trace as TLC's JSON."""
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
