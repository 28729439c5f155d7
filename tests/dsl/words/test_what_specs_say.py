"""The language of specs: constants, initial states, imports, domains, role references, choices."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from statewalk.checker.contract.search import Exploration, SearchOptions
from statewalk.checker.engines.reference import explore
from statewalk.dsl.errors import SpecError, SpecErrors, StatewalkError
from statewalk.dsl.loader import load
from statewalk.dsl.model import Model
from statewalk.dsl.values.stored import freeze
from statewalk.dsl.words.constants import GivenText

Write = Callable[..., Path]


@pytest.fixture
def spec(tmp_path: Path) -> Write:
    def write(text: str, name: str = "spec.py") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def search(path: Path, **options: Any) -> Exploration:
    return explore(load(path, **options), SearchOptions())


def counts(path: Path, **options: Any) -> tuple[int, int, int]:
    found = search(path, **options).counts
    return found.distinct, found.generated, found.depth


def codes(path: Path, **options: Any) -> list[str]:
    """The codes of the mistakes in a spec, or of what its search runs into."""
    try:
        found = explore(load(path, **options), SearchOptions(max_depth=3))
    except SpecErrors as errors:
        return [e.code for e in errors.errors]
    except StatewalkError as error:
        return [error.code]
    return [f.error.code for f in found.findings if isinstance(f.error, StatewalkError)]


COUNTER = """
from typing import Literal
from enum import Enum
from statewalk import Constant, State, action, config, holds

class Size(Enum):
    SMALL = 1
    LARGE = 2

LIMIT: Constant[int] = 2
NAME: Constant[str] = "x"
FLAG: Constant[bool] = False
SIZE: Constant[Size] = Size.SMALL
MODE: Constant[Literal["up", "down"]] = "up"
KEYS: Constant[tuple[str, ...]] = ("a", "b")
TWICE = 2 * LIMIT  # follows the constant

class Counter(State):
    n: int = 0

    @action
    def up(self) -> None:
        self.n = min(self.n + 1, TWICE)

counter = Counter()
config("five", LIMIT=5, expect=holds(distinct=11))
"""


def test_derived_values_follow_a_constant(spec: Write) -> None:
    path = spec(COUNTER)

    assert 5 == counts(path)[0]
    assert 7 == counts(path, constants={"LIMIT": 3})[0]
    assert 11 == counts(path, config="five")[0]
    assert 3 == counts(path, config="five", constants={"LIMIT": 1})[0]


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("LIMIT", "4", 4),
        ("NAME", "4", "4"),
        ("NAME", "None", "None"),
        ("FLAG", "true", True),
        ("FLAG", "False", False),
        ("MODE", "down", "down"),
        ("KEYS", "('c',)", ("c",)),
        ("KEYS", "['c', 'd']", ("c", "d")),
    ],
)
def test_constants_are_read_by_their_type(spec: Write, name: str, text: str, value: object) -> None:
    model = load(spec(COUNTER), {name: GivenText(text)})

    assert value == model.constants[name]
    assert type(value) is type(model.constants[name])


def test_an_enum_constant_is_given_by_name(spec: Write) -> None:
    assert "LARGE" == load(spec(COUNTER), {"SIZE": GivenText("LARGE")}).constants["SIZE"].name
    assert "LARGE" == load(spec(COUNTER), {"SIZE": GivenText("Size.LARGE")}).constants["SIZE"].name


@pytest.mark.parametrize(
    ("name", "text"),
    [("LIMIT", "many"), ("LIMIT", "True"), ("FLAG", "1"), ("MODE", "dwon"), ("SIZE", "MEDIUM")],
)
def test_a_constant_of_the_wrong_type_is_refused(spec: Write, name: str, text: str) -> None:
    with pytest.raises(SpecError, match=f"{name} cannot be {text}") as caught:
        load(spec(COUNTER), {name: GivenText(text)})

    assert "SW301" == caught.value.code
    assert caught.value.at is not None


def test_an_unknown_constant_is_refused_with_the_closest_name(spec: Write) -> None:
    with pytest.raises(SpecError, match=r"no constant LIMITS to set\. Did you mean LIMIT\?"):
        load(spec(COUNTER), {"LIMITS": 3})


def test_loading_leaves_nothing_behind(spec: Write) -> None:
    before = set(sys.modules)
    path = spec(COUNTER)
    first, second = load(path, {"LIMIT": 1}), load(path, {"LIMIT": 3})

    assert before == set(sys.modules)
    assert (3, 7) == tuple(explore(m, SearchOptions()).counts.distinct for m in (first, second))


INITS = """
from statewalk import State, action, any_of, init, maybe, require

