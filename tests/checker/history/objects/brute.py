"""Objects in plain Python, and a search of all orders: shares no code with the checker."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

Outcomes = list[tuple[Any, Any]]  # (answer, state after); none where it has to wait
Step = Callable[[Any, str, tuple[Any, ...], int], Outcomes]
Status = Literal["ok", "fail", "info"]
STATUSES: tuple[Status, ...] = ("ok",) * 8 + ("info", "fail")


@dataclass(frozen=True)
class Op:
    client: int
    name: str
    args: tuple[Any, ...]
    answer: Any
    status: Status
    begin: float
    end: float | None


@dataclass(frozen=True)
class Plain:
    """An object: its first state, its steps, the operations that clients ask for."""

    first: Any
    step: Step
    asked: tuple[tuple[str, int], ...]  # name, number of arguments
    values: tuple[Any, ...] = (1, 2)


def register(state: Any, name: str, args: tuple[Any, ...], client: int) -> Outcomes:
    if name == "read":
        return [(state, state)]
    if name == "write":
        return [(None, args[0])]
    return [(True, args[1])] if args[0] == state else [(False, state)]


def kv(state: Any, name: str, args: tuple[Any, ...], client: int) -> Outcomes:
    held = dict(state)
    if name == "get":
        return [(held.get(args[0]), state)]
    if name == "delete":
        held.pop(args[0], None)
    elif name == "cas":
        if held.get(args[0]) != args[1]:
            return [(False, state)]
        held[args[0]] = args[2]
        return [(True, tuple(sorted(held.items())))]
    else:
        held[args[0]] = args[1]
    return [(None, tuple(sorted(held.items())))]


def line(state: Any, name: str, args: tuple[Any, ...], client: int) -> Outcomes:
    """A queue, a stack or a list: who takes what from which end."""
    if name in ("enqueue", "push", "append"):
        return [(None, (*state, args[0]))]
    if name == "read":
        return [(list(state), state)]
    if name == "peek":
        return [(state[0] if state else None, state)]
    if not state:
        return [] if name in ("dequeue", "pop") else [(None, state)]
    if name in ("dequeue", "poll"):
        return [(state[0], state[1:])]
    return [(state[-1], state[:-1])]


def stack(state: Any, name: str, args: tuple[Any, ...], client: int) -> Outcomes:
    return line(state, "pop_or_nothing" if name == "poll" else name, args, client)


def items(state: Any, name: str, args: tuple[Any, ...], client: int) -> Outcomes:
    if name == "read":
        return [(sorted(state), state)]
    there, without = args[0] in state, state - {*args}
    if name == "contains":
        return [(there, state)]
    if name == "remove":
        return [(there, without)]
    return [(None if name == "add" else not there, state | {*args})]


def counter(state: Any, name: str, args: tuple[Any, ...], client: int) -> Outcomes:
    after = state + sum(args)
    return [({"add": None, "add_and_fetch": after}.get(name, state), after)]


def mutex(state: Any, name: str, args: tuple[Any, ...], client: int) -> Outcomes:
    return [(None, not state)] if state == (name == "release") else []


def lock(state: Any, name: str, args: tuple[Any, ...], client: int) -> Outcomes:
    if name == "release":
        return [(None, None)] if state == client else []
    if state is None:
        return [(True if name == "try_acquire" else None, client)]
    return [(False, state)] if name == "try_acquire" else []


def lease(state: Any, name: str, args: tuple[Any, ...], client: int) -> Outcomes:
    token, over, value = state
    if name == "read":
        return [(value, state)]
    if name == "acquire":
        return [(token + 1, (token + 1, False, value))]
    newest = args[0] == token
    if name == "write":
        return [(True, (token, over, args[1]))] if newest else [(False, state)]
    lost = (token, over or newest, value)
    if name == "release":
        return [(None, lost)]
    return [(False, lost), *([(True, state)] if newest and not over else [])]


def registers(state: Any, name: str, args: tuple[Any, ...], client: int) -> Outcomes:
    held, done = dict(state), []
    for word, key, value in args[0]:
        if word == "write":
            held[key] = value
        done.append([word, key, held.get(key)])
    return [(done, tuple(sorted(held.items())))]


STEPS = (
    (("read", "x", None), ("read", "y", None)),
    (("write", "x", 1), ("write", "y", 1)),
    (("read", "x", None), ("write", "y", 2)),
)
OBJECTS = {
    "register": Plain(None, register, (("read", 0), ("write", 1), ("cas", 2))),
    "kv": Plain((), kv, (("get", 1), ("put", 2), ("cas", 3), ("delete", 1))),
    "queue": Plain((), line, (("enqueue", 1), ("dequeue", 0), ("poll", 0), ("peek", 0))),
    "stack": Plain((), stack, (("push", 1), ("pop", 0), ("poll", 0))),
    "set": Plain(
        frozenset(),
        items,
        (("add", 1), ("insert", 1), ("remove", 1), ("contains", 1), ("read", 0)),
    ),
    "registers": Plain((), registers, (("txn", 1),), STEPS),
    "counter": Plain(
        0, counter, (("read", 0), ("add", 1), ("fetch_and_add", 1), ("add_and_fetch", 1))
    ),
    "list": Plain((), line, (("append", 1), ("read", 0))),
    "mutex": Plain(False, mutex, (("acquire", 0), ("release", 0))),
    "lock": Plain(None, lock, (("acquire", 0), ("try_acquire", 0), ("release", 0))),
    "lease": Plain(
        (0, True, None),
        lease,
        (("acquire", 0), ("renew", 1), ("release", 1), ("write", 2), ("read", 0)),
    ),
}


def possible(ops: list[Op], plain: Plain, *, by_client: bool) -> bool:
    """Return whether some order of all that happened, and of some that may have, is right."""
    happened = [op for op in ops if op.status != "fail"]

    def go(left: list[Op], state: Any) -> bool:
        if all(op.status == "info" for op in left):
            return True
        for op in left:
            if not any(_precedes(other, op, by_client) for other in left):
                rest = [other for other in left if other is not op]
                for answer, after in plain.step(state, op.name, op.args, op.client):
                    right = op.status == "info" or _same(op.answer, answer)
                    if right and go(rest, after):
                        return True
        return False

    return go(happened, plain.first)


def _precedes(one: Op, other: Op, by_client: bool) -> bool:
    if one.status == "info" or one.end is None or (by_client and one.client != other.client):
        return False
    return one.end < other.begin


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return type(one) is type(other) and bool(one == other)


def histories(plain: Plain, random: random.Random, size: int) -> Iterator[list[Op]]:
    """Yield histories without end: of a store that is right, often with one wrong answer."""
    while True:
        yield _history(plain, random, random.randint(1, size))


def _history(plain: Plain, random: random.Random, size: int) -> list[Op]:
    spans = [(begin := random.random() * size, begin + random.random() * 3) for _ in range(size)]
    at = {span: random.uniform(*span) for span in spans}
    ticks = {time: n for n, time in enumerate(sorted(time for span in spans for time in span))}
    state, ops = plain.first, list[Op]()
    for begin, end in sorted(spans, key=at.__getitem__):
        name, count = random.choice(plain.asked)
        args = tuple(random.choice(plain.values) for _ in range(count))
        client = random.randint(1, 3)
        outcomes = plain.step(state, name, args, client)
        answer: Any = None
        status: Status = random.choice(STATUSES)
        if outcomes and status != "fail" and not (status == "info" and random.random() < 0.5):
            answer, state = random.choice(outcomes)
        elif not outcomes and status == "ok" and random.random() < 0.8:
            status = "fail"
        over = None if status == "info" else ticks[end]
        ops.append(Op(client, name, args, answer, status, ticks[begin], over))
    at_fault = random.randrange(size)
    told = [op.answer for op in ops if op.name == ops[at_fault].name]
    if random.random() < 0.6 and any(answer is not None for answer in told):
        other = (True, False) if isinstance(told[0], bool) else (*told, *told, *plain.values)
        ops[at_fault] = replace(ops[at_fault], answer=random.choice(other))
    return sorted(ops, key=lambda op: op.begin)


def crowd(plain: Plain, random: random.Random, size: int, clients: int, names: str) -> list[Op]:
    """Return a right history of clients that are never idle, in which no value is used twice."""
    free = [(random.random(), client) for client in range(clients)]
    spans: list[tuple[float, float, float, int]] = []
    for _ in range(size):
        begin, client = free.pop(free.index(min(free)))
        end = begin + random.random()
        spans.append((random.uniform(begin, end), begin, end, client))
        free.append((end, client))
    state, ops = plain.first, list[Op]()
    asked = [(name, count) for name, count in plain.asked if name in names.split()]
    for value, (_, begin, end, client) in enumerate(sorted(spans)):
        outcomes, name, count = Outcomes(), "", 0
        while not outcomes:
            name, count = random.choice(asked)
            outcomes = plain.step(state, name, (value,) * count, client)
        answer, state = outcomes[0]
        ops.append(Op(client, name, (value,) * count, answer, "ok", begin, end))
    return sorted(ops, key=lambda op: op.begin)
