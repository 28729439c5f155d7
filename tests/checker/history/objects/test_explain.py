"""Operations that are said to have no order have none, whatever the others did and were told."""

import random
from dataclasses import replace
from itertools import islice

import pytest

from statewalk.checker.history.objects.deciding import Order, decide
from statewalk.checker.history.objects.explain import needed_of
from statewalk.checker.history.objects.spec import Object
from tests.cases import slow
from tests.checker.history.objects.brute import OBJECTS, Op, histories, possible
from tests.checker.history.objects.test_oracle import model_of, recorded

ORDERS: tuple[Order, ...] = ("real-time", "sessions")
# The second is impossible for the answer of the third, which ends only later.
ANSWER_OF_AN_OPEN_ONE = [
    Op(1, "fetch_and_add", (-1,), 0, "ok", 0, 1),
    Op(1, "add_and_fetch", (1,), 1, "ok", 2, 9),
    Op(0, "fetch_and_add", (1,), 1, "ok", 8, 11),
    Op(2, "fetch_and_add", (1,), 3, "ok", 10, 14),
]


def look(name: str, ops: list[Op], order: Order) -> bool:
    """Look at what is said of a history; whether it is violated."""
    object = Object(model_of(name))
    verdict = decide(object, recorded(ops), order)
    if verdict.failing is None:
        return False
    needed = needed_of(object, verdict.failing, order)
    lines = {verdict.failing.operations[i].op.place for i in needed}
    kept = [
        op if n in lines or op.status == "fail" else replace(op, status="info", end=None)
        for n, op in enumerate(ops, 1)
    ]

    assert lines
    assert not possible(kept, OBJECTS[name], by_client=order == "sessions"), (ops, lines)
    return True


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("count", "size"), [(40, 5), slow(2_000, 7)])
@pytest.mark.parametrize("name", sorted(OBJECTS))
def test_what_is_needed_has_no_order(name: str, count: int, size: int) -> None:
    source = random.Random(f"needed {name}")
    found = [
        look(name, ops, order)
        for ops in islice(histories(OBJECTS[name], source, size), count)
        for order in ORDERS
    ]

    assert any(found)


def test_the_answer_of_an_open_operation_may_be_needed() -> None:
    assert look("counter", ANSWER_OF_AN_OPEN_ONE, "real-time")
