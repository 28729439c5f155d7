"""The resolution of batches as a DataFrame pipeline gives what the model and execution give."""

from __future__ import annotations

import random

import pytest

from examples.dataflow.resolving import Resolved, named, resolve_batch, tables
from statewalk.models.stores.resolution import Counts, Transaction, resolve, summed
from tests.cases import slow
from tests.examples.dataflow.batches import session

SHAPES = [(12, 3), slow((200, 40))]  # transactions, items


def random_batch(seed: int, size: int, items: int) -> tuple[Counts, list[Transaction]]:
    pick = random.Random(seed)
    names = [(n, n + 1) for n in range(items)]
    start = tuple((item, pick.choice((1, 2))) for item in names if pick.random() < 0.5)
    batch = [
        Transaction(
            tid,
            tuple(pick.sample(names, pick.randint(0, 2))),
            tuple((item, pick.choice((1, -1))) for item in pick.sample(names, pick.randint(0, 2))),
        )
        for tid in range(size)
    ]
    pick.shuffle(batch)
    return start, batch


def rows_of(resolved: Resolved) -> tuple[set[int], dict[str, int]]:
    aborted = {row["tid"] for row in resolved.aborted.collect()}
    return aborted, {row["item"]: row["count"] for row in resolved.after.collect()}


@pytest.mark.spark
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", [0, slow(1)])
def test_equals_the_model_and_execution(shape: tuple[int, int], seed: int) -> None:
    start, batch = random_batch(seed, *shape)

    resolved = resolve_batch(*tables(session(), start, batch))
    found = rows_of(resolved)

    for how in ("ordered", "sequential"):
        expected = resolve(start, batch, how)
        after = summed((*start, *expected.changes))
        assert found == (
            set(expected.aborted),
            {named(item): count for item, count in after},
        )
    assert resolved.rounds == resolve(start, batch, "ordered").rounds


@pytest.mark.spark
@pytest.mark.parametrize("links", [2, slow(5)])
def test_a_chain_takes_a_round_for_each_link(links: int) -> None:
    chain = [Transaction(t, ((t, 0),), (((t + 1, 0), 1),)) for t in range(links)]
    resolved = resolve_batch(*tables(session(), (), chain))

    assert rows_of(resolved)[0] == set(range(links))
    assert resolved.rounds == resolve((), chain, "ordered").rounds == links + 1
