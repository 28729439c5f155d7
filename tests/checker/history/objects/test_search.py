"""Histories in which a shortcut of the search would lose the only order."""

import random

import pytest

from statewalk.checker.history.objects.deciding import Order, decide
from statewalk.checker.history.objects.spec import Object
from tests.checker.history.objects.brute import OBJECTS, Op, crowd, possible
from tests.checker.history.objects.test_oracle import model_of, recorded

# An operation that changes nothing where it is right at first is needed later, where it does.
WRITTEN_AGAIN = [
    Op(1, "write", (0,), None, "ok", 0, 1),
    Op(2, "write", (0,), None, "ok", 2, 20),
    Op(1, "write", (3,), None, "ok", 3, 4),
    Op(1, "read", (), 0, "ok", 5, 6),
]
# The same, seen only when it is over: no other operation shows that a delete may change anything.
DELETED_AFTER_ALL = [
    Op(1, "delete", ("x",), None, "ok", 0, 4),
    Op(2, "put", ("x", 1), None, "ok", 3, 6),
    Op(1, "get", ("x",), None, "ok", 7, 8),
    Op(2, "get", ("x",), None, "ok", 9, 10),
]
# Of two that do the same, the one that began later is over first, and precedes the reader.
LATER_ENDS_FIRST = [
    Op(1, "push", (1,), None, "ok", 0, 9),
    Op(1, "push", (1,), None, "ok", 1, 2),
    Op(1, "pop", (), 1, "ok", 3, 4),
    Op(1, "poll", (), None, "ok", 5, 6),
]
# An operation of unknown outcome is needed, after one that does the same was used up.
UNKNOWN_TWICE = [
    Op(1, "write", (1,), None, "info", 0, None),
    Op(2, "write", (1,), None, "info", 1, None),
    Op(3, "read", (), 1, "ok", 2, 3),
    Op(3, "write", (2,), None, "ok", 4, 5),
    Op(3, "read", (), 1, "ok", 6, 7),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("order", ["real-time", "sessions"])
@pytest.mark.parametrize(
    ("name", "ops"),
    [
        ("register", WRITTEN_AGAIN),
        ("kv", DELETED_AFTER_ALL),
        ("stack", LATER_ENDS_FIRST),
        ("register", UNKNOWN_TWICE),
    ],
)
def test_the_only_order_is_found(name: str, ops: list[Op], order: Order) -> None:
    assert possible(ops, OBJECTS[name], by_client=order == "sessions")

    assert decide(Object(model_of(name)), recorded(ops), order).holds


def test_what_is_unknown_happens_once() -> None:
    later = [Op(3, "write", (2,), None, "ok", 8, 9), Op(3, "read", (), 1, "ok", 10, 11)]
    ops = [*UNKNOWN_TWICE, *later]

    assert not possible(ops, OBJECTS["register"], by_client=False)
    assert decide(Object(model_of("register")), recorded(ops)).holds is False


@pytest.mark.parametrize(
    ("name", "names"),
    [("queue", "enqueue dequeue poll"), ("stack", "push pop poll"), ("list", "append read")],
)
def test_answers_show_the_order_of_values(name: str, names: str) -> None:
    """Without them, queues of half the size take millions of configurations."""
    ops = crowd(OBJECTS[name], random.Random(name), 200, 8, names)

    found = decide(Object(model_of(name)), recorded(ops))

    assert found.holds
    assert 400 > found.configurations
