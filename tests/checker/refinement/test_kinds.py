"""A spec refines a copy of itself under other names, and no copy that has another value somewhere:
for each kind of field and value, by `refines` and by `compare --map`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk.checker.api import check
from statewalk.checker.commands.compare import map_of
from statewalk.checker.compare.compare import Versus, compare
from statewalk.checker.contract.options import CheckOptions
from statewalk.dsl.errors import StatewalkError
from statewalk.dsl.loader import load
from tests.cases import some

SPEC = """
import enum
from typing import Literal
from statewalk import *

class Colour(enum.Enum):
    RED = 1
    BLUE = 2
    GREEN = 3

class Size(enum.IntEnum):
    SMALL = 1

class Word(enum.StrEnum):
    A = "a"

class Pair(Record):
    left: int = 0
    right: tuple[int, ...] = ()

class Peer(Role):
    n: int = 0

peers = [Peer() for _ in range(4)]

class {name}({base}):
    hidden{name}: int = 0
    {field}: {kind} = {first}

    @action
    def go(self) -> None:
        self.hidden{name} = (self.hidden{name} + 1) % 3
        if self.hidden{name} == 0:
            self.{field} = {first}
        elif self.hidden{name} == 1:
            self.{field} = {second}
        else:
            self.{field} = {third}

them = [{name}() for _ in range({number})]
it = them[0]
deadlock(False)
"""
BY = """
def seen() -> dict[str, object]:
    return {{{given}}}

same = refines("plain.py", by=seen)
"""
MAP = """
from other import *

def seen() -> dict[str, object]:
    return {{{given}}}
