"""Refusals and warnings of liveness, and answers where they are allowed all the same."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from statewalk import check
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.contract.stops import COUNTED, StoppedBy, stop_of
from statewalk.checker.liveness.check import check_liveness
from statewalk.checker.liveness.explore import build
from statewalk.checker.liveness.graph import StateGraph
from statewalk.dsl.errors import RunError
from statewalk.dsl.loader import load
from statewalk.dsl.model import Model, Property

COUNTER = """
from statewalk import *

class S(State):
    n: int = 0

s = S()

@action(fair="weak")
def up() -> None:
    require(s.n < 9)
    s.n += 1

@action
def down() -> None:
    require(s.n == 2)
    s.n = 1

@always
@eventually
def nine() -> bool:
    return s.n == 9

@always
@eventually
def one() -> bool:
    return s.n == 1
"""
BOUND = """
@constraint
def small() -> bool:
    return s.n <= 4
"""
STEP_BOUND = """
@constraint
@on_step
def small() -> bool:
    return s.n <= 4 or old(s.n) == s.n
"""


def spec(folder: Path, text: str) -> Path:
    file = folder / "counter.py"
    file.write_text(text)
    return file


@pytest.mark.parametrize("bound", [BOUND, STEP_BOUND])
def test_a_constraint_is_refused_before_the_search(bound: str, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="constraint 'small' cuts") as caught:
        check(spec(tmp_path, COUNTER + bound))

    assert "SW502" == caught.value.code
    assert "--no-liveness" in str(caught.value)
    assert "--allow-unsound" in str(caught.value)


def test_without_liveness_a_constraint_is_fine(tmp_path: Path) -> None:
    result = check(spec(tmp_path, COUNTER + BOUND), liveness=False)

    assert "unknown" == result.of("nine").verdict


@pytest.mark.parametrize("bound", [BOUND, STEP_BOUND])
def test_allowed_under_a_constraint_a_lasso_is_real(bound: str, tmp_path: Path) -> None:
    """At 4 the step to 5 is cut, but still enabled: stopping there is not fair and no lasso."""
    model = load(spec(tmp_path, COUNTER + bound))
    graph = build(model, SearchOptions(), model.properties)
    nine, one = check_liveness(model, graph, model.properties)

    assert ("violated", 3) == (nine.verdict, nine.lasso.length if nine.lasso else None)
    assert ("holds", True) == (one.verdict, one.unsound)


def test_a_cut_search_leaves_liveness_open(tmp_path: Path) -> None:
    file = spec(tmp_path, COUNTER)
    cut = check(file, max_depth=4)
    allowed = check(file, max_depth=4, allow_unsound=True)

    assert ("bounded", "unknown") == (cut.verdict, cut.of("nine").verdict)
    assert any("cut at a depth" in w for w in cut.warnings)
    assert "violated" == allowed.of("nine").verdict
    assert "holds" == allowed.of("one").verdict
    assert any(w.startswith("unsound: one") for w in allowed.warnings)


def test_liveness_that_runs_out_of_time_leaves_the_verdict_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("statewalk.checker.liveness.in_a_check.graph_of", _cut_graph)
    file = spec(tmp_path, COUNTER)
    result = check(file, properties=("nine",), engine="native", max_memory=1 << 40)

    assert ("bounded", "unknown") == (result.verdict, result.of("nine").verdict)


LIMITS = ["memory", "time", "interrupt", "killed"]


@pytest.mark.parametrize("stopped", LIMITS)
def test_a_limit_while_the_graph_is_built_is_named_and_decides_nothing(
    stopped: StoppedBy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search is whole. The graph ends in its first level, where no step is known to be fair."""

    def begun(
        model: Model, limits: SearchOptions, wanted: tuple[Property, ...], _: str, *, rows: bool
    ) -> Any:
        return replace(build(model, limits.unbounded(1), wanted), stopped=stopped)

    monkeypatch.setattr("statewalk.checker.liveness.in_a_check.graph_of", begun)
    file = spec(tmp_path, COUNTER + "\ndeadlock(False)\n")
    result = check(file, engine="native", max_memory=1 << 40, allow_unsound=True)

    assert ("bounded", "unknown") == (result.verdict, result.of("nine").verdict)
    assert any(stop_of(stopped).liveness in w for w in result.warnings)
    assert not any("SW501" in w or w.startswith("unsound") for w in result.warnings)


