"""A converted spec is one of the embedded language, with equal counts."""

import ast
from pathlib import Path

import pytest

from checker import check
from dsl.errors import RunError
from dsl.fizz_convert import convert

SPECS = sorted((Path(__file__).resolve().parents[2] / "specs").rglob("*.fizz"))


@pytest.mark.parametrize("path", SPECS, ids=lambda p: p.name)
def test_converted_specs_have_equal_counts(path: Path, tmp_path: Path) -> None:
    converted = tmp_path / f"{path.stem}.py"
    converted.write_text(convert(str(path)), encoding="utf-8")

    original = check(path, engine="reference", liveness=False, symmetry=False)
    again = check(converted, engine="reference", liveness=False, symmetry=False)

    assert (original.verdict, original.counts) == (again.verdict, again.counts)
    assert [p.name for p in original.properties] == [p.name for p in again.properties]


def test_the_converted_text_keeps_names_and_comments(tmp_path: Path) -> None:
    path = tmp_path / "a.fizz"
    path.write_text(
        "# A counter.\n\n# How far it counts.\nN = 2\n"
        "action Init:\n    n = 0\natomic action Up:\n    n += 1\n"
    )

    text = convert(str(path))

    assert text.startswith('"""A counter.')
    assert "# How far it counts.\nN: Constant[int] = 2" in text
    assert "def Up() -> None:\n    state.n += 1" in text
    ast.parse(text)


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(RunError, match=r"nowhere\.fizz cannot be read"):
        convert("nowhere.fizz")
