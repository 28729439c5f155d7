"""Whatever a model is loaded from is known: a changed one is another model."""

from __future__ import annotations

import os
import py_compile
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from statewalk import check
from statewalk.dsl.errors import RunError, SpecError
from statewalk.dsl.loader import load
from statewalk.dsl.origins import UNLISTED, UNSEEN, UNSURE, by_name

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
    "../away/rewrites.py": "with open('data.txt', 'r+') as file:\n"
    "    LIMIT = int(file.read())\n    file.seek(0)\n    file.write('1')",
    "../away/between.py": "from of_between import LIMIT",
    "rules/__init__.py": "",
    "../away/read_traceback.py": "import os\nLIMIT = len(os.listdir('.'))",
    "../away/lists.py": "import os\nLIMIT = len(os.listdir('.'))\n"
    "def asked() -> int:\n    return len(os.listdir('.'))",
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


def everything(spec: str | Path = "spec.py") -> dict[str, str]:
    return by_name(load(spec).origins)


def origins(spec: str | Path = "spec.py") -> dict[str, str]:
    """What is sure to be asked for."""
    return {name: what for name, what in everything(spec).items() if name != UNLISTED}


@pytest.mark.sampled(3)
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


LINKED = {
    "a file": "from pathlib import Path\n"
    "LIMIT = [Path(f'{n}.json').read_text() for n in ('now', 'a', 'b')]",
    "folders": "from pathlib import Path\n"
    "LIMIT = [Path(f'{n}/x.json').read_text() for n in ('current', 'previous')]",
    "a module": "import now_at\nimport first\nimport second\nLIMIT = now_at.N",
    "a folder around": "from pathlib import Path\n"
    "LIMIT = [Path(f).read_text() for f in ('deep/../x.json', 'a/x.json', 'b/x.json')]",
    "a folder around modules": "import sys\nsys.path.append('deep/../sub')\nimport deeply\n"
    "sys.path.pop()\nLIMIT = deeply.N",
    "modules in folders": "from current import x as y\nfrom previous import x\nLIMIT = y.N, x.N",
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("does", LINKED.values(), ids=LINKED)
def test_a_link_that_leads_elsewhere_belongs_to_it(does: str, folder: Path) -> None:
    (folder / "spec.py").write_text(SPEC.format(does))
    for name, number in (("a", 1), ("b", 2)):
        (folder / name).mkdir()
        for file, text in (("x.json", f"{number}"), ("x.py", f"N = {number}")):
            (folder / name / file).write_text(text)
        for below in ("below", "sub"):
            (folder / name / below).mkdir()
        (folder / name / "sub" / "deeply.py").write_text(f"N = {number}")
        (folder / f"{name}.json").write_text(f"{number}")
    (folder / "first.py").write_text("N = 1")
    (folder / "second.py").write_text("N = 2")

    def turned(one: str, other: str) -> dict[str, str]:
        links = {
            "now.json": f"{one}.json", "current": one, "previous": other, "deep": f"{one}/below",
            "now_at.py": "first.py" if one == "a" else "second.py",
        }  # fmt: skip
        for link, target in links.items():
            (folder / link).unlink(missing_ok=True)
            (folder / link).symlink_to(target)
        return load(folder / "spec.py").origins

    one, other, again = turned("a", "b"), turned("b", "a"), turned("a", "b")

    assert one == again != other
    assert by_name(one) != by_name(other)


def test_a_file_that_is_not_found_belongs_to_it(folder: Path) -> None:
    does, name, text = CASES["data with a default"]
    (folder / "spec.py").write_text(SPEC.format(does))

    without = origins()
    (folder / name).write_text(text)

    assert without[name] == "no file"
    assert {name} == {n for n, digest in origins().items() if digest != without[n]}


def test_a_helper_is_taken_from_its_text(folder: Path) -> None:
    """Python knows what it has compiled by length and time."""
    helper = folder / "../away/timed.py"
    helper.write_text("LIMIT = 3")
    os.utime(helper, (1_000_000_000, 1_000_000_000))
    py_compile.compile(str(helper))
    helper.write_text("LIMIT = 4")
    os.utime(helper, (1_000_000_000, 1_000_000_000))
    (folder / "spec.py").write_text(SPEC.format("from timed import LIMIT"))

    assert check("spec.py", engine="reference").counts.distinct == 5


LOOKS = {
    "an import": "try:\n    from late import LIMIT\nexcept ImportError:\n    LIMIT = 3",
    "by its name": "import importlib\ntry:\n    LIMIT = importlib.import_module('late').LIMIT\n"
    "except ImportError:\n    LIMIT = 3",
    "by a helper": "from looks import LIMIT",
}


@pytest.mark.parametrize("does", LOOKS.values(), ids=LOOKS)
def test_a_module_that_is_not_found_belongs_to_it(does: str, folder: Path) -> None:
    (folder / "../away/looks.py").write_text(LOOKS["an import"])
    (folder / "spec.py").write_text(SPEC.format(does))

    without = origins()
    again = origins()
    (folder / "../away/late.py").write_text("LIMIT = 4")
    sys.modules.pop("looks", None)

    assert "no file" == without["module late"]
    assert without == again
    assert "late.py" in origins()


def test_what_a_helper_keeps_belongs_to_each_load(folder: Path) -> None:
    """What its function read the first time, nobody reads again."""
    (folder / "data.txt").write_text("3")
    (folder / "../away/keeps.py").write_text(
        "import functools\nfrom concurrent.futures import ThreadPoolExecutor\n"
        "from pathlib import Path\nPOOL = ThreadPoolExecutor()\n"
        "@functools.cache\ndef limit(name):\n    return int(Path(name).read_text())\n"
        "def later():\n    return POOL.submit(lambda: int(Path('pool.txt').read_text())).result()"
    )
    (folder / "pool.txt").write_text("3")
    (folder / "spec.py").write_text(SPEC.format("import keeps\nLIMIT = keeps.limit('data.txt')"))
    first = origins()
    again = origins()
    text = "import keeps\nLIMIT = keeps.later()"
    (folder / "spec.py").write_text(SPEC.format(text))

    assert first == again
    assert {"data.txt", "pool.txt"} <= origins().keys()


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "does",
    [
        "import linecache\nLIMIT = len(linecache.getline('data.txt', 1))",
        "from importlib.util import find_spec\nLIMIT = 3 if find_spec('late') is None else 4",
        "import pkgutil\nLIMIT = len([*pkgutil.iter_modules()])",
        "import os\nLIMIT = int(os.environ.get('LIMIT', 3))",
        "from pathlib import Path\nLIMIT = 3 if Path('late').exists() else 4",
        "from os import getenv as ask\nLIMIT = int(ask('LIMIT') or 3)",
        "import asks\nLIMIT = asks.limit()",
        "import importlib\nLIMIT = importlib.import_module('of_none').LIMIT",
        "LIMIT = 3\ndef later() -> int:\n    return __import__('of_' + 'none').LIMIT",
        "LIMIT = 3\ndef later() -> int:\n    return eval('__import__')('of_none').LIMIT",
        "import builtins\nLIMIT = 3\ndef later() -> None:\n    builtins.exec('import of_none')",
        "import platform\nLIMIT = len(platform.node())",
        "import multiprocessing\nLIMIT = multiprocessing.cpu_count()",
        "from posix import environ\nLIMIT = len(environ)",
    ],
)
def test_a_way_to_a_module_or_line_that_leaves_no_trace_says_so(does: str, folder: Path) -> None:
    (folder / "spec.py").write_text(SPEC.format(does))
    (folder / "../away/of_none.py").write_text("LIMIT = 3")
    (folder / "../away/asks.py").write_text("import sys\ndef limit(): return len(sys.argv)")

    assert UNSEEN in origins()


