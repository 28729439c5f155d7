"""Generated specs with generated logs, in which events are dropped, doubled, swapped, false or say
little: beside subset simulation in plain Python, which knows nothing of the checker.

`LOGS=20000 pytest -m slow tests/checker/conform/test_generated_logs.py` looks at so many.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest

from statewalk.checker.conform.followed import Limits
from statewalk.checker.conforming import Question
from statewalk.dsl.loader import load

MANY = int(os.environ.get("LOGS", "2000"))
LOGS = 8  # of each spec
SPEC = """
from statewalk import *

TABLE = {table}
SHOWN = {shown}

class Box(Role):
    n: int = 0
    v: {kind} = SHOWN[0]

{actions}

boxes = [Box() for _ in range({number})]
deadlock(False)

@init
def begin() -> None:
    for box in boxes:
        box.n = any_of({starts})
        box.v = SHOWN[box.n]

@always
def calm() -> bool:
    return all(box.n not in {bad} for box in boxes)

@always
def apart() -> bool:
    return boxes[0].n != {alone} or len(boxes) == 1 or boxes[1].n != {alone}

@on_step
def steady() -> bool:
    return all((old(box.n), box.n) not in {wrong} for box in boxes)
"""
ACTION = """
    @action
    def a{k}(self, o: int = any_of((0, 1))) -> None:
        self.n = any_of(TABLE.get((self.n, {k}, o), []))
        self.v = SHOWN[self.n]
"""
State = tuple[int, ...]


@dataclass(frozen=True)
class Move:
    """A step: of which box, by which action and argument, to which state."""

    who: int
    action: int
    o: int
    after: State


@dataclass
class Boxes:
    """Boxes that go along one table; ``shown`` are values by place, written as in a spec."""

    number: int
    n: int
    table: dict[tuple[int, int, int], list[int]]
    shown: list[Any]
    starts: list[int]
    bad: set[int]
    alone: int
    wrong: set[tuple[int, int]]

    @classmethod
    def some(cls, random: Random) -> Boxes:
        n = random.randint(2, 5)
        table: dict[tuple[int, int, int], list[int]] = {}
        for _ in range(random.randint(3, 12)):
            at = (random.randrange(n), random.randrange(3), random.randrange(2))
            table.setdefault(at, []).append(random.randrange(n))
        table = {at: sorted(set(to)) for at, to in sorted(table.items())}
        values = random.choice([[0, 1, 2], [0, 1, True, False]])
        pairs = {(random.randrange(n), random.randrange(n)) for _ in range(random.randint(0, 2))}
        return cls(
            random.choice([1, 1, 2]), n, table, [random.choice(values) for _ in range(n)],
            random.sample(range(n), random.randint(1, 2)),
            set(random.sample(range(n), random.choice([0, 0, 1]))), random.randrange(n + 2),
            {(a, b) for a, b in pairs if a != b},
        )  # fmt: skip

    def text(self) -> str:
        return SPEC.format(
            table=self.table, shown=self.shown, kind="int | bool", number=self.number,
            actions="".join(ACTION.format(k=k) for k in range(3)), starts=self.starts,
            bad=tuple(self.bad), alone=self.alone, wrong=tuple(self.wrong),
        )  # fmt: skip

    def initial(self) -> list[State]:
        return [(a,) if self.number == 1 else (a, b) for a in self.starts
                for b in (self.starts if self.number > 1 else [0])]  # fmt: skip

    def moves(self, state: State) -> Iterator[Move]:
        for who, at in enumerate(state):
            for (place, action, o), targets in self.table.items():
                for to in targets if place == at else ():
                    yield Move(who, action, o, (*state[:who], to, *state[who + 1 :]))

    def broken(self, before: State | None, state: State) -> frozenset[str]:
        """The properties that a state, or the step to it, violates."""
        found = set()
        if any(at in self.bad for at in state):
            found.add("calm")
        if len(state) > 1 and state[0] == state[1] == self.alone:
            found.add("apart")
        if before is not None and any(p in self.wrong for p in zip(before, state, strict=True)):
            found.add("steady")
        return frozenset(found)

    def field(self, name: str, state: State) -> Any:
        """The value of ``Box#1.v``, as text: Python takes True for 1."""
        who, _, which = name.removeprefix("Box#").partition(".")
        return repr(self.shown[state[int(who)]] if which == "v" else state[int(who)])


@dataclass(frozen=True)
class Options:
    hidden: tuple[int, ...]
    watched: tuple[str, ...]
    most: int | None


def log_of(random: Random, boxes: Boxes, options: Options) -> list[dict[str, Any]]:
    """The log of a walk, changed here and there."""
    log: list[dict[str, Any]] = []
    state = random.choice(boxes.initial())
    for _ in range(random.randint(1, 9)):
        moves = list(boxes.moves(state))
        if not moves:
            break
        move = random.choice(moves)
        if move.action not in options.hidden:
            log.append(event_of(random, boxes, state, move))
        state = move.after
    for _ in range(random.choice([0, 0, 1, 2])):
        if log:
            disturb(random, log)
    return log


