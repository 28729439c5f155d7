"""Specs that use what only some Pythons have."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines.reference import explore
from statewalk.dsl.errors import SpecError, SpecErrors
from statewalk.dsl.loader import load

lazy = pytest.mark.skipif(sys.version_info < (3, 14), reason="lazy from Python 3.14 on")
eager = pytest.mark.skipif(sys.version_info >= (3, 14), reason="evaluated up to Python 3.13")
new = pytest.mark.skipif(sys.version_info < (3, 15), reason="new in Python 3.15")

SPEC = """\
from typing import Literal
from statewalk import *

class Node(Role):
    peer: {hint} = {value}
    n: int = 0

    @action
    def step(self) -> None:
        require(self.n < 2)
        self.n += 1

class Later(Record):
    a: int = 0

node = Node()
deadlock(False)
"""


def spec(folder: Path, text: str) -> Path:
    path = folder / "spec.py"
    path.write_text(text, encoding="utf-8")
    return path


FORWARD = [("Node | None", "None"), ("list[Later]", "[]"), ("dict[int, set[Later]]", "{}")]


@lazy
@pytest.mark.parametrize(("hint", "value"), FORWARD)
def test_forward_references_need_no_quotes(hint: str, value: str, tmp_path: Path) -> None:
    plain = load(spec(tmp_path, SPEC.format(hint=hint, value=value)))
    quoted = load(spec(tmp_path, SPEC.format(hint=f"'{hint}'", value=value)))

    assert quoted.roles["Node"][0]._fields == plain.roles["Node"][0]._fields == ("peer", "n")
    assert quoted.fields == plain.fields
    assert 3 == explore(plain, SearchOptions()).counts.distinct


@eager
@pytest.mark.parametrize(("hint", "value"), FORWARD)
def test_a_forward_reference_says_to_write_quotes(hint: str, value: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="SW303 NameError") as caught:
        load(spec(tmp_path, SPEC.format(hint=hint, value=value)))

    assert f'Write the whole type in quotes: "{hint}".' == caught.value.help
    assert caught.value.at is not None and caught.value.at.line == 5


@eager
def test_a_forward_reference_in_a_head_says_to_write_quotes(tmp_path: Path) -> None:
    text = SPEC.format(hint="int", value="0").replace("step(self)", "step(self, to: Later)")
    with pytest.raises(SpecError, match="SW303 NameError") as caught:
        load(spec(tmp_path, text))

    assert 'Write the whole type in quotes: "Later".' == caught.value.help


@pytest.mark.parametrize(
    ("hint", "whole"),
    [
        ('"Node" | None', "Node | None"),
        ("dict[Literal['a'], 'Node' | None]", "dict[Literal['a'], Node | None]"),
    ],
)
def test_quotes_go_around_the_whole_type(hint: str, whole: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        load(spec(tmp_path, SPEC.format(hint=hint, value="None")))

    assert f'Write the whole type in quotes: "{whole}".' == caught.value.help


def test_a_type_with_a_quoted_part_says_how_to_quote_it(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="unsupported operand") as caught:
        load(spec(tmp_path, SPEC.format(hint="int | 'Later'", value="0")))

    assert "whole type in quotes" in caught.value.help


@pytest.mark.parametrize("hint", ["Nodes", "list[Latter]"])
def test_a_misspelt_type_is_not_told_to_be_quoted(hint: str, tmp_path: Path) -> None:
    with pytest.raises((SpecError, SpecErrors), match=hint.strip("list[]")) as caught:
        load(spec(tmp_path, SPEC.format(hint=hint, value="None")))

    assert "quotes" not in caught.value.help


def test_roles_that_come_and_go_keep_their_fields(tmp_path: Path) -> None:
    text = SPEC.format(hint="'Node | None'", value="None").replace("(Role)", "(Role, at_most=2)")

    assert ("peer", "n", "there") == load(spec(tmp_path, text)).roles["Node"][0]._fields


def test_exceptions_without_parentheses_are_read_or_refused_with_a_place(tmp_path: Path) -> None:
    step = "self.n += 1\n        try:\n            pass\n        except KeyError, ValueError:\n"
    text = SPEC.format(hint="int", value="0").replace("self.n += 1", f"{step}            pass")

    if sys.version_info >= (3, 14):
        assert 3 == explore(load(spec(tmp_path, text)), SearchOptions()).counts.distinct
    else:
        with pytest.raises(SpecError, match=r"spec.py:14:.*SW100.*parenthesized"):
            load(spec(tmp_path, text))


@pytest.mark.parametrize(
    "expression",
    [
        'len(t"{self.n}".strings)',
        "len([*x for x in [[1]]])",
        "len({*x for x in [[1]]})",
        "sum((*x for x in [[1]]))",
        "len({**x for x in [{}]})",
    ],
)
def test_syntax_that_is_not_read_is_refused(expression: str, tmp_path: Path) -> None:
    text = SPEC.format(hint="int", value="0").replace("self.n += 1", f"self.n += {expression}")
    with pytest.raises(SpecError, match=r"spec.py:11:.*SW100") as caught:
        load(spec(tmp_path, text))

    try:
        ast.parse(expression)
    except SyntaxError:
        return
    assert caught.value.help.startswith(("Write an f-string", "Write a loop more"))


@new
@pytest.mark.parametrize("line", ["lazy import other", "lazy from other import SIZE"])
def test_a_lazy_import_is_part_of_the_spec(line: str, tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("from statewalk import *\nSIZE: Constant[int] = 2\n")
    size = "other.SIZE" if "from" not in line else "SIZE"
    text = SPEC.format(hint="int", value="0").replace("self.n < 2", f"self.n < {size}")
    model = load(spec(tmp_path, f"{line}\n{text}"), {"SIZE": 5})

    assert 6 == explore(model, SearchOptions()).counts.distinct


@new
@pytest.mark.parametrize("value", ["frozendict()", "sentinel('EMPTY')"])
def test_new_kinds_of_values_are_refused(value: str, tmp_path: Path) -> None:
    text = SPEC.format(hint="Node | None", value="None")
    text = text.replace("self.n += 1", f"self.peer = {value}")
    (found,) = explore(load(spec(tmp_path, text)), SearchOptions()).findings

    assert isinstance(found.error, SpecError) and found.error.code == "SW203"
