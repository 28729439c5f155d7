"""Operations on a few values of a queue or a stack have no order only where all have none.

It cannot show that a violation of a stack is found.
"""

import math
import random
from dataclasses import replace

import pytest

from statewalk.checker.history.objects import deciding
from statewalk.checker.history.objects.deciding import decide
from statewalk.checker.history.objects.projecting import without_order
from statewalk.checker.history.objects.search import Search
from statewalk.checker.history.objects.spec import Object
from tests.cases import slow
from tests.checker.history.objects.brute import OBJECTS, Op, crowd, possible
from tests.checker.history.objects.test_oracle import model_of, recorded

NAMES = {"queue": "enqueue dequeue poll", "stack": "push pop poll"}


def wrong(ops: list[Op], source: random.Random) -> list[Op]:
    """Return a history in which two answers are exchanged, or one is what none or another has."""
    told = [i for i, op in enumerate(ops) if op.name in ("dequeue", "pop", "poll", "peek")]
    if not told:
        return ops
    one, other, changed = source.choice(told), source.choice(told), [*ops]
    changed[one] = replace(ops[one], answer=source.choice([None, ops[other].answer, 99]))
    if source.random() < 0.7:
        changed[one] = replace(ops[one], answer=ops[other].answer)
        changed[other] = replace(ops[other], answer=ops[one].answer)
    return changed


def forgotten(ops: list[Op], source: random.Random) -> list[Op]:
    return [
        replace(op, status="info", answer=None, end=None) if source.random() < 0.15 else op
        for op in ops
    ]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("count", [80, slow(10_000)])
@pytest.mark.parametrize("unknown", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_few_values_without_an_order_are_those_of_a_violation(
    name: str, unknown: bool, count: int
) -> None:
    source, found = random.Random(f"{name} {unknown}"), {True: 0, False: 0}
    for _ in range(count):
        peeking = source.random() < 0.4
        names = NAMES[name] + " peek" * peeking
        ops = wrong(crowd(OBJECTS[name], source, source.randint(2, 8), 3, names), source)
        ops = forgotten(ops, source) if unknown else ops
        expected = possible(ops, OBJECTS[name], by_client=False)
        object, history = Object(model_of(name)), recorded(ops)

        assert expected is decide(object, history).holds
        few = without_order(object.bind(history), object, Search, math.inf)
        if expected:
            assert few is None, ops
        elif name == "queue" and not unknown and not peeking:  # all that can be wrong is found
            assert few is not None, ops
        found[few is not None] += 1
    assert min(found.values()) > count / 10


@pytest.mark.parametrize("name", NAMES)
def test_a_large_history_with_one_wrong_answer_is_violated(name: str) -> None:
    """Without a look at few values, it takes millions of configurations."""
    source = random.Random(name)
    ops = crowd(OBJECTS[name], source, 200, 8, NAMES[name])
    taken = [i for i, op in enumerate(ops) if op.name in ("dequeue", "pop")]
    one, other = taken[len(taken) // 2], taken[-1]
    ops[one] = replace(ops[one], answer=ops[other].answer)

    found = decide(Object(model_of(name)), recorded(ops))

    assert found.holds is False
    assert ["have no order, so all have none" in note for note in found.notes] == [True]
    assert found.failing is not None
    assert 4 > len(found.failing.operations)


def test_verdicts_are_the_same_if_few_values_are_looked_at_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(deciding, "_SLOW", 0)
    monkeypatch.setattr(deciding, "_SLICE", 1)
    source = random.Random(3)
    for _ in range(60):
        ops = wrong(crowd(OBJECTS["queue"], source, 6, 3, NAMES["queue"]), source)

        expected = possible(ops, OBJECTS["queue"], by_client=False)
        assert expected is decide(Object(model_of("queue")), recorded(ops)).holds
