"""The graph of the other spec: within its own bound and those that are given, by the engine that is
asked for; and its slots, which need not all be in its rows.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from statewalk import compare
from statewalk.checker.api import check
from statewalk.checker.behaviours.replay import replay
from statewalk.checker.cli import main
from statewalk.checker.contract.stops import COUNTED
from statewalk.checker.liveness import collect
from statewalk.checker.refinement import in_a_check, inclusion
from tests.cases import slow

ENGINES = (slow("reference"), "native")
ENDLESS = """---
deadlock_detection: false
options:
    max_actions: 5
---
action Init:
    x = 0
atomic action Up:
    x = x + 1
"""
UP = """
from statewalk import *

class Thing(State):
    y: int = 0

    @action
    def up(self) -> None:
        require(self.y < {most})
        self.y += {by}

thing = Thing()
deadlock(False)

def seen() -> dict[str, object]:
    return {{"Shared.x": thing.y}}

ref = refines("{other}", by=seen)
"""
UNBOUND = """
from statewalk import *

class Shared(State):
    x: int = 0

    @action
    def up(self) -> None:
        self.x += 1

shared = Shared()
"""
DISCARDS = """
from statewalk import *

class Box(State):
    c: int = 0
    s: {kind} = {empty}

    @action
    def go(self) -> None:
        require(self.c < {most})
        self.c += 1
        {discard}

    @action
    def add(self) -> None:
        require(0 in self.s)
        {add}

box = Box()
deadlock(False)
"""
BESIDE = "\n@constraint\ndef small() -> bool:\n    return box.c < 2\n"


def written(folder: Path, other: str, text: str, most: int, by: int = 1) -> str:
    (folder / other).write_text(text)
    spec = folder / "one.py"
    spec.write_text(UP.format(most=most, by=by, other=other))
    return str(spec)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("most", "by", "verdict"),
    [(3, 1, "holds"), (5, 1, "holds"), (6, 1, "unknown"), (3, 3, "violated"), (9, 9, "violated")],
)
def test_its_own_bound_holds(tmp_path: Path, most: int, by: int, verdict: str, engine: str) -> None:
    """Known behaviors decide; unknown ones decide nothing."""
    spec = written(tmp_path, "other.fizz", ENDLESS, most, by)
    run = check(spec, engine=engine)

    assert verdict == run.result.of("ref").verdict
    if verdict == "violated":
        assert replay(run.traces["ref"], spec).reproduced


def test_what_lies_beyond_its_bound_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(
        ["check", written(tmp_path, "other.fizz", ENDLESS, 6), "--out", str(tmp_path / "r")]
    )
    out = " ".join(capsys.readouterr().out.split())

    assert 3 == code
    assert "what other allows is not known whole; its search was ended by a bound on" in out


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("option", [stop.option for stop in COUNTED.values()])
def test_a_bound_that_is_given_holds_for_it_too(tmp_path: Path, option: str, engine: str) -> None:
    spec = written(tmp_path, "other.py", UNBOUND, 3)
    given: dict[str, Any] = {option: 6}

    assert "holds" == check(spec, engine=engine, **given).result.of("ref").verdict


@pytest.mark.thorough
def test_a_trace_is_repeated_beside_endlessly_many_states(tmp_path: Path) -> None:
    spec = written(tmp_path, "other.py", UNBOUND, 9, 3)
    trace = check(spec, max_depth=6).traces["ref"]
    assert replay(trace, spec).reproduced

    (tmp_path / "other.py").write_text(UNBOUND.replace("+= 1", "+= 3"))
    assert "other allows all of it now" in replay(trace, spec).why

    late = "self.h += 1\n        self.x += 3 * (self.h % 99 == 0)"
    text = UNBOUND.replace("self.x += 1", late)
    (tmp_path / "other.py").write_text(text.replace("x: int = 0", "x: int = 0\n    h: int = 0"))
    assert "other allows all of it now" in replay(trace, spec).why


def test_the_reference_engine_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the native engine was asked")

    spec = written(tmp_path, "other.fizz", ENDLESS, 3)
    monkeypatch.setattr(collect, "collect", refuse)

    assert "holds" == check(spec, engine="reference").result.of("ref").verdict
    assert compare(spec, spec, engine="reference").whole


@pytest.mark.sampled(2)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("beside", ["", BESIDE])
@pytest.mark.parametrize(
    ("kind", "empty", "discard", "add"),
    [
        ("set[int]", "set()", "self.s.discard(1)", "self.s.add(2)"),
        ("dict[int, int]", "{}", "self.s.pop(1, 0)", "self.s[2] = 2"),
    ],
)
def test_what_was_never_there_is_taken_away(
    tmp_path: Path, kind: str, empty: str, discard: str, add: str, beside: str, engine: str
) -> None:
    """Its slot is the last one, and no row is as wide."""
    given = {"kind": kind, "empty": empty, "discard": discard, "add": add}
    other, one, mapped = (tmp_path / f"{name}.py" for name in ("other", "one", "mapped"))
    other.write_text(DISCARDS.format(**given, most=5 if beside else 1) + beside)
    text = DISCARDS.format(**given, most=1)
    one.write_text(text + "\nref = refines('other.py')\n")
    seen = "{'Box.c': box.c, 'Box.s': " + kind.partition("[")[0] + "(box.s)}"
    mapped.write_text(f"{text}\nref = refines('other.py', by=lambda: {seen})\n")

    assert "holds" == check(one, engine=engine).result.of("ref").verdict
    assert "holds" == check(mapped, engine=engine).result.of("ref").verdict
    assert compare(other, one, engine=engine).others[0].forth.refusal is None


LASSO = """
from statewalk import *