MAY_ASK = {
    "through a helper's path": (
        "from paths import DATA\nLIMIT = 3 if (DATA / 'x').exists() else 2",
        "from pathlib import Path\nDATA = Path(__file__).parent",
    ),
    "through a helper's module": ("from paths import os\nLIMIT = len(os.environ)", "import os"),
    "by a name that is made up": ("LIMIT = 2\ntry:\n    __import__('pa' + 'ths')\nexcept "
                                  "ImportError:\n    LIMIT = 3", ""),
    "a variable in a text": ("import os.path as p\nLIMIT = len(p.expandvars('$L'))", ""),
    "the clock": ("import time\nLIMIT = int(time.time()) % 3", ""),
    "chance": ("import random\nLIMIT = random.randint(1, 3)", ""),
    "a helper in another folder": ("from away4 import LIMIT", ""),
    "a module that another holds": ("import contextlib\nLIMIT = len(contextlib.os.environ)", ""),
    "its name": ("LIMIT = len(__name__)", ""),
    "another spec": ("from statewalk import load\nLIMIT = 3", ""),
    "another spec, by statewalk": ("import statewalk as s\nLIMIT = 3", ""),
    "its own text": ("LIMIT = eval('3')", ""),
}  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("does", "helper"), MAY_ASK.values(), ids=MAY_ASK)
def test_what_may_ask_for_more_is_not_believed(does: str, helper: str, folder: Path) -> None:
    (folder / "paths.py").write_text(helper)
    (folder / "../away/away4.py").write_text("LIMIT = 3")
    (folder / "spec.py").write_text(SPEC.format(does))

    assert set(UNSURE) & everything().keys()


