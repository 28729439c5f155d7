"""Choices that are not in the state: lists, sets, dicts and records are values like any other."""

from pathlib import Path

import pytest

from statewalk import any_of, check
from statewalk.checker.cli import main
from statewalk.checker.traces import reading
from statewalk.checker.traces.exports import FORMATS
from statewalk.dsl.loader import load
from statewalk.dsl.model import Outcome
from statewalk.dsl.values.stored import FrozenDict, FrozenList, FrozenSet
from statewalk.dsl.words import declare
from tests.cases import slow

SPEC = """
from statewalk import *
deadlock(False)
class Item(Record):
    n: int
    more: list[int] = []
SETS = [frozenset({{"aa", "bb"}}), frozenset({{"cc"}})]
class C(State):
    n: int = 0
    @action{fair}
    def go(self{parameter}) -> None:
        {body}
c = C()
@always
def small() -> bool:
    return c.n != 3
"""
BODIES = {
    "self.n = any_of([[1, 2], [3]])[0]": FrozenList([3]),
    "self.n = len(any_of([{{1}}, {{1, 2, 3}}]))": FrozenSet([1, 2, 3]),
    "self.n = len(any_of([frozenset({{1}}), frozenset('abc')]))": FrozenSet("abc"),
    "self.n = any_of([{{'a': 1}}, {{'a': 3}}])['a']": FrozenDict({"a": 3}),
    "self.n = any_of([([1], 1), ([3], 3)])[1]": (FrozenList([3]), 3),
    "x = any_of([[1], [2]]); self.n = x[0]; x.append(4); self.n += x[0] % 2 * 2": FrozenList([1]),
}


def _spec(folder: Path, body: str, parameter: str = "", fair: str = "") -> Path:
    path = folder / "spec.py"
    path.write_text(SPEC.format(body=body.replace("{{", "{").replace("}}", "}"),
                                parameter=parameter, fair=fair))  # fmt: skip
    return path


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", [slow("reference"), "native"])
@pytest.mark.parametrize("body", BODIES)
def test_a_violation_after_such_a_choice_has_its_trace(
    body: str, engine: str, tmp_path: Path
) -> None:
    path = _spec(tmp_path, body)

    result = check(path, engine=engine, out=tmp_path / "run")

    assert "violated" == result.verdict
    saved = tmp_path / "run" / "small.trace.json"
    (choice,) = reading.load_trace(saved).steps[-1].choices
    assert BODIES[body] == choice.value
    assert 0 == main(["replay", str(saved), "--spec", str(path)])


@pytest.mark.parametrize("engine", [slow("reference"), "native"])
def test_a_record_is_shown_as_it_was_when_it_was_chosen(engine: str, tmp_path: Path) -> None:
    path = _spec(tmp_path, "x = any_of([Item(1), Item(2)]); x.n += 1; self.n = x.n")

    result = check(path, engine=engine, out=tmp_path / "run")

    assert "violated" == result.verdict
    (choice,) = reading.load_trace(tmp_path / "run" / "small.trace.json").steps[-1].choices
    assert "Item(n=2, more=[])" == repr(choice.value)


@pytest.mark.parametrize("engine", [slow("reference"), "native"])
def test_parameters_and_fair_choices_may_be_sets(engine: str, tmp_path: Path) -> None:
    parameter = ", s: frozenset[str] = any_of(SETS)"
    body = "self.n = len(s) + 1 + len(any_of(SETS, fair='strong')) - 1"
    path = _spec(tmp_path, body, parameter, "(fair='weak')")

    result = check(path, engine=engine, out=tmp_path / "run")

    assert "violated" == result.verdict
    (step,) = reading.load_trace(tmp_path / "run" / "small.trace.json").steps
    sizes = [len(v) for v in (step.arguments[0][1], step.choices[0].value)]
    assert [1, 2] == sorted(sizes)


@pytest.mark.parametrize("engine", [slow("reference"), "native"])
def test_a_lasso_over_such_choices_is_found(engine: str, tmp_path: Path) -> None:
    path = _spec(tmp_path, "self.n = any_of([[1], [2]], fair='weak')[0]", "", "(fair='weak')")
    path.write_text(
        path.read_text() + "@eventually\n@always\ndef stays() -> bool:\n    return c.n == 1\n"
    )

    result = check(path, engine=engine, out=tmp_path / "run")

    assert "violated" == result.verdict
    assert 0 == main(["replay", str(tmp_path / "run" / "stays.trace.json"), "--spec", str(path)])


