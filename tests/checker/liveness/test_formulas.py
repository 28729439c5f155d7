"""Formulas of behaviors against definitions, on random small graphs, and as a spec states them.

Two oracles, which know nothing of automata. Of a formula about the first state and about what
happens infinitely often, every set of states and pairs that a fair behavior repeats is tried. Any
other formula is evaluated on all fair lassos of a few steps, by the words of its definition.

``STATEWALK_RANDOM_GRAPHS=5000`` tries that many graphs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from statewalk import check, replay
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.liveness import kernels
from statewalk.checker.liveness.check import check_liveness
from statewalk.checker.liveness.collect import collect
from statewalk.checker.liveness.conditions import LivenessResult
from statewalk.checker.liveness.explore import build
from statewalk.dsl.errors import SpecError
from statewalk.dsl.model import Property
from tests.cases import some as chosen
from tests.checker.liveness.test_random_graphs import (
    Case,
    Pair,
    _place,
    _step,
    closure,
    endless,
    is_fair,
    random_case,
    walk,
)

GRAPHS = int(os.environ.get("STATEWALK_RANDOM_GRAPHS", "400"))
BATCHES = 8
FIRST, SECOND, GOOD = (("part", n) for n in range(3))  # two sets of states, a set of pairs
Term = tuple[Any, ...]


def property_of(case: Case, term: Term) -> Property:
    parts = (
        Property("p (first)", "always", (), lambda: _place() in case.first),
        Property("p (second)", "always", (), lambda: _place() in case.second),
        Property("p (good)", "on_step", (), lambda: _step() in case.good),
    )
    return Property("p", "formula", (), parts[0].whole, parts=parts, formula=term)


def decided(case: Case, term: Term, *, native: bool = False) -> LivenessResult:
    model, prop = case.model(), property_of(case, term)
    if native:
        graph = collect(model, SearchOptions(), (prop,), rows=True)
        assert graph is not None
    else:
        graph = build(model, SearchOptions(), (prop,))
    return check_liveness(model, graph, [prop])[0]


def lasting(random: Random, size: int) -> Term:
    """A formula of what is true in the first state, and infinitely often."""
    if size <= 1:
        now = random.choice((FIRST, SECOND))
        return random.choice((now, ("often", now), ("often", GOOD)))
    if random.random() < 0.3:
        return "not", lasting(random, size - 1)
    left = random.randint(1, size - 1)
    op = random.choice(("and", "or", "implies"))
    return op, lasting(random, left), lasting(random, size - left)


def any_formula(random: Random, size: int) -> Term:
    if size <= 1:
        return random.choice((FIRST, SECOND, ("often", GOOD), ("true",)))
    if random.random() < 0.4:
        return random.choice(("not", "often")), any_formula(random, size - 1)
    left = random.randint(1, size - 1)
    op = random.choice(("and", "or", "implies", "until", "until"))
    return op, any_formula(random, left), any_formula(random, size - left)


def value(case: Case, term: Term, word: list[int], loop: int, at: int, crossed: set[Pair]) -> bool:
    """Return the truth of a formula of the endless word from a position on."""
    op, *given = term
    end = len(word) - 1  # the last state is the one at `loop` again
    on = [*range(at, end), *range(loop, end), *range(loop, end)] if end > at else [at]
    ask = [lambda i, t=t: value(case, t, word, loop, i, crossed) for t in given if op != "part"]
    match op:
        case "true":
            return True
        case "part":
            return word[at] in (case.first, case.second)[given[0]]
        case "not":
            return not ask[0](at)
        case "and":
            return ask[0](at) and ask[1](at)
        case "or":
            return ask[0](at) or ask[1](at)
        case "implies":
            return ask[1](at) or not ask[0](at)
        case "often" if given[0] == GOOD:
            return bool(crossed & case.good)
        case "often":
            return any(ask[0](i) for i in range(loop, max(end, loop + 1)))
    return any(ask[1](i) and all(map(ask[0], on[:n])) for n, i in enumerate(on))


def lassos(case: Case, most: int) -> Iterator[tuple[list[int], int]]:
    """Every fair lasso up to a length: its states, the last one met before, and where."""
    ways = [[s] for s in case.initial]
    for way in ways:
        if is_fair(case, {way[-1]}, frozenset()):
            yield [*way, way[-1]], len(way) - 1
        for loop in range(len(way) - 1):
            if way[loop] == way[-1] and is_fair(
                case, set(way[loop:]), frozenset(pairwise(way[loop:]))
            ):
                yield way, loop
        if len(way) <= most:
            ways += [[*way, t] for s, t in sorted(case.pairs) if s == way[-1]]


def changing(word: list[int], loop: int) -> set[Pair]:
    return {(s, t) for s, t in pairwise(word[loop:]) if s != t}


def is_false_on(case: Case, term: Term, word: list[int], loop: int) -> bool:
    return not value(case, term, word, loop, 0, changing(word, loop))


def check_lasso(case: Case, term: Term, result: LivenessResult) -> None:
    assert result.lasso is not None
    stem, cycle = walk(case, result.lasso)
    again = cycle[1:] or cycle
    word, loop = stem + again, len(stem) - 1
    assert word[-1] == word[loop]
    assert is_fair(case, set(cycle), frozenset(changing(word, loop)))
    assert is_false_on(case, term, word, loop)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", chosen(range(BATCHES), every=4))
def test_what_lasts_agrees_with_trying_every_cycle(seed: int) -> None:
    violations = 0
    for number in range(GRAPHS // BATCHES):
        random = Random(f"lasting/{seed}/{number}")
        case = random_case(random)
        everything = set(range(case.n))
        ends = [({s}, frozenset[Pair]()) for s in everything] + [*endless(case.pairs)]
        fair = [(states, crossed) for states, crossed in ends if is_fair(case, states, crossed)]
        for _ in range(3):
            term = lasting(random, random.randint(1, 4))
            violated = any(
                states <= closure(case.pairs, {begin}, everything)
                and holds_of(case, term, begin, states, crossed) is False
                for begin in case.initial
                for states, crossed in fair
            )
            result = decided(case, term)
            assert (result.verdict == "violated") is violated, (seed, number, term)
            violations += violated
            if violated:
                check_lasso(case, term, result)
    assert GRAPHS // BATCHES < violations < 3 * GRAPHS // BATCHES


def holds_of(
    case: Case, term: Term, begin: int, states: set[int], crossed: frozenset[Pair]
) -> bool:
    """Return whether a behavior from ``begin`` that repeats these states and pairs satisfies it."""
    op, *given = term
    if op == "often":
        if given[0] == GOOD:
            return bool(crossed & case.good)
        return bool(states & (case.first, case.second)[given[0][1]])
    if op == "part":
        return begin in (case.first, case.second)[given[0]]
    values = [holds_of(case, part, begin, states, crossed) for part in given]
    if op == "not":
        return not values[0]
    if op == "implies":
        return values[1] or not values[0]
    return all(values) if op == "and" else any(values)


@pytest.mark.parametrize("seed", chosen(range(BATCHES), every=4))
def test_formulas_agree_with_their_meaning_on_all_short_lassos(seed: int) -> None:
    violations = 0
    for number in range(GRAPHS // BATCHES):
        random = Random(f"formulas/{seed}/{number}")
        case = random_case(random)
        term = any_formula(random, random.randint(2, 5))
        result = decided(case, term)
        if result.verdict == "violated":
            violations += 1
            check_lasso(case, term, result)
        else:
            short = (w for w in lassos(case, 5) if is_false_on(case, term, *w))
            assert next(short, None) is None, (seed, number, term)
    assert GRAPHS // BATCHES // 4 < violations < GRAPHS // BATCHES


def test_engines_and_compiled_loops_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(10):
        random = Random(f"engines/{number}")
        case, term = random_case(random), any_formula(random, 4)
        found = decided(case, term)
        assert found == decided(case, term, native=True)
        with monkeypatch.context() as patched:
            patched.setattr(kernels, "SMALL", -1)
            assert found == decided(case, term)


SPEC = """
from statewalk import *

