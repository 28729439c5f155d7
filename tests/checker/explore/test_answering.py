"""Questions are answered in a process that may end or be ended; the next one is answered."""

from __future__ import annotations

import os
import time
from typing import Any

import pytest

from statewalk.checker.explore import answering
from statewalk.checker.explore.answering import Answering
from statewalk.checker.machine import supervisor


def answer(question: str, asked: Any) -> dict[str, Any]:
    if question == "leave":
        os._exit(0)
    if question == "hang":
        while True:
            time.sleep(1)
    if question == "refuse":
        raise KeyError(asked)
    return {"pid": os.getpid(), "asked": asked}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(answering, "_GRACE", 0.0)
    with Answering(answer, 0.3, lambda: False) as found:
        yield found


def test_one_process_answers_one_question_after_the_other(asked: Answering) -> None:
    first, second = asked.ask("say", [1]), asked.ask("say", [2])

    assert ([1], [2]) == (first["asked"], second["asked"])
    assert first["pid"] == second["pid"] != os.getpid()


def test_a_question_that_ends_the_process_has_an_answer(asked: Answering) -> None:
    before = asked.ask("say", 1)
    found = asked.ask("leave", 1)
    after = asked.ask("say", 2)

    assert "SW205" in found["error"]
    assert 2 == after["asked"]
    assert before["pid"] != after["pid"]


def test_a_question_without_end_is_given_up(asked: Answering) -> None:
    assert {"error": "This took longer than 0 seconds."} == asked.ask("hang", 1)
    assert 1 == asked.ask("say", 1)["asked"]


def test_a_question_that_fills_memory_is_given_up(
    asked: Answering, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked.seconds = 60
    monkeypatch.setattr(supervisor, "most", lambda: 1.0)

    assert "memory" in asked.ask("hang", 1)["error"]


def test_a_question_is_given_up_when_the_explorer_ends(asked: Answering) -> None:
    asked.seconds, asked.ended = 60, lambda: True

    assert "ended" in asked.ask("hang", 1)["error"]


def test_what_the_page_never_asks_is_refused(asked: Answering) -> None:
    with pytest.raises(ValueError, match="refuse"):
        asked.ask("refuse", 1)


def test_an_answerer_knows_that_another_question_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    def until_another(question: str, data: Any) -> dict[str, Any]:
        while not found.waiting():
            time.sleep(0.01)
        return {"waited": True}

    found = Answering(until_another, 60, lambda: False)
    found.others = lambda: True
    with found:
        assert {"waited": True} == found.ask("say", 1)
