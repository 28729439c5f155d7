"""A field that has no value is not an empty one: these are two states, on every engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk.checker.api import check
from statewalk.checker.verdict.run import Run

ENGINES = ("reference", "native")
FIRST = """
from statewalk import *

class Peer(Role, symmetric=True):
    on: bool = False
    held: {kind}

    @action
    def clear(self) -> None:
        self.held = {empty}

    @action
    def fill(self) -> None:
        require(self.on)
        self.held = {full}

peers = [Peer() for _ in range(2)]
deadlock(False)
"""
EMPTY = [
    ("set[int]", "set()", "{1}"),
    ("frozenset[int]", "frozenset()", "frozenset({1})"),
    ("'set[Peer]'", "set()", "{self}"),
    ("dict[int, int]", "{}", "{1: 1}"),
    ("'dict[Peer, int]'", "{}", "{self: 1}"),
    ("Bag[int]", "Bag()", "Bag([1])"),
    ("list[int]", "[]", "[1]"),
]
ENDS = """
from statewalk import *

class Session(Role, at_most=1):
    seen: set[int] = set()

    @action
    def leave(self) -> None:
        end(self)

    @action
    def see(self) -> None:
        self.seen.add(1)

class Hub(State):
    n: int = 0

    @action
    def tick(self) -> None:
        self.n = 1 - self.n

hub = Hub()

@init
def begin() -> None:
    Session()
"""


def found(folder: Path, text: str, engine: str, *, symmetry: bool = False) -> Run:
    spec = folder / "spec.py"
    spec.write_text(text)
    return check(spec, engine=engine, symmetry=symmetry)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("kind", "empty", "full"), EMPTY)
def test_an_empty_value_is_a_value(
    tmp_path: Path, kind: str, empty: str, full: str, engine: str
) -> None:
    text = FIRST.format(kind=kind, empty=empty, full=full)

    assert 4 == found(tmp_path, text, engine).counts.distinct
    assert 3 == found(tmp_path, text, engine, symmetry=True).counts.distinct


@pytest.mark.parametrize("engine", ENGINES)
def test_what_ended_holds_nothing(tmp_path: Path, engine: str) -> None:
    """There is a session that has seen nothing, one that has, and none."""
    run = found(tmp_path, ENDS, engine)

    assert (6, "holds") == (run.counts.distinct, run.verdict)


def test_a_trace_shows_the_first_value(tmp_path: Path) -> None:
    text = FIRST.format(kind="set[int]", empty="set()", full="{1}")
    never = "\n@exists\ndef over() -> bool:\n    return any(peer.on for peer in peers)\n"
    reach = text.replace("self.held = set()", "self.held = set()\n        self.on = True")
    trace = found(tmp_path, reach + never, "reference").traces["over"]

    told = [str(change).partition(".")[2] for change in trace.diffs[0]]
    assert ["on  False → True", "held = set()"] == told
