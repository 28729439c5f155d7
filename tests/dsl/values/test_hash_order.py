"""Steps with sets of their own have the same result under every PYTHONHASHSEED."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from statewalk import check
from statewalk.dsl.errors import SpecError
from statewalk.dsl.loader import load

HELPER = """
from dataclasses import dataclass, field

NAMES = {"cd", "ab", "ef"}
TABLE = {"names": frozenset({"cd", "ab", "ef"})}

@dataclass
class Box:
    names: set[str] = field(default_factory=lambda: {"cd", "ab", "ef"})
    def each(self):
        yield {"cd", "ab", "ef"}

BOX = Box()

def names():
    return {"cd", "ab", "ef"}

def inside():
    return [({"cd", "ab", "ef"}, 1)]

def first(names):
    return next(iter(names))

def picked(names):
    return sorted(names, key=len)[0]
"""
SPEC = """
import copy
import functools
import itertools
import operator
import pickle
from typing import ClassVar
from collections import Counter, deque
from enum import Enum

import helper
from statewalk import *
from helper import NAMES as FOREIGN
from helper import names

class Fish(Enum):
    EEL = "eel"
    COD = "cod"
    BASS = "bass"

class Pair(Record):
    left: str
    right: int

class Case(Record):
    names: set[str] = {"cd", "ab", "ef"}

class Node(Role):
    n: int = 0

OWN = {"cd", "ab", "ef"}
MADE = frozenset(x + y for x, y in ("cd", "ab", "ef"))
PARTS: Constant[frozenset[str]] = frozenset({"cd", "ab", "ef"})
EARLY = sorted({"cd", "ab", "ef"}, key=len)

def given(s={"cd", "ab", "ef"}):
    return s

def looped(s):
    for x in s:
        return x

def unpacked(s):
    x, *_ = s
    return x

def extended(s):
    l = []
    l.extend(s)
    l += s
    l[1:1] = s
    return l

def matched(s):
    match s:
        case set() | frozenset():
            return [x for x in s]
    return "no set"

def augmented(s):
    keys = dict.fromkeys(s).keys()
    keys &= s
    return sorted(keys, key=lambda _: 0)

class S(State):
    out: list[str] = []
    w: list[str] = ["ef", "cd", "ab"]
    s: set[str] = {"cd", "ab", "ef"}
    d: dict[str, int] = {"cd": 1, "ab": 2, "ef": 3}
    case: Case = Case()
    names: ClassVar[set[str]] = {"cd", "ab", "ef"}

    @action
    def go(self, key: str = any_of({"ef", "gh"})) -> None:
        require(not self.out)
        local = dict.fromkeys(self.w, 1)
        fresh = {"cd", "ab"}
        fresh |= {"ef"}
        pick = any_of({"cd", "ab"})
        self.out = [pick, *EARLY, %s]

s = S()
nodes = [Node() for _ in range(3)]

@always
def ok() -> bool:
    return not s.out
