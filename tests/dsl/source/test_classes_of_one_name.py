"""Classes of one name, wherever they are: values are told apart, or refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk import check, replay
from tests.cases import slow

HELPER = """
from enum import Enum
class Color(Enum):
    RED = 1
    BLUE = 2
class Hue(Enum):
    X = 1
"""
SPEC = """
from enum import Enum
from typing import Any
from statewalk import *
import helper
import http
class Color(Enum):
    GREEN = 1
    DARK = 2
class Outer:
    class Color(Enum):
        A = 1
    class Inner(Enum):
        B = 1
    class Note(Record):
        text: str = ""
def made(*names):
    class Hidden(Enum):
        P = 1
    return Hidden
Named, Again = made(), made()
Called = Enum("Other", "Q R")
class C(State):
    v: Any = None
    seen: Any = frozenset()
    @action
    def one(self) -> None:
        self.v = {one}
    @action
    def two(self) -> None:
        self.v = {two}
    @action
    def both(self) -> None:
        self.seen = {{{one}, {two}}}
c = C()
@always
def never() -> bool:
    return c.v != {two}
@always
def few() -> bool:
    return len(c.seen) < 2
@exists
def same() -> bool:
    return {one} in c.seen and {two} in c.seen
"""


def spec_of(folder: Path, one: str, two: str) -> Path:
    (folder / "helper.py").write_text(HELPER)
    (folder / "spec.py").write_text(SPEC.format(one=one, two=two))
    return folder / "spec.py"


@pytest.mark.parametrize("engine", ["native", slow("reference")])
@pytest.mark.parametrize(
    "two",
    ["helper.Color.RED", "Outer.Color.A"],
)
def test_members_of_two_enums_of_one_name_are_refused(
    engine: str, two: str, tmp_path: Path
) -> None:
    run = check(spec_of(tmp_path, "Color.GREEN", two), engine=engine)

    assert "error" == run.verdict
    assert (
        "SW126 There are two classes called Color: spec.Color and " in run.traces["no_error"].error
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", ["native", slow("reference")])
@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("helper.Hue.X", "Color.GREEN"),
        ("Outer.Inner.B", "Color.GREEN"),
        ("Named.P", "Called.Q"),
        ("http.HTTPStatus.OK", "Color.GREEN"),
        ("Outer.Note('a')", "Outer.Note('b')"),
        ("Color.GREEN", "Color.DARK"),
    ],
)
def test_values_of_other_classes_are_found_again(
    engine: str, one: str, two: str, tmp_path: Path
) -> None:
    spec = spec_of(tmp_path, one, two)
    run = check(spec, engine=engine, keep_going=True, out=tmp_path / "run")

    again = [replay(file) for file in (tmp_path / "run").glob("*.trace.json")]

    assert ("violated", 6) == (run.verdict, run.counts.distinct)
    assert [True, True, True] == [found.reproduced for found in again]
