"""Values: which are equal, their order, their bytes, and that they survive all copying."""

from __future__ import annotations

import pickle
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from statewalk.dsl.errors import RunError, SpecError
from statewalk.dsl.loader import load
from statewalk.dsl.state.packing import decode
from statewalk.dsl.state.roles import State
from statewalk.dsl.values.records import Bag, Record, replace
from statewalk.dsl.values.stored import (
    FrozenBag,
    FrozenDict,
    FrozenList,
    FrozenSet,
    encode,
    freeze,
    intern_key,
    ordered,
    thaw,
)
from tests.cases import examples


class Colour(Enum):
    RED = "r"
    BLUE = "b"
    GREEN = "g"


class Pair(Record):
    left: object
    right: object = None


class Actor(State):
    """A role with three instances."""


ACTORS = [Actor() for _ in range(3)]
CLASSES: dict[str, type] = {"Colour": Colour, "Pair": Pair, "Actor": Actor}

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-3, 3)
    | st.text(max_size=4)
    | st.sampled_from(["", "\x00", "\x00\xff", "a\x00b", "é", "\U0001f600", "ÿ"])
    | st.sampled_from(Colour)
    | st.sampled_from(ACTORS)
)


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    small = st.lists(inner, max_size=3)
    keys = SCALARS | st.tuples(SCALARS, SCALARS) | st.frozensets(st.integers(), max_size=2)
    members = st.lists(keys, max_size=3)
    return (
        small
        | small.map(tuple)
        | members.map(FrozenSet)
        | members.map(FrozenBag)
        | st.lists(st.tuples(keys, inner), max_size=3).map(FrozenDict)
        | st.tuples(inner, inner).map(lambda v: Pair(*v))
    )


VALUES = st.recursive(SCALARS, containers, max_leaves=8).map(freeze)


def identity(value: Any) -> Any:
    """Return what makes a value the one it is, spelt out with types."""
    kind = type(value)
    if kind is FrozenList or kind is tuple:
        return kind.__name__, tuple(identity(v) for v in value)
    if kind is FrozenSet:
        return "set", frozenset(identity(v) for v in value)
    if kind is FrozenBag:
        return "bag", frozenset((identity(v), n) for v, n in value.counts())
    if kind is FrozenDict:
        return "dict", frozenset((identity(k), identity(v)) for k, v in value.items())
    if isinstance(value, Pair):
        return "Pair", identity(value.left), identity(value.right)
    return kind.__name__, value


KINDS = [type(None), bool, int, str, Colour, Actor, tuple, FrozenList, Pair, FrozenSet]
KINDS += [FrozenBag, FrozenDict]


def comes_before(a: Any, b: Any) -> bool | None:
    """The canonical order as the reference says it; None where it says no more than the kind."""
    if type(a) is not type(b):
        return KINDS.index(type(a)) < KINDS.index(type(b))
    if isinstance(a, int | str) or a is None:
        return None if a == b else bool(a < b)
    if isinstance(a, Colour):
        return None if a is b else list(Colour).index(a) < list(Colour).index(b)
    if isinstance(a, Actor):
        return None if a is b else a.index < b.index
    if isinstance(a, tuple):
        for one, other in zip(a, b, strict=False):
            decided = comes_before(one, other)
            if decided is not None or encode(one) != encode(other):
                return decided
        return None if len(a) == len(b) else len(a) < len(b)
    return None


@given(VALUES, VALUES)
def test_bytes_are_equal_exactly_for_the_same_value(a: Any, b: Any) -> None:
    assert (identity(a) == identity(b)) == (encode(a) == encode(b))


@given(VALUES, VALUES)
def test_bytes_compare_in_the_canonical_order(a: Any, b: Any) -> None:
    before = comes_before(a, b)

    assert before is None or before == (encode(a) < encode(b))


@given(VALUES)
def test_bytes_are_read_back(value: Any) -> None:
    again = decode(encode(value), CLASSES)

    assert identity(value) == identity(again)
    assert encode(value) == encode(again)


@given(VALUES, st.data())
def test_cut_bytes_are_refused(value: Any, data: st.DataObject) -> None:
    stored = encode(value)
    cut = stored[: data.draw(st.integers(0, len(stored) - 1))]

    with suppress(RunError):  # the only exception that may come of it
        decode(cut, CLASSES)


@given(VALUES)
def test_values_survive_freezing_thawing_and_pickling(value: Any) -> None:
    assert encode(value) == encode(freeze(value))
    assert encode(value) == encode(freeze(thaw(value))) or has_merged(value)
    if "Actor" not in str(identity(value)):
        assert encode(value) == encode(pickle.loads(pickle.dumps(value)))


def has_merged(value: Any) -> bool:
    """Return whether a plain set or dict cannot hold the value: it takes True for 1."""
    kind = type(value)
    if kind is FrozenSet:
        return len(set(value)) < len(value) or any(has_merged(v) for v in value)
    if kind is FrozenDict:
        pairs = list(value.items())
        return len(dict(pairs)) < len(pairs) or any(has_merged(x) for p in pairs for x in p)
    if kind is FrozenList or kind is tuple or kind is FrozenBag:
        return any(has_merged(v) for v in value)
    return isinstance(value, Pair)


