"""Connections that end, and time that waits for those who must act."""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk import check

DROPS = """
from typing import Literal

from statewalk import Constant, Message, Network, Role, action, always, exists, deadlock, require

KIND: Constant[Literal["bag", "set", "queue", "fifo", "kept"]] = "bag"
deadlock(False)


class Ping(Message):
    source: "Node"


class Node(Role):
    sent: int = 0
    down: bool = False

    @action
    def ping(self, other: "Node") -> None:
        require(self.sent < 2 and not self.down and not other.down)
        self.sent += 1
        wire.send(other, Ping(self))

    @action
    def crash(self) -> None:
        require(not self.down)
        self.down = True
        wire.drop(self)


class Wire(Network[Ping, Node], kind=KIND): ...


wire = Wire()
nodes = [Node() for _ in range(2)]


@always
def nothing_to_or_from_who_is_down() -> bool:
    return all(
        not a.down or (not wire.to(a) and all(m.source is not a for m in wire.to(b)))
        for a in nodes
        for b in nodes
    )


@exists
def something_is_left() -> bool:
    return nodes[0].down and len(wire.to(nodes[1])) > 0
"""
URGENT = """
from statewalk import Clock, Role, action, always, require


class Worker(Role):
    due: int = 2
    done: bool = False

    @action
    def work(self) -> None:
        require(not self.done and time.passed(self, self.due))
        self.done = True


class Time(Clock[Worker], until=4):
    def urgent(self) -> bool:
        return any(time.passed(w, w.due) and not w.done for w in workers)


time = Time()
workers = [Worker(), Worker(due=3)]


@always
def in_time() -> bool:
    return all(w.done or time.now(w) <= w.due for w in workers)
"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", ["bag", "set", "queue", "fifo", "kept"])
def test_a_connection_that_ends_loses_what_is_in_transit(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    path.write_text(DROPS)

    run = check(path, {"KIND": kind}, engine="reference")

    assert run.verdict == "holds", run.traces


def test_time_waits_for_who_must_act(tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    path.write_text(URGENT)

    run = check(path, engine="reference")

    # Five readings, and one state more at 2 and at 3, where a worker is to act.
    assert (run.verdict, run.counts.distinct, run.counts.depth) == ("holds", 7, 7)