"""
STRINGS = [
    '{"cd", "ab", "ef"}', 'set(self.w)', '{x for x in self.w}', 'frozenset(self.w)', '{*self.w}',
    '{"ab"} | {"cd", "ef"}', 'self.s | {"ef"}', '{"ef"} | self.s', '{"ab", "cd", "ef"} - {"x"}',
    '{"x", "ab"} ^ {"cd", "x", "ef"}', '{"ab", "cd", "ef"} & set(self.w)', 'names()', 'FOREIGN',
    'helper.names()', 'helper.NAMES', 'helper.TABLE["names"]', 'helper.BOX.names',
    'next(helper.BOX.each())', 'helper.inside()[0][0]', 'local.keys() | self.s',
    'local.keys() & local.keys()', 'local.keys() - set()', 'OWN', 'MADE', 'PARTS', 'given()',
    'self.names', 'self.s.copy()', 'Case().names', 'copy.copy(self.case).names',
    'set().union(["ef"], ["cd", "ab"])', 'set.union({"ef"}, ["cd", "ab"])', 'set(self.d)',
    'frozenset(self.s).copy()', 'copy.deepcopy({"cd", "ab", "ef"})', 'fresh',
    'pickle.loads(pickle.dumps({"cd", "ab", "ef"}))',
    'functools.reduce(operator.or_, [{"cd"}, {"ab"}, {"ef"}])', 'set(map(str, self.w))',
    'OWN if OWN == FOREIGN else {}', 'set(self.w).intersection(self.w)',
]  # fmt: skip
OTHERS = [
    'set(Fish)', '{Fish.BASS, Fish.EEL, Fish.COD}', '{n for n in nodes}', 'set(nodes)',
    '{Pair("cd", 1), Pair("ab", 2), Pair("ab", 1)}', '{("cd", 1), ("ab", 2), ("ab", 1)}',
    '{("cd", Fish.EEL), ("ab", None), ("ab", True)}', '{"cd", None, 3, Fish.COD, ("ab",)}',
    '{frozenset({"ab", "cd"}), frozenset({"ab"}), frozenset()}', '{0.5, "ab", (0.25, "cd")}',
    '{frozenset({0.5, "ab", "cd"}), frozenset({"ab", 1.5})}',
]  # fmt: skip
USES = [
    'list(%s)', 'sorted(%s, key=lambda _: 0)', '"".join(map(str, %s))', 'next(filter(None, %s))',
    'next(iter(%s))', 'list(enumerate(%s))', 'list(zip(%s, "abc"))', '[*%s]', '(*%s, 1)',
    'list(reversed(list(%s)))', 'min(%s, key=lambda _: 0)', 'max(%s, key=lambda _: 0)',
    'repr(%s)', "f'''{%s}'''", '"{}".format(%s)', '"%%r" %% (%s,)',
    'str([%s])', 'str({1: (%s, 2)})', 'extended(%s)', 'looped(%s)',
    'list(itertools.chain(%s, "x"))', 'list(dict.fromkeys(%s))',
    'unpacked(%s)', 'helper.first(%s)', 'helper.picked([(x,) for x in %s])', 'matched(%s)',
    'functools.reduce(lambda a, b: a, %s)', 'Counter(%s).most_common(1)', 'deque(%s)',
    '{x: 1 for x in %s}', 'list(set(%s) | set(%s))', 'augmented(%s)', 'list(x for x in %s)',
]  # fmt: skip
MAKERS = STRINGS + OTHERS
ALL = [(made, use) for made in MAKERS for use in USES]
SOME = [(made, USES[at % len(USES)]) for at, made in enumerate(MAKERS)]
MIXED = """
from enum import Enum
from statewalk import *

class Fish(Enum):
    EEL = "eel"
    COD = "cod"

class Node(Role):
    n: int = 0

nodes = [Node() for _ in range(11)]
deadlock(False)

@always
def ordered() -> bool:
    mixed = {(1,), nodes[10], nodes[2], Fish.COD, Fish.EEL, "b", "a", 10, 2, False, None}
    told = [None, False, 2, 10, "a", "b", Fish.EEL, Fish.COD, nodes[2], nodes[10], (1,)]
    return list(mixed) == told and list(frozenset(mixed)) == told
"""
FUNCTIONS = """
from statewalk import *

def f(): pass
def g(): pass
for x in {f, g}:
    pass
"""
PLAIN = """
from statewalk import *

class Box(State):
    s: set[int] = {1, 2}
    n: int = 0
    @action
    def add(self) -> None:
        self.n = (self.n + 1) % 2
        self.s.add(self.n)

b = Box()

@always
def ok() -> bool:
    return TEXT
"""
CHANGED = """
import helper
from statewalk import *

helper.BOX.names.add("zz")

class Box(State):
    n: int = 0
    @action
    def add(self) -> None:
        own = {1}
        other = own
        other |= {2}
        other -= {1}
        boxes = [own, {3}]
        boxes[1].add(4)
        boxes[0].discard(7)
        table = {"x": own}
        table["x"].update([5])
        assert own == {2, 5} and other is own and boxes == [{2, 5}, {3, 4}]

b = Box()

@always
def ok() -> bool:
    return "zz" in helper.BOX.names
"""
RUN = """
import json, sys
from statewalk import check
from statewalk.dsl.loader import load

ways = ("reference", True), ("reference", False), ("native", True)
for engine, optimize in ways[: int(sys.argv[2])]:
    model = load(sys.argv[1], optimize=optimize)
    trace = check(model, engine=engine).traces["ok"]
    out = next(v for place, v in trace.contents[-1].items() if "out" in place)
    print(json.dumps([repr(model.constants), trace.steps[-1].label, *map(str, out)]))
