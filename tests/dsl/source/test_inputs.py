"""Whatever a model is loaded from is known: a changed one is another model."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from statewalk.dsl.caches import UNSEEN
from statewalk.dsl.inputs import by_name
from statewalk.dsl.loader import load

SPEC = """
from statewalk import *
{}
class S(State):
    x: int = 0
    @action
    def go(self) -> None:
        require(self.x < LIMIT)
        self.x += 1
s = S()
"""
FIZZ = "action Init:\n    n = 0\natomic action Up:\n    require n < 3\n    n += 1\n"
Case = tuple[str, str, str]  # what the spec does, the file that it takes something from, its text
CASES: dict[str, Case] = {
    "beside": ("from limits import LIMIT", "limits.py", "LIMIT = 3"),
    "in a package": ("from rules.limits import LIMIT", "rules/limits.py", "LIMIT = 3"),
    "elsewhere": ("from away import LIMIT", "../away/away.py", "LIMIT = 3"),
    "elsewhere by another": (
        "from between import LIMIT", "../away/of_between.py", "LIMIT = 3",
    ),
    "elsewhere by its name": (
        "import importlib\nLIMIT = importlib.import_module('away' + '2').LIMIT",
        "../away/away2.py", "LIMIT = 3",
    ),
    "in a function": (
        "LIMIT = 3\ndef later() -> int:\n    from late import N\n    return N",
        "../away/late.py", "N = 3",
    ),
    "data": (
        "import json\nwith open('data.json') as file:\n    LIMIT = json.load(file)",
        "data.json", "3",
    ),
    "data by a path": (
        "from pathlib import Path\nLIMIT = int(Path('data.txt').read_text())", "data.txt", "3",
    ),
    "data by its helper": ("from reads import LIMIT", "data.txt", "3"),
    "data by a module that runs once": ("from once import LIMIT", "data.txt", "3"),
    "data with a default": (
        "from pathlib import Path\ntry:\n    LIMIT = int(Path('data.txt').read_text())\n"
        "except OSError:\n    LIMIT = 2",
        "data.txt", "3",
    ),
}  # fmt: skip
HELPERS = {
    "reads.py": "from pathlib import Path\nLIMIT = int(Path('data.txt').read_text())",
    "../away/once.py": "from pathlib import Path\nLIMIT = int(Path('data.txt').read_text())",
    "../away/between.py": "from of_between import LIMIT",
    "rules/__init__.py": "",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a spec, with another one where modules are found."""
    place = tmp_path / "spec"
    for name, text in HELPERS.items():
        file = place / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    monkeypatch.chdir(place)
    monkeypatch.syspath_prepend(str(tmp_path / "away"))
    yield place
    for file in (tmp_path / "away").glob("*.py"):
        sys.modules.pop(file.stem, None)


def origins() -> dict[str, str]:
    return by_name(load("spec.py").origins)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_a_spec_takes_from_a_file_belongs_to_it(folder: Path, case: Case) -> None:
    does, name, text = case
    (folder / "spec.py").write_text(SPEC.format(does))
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)

    first = origins()
    again = origins()
    (folder / name).write_text(text.replace("3", "4"))
    changed = origins()

    assert Path(name).name in first
    assert first == again
    assert {Path(name).name} == {n for n in first if first[n] != changed[n]}


def test_a_file_that_was_not_there_belongs_to_it_once_it_is(folder: Path) -> None:
    does, name, text = CASES["data with a default"]
    (folder / "spec.py").write_text(SPEC.format(does))

    without = origins()
    (folder / name).write_text(text)

    assert {name} == set(origins()) - set(without)


def test_a_folder_that_moved_is_the_same(tmp_path: Path, folder: Path) -> None:
    (folder / "spec.py").write_text(SPEC.format("from reads import LIMIT"))
    (folder / "data.txt").write_text("3")

    first = origins()
    folder.rename(tmp_path / "moved")
    moved = by_name(load(tmp_path / "moved/spec.py").origins)

    assert {"spec.py", "reads.py", "data.txt"} == set(first)
    assert first == moved


def test_neither_python_nor_a_spec_s_own_output_belongs_to_it(folder: Path) -> None:
    does = (
        "import json, tempfile, random, csv\n"
        "with tempfile.NamedTemporaryFile('w+') as made, open(made.name) as file:\n"
        "    file.read()\nLIMIT = 3"
    )
    (folder / "spec.py").write_text(SPEC.format(does))

    assert {"spec.py"} == set(origins())


def test_an_installed_package_belongs_to_it_by_its_version(folder: Path) -> None:
    import numpy

    (folder / "spec.py").write_text(SPEC.format("import numpy\nimport yaml\nLIMIT = 3"))

    found = origins()

    assert {"spec.py", "numpy", "PyYAML"} == set(found)
    assert numpy.__version__ == found["numpy"]


def test_options_of_a_fizz_spec_belong_to_it(folder: Path) -> None:
    Path("spec.fizz").write_text(FIZZ)
    without = by_name(load("spec.fizz").origins)
    Path("fizz.yaml").write_text("deadlock_detection: false\n")
    first = by_name(load("spec.fizz").origins)
    Path("fizz.yaml").write_text("deadlock_detection: true\n")

    assert {"spec.fizz"} == set(without)
    assert {"spec.fizz", "fizz.yaml"} == set(first)
    assert first != by_name(load("spec.fizz").origins)


def test_files_of_one_name_are_told_apart() -> None:
    swapped = by_name({"/b/x/m.py": "2", "/b/y/m.py": "1", "/c.py": "3"})

    assert {"x/m.py": "1", "y/m.py": "2", "c.py": "3"} == by_name(
        {"/a/x/m.py": "1", "/a/y/m.py": "2", "/c.py": "3"}
    )
    assert {"x/m.py": "2", "y/m.py": "1", "c.py": "3"} == swapped


@pytest.mark.parametrize(
    "does",
    [
        "import os\nLIMIT = len(os.listdir('.'))",
        "from pathlib import Path\nLIMIT = len([*Path().iterdir()])",
        "import subprocess\nLIMIT = len(subprocess.run(['true']).args)",
        "import sqlite3\nLIMIT = sqlite3.connect(':memory:').close() or 1",
    ],
)
def test_a_spec_that_asks_for_more_than_files_says_so(folder: Path, does: str) -> None:
    (folder / "spec.py").write_text(SPEC.format("import reads\nLIMIT = 3"))
    (folder / "data.txt").write_text("3")
    assert UNSEEN not in origins()
    (folder / "spec.py").write_text(SPEC.format(does))

    assert UNSEEN in origins()


def test_a_file_that_is_opened_to_append_belongs_to_it(folder: Path) -> None:
    does = "with open('data.txt', 'a+') as file:\n    file.seek(0)\n    LIMIT = int(file.read())"
    (folder / "spec.py").write_text(SPEC.format(does))
    (folder / "data.txt").write_text("3")

    assert {"spec.py", "data.txt"} == set(origins())
