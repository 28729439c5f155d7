"""The layout is kept: who may import whom, what a folder holds and says, how long files may be.

Offences are planted, which each rule has to name, and allowed cases, which none may name.
"""

from pathlib import Path

import pytest

from tests.architecture.clocks import clocks_without_a_reason, reasons_without_a_clock
from tests.architecture.entering import ENTERS
from tests.architecture.report import structure
from tests.architecture.rules import (
    MAX_FILE_LINES,
    MAX_FILES,
    MAX_FUNCTION_LINES,
    RULES,
    Rule,
    below,
    circles_of_folders,
    circles_of_modules,
    code_in_data,
    engines_importing_engines,
    entered,
    entering_where_not_let_in,
    folders_that_do_not_say_what_happens,
    full_folders,
    heavy_imports_outside_their_doors,
    importers_of_the_command_line,
    is_in,
    kernels_out_of_step,
    long_files,
    long_functions,
    models_beyond_the_public_names,
    models_met_outside_the_library,
    row_of,
    second_names,
    text_specs_in_the_embedded_language,
    underscore_names_of_others,
    values_compared_as_python_does,
    wrong_directions,
)
from tests.architecture.sources import sources
from tests.places import ROOT


@pytest.mark.parametrize("rule", RULES)
def test_the_sources_keep_the_rule(rule: Rule) -> None:
    offences = rule(ROOT)

    assert [] == offences, "\n" + "\n".join(offences)


@pytest.mark.parametrize("rule", RULES)
def test_missing_folders_break_no_rule(rule: Rule, tmp_path: Path) -> None:
    assert [] == rule(tmp_path)


LONG_FUNCTION = "def f():\n" + "    pass\n" * MAX_FUNCTION_LINES
PARAGRAPH = f'"""What happens here is told at some length. {"More is told of it. " * 4}"""\n'
Files = dict[str, str]

