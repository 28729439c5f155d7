"""Reports of the checker's own faults, provoked by a small fault where there is no
other way; and when a spec is not deterministic, so that nothing can be repeated.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from statewalk.checker import native
from statewalk.checker.cli import main
from statewalk.checker.contract.search import Finding, SearchOptions, Step
from statewalk.checker.engines import reference
from statewalk.checker.engines.table import EngineEntry, load_engine
from statewalk.checker.liveness.check import problems
from statewalk.checker.native import running
from statewalk.checker.native.findings import Stage, replay
from statewalk.checker.traces import trace
from statewalk.dsl.errors import EngineError
from statewalk.dsl.loader import load
from statewalk.dsl.model import Model

SPEC = """
import os
from statewalk import *
kept = os.environ  # where nobody looks
def called() -> int:
    kept.__setitem__("CALLED", str(int(kept["CALLED"]) + 1))
    return int(kept["CALLED"])
deadlock(False)
class C(Role, symmetric=True):
    n: int = 0
    out: dict[int, int] = {{}}
    @action
    def go(self, by: int = any_of([1, 2, 3])) -> None:
        require(self.n < 30)
        {body}
        self.n += by
cs = [C() for _ in range(2)]
@always
def small() -> bool:
    return all(c.n < 16 for c in cs)
"""


def model_of(folder: Path, body: str = "pass") -> Model:
    path = folder / "spec.py"
    path.write_text(SPEC.format(body=body))
    return load(path)


def raised(run: Any, *arguments: Any) -> EngineError:
    with pytest.raises(EngineError) as caught:
        run(*arguments)
    return caught.value


def test_a_step_that_does_not_raise_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLED", "0")
    model = model_of(tmp_path, "assert called() != 40")

    error = raised(native.explore, model, SearchOptions())

    assert error.code == "SW310"
    assert error.message == "C#0.go(by=1) raised, and does not raise again."
    assert "not deterministic" in error.why
    assert "iterators, files and helpers" in error.help


def test_a_step_that_is_not_possible_again(tmp_path: Path) -> None:
    model = model_of(tmp_path)
    search = running.start(model, SearchOptions(), None)

    error = raised(replay, search, model.initial_states[0], 1)  # it has one outcome, number 0

    assert error.code == "SW310"
    assert error.message == "A step of C#0.go(by=1) was found, and cannot be taken again."
    assert "not deterministic" in error.why


def test_more_outcomes_than_there_are_numbers(tmp_path: Path) -> None:
    search = running.start(model_of(tmp_path, "any_of(range(9))"), SearchOptions(), None)
    search.ordinal_bits = 3

    error = raised(running.run, running.loop_of(search))

    assert (error.code, error.message) == (
        "SW311",
        "An action has more than 8 outcomes in one state.",
    )


def test_a_level_that_is_never_learned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    search = running.start(model_of(tmp_path), SearchOptions(), None)
    loop = running.loop_of(search)
    loop.begin()
    monkeypatch.setattr(search.learner, "learn", lambda *arguments: None)

    error = raised(loop.expand, Stage(search))

    assert error.code == "SW312"


def test_a_value_that_was_never_taken_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = running.start(model_of(tmp_path), SearchOptions(symmetry=True), None)
    loop = running.loop_of(search)
    assert loop.orbits is not None
    loop.begin()
    monkeypatch.setattr(loop.orbits.learned, "refresh", lambda: None)

    error = raised(running.run, loop, True)

    assert error.code == "SW314"


def test_a_trace_that_the_spec_does_not_go(tmp_path: Path) -> None:
    finding = Finding("small", "always", 0, (Step(0, (7,)),))

    error = raised(trace.build, model_of(tmp_path), finding)

    assert error.code == "SW903"
    assert error.message.startswith("Step 1 of the trace of small, C#0.go(by=1)")


def test_a_property_that_is_not_about_behaviors(tmp_path: Path) -> None:
    class Graph:
        def holds(self, name: str) -> Any:
            import numpy as np

            return np.ones(1, np.bool_)

    graph: Any = Graph()

    error = raised(problems, model_of(tmp_path).properties[0], graph)

    assert (error.code, error.message) == (
        "SW905",
        "'small' is not a liveness property, but always.",
    )


@pytest.mark.parametrize("engine", [native, reference])
def test_a_field_that_was_taken_for_constant(engine: Any, tmp_path: Path) -> None:
    model = model_of(tmp_path)
    vars(type(model.roles["C"][0]))["n"].constant = True

    [finding] = engine.explore(model, SearchOptions()).findings

    assert isinstance(finding.error, Exception)
    assert "SW901 C#0.n is a constant field and was changed." in str(finding.error)


def test_an_engine_that_cannot_be_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "half_an_engine.py").write_text("import there_is_no_such_module\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    error = raised(load_engine, EngineEntry("half", "half_an_engine"))

    assert error.code == "SW902"
    assert error.message == (
        "The half engine cannot be loaded: No module named 'there_is_no_such_module'."
    )


def test_a_graph_that_is_not_what_was_counted(tmp_path: Path) -> None:
    from statewalk.checker.graph.write import write_graph

    model, options = model_of(tmp_path), SearchOptions(properties=())
    found = reference.explore(model, options)
    wrong = replace(found, counts=replace(found.counts, distinct=found.counts.distinct + 1))

    error = raised(write_graph, model, options, wrong, tmp_path / "graph")

    assert error.code == "SW906"
    assert not (tmp_path / "graph").exists()


def test_an_unexpected_exception_is_kept_in_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model_of(tmp_path)
    monkeypatch.setattr(reference, "explore", lambda *arguments: 1 // 0)

    code = main(["check", str(tmp_path / "spec.py"), "--engine", "reference"])
    said = capsys.readouterr().err

    assert code == 70
    assert "SW900 internal error: ZeroDivisionError" in said
    assert "This is a bug in statewalk, not in your spec." in said
    kept = Path(said.partition("Please attach ")[2].partition(" to a report")[0])
    assert "1 // 0" in kept.read_text()
    assert str(sys.version) in kept.read_text()
    kept.unlink()
