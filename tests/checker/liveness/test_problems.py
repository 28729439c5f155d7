"""Small liveness problems whose verdicts and lassos are derived by hand, each in its own file.

Every configuration in ``specs/`` is one problem. It says which properties are violated, exactly,
and how long the lasso of the first one is (steps of stem and cycle).
"""

from dataclasses import replace
from pathlib import Path

import pytest

from statewalk.checker.contract.search import SearchOptions, Step
from statewalk.checker.liveness.check import check_liveness
from statewalk.checker.liveness.conditions import Lasso
from statewalk.checker.liveness.explore import build
from statewalk.checker.liveness.fair_cycles import with_fairness
from statewalk.dsl.loader import load
from statewalk.dsl.model import Model
from statewalk.dsl.view import State
from tests.declared import declared

SPECS = sorted((Path(__file__).parent / "specs").glob("*.py"))
PROBLEMS = [(path, c.name) for path in SPECS for c in declared(path).values()]


def test_there_are_enough_problems() -> None:
    assert len(PROBLEMS) >= 40


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("path", "config"), PROBLEMS, ids=lambda v: getattr(v, "stem", v))
def test_verdict_and_length_are_as_derived(path: Path, config: str) -> None:
    model = load(path, config=config)
    properties = [p for p in model.properties if p.of_kind.liveness]
    graph = build(model, SearchOptions(), tuple(properties))
    results = {r.property: r for r in check_liveness(model, graph, properties)}
    expect = next(c.expect for c in model.configurations if c.name == config)

    assert expect is not None
    assert set(expect.properties) == {n for n, r in results.items() if r.verdict == "violated"}
    if expect.length is not None:
        lasso = results[expect.properties[0]].lasso
        assert lasso is not None
        assert expect.length == lasso.length
    for result in results.values():
        if result.lasso is not None:
            follow(model, result.lasso)
    if path.stem == "same_state":
        assert {"at_once": True, "never": True} == {n: r.vacuous for n, r in results.items()}


def test_a_fairness_that_nobody_gave_a_meaning_is_not_passed_over() -> None:
    model = load(Path(__file__).parent / "specs" / "one_step.py", config="unfair")
    graph = build(model, SearchOptions(), ())
    strict = replace(model.actions[0], fairness="strict")  # type: ignore[arg-type]

    with pytest.raises(AssertionError):
        with_fairness(replace(model, actions=(strict, *model.actions[1:])), graph)


def follow(model: Model, lasso: Lasso) -> None:
    """Take the steps of a lasso: the cycle leads back to where it began."""
    state = model.initial_states[lasso.initial]
    for step in lasso.stem:
        state = after(model, state, step)
    end = state
    for step in lasso.cycle:
        end = after(model, end, step)

    assert dict(state) == dict(end)


def after(model: Model, state: State, step: Step) -> State:
    action = model.actions[step.action]
    outcome = next(o for o in model.outcomes(action, state, []) if o.choices == step.choices)
    return model.successor(state, outcome)


@pytest.mark.parametrize(
    ("stem", "config", "said"),
    [
        ("now_and_then", "weak", [("go", "weak", (1,))]),
        ("coin", "weak", [("throw choosing 2", "weak", (0,))]),
        ("spinning", "unfair", [("go", "none", (0, 1))]),
        ("two_ways", "it", [("win", "none", (1,))]),
        ("one_step", "unfair", [("step", "none", (0,))]),
    ],
)
def test_what_is_enabled_and_not_taken_is_named(
    stem: str, config: str, said: list[tuple[str, str, tuple[int, ...]]]
) -> None:
    model = load(Path(__file__).parent / "specs" / f"{stem}.py", config=config)
    properties = [p for p in model.properties if p.of_kind.liveness]
    graph = build(model, SearchOptions(), tuple(properties))
    lasso = check_liveness(model, graph, properties)[0].lasso

    assert lasso is not None
    assert said == [(t.label, t.fairness, t.enabled_at) for t in lasso.not_taken]
