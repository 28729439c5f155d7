"""The stamping store: each run finds what it states, and its outcomes are those counted by hand.

The numbers of outcomes come from enumerating the orders of shards and the answers of an oracle,
which the functions below do again without the model.
"""

from __future__ import annotations

from functools import cache
from itertools import permutations, product
from typing import Any

import pytest

from statewalk.checker import native
from statewalk.checker.api import check
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines import reference
from statewalk.dsl.declared import Configuration
from statewalk.dsl.loader import load
from statewalk.models.stores.weaving.order import is_cyclic, leads
from tests.cases import slow, some
from tests.declared import declared
from tests.places import ROOT

SPEC = ROOT / "models" / "stores" / "weaver.py"
LARGE = 2000
Pair = tuple[str, str]


@cache
def configurations() -> dict[str, Configuration]:
    return declared(SPEC)


def size(name: str) -> int:
    expect = configurations()[name].expect
    assert expect is not None
    found = expect.distinct or expect.states
    assert found is not None
    return found


def rows() -> list[Any]:
    return [
        pytest.param(name, marks=[pytest.mark.slow] if size(name) > LARGE else [])
        for name in configurations()
    ]


@pytest.mark.parametrize("name", some(rows(), every=50))
def test_rows_are_as_expected(name: str) -> None:
    assert check(SPEC, config=name).as_expected


# With each lowering an engine of its own: what differs in either shows.
CROSSED = [(True, native.explore), (False, reference.explore)]
EVERY_WAY = [*product((True, False), (native.explore, reference.explore))]


@pytest.mark.thorough
@pytest.mark.parametrize("ways", [CROSSED, slow(EVERY_WAY)], ids=["crossed", "all"])
@pytest.mark.parametrize("name", some((n for n in configurations() if size(n) < 200), every=24))
def test_engines_and_lowerings_agree(name: str, ways: list[tuple[bool, Any]]) -> None:
    found = []
    for optimize, explore in ways:
        model = load(SPEC, configurations()[name].constants, optimize=optimize)
        result = explore(model, SearchOptions(keep_going=True))
        lengths = sorted((f.property, f.length) for f in result.findings)
        found.append((result.counts, result.levels, lengths))
    assert found == [found[0]] * len(ways)


def test_a_way_that_never_was_needs_two_updates() -> None:
    expect = configurations()["WV-3-one-update"].expect

    assert expect is not None and "traversal_snapshot" not in expect.properties


# -- outcomes: in which orders shards have applied what they share ---------------------------------
def outcomes(name: str) -> set[tuple[tuple[str, ...], ...]]:
    """Return what shards have applied at the end, in all behaviors of a row."""
    model = load(SPEC, configurations()[name].constants)
    seen = list(model.initial_states)
    known = {str(state) for state in seen}
    found = set()
    for state in seen:
        ways = [o for action in model.actions for o in model.outcomes(action, state)]
        applied = {slot: value for slot, value in state.items() if slot[-1] == "applied"}
        if not ways:
            found.add(tuple(tuple(applied[slot]) for slot in sorted(applied)))
        for way in ways:
            after = {**state, **way.writes}
            if str(after) not in known:
                known.add(str(after))
                seen.append(after)
    return found


def cyclic(outcome: tuple[tuple[str, ...], ...], stamps: set[Pair]) -> bool:
    return is_cyclic(stamps | {(a, b) for a, b in (order[:2] for order in outcome)})


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "stamps", "counts"),
    [
        ("WV-1", set(), (4, 2)),
        slow("WV-1-oracle", set(), (2, 0)),
        slow("WV-1-one-shard", set(), (2, 0)),
        slow("WV-2-chain", {("A", "B")}, (4, 1)),
        slow("WV-2-chain-acyclic", {("A", "B")}, (3, 0)),
    ],
)
def test_outcomes_are_those_counted(name: str, stamps: set[Pair], counts: tuple[int, int]) -> None:
    found = outcomes(name)

    assert counts == (len(found), sum(cyclic(outcome, stamps) for outcome in found))


CIRCLE = [("A", "B"), ("B", "C"), ("C", "A")]
CHAIN = [("A", "C"), ("B", "C")]


def either(pairs: list[Pair]) -> list[set[Pair]]:
    """All ways of putting each of some pairs in order."""
    return [set(chosen) for chosen in product(*(((a, b), (b, a)) for a, b in pairs))]


def asked(pairs: list[Pair], wanted: set[Pair], stamps: set[Pair]) -> set[Pair]:
    """Return what an oracle decides that is asked of pairs in turn, and gives way where
    it has to.
    """
    order = set(stamps)
    for a, b in pairs:
        x, y = (a, b) if (a, b) in wanted else (b, a)
        order.add((y, x) if leads(order, y, x) else (x, y))
    return order


@pytest.mark.parametrize(
    ("pairs", "stamps", "counts"),
    [(CIRCLE, set(), (8, 2, 48)), (CHAIN, {("A", "B")}, (4, 1, 8))],
)
def test_pairs_by_themselves_may_be_cyclic_and_an_oracle_is_not(
    pairs: list[Pair], stamps: set[Pair], counts: tuple[int, int, int]
) -> None:
    alone = [is_cyclic(way | stamps) for way in either(pairs)]
    together = [
        is_cyclic(asked(list(turn), wanted, stamps))
        for turn in permutations(pairs)
        for wanted in either(pairs)
    ]

    assert counts == (len(alone), sum(alone), len(together))
    assert not any(together)