class Box(State):
    a: int = 0
    b: int = 0

    @action
    def stay(self) -> None:
        require(self.a == self.b)

box = Box()

@init
def first() -> None:
    box.a = any_of(range(3))

@init
def then() -> None:
    box.b = any_of([n for n in range(3) if n >= box.a])
    require(not (box.a == 0 and box.b == 2))
"""


def test_initial_states_are_all_ways_through_the_inits(spec: Write) -> None:
    model = load(spec(INITS))

    found = [tuple(s[("Box", 0, f)] for f in ("a", "b")) for s in model.initial_states]

    assert [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2)] == found


def test_equal_initial_states_are_generated_and_kept_once(spec: Write) -> None:
    text = INITS.replace("range(3) if", "[2, 2] if").replace("any_of(range(3))", "2")

    found = search(spec(text)).counts

    assert (1, 1, 3) == (found.initial, found.distinct, found.generated)


SCRIPTS = """
from records import Job

FIRST = (Job(1), Job(2))
"""
RECORDS = """
from statewalk import Record

class Job(Record):
    number: int
"""
USES_BOTH = """
from statewalk import State, action, require
from records import Job
from scripts import FIRST

class Desk(State):
    jobs: tuple[Job, ...] = ()

    @action
    def take(self) -> None:
        require(len(self.jobs) < len(FIRST))
        self.jobs = (*self.jobs, FIRST[len(self.jobs)])

desk = Desk()
"""


def test_what_imports_a_spec_module_is_one_too(spec: Write, tmp_path: Path) -> None:
    (tmp_path / "scripts.py").write_text(SCRIPTS)
    (tmp_path / "records.py").write_text(RECORDS)

    assert search(spec(USES_BOTH)).counts.distinct == 3


UTIL = """
def pick(items):
    "Not a spec module: called as it is."
    items = sorted(items)
    return items[0] if items else None
"""
NODES = """
from statewalk import Constant, Role, action, require

SIZE: Constant[int] = 2

class Node(Role):
    seen: set[int] = set()

    @action
    def see(self) -> None:
        require(len(self.seen) < SIZE)
        self.seen.add(len(self.seen))

def everything(nodes: list[Node]) -> bool:
    return all(len(n.seen) == SIZE for n in nodes)
"""
MAIN = """
from statewalk import Constant, exists, terminal
from nodes import Node, everything
import nodes as library
import util

COUNT: Constant[int] = 2
group = [Node() for _ in range(COUNT)]

@exists
def all_seen() -> bool:
    return everything(group)

@terminal
def done() -> bool:
    return all(util.pick(n.seen) == 0 for n in group) and library.everything(group)
"""


def test_a_spec_imports_its_siblings_with_their_constants(spec: Write) -> None:
    spec(UTIL, "util.py")
    spec(NODES, "nodes.py")
    path = spec(MAIN, "main.py")

    assert 9 == counts(path)[0]
    assert 27 == counts(path, constants={"COUNT": 3})[0]
    assert 16 == counts(path, constants={"SIZE": 3})[0]
    assert 16 == counts(path, constants={"nodes.SIZE": 3})[0]
    assert {"main.py", "nodes.py"} == {Path(s).name for s in load(path).sources}


def test_two_specs_do_not_share_an_imported_one(spec: Write) -> None:
    spec(UTIL, "util.py")
    spec(NODES, "nodes.py")
    path = spec(MAIN, "main.py")
    one, other = load(path), load(path, {"SIZE": 1})

    assert one.classes["Node"] is not other.classes["Node"]
    assert (9, 4) == tuple(explore(m, SearchOptions()).counts.distinct for m in (one, other))


DOMAINS = """
from enum import Enum
from typing import Annotated, Literal
from statewalk import Bag, Message, Record, Role, State, action, any_of

