"""Writers of operations: our JSON Lines, and Jepsen's EDN; what each cannot carry is said.

Operations are written as those of an object: a spec says which value is an argument, and which an
answer.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from statewalk.checker.history.objects.operations import ABSENT, Operations
from statewalk.checker.history.objects.spec import CLIENT, KEY, Bound, Object


def lines_of(of: Object, history: Operations, format: str) -> tuple[list[str], list[str]]:
    """Return the lines of a history in a format, and what they do not carry.

    Raises:  HistoryError[SW701] for an operation that the object does not have.
    """
    known = replace(history, all=tuple(replace(op, status="ok") for op in history.all))
    bound = [
        replace(b, op=op) for b, op in zip(of.bind(known), history.all, strict=True)
    ]  # those that failed as well
    return _edn(bound) if format == "edn" else ([*map(_line, bound)], [])


def _arguments(bound: Bound) -> list[Any]:
    given = bound.kind.action.arguments
    return [value for name, value in given if name not in (CLIENT, KEY)]


def _line(bound: Bound) -> str:
    op, answer = bound.op, bound.kind.answer
    record: dict[str, Any] = {"client": op.client, "op": bound.kind.name, "args": _arguments(bound)}
    if bound.key is not ABSENT:
        record["key"] = bound.key
    if op.status == "ok" and answer is not ABSENT:
        record["answer"] = sorted(answer, key=repr) if isinstance(answer, frozenset) else answer
    record |= {"begin": op.begin} | ({} if op.status == "info" else {"end": op.end})
    record |= {} if op.status == "ok" else {"status": op.status}
    return json.dumps(record, ensure_ascii=False)


def _edn(operations: list[Bound]) -> tuple[list[str], list[str]]:
    """Return events in their order. A process has one operation at a time."""
    events = [(b.op.begin, 0, i) for i, b in enumerate(operations)]
    events += [(b.op.end, 1, i) for i, b in enumerate(operations) if b.op.end is not None]
    processes: dict[Any, int] = {}
    busy: dict[int, int] = {}
    lost = {"times: the order of events stays"}
    process: list[int] = [-1] * len(operations)
    found = []
    for _, ended, i in sorted(events):
        b, client = operations[i], operations[i].op.client
        if not ended:
            number = client if isinstance(client, int) and client >= 0 else None
            mine = processes.setdefault(client, len(processes) if number is None else number)
            if number is None:
                lost.add("names of clients, which are numbers now")
            if mine in busy:
                mine = processes[client] = 1 + max([*processes.values(), *busy])
                lost.add("which operations at once, or after an unknown one, are of one client")
            busy[mine] = i
            process[i] = mine
        else:
            del busy[process[i]]
        found.append(_event(b, process[i], ended=bool(ended)))
    return found, sorted(lost)


def _event(bound: Bound, process: int, *, ended: bool) -> str:
    arguments, answer = _arguments(bound), bound.kind.answer
    value: Any = arguments[0] if len(arguments) == 1 else arguments or None
    if ended and bound.op.status == "ok" and answer is not ABSENT:
        value = answer
    key = "" if bound.key is ABSENT else f", :key {_text(bound.key)}"
    kind = f":{bound.op.status}" if ended else ":invoke"
    name = bound.kind.name.replace("_", "-")
    return f"{{:process {process}, :type {kind}, :f :{name}{key}, :value {_text(value)}}}"


def _text(value: Any) -> str:
    """Return a value as EDN has it."""
    if value is None or isinstance(value, bool):
        return {None: "nil", True: "true", False: "false"}[value]
    if isinstance(value, frozenset):
        return f"#{{{' '.join(sorted(map(_text, value)))}}}"
    if isinstance(value, list | tuple):
        return f"[{' '.join(map(_text, value))}]"
    return json.dumps(value, ensure_ascii=False)
