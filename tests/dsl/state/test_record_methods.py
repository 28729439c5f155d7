"""Records, roles and frozensets in what Python offers for values: patterns, copies, hashes."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from statewalk import check
from statewalk.checker import native
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines import reference
from statewalk.dsl.errors import SpecErrors
from statewalk.dsl.loader import load
from tests.cases import slow, some

HEAD = """
import copy
import dataclasses
import pickle
from typing import NewType
from statewalk import *

Id = NewType("Id", int)

class Vote(Message):
    term: int
    last: int = 0

class Pair(Record):
    vote: Vote
    n: int = 1

class Node(Role):
    inbox: set[Vote] = {Vote(1, 2)}
    pairs: list[Pair] = [Pair(Vote(5, 6), 7)]
    lent: frozenset[int] = frozenset({1})
    maybe: frozenset[int] | None = frozenset({1})
    by: dict[frozenset[int], int] = {}
    seen: list[int] = [1, 2, 1]
    table: dict[str, int] = {"a": 1, "b": 2}
    id: Id = Id(3)
    bag: Bag[int] = Bag([1, 1])
    done: int = 0

    @action
    def go(self) -> None:
        require(self.done == 0)
        self.done = self.found()

    def found(self) -> int:
"""
TAIL = (
    "\nnode = Node()\ndeadlock(False)\n\n@always\ndef never() -> bool:\n    return node.done != 9\n"
)
NINE = {
    "a match by position": """
        match any_of(self.inbox):
            case Vote(1, last):
                return last + 7
        return 1""",
    "a match by position of records in records": """
        match self.pairs[0]:
            case Pair(Vote(5, 6) as vote, n):
                vote.term = n + 2
        return self.pairs[0].vote.term""",
    "a place to search from": "return 7 + self.seen.index(1, 1)",
    "a place to search until": """
        try:
            return self.seen.index(2, 0, 1)
        except ValueError:
            return 9""",
    "a frozenset as a key": """
        self.by[self.lent] = 9
        return self.by[frozenset({1})]""",
    "an optional frozenset as a key": """
        assert self.maybe is not None
        self.by[self.maybe] = 9
        return self.by[frozenset({1})]""",
    "a frozenset in a set of one's own": "return 9 if self.lent in {frozenset({1})} else 1",
    "a frozenset that is none that changes": """
        return 9 if isinstance(self.lent, frozenset) and not isinstance(self.lent, set) else 1""",
    "keys as a set": """return 9 if self.table.keys() & {"a"} == {"a"} else 1""",
    "what is not among the keys": """return 9 if {"a", "c"} - self.table.keys() == {"c"} else 1""",
    "items as a set": """return 9 if ("a", 1) in self.table.items() - {("b", 2)} else 1""",
    "a bag is a bag": "return 9 if isinstance(self.bag, Bag) else 1",
    "a copy that is one's own": """
        mine = copy.copy(self.pairs[0])
        mine.n = 9
        return mine.n if self.pairs[0].n == 7 else 1""",
    "a deep copy": """
        mine = copy.deepcopy(self.pairs)
        mine[0].vote.term = 9
        return mine[0].vote.term if self.pairs[0].vote.term == 5 else 1""",
    "the class of a record": "return 9 if self.pairs[0].__class__ is Pair else 1",
    "what the state holds is not pickled": """
        try:
            pickle.dumps(self.seen)
        except TypeError:
            return 9
        return 1""",
}
REFUSED = {
    "self.seen.add(1)": "self.seen is a list, which has no 'add'.",
    "self.table.has_key(1)": "self.table is a dict, which has no 'has_key'.",
    "self.lent.add(1)": "self.lent is a frozenset, which has no 'add'.",
    "self.bag.pop()": "self.bag is a Bag, which has no 'pop'.",
    "self.pairs[0].n.foo": "self.pairs[0].n is a int, which has no 'foo'.",
    "dataclasses.replace(self.pairs[0], n=1)": "self.pairs[0] is a record, no dataclass",
    "dataclasses.asdict(self.pairs[0])": "self.pairs[0] is a record, no dataclass",
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("body", some(NINE, every=4))
@pytest.mark.parametrize("engine", [slow(reference), native])
@pytest.mark.parametrize("optimize", [True, False])
def test_it_is_as_python_has_it(
    body: str, engine: ModuleType, optimize: bool, tmp_path: Path
) -> None:
    path = tmp_path / "spec.py"
    path.write_text(f"{HEAD}        {NINE[body].strip()}\n{TAIL}")

    found = engine.explore(load(path, optimize=optimize), SearchOptions())

    assert [("never", None)] == [(f.property, f.error) for f in found.findings]


@pytest.mark.parametrize("body", REFUSED)
def test_what_is_not_there_is_said_before_the_search(body: str, tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    path.write_text(f"{HEAD}        return {body}\n{TAIL}")

    with pytest.raises(SpecErrors) as caught:
        load(path)

    [error] = caught.value.errors
    assert "SW122" == error.code
    assert error.message.startswith(REFUSED[body])
    assert error.at is not None


FIELDS = {
    "x: float = 0": ("SW203", "Box.x is declared to hold a float"),
    "x: float | None = None": ("SW203", "Box.x is declared to hold a float"),
    "x: list[Point] = []": ("SW203", "Box.x is declared to hold a Point, a dataclass"),
    "x: dict[str, bytes] = {}": ("SW203", "Box.x is declared to hold a bytes"),
    "x: Callable[[], int] | None = None": ("SW203", "Box.x is declared to hold a function"),
    "x: Pair | None = None": ("SW203", "Box.x is declared to hold a Pair"),
    "x: object = None": ("SW610", "Box.x may hold anything"),
    "x: dict[str, Any] = {}": ("SW610", "Box.x may hold anything"),
    "x: Sequence[int] = []": ("SW610", "Box.x may hold anything"),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("line", FIELDS)
@pytest.mark.parametrize("base", ["State", "Record"])
def test_a_type_of_which_the_state_holds_nothing_is_said(
    line: str, base: str, tmp_path: Path
) -> None:
    path = tmp_path / "spec.py"
    path.write_text(
        "from collections.abc import Callable, Sequence\nfrom dataclasses import dataclass\n"
        "from typing import Any, NamedTuple\nfrom statewalk import *\n@dataclass\nclass Point:\n"
        f"    y: int = 0\nclass Pair(NamedTuple):\n    y: int = 0\nclass Box({base}):\n    {line}\n"
        "class C(State):\n    n: int = 0\nc = C()\ndeadlock(False)\n"
        "@always\ndef p() -> bool:\n    return c.n == 0\n"
    )
    code, message = FIELDS[line]

    try:
        said = [str(w) for w in load(path).warnings]
    except SpecErrors as errors:
        said = [str(error) for error in errors.errors]

    assert f"{path}:11:5: {code} {message}" in said[0]


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        ("def go() -> None:\n        box.n = 1", "SW124", "The method 'go' takes no parameter"),
        (
            "def go(self) -> None:\n        self.n = self.__h()\n"
            "    def __h(self) -> int:\n        return 1",
            "SW127",
            "'__h' has two underscores in front",
        ),
        (
            "def go(self) -> None:\n        self.n = 1\n"
            "    def __few(self) -> bool:\n        return self.n < 1",
            "SW127",
            "'__few' has two underscores in front",
        ),
        (
            "def go(self) -> None:\n        self.n = any_of(3)",
            "SW125",
            "any_of chooses among several",
        ),
        (
            "def go(self) -> None:\n        self.n = any_of(self.n)",
            "SW125",
            "any_of chooses among several; self.n is an integer.",
        ),
    ],
)
def test_a_beginners_slip_has_its_place(body: str, code: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    path.write_text(
        "from statewalk import *\nclass Box(State):\n    n: int = 0\n    @action\n"
        f"    {body}\nbox = Box()\n"
    )

    with pytest.raises(SpecErrors) as caught:
        load(path)

    [error] = caught.value.errors
    assert code == error.code
    assert error.message.startswith(message)
    assert error.at is not None


def test_a_property_that_gives_nothing_back_is_told_to_return(tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    path.write_text(
        "from statewalk import *\nclass Box(State):\n    n: int = 0\nbox = Box()\n"
        "@always\ndef p() -> bool:\n    box.n == 1\n"
    )

    with pytest.raises(SpecErrors) as caught:
        load(path)

    assert "A property gives it back: return box.n == 1" == caught.value.errors[0].help


def test_a_function_of_the_spec_is_not_what_its_name_means_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    path.write_text(
        "from statewalk import State, action\nclass Box(State):\n    n: int = 0\n    @action\n"
        "    def go(self) -> None:\n        self.n = any_of(1) + any_of(sorted([self.n]))\n"
        "def any_of(n):\n    return 1\nsorted = any_of\nbox = Box()\n"
    )

    assert 2 == check(path, engine="reference").counts.distinct


COPIED = (
    "copy.copy(self)",
    "copy.deepcopy(self)",
    "copy.deepcopy(self.peers)",
    "copy.deepcopy(self.parts)",
    "copy.deepcopy(self.known)",
    "copy.deepcopy(self.lent)",
    "copy.deepcopy([{1: (self,)}])",
    "copy.deepcopy(nodes)",
    "pickle.dumps(self)",
    "vars(self)",
    "self.__dict__.items()",
    "list(map(vars, nodes))",
)
REFERRING = """
import copy
import pickle
from statewalk import *

