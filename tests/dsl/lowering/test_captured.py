"""Captured names in comprehensions over the state keep Python's meaning."""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk.checker.api import check

SPEC = """
from enum import IntEnum, StrEnum
from statewalk import Record, State, action, always

class Level(IntEnum):
    LOW = 1

class Kind(StrEnum):
    READ = "read"

class Box(Record):
    table: dict[int, str] = {{}}

def has(values: set[int], x: object) -> bool:
    return x in values

def pick(values: list[bool], wanted: set[int]) -> list[bool]:
    return [x for x in values if x in wanted]

class All(State):
    xs: list[int] = [1, 2]
    flags: list[bool] = [True, False]
    texts: list[str] = ["read", "other"]
    pairs: list[tuple[int, bool]] = [(1, True)]
    asked: bool = False
    same: bool = False

    @action
    def ask(self) -> None:
        {locals}
        self.asked = True
        self.same = {found} == {expected}

everything = All()

@always
def as_python_does() -> bool:
    return everything.same == everything.asked
"""

CASES = {
    "first key": ("d = {2: 0, 1: 0}", "[x for x in self.xs if x == list(d)[0]]", "[2]"),
    "text of a dict": ("d = {2: 0, 1: 0}", "[str(d) for x in self.xs][0]", "'{2: 0, 1: 0}'"),
    "key by equality": ("d = {1: 'a'}", "[d.get(x, '-') for x in self.flags]", "['a', '-']"),
    "element by equality": ("s = {1}", "[x for x in self.flags if x in s]", "[True]"),
    "a number of an enum": ("s = {Level.LOW}", "sum(1 for x in self.xs if x in s)", "1"),
    "a text of an enum": ("s = {Kind.READ}", "len([x for x in self.texts if x in s])", "1"),
    "tuples in a set": ("s = frozenset({(True, 1)})", "[1 for x in self.pairs if x in s]", "[1]"),
    "a set for a helper": ("s = {1}", "[x for x in self.flags if has(s, x)]", "[True]"),
    "a set in a helper": ("pass", "pick(self.flags, {1})", "[True]"),
    "a fresh record": (
        "b = Box({2: '', 1: ''})", "[x for x in self.xs if x == list(b.table)[0]]", "[2]",
    ),
    "a list in a tuple": ("t = ([True], 0)", "[x for x in self.xs if x in t[0]]", "[1]"),
    "a list that grows": (
        "a = []", "[x for x in self.xs + self.xs if x not in a and a.append(x) is None]", "[1, 2]",
    ),
    "a list that grows in place": (
        "a = []", "[len(a) for x in self.xs if a.append(x) is None]", "[1, 2]",
    ),
}  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", CASES)
def test_a_captured_value_is_as_in_python(name: str, tmp_path: Path) -> None:
    before, found, expected = CASES[name]
    path = tmp_path / "spec.py"
    path.write_text(SPEC.format(locals=before, found=found, expected=expected))

    for optimize in (True, False):
        assert check(path, engine="reference", optimize=optimize).verdict == "holds", optimize
