"""Text that is nested deeper than it can be gone through, and text that only Python's compiler
refuses: a mistake of the spec, with its place.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from statewalk.checker.api import check
from statewalk.dsl.errors import Span, SpecError
from statewalk.dsl.loader import load
from statewalk.dsl.source.nodes import MAX_DEPTH
from tests.cases import some

_PY = """from statewalk import Role, action, always
class R(Role):
    x: int = 0
    @action
    def go(self) -> None:
        y = {}
        self.x = (self.x + 1) % 3
r = R()
@always
def fine() -> bool:
    return r.x < 3
"""
_FIZZ = """action Init:
  x = 0
atomic action Go:
  y = {}
  x = (x + 1) % 3
"""
DEEP = {
    "powers": lambda n: "1" + "**1" * n,
    "sums": lambda n: "1" + " + 1" * n,
    "choices": lambda n: "1 if 1 else " * n + "1",
    "negations": lambda n: "not " * n + "1",
    "signs": lambda n: "-" * n + "1",
    "parts": lambda n: "x" + ".a" * n,
    "items": lambda n: "[1]" + "[0]" * n,
    "calls": lambda n: "''" + ".strip()" * n,
    "brackets": lambda n: "(" * n + "1" + ")" * n,
    "lists": lambda n: "[" * n + "1" + "]" * n,
    "comprehensions": lambda n: "[x for x in " * n + "[1]" + "]" * n,
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("n", [MAX_DEPTH, 2_000])
@pytest.mark.parametrize(("file", "line"), [("a.py", 6), ("a.fizz", 4)])
@pytest.mark.parametrize("shape", some(DEEP, every=4))
def test_an_expression_nested_too_deeply_is_told_with_its_line(
    shape: str, file: str, line: int, n: int, tmp_path: Path
) -> None:
    if n == MAX_DEPTH and file == "a.py" and shape == "brackets":
        pytest.skip("Python's trees have none")
    place = tmp_path / file
    place.write_text((_PY if file == "a.py" else _FIZZ).format(DEEP[shape](n)))

    with pytest.raises(SpecError) as caught:
        load(place)

    assert caught.value.code in ("SW100", "SW150")
    assert line == (caught.value.at and caught.value.at.line)
    assert len(str(caught.value)) < 1_000


@pytest.mark.sampled(3)
@pytest.mark.parametrize("shape", sorted({*DEEP} - {"brackets", "parts", "items"}))
def test_an_expression_of_half_the_depth_is_checked(shape: str, tmp_path: Path) -> None:
    place = tmp_path / "a.py"
    place.write_text(_PY.format(DEEP[shape](MAX_DEPTH // 2 - 10)))

    assert check(str(place)).holds


@pytest.mark.thorough
@pytest.mark.parametrize("file", ["a.py", "a.fizz"])
def test_a_chain_of_elif_that_is_too_long_is_told(file: str, tmp_path: Path) -> None:
    place = tmp_path / file
    indent = "        " if file == "a.py" else "  "
    chain = "".join(f"{indent}elif y == {i}:\n{indent}  y = 0\n" for i in range(500))
    text = (_PY if file == "a.py" else _FIZZ).format(f"1\n{indent}if y:\n{indent}  y = 2\n{chain}")
    place.write_text(text)

    with pytest.raises(SpecError, match="nested too deeply"):
        load(place)


def test_a_function_that_calls_itself_without_end_is_told_with_its_place(tmp_path: Path) -> None:
    place = tmp_path / "a.py"
    place.write_text(_PY.format("0") + "def f(n):\n    return f(n + 1)\nf(0)\n")

    with pytest.raises(SpecError, match="RecursionError") as caught:
        load(place)

    assert 13 == (caught.value.at and caught.value.at.line)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("return 3\n", 12, "'return' outside function"),
        ("def f():\n    nonlocal q\n", 13, "no binding for nonlocal 'q' found"),
        ("N: 'Constant[' = 1\n", 1, "'[' was never closed"),
        # Python names the loop that is one too many, and from 3.13 on the one in it
        (
            "\n".join(" " * i + "for _ in [1]:" for i in range(30)) + " pass\n",
            32 + (sys.version_info >= (3, 13)),
            "too many",
        ),
    ],
)
def test_what_only_pythons_compiler_refuses_is_a_mistake_of_the_spec(
    text: str, line: int, message: str, tmp_path: Path
) -> None:
    place = tmp_path / "a.py"
    place.write_text(_PY.format("0") + text)

    with pytest.raises(SpecError) as caught:
        load(place)

    assert "SW100" == caught.value.code
    assert line == (caught.value.at and caught.value.at.line)
    assert message in str(caught.value)


def test_a_line_of_200_kb_is_quoted_around_the_mistake(tmp_path: Path) -> None:
    place = tmp_path / "a.py"
    place.write_text("x = [" + "1," * 50_000 + "$," + "4," * 50_000 + "]\n")

    with pytest.raises(SpecError) as caught:
        load(place)

    told = str(caught.value).splitlines()
    assert max(map(len, told)) < 200
    assert "$" == told[1][told[2].index("^")]


@pytest.mark.parametrize(("column", "shown"), [(1, "a"), (250, "b"), (500, "c")])
def test_an_excerpt_of_a_long_line_points_to_the_same_character(
    column: int, shown: str, tmp_path: Path
) -> None:
    place = tmp_path / "long.txt"
    place.write_text("a" + "." * 248 + "b" + "." * 249 + "c")

    line, caret = Span(str(place), 1, column).excerpt()

    assert shown == line[caret.index("^")]


def test_a_mark_at_the_start_of_a_file_and_a_form_feed_change_no_line(tmp_path: Path) -> None:
    place = tmp_path / "a.py"
    place.write_text("\ufeff# \f\n" + _PY.format("1 +"), encoding="utf-8")

    with pytest.raises(SpecError) as caught:
        load(place)

    assert 7 == (caught.value.at and caught.value.at.line)
    assert "y = 1 +" in str(caught.value)
