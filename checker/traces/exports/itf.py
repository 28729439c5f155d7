"""Informal Trace Format (ITF).

Sets and maps are written in canonical order: viewers compare states as text. Integers have the
form ``{"#bigint": "1"}``. ITF knows no actions, so each state says in its ``#meta`` which step led
to it, and in the variables ``mbt::actionTaken`` and ``mbt::nondetPicks`` when asked.

Source: Apalache's ADR-015, revision of September 2023.
"""

from __future__ import annotations

import json
from enum import Enum
from typing import TYPE_CHECKING, Any

from statewalk.checker.traces.exports.naming import variables
from statewalk.dsl.state.roles import Role
from statewalk.dsl.values.records import Record, fields_of
from statewalk.dsl.values.stored import ABSENT, FrozenBag, FrozenDict, FrozenList, FrozenSet

if TYPE_CHECKING:
    from statewalk.checker.traces.trace import Trace, TraceStep

_UNIT: dict[str, Any] = {"#tup": []}
_NONE = {"tag": "None", "value": _UNIT}


def to_itf(trace: Trace, *, mbt: bool = False) -> str:
    """A trace as ITF text; ``mbt`` adds what drivers of real systems read."""
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
    """Every argument and named choice of the trace: what this step picked, None for the others."""
    picked: dict[str, Any] = {}
    if step is not None:
        picked.update(step.arguments)
        picked.update({c.name: c.value for c in step.choices if c.name})
    names = sorted(
        {n for s in trace.steps for n, _ in s.arguments}
        | {c.name for s in trace.steps for c in s.choices if c.name}
    )
    return {
        n: {"tag": "Some", "value": to_value(picked[n])} if n in picked else _NONE for n in names
    }


def to_value(value: Any) -> Any:
    """A stored value in ITF."""
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