def test_a_method_may_be_called_as_what_runs_texts(folder: Path) -> None:
    does = "class Sum:\n    def eval(self) -> int:\n        return 3\nLIMIT = Sum().eval()"
    (folder / "spec.py").write_text(SPEC.format(does))

    assert UNSEEN not in origins()


def test_what_a_spec_that_is_refined_asks_for_belongs_to_it(folder: Path) -> None:
    (folder / "abstract.py").write_text(SPEC.format("import os\nLIMIT = int(os.getenv('L', 3))"))
    (folder / "data.txt").write_text("3")
    text = SPEC.format("LIMIT = 3") + "\nref = refines('abstract.py')\n"
    (folder / "spec.py").write_text(text)

    assert "getenv" in origins()[UNSEEN]
    assert "os" == everything()[UNLISTED]


def test_a_module_that_a_package_has_not_belongs_to_it(folder: Path) -> None:
    (folder / "plugins").mkdir()
    (folder / "plugins/__init__.py").write_text("")
    text = "try:\n    from plugins import late as l\n    LIMIT = l.LIMIT\nexcept ImportError:\n"
    (folder / "spec.py").write_text(SPEC.format(f"{text}    LIMIT = 3"))

    assert "no file" == origins()["module plugins.late"]
    (folder / "plugins/late.py").write_text("LIMIT = 4")
    assert "late.py" in origins()


def test_what_a_package_names_for_a_step_is_unseen(folder: Path) -> None:
    (folder / "rules/__init__.py").write_text("__all__ = ['limits']")
    (folder / "rules/limits.py").write_text("LIMIT = 3")
    (folder / "later.py").write_text("from rules import *")
    does = "LIMIT = 3\ndef later() -> int:\n    import later\n    return later.limits.LIMIT"
    (folder / "spec.py").write_text(SPEC.format(does))

    assert "rules.*" in everything()[UNSEEN]


def test_what_a_package_in_use_names_for_a_step_belongs_to_it(folder: Path) -> None:
    (folder / "rules/__init__.py").write_text("__all__ = ['limits']")
    (folder / "rules/limits.py").write_text("LIMIT = 3")
    (folder / "later.py").write_text("from rules import *")
    does = "import rules\nLIMIT = 3\ndef later() -> int:\n    import later\n    return 3"
    (folder / "spec.py").write_text(SPEC.format(does))

    assert "limits.py" in origins()
    assert UNSEEN not in origins()


def test_a_module_that_makes_names_late_may_fail(folder: Path) -> None:
    late = "def __getattr__(name):\n    from missing_here import V\n    return V"
    (folder / "late.py").write_text(late)
    does = "try:\n    from late import V\nexcept ImportError:\n    V = 3\nLIMIT = V"
    (folder / "spec.py").write_text(SPEC.format(does))

    assert check("spec.py").counts.distinct == 4


