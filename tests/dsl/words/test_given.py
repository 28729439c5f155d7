"""Constants from configurations, from Python and from traces are of the classes of each run."""

from __future__ import annotations

import importlib.util
import sys
from enum import Enum
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import pytest

from statewalk import check, load, replay
from statewalk.dsl.errors import SpecError
from tests.cases import some

HEAD = """
from collections import namedtuple
from dataclasses import dataclass
from enum import Enum, Flag, IntEnum, StrEnum
from typing import Any, Callable
from statewalk import *
class Mode(Enum):
    SAFE = 1
    BROKEN = 2
class Text(StrEnum):
    a = "a"
    b = "b"
class Number(IntEnum):
    ONE = 1
    TWO = 2
class Bits(Flag):
    A = 1
    B = 2
class Item(Record):
    mode: Mode = Mode.SAFE
    inner: Any = ()
Pair = namedtuple("Pair", "x y")
@dataclass(frozen=True)
class Plain:
    mode: Mode
class Outer:
    class Inner(Enum):
        X = 1
def made() -> Any:
    class Hidden(Enum):
        H = 1
    return Hidden
Hidden = made()
Called = Enum("Other", "P Q")
class Peer(Role):
    n: int = 0
peers = [Peer() for _ in range(2)]
def slow() -> int:
    return 1
def fast() -> int:
    return SIZE
SIZE: Constant[int] = 1
"""
BODY = """
VALUE: Constant[HINT] = DEFAULT
class Counter(State):
    n: int = 0
    @action
    def up(self) -> None:
        self.n = (self.n + 1) % (9 if TEST else 3)
counter = Counter()
@always
def small() -> bool:
    return counter.n < 5
config("broken", VALUE=GIVEN, SIZE=7, expect=violates(small, length=5))
"""


def written(folder: Path, **holes: str) -> Path:
    text = HEAD + BODY
    for name, value in holes.items():
        text = text.replace(name, value)
    path = folder / "outside.py"
    path.write_text(text)
    return path


CASES = {
    "a member": ("Mode", "Mode.SAFE", "Mode.BROKEN", "VALUE == Mode.BROKEN"),
    "itself": ("Text", "Text.a", "Text.b", "VALUE is Text.b"),
    "a number": ("Number", "Number.ONE", "Number.TWO", "VALUE is Number.TWO"),
    "some together": ("Any", "None", "Bits.A | Bits.B", "VALUE == Bits.A | Bits.B"),
    "or none": ("Mode | None", "None", "Mode.BROKEN", "VALUE is Mode.BROKEN"),
    "a key": ("Mode", "Mode.SAFE", "Mode.BROKEN", "{Mode.BROKEN: True}.get(VALUE, False)"),
    "of any type": ("Any", "None", "Mode.BROKEN", "VALUE is Mode.BROKEN"),
    "in a class": ("Any", "None", "Outer.Inner.X", "VALUE is Outer.Inner.X"),
    "of a function": ("Any", "None", "Hidden.H", "VALUE is Hidden.H"),
    "of another name": ("Any", "None", "Called.Q", "VALUE is Called.Q"),
    "a class": ("Any", "None", "Mode", "VALUE is Mode"),
    "in a tuple": ('"tuple[Mode, ...]"', "()", "(Mode.BROKEN,)", "Mode.BROKEN in VALUE"),
    "in a list": ("list[Mode]", "[]", "[Mode.BROKEN]", "Mode.BROKEN in VALUE"),
    "in a set": ("set[Mode]", "set()", "{Mode.BROKEN}", "Mode.BROKEN in VALUE"),
    "in a frozenset": (
        "frozenset[Mode]", "frozenset()", "frozenset([Mode.BROKEN])", "VALUE == {Mode.BROKEN}",
    ),
    "in a bag": ("Bag[Mode]", "Bag()", "Bag([Mode.BROKEN])", "Mode.BROKEN in VALUE"),
    "as a key": ("dict[Mode, int]", "{}", "{Mode.BROKEN: 1}", "VALUE.get(Mode.BROKEN) == 1"),
    "in a dict": ("dict[int, Mode]", "{}", "{1: Mode.BROKEN}", "VALUE.get(1) is Mode.BROKEN"),
    "a record": ("Item", "Item()", "Item(Mode.BROKEN)", "VALUE == Item(Mode.BROKEN)"),
    "in a record": ("Item", "Item()", "Item(Mode.BROKEN)", "VALUE.mode is Mode.BROKEN"),
    "deep": (
        "Item", "Item()", "Item(inner=([Item(Mode.BROKEN)],))",
        "VALUE.inner and VALUE.inner[0][0].mode is Mode.BROKEN",
    ),
    "a named tuple": ("Any", "Pair(1, 2)", "Pair(1, Mode.BROKEN)", "VALUE.y is Mode.BROKEN"),
    "a dataclass": ("Any", "Plain(Mode.SAFE)", "Plain(Mode.BROKEN)",
                    "VALUE == Plain(Mode.BROKEN)"),
    "a role": ("Peer", "peers[0]", "peers[1]", "VALUE is peers[1]"),
    "a function": ("Callable", "slow", "fast", "VALUE is fast"),
    "what a function knows": ("Callable", "slow", "fast", "VALUE() == 7"),
    "without a name": ("Callable", "slow", "lambda: SIZE", "VALUE() == 7"),
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("hint", "default", "given", "test"), some(CASES.values(), every=6), ids=CASES.keys()
)
def test_a_configuration_gives_values_of_the_run_that_it_is_for(
    tmp_path: Path, hint: str, default: str, given: str, test: str
) -> None:
    path = written(tmp_path, HINT=hint, DEFAULT=default, GIVEN=given, TEST=test)

    assert check(path, engine="reference").verdict == "holds"
    run = check(path, config="broken", engine="reference")
    assert run.as_expected, run.warnings