class Colour(Enum):
    RED = 1
    BLUE = 2

class Note(Record):
    n: int = 0
    who: "Other | None" = None

class Other(Role):
    pass

class Box(State):
    literal: Literal["a", "b"] = "a"
    number: int = 0
    flag: bool = False
    small: Annotated[int, range(3)] = 0
    maybe: int | None = None
    colour: Colour = Colour.RED
    other: Other | None = None
    numbers: list[int] = []
    words: set[str] = set()
    by: dict[int, Note] = {}
    bag: Bag[int] = Bag()
    pair: tuple[int, str] = (0, "")
    run: tuple[int, ...] = ()
    note: Note = Note()

    @action
    def go(self) -> None:
        STATEMENT

other = Other()
box = Box()
value: object = 3
"""


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("statement", "fits"),
    [
        ("self.literal = 'b'", True),
        ("self.literal = any_of(['c'])", False),
        ("self.number = any_of([True])", False),
        ("self.flag = any_of([1])", False),
        ("self.small = any_of([2])", True),
        ("self.small = any_of([3])", False),
        ("self.maybe = None", True),
        ("self.maybe = any_of(['x'])", False),
        ("self.colour = Colour.BLUE", True),
        ("self.other = other", True),
        ("self.other = any_of([self])", False),
        ("self.numbers.append(1)", True),
        ("self.numbers.append(any_of(['x']))", False),
        ("self.numbers = [True]", False),
        ("self.words.add(any_of([1]))", False),
        ("self.by[1] = Note(2, other)", True),
        ("self.by[any_of(['x'])] = Note()", False),
        ("self.by[1] = any_of([2])", False),
        ("self.bag.add(any_of(['x']))", False),
        ("self.pair = (1, 'x')", True),
        ("self.pair = any_of([(1, 2)])", False),
        ("self.pair = any_of([(1, 'x', 2)])", False),
        ("self.run = (1, 2, 3)", True),
        ("self.run = any_of([(1, None)])", False),
        ("self.note.n = any_of(['x'])", False),
        ("self.note.who = other", True),
        ("self.note = Note(n=any_of(['x']))", False),
    ],
)
def test_a_field_holds_what_its_type_says(spec: Write, statement: str, fits: bool) -> None:
    path = spec(DOMAINS.replace("STATEMENT", statement))

    found = {tuple(codes(path, optimize=optimize)) for optimize in (True, False)}

    assert {()} == found if fits else {("SW201",)} == found


TRUTH = """
from statewalk import State, action, any_of

class Box(State):
    seen: set[object] = set()
    by: dict[object, str] = {}
    last: object = None

    @action
    def add(self) -> None:
        value = any_of([1, True, "1"])
        self.seen.add(value)
        self.by[value] = "there"
        self.last = value

box = Box()
"""


def test_true_is_not_one(spec: Write) -> None:
    # three values, each with the set of those seen so far: 1 + 3 * 2^2
    assert 13 == counts(spec(TRUTH))[0]


ROLES = """
from statewalk import Message, Record, Role, action, any_of, require

class Ping(Message):
    source: "Node"

class Node(Role):
    peer: "Node | None" = None
    inbox: set[Ping] = set()
    best: tuple["Node", int] | None = None

    @action
    def meet(self, other: "Node") -> None:
        require(self != other and self.peer is None)
        self.peer = other
        other.inbox.add(Ping(self))

    @action
    def hear(self) -> None:
        m = any_of(self.inbox)
        self.inbox.remove(m)
        m.source.best = (self, self.index)