class Box(State):
    v: int = 0
    {more}

    @action{fair}
    def go(self) -> None:
        self.v = 1 - self.v
        {also}

box = Box()
deadlock(False)
{said}
"""


def test_a_lasso_is_repeated_beside_endlessly_many_states(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the other has become is unknown where it never ends: the replay does."""
    monkeypatch.setattr("statewalk.checker.refinement.in_a_check._DEEPEST", 200)
    said = "@always\n@eventually\ndef again() -> bool:\n    return box.v == 1\n"
    other, spec = tmp_path / "other.py", tmp_path / "one.py"
    other.write_text(LASSO.format(more="", also="", fair='(fair="weak")', said=said))
    spec.write_text(LASSO.format(more="", also="", fair="", said="ref = refines('other.py')"))
    trace = check(spec).traces["ref"]
    assert trace.loop is not None
    assert replay(trace, str(spec)).reproduced

    grows = {"more": "n: Auxiliary[int] = 0", "also": "self.n += 1", "fair": '(fair="weak")'}
    other.write_text(LASSO.format(**grows, said=said))
    again = replay(trace, str(spec))
    assert not again.reproduced
    assert "liveness of other is not known; its search was ended by a bound on" in again.why


HIDDEN = """
from statewalk import *

class Box(State):
    v: int = 0
    h: Auxiliary[int] = 0

    @action
    def go(self) -> None:
        self.h = any_of([0, 1, 2])
        self.v = (self.v + 1) % 6

box = Box()
deadlock(False)
"""
FEW = "@constraint\ndef few() -> bool:\n    return box.h < 2\n"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("cut", ["", FEW])
def test_a_limit_that_ends_following_is_named(
    cut: str, engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, spec = tmp_path / "other.py", tmp_path / "one.py"
    other.write_text(HIDDEN)
    spec.write_text(HIDDEN + "ref = refines('other.py')\n" + cut)
    run = check(spec, engine=engine)
    assert ("unknown" if cut else "holds") == run.of("ref").verdict
    assert "were followed" not in str(run.warnings)

    monkeypatch.setattr(inclusion, "MOST", 2)
    run = check(spec, engine=engine)
    assert "unknown" == run.of("ref").verdict
    assert "pairs of states were followed; a limit of 2 ended it" in str(run.warnings)
    bounds = compare(other, spec, engine=engine).others[0].bounds
    assert 2 == sum("were followed; a limit of 2 ended it" in bound for bound in bounds)

    monkeypatch.setattr(in_a_check, "_ended", lambda *_: "--timeout 5 s")
    run = check(spec, engine=engine, timeout=60)
    assert "unknown" == run.of("ref").verdict
    assert "only 0 pairs of states were followed; --timeout 5 s ended it" in str(run.warnings)
