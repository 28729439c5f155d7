"""Values in logs, and the verdict on a log with more than one thing wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from statewalk.checker.conform.values import fits
from statewalk.checker.conforming import conform
from statewalk.checker.states.json import plain
from statewalk.dsl.values.stored import FrozenDict, freeze

COUNTER = """
from statewalk import *

class Counter(State):
    n: int = 0
    d: dict[int | str, int] = {1: 5, "1": 6}

    @action
    def up(self) -> None:
        require(self.n < 3)
        self.n += 1

    @action
    def put(self) -> None:
        self.d[1] = 7

counter = Counter()
deadlock(False)

@always
def small() -> bool:
    return counter.n < 2
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    (tmp_path / "spec.py").write_text(COUNTER, encoding="utf-8")
    return tmp_path / "spec.py"


def answer(spec: Path, *events: dict[str, Any], **options: Any) -> Any:
    log = spec.parent / "log.jsonl"
    log.write_text("".join(json.dumps(event) + "\n" for event in events), encoding="utf-8")
    return conform(spec, log, **options)


@pytest.mark.parametrize(
    ("times", "verdict", "first"),
    [
        (1, "conforms", "CONFORMS"),
        (2, "violated", "VIOLATED small"),
        (3, "violated", "VIOLATED small"),
        (4, "parts", "DOES NOT CONFORM"),
    ],
)
def test_the_headline_names_the_verdict(spec: Path, times: int, verdict: str, first: str) -> None:
    found = answer(spec, *[{"action": "up"}] * times)

    assert (verdict, verdict) == (found.verdict, found.json["verdict"])
    assert found.report.startswith(first)
    assert (times > 1) == ("VIOLATED small" in found.report)


@pytest.mark.parametrize(
    ("said", "value", "expected"),
    [
        ({"1": 5}, {1: 5}, True),
        ({"1": 5}, {"1": 5}, True),
        ({"1": 5}, {1: 5, "1": 6}, False),
        ({"1": 6}, {1: 5, "1": 6}, False),
        ({"#dict": [[1, 5], ["1", 6]]}, {1: 5, "1": 6}, True),
        ({"#dict": [[1, 6], ["1", 5]]}, {1: 5, "1": 6}, False),
        ({"True": 5, "1": 6}, [(1, 6), (True, 5)], True),
        ({"true": 5, "1": 6}, [(1, 6), (True, 5)], True),
        ({"true": 6, "1": 5}, [(1, 6), (True, 5)], False),
        ({"[1, 2]": 5}, {(1, 2): 5}, True),
        ({"(1, 2)": 5}, {(1, 2): 5}, True),
        ({"1": 5, "2": 5}, {1: 5, 2: 5}, True),
        ({"1": 5, "2": 6}, {1: 5, 2: 5}, False),
        ({"1": 5, "3": 5}, {1: 5, 2: 5}, False),
        ({}, {1: 5}, False),
    ],
)
def test_keys_of_a_dict(said: Any, value: Any, expected: bool) -> None:
    assert expected == fits(said, FrozenDict(value))


def test_two_keys_of_one_text_in_a_log(spec: Path) -> None:
    event = {"action": "put", "before": {"Counter.d": {"1": 6}}}
    refused = answer(spec, event)
    [candidate] = refused.json["candidates"]

    assert "parts" == refused.verdict
    assert {"#dict": [[1, 5], ["1", 6]]} == plain(freeze({1: 5, "1": 6}))
    assert answer(spec, candidate["accepted"][0]).conforms
