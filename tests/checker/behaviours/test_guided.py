"""Guided traces follow what is named, and say why they cannot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from statewalk import check
from statewalk.checker.behaviours.guided import extension, follow, read_constants, read_steps
from statewalk.checker.cli import main
from statewalk.checker.report.trace import trace_page
from statewalk.dsl.loader import load
from tests.cases import slow
from tests.places import ROOT

MODELS = ROOT / "models"

STEPS = """
# two clients meet
Client#0.send_init_pid(broker=Broker#0) tid=1
Broker#0.receive_init_pid_request
Client#1.send_init_pid(broker=Broker#0) tid=1
receive_init_pid_request   # the only one that can
commit_init_pid
"""


def test_named_steps_are_followed() -> None:
    model = load(MODELS / "kafka/init_pid.py", {"TIDS": 2})
    guided = follow(model, read_steps(STEPS))

    assert guided.failed is None
    assert 5 == guided.trace().length
    assert (1,) == guided.steps[0].choices


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("Client#0.send", "there is no action"),
        ("Client#0.receive_init_pid_response", "has no option"),
        ("Client#0.send_init_pid(broker=Broker#0) tid=7", "no way of taking it makes the choices"),
        ("Client#0.send_init_pid(broker=Broker#0) [5]", "no way of taking it makes the choices"),
    ],
)
def test_the_step_that_fails_is_explained(line: str, why: str) -> None:
    model = load(MODELS / "kafka/init_pid.py", {"TIDS": 2})
    guided = follow(model, read_steps(line))

    assert guided.failed is not None
    assert guided.failed.line == 1
    assert why in guided.why


def test_what_comes_next_is_listed() -> None:
    model = load(MODELS / "toys/die_hard.py")
    state = model.initial_states[0]

    assert 6 == len(list(extension(model, state, 1)))
    assert 42 == len(list(extension(model, state, 2)))
    assert "only the first 10" in list(extension(model, state, 3, limit=10))[-1]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("model", "constants", "property"),
    [
        ("kafka/init_pid.py", {"BROKERS": 1, "MUTANT": "no_epoch_bump"}, "epoch_monotone"),
        ("toys/die_hard.py", {}, "goal_not_reached"),
        ("toys/counters.py", {"ATOMIC": False}, "nothing_lost"),
        slow("stores/snapshot.py", {}, None),
    ],
)
def test_what_a_report_shows_can_be_followed(
    model: str, constants: dict[str, Any], property: str | None
) -> None:
    result = check(MODELS / model, constants, engine="reference", max_depth=8)
    loaded = load(MODELS / model, constants)
    traces = [t for t in result.traces.values() if t.loop is None]

    for trace in traces:
        for width in (80, 160):
            shown = trace_page(trace, width=width).plain()
            guided = follow(loaded, read_steps(shown))
            assert guided.failed is None, (guided.failed, guided.why)
            assert str(trace.contents[-1]) == str(guided.trace().contents[-1])
        stripped = "\n".join(line.lstrip() for line in shown.splitlines())
        copied = follow(loaded, read_steps(stripped))
        assert str(trace.contents[-1]) == str(copied.trace().contents[-1])
        plain = "\n".join(step.label for step in trace.steps)
        followed = follow(loaded, read_steps(plain)).trace()
        assert str(trace.contents[-1]) == str(followed.contents[-1])
    assert traces or property is None


@pytest.mark.thorough
def test_a_long_line_of_steps_takes_linear_time() -> None:
    steps = read_steps("go" + " " * 200_000 + "x=[" + "1, " * 100_000)
    constants = read_constants("0  init  " + "A=[ " * 100_000)

    assert ["go"] == [step.action for step in steps]
    assert [1, 1] == [len(steps[0].choices), len(constants)]


def test_a_choice_that_a_report_shows_may_be_left_out() -> None:
    model = load(MODELS / "kafka/init_pid.py", {"TIDS": 2})
    guided = follow(model, read_steps("Client#0 · send_init_pid(broker=Broker#0)"))

    assert guided.failed is None
    assert (0,) == guided.steps[0].choices


TWICE = """
from statewalk import *

class Box(State):
    a: int = 0

    @action
    def go(self) -> None:
        x = any_of([1, 2])
        self.a = x
        x = any_of([1, 2])
        self.a += 2 * x

box = Box()
"""


@pytest.mark.parametrize(
    ("choices", "taken"),
    [("x=2 x=1", (1, 0)), ("x=1 x=2", (0, 1)), ("[1] [0]", (1, 0)), ("x=2 x=2", (1, 1))],
)
def test_choices_of_one_name_are_made_in_their_order(
    choices: str, taken: tuple[int, ...], tmp_path: Path
) -> None:
    (tmp_path / "box.py").write_text(TWICE, encoding="utf-8")
    guided = follow(load(tmp_path / "box.py"), read_steps(f"go {choices}"))

    assert [taken] == [step.choices for step in guided.steps]


@pytest.mark.slow
def test_what_is_possible_is_listed_as_it_may_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "steps.txt"
    file.write_text("Client#0 · nothing\n")
    words = ["replay", "--steps", str(file), "--spec", str(MODELS / "kafka/init_pid.py")]
    main([*words, "--set", "TIDS=2"])
    out = capsys.readouterr().out
    listed = [line.strip() for line in out.partition("as it is shown:")[2].splitlines() if line]

    assert "Client#0 · send_init_pid(broker=Broker#0) · self.tid=0" in listed
    for line in listed:
        file.write_text(line)
        assert 0 == main([*words, "--set", "TIDS=2"])


def test_a_report_says_its_constants_and_options_come_before_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = str(MODELS / "toys/die_hard.py")
    (found,) = check(spec, {"GOAL": 2}, engine="reference").traces.values()
    file = tmp_path / "story.txt"
    file.write_text(trace_page(found, width=30).plain(), encoding="utf-8")
    words = ["replay", "--steps", str(file), "--spec", spec]

    assert 0 == main(words)
    assert "GOAL=2" in capsys.readouterr().out
    assert 0 == main([*words, "--set", "GOAL=1"])
    assert "GOAL=1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "constants"),
    [
        ("begin\nsend", []),
        ("    0  init\n    1  begin", []),
        ("    0  init  A=1 B='x'\n    1  A=2", ["A=1", "B='x'"]),
        (
            "    0  init (3)  A={1, 2}\n                 B=R(c=1, d=2)",
            ["A={1, 2}", "B=R(c=1, d=2)"],
        ),
        ("!   0  init  A=1\n         ~ B=2  3", ["A=1"]),
    ],
)
def test_constants_are_those_of_the_first_line(text: str, constants: list[str]) -> None:
    assert constants == read_constants(text)


def test_a_constant_that_is_not_shown_whole_has_to_be_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "story.txt"
    file.write_text("    0  init  SMALL=3 GOAL=1 …9 more… 2\n", encoding="utf-8")
    words = ["replay", "--steps", str(file), "--spec", str(MODELS / "toys/die_hard.py")]

    assert 2 == main(words)
    assert "does not say all of GOAL" in capsys.readouterr().err
    assert 0 == main([*words, "--set", "GOAL=4"])
