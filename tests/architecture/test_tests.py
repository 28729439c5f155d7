"""The tests lie where the code lies, and their page says what is there."""

import re

from tests.cases import slow, some
from tests.places import ROOT

TESTS = ROOT / "tests"


def folders_with_tests() -> set[str]:
    return {f.parent.relative_to(TESTS).as_posix() for f in TESTS.rglob("test_*.py")}


def test_the_page_names_the_folders_that_there_are() -> None:
    page = (TESTS / "README.md").read_text(encoding="utf-8")

    named = {name.rstrip("/") for name in re.findall(r"`([a-z_/]+/)`", page)}

    assert [] == sorted(name for name in named if not (TESTS / name).is_dir())
    assert [] == sorted(folders_with_tests() - named)


def test_folders_of_tests_are_folders_of_the_code() -> None:
    mirrored = [f for f in folders_with_tests() if f.partition("/")[0] in ("dsl", "checker")]

    assert mirrored
    assert [] == [folder for folder in mirrored if not (ROOT / folder).is_dir()]


def test_a_table_loses_no_case() -> None:
    found = some([1, 2, slow(3), (4, 5), 6], every=2)

    assert [(1,), (2,), (3,), (4, 5), (6,)] == [case.values for case in found]
    assert [False, True, True, False, True] == [bool(case.marks) for case in found]


def test_what_starts_spark_has_it_in_its_name() -> None:
    """So that one process runs them all: see `tests/conftest.py`."""
    marked = [f for f in TESTS.rglob("test_*.py") if "mark.spark\n" in f.read_text("utf-8")]
    starts = re.compile(r"^@pytest\.mark\.spark\n(?:[^d].*\n|\n)*def (\w+)", re.MULTILINE)

    assert len(marked) > 5
    assert [] == [
        f"{file.name}::{name}"
        for file in marked
        if "spark" not in str(file.relative_to(TESTS))
        for name in starts.findall(file.read_text("utf-8"))
        if "spark" not in name
    ]
