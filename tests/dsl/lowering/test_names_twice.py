"""One name for several things: a lambda's and a loop's, a module's and another's, a spec's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from statewalk.checker import native
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines import reference
from statewalk.dsl.loader import load
from tests.checker.native.agreement import told

HEAD = """
from statewalk import *
deadlock(False)
y = 0
class Counter(State):
    n: int = 0
    got: int = 0
    xs: list[int] = [1, 2]
"""
ANY_TIME = """
    @action
    def choose(self) -> None:
        k = any_of([5, 0])
        self.got = {}
c = Counter()
@always
def never() -> bool:
    return c.got != {}
"""
COUNTED = """
    @action
    def up(self) -> None:
        self.n = (self.n + 1) % 5
c = Counter()
@always
def holds() -> bool:
    return {}
"""

CAPTURED = {
    "sum(x for x in self.xs if x > k if all(k != 7 for k in (1, 2)))": 3,
    "sum(x for x in self.xs if all([x > k and k != 7 for k in (k,)]))": 3,
    "sum(x + k + (lambda k: k)(0) for x in self.xs)": 13,
    "sum(x + (lambda k=k: k)() for x in self.xs)": 13,
    "sum(x + len({k for k in (1, 2)} | {k}) for x in self.xs)": 9,
    "sum(x + len({k: k for k in (0,)}) * k for x in self.xs)": 13,
    "len([x for x in self.xs if x > k and [k for k in [x] for k in [k]]])": 2,
}

SPLIT = {
    "all(c.n != 4 for x in (2,) if c.n > x for x in (50, 60))": True,
    "all(all(c.n != 4 for x in (50, 60)) for x in (2,) if c.n > x)": True,
    "all(c.n != 4 for x, x in [(5, 2)] if c.n > x)": True,
    "all(len(rest) + c.n < 9 for first, *rest in [('a', 'bcde')])": False,
    "all(a == 1 and c.n < 9 for (a,), b in [((1,), 2)])": False,
    "all(a + b + d + c.n < 11 for a, (b, d) in [(1, (2, 3))])": False,
    "all(len(xs) + c.n < 6 and not xs.append(0) for xs in ([], []))": False,
    "all(len(xs) + c.n < 6 and not xs.append(0) for at, xs in [(1, [])])": False,
    "all(d.setdefault(c.n, 4) + c.n < 9 and len(d) == 1 for d in ({},))": False,
    "all(not any(x == c.n + 9 for x in xs) for xs in (iter(range(3)),))": False,
    "all(len(xs) + c.n < 5 for xs in ([1], [2]))": True,
    "all(len(xs) + c.n < 6 for xs in (frozenset({1}), (1, 2), 'ab') if len(xs) == 1)": False,
    "(y := c.n) >= 0 and y < 3": True,
    "all((y := c.n) >= 0 for x in (1, 2)) and y < 3": True,
    "all(c.n + x < 9 for x in (1, 2)) and all(c.n + x < 8 for x in (3, 4))": True,
}  # fmt: skip


def _findings(path: Path) -> set[str]:
    options = SearchOptions(keep_going=True, max_states=500)
    plain, lowered = load(path, optimize=False), load(path)
    expected: dict[str, Any] = told(reference.explore(plain, options))

    assert expected == told(reference.explore(lowered, options))
    assert expected == told(native.explore(lowered, options))
    return {finding[0] for finding in expected["findings"]}


def _of(text: str, folder: Path) -> set[str]:
    path = folder / "spec.py"
    path.write_text(HEAD + text)
    return _findings(path)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("asked", CAPTURED)
def test_a_name_that_is_bound_inside_too_is_looked_at(asked: str, tmp_path: Path) -> None:
    found = _of(ANY_TIME.format(asked, CAPTURED[asked]), tmp_path)

    assert {"never"} == found


@pytest.mark.sampled(4)
@pytest.mark.parametrize("asked", SPLIT)
def test_a_property_in_conjuncts_is_the_property(asked: str, tmp_path: Path) -> None:
    found = _of(COUNTED.format(asked), tmp_path)

    assert ({"holds"} if SPLIT[asked] else set()) == found


def test_helpers_of_one_name_at_one_place_of_two_modules_are_two(tmp_path: Path) -> None:
    helper = "def total() -> int:\n    return sum({} for x in c.xs)\n"
    (tmp_path / "other.py").write_text(
        "from statewalk import *\n"
        "class Other(State):\n    xs: list[int] = [1, 2]\nc = Other()\n"
        "# a line\n# and one more\n" + helper.format("x")
    )
    path = tmp_path / "main.py"
    path.write_text(
        "from statewalk import *\nimport other\nfrom other import c\n"
        "class Main(State):\n    n: int = 0\nd = Main()\n"
        + helper.format("2 * x")
        + "deadlock(False)\n"
        "@action\ndef go() -> None:\n    c.xs[0] = 3 - c.xs[0]\n    d.n = total() - other.total()\n"
        "@always\ndef holds() -> bool:\n    return total() == 2 * other.total()\n"
    )

    assert set() == _findings(path)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "call",
    [
        "bump(self)",
        "full()",
        "next(map(bump, [self]))",
        "sum(map(bump, [self]))",
        "sum(map(operator.methodcaller('bump'), [self]))",
        "sum(map(by_hand, [self]))",
        "sum(map([bump][0], [self]))",
        "sum(map(getattr(self, 'add'), [1]))",
        "sorted([self], key=bump).count(self)",
    ],
)
def test_an_object_that_a_library_made_may_write(call: str, tmp_path: Path) -> None:
    (tmp_path / "spec.py").write_text(
        "import operator\nfrom functools import partial\n"
        + HEAD
        + f"""
    def bump(self) -> int:
        self.n += 1
        return 1
    def add(self, k: int) -> int:
        self.n += k
        return k
    @action
    def up(self) -> None:
        self.n = self.n % 4
        self.n += {call}