nodes = [Node() for _ in range(2)]
"""


def test_roles_are_values_that_refer(spec: Write) -> None:
    model = load(spec(ROLES))
    labels = [a.label for a in model.actions]

    assert "Node#0.meet(other=Node#1)" in labels
    assert 4 == sum("meet" in label for label in labels)
    assert (16 // 2 + 1) == explore(model, SearchOptions()).counts.distinct


def test_all_mistakes_of_a_file_are_reported_in_one_pass(spec: Write) -> None:
    path = spec(
        "from statewalk import Constant, Role, action, always\n"
        "N: Constant[int] = 1\n"
        "class Client(Role):\n"
        "    state: str = 'a'\n"
        "    @action\n"
        "    def one(self) -> None:\n"
        "        self.stat = 'b'\n"
        "    @action\n"
        "    def two(self) -> None:\n"
        "        self.state == 'b'\n"
        "        N = 2\n"
        "client = Client()\n"
        "@always\n"
        "def p() -> bool:\n"
        "    client.state = 'c'\n"
        "    return True\n"
    )

    with pytest.raises(SpecErrors) as caught:
        load(path)

    places = [(e.code, e.at.line, e.at.column) for e in caught.value.errors if e.at]
    assert [("SW101", 7, 14), ("SW107", 10, 9), ("SW102", 11, 9), ("SW103", 15, 5)] == places


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "SW115"),
        ("from statewalk import Role\n", "SW115"),
        ("def f(:\n", "SW100"),
        ("x = '\x00'\n", "SW100"),
        ("raise ValueError('no')\n", "SW303"),
        ("import nothing_of_that_name\n", "SW303"),
    ],
)
def test_files_that_are_no_specs(spec: Write, text: str, code: str) -> None:
    assert [code] == codes(spec(text))


def test_a_binary_file_and_a_folder(tmp_path: Path) -> None:
    (tmp_path / "spec.py").write_bytes(b"\xff\xfe\x00\x01")

    assert ["SW100"] == codes(tmp_path / "spec.py")
    assert ["SW302"] == codes(tmp_path)
    assert ["SW302"] == codes(tmp_path / "nothing.py")


def test_what_an_unknown_receiver_writes_is_checked_when_it_runs(spec: Write) -> None:
    path = spec(
        "from statewalk import Role, action, deadlock\n"
        "class Client(Role):\n"
        "    state: str = 'a'\n"
        "    @action\n"
        "    def one(self) -> None:\n"
        "        for thing in things():\n"
        "            thing.stat = 'b'\n"
        "def things():\n"
        "    return [client]\n"
        "client = Client()\n"
    )

    assert ["SW101"] == codes(path)


def test_a_set_takes_nothing_that_can_change(spec: Write) -> None:
    text = TRUTH.replace('[1, True, "1"]', "[(1,)]")

    assert [] == codes(spec(text))
    assert ["SW203"] == codes(spec(text.replace("self.seen.add(value)", "self.seen.add([1])")))
    assert ["SW203"] == codes(spec(text.replace("self.by[value]", "self.by[{1}]")))


def test_constants_of_the_state_are_values(spec: Write) -> None:
    model: Model = load(spec(DOMAINS.replace("STATEMENT", "self.number = 1")))

    assert freeze({}) == freeze(dict(model.fixed).get(("Box", 0, "by"), {}))


def test_a_constant_without_a_value_is_said(spec: Write) -> None:
    with pytest.raises(SpecError) as caught:
        load(spec("from statewalk import Constant\nN: Constant[int]\n"))

    assert caught.value.code == "SW301"
    assert caught.value.at is not None
    assert (caught.value.message, caught.value.at.line) == ("The constant N has no value.", 2)
    assert "N: Constant[int] = ...; --set N=VALUE" in caught.value.help


def test_fields_of_a_role_are_given_by_name(spec: Write) -> None:
    text = "from statewalk import Role\nclass C(Role):\n    n: int = 0\nc = C(5)\n"

    with pytest.raises(SpecError) as caught:
        load(spec(text))

    assert "C takes its fields by name: C(n=...)" in str(caught.value)