@settings(max_examples=examples(50))
@given(st.lists(VALUES, max_size=6))
def test_sets_and_dicts_iterate_in_canonical_order(values: list[Any]) -> None:
    expected = sorted({encode(v): v for v in values})

    assert expected == [encode(v) for v in FrozenSet(values)]
    assert expected == [encode(k) for k in FrozenDict((v, 0) for v in values)]
    assert sorted(map(encode, values)) == [encode(v) for v in ordered(values)]


@pytest.mark.parametrize(
    ("one", "other"), [(True, 1), (False, 0), ((1,), (True,)), ("1", 1), (None, False), ((), [])]
)
def test_values_of_different_kinds_are_different(one: Any, other: Any) -> None:
    assert intern_key(freeze(one)) != intern_key(freeze(other))
    assert 2 == len(FrozenSet([one, other])) == len(FrozenDict([(one, 0), (other, 0)]))
    assert 1 == FrozenBag([one, other]).count(one)


@pytest.mark.parametrize("size", [0, 1, 127, 128, 255, 256, 2**64, 2**900])
def test_integers_keep_their_order_around_powers(size: int) -> None:
    numbers = [-size - 1, -size, -size + 1, size - 1, size, size + 1]
    numbers = sorted(set(numbers))

    assert numbers == sorted(numbers, key=encode)
    assert numbers == [decode(encode(n), {}) for n in numbers]


def test_an_integer_beyond_all_bounds_is_refused() -> None:
    with pytest.raises(SpecError, match="does not fit") as caught:
        encode(1 << 2000)

    assert "SW203" == caught.value.code


@pytest.mark.parametrize("value", [1.5, object(), lambda: 1, iter(range(0)), b"bytes", [1.5]])
def test_what_the_state_cannot_hold_is_refused(value: Any) -> None:
    with pytest.raises(SpecError) as caught:
        freeze(value)

    assert "SW203" == caught.value.code


def test_records_are_equal_by_fields_and_hash_alike() -> None:
    assert Pair(1, [2]) == Pair(1, [2])
    assert hash(Pair(1, [2])) == hash(freeze(Pair(1, [2])))
    assert Pair(1) != Pair(2)
    assert Pair(1, 2) == replace(Pair(1, 3), right=2)


def test_a_record_can_change_until_it_is_stored() -> None:
    pair = Pair(1)
    pair.right = 5
    stored = freeze(pair)
    pair.right = 6

    assert 5 == stored.right
    with pytest.raises(SpecError) as caught:
        stored.right = 7
    assert "SW202" == caught.value.code


@pytest.mark.parametrize("change", ["append", "sort", "clear", "extend"])
def test_a_stored_list_cannot_change(change: str) -> None:
    with pytest.raises(SpecError) as caught:
        getattr(freeze([1]), change)

    assert "SW202" == caught.value.code


def test_a_bag_counts() -> None:
    bag = Bag(["a", "b", "a"])
    bag.add("b")
    bag.remove("a")
    bag.discard("c")

    assert 3 == len(bag)
    assert (1, 2, 0) == (bag.count("a"), bag.count("b"), bag.count("c"))
    assert ["a", "b", "b"] == list(bag)
    assert bag == Bag(["b", "a", "b"])
    with pytest.raises(KeyError):
        bag.remove("c")


def test_equal_states_have_equal_bytes_whatever_the_order_of_writing(tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    path.write_text(
        "from statewalk import State, any_of, action, init\n"
        "class Box(State):\n"
        "    s: set[str] = set()\n"
        "    d: dict[str, int] = {}\n"
        "    @action\n"
        "    def stay(self) -> None:\n"
        "        self.s = set(self.s)\n"
        "        self.d = dict(self.d)\n"
        "box = Box()\n"
        "@init\n"
        "def either_order() -> None:\n"
        "    for word in any_of([('x', 'y', 'z'), ('z', 'y', 'x')]):\n"
        "        box.s.add(word)\n"
        "        box.d[word] = len(word)\n"
    )

    first, second = load(path).initial_states

    assert first == second
    assert [*map(intern_key, first.values())] == [*map(intern_key, second.values())]


@pytest.mark.parametrize(
    ("fits", "not_any_more"),
    [
        ("a" * (1 << 24), "a" * ((1 << 24) + 1)),
        (256**120 - 1, 256**120),
        (-(256**120) + 1, -(256**120)),
    ],
    ids=["text", "integer", "below zero"],
)
def test_what_is_too_large_for_the_state_is_refused(fits: Any, not_any_more: Any) -> None:
    encode(fits)

    with pytest.raises(SpecError, match=r"SW203 .* does not fit into the state"):
        encode((not_any_more,))