c = Counter()
bump = operator.methodcaller("bump")
full = partial(Counter.bump, c)
by_hand = lambda counter: counter.bump()
@always
def holds() -> bool:
    return c.n != 4
"""
    )

    assert {"holds"} == _findings(tmp_path / "spec.py")


OWN = """
    @action
    def up(self) -> None:
        self.n = (self.n + 1) % 3
c = Counter()
{}
@{}
def holds() -> bool:
    return {}
"""


@pytest.mark.parametrize("asked", ["not old(c.n)", "True if not old(c.n) else False"])
def test_a_function_of_the_spec_that_is_named_old_is_its_own(asked: str, tmp_path: Path) -> None:
    own = "def old(x: int) -> bool:\n    return x == 3"

    assert set() == _of(OWN.format(own, "always", asked), tmp_path)
    assert {"holds"} == _of(OWN.format(own.replace("3", "2"), "always", asked), tmp_path)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["old", "before", "statewalk.old", "words.old"])
def test_old_goes_by_what_its_name_means(name: str, tmp_path: Path) -> None:
    own = "import statewalk\nimport statewalk as words\nfrom statewalk import old as before"

    assert set() == _of(OWN.format(own, "on_step", f"c.n == ({name}(c.n) + 1) % 3"), tmp_path)
    assert {"holds"} == _of(OWN.format(own, "on_step", f"c.n == {name}(c.n) + 1"), tmp_path)


def test_an_aggregate_of_the_spec_is_its_own(tmp_path: Path) -> None:
    own = "def {0}(xs: list[bool]) -> bool:\n    return not [x for x in xs if x]"

    for name in ("all", "any"):
        text = own.format(name)
        assert set() == _of(OWN.format(text, "always", f"{name}([x > 9 for x in c.xs])"), tmp_path)
        assert {"holds"} == _of(
            OWN.format(text, "always", f"{name}([x > c.n for x in c.xs])"), tmp_path
        )