OFFENCES: list[tuple[Rule, Files]] = [
    (
        entering_where_not_let_in,
        {"dsl/values/a.py": "from statewalk.dsl.state.b import f", "dsl/state/b.py": ""},
    ),
    (
        entering_where_not_let_in,
        {
            "checker/native/kernels/a.py": "def f():\n    from statewalk.dsl import model",
            "dsl/model.py": "",
        },
    ),
    (
        entering_where_not_let_in,
        {
            "checker/states/x/a.py": "if TYPE_CHECKING:\n"
            "    from statewalk.checker.verdict import b",
            "checker/verdict/b.py": "",
        },
    ),
    (wrong_directions, {"dsl/a.py": "import statewalk.checker"}),
    (
        wrong_directions,
        {"dsl/a.py": "def f():\n    from statewalk.models.toys import ring"},
    ),
    (wrong_directions, {"dsl/a.py": "import statewalk"}),
    (wrong_directions, {"dsl/a.py": "if TYPE_CHECKING:\n    from statewalk import Role"}),
    (wrong_directions, {"checker/a.py": "from statewalk.models import toys"}),
    (wrong_directions, {"checker/a.py": "from statewalk import Role"}),
    (
        wrong_directions,
        {"checker/spark/a.py": "def f():\n    from examples.dataflow import streaming"},
    ),
    (wrong_directions, {"checker/a/b.py": "from ...models import toys"}),
    (wrong_directions, {"statewalk/__init__.py": "from statewalk.models import toys"}),
    (
        models_beyond_the_public_names,
        {"models/a.py": "from statewalk.checker.traces.trace import Trace"},
    ),
    (models_beyond_the_public_names, {"models/a.py": "from statewalk.dsl.words import declare"}),
    (models_beyond_the_public_names, {"models/a.py": "import numpy"}),
    (models_beyond_the_public_names, {"models/a.py": "from pyspark import sql"}),
    (
        models_beyond_the_public_names,
        {"models/kafka/a_spark.py": "def f():\n    from pyspark.sql import Window"},
    ),
    (
        models_beyond_the_public_names,
        {"models/a.py": "from examples.dataflow.resolving import Batch"},
    ),
    (models_met_outside_the_library, {"checker/a.py": "find('statewalk.models.toys')"}),
    (second_names, {"checker/a.py": "import dsl"}),
    (second_names, {"models/toys/a.py": "from models.toys import ring"}),
    (second_names, {"tests/x/test_a.py": "def f():\n    from checker.api import check"}),
    (second_names, {"benchmarks/a.py": "import dsl.loader"}),
    (text_specs_in_the_embedded_language, {"dsl/a.py": "from statewalk.dsl import fizz"}),
    (
        text_specs_in_the_embedded_language,
        {"dsl/rules/a.py": "def f():\n    from statewalk.dsl.fizz.names import Names"},
    ),
    (
        engines_importing_engines,
        {"checker/native/a.py": "import statewalk.checker.spark.session.session"},
    ),
    (engines_importing_engines, {"checker/native/a.py": "from ..spark import session"}),
    (
        engines_importing_engines,
        {"checker/native/__init__.py": "from statewalk.checker.engines import reference"},
    ),
    (
        engines_importing_engines,
        {"checker/engines/reference.py": "from statewalk.checker import native"},
    ),
    (
        engines_importing_engines,
        {"checker/spark/a.py": "from statewalk.checker.engines.reference import explore"},
    ),
    (importers_of_the_command_line, {"checker/a.py": "from .cli import main"}),
    (importers_of_the_command_line, {"statewalk/__init__.py": "import statewalk.checker.cli"}),
    (heavy_imports_outside_their_doors, {"checker/cli.py": "import rich.console"}),
    (
        heavy_imports_outside_their_doors,
        {"dsl/a.py": "try:\n    import lark\nfinally:\n    pass"},
    ),
    (heavy_imports_outside_their_doors, {"checker/native/a.py": "import pyspark.sql"}),
    (kernels_out_of_step, {"checker/a.py": "from numba import int64, njit"}),
    (
        kernels_out_of_step,
        {"checker/a.py": "from statewalk.checker.machine.compiling import kernel"},
    ),
    (
        kernels_out_of_step,
        {
            "checker/machine/compiling.py": "SOURCES = ('machine/compiling.py', 'a.py')",
            "checker/a.py": "from statewalk.checker.machine.compiling import kernel\n"
            "from statewalk.checker.b import SIZE",
            "checker/b.py": "SIZE = 1",
        },
    ),
    (clocks_without_a_reason, {"checker/verdict/a.py": "from time import monotonic"}),
    (clocks_without_a_reason, {"dsl/a.py": "def f():\n    import time"}),
    (clocks_without_a_reason, {"checker/a.py": "threading.Timer(1, f)"}),
    (code_in_data, {"checker/a.py": "def f(x):\n    import pickle"}),
    (code_in_data, {"checker/spark/tasks/feed.py": "from pickle import loads"}),
    (code_in_data, {"checker/a.py": "np.load(path)"}),
    (code_in_data, {"dsl/a.py": "yaml.load(text)"}),
    (underscore_names_of_others, {"dsl/a.py": "from statewalk.dsl.b import _hidden"}),
    (underscore_names_of_others, {"dsl/a.py": "from .b import hidden, _Hidden as Shown"}),
    (
        underscore_names_of_others,
        {"dsl/a.py": "from statewalk.dsl import b\nb._hidden()", "dsl/b.py": ""},
    ),
    (
        underscore_names_of_others,
        {"dsl/a.py": "import statewalk.dsl.b as c\nx = c._hidden", "dsl/b.py": ""},
    ),
    (
        circles_of_modules,
        {
            "checker/x/a.py": "from statewalk.checker.x.b import g",
            "checker/x/b.py": "if TYPE_CHECKING:\n    from statewalk.checker.x.a import f",
        },
    ),
    (
        circles_of_modules,
        {
            "dsl/x/a.py": "import statewalk.dsl.x.b",
            "dsl/x/b.py": "from . import c",
            "dsl/x/c.py": "def f():\n    from statewalk.dsl.x import a",
        },
    ),
    (
        circles_of_folders,
        {
            "checker/x/a.py": "from statewalk.checker.y import c",
            "checker/y/b.py": "def f():\n    from statewalk.checker.x.d import g",
            "checker/y/c.py": "",
            "checker/x/d.py": "",
        },
    ),
    (
        circles_of_folders,
        {
            "checker/api.py": "from statewalk.checker.x.a import f",
            "checker/x/a.py": "",
            "checker/x/b.py": "from statewalk.checker.api import check",
        },
    ),
    (full_folders, {f"dsl/x/a{n}.py": "" for n in range(MAX_FILES + 1)}),
    (full_folders, {f"dsl/x/a{n}.{'py' if n else 'lark'}": "" for n in range(MAX_FILES + 1)}),
    (folders_that_do_not_say_what_happens, {"dsl/x/a.py": ""}),
    (folders_that_do_not_say_what_happens, {"models/x/__init__.py": '"""Things."""'}),
    (
        folders_that_do_not_say_what_happens,
        {"checker/x/__init__.py": "from .a import b\n" + PARAGRAPH, "checker/x/a.py": ""},
    ),
    (long_files, {"dsl/a.py": "\n" * (MAX_FILE_LINES + 1)}),
    (long_functions, {"models/a.py": LONG_FUNCTION}),
    (values_compared_as_python_does, {"checker/a.py": "a.get(path) != b.get(path)"}),
    (values_compared_as_python_does, {"dsl/words/a.py": "[v for p, v in a if old[p] == v]"}),
    (values_compared_as_python_does, {"checker/conform/a.py": "held.get(key) != value"}),
    (values_compared_as_python_does, {"checker/compare/a.py": "one.state not in (None, start)"}),
    (values_compared_as_python_does, {"dsl/assemble/a.py": "any(c != contents[0] for c in found)"}),
    (
        long_functions,
        {"dsl/a.py": "class C:\n    async " + LONG_FUNCTION.replace("\n", "\n    ")},
    ),
]


