"""Writers of operations: our JSON Lines, and Jepsen's EDN; what each cannot carry is said.

Operations are written as those of an object: a spec says which value is an argument, and which an
answer. What is written is read again, and has to say the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

from statewalk.checker.history.errors import HistoryError
from statewalk.checker.history.objects.operations import ABSENT, Operations
from statewalk.checker.history.objects.reading import parsed
from statewalk.checker.history.objects.spec import CLIENT, KEY, Bound, Object
from statewalk.checker.states.json import plain
from statewalk.dsl.values.stored import encode

_HALF = re.compile("[\ud800-\udfff]")  # a part of a character, which no file can have as it is


def lines_of(of: Object, history: Operations, format: str) -> tuple[list[str], list[str]]:
    """Return the lines of a history in a format, and what they do not carry.

    Raises:  HistoryError[SW701] for an operation that the object does not have, or that the format
             cannot say.
    """
    operations = _bound(of, history)
    telling = {name for name, known in of.signatures.items() if known.returns != "None"}
    lines, lost = [*map(_line, operations)], list[str]()
    if format == "edn":
        lines, lost = _edn(operations, telling)
    lines = [_HALF.sub(lambda half: f"\\u{ord(half[0]):x}", line) for line in lines]
    again = _bound(of, parsed(Path(f"{history.source} as {format}"), format, "\n".join(lines)))
    for one, other in zip(operations, again, strict=True):
        if _said(one) != _said(other):
            raise HistoryError(
                f"{format} cannot say {one.kind.shown}: it would be {other.kind.shown}",
                source=history.source,
                where=one.op.where,
                expected="another format",
            )
    return lines, lost


def _bound(of: Object, history: Operations) -> list[Bound]:
    """Return all operations, those that failed as well."""
    known = replace(history, all=tuple(replace(op, status="ok") for op in history.all))
    return [replace(b, op=op) for b, op in zip(of.bind(known), history.all, strict=True)]


def _said(bound: Bound) -> tuple[Any, ...]:
    """Return what decides of an operation, but for times and clients."""
    op, given = bound.op, bound.kind.action.arguments
    arguments = tuple(encode(value) for name, value in given if name != CLIENT)
    answer = bound.kind.answer if op.status == "ok" else ABSENT
    told = "" if answer is ABSENT else json.dumps(_listed(answer), sort_keys=True)
    return bound.kind.name, arguments, op.status, told


def _arguments(bound: Bound) -> list[Any]:
    given = bound.kind.action.arguments
    return [value for name, value in given if name not in (CLIENT, KEY)]


def _line(bound: Bound) -> str:
    op, answer = bound.op, bound.kind.answer
    arguments = [*map(plain, _arguments(bound))]
    record: dict[str, Any] = {"client": op.client, "op": bound.kind.name, "args": arguments}
    if bound.key is not ABSENT and KEY in dict(bound.kind.action.arguments):
        record["key"] = bound.key
    if op.status == "ok" and answer is not ABSENT:
        record["answer"] = _listed(answer)
    record |= {} if op.status == "ok" else {"status": op.status}
    end = "" if op.status == "info" else f', "end": {op.end}'
    return f'{json.dumps(record, ensure_ascii=False)[:-1]}, "begin": {op.begin}{end}}}'


def _listed(value: Any) -> Any:
    """Return an answer as JSON has it: sets are lists, and dicts with other keys are tagged."""
    if isinstance(value, frozenset):
        return sorted(map(_listed, value), key=repr)
    if isinstance(value, list | tuple):
        return [*map(_listed, value)]
    if not isinstance(value, Mapping):
        return value
    pairs = [[_listed(key), _listed(one)] for key, one in value.items()]
    named = all(isinstance(key, str) for key in value)
    return dict(pairs) if named else {"#dict": sorted(pairs, key=repr)}


def _edn(operations: list[Bound], telling: set[str]) -> tuple[list[str], list[str]]:
    """Return events in their order. A process has one operation at a time. Of actions that are
    ``telling``, a completion has the answer, if it is known.
    """
    events = [(b.op.begin, 0, i) for i, b in enumerate(operations)]
    events += [(b.op.end, 1, i) for i, b in enumerate(operations) if b.op.end is not None]
    clients = {b.op.client for b in operations}
    processes: dict[Any, int] = {c: c for c in clients if isinstance(c, int) and c >= 0}
    free = count(1 + max(processes.values(), default=-1))
    busy: dict[int, int] = {}
    lost = {"times: the order of events stays"}
    process: list[int] = [-1] * len(operations)
    found = []
    for _, ended, i in sorted(events):
        b, client = operations[i], operations[i].op.client
        if not ended:
            if client not in processes:
                processes[client] = next(free)
                lost.add("names of clients, which are numbers now")
            if processes[client] in busy:
                processes[client] = next(free)
                lost.add("which operations at once, or after an unknown one, are of one client")
            mine = processes[client]
            busy[mine] = i
            process[i] = mine
        else:
            del busy[process[i]]
        told = ended and b.op.status == "ok" and b.kind.name in telling
        found.append(_event(b, process[i], ended=bool(ended), told=bool(told)))
    return found, sorted(lost)


def _event(bound: Bound, process: int, *, ended: bool, told: bool) -> str:
    arguments = _arguments(bound)
    value: Any = arguments[0] if len(arguments) == 1 else arguments or None
    value = bound.kind.answer if told else value
    keyed = KEY in dict(bound.kind.action.arguments)
    key = f", :key {_text(bound.key)}" if keyed else ""
    kind = f":{bound.op.status}" if ended else ":invoke"
    name = bound.kind.name.replace("_", "-")
    shown = "" if value is ABSENT else f", :value {_text(value)}"
    return f"{{:process {process}, :type {kind}, :f :{name}{key}{shown}}}"


def _text(value: Any) -> str:
    """Return a value as EDN has it."""
    if value is None or isinstance(value, bool):
        return {None: "nil", True: "true", False: "false"}[value]
    if isinstance(value, frozenset):
        return f"#{{{' '.join(sorted(map(_text, value)))}}}"
    if isinstance(value, list | tuple):
        return f"[{' '.join(map(_text, value))}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_text(k)} {_text(v)}' for k, v in value.items())}}}"
    return json.dumps(plain(value), ensure_ascii=False)
