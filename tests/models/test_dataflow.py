"""The dataflow store gives what its configurations state; its functions agree with enumeration.

The table of batches was counted by a script outside this project that shares no code with it.
"""

from __future__ import annotations

from functools import cache
from itertools import permutations, product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statewalk.checker import native
from statewalk.checker.api import check
from statewalk.checker.cli import main
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines import reference
from statewalk.dsl.declared import Configuration
from statewalk.dsl.loader import load
from statewalk.models.stores import resolution
from statewalk.models.stores.maintenance import (
    Change,
    kept,
    kept_edges,
    merged,
    recomputed,
)
from statewalk.models.stores.resolution import (
    Answers,
    Counts,
    Item,
    Resolution,
    Transaction,
    executions,
    in_order_of_ids,
    resolve,
    summed,
)
from statewalk.models.stores.workloads import ITEMS, STARTS
from tests.cases import slow
from tests.declared import declared
from tests.places import ROOT

SPEC = ROOT / "models" / "stores" / "dataflow.py"
QUICK = ("DF-3",)  # one that is violated: others hold in other tests


@cache
def configurations() -> dict[str, Configuration]:
    return declared(SPEC)


def rows() -> list[Any]:
    return [name if name in QUICK else slow(name) for name in configurations()]


def size(name: str) -> int:
    expect = configurations()[name].expect
    assert expect is not None
    found = expect.distinct or expect.states
    assert found is not None
    return found


@pytest.mark.parametrize("name", rows())
def test_rows_are_as_expected(name: str) -> None:
    assert check(SPEC, config=name).as_expected


# With each lowering an engine of its own: what differs in either shows.
CROSSED = [(True, native.explore), (False, reference.explore)]
EVERY_WAY = [*product((True, False), (native.explore, reference.explore))]


@pytest.mark.thorough
@pytest.mark.parametrize("ways", [CROSSED, slow(EVERY_WAY)], ids=["crossed", "all"])
@pytest.mark.parametrize(
    "name", [n if n == "DF-3" else slow(n) for n in configurations() if size(n) < 300]
)
def test_engines_and_lowerings_agree(name: str, ways: list[tuple[bool, Any]]) -> None:
    found = []
    for optimize, explore in ways:
        model = load(SPEC, configurations()[name].constants, optimize=optimize)
        result = explore(model, SearchOptions(keep_going=True))
        lengths = sorted((f.property, f.length) for f in result.findings)
        found.append((result.counts, result.levels, lengths))
    assert found == [found[0]] * len(ways)


# -- every batch of a size -------------------------------------------------------------------------
# transactions, removals: batches, naive differs, exists_join differs, no_tid_bound differs
TABLE = {
    (1, False): (18, 0, 0, 0),
    (2, False): (162, 12, 0, 17),
    (3, False): (1458, 270, 0, 363),
    (4, False): (13122, 4026, 0, 5023),
    (2, True): (675, 60, 60, 66),
    (3, True): (10125, 1980, 2080, 2061),
}


def transactions(tid: int, removals: bool) -> list[Transaction]:
    changes: list[Counts] = [(), *(((i, n),) for i in ITEMS for n in (1, -1)[: 1 + removals])]
    required: list[tuple[Item, ...]] = [(), *((i,) for i in ITEMS)]
    return [Transaction(tid, r, c) for r in required for c in changes]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "shape",
    [pytest.param(s, marks=[pytest.mark.slow] if n > 2000 else []) for s, (n, *_) in TABLE.items()],
)
def test_every_batch(shape: tuple[int, bool]) -> None:
    number, removals = shape
    naive = exists_join = no_tid_bound = batches = 0
    for start in STARTS if removals else STARTS[:2]:
        for batch in product(*(transactions(t + 1, removals) for t in range(number))):
            batches += 1
            right = resolve(start, batch, "sequential")
            ordered = resolve(start, batch, "ordered")
            assert (ordered.aborted, ordered.changes) == (right.aborted, right.changes)
            assert ordered.settled
            assert ordered.rounds <= number + 1
            naive += resolve(start, batch, "naive").aborted != right.aborted
            with patch.object(resolution, "is_there", resolution.exists_join):
                joined = resolve(start, batch, "ordered")
            with patch.object(resolution, "is_before", resolution.no_tid_bound):
                unbound = resolve(start, batch, "ordered")
            exists_join += joined.aborted != right.aborted
            no_tid_bound += not unbound.settled or unbound.aborted != right.aborted
    assert (batches, naive, exists_join, no_tid_bound) == TABLE[shape]


