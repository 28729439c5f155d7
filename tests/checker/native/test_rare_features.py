"""Generated specs with rare features of Python: aliases through helpers, `setdefault`, slices,
`match`, `try` with `finally`, closures, recursion, star arguments, records with methods. Counts and
verdicts are those that plain Python finds by running the text.

`RARE=5000 pytest -m slow tests/checker/native/test_rare_features.py` looks at so many.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from statewalk.checker import native, quick
from statewalk.checker.contract.search import Exploration, SearchOptions
from statewalk.checker.engines import reference
from statewalk.dsl.loader import load
from tests.checker.native.brute import Brute

MANY = int(os.environ.get("RARE", "400"))
HEAD = """
from statewalk import *

class Item(Record):
    n: int = 0
    tag: str = ""
    rest: tuple[int, ...] = ()

    def plus(self, k: int) -> int:
        return (self.n + k) % 3

    def __lt__(self, other: "Item") -> bool:
        return (self.n, self.tag) < (other.n, other.tag)

    @property
    def size(self) -> int:
        return len(self.rest)

class S(State):
    n: int = 0
    m: int = 1
    flag: bool = False
    word: str = ""
    xs: list[int] = [0, 1]
    rows: list[list[int]] = [[0], []]
    kept: set[int] = {{1}}
    table: dict[int, list[int]] = {{0: [1]}}
    pair: tuple[int, ...] = (0, 1)
    item: Item = Item()
    items: list[Item] = [Item(1, "a")]
    either: int | bool | None = 0

{actions}

def first_row(at: int = 0) -> list[int]:
    return s.rows[at]

def rows_of() -> list[list[int]]:
    return s.rows

def grow(xs: list[int], *more: int, top: int = 2) -> int:
    for x in more:
        if len(xs) < top:
            xs.append(x % 3)
    return len(xs)

def depth_of(x: int) -> int:
    return 0 if x <= 0 else 1 + depth_of(x - 2)

def counter(start: int) -> object:
    total = start
    def add(k: int) -> int:
        nonlocal total
        total += k
        return total % 3
    return add

def kind_of(x: object) -> str:
    match x:
        case Item(n=1):
            return "one"
        case [0, *_]:
            return "zero"
        case (a, b) if a == b:
            return "twin"
        case bool():
            return "b"
        case int() | None:
            return "i"
        case _:
            return "?"

s = S()
deadlock(False)

@always
def calm() -> bool:
    return {calm}

@always
def each() -> bool:
    for x in s.xs:
        if x == {a}:
            continue
        if not {of_x}:
            return False
    return True

@exists
def met() -> bool:
    return {met}
