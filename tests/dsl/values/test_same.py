"""``True``, ``1`` and an IntEnum's member are three values, wherever values are compared."""

from __future__ import annotations

import enum
import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from statewalk.checker.api import check
from statewalk.checker.compare.crossing import cross
from statewalk.checker.conforming import conform
from statewalk.dsl.loader import load
from statewalk.dsl.values.records import Bag, Record
from statewalk.dsl.values.stored import ABSENT, same, same_state


class Size(enum.IntEnum):
    SMALL = 1


class Word(enum.StrEnum):
    A = "a"


class Pair(Record):
    left: object = 0


APART = [1, True, Size.SMALL, 0, False, None, "", "a", Word.A, "1", (), (1,), (True,), [], [1],
         [True], {1}, {True}, {"a"}, {Word.A}, {1: 1}, {True: 1}, {1: True}, Pair(1), Pair(True),
         Bag([1]), Bag([1, 1]), Bag([True]), ABSENT]  # fmt: skip
SPEC = """
import enum
from statewalk import *

class Size(enum.IntEnum):
    SMALL = 1

class Word(enum.StrEnum):
    A = "a"

class S(State):
    x: object = {first}
    seen: int = 0

    @action
    def go(self) -> None:
        require(self.seen == 0)
        self.seen = 1
        self.x = {second}

    @action
    def take(self, w: object = any_of(({first}, {second}))) -> None:
        require(self.seen == 1 and same(w, self.x))
        self.seen = 2

    @action
    def choose(self) -> None:
        require(self.seen == 2)
        self.x = any_of([{first}, {second}])
        self.seen = 3

def same(a: object, b: object) -> bool:
    return repr(a) == repr(b)

s = S()
deadlock(False)
"""
VALUES = [
    ("1", "True"),
    ("True", "1"),
    ("1", "Size.SMALL"),
    ("'a'", "Word.A"),
    ("(0,)", "(False,)"),
]
AHEAD = """
@always
def changes() -> bool:
    return s.seen > 0 or all(step.changes for step in next_steps(S.go))

@always
def of_an_argument() -> bool:
    return s.seen != 1 or enabled(s.take, {second}) and not enabled(s.take, {first})
"""
INITIAL = """
from statewalk import *
import enum

class Size(enum.IntEnum):
    SMALL = 1

class Word(enum.StrEnum):
    A = "a"

class S(State):
    x: object = 0
    n: int = 0

    @action
    def go(self) -> None:
        self.n = 1 - self.n

s = S()

@init
def begin() -> None:
    s.x = any_of([{first}, {second}])
"""


def test_values_are_told_apart() -> None:
    for (i, a), (j, b) in itertools.product(enumerate(APART), repeat=2):
        assert (i == j) == same(a, b), (a, b)
        assert (i == j) == same_state({"x": a}, {"x": b})
    assert not same_state({"x": 1}, {"y": 1})


def written(folder: Path, text: str, first: str, second: str) -> Path:
    spec = folder / "spec.py"
    spec.write_text(text.replace("{first}", first).replace("{second}", second), encoding="utf-8")
    return spec


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize(("first", "second"), VALUES)
def test_looking_ahead(tmp_path: Path, first: str, second: str, engine: str) -> None:
    run = check(written(tmp_path, SPEC + AHEAD, first, second), engine=engine, keep_going=True)

    assert ["holds", "holds"] == [run.result.of(n).verdict for n in ("changes", "of_an_argument")]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize(("first", "second"), VALUES)
def test_initial_states(tmp_path: Path, first: str, second: str, engine: str) -> None:
    """A field is constant where all initial states agree on it, and these do not."""
    run = check(written(tmp_path, INITIAL, first, second), engine=engine)

    assert (2, 4) == (run.counts.initial, run.counts.distinct)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("first", "second"), VALUES)
def test_logs(tmp_path: Path, first: str, second: str) -> None:
    spec, log = written(tmp_path, SPEC, first, second), tmp_path / "log.jsonl"

    def conforms(*events: dict[str, Any], **options: Any) -> bool:
        log.write_text("".join(json.dumps(event) + "\n" for event in events), encoding="utf-8")
        return conform(spec, log, **options).conforms

    assert conforms({"action": "go", "changes": ["S.x"]})
    assert conforms({"action": "take"}, hidden=["go"])
    assert not conforms({"action": "take"}, hidden=["go"], watch=["S.x"])


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("first", "second"), VALUES)
def test_a_trace_on_another_spec(tmp_path: Path, first: str, second: str) -> None:
    """The last of its steps chooses one of two values that Python takes for one."""
    never = "\n@always\ndef never() -> bool:\n    return s.seen < 3 or not same(s.x, {second})\n"
    spec = written(tmp_path, SPEC + never, first, second)
    found = cross(check(spec, engine="reference").traces["never"], load(spec), load(spec))

    assert (None, ("never",), (), ()) == (
        found.step,
        found.broken,
        found.otherwise,
        found.ends,
    )
