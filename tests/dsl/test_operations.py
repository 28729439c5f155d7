"""`linearizable` in a model is what a search of all orders says, on random histories.

Models of a majority register and of a chain use it: their configurations are run with the library.
"""

import random
from itertools import islice
from typing import Any

import pytest

from statewalk.dsl.operations import linearizable
from tests.checker.history.objects.brute import OBJECTS, Op, histories, possible


def events(ops: list[Op]) -> list[tuple[Any, ...]]:
    """Return the events of operations, each of a client of its own."""
    found: list[tuple[float, tuple[Any, ...]]] = []
    for number, op in enumerate(ops):
        found.append((op.begin, ("call", number, op.name, *op.args)))
        if op.end is not None:
            answer = op.answer
            told = () if op.name in ("write", "enqueue", "push") else (answer,)
            found.append((op.end, ("return", number, *told)))
    return [event for _, event in sorted(found, key=lambda pair: pair[0])]


@pytest.mark.parametrize("name", ["register", "queue", "stack"])
def test_it_is_what_some_order_shows(name: str) -> None:
    seen = set()
    for ops in islice(histories(OBJECTS[name], random.Random(name), 5), 100):
        known = [op for op in ops if op.status != "fail"]
        expected = possible(known, OBJECTS[name], by_client=False)

        assert expected is linearizable(name, events(known)), known

        seen.add(expected)
    assert {True, False} == seen


def test_an_owner_is_a_client() -> None:
    taken = [("call", "a", "acquire"), ("return", "a"), ("call", "b", "acquire")]

    assert linearizable("lock", taken)
    assert not linearizable("lock", [*taken, ("return", "b")])


@pytest.mark.parametrize("event", [("return", "a"), ("call", "a"), ("a", "write", 1)])
def test_what_is_no_history_is_refused(event: tuple[object, ...]) -> None:
    with pytest.raises(ValueError, match="event 0 of the history"):
        linearizable("register", [event])
