"""Two specs side by side: enum members and record fields go by their names, never by place."""

from __future__ import annotations

import itertools
import json
from enum import Enum, Flag
from pathlib import Path
from typing import Any

import pytest

from statewalk.checker.api import check
from statewalk.checker.behaviours.replay import replay
from statewalk.checker.compare.from_python import compare
from statewalk.checker.states.diff import alike, between
from statewalk.checker.traces.file import to_dict
from statewalk.dsl.errors import RunError
from statewalk.dsl.values.records import Bag, Record
from statewalk.dsl.values.stored import freeze

SPEC = """
from enum import Enum, Flag
from statewalk import *
deadlock(False)

{kinds}

class M(Role):
    done: bool = False
    v: object = None

    @action
    def go(self) -> None:
        require(not self.done)
        self.done = True
        self.v = {value}

    @action
    def note(self, c: object = any_of([C.A, C.B])) -> None:
        require(self.done and c == C.A)

m = M()

@always
def never() -> bool:
    return not m.done
{more}
"""
ONE = """
class C(Enum):
    A = 1
    B = 2
class F(Flag):
    X = 1
    Y = 2
class R(Record):
    a: int = 0
    b: int = 0
"""
TWO = """
class C(Enum):
    B = 1
    NEW = 3
    A = 2
class F(Flag):
    NEW = 1
    Y = 2
    X = 4
class R(Record):
    b: int = 0
    a: int = 0
"""
APART = ["C.A", "C.B", "F.X", "F.Y", "F.X | F.Y", "R(a=1)", "R(b=1)", "{C.A}", "{C.B}", "{R(a=1)}",
         "[C.A, C.B]", "[C.B, C.A]", "{C.A: 1, C.B: 2}", "{C.A: 2, C.B: 1}", "(R(a=1), C.A)",
         "(R(a=1), C.B)", "Bag([C.A, C.A, C.B])", "Bag([C.A, C.B, C.B])"]  # fmt: skip


def held(kinds: str) -> list[Any]:
    names: dict[str, Any] = {"Enum": Enum, "Flag": Flag, "Record": Record, "Bag": Bag,
                             "__name__": __name__}  # fmt: skip
    exec(kinds, names)
    return [freeze(eval(text, names)) for text in APART]


def test_values_are_one_where_their_names_are() -> None:
    ones, twos = held(ONE), held(TWO)

    for (i, a), (j, b) in itertools.product(enumerate(ones), enumerate(twos)):
        assert (i == j) == alike(a, b), (APART[i], APART[j])
        assert (i == j) == (not list(between("at", a, b))), (APART[i], APART[j])


def written(folder: Path, kinds: str, value: str, name: str, more: str = "") -> str:
    path = folder / f"{name}.py"
    path.write_text(SPEC.format(kinds=kinds, value=value, more=more), encoding="utf-8")
    return str(path)


PAIRS = [("C.A", "C.B"), ("F.X", "F.Y"), ("R(a=1)", "R(b=1)"), ("{C.A: [F.X]}", "{C.B: [F.X]}")]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("value", "other"), PAIRS)
def test_a_refinement_goes_by_names(tmp_path: Path, value: str, other: str) -> None:
    written(tmp_path, ONE, value, "one")

    for given, verdict in ((value, "holds"), (other, "violated")):
        spec = written(tmp_path, TWO, given, "two", 'p = refines("one.py")')
        found = check(spec, properties=("p",), engine="reference")
        assert verdict == {p.name: p.verdict for p in found.properties}["p"], given


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("value", "other"), PAIRS)
def test_a_comparison_goes_by_names(tmp_path: Path, value: str, other: str) -> None:
    one = written(tmp_path, ONE, value, "one")

    for given, same in ((value, True), (other, False)):
        two = written(tmp_path, TWO, given, "two")
        [versus] = compare(one, two, engine="reference").others
        assert same == (versus.forth.refusal is None) == (versus.back.refusal is None), given
        assert same == (versus.gained.sights == 0), given
        [crossing] = versus.crossed
        assert crossing.step is None
        assert same == (not crossing.ends), given


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("value", "other"), PAIRS)
def test_a_trace_is_repeated_by_names(tmp_path: Path, value: str, other: str) -> None:
    one = written(tmp_path, ONE, value, "one")
    trace = check(one, engine="reference").traces["never"]
    saved = tmp_path / "t.json"
    saved.write_text(json.dumps(to_dict(trace)), encoding="utf-8")

    for given in (value, other):
        two = written(tmp_path, TWO, given, "two")
        assert (given == value) == replay(saved, two).reproduced, given
        assert (given == value) == replay(trace, two).reproduced, given


def test_a_name_that_is_another_in_one_spec_is_refused(tmp_path: Path) -> None:
    alias = ONE.replace("    B = 2", "    B = 1", 1)
    one = written(tmp_path, ONE, "C.A", "one")
    two = written(tmp_path, alias, "C.A", "two")

    with pytest.raises(RunError, match=r"C\.B"):
        compare(one, two, engine="reference")


def test_instances_that_only_one_has_are_named(tmp_path: Path) -> None:
    text = SPEC.replace("m = M()", "m, *ms = [M() for _ in range({n})]")
    paths = [tmp_path / "one.py", tmp_path / "two.py"]
    for path, n in zip(paths, (1, 2), strict=True):
        more = '\np = refines("one.py")\n' if n > 1 else ""
        spec = text.format(kinds=ONE, value=1, more=more, n=n)
        path.write_text(spec.replace("@always", "@exists"), encoding="utf-8")
    run = check(paths[1], properties=("p",), engine="reference")
    [versus] = compare(paths[0], paths[1], engine="reference").others

    assert any("not compared" in warning and "M#1" in warning for warning in run.warnings)
    assert ("M#0.done", "M#0.v") == run.evidence.compared["p"]
    assert ("M#1",) == versus.apart
