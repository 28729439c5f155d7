"""Guards that disable an action are named with the values that they read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from statewalk.checker.api import load
from statewalk.checker.behaviours.guided import follow, read_steps
from statewalk.checker.cli import main
from statewalk.checker.verdict.guards import blocked, guard_of, never_fired

SPEC = """
from statewalk import Role, State, action, any_of, require

LIMIT = 2

class Box(State):
    full: bool = True

box = Box()

class Client(Role):
    count: int = 2
    inbox: set[int] = set()
    done: set[int] = set()

    @action
    def count_up(self) -> None:
        require(self.count < LIMIT)
        self.count += 1

    @action
    def receive(self) -> None:
        message = any_of(self.inbox)
        self.inbox.remove(message)

    @action
    def both(self) -> None:
        require(self.count > 0 and not box.full)
        box.full = True

    @action
    def later(self) -> None:
        double = self.count * 2
        require(double < 4)

    @action
    def pointwise(self) -> None:
        require(self.count in self.done)
        self.done.add(self.count)

client = Client()
"""


@pytest.fixture
def model(tmp_path: Path) -> Any:
    (tmp_path / "spec.py").write_text(SPEC, encoding="utf-8")
    return load(tmp_path / "spec.py")


@pytest.mark.parametrize(
    ("name", "line", "values"),
    [
        ("count_up", "require(self.count < LIMIT)", "self.count = 2 · LIMIT = 2"),
        ("receive", "message = any_of(self.inbox)", "self.inbox = set()"),
        ("both", "require(self.count > 0 and not box.full)", "self.count = 2 · box.full = True"),
        ("later", "require(double < 4)", "double = 4"),
        ("pointwise", "require(self.count in self.done)", "self.count = 2 · self.done = set()"),
    ],
)
def test_the_guard_and_its_values(model: Any, name: str, line: str, values: str) -> None:
    action = next(a for a in model.actions if a.name == name)
    guard = guard_of(model, action, model.initial_states[0])

    assert guard is not None
    assert (guard.text, guard.shown) == (line, values)


def test_every_action_of_a_deadlock_has_one(model: Any) -> None:
    found = blocked(model, model.initial_states[0])

    assert [label for label, _ in found] == [a.label for a in model.actions]
    assert all(guard is not None and guard.values for _, guard in found)


def test_a_text_spec_shows_its_variables(tmp_path: Path) -> None:
    text = "action Init:\n  x = 3\n  y = 1\n\natomic action Up:\n  require x < 3\n  x += y\n"
    (tmp_path / "spec.fizz").write_text(text, encoding="utf-8")
    model = load(tmp_path / "spec.fizz")
    guard = guard_of(model, model.actions[0], model.initial_states[0])

    assert guard is not None
    assert guard.shown == "x = 3"


def test_named_steps_that_are_not_possible(model: Any) -> None:
    guided = follow(model, read_steps("count_up"))

    assert "`require(self.count < LIMIT)` is false, with self.count = 2 · LIMIT = 2" in guided.why


def test_the_report_of_a_deadlock(
    model: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["check", model.path, "--engine", "reference", "--out", str(tmp_path / "run")])

    assert "self.count = 2 · LIMIT = 2" in capsys.readouterr().out


SUSPENDED = """
from statewalk import *
class S(State):
    a: int = 0
    @action
    def never(self) -> Flow[None]:
        require(self.a > 5)
        yield
        self.a = 1
    @action(flow="serial")
    def stuck(self) -> None:
        self.a = 1
        require(self.a == 9)
        self.a = 2
s = S()
"""


def test_what_stops_suspended_runs_is_said_of_those_there_are(tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    path.write_text(SUSPENDED)
    model = load(path)
    start = model.initial_states[0]
    stuck = next(a for a in model.actions if a.name == "stuck")
    after = model.successor(start, next(iter(model.outcomes(stuck, start))))

    assert [(label, guard and guard.said) for label, guard in blocked(model, after)] == [
        ("S#0.never", "`require(self.a > 5)`"),
        ("S#0.stuck", "a run is suspended, and no more may be at a time"),
        ("S#0.stuck (continued)", "`require(self.a == 9)`"),
    ]
    # going on with what never began is not told
    idle = never_fired(model, [stuck.index], 2, whole=True)
    assert [(i.name, i.guard) for i in idle] == [
        ("never", "require(self.a > 5)"),
        ("stuck (continued)", "require(self.a == 9)"),
    ]


COMING = """
from statewalk import *
class W(Role, at_most=2):
    n: int = 0
    @action
    def go(self) -> None:
        require(self.n < 0)
    @action
    def meet(self, other: "W") -> None:
        require(self != other)
w = W()
"""


def test_a_role_that_is_not_there_stops_what_needs_it(tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    path.write_text(COMING)
    model = load(path)

    assert {
        "W#0.go": "`require(self.n < 0)`",
        "W#1.go": "W#1 is not there",
        "W#0.meet(other=W#0)": "`require(self != other)`",
        "W#0.meet(other=W#1)": "W#1 is not there",
        "W#1.meet(other=W#0)": "W#1 is not there",
        "W#1.meet(other=W#1)": "W#1 is not there",
    } == {label: guard and guard.said for label, guard in blocked(model, model.initial_states[0])}


DOES_NOTHING = """---
deadlock_detection: false
options:
  crash_on_yield: false
---
action Init:
    x = 0
    y = 0

action A:
    require x == 0
    x = 1
    require y == 1

atomic action Y:
    require x == 1 and y == 0
    y = 1

action Gone:
    if x > 5:
        x = 0
        return
    return
"""


def test_a_guard_that_is_true_is_not_blamed_for_a_step_that_does_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "spec.fizz"
    path.write_text(DOES_NOTHING)
    code = main(["check", str(path), "--out", str(tmp_path / "run")])
    shown = " ".join(capsys.readouterr().out.split())

    assert 0 == code, shown
    assert "A (continued): where its guards hold, it changes nothing, which is no step" in shown
    assert "Gone: where its guards hold, it changes nothing, which is no step" in shown


def test_what_stops_a_run_is_a_guard_or_that_it_would_do_nothing(tmp_path: Path) -> None:
    path = tmp_path / "spec.fizz"
    path.write_text(DOES_NOTHING)
    model = load(path)
    actions = {a.name: a for a in model.actions}

    def after(name: str, state: Any) -> Any:
        return model.successor(state, next(iter(model.outcomes(actions[name], state))))

    waiting = after("A", model.initial_states[0])
    ready = after("Y", waiting)
    stopping = [guard_of(model, actions["A (continued)"], state) for state in (waiting, ready)]

    assert [
        ("`require y == 1`", 13),
        ("it does nothing, and what does nothing is no step", 10),
    ] == [(g.said, g.line) for g in stopping if g]


def test_what_stops_an_action_of_a_role_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    path.write_text("""
from statewalk import *
class Session(Role, at_most=1):
    n: int = 0
    @action
    def send(self) -> None:
        self.n = 1
class Server(State):
    up: bool = False
    @action
    def connect(self) -> None:
        require(self.up)
        Session()
server = Server()
""")
    model = load(path)

    assert [
        (label, guard and guard.said) for label, guard in blocked(model, model.initial_states[0])
    ] == [("Session#0.send", "Session#0 is not there"), ("Server#0.connect", "`require(self.up)`")]