"""
# A type, three values that it goes through, and one that stands in for the third in the copy that
# differs: the likeliest to be taken for it.
KINDS = [
    ("tuple[int, ...]", "()", "(0,)", "(1, 1)", "(1,)"),
    ("int | tuple[int, ...]", "0", "2", "1", "(1,)"),
    ("int", "0", "1", "2", "3"),
    ("bool", "False", "False", "False", "True"),
    ("bool | int", "0", "False", "1", "True"),
    ("Size | int", "0", "2", "1", "Size.SMALL"),
    ("Word | str", "''", "'b'", "'a'", "Word.A"),
    ("str", "''", "'a'", "'b'", "'ab'"),
    ("Literal['a', 'b', 'c']", "'a'", "'a'", "'b'", "'c'"),
    ("Colour", "Colour.RED", "Colour.RED", "Colour.BLUE", "Colour.GREEN"),
    ("int | None", "0", "1", "None", "2"),
    ("tuple[int]", "(0,)", "(1,)", "(2,)", "(3,)"),
    ("tuple[int, str]", "(0, 'a')", "(0, 'b')", "(1, 'a')", "(1, 'b')"),
    ("tuple[tuple[int, ...], ...]", "()", "((),)", "((0,),)", "((0,), ())"),
    ("tuple[int] | tuple[tuple[int]]", "(0,)", "(1,)", "(2,)", "((2,),)"),
    ("list[int]", "[]", "[1]", "[2]", "[2, 2]"),
    ("list[list[int]]", "[]", "[[]]", "[[1]]", "[[], []]"),
    ("list[int] | int", "0", "[1]", "1", "[0]"),
    ("list[Peer]", "[]", "[peers[0]]", "[peers[1]]", "[peers[2]]"),
    ("list[object]", "[]", "[(1,)]", "[1]", "[True]"),
    ("set[int]", "set()", "{1}", "{1, 2}", "{2}"),
    ("set[int | bool]", "set()", "{0}", "{1}", "{True}"),
    ("frozenset[int]", "frozenset()", "frozenset({1})", "frozenset({1, 2})", "frozenset({2})"),
    ("Bag[int]", "Bag()", "Bag([1])", "Bag([1, 1])", "Bag([2])"),
    ("dict[int, int]", "{}", "{1: 1}", "{2: 1}", "{1: 2}"),
    ("dict[int | str, int]", "{}", "{0: 1}", "{1: 1}", "{'1': 1}"),
    ("dict[str, list[int]]", "{}", "{'a': []}", "{'a': [1]}", "{'a': [1, 1]}"),
    ("dict[Peer, set[int]]", "{}", "{peers[0]: {1}}", "{peers[1]: {1}}", "{peers[1]: set()}"),
    ("Pair", "Pair()", "Pair(1)", "Pair(0, (1,))", "Pair(0, (0,))"),
    ("list[Pair]", "[]", "[Pair()]", "[Pair(1)]", "[Pair(0, (1,))]"),
    ("Pair | None", "Pair()", "Pair(1)", "None", "Pair(2)"),
    ("Peer", "peers[0]", "peers[1]", "peers[2]", "peers[3]"),
    ("Peer | None", "peers[0]", "peers[1]", "None", "peers[2]"),
    ("Auxiliary[tuple[int, ...]]", "()", "(0,)", "(1, 1)", "(1,)"),
    ("object", "0", "(0,)", "[0]", "((0,),)"),
]  # fmt: skip
FORMS = [
    (1, "'Plain.plain': it.other"),
    (1, "'Plain#0.plain': it.other"),
    (2, "'Plain.plain': [one.other for one in them]"),
    (2, "'Plain.plain': tuple(one.other for one in them)"),
    (2, "'Plain#0.plain': them[0].other, 'Plain#1.plain': them[1].other"),
]


def written(
    folder: Path, kind: str, values: tuple[str, ...], given: str, number: int, base: str = "Role"
) -> None:
    first, second, third, _ = values
    names = {"kind": kind, "first": first, "second": second, "number": number, "base": base}
    plain = SPEC.format(name="Plain", field="plain", third=third, **names)
    for name, value in (("same", third), ("differs", values[3])):
        copy = SPEC.format(name="Other", field="other", third=value, **names)
        below = folder / name
        below.mkdir()
        (below / "plain.py").write_text(plain, encoding="utf-8")
        (below / "other.py").write_text(copy, encoding="utf-8")
        (below / "refines.py").write_text(copy + BY.format(given=given), encoding="utf-8")
        (below / "map.py").write_text(MAP.format(given=given), encoding="utf-8")


def beside(folder: Path) -> Versus:
    models = [(name, load(str(folder / f"{name}.py"))) for name in ("plain", "map")]
    seen = map_of(models[1][1], "map.py", "seen")
    [versus] = compare(models, CheckOptions(engine="reference"), seen=seen).others
    return versus


CASES = [(*kind, *FORMS[0]) for kind in KINDS] + [
    (*kind, *FORMS[1 + at % 4]) for at, kind in enumerate(KINDS)
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("kind", "first", "second", "third", "other", "number", "given"), some(CASES, every=18)
)
def test_a_spec_refines_a_copy_and_none_with_another_value(
    tmp_path: Path,
    kind: str,
    first: str,
    second: str,
    third: str,
    other: str,
    number: int,
    given: str,
) -> None:
    base = "State" if number == 1 and "#" not in given else "Role"
    written(tmp_path, kind, (first, second, third, other), given, number, base)
    same, differs = (beside(tmp_path / name) for name in ("same", "differs"))
    verdicts = [
        check(tmp_path / name / "refines.py", engine="reference", properties=("same",)).verdict
        for name in ("same", "differs")
    ]

    assert ["holds", "violated"] == verdicts
    assert (None, None) == (same.forth.refusal, same.back.refusal)
    assert differs.forth.refusal is not None
    assert differs.back.refusal is not None or third in (first, second) or other in (first, second)


LISTED = [
    ("int", ("0", "1", "2", "3"), ""),
    ("set[int]", ("set()", "{1}", "{1, 2}", "{2}"), ""),
    ("tuple[int, ...]", ("()", "(0,)", "(1, 1)", "(1,)"), ""),
    ("tuple[tuple[int, ...], ...]", ("()", "((),)", "((0,),)", "((0,), ())"), ""),
    ("Pair", ("Pair()", "Pair(1)", "Pair(0, (1,))", "Pair(0, (0,))"), ""),
    ("list[int]", ("[1]", "[2]", "[]", "[3]"), "gives Plain.plain [[1]]. It is a list of"),
    ("list[int] | int", ("[1]", "[2]", "0", "[3]"), "gives Plain.plain [[1]]. It is a list of"),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("kind", "values", "said"), LISTED)
def test_a_list_of_the_one_instance(
    tmp_path: Path, kind: str, values: tuple[str, ...], said: str
) -> None:
    """A spec whose number of instances is a constant has one map; a field of lists is refused."""
    written(tmp_path, kind, values, "'Plain.plain': [one.other for one in them]", 1)
    if not said:
        for name, verdict in (("same", "holds"), ("differs", "violated")):
            spec = tmp_path / name / "refines.py"
            assert verdict == check(spec, engine="reference", properties=("same",)).verdict
        return
    with pytest.raises(StatewalkError) as error:
        check(tmp_path / "same" / "refines.py", engine="reference")

    assert "SW363" == error.value.code
    assert said in str(error.value)
    assert "Plain#0.plain" in str(error.value)


@pytest.mark.parametrize(
    ("kind", "given"), [("int", "(it.other,)"), ("tuple[int, ...]", "[it.other]")]
)
def test_a_tuple_is_unwrapped_where_the_field_holds_none(
    tmp_path: Path, kind: str, given: str
) -> None:
    values = ("0", "1", "2", "3") if kind == "int" else ("()", "(0,)", "(1, 1)", "(1,)")
    written(tmp_path, kind, values, f"'Plain.plain': {given}", 1)

    spec = tmp_path / "same" / "refines.py"
    assert "holds" == check(spec, engine="reference", properties=("same",)).verdict
