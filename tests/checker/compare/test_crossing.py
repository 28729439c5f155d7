"""A trace tried on another model: which step is the same, and what is said of the end."""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk.checker.compare.compare import compare
from statewalk.checker.compare.crossing import Crossing, cross
from statewalk.checker.compare.telling import report_of
from statewalk.checker.contract.options import CheckOptions
from statewalk.checker.contract.search import Finding, Step
from statewalk.checker.traces.trace import build
from statewalk.dsl.kinds import PropertyKind
from statewalk.dsl.loader import load
from statewalk.dsl.model import Model

BOX = """
from statewalk import *

deadlock(False)

class Box(State):
    a: int = 0
    b: int = 0

    @action
    def go(self) -> None:
        require(not self.a)
        {}

    def put(self, x: int, y: int) -> None:
        self.a = x
        self.b = y

box = Box()

@always
def fine() -> bool:
    return (box.a, box.b) != (1, 2)
"""
TWICE = """pick = any_of([1, 2])
        self.a = pick
        pick = any_of([1, 2])
        require({})
        self.b = pick"""
ENDS = """
from statewalk import *

V: Constant[str] = ""

class Node(Role):
    n: int = 0
    late: bool = False

    @action
    def go(self) -> None:
        require(not self.n)
        self.n = 1

    @action(fault=V == "fault")
    def more(self) -> None:
        require(V and self.n)
        self.late = V != "idle"

node = Node()
"""


def loaded(folder: Path, name: str, text: str) -> Model:
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    return load(path)


def crossed(own: Model, other: Model, kind: PropertyKind, *steps: Step) -> Crossing:
    return cross(build(own, Finding("fine", kind, 0, steps)), own, other)


def test_a_choice_is_told_by_its_place_also_if_it_had_one_option(tmp_path: Path) -> None:
    own = loaded(tmp_path, "own", BOX.format("self.put(any_of([1]), any_of([1, 2]))"))
    other = loaded(tmp_path, "other", BOX.format("self.put(any_of([1, 2]), any_of([1, 2]))"))
    found = crossed(own, other, "always", Step(0, (1,)))

    assert (None, ("fine",), None) == (found.step, found.broken, found.differs)


def test_each_of_several_choices_of_one_name_counts(tmp_path: Path) -> None:
    own = loaded(tmp_path, "own", BOX.format(TWICE.format("True")))
    other = loaded(tmp_path, "other", BOX.format(TWICE.format("pick == 1 or self.a == 2")))
    found = crossed(own, other, "always", Step(0, (0, 1)))

    assert 1 == found.step
    assert "pick=1, pick=1 or pick=2, pick=1 or pick=2, pick=2" in found.why


@pytest.mark.parametrize(
    ("variant", "broken", "goes_on"),
    [
        ("more", (), ("Node#0 · more",)),
        ("idle", (), ("Node#0 · more",)),
        ("fault", ("Deadlock",), ()),
        ("", ("Deadlock",), ()),
    ],
)
def test_what_ends_a_deadlock(
    variant: str, broken: tuple[str, ...], goes_on: tuple[str, ...], tmp_path: Path
) -> None:
    own = loaded(tmp_path, "own", ENDS)
    other = loaded(tmp_path, "other", ENDS.replace('""', repr(variant)))
    found = crossed(own, other, "deadlock", Step(0))

    assert (broken, goes_on) == (found.broken, found.goes_on)


@pytest.mark.parametrize(
    ("does", "asks", "step", "broken"),
    [
        ("assert self.a", "True", 1, ("Assertion",)),
        ("self.a = 1 // self.a", "True", 1, ("no_error",)),
        ("self.a = 1", "box.b // (1 - box.a) == 0", None, ("no_error",)),
    ],
)
def test_what_raises_violates_a_property(
    does: str, asks: str, step: int | None, broken: tuple[str, ...], tmp_path: Path
) -> None:
    text = BOX.format(does).replace("(box.a, box.b) != (1, 2)", asks)
    own = loaded(tmp_path, "own", text)
    failing = Step(0) if step else None
    trace = build(own, Finding("fine", "error", 0, () if step else (Step(0),), failing))
    found = cross(trace, own, loaded(tmp_path, "other", text))

    assert (step, broken) == (found.step, found.broken)


def test_an_action_is_one_however_its_name_is_told_from_others(tmp_path: Path) -> None:
    node = "from statewalk import *\nV: Constant[int] = 2\n"
    for role in ("Node", "Hub"):
        node += f"class {role}(Role):\n    n: int = 0\n    @action\n    def go(self) -> None:\n"
        node += "        self.n = (self.n + 1) % V\n"
    one = loaded(tmp_path, "one", f"{node.replace('class Hub', 'class Not')}node = Node()\n")
    two = loaded(tmp_path, "two", f"{node}node = Node()\nhub = Hub()\n")
    text = report_of(compare([("one", one), ("two", two)], CheckOptions(engine="reference")))

    assert "Fired only with two: Hub.go." in text
    assert "Fired only with one" not in text
    assert "Transitions: Node.go 2 → 4." in text


STARTS = """
from statewalk import *

deadlock(False)
ALL: Constant[bool] = True

class Box(State):
    a: int = 0
    b: int = 0

    @action
    def go(self) -> None:
        require(self.b == 0)
        require(ALL or self.a == 0)
        self.b = 1

box = Box()

@init
def start() -> None:
    box.a = any_of([0, 1])

@always
def zero() -> bool:
    return (box.a, box.b) != (0, 1)

@always
def one() -> bool:
    return (box.a, box.b) != (1, 1)
"""


def test_a_trace_is_tried_from_where_it_begins(tmp_path: Path) -> None:
    (tmp_path / "starts.py").write_text(STARTS)

    (first, own), (_, other) = both = [
        (str(given), load(tmp_path / "starts.py", {"ALL": given})) for given in (True, False)
    ]
    told = report_of(compare(both, CheckOptions(engine="reference")))
    found = [
        cross(build(own, Finding("one", "always", start, (Step(0),))), own, other).step
        for start in (0, 1)
    ]

    assert [None, 1] == found
    assert f"zero is violated with {first}" in told
    assert f"one is violated with {first}" in told