def test_a_text_in_another_encoding_is_refused(folder: Path) -> None:
    (folder / "helper.py").write_text("# -*- coding: latin-1 -*-\nN = len('\xe9')", "utf-8")
    (folder / "spec.py").write_text(SPEC.format("from helper import N as LIMIT"))

    with pytest.raises(SpecError, match=r"SW100.*iso-8859-1"):
        load("spec.py")


def test_the_encoding_of_files_belongs_to_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "spec.py").write_text(SPEC.format("LIMIT = 3"))
    assert ["spec.py"] == [*origins()]

    monkeypatch.setattr("locale.getpreferredencoding", lambda do_setlocale: "ISO-8859-1")
    assert "iso-8859-1" == origins()["encoding of files"]


def test_random_numbers_of_statistics_are_not_believed(folder: Path) -> None:
    does = "import statistics\nLIMIT = int(statistics.NormalDist(3).samples(1)[0])"
    (folder / "spec.py").write_text(SPEC.format(does))

    assert "samples" in everything()[UNLISTED]


@pytest.mark.parametrize("name", ["statistics", "keyword"])
def test_a_module_that_hides_one_of_python_s_belongs_to_it(name: str, folder: Path) -> None:
    does = f"LIMIT = 3\ndef later() -> int:\n    import {name}\n    return {name}.N"
    (folder / "spec.py").write_text(SPEC.format(does))
    assert f"{name}.py" not in origins()

    (folder / f"{name}.py").write_text("N = 3")
    assert f"{name}.py" in origins()


def test_a_package_is_found_in_a_step(folder: Path) -> None:
    (folder / "rules/limits.py").write_text("LIMIT = 3")
    does = "def limit() -> int:\n    try:\n        from .limits import LIMIT\n"
    text = f"{does}    except ImportError:\n        return 2\n    return LIMIT"
    text = SPEC.format(text).replace("self.x < LIMIT", "self.x < limit()")
    (folder / "rules/spec.py").write_text(text)

    for engine in ("reference", "native"):
        assert check("rules/spec.py", engine=engine).counts.distinct == 4


def test_all_of_a_package_may_name_its_modules(folder: Path) -> None:
    (folder / "rules/__init__.py").write_text("__all__ = ['limits']")
    (folder / "rules/limits.py").write_text("LIMIT = 3")
    (folder / "spec.py").write_text(SPEC.format("from rules import *\nLIMIT = limits.LIMIT"))

    assert {"spec.py", "limits.py", "__init__.py"} == set(origins())


def test_a_module_in_an_archive_is_imported_by_python(folder: Path) -> None:
    with zipfile.ZipFile(folder / "../away/packed.zip", "w") as made:
        made.writestr("packed.py", "LIMIT = 3")
    sys.path.insert(0, str(folder / "../away/packed.zip"))
    try:
        (folder / "spec.py").write_text(SPEC.format("from packed import LIMIT"))
        assert "packed" in origins()[UNSEEN]
    finally:
        del sys.path[0]
        sys.modules.pop("packed", None)


def test_a_folder_that_moved_is_the_same(tmp_path: Path, folder: Path) -> None:
    (folder / "spec.py").write_text(SPEC.format("from reads import LIMIT"))
    (folder / "data.txt").write_text("3")

    first = origins()
    folder.rename(tmp_path / "moved")
    moved = origins(tmp_path / "moved/spec.py")

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