"""
# What a step does; {a}, {b} are small numbers, {x} a number that the state has.
STATEMENTS = """
self.n = ({x} + {a}) % 3
self.n, self.m = self.m, self.n
self.flag = not self.flag
self.word = kind_of({v})
self.word = f"{{self.n}}{{self.m:>2}}"[-2:].strip()
row = first_row({a} % 2); row.append({b}) if len(row) < 2 else row.clear()
row = rows_of()[-1]; row[:] = [x for x in self.xs if x != {a}][:2]
for row in self.rows: row.sort(reverse=self.flag)
row = self.rows[0]; self.rows.reverse(); row.append({a}) if len(row) < 2 else None
self.rows[{a} % 2], self.rows[0] = list(self.rows[0]), list(self.rows[{a} % 2])
require(sum(map(len, self.table.values())) < 3); self.table.setdefault({a}, []).append({b})
self.table.clear()
self.table.setdefault({a}, [{b}])
self.table[{a}] = self.table.pop({b}, [{a}])
self.table |= {{{a}: [{b}]}}
del self.table[{a}]
self.table = {{k: v[:1] for k, v in self.table.items() if k != {a}}}
del self.xs[{a}:]
del self.xs[::2]
self.xs[1:1] = [{a}]; del self.xs[3:]
self.xs[-1] += {a}; self.xs[-1] %= 3
self.xs += [{a}]; del self.xs[:-2]
self.xs *= 2; del self.xs[2:]
self.xs.insert({a}, {b}); self.xs = self.xs[:2]
self.n = self.xs.pop() if self.xs else {a}
self.n = grow(self.xs, {a}, self.n, {b}) % 3
self.n = grow(self.rows[0], *self.xs, top={a}) % 3
self.n = grow(*[self.xs, {a}], **{{"top": 1}}) % 3
self.m = depth_of(self.n + {a})
add = counter(self.n); add({a}); self.m = add({b})
if (y := self.n + {a}) > 2: self.m = y % 3
while self.n < {a}: self.n += 1
self.kept ^= {{{a}}}
self.kept.discard(self.n); self.kept.add({a})
self.kept = {{x % 2 for x in [*self.kept, *self.xs]}}
self.pair = (*self.pair[1:], {a})
first, *rest = self.pair; self.pair = (*rest, first)
self.item = Item(self.item.plus({a}), self.item.tag, self.pair[:1])
self.item = replace(self.item, n={a})
self.item.n = (self.item.n + {a}) % 3
self.item.tag = "x" if self.item.tag != "x" else ""
self.items.append(Item({a})); self.items.sort(); del self.items[2:]
self.items = sorted([*self.items, Item({a}, "b")])[:2]
item = self.items[0]; item.n = {a}
self.items[-1].n = max(self.items).n
self.items = [Item(i.plus({a}), i.tag) for i in self.items]
self.either = [0, False, 1, True, None][(self.n + {a}) % 5]
self.either = self.flag if self.either is None else None
self.either = any_of([{a}, self.flag])
self.n = any_of([0, 1])
self.n = any_of(x for x in self.xs)
require(self.n != {a})
require(self.xs and self.xs[0] == {a} or self.flag)
assert self.n < 3
get = lambda k={a}: (self.n + k) % 3; self.m = get() + get({b}); self.m %= 3
self.n = sum(x * y for x, y in zip(self.xs, self.pair)) % 3
self.n = next((x for x in self.xs if x > {a}), {b})
self.n = len({{(x, y) for x in self.xs for y in self.pair if x < y}}) % 3
self.m = min(self.xs, key=lambda x: (x - {a}) % 3, default={b})
self.m = self.item.size if self.item < self.items[0] else {a}
self.m = {{0: 1, 1: 2}}.get(self.n, {a})
self.word = "".join(str(x) for x in self.xs)[:2]
self.word = str(self.either)[:1] + self.word[:1]
self.flag = self.either is True or self.either == {a}
self.flag = {a} in self.kept and {b} not in self.table
self.flag = any(row is self.rows[0] for row in self.rows[1:])
self.flag = all(map(bool, self.xs)) and self.xs == [*self.pair]
self.flag = self.rows[0] == self.table.get({a}) or isinstance(self.either, bool)
"""
BLOCKS = [
    "try:\n    self.n = self.xs[{a}]\nexcept IndexError:\n    self.n = {b}\nfinally:\n"
    "    self.m = {a}",
    "try:\n    self.m = self.table[{a}][0]\nexcept (KeyError, IndexError) as error:\n"
    "    self.word = type(error).__name__[:1]\nelse:\n    self.flag = True",
    "for i, x in enumerate(self.xs):\n    if x == {a}:\n        self.n = i\n        break\nelse:\n"
    "    self.n = {b}",
    "for x in list(self.xs):\n    if x == {a}:\n        continue\n    self.kept.add(x)",
    "match self.xs:\n    case []:\n        self.xs = [{a}]\n    case [x]:\n"
    "        self.xs = [x, {b}]\n    case [x, *rest] if rest:\n        self.xs = list(rest)[:2]",
    "if self.flag:\n    self.n = {a}\nelif self.n == {b}:\n    self.flag = True\nelse:\n"
    "    self.m = 0",
    "with_row = self.rows[{a} % 2]\nother = with_row\nif other is with_row and len(other) < 2:\n"
    "    other += [{b}]",
    "for key, row in self.table.items():\n    if key == {a}:\n        row[:] = [{b}]",
    "def bump(k: int = {a}) -> None:\n    self.n = (self.n + k) % 3\nbump()\nbump(k={b})",
]  # fmt: skip
VALUES = [
    "self.item",
    "self.xs",
    "self.pair",
    "self.either",
    "self.n",
    "self.items[0]",
    "self.word",
]
CONDITIONS = [
    "s.n < 2", "not s.flag", "s.xs != [1]", "s.item.n == 0 or s.item.size < 1",
    "s.either is not True",
    "len(s.kept) < 2", "all(len(row) < 2 for row in s.rows)", "kind_of(s.either) != 'b'",
    "s.either != 1 or s.either is not None", "s.table == {{0: [1]}}", "s.word not in ('one', '1')",
    "sum(len(v) for v in s.table.values()) < 2", "s.items[0].plus(1) != 0",
    "0 in s.xs or 1 in s.kept",
    "max(s.xs, default=0) < 2 and s.rows[0] is first_row()", "any(x in s.kept for x in s.pair)",
]  # fmt: skip
OF_X = ["x < 2", "x in s.pair", "(x + s.n) % 3 != 2", "x not in s.table", "s.item.plus(x) < 2"]


def source(random: Random) -> str:
    statements = STATEMENTS.strip().splitlines() + BLOCKS * 2

    def body(most: int) -> str:
        lines = []
        for _ in range(random.randint(1, most)):
            text = random.choice(statements).format(
                a=random.randrange(3), b=random.randrange(3), x=random.choice(["self.n", "self.m"]),
                v=random.choice(VALUES),
            )  # fmt: skip
            lines += text.splitlines()
        return "        " + "\n        ".join(lines)

    actions = "".join(
        f"    @action\n    def a{number}(self) -> None:\n{body(3)}\n\n"
        for number in range(random.randint(2, 4))
    )
    told = {"calm": random.choice(CONDITIONS), "met": f"not ({random.choice(CONDITIONS)})"}
    told = {name: text.format() for name, text in told.items()}
    return HEAD.format(actions=actions, a=random.randrange(3), of_x=random.choice(OF_X), **told)


def agree(seed: int, folder: Path, most: int = 300) -> str:
    """Compare one spec by both engines, as it is and lowered; what came out."""
    text = source(Random(f"rare/{seed}"))
    path = folder / f"spec{seed}.py"
    path.write_text(text, encoding="utf-8")
    brute = Brute(text)
    found = brute.explore(most)
    if found is None:
        return "too many"
    plain, lowered = load(path, {}, optimize=False), load(path, {})
    options = SearchOptions(keep_going=True)
    for explored in (
        reference.explore(plain, options),
        reference.explore(lowered, options),
        native.explore(lowered, options),
        native.explore(lowered, replace(options, program_after=0)),
        quick.explore(lowered, options) or reference.explore(lowered, options),
    ):
        assert ("no_error" in found.first) == ("no_error" in lengths(explored)), seed
        if "no_error" in found.first:
            assert found.first["no_error"] == lengths(explored)["no_error"], seed
            continue
        counts = explored.counts
        expected = (found.distinct, found.generated, found.depth)

        assert expected == (counts.distinct, counts.generated, counts.depth), seed
        assert found.first == lengths(explored), seed
    return "error" if "no_error" in found.first else "whole"


def lengths(found: Exploration) -> dict[str, int]:
    """The steps to each violation, witness and error."""
    told = {f.property: len(f.steps) for f in (*found.findings, *found.witnesses)}
    return {
        ("no_error" if name in ("assertion", "no_error") else name): n for name, n in told.items()
    }


@pytest.mark.thorough
def test_generated_specs_with_rare_features(tmp_path: Path) -> None:
    told = Counter(agree(seed, tmp_path, 60) for seed in range(3))

    assert told["whole"]


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_many_generated_specs_with_rare_features(block: int, tmp_path: Path) -> None:
    share = -(-MANY // 10)
    first = 100 + block * share
    told = Counter(agree(seed, tmp_path) for seed in range(first, first + share))

    assert {"error", "whole"} <= set(told)
