"""The example's coordinator is a behaviour of its spec, and each of its bugs is not."""

from __future__ import annotations

import asyncio
import importlib
from pathlib import Path
from typing import Any

import pytest

from statewalk import load
from statewalk.checker.conforming import Question
from tests.places import ROOT

FOLDER = ROOT / "examples/transactions"
BUGS = ("counted", "unwritten", "forgetful", "impatient", "presumed")


@pytest.fixture(scope="module")
def question() -> Question:
    return Question(load(FOLDER / "spec.py"))


@pytest.fixture
def coordinator(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module("coordinator")


def test_runs_conform(question: Question, coordinator: Any, tmp_path: Path) -> None:
    for seed in range(5):
        answer = question.ask(asyncio.run(coordinator.run(tmp_path, seed)))
        assert answer.conforms, answer


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