READS = "from pathlib import Path\nLIMIT = int(Path('data.txt').read_text())"
WRITES = (  # what was read is no more
    "Path('data.txt').write_text('33')",
    "with open('data.txt', 'r+') as file:\n    file.write('1')",
    "with open('data.txt', 'a') as file:\n    file.write('1')",
    "Path('twin.txt').write_text('1')",
    "Path('link.txt').write_text('1')",
    "Path('data.txt').unlink()\nPath('data.txt').write_text('1')",
)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "does",
    [
        "import os\nLIMIT = len(os.listdir('.'))",
        "import glob\nLIMIT = 3 if glob.glob('late.txt') else 4",
        "from read_traceback import LIMIT",
        "from pathlib import Path\nLIMIT = len([*Path().iterdir()])",
        "import subprocess\nLIMIT = len(subprocess.run(['true']).args)",
        "import sqlite3\nLIMIT = sqlite3.connect(':memory:').close() or 1",
        "import os\nfrom concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor() as pool:\n"
        "    LIMIT = len(pool.submit(os.listdir, '.').result())",
        "import threading\nLIMIT = 3\nthread = threading.Thread("
        "target=threading.Event().wait, args=(1,), daemon=True)\nthread.start()",
        "import os\nhere = os.open('.', os.O_RDONLY)\n"
        "LIMIT = len(os.read(os.open('data.txt', os.O_RDONLY, dir_fd=here), 10))",
        "import os\nfile = os.open('.', os.O_RDONLY)\nos.close(file)\nLIMIT = 3",
        "with open('/proc/self/stat') as file:\n    LIMIT = len(file.read())",
        *(f"{READS}\n{writes}" for writes in WRITES),
        "from rewrites import LIMIT",
        "import pyarrow\nLIMIT = 3",
        "import pandas\nLIMIT = 3",
        "import shelve\nLIMIT = 3",
        "from lists import LIMIT",
        "import lists\nLIMIT = lists.asked()",
        "import lists\nLIMIT = 3\n@init\ndef begin() -> None:\n"
        "    s.x = lists.asked() - lists.asked()",
    ],
)
def test_a_spec_that_asks_for_more_than_files_says_so(folder: Path, does: str) -> None:
    (folder / "spec.py").write_text(SPEC.format("import reads\nLIMIT = 3"))
    (folder / "data.txt").write_text("3")
    (folder / "twin.txt").hardlink_to(folder / "data.txt")
    (folder / "link.txt").symlink_to(folder / "data.txt")
    assert UNSEEN not in origins()
    (folder / "spec.py").write_text(SPEC.format(does))

    assert UNSEEN in origins()
    assert UNSEEN in origins()  # also what a helper did that runs once


def test_a_spec_that_removes_what_it_reads_says_so(folder: Path) -> None:
    (folder / "spec.py").write_text(SPEC.format(f"{READS}\nPath('data.txt').unlink()"))
    (folder / "data.txt").write_text("3")

    assert UNSEEN in origins()


def test_what_a_spec_writes_anew_before_it_reads_it_is_its_own(folder: Path) -> None:
    does = f"from pathlib import Path\nPath('data.txt').write_text('3')\n{READS}"
    (folder / "spec.py").write_text(SPEC.format(does))

    assert {"spec.py"} == set(origins())
    assert {"spec.py"} == set(origins())