def event_of(random: Random, boxes: Boxes, before: State, move: Move) -> dict[str, Any]:
    """A step as a system would log it, with some of it left out."""

    def some(chance: float) -> bool:
        return random.random() < chance

    event: dict[str, Any] = {}
    if some(0.85):
        event["action"] = random.choice(["a{}", "Box.a{}"]).format(move.action)
    if some(0.5):
        event["actor"] = f"Box#{move.who}"
    if some(0.5):
        event["with"] = {"o": move.o}
    for key, state in (("before", before), ("after", move.after)):
        names = [f"Box#{who}.{which}" for who in range(boxes.number) for which in "nv"]
        told = [name for name in names if some(0.2)]
        if told:
            own = f"Box#{move.who}."
            event[key] = {
                (name.removeprefix(own) if "actor" in event and some(0.5) else name): json.loads(
                    boxes.field(name, state).lower()
                )
                for name in told
            }
    if some(0.2):
        event["changes"] = [f"Box#{random.randrange(boxes.number)}.{random.choice('nv')}"]
    return event


def disturb(random: Random, log: list[dict[str, Any]]) -> None:
    """Drop, double, swap or falsify an event."""
    at = random.randrange(len(log))
    how = random.choice(["drop", "double", "swap", "false", "false"])
    if how == "drop":
        del log[at]
    elif how == "double":
        log.insert(at, dict(log[at]))
    elif how == "swap":
        other = random.randrange(len(log))
        log[at], log[other] = log[other], log[at]
    elif log[at].get("after"):
        name = random.choice(list(log[at]["after"]))
        log[at]["after"] = log[at]["after"] | {name: random.choice([0, 1, 2])}
    else:
        log[at] = log[at] | {"with": {"o": random.randrange(2)}}


def is_it(boxes: Boxes, event: dict[str, Any], before: State, move: Move) -> bool:
    """Return whether a step can be what an event says."""
    own = event.get("actor", "") + "."

    def full(name: str) -> str:
        return name if "#" in name else own + name

    def alike(key: str, state: State) -> bool:
        said = event.get(key, {})
        return all(repr(value) == boxes.field(full(name), state) for name, value in said.items())

    return (
        event.get("action", f"a{move.action}").removeprefix("Box.") == f"a{move.action}"
        and event.get("actor", f"Box#{move.who}") == f"Box#{move.who}"
        and event.get("with", {}).get("o", move.o) == move.o
        and alike("before", before)
        and alike("after", move.after)
        and all(
            boxes.field(full(name), before) != boxes.field(full(name), move.after)
            for name in event.get("changes", ())
        )
    )


def expected(boxes: Boxes, log: list[dict[str, Any]], options: Options) -> tuple[str, int]:
    """The verdict, and how many events were accepted: by all behaviors at a time."""
    spots = {(s, boxes.broken(None, s)) for s in boxes.initial()}
    for accepted, event in enumerate(log):
        reached, level, left = set(spots), spots, options.most
        while level and (left is None or left):
            level = {
                (move.after, broken | boxes.broken(state, move.after))
                for state, broken in level
                for move in boxes.moves(state)
                if move.action in options.hidden
                and not any(
                    boxes.field(name, state) != boxes.field(name, move.after)
                    for name in options.watched
                )
            } - reached
            reached |= level
            left = None if left is None else left - 1
        spots = {
            (move.after, broken | boxes.broken(state, move.after))
            for state, broken in reached
            for move in boxes.moves(state)
            if is_it(boxes, event, state, move)
        }
        if not spots:
            return "parts", accepted
    return "violated" if all(broken for _, broken in spots) else "conforms", len(log)


def agree(seed: int, folder: Path) -> Counter[str]:
    """Compare some logs of one spec."""
    random = Random(f"logs/{seed}")
    boxes = Boxes.some(random)
    path = folder / "spec.py"
    path.write_text(boxes.text(), encoding="utf-8")
    model, told = load(path), Counter[str]()
    for number in range(LOGS):
        hidden = tuple(random.sample(range(3), random.choice([0, 0, 1, 2])))
        names = [f"Box#{who}.v" for who in range(boxes.number)]
        watched = tuple(name for name in names if hidden and random.random() < 0.2)
        most = random.choice([None, None, 0, 1, 2]) if hidden else None
        options = Options(hidden, watched, most)
        log = log_of(random, boxes, options)
        if not log:
            continue
        path = folder / "log.jsonl"
        path.write_text("".join(json.dumps(event) + "\n" for event in log))
        for deep in (False, True):
            limits = Limits(most, watched=watched, deep=deep)
            asked = Question(model, None, [f"a{k}" for k in hidden], limits)
            found = asked.ask([str(path)])

            assert expected(boxes, log, options) == (found.verdict, found.accepted), (seed, number)
        told[found.verdict] += 1
    return told


@pytest.mark.thorough
def test_generated_logs(tmp_path: Path) -> None:
    told = sum((agree(seed, tmp_path) for seed in range(6)), Counter[str]())

    assert {"conforms", "parts", "violated"} == set(told)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_many_generated_logs(block: int, tmp_path: Path) -> None:
    share = -(-MANY // 10 // LOGS)
    first = 100 + block * share
    told = sum((agree(seed, tmp_path) for seed in range(first, first + share)), Counter[str]())

    assert {"conforms", "parts", "violated"} == set(told)
