"""Mistakes in networks and clocks are told before the search, with what to write instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk.dsl.errors import SpecError
from statewalk.dsl.loader import load

RIGHT = """
from statewalk import Clock, Message, Network, Role, action, deadlock, on_message
from statewalk import Timeout

deadlock(False)


class Ping(Message):
    number: int


class Pong(Message):
    number: int


class Node(Role):
    retry: Timeout = Timeout()

    @action
    def ping(self, other: "Node") -> None:
        wire.send(other, Ping(1))
        self.retry.arm()

    @on_message
    def pinged(self, ping: Ping) -> None: ...


class Wire(Network[Ping | Pong, Node], loss=True): ...


class Time(Clock[Node], until=2): ...


wire = Wire()
time = Time()
nodes = [Node() for _ in range(2)]
"""
NET = "Network[Ping | Pong, Node], loss=True"
WRONG = {
    "values that are no messages": (
        "Ping | Pong, Node", "Ping | int, Node", "Wire is a network of int, which is no message."
    ),
    "no roles": (NET, "Network[Ping, Pong]", "Wire is a network to Pong, which is no role."),
    "one type": (NET, "Network[Ping]", "does not say what travels, and who receives it"),
    "a handler of another type": ("Ping | Pong, Node", "Pong, Node", "carries Ping, which"),
    "a handler of what nobody sends": ("ping: Ping", "pong: Pong", "Nobody sends Pong"),
    "a handler without a type": ("ping: Ping", "ping", "does not say which messages it receives"),
    "a budget below zero": ("loss=True", "loss=-1", "loss= of Wire must be True"),
    "half a message": ("loss=True", "loss=0.5", "loss= of Wire must be True"),
    "a kind that there is not": ("loss=True", 'kind="fif"', "kind= of Wire is one of"),
    "an option that there is not": ("loss=True", "los=True", "has no option los=. Did you mean"),
    "what a kind has already": ("loss=True", 'kind="kept", loss=1', "loss= of Wire adds nothing"),
    "order in a bag": ("loss=True", "reorder=1", "reorder= of Wire adds nothing"),
    "a fifo from nobody": ("loss=True", 'kind="fifo"', "Ping has no source"),
    "partitions from nobody": ("loss=True", "partitions=1", "Ping has no source"),
    "no instance": ("wire = Wire()", "", "There is no Wire in this module"),
    "a field of that name": ("def pinged", "def wire", "gets a field 'wire', and has that name"),
    "roles from elsewhere": ("Pong, Node]", "Pong, Role]", "not defined in this module"),
    "a clock without an end": (", until=2", "", "does not say when its clocks stop"),
    "a clock before its beginning": ("until=2", "until=-2", "until= of Time must be a number"),
}  # fmt: skip
CLOCKS = """
from statewalk import Clock, Role, action, always, deadlock, require

deadlock(False)


class Node(Role):
    until: int = 0

    @action
    def grant(self, other: "Node") -> None:
        require(CONDITION)
        self.until = time.after(self, 2)


class Time(Clock[Node], until=4, skew=1): ...


time = Time()
nodes = [Node() for _ in range(2)]


@always
def close() -> bool:
    return all(time.now(a) <= time.now(b) + 1 for a in nodes for b in nodes)
"""
RIGHT_CLOCKS = ["time.passed(self, self.until)", "time.now(other) >= other.until", "self.until < 9"]
WRONG_CLOCKS = {
    "time.passed(self, other.until + 1)": "The clock of self is compared with a number of other",
    "time.elapsed(other, self.until) > 1": "The clock of other is compared with a number of self",
    "self.until < time.now(other)": "compared with a number of self: self.until.",
    "time.now(self) == time.now(other)": "compared with a number of other: time.now(other).",
}


def loaded(text: str, folder: Path) -> None:
    path = folder / "spec.py"
    path.write_text(text)
    load(path)


def test_what_is_right_is_taken(tmp_path: Path) -> None:
    loaded(RIGHT, tmp_path)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_told(name: str, tmp_path: Path) -> None:
    old, new, said = WRONG[name]
    assert RIGHT.count(old) == 1

    with pytest.raises(SpecError) as caught:
        loaded(RIGHT.replace(old, new), tmp_path)

    assert caught.value.code == "SW130"
    assert said in str(caught.value)
    assert caught.value.at is not None


@pytest.mark.sampled(3)
@pytest.mark.parametrize("condition", [*RIGHT_CLOCKS, *WRONG_CLOCKS])
def test_clocks_of_two_roles_are_not_compared(condition: str, tmp_path: Path) -> None:
    text = CLOCKS.replace("CONDITION", condition)
    loaded(text.replace("skew=1", "skew=0"), tmp_path)
    if condition in RIGHT_CLOCKS:
        loaded(text, tmp_path)
        return

    with pytest.raises(SpecError, match="SW130") as caught:
        loaded(text, tmp_path)

    assert WRONG_CLOCKS[condition] in str(caught.value)