@pytest.mark.parametrize(("rule", "files"), OFFENCES)
def test_a_planted_offence_is_named(rule: Rule, files: Files, tmp_path: Path) -> None:
    plant(tmp_path, files)

    offences = rule(tmp_path)

    assert 1 == len(offences)
    named = offences[0].partition(":")[0]
    assert any(path == named or path.startswith(f"{named}/") for path in files) or (
        named.endswith("/__init__.py")
    )


def test_each_folder_says_what_may_enter_and_no_more() -> None:
    needed: dict[str, list[str]] = {row: [] for row in ENTERS}
    for row, _, met in entered(ROOT):
        needed[row].append(met)
    unused = [
        f"{row}: {name}"
        for row, names in ENTERS.items()
        for name in names.split()
        if name != "Model" and not any(is_in(met, below(row, name)) for met in needed[row])
    ]

    assert [] == unused
    assert set() == {
        s.folder
        for s in sources(ROOT)
        if s.top in ("dsl", "checker") and "/" in s.folder and row_of(s.folder) is None
    }


def test_each_reason_to_read_a_clock_is_of_a_file_that_does() -> None:
    assert [] == reasons_without_a_clock(ROOT)


def test_each_rule_has_a_planted_offence() -> None:
    assert set(RULES) == {rule for rule, _ in OFFENCES}


@pytest.mark.parametrize(
    "files",
    [
        {"dsl/a.py": "import ast\nfrom .values import Record\nfrom statewalk.dsl import errors"},
        {"dsl/fizz/text/grammar.py": "from lark import Lark"},
        {
            "models/kafka/a.py": "import dataclasses\nfrom statewalk import Role\n"
            "from statewalk.models.toys import ring\n"
            "from statewalk.dsl.library.levels import LEVELS",
        },
        {"dsl/loader.py": "def read():\n    from statewalk.dsl.fizz.read import read_fizz"},
        {"dsl/fizz/a.py": "from statewalk.dsl.blocks import tree\nfrom .names import Names"},
        {
            "checker/spark/a.py": "from statewalk.checker.native.kernels.expand import walk\n"
            "import pyspark\nimport statewalk",
        },
        {"statewalk/__main__.py": "from statewalk.checker.cli import main"},
        {"checker/library.py": "find_spec('statewalk.models')"},
        {"checker/a.py": "def f():\n    '''What statewalk.models is.'''\n    import rich"},
        {"checker/a.py": "if TYPE_CHECKING:\n    import duckdb"},
        {"checker/a.py": "class A:\n    def f(self):\n        return self._x + b._y"},
        {
            "statewalk/__init__.py": PARAGRAPH
            + "from statewalk.checker.machine import early as _early"
        },
        {"tests/broken/a.py": "import dsl", "tests/dsl/a.py": "from tests.dsl.b import c"},
        {
            "checker/machine/compiling.py": "SOURCES = ('machine/compiling.py', 'a.py')",
            "checker/a.py": "from statewalk.checker.machine.compiling import kernel\n"
            "if TYPE_CHECKING:\n    from statewalk.checker.b import Array",
            "checker/b.py": "",
        },
        {
            "checker/x/a.py": "from statewalk.checker.y.b import f",
            "checker/x/c.py": "from statewalk.checker.x.a import g",
            "checker/y/b.py": "from statewalk.checker.machine.files import write",
            "checker/machine/files.py": "",
        },
        {
            "dsl/fizz/read.py": "from statewalk.dsl.fizz.translate.parse import parse",
            "dsl/fizz/translate/parse.py": "from statewalk.dsl.fizz.names import Names",
            "dsl/fizz/names.py": "",
        },
        {f"dsl/a{n}.py": "" for n in range(MAX_FILES - 1)},
        {"checker/a.py": "def f():\n" + "    pass\n" * (MAX_FUNCTION_LINES - 1)},
        {"checker/a.py": "\n" * MAX_FILE_LINES},
        {"checker/a.py": "value == 'x' or value in (1, 2) or kind.value != NONE or a[path] is b"},
        {"checker/history/a.py": "value == other"},
        {"dsl/values/a.py": "value == other"},
    ],
)
def test_what_is_allowed_is_not_reported(files: Files, tmp_path: Path) -> None:
    folders = {path.rpartition("/")[0] for path in files}
    said = {f"{f}/__init__.py": PARAGRAPH for f in folders if not f.startswith("tests")}
    plant(tmp_path, said | files)

    offences = [offence for rule in RULES for offence in rule(tmp_path)]

    assert [] == offences


def plant(root: Path, files: Files) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


def test_the_structure_is_one_line(tmp_path: Path) -> None:
    files = {
        "dsl/x/a.py": "from statewalk.dsl.y.b import f",
        "dsl/y/b.py": "",
        "checker/z/c.py": "from statewalk.dsl.x.a import g\nfrom statewalk.dsl.y import b",
        "checker/z/d.py": "from statewalk.checker.z import c",
        "checker/z/e.py": "from statewalk.checker.z import d, f",
        "checker/z/f.py": "from statewalk.checker.z import e",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)

    found = structure(tmp_path)

    assert "structure: 6 files, 3 folders on 3 floors, 3 arrows, 1 circles" == found
