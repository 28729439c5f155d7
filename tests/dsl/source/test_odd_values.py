"""Odd module contents: they are inspected without running their code, however often."""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk import check, load

VALUES = {
    "asks_too_much": "type('A', (), {'__getattr__': lambda s, n: 1 / 0})()",
    "misses_a_key": "type('A', (), {'__getattr__': lambda s, n: {}[n]})()",
    "says_it_is_a_set": "__import__('unittest.mock').mock.Mock(spec=set)",
    "says_it_is_a_list": "type('C', (), {'__class__': property(lambda s: list)})()",
    "has_an_odd_class": "type('M', (type,), {'__getattr__': lambda c, n: 1 / 0})('K', (), {})",
    "holds_itself": "(lambda x: x.append(x) or x)([1])",
    "holds_itself_deeper": "(lambda d: d.update(a=[{'b': d}]) or d)({})",
    "is_a_place": "box.d",
    "holds_a_place": "[box.d, {1: box.s}]",
    "is_deep": "__import__('functools').reduce(lambda x, _: [x], range(2000), 1)",
}
SPEC = """
from typing import Optional
from statewalk import Role, action, eventually

class Box(Role):
    n: int = 0
    d: dict[str, set[int]] = {"a": {1}}
    s: set[str] = {"read"}
    boss: Optional["Box"] = None

    @action
    def up(self) -> None:
        self.n = 1 - self.n

box = Box()

def same(x: object) -> object:
    return x

THING = same(VALUE)

@eventually
def two() -> bool:
    return box.n == 2
"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_a_spec_with_an_odd_value_is_loaded_again(value: str, tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    path.write_text(SPEC.replace("VALUE", value) + "# what is long is remembered\n" * 100)

    first = load(path)

    assert [p.name for p in load(path).properties] == [p.name for p in first.properties]


def test_a_violation_of_such_a_spec_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    path.write_text(SPEC.replace("VALUE", "1") + "# what is long is remembered\n" * 100)

    run = check(path)

    assert (run.verdict, run.result.counts.distinct) == ("violated", 2)