class Part(Record):
    of: "Node"
    n: int = 0

class Node(Role):
    peers: list["Node"] = []
    parts: set[Part] = set()
    known: dict[int, tuple["Node", int]] = {}
    lent: frozenset["Node"] = frozenset()
    n: int = 0
    pairs: list[Part] = []

    @action
    def go(self) -> None:
        require(self.n == 0)
        self.n = 1
        self.found()

    def found(self) -> None:
        BODY

nodes = [Node() for _ in range(2)]
deadlock(False)

@init
def start() -> None:
    for node in nodes:
        node.peers, node.parts, node.lent = list(nodes), {Part(node)}, frozenset(nodes)
        node.known, node.pairs = {1: (node, 1)}, [Part(node)]
"""


@pytest.mark.parametrize("copied", some(COPIED, every=6))
def test_a_role_is_not_copied(copied: str, tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    path.write_text(REFERRING.replace("BODY", copied))

    found = check(str(path), engine="reference")

    assert found.verdict == "error"
    assert "SW213" in str(found)


def test_what_refers_to_a_role_is_copied_around_it(tmp_path: Path) -> None:
    body = """
        peers, known, part = copy.copy(self.peers), dict(self.known), copy.copy(self.pairs[0])
        peers[0].n = 2
        peers.clear()
        known.clear()
        part.n = 3
        assert nodes[0].n == 2 and len(self.peers) == 2 and self.known and self.pairs[0].n == 0
        assert vars(self.pairs[0]) == {"of": self, "n": 0}
"""
    path = tmp_path / "spec.py"
    path.write_text(REFERRING.replace("BODY", body.strip()))

    assert check(str(path), engine="reference").holds


def test_a_record_is_not_changed_behind_its_back(tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    path.write_text(REFERRING.replace("BODY", 'vars(self.pairs[0])["n"] = 1'))

    found = check(str(path), engine="reference")

    assert "does not support item assignment" in str(found)