def test_a_lasso_is_told_though_a_limit_ended_the_graph(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("statewalk.checker.liveness.in_a_check.graph_of", _cut_graph)
    file = spec(tmp_path, COUNTER + "\n@eventually\ndef two() -> bool:\n    return s.n == 2\n")
    result = check(file, engine="native", max_memory=1 << 40, allow_unsound=True)

    assert ("violated", "unknown") == (result.of("nine").verdict, result.of("two").verdict)


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_an_interrupted_search_decides_no_liveness(engine: str, tmp_path: Path) -> None:
    calls = iter(range(1000))
    result = check(
        spec(tmp_path, COUNTER), engine=engine, allow_unsound=True, properties=("one",),
        interrupted=lambda: next(calls) > 3,
    )  # fmt: skip

    assert ("bounded", "unknown") == (result.verdict, result.of("one").verdict)
    assert any("interrupted" in w for w in result.warnings if w.startswith("one"))
    assert not any("SW501" in w for w in result.warnings)


def test_a_search_that_ran_out_of_time_decides_no_liveness(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though the graph of the levels that it saw is built whole."""
    calls = iter(range(1000))
    monkeypatch.setattr(SearchOptions, "urgent", lambda *_: "time" if 3 < next(calls) < 5 else None)
    file = spec(tmp_path, COUNTER)
    result = check(file, engine="reference", allow_unsound=True, properties=("one",))

    assert ("bounded", "unknown") == (result.verdict, result.of("one").verdict)
    assert any("ran out of time" in w for w in result.warnings if w.startswith("one"))


@pytest.mark.parametrize("most", [1, 4])
@pytest.mark.parametrize("option", [stop.option for stop in COUNTED.values()])
def test_allowed_within_a_bound_that_counts(option: str, most: int, tmp_path: Path) -> None:
    file = spec(tmp_path, COUNTER)
    given: dict[str, Any] = {option: most}
    result = check(file, allow_unsound=True, properties=("one",), **given)

    assert ("bounded", "holds") == (result.verdict, result.of("one").verdict)
    assert any(w.startswith("unsound: one") for w in result.warnings)
    assert not any("SW501" in w for w in result.warnings)


def _cut_graph(
    model: Model, limits: SearchOptions, properties: tuple[Property, ...], engine: str, **_: bool
) -> StateGraph:
    return replace(build(model, limits, properties), stopped="time")


def test_an_expected_lasso_is_looked_for_in_spite_of_a_violation(tmp_path: Path) -> None:
    text = """
@always
def small() -> bool:
    return s.n < 2

config("both", expect=violates(small, nine))
"""
    file = spec(tmp_path, COUNTER + text)

    assert "unknown" == check(file).of("nine").verdict
    assert "violated" == check(file, keep_going=True).of("nine").verdict
    assert check(file, config="both").as_expected


def test_without_fairness_there_is_a_warning(tmp_path: Path) -> None:
    result = check(spec(tmp_path, COUNTER.replace('(fair="weak")', "")))

    assert "violated" == result.of("nine").verdict
    assert any("no action is fair" in w for w in result.warnings)


def test_a_property_that_nothing_could_violate_is_vacuous(tmp_path: Path) -> None:
    text = "\n@eventually\n@always\ndef natural() -> bool:\n    return s.n >= 0\n"
    result = check(spec(tmp_path, COUNTER + text))

    assert result.of("natural").vacuous
    assert not result.of("nine").vacuous


def test_a_lasso_is_saved_and_shows_where_it_returns_to(tmp_path: Path) -> None:
    result = check(spec(tmp_path, COUNTER), out=tmp_path / "run")
    trace = result.traces["nine"]

    assert ("violated", 1, 3) == (result.verdict, trace.loop, trace.length)
    assert trace.contents[1] == trace.contents[3]
    assert (tmp_path / "run" / "nine.trace.json").exists()


def test_within_the_specs_own_bound_lassos_count_and_their_absence_does_not(
    tmp_path: Path,
) -> None:
    model = replace(load(spec(tmp_path, COUNTER)), max_depth=5)
    result = check(model)
    allowed = check(model, allow_unsound=True)

    assert ("violated", "violated", "unknown") == (
        result.verdict,
        result.of("nine").verdict,
        result.of("one").verdict,
    )
    assert "holds" == allowed.of("one").verdict
    assert any(w.startswith("unsound: one") for w in allowed.warnings)
    assert not any(w.startswith("unsound: nine") for w in allowed.warnings)


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_a_property_that_raises_is_an_error_with_the_way_there(engine: str, tmp_path: Path) -> None:
    text = "\n@eventually\ndef broken() -> bool:\n    return [4, 4, 4][s.n] == 5\n"
    result = check(spec(tmp_path, COUNTER + text), engine=engine)

    assert "error" == result.verdict
    assert 3 == result.traces["no_error"].length