def member(folder: Path) -> Path:
    hint, default, given, test = CASES["a member"]
    return written(folder, HINT=hint, DEFAULT=default, GIVEN=given, TEST=test)


def imported(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("known", [True, False])
def test_python_gives_members_of_the_spec_as_it_imports_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, known: bool
) -> None:
    path = member(tmp_path)
    module = imported(path)
    if known:
        monkeypatch.setitem(sys.modules, module.__name__, module)

    for given in (module.Mode.BROKEN, "BROKEN", "Mode.BROKEN"):
        run = check(path, {"VALUE": given}, engine="reference")
        assert run.verdict == "violated"


class Foreign(Enum):
    BROKEN = 2


class Mode(Enum):
    BROKEN = 2
    GREEN = 3


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (Foreign.BROKEN, "the spec has no class or function named Foreign"),
        (Mode.GREEN, "Mode has no member GREEN"),
        ("GREEN", "one of SAFE, BROKEN"),
        (2, "one of SAFE, BROKEN"),
    ],
)
def test_what_is_of_no_class_of_the_spec_is_refused(
    tmp_path: Path, given: object, said: str
) -> None:
    with pytest.raises(SpecError, match=said) as caught:
        load(member(tmp_path), {"VALUE": given})

    assert caught.value.code == "SW301"


def test_what_is_declared_below_its_constant_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    path.write_text(
        "from enum import Enum\nfrom statewalk import *\nVALUE: Constant[object] = None\n"
        "class Late(Enum):\n    A = 1\nclass C(State):\n    n: int = 0\n    @action\n"
        "    def up(self) -> None:\n        self.n = 1 if VALUE is Late.A else 0\nc = C()\n"
        "config('late', VALUE=(Late.A,))\n"
    )

    with pytest.raises(SpecError, match="the spec has no class or function named Late") as caught:
        load(path, config="late")

    assert caught.value.code == "SW301"


def test_an_imported_module_gets_values_of_its_run(tmp_path: Path) -> None:
    (tmp_path / "base.py").write_text(HEAD + "VALUE: Constant[Mode] = Mode.SAFE\n")
    body = BODY.split("\n", 2)[2].replace("GIVEN", "Mode.BROKEN").replace("9 if TEST else 3", "K")
    body = body.replace("        self.n =", "        K = fits()\n        self.n =")
    (tmp_path / "base.py").write_text(
        (tmp_path / "base.py").read_text() + "def fits() -> int:\n    match VALUE:\n"
        "        case Mode.BROKEN: return 9\n        case _: return 3\n"
    )
    (tmp_path / "top.py").write_text(
        "from statewalk import *\nfrom base import Mode, fits\n" + body
    )

    assert check(tmp_path / "top.py", config="broken", engine="reference").as_expected


@pytest.mark.sampled(2)
@pytest.mark.parametrize("case", ["a member", "in a tuple", "as a key", "in a record"])
def test_a_trace_is_repeated_with_the_constants_it_was_made_with(tmp_path: Path, case: str) -> None:
    hint, default, given, test = CASES[case]
    path = written(tmp_path, HINT=hint, DEFAULT=default, GIVEN=given, TEST=test)
    check(path, config="broken", engine="reference", out=tmp_path / "run")

    assert replay(tmp_path / "run" / "small.trace.json").reproduced


ASSUMING = """
from statewalk import *
SIZE: Constant[int] = 0
FIRST
class C(State):
    n: int = 0
    @action
    def up(self) -> None:
        self.n = (self.n + 1) % SIZE
c = C()
SECOND
config("three", SIZE=3, expect=holds(distinct=3))
"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("assert SIZE > 0", ""),
        ("", "assert SIZE > 0"),
        ("assert SIZE > 0", "assert SIZE < 9"),
        ("def fine() -> None:\n    assert SIZE > 0\nfine()", ""),
        ("config('x', SIZE=3)", "assert SIZE > 0"),
    ],
)
def test_a_configuration_need_not_be_one_that_the_defaults_allow(
    tmp_path: Path, first: str, second: str
) -> None:
    path = tmp_path / "spec.py"
    path.write_text(ASSUMING.replace("FIRST", first).replace("SECOND", second))

    assert check(path, config="three", engine="reference").as_expected
    for constants, config in (({}, None), ({"SIZE": 0}, "three")):
        with pytest.raises(SpecError) as caught:
            load(path, constants, config=config)
        assert caught.value.code == "SW304"


def test_a_configuration_above_what_the_defaults_break_is_found(tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    text = ASSUMING.replace("FIRST", "config('two', SIZE=2)").replace("SECOND", "x = 1 // SIZE")
    path.write_text(text)

    assert check(path, config="two", engine="reference").counts.distinct == 2
    for name in ("three", "four"):
        with pytest.raises(SpecError) as caught:
            load(path, config=name)
        assert caught.value.code == "SW303"


@pytest.mark.parametrize("given", ["len", "Fraction(1, 2)", "range(3)", "list[int]", "1.5"])
def test_what_is_pythons_own_is_taken_as_it_is(tmp_path: Path, given: str) -> None:
    path = tmp_path / "spec.py"
    text = ASSUMING.replace("FIRST", "from fractions import Fraction\nX: Constant[object] = None")
    path.write_text(text.replace("SECOND", f"config('own', SIZE=1, X={given})"))

    assert repr(load(path, config="own").constants["X"]) in (given, repr(eval(given, BY_NAME)))


BY_NAME = {"Fraction": Fraction}