"""


def found(spec: Path, seed: int, ways: int = 3) -> list[list[str]]:
    """Return what so many engines make of a spec in a process with a hash seed."""
    environment = {
        **os.environ,
        "PYTHONHASHSEED": str(seed),
        "PYTHONPATH": os.pathsep.join([str(spec.parents[1] / "lib"), *sys.path]),
    }
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(spec), str(ways)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == done.returncode, done.stderr[-3000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def differing(folder: Path, pairs: list[tuple[str, str]], seeds: Mapping[int, int]) -> list[str]:
    """Return which of the uses of sets give something else for another hash seed, or engine.

    By each seed there is how many engines run.
    """
    expressions = [use.replace("%s", f"({made})").replace("%%", "%") for made, use in pairs]
    for name in ("spec", "lib"):  # what lies with the spec would have its order inside
        (folder / name).mkdir()
    (folder / "lib" / "helper.py").write_text(HELPER)
    stored = ",\n".join(f"str({expression})" for expression in expressions)
    spec = folder / "spec" / "spec.py"
    spec.write_text(SPEC.replace("%s", stored))
    outcomes = [outcome for seed in seeds for outcome in found(spec, seed, seeds[seed])]
    names = ["constants", "label", "choice", *["early"] * 3, *expressions]
    told = zip(names, *outcomes, strict=True)
    return [name for name, *values in told if len(set(values)) > 1]


@pytest.mark.thorough
def test_whatever_sees_the_order_of_a_set_sees_the_canonical_one(tmp_path: Path) -> None:
    assert [] == differing(tmp_path, SOME, {0: 3, 1: 1})


@pytest.mark.slow
def test_every_use_of_every_set_gives_the_same_under_every_seed(tmp_path: Path) -> None:
    assert [] == differing(tmp_path, ALL, dict.fromkeys(range(5), 3))


NEAR = """
from statewalk import *
from util import pick

class S(State):
    out: list[str] = []
    @action
    def go(self) -> None:
        self.out = [any_of(["ab", "cd"]), pick(["ab", "cd", "ef", "gh"])]

s = S()

@always
def ok() -> bool:
    return s.out == []
"""


@pytest.mark.slow
def test_a_helper_that_lies_with_the_spec_has_the_order_inside_too(tmp_path: Path) -> None:
    seeds = 4
    for name in ("spec", "lib"):
        (tmp_path / name).mkdir()
    (tmp_path / "spec" / "more").mkdir()
    (tmp_path / "spec" / "more" / "sets.py").write_text("def of(xs):\n    return {x for x in xs}\n")
    (tmp_path / "spec" / "util.py").write_text(
        "from more.sets import of\n\ndef pick(xs):\n"
        "    return list(of(xs))[-1] + ''.join({'x', 'y', 'z'})\n"
    )
    (tmp_path / "spec" / "spec.py").write_text(NEAR)

    outcomes = [o for seed in range(seeds) for o in found(tmp_path / "spec" / "spec.py", seed)]

    assert 3 * seeds == len(outcomes)
    assert all(outcome == outcomes[0] for outcome in outcomes)
    assert "ghxyz" in str(outcomes[0])


def test_the_order_is_that_of_the_language(tmp_path: Path) -> None:
    (tmp_path / "spec.py").write_text(MIXED)

    assert "holds" == check(tmp_path / "spec.py", engine="reference").verdict


def test_a_set_without_an_order_is_an_error_at_its_place(tmp_path: Path) -> None:
    (tmp_path / "spec.py").write_text(FUNCTIONS)

    with pytest.raises(SpecError) as caught:
        load(tmp_path / "spec.py")

    assert ("SW210", 6) == (caught.value.code, caught.value.at and caught.value.at.line)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "text",
    [
        "isinstance({1}, set) and not isinstance(frozenset(), set) and isinstance(b.s, set)",
        "isinstance(frozenset({1}), frozenset) and issubclass(set, set) and type({1}) is set",
        "repr({'b', 'a'}) == \"{'a', 'b'}\" and repr(set()) == 'set()'",
        "repr(frozenset('ba')) == \"frozenset({'a', 'b'})\"",
        "{1, 2} == set([2, 1]) == frozenset([1, 2])",
        "{1} <= {1, 2} and {1} < {1, 2} and not {1} > {2} and {1}.isdisjoint({2})",
        "3 in {1, 2, 3} and 4 not in {x for x in range(3)} and len({*'aab'}) == 2",
        "[x for x in {True, 0}] == [0, True] or [x for x in {True, 0}] == [True, 0]",
        "{'k': {'b', 'a'}} == {'k': {'a', 'b'}} and {frozenset({1})} == {frozenset({1})}",
    ],
)
def test_sets_are_those_of_python_otherwise(tmp_path: Path, text: str) -> None:
    (tmp_path / "spec.py").write_text(PLAIN.replace("TEXT", text))

    assert "holds" == check(tmp_path / "spec.py", engine="reference").verdict


def test_a_set_is_changed_through_any_name_it_has(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text(HELPER)
    (tmp_path / "spec.py").write_text(CHANGED)

    assert "holds" == check(tmp_path / "spec.py", engine="reference").verdict
