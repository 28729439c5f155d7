"""No regular expression of the program matches a text in exponentially many ways.

Each pattern becomes the automaton of its places. It is exponential when one place leads back to
itself by two different ways over the same text (Weber and Seidl 1991). Lookarounds and references
count as nothing. It cannot show that a pattern is linear, nor see patterns that are put together
while the program runs.
"""

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import product
from typing import Any

import pytest

from statewalk.dsl.fizz.text.parse import _parser as fizz_parser
from tests.places import ROOT

_parser: Any = import_module("re._parser")
sre: Any = import_module("re._constants")

CATEGORIES: dict[Any, Callable[[str], bool]] = {
    sre.CATEGORY_DIGIT: str.isdigit,
    sre.CATEGORY_SPACE: str.isspace,
    sre.CATEGORY_WORD: lambda c: c.isalnum() or c == "_",
}
NEGATED = {
    sre.CATEGORY_NOT_DIGIT: sre.CATEGORY_DIGIT,
    sre.CATEGORY_NOT_SPACE: sre.CATEGORY_SPACE,
    sre.CATEGORY_NOT_WORD: sre.CATEGORY_WORD,
}
REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT)
Part = tuple[int, list[int], list[int]]  # ways to be empty (2: several); first and last places


class Places:
    """The places of a pattern: which letters each takes, and in how many ways another follows."""

    def __init__(self, pattern: str) -> None:
        self.letters = {chr(n % 0x110000) for n in _numbers(_parser.parse(pattern))} | {*"aZ0_ \né"}
        self.takes: list[frozenset[str]] = []
        self.ways: Counter[tuple[int, int]] = Counter()
        self._sequence(_parser.parse(pattern))

    def _place(self, takes: set[str]) -> Part:
        self.takes.append(frozenset(takes))
        return 0, [len(self.takes) - 1], [len(self.takes) - 1]

    def _sequence(self, items: Any) -> Part:
        empty, first, last = 1, list[int](), list[int]()
        for item in items:
            next_empty, next_first, next_last = self._part(*item)
            self.ways.update(product(last, next_first))
            first += next_first * empty
            last = last * next_empty + next_last
            empty = min(2, empty * next_empty)
        return empty, first, last

    def _part(self, kind: Any, about: Any) -> Part:
        if kind in (sre.LITERAL, sre.NOT_LITERAL, sre.IN, sre.ANY):
            return self._place({c for c in self.letters if _taken(kind, about, c)})
        if kind is sre.AT and about is sre.AT_END_STRING:
            return self._place(set())  # nothing follows
        if kind is sre.BRANCH:
            parts = [self._sequence(branch) for branch in about[1]]
            first, last = [x for p in parts for x in p[1]], [x for p in parts for x in p[2]]
            return min(2, sum(p[0] for p in parts)), first, last
        if kind is sre.SUBPATTERN:
            return self._sequence(about[-1])
        if kind in REPEATS:
            least, most, body = about
            empty, first, last = self._sequence(body)
            if most > 1:
                self.ways.update(product(last, first))
            return min(2, empty + (not least)), first, last
        return 1, [], []

    def _circles(self) -> dict[int, list[int]]:
        """By place, the places that follow it and from which it can be reached again."""
        follows: dict[int, set[int]] = {}
        for a, b in self.ways:
            follows.setdefault(a, set()).add(b)

        def below(place: int) -> set[int]:
            found, waiting = set[int](), [place]
            while waiting:
                new = follows.get(waiting.pop(), set()) - found
                found |= new
                waiting += new
            return found

        reached = {place: below(place) for place in follows}
        return {a: [b for b in found if a in reached.get(b, ())] for a, found in follows.items()}

    def exponential(self) -> bool:
        """Return whether some place leads back to itself in two ways over one text."""
        follows = self._circles()

        def pairs(pair: tuple[int, int]) -> Iterator[tuple[int, int]]:
            for a, b in product(*(follows.get(place, ()) for place in pair)):
                if self.takes[a] & self.takes[b]:
                    yield a, b

        def reached(start: tuple[int, int]) -> set[tuple[int, int]]:
            found, waiting = set[tuple[int, int]](), [start]
            while waiting:
                for pair in pairs(waiting.pop()):
                    if pair not in found:
                        found.add(pair)
                        waiting.append(pair)
            return found

        for place in follows:
            there = reached((place, place))
            if (place, place) not in there:
                continue
            around = [p for p in there if (place, place) in reached(p)]
            twice = any(
                self.ways[a, b] > 1 and (b, b) in there and (place, place) in reached((b, b))
                for a, b in self.ways
                if a == place
            )
            if twice or any(a != b for a, b in around):
                return True
        return False


def _numbers(tree: Any) -> Iterator[int]:
    for item in tree:
        if isinstance(item, int):
            yield item
        elif isinstance(item, (tuple, list, _parser.SubPattern)):
            yield from _numbers(item)


def _taken(kind: Any, about: Any, letter: str) -> bool:
    if kind is sre.ANY:
        return letter != "\n"
    if kind is sre.LITERAL:
        return bool(ord(letter) == about)
    if kind is sre.NOT_LITERAL:
        return bool(ord(letter) != about)
    if kind is sre.RANGE:
        return bool(about[0] <= ord(letter) <= about[1])
    if kind is sre.CATEGORY:
        known = CATEGORIES.get(NEGATED.get(about, about))
        return known is not None and bool(known(letter)) != (about in NEGATED)
    negated: bool = about[0][0] is sre.NEGATE
    return any(_taken(kind, one, letter) for kind, one in about[negated:]) != negated


def patterns() -> Iterator[tuple[str, str]]:
    """Each constant pattern that the program gives to ``re``, or its grammar to the parser."""
    for file in sorted([*(ROOT / "dsl").rglob("*.py"), *(ROOT / "checker").rglob("*.py")]):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            called, given = node.func, node.args[0]
            if isinstance(called, ast.Attribute) and ast.unparse(called.value) == "re":
                verbose = "re.VERBOSE" in ast.unparse(node)
                if isinstance(given, ast.Constant):
                    said = given.value
                    said = said.decode("latin-1") if isinstance(said, bytes) else str(said)
                    yield f"{file.relative_to(ROOT)}:{node.lineno}", f"(?x){said}" * verbose or said
    for terminal in fizz_parser().terminals:
        yield f"fizz.lark: {terminal.name}", terminal.pattern.to_regexp()


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a+)+$", r"(a*)*$", r"(a|a)*b", r"(a|ab?)*(b|c)", r"(\w+\s?)*:",
        r"[\s,]*(?:;[^\n]*[\s,]*)*x", r"(?:[\s,]|;[^\n]*)*x", r"(a?b?)*c", r"(.*)*x", r"(\d+,?)+\)",
    ],
)  # fmt: skip
def test_a_pattern_with_exponentially_many_ways_is_found(pattern: str) -> None:
    assert Places(pattern).exponential()


@pytest.mark.parametrize(
    "pattern",
    [
        r"a*a*b", r"(a+b)*c", r"[\s,]*(?:;[^\n]*(?:\n[\s,]*|\Z))*", r'"[^"\\]*(?:\\.[^"\\]*)*"',
        r"(\w+\s)*:", r"(a|b)*c", r"(ab?)*c",
    ],
)  # fmt: skip
def test_a_pattern_with_few_ways_is_not(pattern: str) -> None:
    assert not Places(pattern).exponential()


@pytest.mark.thorough
def test_no_pattern_of_the_program_has_exponentially_many_ways() -> None:
    found = dict(patterns())

    assert len(found) > 100
    assert [] == [where for where, pattern in found.items() if Places(pattern).exponential()]