ASKS = {
    "a line of a file": "import linecache; linecache.checkcache(); "
    "return int(linecache.getline('data.txt', 1))",
    "a file": "with open('data.txt') as file:\n        return int(file.read())",
    "a folder": "return len(os.listdir('.'))",
    "a path": "return int(Path('data.txt').read_text())",
    "a program": "return len(subprocess.run(['true']).args)",
    "a late import": "import asks_late\n    return asks_late.N",
}
LAZY = """class Lazy:
    @property
    def n(self): return limit()
    def __gt__(self, other): return limit() > other
"""
HELPER = "import os, subprocess\nfrom pathlib import Path\n"
USES = {
    "a guard": "require(self.x < asks.limit())",
    "a property of an object": "require(self.x < asks.Lazy().n)",
    "a comparison": "require(asks.Lazy() > self.x)",
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize(
    ("use", "ask"),
    [*((use, "a file") for use in USES), *(("a guard", ask) for ask in ASKS if ask != "a file")],
)
def test_a_step_that_asks_for_more_than_the_state_is_refused(
    use: str, ask: str, engine: str, folder: Path
) -> None:
    away = folder / ".." / "away"
    (away / "asks.py").write_text(f"{HELPER}def limit():\n    {ASKS[ask]}\n{LAZY}\n")
    (away / "asks_late.py").write_text(HELPER + "N = int(Path('data.txt').read_text())")
    (folder / "data.txt").write_text("3")
    text = SPEC.format("import asks").replace("require(self.x < LIMIT)", USES[use])
    (folder / "spec.py").write_text(text + "deadlock(False)\n")
    for name in ("asks", "asks_late"):
        sys.modules.pop(name, None)

    with pytest.raises(SpecError, match=r"asks.*\.py:\d+.*SW104 A step or a property reads more"):
        check("spec.py", engine=engine)


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_a_step_may_write_and_warn(engine: str, folder: Path) -> None:
    says = "    warnings.warn('x')\n    open('log', 'a').close()\n    return x"
    says = f"import warnings\ndef said(x):\n{says}"
    (folder / ".." / "away" / "says.py").write_text(says)
    text = SPEC.format("import says").replace("self.x < LIMIT", "self.x < says.said(3)")
    (folder / "spec.py").write_text(text + "deadlock(False)\n")
    sys.modules.pop("says", None)

    with pytest.warns(UserWarning, match="x"):
        assert "holds" == check("spec.py", engine=engine).verdict


@pytest.mark.thorough
def test_a_package_that_is_compiled_is_noticed_though_no_text_names_it(folder: Path) -> None:
    does = "import importlib\nLIMIT = len(importlib.import_module('py' + 'arrow').__version__)"
    (folder / "spec.py").write_text(SPEC.format(does))
    asks = f"from statewalk.dsl.loader import load; print({UNSEEN!r} in load('spec.py').origins)"

    said = subprocess.run([sys.executable, "-c", asks], capture_output=True, text=True, check=True)

    assert "True" == said.stdout.strip()


def test_a_search_is_not_resumed_by_a_spec_that_asks_for_more_than_files(folder: Path) -> None:
    for does in ("import os\nLIMIT = len(os.listdir('.')) + 9", "import pyarrow\nLIMIT = 9"):
        (folder / "spec.py").write_text(SPEC.format(does) + "deadlock(False)\n")
        saved: dict[str, Any] = {"engine": "native", "checkpoint": "saved", "checkpoint_every": 0.0}
        check("spec.py", max_depth=2, **saved)

        with pytest.raises(
            RunError, match=r"(?s)SW341 It is unknown whether.*reads more than files: "
        ):
            check("spec.py", resume=True, **saved)


def test_a_file_that_is_opened_to_append_belongs_to_it(folder: Path) -> None:
    does = "with open('data.txt', 'a+') as file:\n    file.seek(0)\n    LIMIT = int(file.read())"
    (folder / "spec.py").write_text(SPEC.format(does))
    (folder / "data.txt").write_text("3")

    assert {"spec.py", "data.txt"} == set(origins())


def test_a_file_among_installed_ones_that_a_spec_opens_belongs_to_it(folder: Path) -> None:
    place = folder / "env" / "site-packages" / "limit.txt"
    place.parent.mkdir(parents=True)
    (folder / "spec.py").write_text(
        SPEC.format(
            "from pathlib import Path\nLIMIT = Path('env/site-packages/limit.txt').read_text()"
        )
    )
    place.write_text("1")
    before = load(folder / "spec.py").origins
    place.write_text("2")

    assert before != load(folder / "spec.py").origins


def test_a_file_that_is_there_and_takes_no_readers_is_unseen(folder: Path) -> None:
    (folder / "two\nlines").write_text("1")
    (folder / "spec.py").write_text(
        SPEC.format("from pathlib import Path\nLIMIT = Path('two\\nlines').read_text()")
    )

    assert "takes no readers" in load(folder / "spec.py").origins[UNSEEN]


SIZES = """
import json
from statewalk import Constant, State, action, config

N: Constant[int] = 0
if N == 0:
    with open("sizes.json") as f:
        for name, n in json.load(f).items():
            config(name, N=n)

class C(State):
    n: int = 0

    @action
    def up(self) -> None:
        self.n = (self.n + 1) % (N or 1)

c = C()
"""


def test_what_decides_a_configuration_belongs_to_it(folder: Path) -> None:
    (folder / "sizes.json").write_text('{"big": 5}')
    (folder / "spec.py").write_text(SIZES)

    with_it = load(folder / "spec.py", config="big").origins

    assert "sizes.json" in {Path(file).name for file in with_it}
