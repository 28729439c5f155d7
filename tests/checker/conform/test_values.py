"""Values in logs, and the verdict on a log with more than one thing wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from enum import Enum, Flag, IntEnum
from pathlib import Path
from random import Random
from typing import Any

import pytest

from statewalk.checker.conform.values import fits
from statewalk.checker.conforming import conform
from statewalk.checker.states.json import plain, to_json
from statewalk.dsl.errors import RunError
from statewalk.dsl.values.records import Bag, Record
from statewalk.dsl.values.stored import FrozenDict, freeze, same

COUNTER = """
from statewalk import *

class Counter(State):
    n: int = 0
    d: dict[int | str, int] = {1: 5, "1": 6}

    @action
    def up(self) -> None:
        require(self.n < 3)
        self.n += 1

    @action
    def put(self) -> None:
        self.d[1] = 7

counter = Counter()
deadlock(False)

@always
def small() -> bool:
    return counter.n < 2
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    (tmp_path / "spec.py").write_text(COUNTER, encoding="utf-8")
    return tmp_path / "spec.py"


def answer(spec: Path, *events: dict[str, Any], **options: Any) -> Any:
    log = spec.parent / "log.jsonl"
    log.write_text("".join(json.dumps(event) + "\n" for event in events), encoding="utf-8")
    return conform(spec, log, **options)


@pytest.mark.parametrize(
    ("times", "verdict", "first"),
    [
        (1, "conforms", "CONFORMS"),
        (2, "violated", "VIOLATED small"),
        (3, "violated", "VIOLATED small"),
        (4, "parts", "DOES NOT CONFORM"),
    ],
)
def test_the_headline_names_the_verdict(spec: Path, times: int, verdict: str, first: str) -> None:
    found = answer(spec, *[{"action": "up"}] * times)

    assert (verdict, verdict) == (found.verdict, found.json["verdict"])
    assert found.report.startswith(first)
    assert (times > 1) == ("VIOLATED small" in found.report)


@pytest.mark.parametrize(
    ("said", "value", "expected"),
    [
        ({"1": 5}, {1: 5}, True),
        ({"1": 5}, {"1": 5}, True),
        ({"1": 5}, {1: 5, "1": 6}, False),
        ({"1": 6}, {1: 5, "1": 6}, False),
        ({"#dict": [[1, 5], ["1", 6]]}, {1: 5, "1": 6}, True),
        ({"#dict": [[1, 6], ["1", 5]]}, {1: 5, "1": 6}, False),
        ({"True": 5, "1": 6}, [(1, 6), (True, 5)], True),
        ({"true": 5, "1": 6}, [(1, 6), (True, 5)], True),
        ({"true": 6, "1": 5}, [(1, 6), (True, 5)], False),
        ({"[1, 2]": 5}, {(1, 2): 5}, True),
        ({"(1, 2)": 5}, {(1, 2): 5}, True),
        ({"1": 5, "2": 5}, {1: 5, 2: 5}, True),
        ({"1": 5, "2": 6}, {1: 5, 2: 5}, False),
        ({"1": 5, "3": 5}, {1: 5, 2: 5}, False),
        ({}, {1: 5}, False),
    ],
)
def test_keys_of_a_dict(said: Any, value: Any, expected: bool) -> None:
    assert expected == fits(said, FrozenDict(value))


class Bits(Flag):
    X = 1
    Y = 2


class Pair(Enum):
    P = (1, 2)
    N = None
    B = True
    L = [1]
    O = object()  # noqa: E741


class Level(IntEnum):
    LOW = 0
    HIGH = 1


class Item(Record):
    n: object = 0


@pytest.mark.parametrize(
    ("said", "value", "expected"),
    [
        ({"#x": 5}, {"#x": 5}, True),
        ({"#x": 6}, {"#x": 5}, False),
        ({"#dict": 5}, {"#dict": 5}, True),
        ({"#set": [1]}, {"#set": [1]}, True),
        ({"#dict": [[1, 1]]}, {1: True}, False),
        ({"#dict": [[1, True]]}, {1: True}, True),
        ({"#dict": [["1", 6], [1, 5]]}, {1: 5, "1": 6}, True),
        ({"#dict": [[1, [2, 1]], ["1", "P"]]}, {1: {1, 2}, "1": Pair.P}, True),
        ({"#dict": [[1, 5, 6]]}, {1: 5}, False),
        ({"#dict": {"1": 5}}, {1: 5}, False),
        ({"#set": [2, 1]}, {1, 2}, True),
        ({"#set": [2, 1]}, [1, 2], False),
        ({"#tuple": [1]}, (1,), True),
        ({"#tuple": [True]}, (1,), False),
        ({"#enum": ["Bits", True]}, Bits.X, False),
        ({"#enum": ["Bits", 1]}, Bits.X, True),
        (None, Bits(0), False),
        (0, Bits(0), True),
        (False, Bits(0), False),
        (True, Bits.X, False),
        ("X|Y", Bits.X | Bits.Y, True),
        (3, Bits.X | Bits.Y, True),
        ([1, 2], Pair.P, True),
        ([1, True], Pair.P, False),
        ("P", Pair.P, True),
        (None, Pair.N, True),
        ("N", Pair.N, True),
        (True, Pair.B, True),
        (1, Pair.B, False),
        ([1], Pair.L, True),
        ("O", Pair.O, True),
        (None, Pair.O, False),
        (1, Level.HIGH, True),
        (True, Level.HIGH, False),
    ],
)
def test_values_as_a_log_says_them(said: Any, value: Any, expected: bool) -> None:
    assert expected == fits(said, freeze(value))


