"""Fair-cycle detection against an oracle that tries every cycle, on random small graphs.

The oracle knows nothing of components. A behavior that goes on for ever has a set of states it
meets again and again and a set of state pairs it crosses again and again; the pairs connect the
states in both directions. The oracle goes through all such sets and asks of each, by the words of
the definition, whether it is fair and whether it violates the property. What it cannot find is a
mistake in the definition itself: that is what the problems derived by hand are for.

``STATEWALK_RANDOM_GRAPHS=5000`` tries that many graphs.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, pairwise
from random import Random
from typing import get_args

import pytest

from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.liveness import kernels
from statewalk.checker.liveness.check import check_liveness
from statewalk.checker.liveness.collect import collect
from statewalk.checker.liveness.conditions import Lasso, LivenessResult
from statewalk.checker.liveness.explore import build
from statewalk.dsl.binding import binding
from statewalk.dsl.declared import Fairness
from statewalk.dsl.errors import SpecError
from statewalk.dsl.kinds import KINDS as ROWS
from statewalk.dsl.kinds import PropertyKind
from statewalk.dsl.model import Action, Model, Property
from statewalk.dsl.view import Disabled
from tests.cases import some as chosen

GRAPHS = int(os.environ.get("STATEWALK_RANDOM_GRAPHS", "800"))
BATCHES = 8
PLACE = ("Walk", 0, "at")
KINDS: tuple[PropertyKind, ...] = tuple(
    k for k in get_args(PropertyKind) if ROWS[k].liveness and k != "formula"
)  # of formulas, see test_formulas

Pair = tuple[int, int]


@dataclass
class Case:
    """A random graph: per action its steps, state → targets; fairness of actions and of choices."""

    n: int
    initial: tuple[int, ...]
    steps: list[dict[int, list[int]]]
    fairness: list[Fairness]
    choices: list[Fairness]
    first: frozenset[int]
    second: frozenset[int]
    good: frozenset[Pair] = frozenset()
    assumed: tuple[PropertyKind, ...] = ()

    @cached_property
    def conditions(self) -> list[tuple[Fairness, frozenset[Pair]]]:
        """The fairness conditions, each with the pairs of different states that take it."""
        found: list[tuple[Fairness, frozenset[Pair]]] = []
        for steps, fair, choice in zip(self.steps, self.fairness, self.choices, strict=True):
            pairs = [(s, t) for s, targets in steps.items() for t in targets if s != t]
            found.append((fair, frozenset(pairs)))
            options = range(self.n)
            found.extend((choice, frozenset(p for p in pairs if p[1] == o)) for o in options)
        return [(fair, pairs) for fair, pairs in found if fair != "none" and pairs]

    @cached_property
    def pairs(self) -> frozenset[Pair]:
        """All steps that change the state."""
        moves = [(s, t) for steps in self.steps for s, targets in steps.items() for t in targets]
        return frozenset((s, t) for s, t in moves if s != t)

    def model(self) -> Model:
        """The graph as a model whose actions choose the next state."""
        actions = tuple(
            Action(i, f"move{i}", None, (), _mover(steps, choice), fair)
            for i, (steps, fair, choice) in enumerate(
                zip(self.steps, self.fairness, self.choices, strict=True)
            )
        )
        initial = tuple({PLACE: s} for s in self.initial)
        # over the other set of states, and the other pairs
        other = replace(self, first=self.second, good=self.pairs - self.good, assumed=())
        assumed = tuple(replace(other.property(k), name=f"assumed {k}") for k in self.assumed)
        return Model("walk", "walk", "python", {}, initial, actions, (), assumptions=assumed)

    def property(self, kind: PropertyKind) -> Property:
        """The property of a kind over the two random sets of states."""
        if ROWS[kind].of_steps:
            return Property(kind, kind, (), lambda: _step() in self.good)
        two = kind in ("leads_to", "until")
        p, q = (self.second, self.first) if two else (self.first, self.second)
        return Property(
            kind, kind, (), lambda: _place() in p, (lambda: _place() in q) if two else None
        )


def _place() -> int:
    assert binding.view is not None
    return int(binding.view.get(PLACE))


def _step() -> Pair:
    assert binding.before is not None
    return int(binding.before.get(PLACE)), _place()


def _mover(steps: dict[int, list[int]], fair: Fairness):  # type: ignore[no-untyped-def]
    def move() -> None:
        targets = steps.get(_place())
        if not targets:
            raise Disabled
        assert binding.view is not None
        binding.view.set(PLACE, binding.view.choose(targets, fair))

    return move


def random_case(random: Random) -> Case:
    n = random.randint(1, 5)
    pairs = random.sample(range(n * n), min(n * n, random.randint(1, 9)))
    actions = random.randint(1, 4)
    steps: list[dict[int, list[int]]] = [{} for _ in range(actions)]
    for pair in pairs:
        for _ in range(1 if random.random() < 0.8 else 2):
            targets = random.choice(steps).setdefault(pair // n, [])
            if pair % n not in targets:
                targets.append(pair % n)
    level: tuple[Fairness, ...] = ("none", "weak", "strong")
    return Case(
        n,
        tuple(random.sample(range(n), random.randint(1, min(2, n)))),
        [{s: sorted(t) for s, t in found.items()} for found in steps],
        random.choices(level, (1, 2, 2), k=actions),
        random.choices(level, (6, 1, 2), k=actions),
        frozenset(random.sample(range(n), random.randint(0, n))),
        frozenset(random.sample(range(n), random.randint(0, n))),
        frozenset((p // n, p % n) for p in pairs if p // n != p % n and random.random() < 0.5),
    )


# -- the oracle ----------------------------------------------------------------------------------


def closure(pairs: frozenset[Pair], starts: set[int], inside: set[int]) -> set[int]:
    """The states that can be reached from ``starts`` without leaving ``inside``."""
    found = starts & inside
    while new := {t for s, t in pairs if s in found and t in inside} - found:
        found |= new
    return found


def endless(pairs: frozenset[Pair]) -> Iterator[tuple[set[int], frozenset[Pair]]]:
    """Every (states, pairs) that a behavior can repeat for ever, single states aside."""
    for size in range(1, len(pairs) + 1):
        for some in combinations(sorted(pairs), size):
            crossed = frozenset(some)
            states = {s for pair in some for s in pair}
            if all(closure(crossed, {s}, states) == states for s in states):
                yield states, crossed


def is_fair(case: Case, states: set[int], crossed: frozenset[Pair]) -> bool:
    for fair, takes in case.conditions:
        enabled = {s for s, _ in takes} & states
        if crossed & takes:
            continue
        if fair == "strong" and enabled:
            return False
        if fair == "weak" and enabled == states:
            return False
    return True


def violates(
    case: Case, kind: PropertyKind, states: set[int], crossed: frozenset[Pair] = frozenset()
) -> bool:
    """Return whether a behavior that ends in these states and pairs can violate the property."""
    everything, starts, pairs = set(range(case.n)), set(case.initial), case.pairs
    reached = closure(pairs, starts, everything)
    p, q = set(case.first), set(case.second)
    if not states <= reached:
        return False
    if ROWS[kind].of_steps or ROWS[kind].name in ("always_eventually", "eventually_always"):
        return not satisfies(case, kind, states, crossed)
    if kind == "eventually":
        return states <= closure(pairs, starts, everything - p)
    if kind == "leads_to":
        return states <= closure(pairs, (reached & p) - q, everything - q)
    waiting = closure(pairs, starts, p - q)
    if states <= waiting:
        return True
    broken = ({t for s, t in pairs if s in waiting} | starts) - p - q
    return bool(states <= closure(pairs, broken, everything))


def satisfies(case: Case, kind: PropertyKind, states: set[int], crossed: frozenset[Pair]) -> bool:
    """Return whether what repeats for ever satisfies a property that asks for nothing else."""
    match kind:
        case "always_eventually":
            return bool(states & case.first)
        case "eventually_always":
            return states <= case.first
        case "always_eventually_on_step":
            return bool(crossed & case.good)
        case _:
            assert kind == "eventually_always_on_step"
            return crossed <= case.good


def meets(case: Case, states: set[int], crossed: frozenset[Pair]) -> bool:
    """Return whether what repeats for ever meets the assumptions."""
    other = replace(case, first=case.second, good=case.pairs - case.good)
    return all(satisfies(other, kind, states, crossed) for kind in case.assumed)


def oracle(case: Case, kinds: tuple[PropertyKind, ...]) -> set[PropertyKind]:
    """The kinds of properties that are violated."""
    ends = [({s}, frozenset[Pair]()) for s in range(case.n)]
    fair = [e for e in [*ends, *endless(case.pairs)] if is_fair(case, *e) and meets(case, *e)]
    return {kind for kind in kinds if any(violates(case, kind, *end) for end in fair)}


def is_met(case: Case) -> bool:
    """Return whether a fair behavior meets the assumptions."""
    reached = closure(case.pairs, set(case.initial), set(range(case.n)))
    ends = [({s}, frozenset[Pair]()) for s in range(case.n)]
    return any(
        states <= reached and is_fair(case, states, crossed) and meets(case, states, crossed)
        for states, crossed in [*ends, *endless(case.pairs)]
    )


# -- the lasso -----------------------------------------------------------------------------------


def walk(case: Case, lasso: Lasso) -> tuple[list[int], list[int]]:
    """The states of the stem (the last one begins the cycle) and those of the cycle."""
    at = case.initial[lasso.initial]
    stem, cycle = [at], [at]
    for steps, states in ((lasso.stem, stem), (lasso.cycle, cycle)):
        for step in steps:
            targets = case.steps[step.action][at]
            at = targets[step.choices[0]]
            states.append(at)
        if states is stem:
            cycle[0] = at
    return stem, cycle


def is_violated_on(case: Case, kind: PropertyKind, word: list[int], loop: int) -> bool:
    """Return whether the endless word violates the property, by the meaning of the property on
    words.
    """
    p, q = case.first, case.second
    rest = set(word[loop:])
    if ROWS[kind].of_steps or kind in ("always_eventually", "eventually_always"):
        return not satisfies(case, kind, rest, frozenset(pairwise(word[loop:])))
    if kind == "eventually":
        return not set(word) & p
    if kind == "leads_to":
        return any(s in p and not (set(word[i:]) | rest) & q for i, s in enumerate(word))
    served = next((i for i, s in enumerate(word) if s in q), None)
    return served is None or any(s not in p for s in word[:served])


def check_lasso(case: Case, kind: PropertyKind, result: LivenessResult) -> None:
    assert result.lasso is not None
    stem, cycle = walk(case, result.lasso)
    assert cycle[0] == cycle[-1]
    crossed = frozenset(pairwise(cycle)) if len(cycle) > 1 else frozenset()
    assert is_fair(case, set(cycle), crossed)
    assert meets(case, set(cycle), crossed)
    assert is_violated_on(case, kind, stem + cycle[1:], len(stem) - 1)


def results_of(case: Case, kinds: tuple[PropertyKind, ...] = KINDS) -> list[LivenessResult]:
    model = case.model()
    properties = tuple(case.property(kind) for kind in kinds)
    watched = (*properties, *model.assumptions)
    return check_liveness(model, build(model, SearchOptions(), watched), properties)


def disagreements(seed: int, count: int) -> list[tuple[int, str]]:
    found = []
    for number in range(count):
        random = Random(f"{seed}/{number}")
        case = random_case(random)
        results = results_of(case)
        expected = oracle(case, KINDS)
        for kind, result in zip(KINDS, results, strict=True):
            if (kind in expected) != (result.verdict == "violated"):
                found.append((number, f"{kind}: {result.verdict}"))
            elif result.verdict == "violated":
                check_lasso(case, kind, result)
            assert not (result.vacuous and result.verdict == "violated")
    return found


ASSUMED: tuple[PropertyKind, ...] = (
    "always_eventually", "eventually_always",
    "always_eventually_on_step", "eventually_always_on_step",
)  # fmt: skip


@pytest.mark.parametrize("seed", chosen(range(BATCHES), every=8))
def test_assumptions_agree_with_trying_every_cycle(seed: int) -> None:
    met = 0
    for number in range(GRAPHS // BATCHES):
        random = Random(f"assumed/{seed}/{number}")
        case = random_case(random)
        case = replace(case, assumed=tuple(random.sample(ASSUMED, random.choice((1, 1, 2)))))
        expected = oracle(case, KINDS)
        if not is_met(case):
            with pytest.raises(SpecError, match="SW507") as raised:
                results_of(case)
            assert raised.value.code == "SW507"
            continue
        met += 1
        for kind, result in zip(KINDS, results_of(case), strict=True):
            assert (kind in expected) == (result.verdict == "violated"), (number, kind)
            if result.verdict == "violated":
                check_lasso(case, kind, result)
    assert met > GRAPHS // BATCHES // 4


@pytest.mark.parametrize("seed", chosen(range(BATCHES), every=8))
def test_fair_cycles_agree_with_trying_every_cycle(seed: int) -> None:
    assert [] == disagreements(seed, GRAPHS // BATCHES)


def test_the_random_graphs_give_both_verdicts_of_every_kind() -> None:
    cases = [random_case(Random(f"0/{number}")) for number in range(150)]
    violated = [oracle(case, KINDS) for case in cases]

    assert all(20 < sum(kind in v for v in violated) < 140 for kind in KINDS)


@pytest.mark.thorough
def test_a_weaker_fairness_never_mends_a_violation() -> None:
    """Violations only become more when strong conditions are made weak."""
    for number in range(60):
        case = random_case(Random(f"weaker/{number}"))
        fairness, choices = (
            [_weaker(level) for level in levels] for levels in (case.fairness, case.choices)
        )

        assert violated(case) <= violated(replace(case, fairness=fairness, choices=choices))


def _weaker(level: Fairness) -> Fairness:
    return "weak" if level == "strong" else level


def violated(case: Case) -> set[str]:
    return {r.property for r in results_of(case) if r.verdict == "violated"}


def test_compiled_loops_do_what_they_do_interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [random_case(Random(f"compiled/{number}")) for number in range(10)]
    interpreted = [results_of(case) for case in cases]
    monkeypatch.setattr(kernels, "SMALL", -1)
    compiled = [results_of(case) for case in cases]

    for before, after in zip(interpreted, compiled, strict=True):
        assert [(r.verdict, r.lasso) for r in before] == [(r.verdict, r.lasso) for r in after]


@pytest.mark.thorough
def test_the_native_graph_gives_the_same_results() -> None:
    for number in range(40):
        case = random_case(Random(f"native/{number}"))
        model = case.model()
        properties = tuple(case.property(kind) for kind in KINDS)
        native = collect(model, SearchOptions(), properties, rows=True)
        assert native is not None
        found = check_liveness(model, native, properties)

        assert [(r.verdict, r.vacuous, r.lasso) for r in results_of(case)] == [
            (r.verdict, r.vacuous, r.lasso) for r in found
        ]
