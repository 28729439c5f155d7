"""Logs of random walks, and logs with one event changed, beside a search that enumerates states."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from statewalk.checker.api import load
from statewalk.checker.behaviours.guided import possible
from statewalk.checker.conform.events import event_of
from statewalk.checker.conform.follow import follow
from statewalk.checker.conform.followed import Limits
from statewalk.checker.conform.order import order_of
from statewalk.checker.states.content import content_of, show_field
from statewalk.checker.states.json import plain
from statewalk.dsl.errors import RunError
from tests.cases import some

SPECS = ["models/toys/die_hard.py", "models/toys/two_phase_commit.py", "models/toys/queue.py"]
CHANGES = ("none", "drop", "double", "swap", "alter")


def logged(model: Any, taken: Any, fields: bool) -> dict[str, Any]:
    """A step as a system would log it."""
    step = taken.step
    event: dict[str, Any] = {"action": step.action}
    if step.actor is not None:
        event["actor"] = repr(step.actor)
    chosen = dict(step.arguments) | {c.name: c.value for c in (*step.choices, *step.only)}
    event["with"] = {name: plain(value) for name, value in chosen.items() if name}
    if fields:
        event["after"] = {
            show_field(path): plain(value)
            for path, value in content_of(model, taken.state).items()
            if path[0] == type(step.actor).__name__ and type(value) in (int, bool, str)
        }
    return event


def walk(model: Any, source: random.Random, length: int) -> list[dict[str, Any]]:
    """The log of a random walk."""
    log: list[dict[str, Any]] = []
    state: Any = dict(model.initial_states[0])
    for _ in range(length):
        steps = [one for one in possible(model, state) if one.state is not None]
        if not steps:
            break
        taken = source.choice(steps)
        log.append(logged(model, taken, source.random() < 0.5))
        state = taken.state
    return log


def other(value: Any) -> Any:
    """Another value of the same kind, where there is one for certain."""
    if isinstance(value, int):
        return not value if isinstance(value, bool) else value + 97
    return "something else"


def changed(log: list[dict[str, Any]], how: str, source: random.Random, model: Any) -> None:
    """Change one event of a log."""
    at = source.randrange(len(log))
    if how == "drop":
        del log[at]
    elif how == "double":
        log.insert(at, dict(log[at]))
    elif how == "swap" and at:
        log[at - 1], log[at] = log[at], log[at - 1]
    elif how == "alter" and log[at].get("after"):
        name = source.choice(list(log[at]["after"]))
        log[at]["after"][name] = other(log[at]["after"][name])
    elif how == "alter":
        named = source.choice(model.actions)
        log[at] = {"action": named.name}
        if named.actor is not None:
            log[at]["actor"] = repr(named.actor)


def enumerated(model: Any, log: list[dict[str, Any]], hidden: str) -> int:
    """Return how many events there is a behavior for: all states that can be, by their whole
    content.
    """

    def key(state: Any) -> str:
        return repr(sorted((repr(p), repr(v)) for p, v in content_of(model, state).items()))

    states = {key(s): s for s in model.initial_states}
    for accepted, event in enumerate(log):
        waiting = list(states.values())
        while waiting:
            for taken in possible(model, waiting.pop()):
                if taken.state is not None and taken.step.action == hidden:
                    if key(taken.state) not in states:
                        states[key(taken.state)] = taken.state
                        waiting.append(taken.state)
        following = {}
        for state in states.values():
            for taken in possible(model, state):
                if taken.state is None:
                    continue
                said = logged(model, taken, True)
                if all(said["with"].get(k) == v for k, v in event.get("with", {}).items()) and all(
                    said["after"].get(k) == v for k, v in event.get("after", {}).items()
                ):
                    if (said["action"], said.get("actor")) == (event["action"], event.get("actor")):
                        following[key(taken.state)] = taken.state
        if not following:
            return accepted
        states = following
    return len(log)


def interleavings(
    chains: list[list[dict[str, Any]]], needs: dict[int, int]
) -> Iterator[list[dict[str, Any]]]:
    """Every order in which each chain keeps its own, and what an event needs comes before it."""

    def go(left: list[list[dict[str, Any]]], done: list[dict[str, Any]]) -> Any:
        if not any(left):
            yield done
        for at, chain in enumerate(left):
            if chain and (id(chain[0]) not in needs or needs[id(chain[0])] in map(id, done)):
                yield from go([*left[:at], chain[1:], *left[at + 1 :]], [*done, chain[0]])

    yield from go(chains, [])


def judge_processes(spec: str, seed: int) -> tuple[bool, str]:
    """The same of logs of several processes, beside trying every order that their messages, or
    vector clocks, allow.
    """
    source = random.Random(seed)
    model = load(spec)
    log = walk(model, source, source.randint(2, 7))
    how = CHANGES[seed % len(CHANGES)]
    changed(log, how, source, model)
    log = [dict(event) for event in log]
    chains: list[list[dict[str, Any]]] = [[], [], []]
    needs: dict[int, int] = {}
    clocks: dict[int, Any] = {}
    for at, event in enumerate(log):
        process = source.randrange(3)
        earlier = [e for e in log[:at] if e not in chains[process]]
        clock = dict(clocks[id(chains[process][-1])]) if chains[process] else {}
        if earlier and source.random() < 0.5:
            cause = source.choice(earlier)
            needs[id(event)] = id(cause)
            known = clocks[id(cause)]
            clock = {p: max(clock.get(p, 0), known.get(p, 0)) for p in {*clock, *known}}
        clock[str(process)] = len(chains[process]) + 1
        clocks[id(event)] = clock
        chains[process].append(event)
    by_clocks = source.random() < 0.5
    logs = [
        [
            event_of(str(process), n, event | _ordered(event, needs, clocks, by_clocks))
            for n, event in enumerate(chain, 1)
        ]
        for process, chain in enumerate(chains)
    ]
    if not by_clocks and not needs:  # then nothing says the order
        return True, "none"
    try:
        followed = follow(model, order_of(logs))
    except RunError as mistake:  # a value that the field can never have
        if (mistake.code, how) != ("SW391", "alter"):
            raise
        return False, how
    deep = follow(model, order_of(logs), limits=Limits(deep=True))
    assert (deep.accepted, deep.conforms) == (followed.accepted, followed.conforms)
    orders = interleavings(chains, needs)
    expected = any(enumerated(model, order, "") == len(order) for order in orders)
    assert followed.conforms == expected, (spec, seed, how)
    if how == "none":
        assert followed.conforms
    return followed.conforms, how


def _ordered(
    event: dict[str, Any], needs: dict[int, int], clocks: dict[int, Any], by_clocks: bool
) -> dict[str, Any]:
    if by_clocks:
        return {"clock": clocks[id(event)]}
    cause = {"received": str(needs[id(event)])} if id(event) in needs else {}
    return {"sent": str(id(event)), **cause}


def judge(spec: str, seed: int) -> tuple[bool, str]:
    """Return whether a log conforms, by both; the way in which it was changed."""
    source = random.Random(seed)
    model = load(spec)
    log = walk(model, source, source.randint(1, 14))
    how = CHANGES[seed % len(CHANGES)]
    changed(log, how, source, model)
    hidden = source.choice(["", "", source.choice(model.actions).name])
    if hidden:
        log = [event for event in log if event["action"] != hidden]
    events = [event_of("log", n, event) for n, event in enumerate(log, 1)]
    silent = [action for action in model.actions if action.name == hidden]
    try:
        followed = follow(model, order_of([events]), silent)
    except RunError as mistake:  # a value that the field can never have
        if (mistake.code, how) != ("SW391", "alter"):
            raise
        assert enumerated(model, log, hidden) < len(log)
        return False, how
    assert followed.accepted == enumerated(model, log, hidden), (spec, seed, how, hidden)
    deep = follow(model, order_of([events]), silent, Limits(deep=True))
    assert (deep.accepted, deep.conforms) == (followed.accepted, followed.conforms)
    assert deep.broken == followed.broken
    assert not deep.first or (deep.conforms and not deep.broken)
    if deep.first:
        taken = [event for _, event in deep.path()[1] if event is not None]
        assert events == taken
    if how == "none":
        assert followed.conforms
    return followed.conforms, how


@pytest.mark.sampled(2)
@pytest.mark.parametrize("spec", some(SPECS, every=2))
def test_verdicts_are_those_of_enumeration(spec: str) -> None:
    found = [judge(spec, seed) for seed in range(12)]
    assert {conforms for conforms, how in found if how != "none"} == {True, False}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("spec", SPECS[:2])
def test_verdicts_on_several_processes_are_those_of_every_order(spec: str) -> None:
    found = [judge_processes(spec, seed) for seed in range(8)]
    assert {conforms for conforms, how in found if how != "none"} == {True, False}


@pytest.mark.slow
@pytest.mark.parametrize("spec", [*SPECS, "models/kafka/init_pid.py"])
@pytest.mark.parametrize("how", [judge, judge_processes])
def test_many_verdicts_are_those_of_enumeration(spec: str, how: Any) -> None:
    found = [how(spec, seed) for seed in range(1000)]
    assert {conforms for conforms, how in found if how != "none"} == {True, False}
