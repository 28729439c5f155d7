"""The report of `statewalk history check --object`, as text and as JSON."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from statewalk.checker.history.objects.deciding import Verdict
from statewalk.checker.history.objects.explain import Explanation
from statewalk.checker.history.objects.operations import Operations
from statewalk.checker.history.objects.spec import Bound, Object
from statewalk.dsl.errors import one_line

_LAST = 8  # operations of an order that are shown
_NEEDED = 12


def text(object: Object, history: Operations, verdict: Verdict, found: Explanation | None) -> str:
    """Return the report for a reader at a terminal."""
    out = [_about(object, history), *verdict.notes, ""]
    if verdict.holds is None:
        out.append(f"{verdict.condition}: undecided after {verdict.configurations} configurations")
    elif verdict.holds:
        keys = f", each of {len(verdict.parts)} keys for itself" if len(verdict.parts) > 1 else ""
        out.append(
            f"{verdict.condition}: holds ({verdict.configurations} configurations{keys}; "
            "the order found was executed anew)"
        )
    else:
        out.append(f"{verdict.condition}: violated")
    if found is not None:
        out += ["", *_explained(found)]
        if not object.nil_is_unknown and _has_nil(found):
            out.append("An answer of nil may also mean that nothing was read: see --nil unknown.")
    return "\n".join(map(one_line, out)) + "\n"


def _about(object: Object, history: Operations) -> str:
    counts = Counter(op.status for op in history.all)
    fates = [(counts["fail"], "failed, without effect"), (counts["info"], "of unknown outcome")]
    rest = "".join(f", {count} {fate}" for count, fate in fates if count)
    clients = history.clients()
    return (
        f"{history.source} ({history.format}): {len(history.all)} operations of "
        f"{clients} client{'s' * (clients != 1)}{rest}; object {object.model.name}"
    )


def _has_nil(found: Explanation) -> bool:
    """Return whether a nil of Jepsen's is among the answers that contradict each other."""
    suspects = [found.part.operations[i] for i in (*found.needed, *_failed(found))]
    return any(b.kind.answer is None and not b.op.exact for b in suspects)


def _failed(found: Explanation) -> tuple[int, ...]:
    return () if found.failed is None else (found.failed,)


def _named(bound: Bound) -> str:
    unknown = "" if bound.required else ", outcome unknown"
    return f"{bound.kind.shown}  (client {bound.op.client}, {bound.op.where}{unknown})"


def _explained(found: Explanation) -> list[str]:
    operations = found.part.operations
    key = f" of key {found.part.key}" if found.part.key else ""
    out = []
    if found.failed is not None:
        out.append(f"{_named(operations[found.failed])} fits nowhere.")
    out.append(
        f"The longest order{key} has {len(found.order)} of {len(operations)} operations"
        + (", and ends with" if found.order else ".")
    )
    shown = found.order[-_LAST:]
    out += [f"  … {len(found.order) - len(shown)} before"] * (len(found.order) > len(shown))
    out += [f"  {_named(operations[i])}   then {state}" for i, state in shown]
    for end in found.ends:
        out.append(f"In {end.state}:")
        for candidate in end.candidates:
            why = candidate.why or "is possible, and does not help"
            out.append(f"  {_named(operations[candidate.operation])}: {why}")
    if found.more:
        out.append(f"  … and {found.more} other states")
    if found.needed and len(found.needed) <= _NEEDED:
        out.append("These have no order, whatever the other operations did and were told:")
        out += [f"  {_named(operations[i])}" for i in found.needed]
    return out


def as_json(
    object: Object, history: Operations, verdict: Verdict, found: Explanation | None
) -> str:
    """Return the report for programs."""
    counts = Counter(op.status for op in history.all)
    result: dict[str, Any] = {
        "schema": 1,
        "file": history.source,
        "format": history.format,
        "object": object.model.path,
        "condition": verdict.condition,
        "order": verdict.order,
        "holds": verdict.holds,
        "operations": len(history.all),
        "clients": history.clients(),
        "failed": counts["fail"],
        "unknown": counts["info"],
        "keys": len(verdict.parts) if verdict.parts[0].key is not None else None,
        "configurations": verdict.configurations,
        "states": len(object.states),
        "seconds": round(verdict.seconds, 3),
        "notes": verdict.notes,
    }
    if verdict.holds:
        result["witness"] = [
            {"key": part.key, "order": [_json(part.operations[i]) for i, _ in part.outcome.order]}
            for part in verdict.parts
            if part.outcome is not None and part.outcome.order is not None
        ]
    if found is not None:
        operations = found.part.operations
        result["violation"] = {
            "key": found.part.key,
            "failed": None if found.failed is None else _json(operations[found.failed]),
            "order": [{**_json(operations[i]), "state": state} for i, state in found.order],
            "ends": [
                {
                    "state": end.state,
                    "candidates": [
                        {**_json(operations[c.operation]), "why_not": c.why or None}
                        for c in end.candidates
                    ],
                }
                for end in found.ends
            ],
            "needed": [_json(operations[i]) for i in found.needed],
        }
    return json.dumps(result, indent=2, ensure_ascii=False)


def _json(bound: Bound) -> dict[str, Any]:
    op = bound.op
    lines = [op.place, op.ended] if op.ended > op.place else [op.place]
    return {"operation": bound.kind.shown, "client": op.client, "status": op.status, "lines": lines}
