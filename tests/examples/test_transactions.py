"""The example's coordinator is a behavior of its spec, and each of its bugs is not."""

from __future__ import annotations

import asyncio
import importlib
import os
from pathlib import Path
from typing import Any

import pytest

from statewalk import load
from statewalk.checker.cli import main
from statewalk.checker.conforming import Question
from tests.places import ROOT

FOLDER = ROOT / "examples/transactions"
BUGS = ("counted", "unwritten", "forgetful", "impatient", "presumed")


@pytest.fixture(scope="module")
def question() -> Question:
    return Question(load(FOLDER / "spec.py"))


@pytest.fixture(scope="module")
def scenarios(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A module that takes every step of every state of a transaction."""
    file = tmp_path_factory.mktemp("scenarios") / "test_steps.py"
    spec = str(FOLDER / "spec.py")
    assert main(["cover", spec, "--steps", "--set", "TRANSACTIONS=1", "--pytest", str(file)]) == 0
    names: dict[str, Any] = {"__file__": str(file)}
    exec(compile(file.read_text("utf-8"), "test_steps.py", "exec"), names)
    return names


@pytest.fixture
def coordinator(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module("coordinator")


@pytest.mark.thorough
def test_runs_conform(question: Question, coordinator: Any, tmp_path: Path) -> None:
    for seed in range(5):
        answer = question.ask(asyncio.run(coordinator.run(tmp_path, seed)))
        assert answer.conforms, answer


@pytest.mark.sampled(3)
@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_is_caught(bug: str, question: Question, coordinator: Any, tmp_path: Path) -> None:
    assert coordinator.BUGS == BUGS
    answer = None
    for seed in range(100):
        answer = question.ask(asyncio.run(coordinator.run(tmp_path, seed, bug)))
        if not answer.conforms:
            break
    assert answer is not None
    assert answer.verdict == "parts"
    assert 3 <= answer.accepted < answer.events


@pytest.mark.sampled(3)
@pytest.mark.parametrize("bug", ["", *BUGS])
def test_scenarios_tell_bugs_from_what_is_right(
    bug: str, scenarios: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.syspath_prepend(FOLDER)
    driven = importlib.import_module("driven")
    monkeypatch.setattr(os, "fsync", lambda file: None)
    failed = None
    for number, scenario in enumerate(scenarios["SCENARIOS"]):
        system = driven.System(tmp_path, bug, transactions=1)
        try:
            scenarios["test_the_system_does_what_the_spec_says"](system, number)
        except AssertionError:
            failed = scenario
            break
        finally:
            system.close()

    assert bool(bug) == (failed is not None), failed
