"""Inclusion of behaviors between graphs, against words written out one by one."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from statewalk.checker.liveness.conditions import CUT
from statewalk.checker.liveness.graph import StateGraph, from_transitions
from statewalk.checker.refinement.inclusion import included
from statewalk.checker.refinement.space import Space
from tests.cases import slow

LONGEST = 9


def space(steps: list[tuple[int, int]], initial: list[int], n: int, **more: Any) -> Space:
    sources, targets = (np.array([step[at] for step in steps], np.int64) for at in (0, 1))
    offsets, to, labels = from_transitions(sources, targets, np.zeros(len(steps), np.uint8), n)
    graph = StateGraph(
        offsets, to, labels, (), np.arange(n, dtype=np.uint64), tuple(initial), **more
    )
    return Space(None, graph)  # type: ignore[arg-type]


def words(of: Space, seen: list[int]) -> set[tuple[int, ...]]:
    """Return what can be seen one after the other, repeats left out, up to a length."""
    found: set[tuple[tuple[int, ...], int]] = set()
    at: set[tuple[tuple[int, ...], int]] = {((seen[s],), s) for s in of.initial}
    while at:
        found |= at
        at = {
            (word if seen[to] == word[-1] else (*word, seen[to]), to)
            for word, state in at
            for _, to in of.out(state)
        } - found
        at = {(word, state) for word, state in at if len(word) <= LONGEST}
    return {word for word, _ in found}


def generated(chance: random.Random) -> tuple[Space, list[int]]:
    n = chance.randint(1, 5)
    steps = [(chance.randrange(n), chance.randrange(n)) for _ in range(chance.randint(0, 9))]
    initial = chance.sample(range(n), chance.randint(1, min(2, n)))
    return space(steps, initial, n), [chance.randrange(3) for _ in range(n)]


def agree(seed: int) -> bool:
    """Compare one pair; whether it was included."""
    chance = random.Random(seed)
    (one, seen), (other, seen_other) = generated(chance), generated(chance)
    lacking = words(one, seen) - words(other, seen_other)
    found = included(one, np.array(seen), other, np.array(seen_other))
    if found.refused is None:
        assert not lacking
        return True
    way = [*map(one.source, found.refused.way), *(one.targets[at] for at in found.refused.way[-1:])]
    word = [seen[found.refused.start]] if not way else []
    for state in way:
        word += [seen[state]] if [seen[state]] != word[-1:] else []
    assert found.refused.sure
    assert len(word) > LONGEST or tuple(word) in lacking
    assert len(found.refused.way) <= min((_steps_to(one, seen, w) for w in lacking), default=99)
    return False


def _steps_to(of: Space, seen: list[int], word: tuple[int, ...]) -> int:
    """The fewest steps in which a word is seen."""
    at = {(1, s) for s in of.initial if seen[s] == word[0]}
    for steps in range(99):
        if any(matched == len(word) for matched, _ in at):
            return steps
        at = {
            (matched + (seen[to] != seen[state]), to)
            for matched, state in at
            for _, to in of.out(state)
            if seen[to] == seen[state] or seen[to] == word[matched]
        }
    return 99


@pytest.mark.parametrize("seeds", [range(200), slow(range(200, 4200))])
def test_generated_pairs(seeds: range) -> None:
    found = [agree(seed) for seed in seeds]

    assert 0.1 < sum(found) / len(found) < 0.9


def test_a_step_where_not_all_is_known_is_not_sure() -> None:
    one, other = space([(0, 1)], [0], 2), space([], [0], 1, expanded=np.array([False]))
    found = included(one, np.array([0, 1]), other, np.array([0]))

    assert found.refused is not None
    assert not found.refused.sure


def test_hidden_choices_are_kept_apart_as_sets() -> None:
    """After a, one of two hidden states goes to b, the other to c: both are behaviors."""
    one = space([(0, 1), (0, 2)], [0], 3)
    other = space([(0, 1), (0, 2), (1, 3), (2, 4)], [0], 5)

    assert included(one, np.array([0, 2, 3]), other, np.array([0, 0, 0, 2, 3])).refused is None
    assert included(other, np.array([0, 1, 1, 2, 3]), one, np.array([0, 1, 1])).refused is not None


def test_a_step_that_was_cut_earlier_on_the_way_is_not_sure() -> None:
    """Of two states that look the same one has a step that is cut; only the other is left after."""
    one = space([(0, 1), (1, 2)], [0], 3)
    steps = [(0, 1), (0, CUT), (1, 1)]
    other = space(steps, [0], 2, cut={"c": 1})
    found = included(one, np.array([0, 1, 2]), other, np.array([0, 1]))

    assert found.refused is not None
    assert not found.refused.sure


def test_an_initial_state_that_was_refused_is_not_sure() -> None:
    one, other = space([(0, 1)], [0, 2], 3), space([], [0, CUT], 1, cut={"c": 1})
    begins = included(one, np.array([0, 1, 2]), other, np.array([0]))
    goes_on = included(space([(0, 1)], [0], 2), np.array([0, 1]), other, np.array([0]))

    for found in (begins, goes_on):
        assert found.refused is not None
        assert not found.refused.sure


def test_a_sure_violation_goes_before_one_that_is_not() -> None:
    other = space([(0, 1), (0, 2), (1, CUT), (2, 3)], [0], 4, cut={"c": 1})
    one = space([(0, 1), (1, 4), (0, 2), (2, 3), (3, 4)], [0], 5)
    found = included(one, np.array([0, 1, 2, 3, 9]), other, np.array([0, 1, 2, 3]))

    assert found.refused is not None
    assert found.refused.sure
    assert 3 == len(found.refused.way)


@pytest.mark.parametrize("seeds", [range(200), slow(range(200, 4200))])
def test_what_is_sure_of_a_cut_graph_is_true_of_the_whole(seeds: range) -> None:
    unsure = 0
    for seed in seeds:
        chance = random.Random(seed)
        (one, seen), (other, seen_other) = generated(chance), generated(chance)
        kept = sorted({s for s in range(other.graph.n) if chance.random() < 0.8} or {0})
        number = {state: at for at, state in enumerate(kept)}
        steps = [(number[s], number.get(to, CUT))
                 for s in kept for _, to in other.out(s)]  # fmt: skip
        initial = [number.get(s, CUT) for s in other.initial]
        if initial == [CUT] * len(initial):
            continue
        part = space(steps, initial, len(kept), cut={"c": 1})
        found = included(one, np.array(seen), part, np.array([seen_other[s] for s in kept]))
        whole = included(one, np.array(seen), other, np.array(seen_other))
        assert whole.refused is None or found.refused is not None
        if found.refused is not None and found.refused.sure:
            assert whole.refused is not None
            assert len(whole.refused.way) <= len(found.refused.way)
        unsure += found.refused is not None and not found.refused.sure

    assert unsure


@pytest.mark.parametrize(
    ("stopped", "words"),
    [("time", "--timeout"), ("interrupt", "an interruption"), ("depth", "a bound on its depth")],
)
def test_what_ended_a_graph_is_named_in_words(stopped: str, words: str) -> None:
    cut = space([(0, 1)], [0], 2, stopped=stopped)

    assert f"its search was ended by {words}" == cut.bound