def some_value(random: Random, depth: int) -> Any:
    """Any value that a field can hold."""
    if not depth or random.random() < 0.4:
        scalars = [0, 1, -1, True, False, None, "", "a", "1", "#x", "#dict", "P", "true"]
        members = [Bits(0), Bits.X, Bits.X | Bits.Y, *list(Pair)[:3], *Level]
        return random.choice([*scalars, *members])
    several = [some_value(random, depth - 1) for _ in range(random.randrange(3))]
    keys = [some_value(random, 0) for _ in several]
    match random.randrange(6):
        case 0:
            return several
        case 1:
            return tuple(several)
        case 2:
            return set(keys)
        case 3:
            return dict(zip(keys, several, strict=True))
        case 4:
            return Bag(keys)
        case _:
            return Item(several)


def sayings(random: Random, value: Any) -> Iterator[Any]:
    """Yield what may be logged of a stored value: as programs get it, as traces have it, by its
    parts.
    """
    yield plain(value)
    yield to_json(value)
    if isinstance(value, Enum):
        kept = isinstance(value.value, tuple)
        yield list(value.value) if kept else value.value
    elif type(value) is FrozenDict:
        entries = [[next(iter(sayings(random, part))) for part in pair] for pair in value.items()]
        random.shuffle(entries)
        yield {"#dict": entries}


def agree(seed: int) -> int:
    """Look at one generated value beside another; how many sayings fitted both."""
    random = Random(f"values/{seed}")
    value, other = (freeze(some_value(random, 3)) for _ in range(2))
    for said in sayings(random, value):
        assert fits(json.loads(json.dumps(said)), value), (seed, said, value)
    assert same(value, other) == fits(to_json(value), other) or _has_two_readings(value), seed
    return fits(plain(value), other)


def _has_two_readings(value: Any) -> bool:
    """Return whether the form of a value is that of another, too: a list of a set, a key
    of a tag.
    """
    form = to_json(value)
    return isinstance(form, list) or not isinstance(form, dict) or "#enum" in form


@pytest.mark.parametrize("several", [400, pytest.param(20_000, marks=pytest.mark.slow)])
def test_generated_values_fit_what_is_logged_of_them(several: int) -> None:
    assert 0 < sum(map(agree, range(several))) < several


FLAGS = """
from enum import Enum, Flag
from statewalk import *

class Bits(Flag):
    X = 1
    Y = 2

class Pair(Enum):
    P = (1, 2)
    Q = (2, 1)

class Box(State):
    bits: Bits = Bits.X
    pair: Pair = Pair.P
    named: dict[str, int] = {}

    @action
    def clear(self) -> None:
        self.bits = Bits(0)
        self.pair = Pair.Q
        self.named = {"#x": 5}

    @action
    def fill(self) -> None:
        self.bits = Bits.X | Bits.Y

box = Box()
"""


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("action", "after", "verdict"),
    [
        ("clear", {"bits": 0}, "conforms"),
        ("clear", {"bits": 1}, "parts"),
        ("clear", {"pair": [2, 1]}, "conforms"),
        ("clear", {"pair": [1, 2]}, "parts"),
        ("clear", {"pair": "Q"}, "conforms"),
        ("clear", {"named": {"#x": 5}}, "conforms"),
        ("clear", {"named": {"#x": 6}}, "parts"),
        ("fill", {"bits": 3}, "conforms"),
        ("fill", {"bits": "X|Y"}, "conforms"),
        ("fill", {"bits": 0}, "parts"),
        ("clear", {"bits": "X|Y"}, "parts"),
        ("clear", {"bits": 3}, "parts"),
        ("clear", {"bits": "<Bits: 0>"}, "conforms"),
    ],
)
def test_flags_members_and_keys_in_a_log(
    action: str, after: dict[str, Any], verdict: str, tmp_path: Path
) -> None:
    (tmp_path / "spec.py").write_text(FLAGS, encoding="utf-8")

    assert verdict == answer(tmp_path / "spec.py", {"action": action, "after": after}).verdict


@pytest.mark.parametrize("after", [{"bits": None}, {"bits": "X|Z"}, {"bits": 4}, {"pair": [1, 1]}])
def test_what_no_flag_or_member_can_be_is_a_mistake(after: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "spec.py").write_text(FLAGS, encoding="utf-8")

    with pytest.raises(RunError, match="SW391"):
        answer(tmp_path / "spec.py", {"action": "clear", "after": after})


def test_two_keys_of_one_text_in_a_log(spec: Path) -> None:
    event = {"action": "put", "before": {"Counter.d": {"1": 6}}}
    refused = answer(spec, event)
    [candidate] = refused.json["candidates"]

    assert "parts" == refused.verdict
    assert {"#dict": [[1, 5], ["1", 6]]} == plain(freeze({1: 5, "1": 6}))
    assert answer(spec, candidate["accepted"][0]).conforms
