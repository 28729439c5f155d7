"""Scenarios meet what they say, and are behaviors of the spec that they are made from."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from statewalk import load
from statewalk.checker.cli import main
from statewalk.checker.conform.events import event_of
from statewalk.checker.conform.follow import follow
from statewalk.checker.conform.order import order_of
from statewalk.checker.scenarios import make
from statewalk.checker.scenarios.make import cover_steps
from statewalk.checker.scenarios.reached import Bounds, reach
from statewalk.dsl.state.plain_view import PlainView
from tests.places import ROOT

LAMP = """
from statewalk import Constant, Role, action, deadlock, exists, require

MOST: Constant[int] = 3

class Lamp(Role):
    on: bool = False
    times: int = 0

    @action
    def turn_on(self) -> None:
        require(not self.on and self.times < MOST)
        self.on = True
        self.times += 1

    @action
    def turn_off(self) -> None:
        require(self.on)
        self.on = False

    @action
    def burn_out(self) -> None:
        require(self.times > 9)
        self.on = False

lamp = Lamp()
deadlock(False)

@exists
def on_twice() -> bool:
    return lamp.on and lamp.times == 2
"""


class Lamp:
    """A lamp, as somebody else made it."""

    def __init__(self, counts: bool = True, sticks: bool = False) -> None:
        self.on, self.times, self.counts, self.sticks = False, 0, counts, sticks

    def take(self, action: str, actor: str, given: dict[str, Any]) -> None:
        assert (actor, given) == ("Lamp#0", {})
        self.on = action == "turn_on" or self.sticks
        self.times += self.on and self.counts

    def fields(self) -> dict[str, Any]:
        return {"Lamp#0.on": self.on, "Lamp#0.times": self.times}


class Busy(Lamp):
    """One that turns itself off at once."""

    def offers(self) -> list[dict[str, Any]]:
        return [{"action": "turn_off"}]


@pytest.fixture
def spec(tmp_path: Path) -> str:
    (tmp_path / "lamp.py").write_text(LAMP, encoding="utf-8")
    return str(tmp_path / "lamp.py")


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "spec", ["models/toys/die_hard.py", "examples/transactions/spec.py", "models/kafka/init_pid.py"]
)
def test_scenarios_conform_and_meet_every_goal(
    spec: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "scenarios.json"
    assert main(["cover", str(ROOT / spec), "--events", str(file)]) == 0

    assert "COVERED" in capsys.readouterr().out
    model = load(ROOT / spec)
    written = json.loads(file.read_text(encoding="utf-8"))
    fired, met = set(), set()
    for scenario in written["scenarios"]:
        events = [event_of("x", n, s["event"]) for n, s in enumerate(scenario["steps"], 1)]
        followed = follow(model, order_of([events]))
        assert followed.conforms, scenario
        fired |= {model.action_names()[step.action] for step, _ in followed.path()[1]}
        for prop in (p for p in model.properties if p.kind == "exists"):
            states = map(PlainView, (followed.steps.states[n] for n in followed.numbers()))
            met |= {prop.name} if any(model.holds(prop.whole, s, None) for s in states) else set()
    assert set(model.action_names().values()) == fired
    assert {p.name for p in model.properties if p.kind == "exists"} == met


def test_every_step_is_taken(tmp_path: Path) -> None:
    model = load(ROOT / "models/toys/die_hard.py")
    reached = reach(model, Bounds(), everything=True)

    ways = list(cover_steps(reached, 20))

    # 16 states of which each has 6 steps: the number that the model says of itself, unfinished
    assert 16 == len(reached.moves)
    assert {move for moves in reached.moves.values() for move in moves} == {
        move for way, _, _, _ in ways for move in way
    }
    for way, _, begin, _ in ways:
        assert begin == way[0][0] == reached.steps.number(model.initial_states[0])
        assert all(one[2] == other[0] for one, other in pairwise(way))


def test_what_cannot_be_met_is_said(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cover", spec]) == 1
    said = capsys.readouterr().out
    assert "NOT COVERED  2 of 3 actions · 1 of 1 witnesses" in said
    assert "burn_out: no behavior meets it" in said
    assert "7 states, which are all" in said

    assert main(["cover", spec, "--max-depth", "3"]) == 3
    said = capsys.readouterr().out
    assert "on_twice: not in the 3 states looked at" in said
    assert "the bound on depth, 3 levels" in said

    assert main(["cover", spec, "--set", "MOST=20", "--json"]) == 0
    assert [] == json.loads(capsys.readouterr().out)["missed"]


def test_mistakes_are_told(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cover", spec, "--set", "LEAST=1"]) == 2
    assert "LEAST" in capsys.readouterr().err
    assert main(["cover", spec, "--pytest", "/nowhere/at/all.py"]) == 2
    assert "/nowhere" in capsys.readouterr().err


def played(file: Path, make: Any) -> list[str]:
    """Return what a module says of a system, for each of its scenarios."""
    names: dict[str, Any] = {"__file__": str(file)}
    exec(compile(file.read_text(encoding="utf-8"), str(file), "exec"), names)
    said = []
    for number in range(len(names["SCENARIOS"])):
        try:
            names["test_the_system_does_what_the_spec_says"](make(), number)
        except AssertionError as error:
            said.append(str(error))
    return said


def test_the_module_tells_systems_apart(spec: str, tmp_path: Path) -> None:
    file = tmp_path / "test_it.py"
    steps = ["--steps", "--length", "10", "--set", "MOST=2"]
    assert main(["cover", spec, *steps, "--pytest", str(file)]) == 1  # nothing burns out

    assert [] == played(file, Lamp)
    assert "Lamp#0.times is 0; the spec says 1" in played(file, lambda: Lamp(counts=False))[0]
    assert "Lamp#0.on is True; the spec says False" in played(file, lambda: Lamp(sticks=True))[0]
    assert "it would go on with {'action': 'turn_off'}" in played(file, Busy)[0]
    assert {"MOST": 2} == json.loads((tmp_path / "test_it.json").read_text())["constants"]


def test_walks_are_scenarios_too(spec: str, tmp_path: Path) -> None:
    file = tmp_path / "test_walks.py"

    assert main(["simulate", spec, "--runs", "5", "--depth", "9", "--pytest", str(file)]) == 0

    assert [] == played(file, Lamp)


@pytest.mark.parametrize("command", ["cover", "simulate --runs 2 --depth 3"])
def test_events_may_go_to_standard_output(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    name, *options = command.split()
    main([name, str(ROOT / "models/toys/token_ring.py"), *options, "--events", "-"])
    out, err = capsys.readouterr()

    assert json.loads(out)["scenarios"]
    assert "standard output: " in err
    assert not Path("-").exists()


def test_no_more_scenarios_than_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "one.json"
    ask = ["cover", str(ROOT / "models/toys/die_hard.py"), "--length", "20", "--events", str(file)]
    assert main([*ask, "--steps", "--scenarios", "1"]) == 3

    said = capsys.readouterr().out
    assert "of 96 steps" in said  # six of each of the 16 states
    assert "before all were made: the bound of 1 scenarios. All would be" in said
    assert 1 == len(json.loads(file.read_text())["scenarios"])


def test_what_was_made_before_the_time_was_over_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "some.json"
    ask = ["cover", str(ROOT / "models/toys/die_hard.py"), "--events", str(file), "--steps"]
    monkeypatch.setattr(
        make.Enough, "why", lambda enough, count: "it was interrupted" if count == 2 else ""
    )

    assert main([*ask, "--length", "5"]) == 3
    assert "before all were made: it was interrupted" in capsys.readouterr().out
    assert 2 == len(json.loads(file.read_text())["scenarios"])


def test_no_file_is_written_where_there_is_no_scenario(
    spec: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = LAMP + "\n@always\ndef never_on() -> bool:\n    return not lamp.on\n"
    (tmp_path / "lamp.py").write_text(broken.replace("exists,", "always, exists,"))
    file = tmp_path / "walks.json"

    assert main(["simulate", spec, "--runs", "5", "--events", str(file)]) == 1

    assert "nothing: there are no scenarios" in capsys.readouterr().out
    assert not file.exists()