def test_such_a_trace_can_be_exported_and_simulated(tmp_path: Path) -> None:
    path = _spec(tmp_path, "self.n = len(any_of([frozenset({1}), frozenset('abc')]))")
    check(path, engine="reference", out=tmp_path / "run")
    saved = str(tmp_path / "run" / "small.trace.json")

    for kind in FORMATS:
        assert 0 == main(["export", saved, "--format", kind, "--out", str(tmp_path / kind)])
    assert 1 == main(["simulate", str(path)])
    words = ["check", str(path), "--out", str(tmp_path / "again"), "--keep-going"]
    assert 1 == main([*words, "--graph", str(tmp_path / "graph")])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", [slow("reference"), "native"])
@pytest.mark.parametrize(
    "options",
    ["[0.5, 1.5]", "[lambda: 1, lambda: 2]", "[Item, 1]", "[(1, 0.5), 2]", "[[0.5], [1]]",
     "[{1: 0.5}, 2]", "[Item(1, [0.5]), 2]", "[0.5]", "[{0.5}, 1]"],
)  # fmt: skip
def test_what_is_no_value_cannot_be_chosen(options: str, engine: str, tmp_path: Path) -> None:
    path = _spec(tmp_path, f"any_of({options})".replace("{", "{{").replace("}", "}}"))

    result = check(path, engine=engine)

    assert "error" == result.verdict
    assert "SW203 any_of cannot choose" in str(result)


def test_a_choice_of_numbers_is_not_written_out() -> None:
    assert 0 == any_of(range(10**15))


@pytest.mark.parametrize("engine", [slow("reference"), "native"])
def test_no_run_changes_what_the_next_one_is_given(engine: str, tmp_path: Path) -> None:
    path = _spec(tmp_path, "xs.append(1); self.n = len(xs)", ", xs: list[int] = any_of([[1], []])")

    result = check(path, engine=engine)

    assert "error" == result.verdict
    assert "SW202" in str(result)


@pytest.mark.parametrize("engine", [slow("reference"), "native"])
def test_a_fairness_that_there_is_not_is_no_weak_one(engine: str, tmp_path: Path) -> None:
    path = _spec(tmp_path, "self.n = any_of([1, 2], fair='stronk')")

    result = check(path, engine=engine)

    assert "error" == result.verdict
    assert "There is no fairness 'stronk' of a choice. Did you mean 'strong'?" in str(result)


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_options_are_looked_at_once_and_not_for_each_of_them(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[int] = []
    monkeypatch.setattr(declare, "check_options", lambda options: looked.append(len(options)))
    path = _spec(tmp_path, "require(c.n == 0); c.n = any_of(tuple(k * 5 for k in range(1, 401)))")

    result = check(path, engine=engine)

    assert 401 == result.counts.distinct
    assert len(looked) < 20


MADE = [
    "[k * 5 for k in range(1, 401)]",
    "{k * 5 for k in range(1, 401)}",
    "k * 5 for k in range(1, 401)",
    "list(range(5, 405))",
    "set(range(5, 405))",
    "sorted({k * 5 for k in range(1, 401)})",
    "[k for k, _ in [(k, -k) for k in range(1, 401)]]",
    "list(range(1, 200)) + list(range(200, 401))",
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("made", MADE)
def test_options_that_a_step_makes_are_made_once_and_not_for_each_of_them(
    made: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed: list[object] = []
    original = declare.listed

    def noted(options: object) -> object:
        listed.append(options)
        return original(options)  # type: ignore[arg-type]

    monkeypatch.setattr("statewalk.dsl.lowering.calls.listed", noted)
    path = _spec(tmp_path, f"require(c.n == 0); c.n = any_of({made})")
    found = {tuple(o.writes.values()) for o in _outcomes(path, optimize=True)}

    assert 1 == len(listed)
    assert found == {tuple(o.writes.values()) for o in _outcomes(path, optimize=False)}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "body",
    [
        "x = any_of([[k] for k in range(3)]); x.append(1); self.n = len(x)",
        "b = any_of([True, 1]); self.n = any_of([(b, k) for k in range(2)])[1] + (b is True) * 7",
        "b = any_of([1, 2]); self.n = any_of([b * k for k in range(1, 3)])",
        "b = any_of(['a', 'bc']); self.n = len(b) * any_of([ord(k) for k in b])",
        "x = [1, 2]; x.append(any_of([k for k in x])); self.n = any_of([k * 3 for k in x])",
        "self.n = any_of([k for k in range(self.n, self.n + 2)]) % 5",
    ],
)
def test_made_options_are_those_of_plain_python(body: str, tmp_path: Path) -> None:
    path = _spec(tmp_path, body)

    plain = [(o.choices, o.writes) for o in _outcomes(path, optimize=False)]
    assert plain == [(o.choices, o.writes) for o in _outcomes(path, optimize=True)]
    assert plain


def _outcomes(path: Path, *, optimize: bool) -> list[Outcome]:
    model = load(path, optimize=optimize)
    return list(model.outcomes(model.actions[0], model.initial_states[0]))