# -- larger batches, at random ---------------------------------------------------------------------
NODES = range(4)
edges = st.tuples(st.sampled_from(NODES), st.sampled_from(NODES))
changes = st.dictionaries(edges, st.sampled_from((-1, 1, 2)), max_size=3).map(
    lambda counts: tuple(sorted(counts.items()))
)


@st.composite
def batches(draw: st.DrawFn) -> tuple[Transaction, ...]:
    size = draw(st.integers(0, 6))
    required = st.lists(edges, max_size=2, unique=True).map(tuple)
    return tuple(Transaction(t, draw(required), draw(changes)) for t in range(size))


@given(changes, batches(), st.randoms(use_true_random=False), st.integers(1, 3))
def test_neither_order_nor_workers_matter(
    start: Counts, batch: tuple[Transaction, ...], random: Any, workers: int
) -> None:
    right = resolve(start, batch, "sequential")
    shuffled = list(batch)
    random.shuffle(shuffled)
    ordered = resolve(start, shuffled, "ordered", workers=workers)
    assert (ordered.aborted, ordered.changes) == (right.aborted, right.changes)
    assert ordered.settled
    assert ordered.rounds <= len(batch) + 1


@given(changes, st.lists(batches(), max_size=3))
def test_ordered_runs_are_serial_in_the_order_of_ids(
    start: Counts, log: list[tuple[Transaction, ...]]
) -> None:
    resolved: list[Resolution] = []
    for batch in log:
        before = summed((*start, *(pair for r in resolved for pair in r.changes)))
        resolved.append(resolve(before, batch, "ordered"))
    assert in_order_of_ids(executions(log, resolved, "ordered")).holds


@pytest.mark.thorough
def test_the_mutual_case_resolved_naively_is_recorded_as_write_skew(tmp_path: Path) -> None:
    check(SPEC, {"HOW": "naive"}, out=tmp_path / "run")
    trace = next(tmp_path.glob("run/**/serial_in_order_of_ids.trace.json"))
    history = tmp_path / "history.jsonl"

    assert (
        main(["history", "from-trace", str(trace), "--spec", str(SPEC), "--out", str(history)]) == 0
    )
    assert main(["history", "check", str(history), "--level", "si"]) == 0
    assert main(["history", "check", str(history), "--level", "serializable"]) == 1


def test_all_orders_of_the_mutual_case() -> None:
    a, b = ITEMS
    batch = (
        Transaction(1, (a,), ((b, -1),)),
        Transaction(2, (b,), ((a, -1),)),
        Transaction(3, (a, b)),
    )
    found = {resolve(STARTS[2], order, "ordered").aborted for order in permutations(batch)}
    assert found == {frozenset({2, 3})}


ANSWERS: tuple[Answers, ...] = ("look_up", "reach", "red_degree")
coloured = st.dictionaries(
    st.one_of(edges, edges.map(lambda edge: (*edge, "red"))),
    st.sampled_from((-1, 1, 2)),
    max_size=4,
).map(lambda counts: tuple(sorted(counts.items())))
steps = st.tuples(coloured, st.frozensets(st.sampled_from(NODES)))


@pytest.mark.parametrize("answers", ANSWERS)
@given(st.lists(steps, max_size=6))
def test_answers_are_kept_up_to_date(
    answers: Answers, log: list[tuple[Counts, frozenset[int]]]
) -> None:
    collection: Counts = ()
    nodes: frozenset[int] = frozenset()
    current: Counts = ()
    for step, asked in log:
        wanted = tuple((item, n) for item, n in step if n > 0 or dict(collection).get(item, 0) > 0)
        after = kept_edges(collection, wanted)
        current = kept(answers, current, (nodes, asked), (collection, after))
        assert current == recomputed(answers, asked, after)
        collection, nodes = after, asked


emitted = st.builds(Change, st.integers(0, 4), edges, st.sampled_from((-1, 1)))


@given(st.lists(emitted, max_size=8), st.integers(0, 4))
def test_merged_changes_give_the_same_from_the_frontier_on(
    changes: list[Change], since: int
) -> None:
    def as_of(found: list[Change], epoch: int) -> Counts:
        return summed((c.row, c.count) for c in found if c.epoch <= epoch)

    after = merged(changes, since)

    assert [as_of(changes, e) for e in range(since, 5)] == [
        as_of(after, e) for e in range(since, 5)
    ]
    assert len({(c.epoch, c.row) for c in after if c.epoch <= since}) == sum(
        c.epoch <= since for c in after
    )
