"""Guided traces follow what is named, and say why they cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.guided import extension, follow, read_steps
from dsl.loader import load

MODELS = Path(__file__).parents[2] / "models"

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


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("Client#0.send", "there is no action"),
        ("Client#0.receive_init_pid_response", "stops it"),
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