class Box(State):
    n: int = 0
    up: bool = True

    @action(fair="weak")
    def tick(self) -> None:
        require(self.up)
        self.n = (self.n + 1) % 3

    @action
    def toggle(self) -> None:
        self.up = not self.up

box = Box()

def is_up() -> bool:
    return box.up

def zero() -> bool:
    return box.n == 0

def two() -> bool:
    return box.n == 2

def wraps() -> bool:
    return old(box.n) == 2 and box.n == 0

"""
VERDICTS = {
    "implies(eventually_always(is_up), always_eventually(zero))": "holds",
    "implies(always_eventually(is_up), always_eventually(zero))": "violated",
    "implies(zero, eventually_always(is_up))": "violated",
    "implies(two, always_eventually(zero))": "holds",
    "implies(eventually_always(is_up), leads_to(zero, sometime(two)))": "holds",
    "throughout(implies(zero, sometime(two)))": "violated",
    "always_eventually(two) | eventually_always(is_up) & ~sometime(two)": "violated",
    "zero & (always_eventually(two) | ~eventually_always(is_up))": "holds",
    "implies(eventually_always(is_up), always_eventually(wraps, on_step=True))": "holds",
    "implies(always_eventually(wraps, on_step=True), always_eventually(two))": "holds",
}


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_a_spec_states_formulas(engine: str, tmp_path: Path) -> None:
    names = [f"p{number}" for number in range(len(VERDICTS))]
    text = "".join(f"{name} = {said}\n" for name, said in zip(names, VERDICTS, strict=True))
    (tmp_path / "spec.py").write_text(SPEC + text)
    run = check(tmp_path / "spec.py", engine=engine, keep_going=True)

    assert [run.result.of(name).verdict for name in names] == [*VERDICTS.values()]
    assert {name for name in names if run.result.of(name).vacuous} == {"p3"}
    for trace in run.traces.values():
        assert replay(trace, str(tmp_path / "spec.py")).reproduced


def test_a_family_has_a_formula_for_each_instance(tmp_path: Path) -> None:
    (tmp_path / "spec.py").write_text(
        "from statewalk import *\n"
        "class Lamp(Role):\n    on: bool = False\n"
        '    @action(fair="weak")\n    def turn(self) -> None:\n'
        "        require(self.index == 0)\n        self.on = not self.on\n"
        "lamps = [Lamp(), Lamp()]\n"
        "def lit(lamp: Lamp) -> bool:\n    return lamp.on\n"
        "def first() -> bool:\n    return lamps[0].on\n"
        "follows = implies(always_eventually(first), always_eventually(lit))\n"
    )
    run = check(tmp_path / "spec.py", keep_going=True)

    found = [run.result.of(f"follows(Lamp#{n})").verdict for n in (0, 1)]
    assert found == ["holds", "violated"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("implies(two, always_eventually(zero))", "has no name"),
        ("p = implies(two, 3)", "second of implies"),
        ("p = always_eventually(two) and zero", "&, | and ~"),
        ("p = always_eventually(zero | two, on_step=True)", "unsupported operand"),
        ("p = always_eventually(sometime(two), on_step=True)", "predicate of steps"),
        (
            "@always\n@eventually\ndef up() -> bool:\n    return box.up\np = implies(two, up)",
            "is a liveness property itself",
        ),
    ],
)
def test_what_is_no_formula_is_refused_before_the_search(
    text: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "spec.py").write_text(SPEC + text + "\n")
    with pytest.raises(SpecError, match=said):
        check(tmp_path / "spec.py")
