"""Verdicts on random small histories are those of a search of all orders, for each object.

It cannot show that a report is readable, nor what large histories cost.
"""

import random
from functools import cache
from itertools import islice

import pytest

from statewalk.checker.history.objects.deciding import Order, decide
from statewalk.checker.history.objects.operations import Operation, Operations
from statewalk.checker.history.objects.spec import Object
from statewalk.checker.library import spec_path
from statewalk.dsl.loader import load
from statewalk.dsl.model import Model
from tests.cases import slow
from tests.checker.history.objects.brute import OBJECTS, Op, histories, possible

NAMES = sorted(OBJECTS)


@cache
def model_of(name: str) -> Model:
    return load(spec_path(f"objects/{name}"), optimize=False)


def recorded(ops: list[Op]) -> Operations:
    found = [
        Operation(
            op.client, op.name, op.status, op.begin, op.end, n, 0, [*op.args], op.answer, exact=True
        )
        for n, op in enumerate(ops, 1)
    ]
    return Operations("random", "jsonl", tuple(found))


def agree(name: str, seed: int, count: int, size: int, *, by_client: bool) -> set[bool]:
    """Compare verdicts; the verdicts that there were."""
    source, seen = random.Random(f"{name} {seed}"), set()
    order: Order = "sessions" if by_client else "real-time"
    for ops in islice(histories(OBJECTS[name], source, size), count):
        expected = possible(ops, OBJECTS[name], by_client=by_client)

        assert expected is decide(Object(model_of(name)), recorded(ops), order).holds, ops

        seen.add(expected)
    return seen


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("count", "size"), [(150, 5), slow(10_000, 8)])
@pytest.mark.parametrize("name", NAMES)
def test_linearizable_is_what_some_order_in_real_time_shows(
    name: str, count: int, size: int
) -> None:
    assert {True, False} == agree(name, 1, count, size, by_client=False)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("count", "size"), [(30, 5), slow(3_000, 7)])
@pytest.mark.parametrize("name", NAMES)
def test_sequentially_consistent_is_what_some_order_of_clients_shows(
    name: str, count: int, size: int
) -> None:
    assert True in agree(name, 2, count, size, by_client=True)
