"""Specs of one process: what one does while it is loaded decides nothing of another."""

from __future__ import annotations

import importlib
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from zipfile import ZipFile

import pytest

from statewalk import check, compare, load
from statewalk.checker.library import library_folder, spec_path
from statewalk.dsl.errors import SpecError

SPEC = """
from statewalk import State, action, always

class C(State):
    n: int = 0

    @action
    def inc(self) -> None:
        self.n = (self.n + 1) % 8

c = C()

@always
def small() -> bool:
    return c.n < limit()
"""
BESIDE = """
import sys
from pathlib import Path
sys.path.insert(0, str(Path(__file__).parents[1] / "lib"))
"""
TRIED = "try:\n    from helper import limit\nexcept ImportError:\n    limit = lambda: 3\n"


@pytest.fixture(autouse=True)
def process() -> Iterator[None]:
    path = [*sys.path]
    yield
    sys.path[:] = path
    sys.modules.pop("mine", None)


@pytest.fixture
def two(tmp_path: Path) -> tuple[str, str]:
    """Two specs of one text, each with a library of its own, which fits the first alone."""
    for name, limit in (("a", 8), ("b", 3)):
        (tmp_path / name / "lib").mkdir(parents=True)
        (tmp_path / name / "specs").mkdir()
        spec = tmp_path / name / "specs" / "spec.py"
        spec.write_text(BESIDE + "from helper import limit\n" + SPEC)
        (tmp_path / name / "lib" / "helper.py").write_text(
            "from inner.deep import LIMIT\ndef limit():\n    return LIMIT\n"
        )
        (tmp_path / name / "lib" / "inner").mkdir()  # a package without a text
        (tmp_path / name / "lib" / "inner" / "deep.py").write_text(f"LIMIT = {limit}\n")
    return str(tmp_path / "a/specs/spec.py"), str(tmp_path / "b/specs/spec.py")


def test_a_library_of_the_same_name_is_its_own(two: tuple[str, str]) -> None:
    found = [check(spec).verdict for spec in (*two, *two)]

    assert ["holds", "violated", "holds", "violated"] == found
    assert "small is violated" in str(compare(*two))


FOUND = """
import os, sys
from importlib.util import spec_from_file_location
class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "params":
            place = os.path.join(os.path.dirname(__file__), "sub", "params.py")
            return spec_from_file_location(name, place)
sys.meta_path.insert(0, Finder)
"""
# Files below the folder of a spec, and the lines with which the spec gets its limit. What is in
# "shared" lies on the search path of all.
WAYS = {
    "a helper imports in a function": (
        {"lib/helper.py": "def limit():\n    import params\n    return params.LIMIT\n",
         "lib/params.py": "LIMIT = {}\n"},
        BESIDE + "from helper import limit\n",
    ),
    "a package imports from itself in a function": (
        {"lib/helper/__init__.py":
         "def limit():\n    from .params import LIMIT\n    return LIMIT\n",
         "lib/helper/params.py": "LIMIT = {}\n"},
        BESIDE + "from helper import limit\n",
    ),
    "a relative place": (
        {"lib/helper.py": "LIMIT = {}\ndef limit():\n    return LIMIT\n"},
        "import os, sys\nos.chdir(os.path.dirname(os.path.dirname(__file__)))\n"
        "sys.path.insert(0, 'lib')\nfrom helper import limit\n",
    ),
    "a shared helper imports another": (
        {"lib/params.py": "LIMIT = {}\n",
         "../shared/facade.py": "from params import LIMIT\ndef limit():\n    return LIMIT\n"},
        BESIDE + "from facade import limit\n",
    ),
    "a package in two places": (
        {"lib/pk/params.py": "LIMIT = {}\n", "../shared/pk/other.py": ""},
        BESIDE + "import pk.other\nfrom pk.params import LIMIT\nlimit = lambda: LIMIT\n",
    ),
    "a shared helper keeps something": (
        {"limit.txt": "{}",
         "../shared/keeping.py": "from functools import lru_cache\n@lru_cache\ndef read(name):\n"
         "    with open(name) as file:\n        return int(file.read())\n"},
        "import os\nos.chdir(os.path.dirname(os.path.dirname(__file__)))\n"
        "from keeping import read\nLIMIT = read('limit.txt')\nlimit = lambda: LIMIT\n",
    ),
    "a finder": (
        {"lib/found.py": "import sys, types\nfrom importlib.machinery import ModuleSpec\n"
         "class Finder:\n"
         "    @staticmethod\n    def find_spec(name, path=None, target=None):\n"
         "        return ModuleSpec(name, Finder) if name == 'params' else None\n"
         "    @staticmethod\n    def create_module(spec):\n        return None\n"
         "    @staticmethod\n    def exec_module(module):\n        module.LIMIT = {}\n"
         "sys.meta_path.append(Finder)\n"},
        BESIDE + "import found\nfrom params import LIMIT\nlimit = lambda: LIMIT\n",
    ),
    "a module that is made": (
        {"limit.txt": "{}"},
        "import os, sys, types\n"
        "if 'made' not in sys.modules:\n"
        "    sys.modules['made'] = types.ModuleType('made')\n"
        "    with open(os.path.join(os.path.dirname(__file__), '../limit.txt')) as file:\n"
        "        sys.modules['made'].LIMIT = int(file.read())\n"
        "from made import LIMIT\nlimit = lambda: LIMIT\n",
    ),
    "something else that is made": (
        {},
        "import sys, types\nLIMIT = 8 if '/a/' in __file__ else 3\n"
        "sys.modules.setdefault('made', types.SimpleNamespace(LIMIT=LIMIT))\n"
        "import made\nlimit = lambda: made.LIMIT\n",
    ),
    "one that is made none": (
        {"lib/params.py": "LIMIT = {}\n"},
        BESIDE + "try:\n    from params import LIMIT\nexcept ImportError:\n    LIMIT = 5\n"
        "sys.modules['params'] = None\nlimit = lambda: LIMIT\n",
    ),
    "a thread of a helper": (
        {"lib/helper.py": "from concurrent.futures import ThreadPoolExecutor\n"
         "from importlib import import_module\nwith ThreadPoolExecutor() as pool:\n"
         "    [params] = pool.map(import_module, ['params'])\n"
         "limit = lambda: params.LIMIT\n",
         "lib/params.py": "LIMIT = {}\n"},
        BESIDE + "from helper import limit\n",
    ),
    "a module beside the spec, in a step of a helper": (
        {"lib/helper.py": "def limit():\n    from beside import LIMIT\n    return LIMIT\n",
         "specs/beside.py": "LIMIT = {}\n", "../shared/beside.py": "LIMIT = 5\n"},
        BESIDE + "from helper import limit\n",
    ),
    "a module beside the spec, which a helper changes": (
        {"lib/helper.py": "import beside\nbeside.LIMIT = {}\n", "specs/beside.py": "LIMIT = 5\n"},
        BESIDE + "import beside, helper\nlimit = lambda: beside.LIMIT\n",
    ),
    "a module beside the spec, which a helper imports first": (
        {"lib/helper.py": "import beside\nbeside.LIMIT = {}\n", "specs/beside.py": "LIMIT = 5\n"},
        BESIDE + "import helper, beside\nlimit = lambda: beside.LIMIT\n",
    ),
    "a place that is named by the spec's folder": (
        {"lib/params.py": "LIMIT = {}\n"},
        "import importlib, os, sys\n"
        "sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'lib'))\n"
        "import params\nimportlib.reload(params)\nlimit = lambda: params.LIMIT\n",
    ),
    "a module beside the spec, by its name": (
        {"specs/beside.py": "import sys\nLIMIT = {}\n"
         "limit = lambda: sys.modules[__name__].LIMIT\n"},
        "from beside import limit\n",
    ),
    "its location": (
        {"lib/params.py": "LIMIT = {}\n"},
        BESIDE + "import os\nfrom importlib.util import module_from_spec, spec_from_file_location\n"
        "if 'located' not in sys.modules:\n"
        "    found = spec_from_file_location('located', os.path.join(sys.path[0], 'params.py'))\n"
        "    sys.modules['located'] = module_from_spec(found)\n"
        "    found.loader.exec_module(sys.modules['located'])\n"
        "from located import LIMIT\nlimit = lambda: LIMIT\n",
    ),
    "a finder in front": (
        {"lib/found.py": FOUND + "def limit():\n    import params\n    return params.LIMIT\n",
         "lib/sub/params.py": "LIMIT = {}\n", "../shared/params.py": "LIMIT = 5\n"},
        BESIDE + "from found import limit\n",
    ),
    "a finder in front, asked by who put it there": (
        {"lib/found.py": FOUND + "import params\ndef limit():\n    return params.LIMIT\n",
         "lib/sub/params.py": "LIMIT = {}\n", "../shared/params.py": "LIMIT = 5\n"},
        BESIDE + "from found import limit\n",
    ),
    "a part of the spec that a helper imports first": (
        {"lib/params.py": "from statewalk import Constant\nLIMIT: Constant[int] = 8\nSAID = [8]\n",
         "lib/helper.py": "import params\ndef limit():\n    return params.SAID[0]\n"},
        BESIDE + "from helper import limit\nimport params\nparams.SAID[0] = {}\n",
    ),
    "a module beside the spec, in a folder, that a helper imports first": (
        {"specs/inner/params.py": "SAID = [8]\n",
         "lib/helper.py": "from inner.params import SAID\ndef limit():\n    return SAID[0]\n"},
        BESIDE + "from helper import limit\nfrom inner import params\nparams.SAID[0] = {}\n",
    ),
    "a hook": (
        {"lib/params.py": "LIMIT = {}\n"},
        "import os, sys\nfrom importlib.machinery import FileFinder, SourceFileLoader\n"
        "def hook(place):\n    if place != 'my:':\n        raise ImportError\n"
        "    lib = os.path.join(os.path.dirname(os.path.dirname(__file__)), 'lib')\n"
        "    return FileFinder(lib, (SourceFileLoader, ['.py']))\n"
        "sys.path_hooks.append(hook)\nsys.path.insert(0, 'my:')\n"
        "def limit():\n    from params import LIMIT\n    return LIMIT\n",
    ),
}  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize("way", WAYS)
def test_what_one_spec_imports_is_not_what_another_gets(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, head = WAYS[way]
    for folder, limit in (("a", 8), ("b", 3)):
        for name, text in {**files, "specs/spec.py": head + SPEC}.items():
            file = tmp_path / folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text.replace("{}", str(limit)))
    monkeypatch.syspath_prepend(tmp_path / "shared")
    specs = [str(tmp_path / folder / "specs" / "spec.py") for folder in "abba"]

    models = [load(spec) for spec in specs]
    found = [check(spec).verdict for spec in specs]

    assert ["holds", "violated", "violated", "holds"] == found
    assert found == [check(model).verdict for model in models]
    assert "small is violated" in str(compare(*specs[:2]))


@pytest.mark.parametrize(
    ("head", "fast"),
    [
        ("F: Constant[Callable[[], int]] = slow\nlimit = lambda: 3 if F is fast else 9\n", "fast"),
        (
            "F: Constant[Mode] = Mode.SLOW\nlimit = lambda: 3 if F is Mode.FAST else 9\n",
            "Mode.FAST",
        ),
    ],
    ids=["function", "enum"],
)
def test_a_constant_of_a_shared_helper_is_the_same_in_all_loads(
    head: str, fast: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "kinds.py").write_text(
        "from enum import Enum\nclass Mode(Enum):\n    SLOW = 1\n    FAST = 2\n"
        "def fast():\n    return 3\ndef slow():\n    return 9\n"
    )
    monkeypatch.syspath_prepend(tmp_path / "shared")
    (tmp_path / "specs").mkdir()
    spec = tmp_path / "specs" / "spec.py"
    imports = "from collections.abc import Callable\nfrom statewalk import Constant, config\n"
    imports += "from kinds import Mode, fast, slow\n"
    spec.write_text(f"{imports}{head}{SPEC}config('f', F={fast})\n")

    assert "holds" == check(spec).verdict
    assert "violated" == check(spec, config="f").verdict
    assert "violated" == check(spec, load(spec, config="f").constants).verdict


def test_a_place_that_is_appended_comes_last_in_steps_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder, limit in (("shared", 9), ("lib", 3)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "params.py").write_text(f"LIMIT = {limit}\n")
    (tmp_path / "lib" / "helper.py").write_text(
        "def limit():\n    import params\n    return params.LIMIT\n"
    )
    monkeypatch.syspath_prepend(tmp_path / "shared")
    (tmp_path / "specs").mkdir()
    spec = tmp_path / "specs" / "spec.py"
    spec.write_text(BESIDE.replace("insert(0, ", "append(") + "from helper import limit\n" + SPEC)

    assert "holds" == check(spec).verdict


def test_models_that_are_loaded_keep_theirs(two: tuple[str, str]) -> None:
    models = [load(spec) for spec in two]

    assert ["holds", "violated"] == [check(model).verdict for model in models]
    assert ["violated", "holds"] == [check(model).verdict for model in models[::-1]]


def test_a_place_to_look_for_modules_is_not_shared(two: tuple[str, str], tmp_path: Path) -> None:
    alone = tmp_path / "b" / "specs" / "alone.py"
    alone.write_text(TRIED + SPEC)

    assert "violated" == check(alone).verdict
    assert "holds" == check(two[0]).verdict
    assert "violated" == check(alone).verdict


def test_a_place_that_a_spec_added_is_looked_in_by_its_own_steps(
    two: tuple[str, str], tmp_path: Path
) -> None:
    first = tmp_path / "a" / "specs" / "late.py"
    first.write_text(BESIDE + SPEC.replace("return c.n", "from helper import limit; return c.n"))
    model = load(first)
    load(two[1])

    assert "holds" == check(model).verdict


def test_what_the_caller_added_stays(two: tuple[str, str], tmp_path: Path) -> None:
    load(two[0])
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "helper.py").write_text("limit = lambda: 8\n")
    sys.path.append(str(tmp_path / "mine"))
    alone = tmp_path / "b" / "specs" / "alone.py"
    alone.write_text(TRIED + SPEC)

    assert "holds" == check(alone).verdict
    assert "holds" == check(alone).verdict


def test_a_module_of_the_caller_is_shared(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "mine.py").write_text("LIMIT = 3\nlimit = lambda: LIMIT\n")
    sys.path.append(str(tmp_path / "lib"))
    import mine  # type: ignore[import-not-found]

    mine.LIMIT = 8
    (tmp_path / "specs").mkdir()
    spec = tmp_path / "specs" / "spec.py"
    spec.write_text("from mine import limit\n" + SPEC)

    assert ["holds", "holds"] == [check(spec).verdict for _ in range(2)]


def test_the_current_folder_is_put_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "limit.txt").write_text("8")
    spec = tmp_path / "inner" / "spec.py"
    spec.write_text(
        "import os\nos.chdir(os.path.dirname(__file__))\nlimit = lambda: LIMIT\n"
        "with open('limit.txt') as file:\n    LIMIT = int(file.read())\n" + SPEC
    )
    monkeypatch.chdir(tmp_path)

    assert "holds" == check("inner/spec.py").verdict
    assert str(tmp_path) == os.getcwd()
    monkeypatch.chdir(tmp_path / "inner")
    assert "holds" == check("spec.py").verdict


@pytest.mark.parametrize(
    "change",
    ["os.environ['LIMIT'] = '8'", "os.environ.setdefault('LIMIT', '8')", "del os.environ['HOME']",
     "os.putenv('LIMIT', '8')", "import setting"],
)  # fmt: skip
def test_no_spec_changes_the_environment(
    change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "here")
    (tmp_path / "setting.py").write_text("import os\nos.environ['LIMIT'] = '8'\n")
    spec = tmp_path / "spec.py"
    spec.write_text(f"import os\n{change}\nlimit = lambda: 8\n{SPEC}")

    with pytest.raises(SpecError, match="changes a variable of the environment") as raised:
        load(spec)

    assert ("SW102", "here") == (raised.value.code, os.environ["HOME"])
    assert "LIMIT" not in os.environ


@pytest.mark.parametrize(
    "moves", ["sys.path.insert(0, SECOND)", "sys.path.sort(key=lambda place: place != SECOND)"]
)
def test_the_order_of_places_is_not_shared(
    moves: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder, limit in (("second", 3), ("first", 8)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "params.py").write_text(f"LIMIT = {limit}\n")
        monkeypatch.syspath_prepend(tmp_path / folder)
    late = "def limit():\n    from params import LIMIT\n    return LIMIT\n" + SPEC
    (tmp_path / "specs").mkdir()
    other, spec = tmp_path / "specs" / "other.py", tmp_path / "specs" / "spec.py"
    other.write_text(f"import sys\nSECOND = {str(tmp_path / 'second')!r}\n{moves}\n{late}")
    spec.write_text(late)
    models, around = [load(other), load(spec)], [*sys.path]

    assert ["violated", "holds"] == [check(model).verdict for model in models]
    assert "holds" == check(spec).verdict
    assert around == sys.path


def test_a_spec_and_the_one_that_it_refines_have_places_of_their_own(
    two: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "helper.py").write_text("limit = lambda: 8\n")
    monkeypatch.syspath_prepend(tmp_path / "shared")
    late = "def limit():\n    from helper import limit as found\n    return found()\n"
    folder, moves = tmp_path / "b" / "specs", "self.n = min(self.n + 1, limit())"
    text = SPEC.replace("self.n = (self.n + 1) % 8", moves)
    (folder / "abstract.py").write_text(BESIDE + late + text)
    spec = folder / "spec.py"
    refined = "from statewalk import refines\nok = refines('abstract.py')\n"
    spec.write_text(BESIDE + text.replace("limit()", "8") + refined)

    assert 4 == check(spec, properties=["ok"]).traces["ok"].length


@pytest.mark.parametrize("by", ["the spec", "a helper"])
def test_a_module_of_pythons_comes_in_the_place_of_none(by: str, tmp_path: Path) -> None:
    (tmp_path / "specs").mkdir()
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "sched.py").write_text("LIMIT = 8\n")
    (tmp_path / "lib" / "by.py").write_text("from sched import LIMIT\n")
    other, spec = tmp_path / "specs" / "other.py", tmp_path / "specs" / "spec.py"
    other.write_text("import sched\nlimit = lambda: 8 if sched.scheduler else 0\n" + SPEC)
    name = "sched" if by == "the spec" else "by"
    spec.write_text(BESIDE + f"from {name} import LIMIT\nlimit = lambda: LIMIT\n" + SPEC)

    assert ["holds"] * 4 == [check(one).verdict for one in (other, spec, other, spec)]


def test_an_archive_that_is_written_anew_is_read_anew(tmp_path: Path) -> None:
    spec = tmp_path / "spec.py"
    spec.write_text(
        "import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), 'lib.zip'))\n"
        "from zipped import limit\n" + SPEC
    )
    for text in ("limit = lambda: 8\n", "# a longer text\nlimit = lambda: 3\n"):
        with ZipFile(tmp_path / "lib.zip", "w") as archive:
            archive.writestr("zipped.py", text)
        found = check(spec).verdict

    assert "violated" == found


def test_what_other_threads_import_meanwhile_stays(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("")
    spec = tmp_path / "specs" / "spec.py"
    spec.parent.mkdir()
    began, goes_on = tmp_path / "began", tmp_path / "goes on"
    spec.write_text(
        f"from pathlib import Path\nPath({str(began)!r}).touch()\n"
        f"while not Path({str(goes_on)!r}).exists():\n    pass\nlimit = lambda: 8\n{SPEC}"
    )
    sys.path.append(str(tmp_path))
    loading = Thread(target=load, args=[spec])
    loading.start()
    while not began.exists():
        time.sleep(0.01)
    mine = importlib.import_module("mine")
    goes_on.touch()
    loading.join()
    assert sys.modules["mine"] is mine


def test_models_of_the_library_are_found_after_one_is_loaded() -> None:
    for name in ("objects/register", "objects/kv"):
        load(spec_path(name))

    assert library_folder().is_dir()


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_an_authors_module_may_be_named_as_one_of_pythons(engine: str, tmp_path: Path) -> None:
    for name, text in {
        "lib/csv.py": "LIMIT = 8\n",
        "lib/helper.py": "def limit():\n    import csv\n    return getattr(csv, 'LIMIT', 3)\n",
        "specs/spec.py": BESIDE + "from helper import limit\n" + SPEC,
        "specs/itself.py": BESIDE + "def limit():\n    import csv\n    return csv.LIMIT\n" + SPEC,
        "specs/first.py": BESIDE + "import csv\nlimit = lambda: csv.LIMIT\n" + SPEC,
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)

    for name in ("spec", "itself", "first"):
        model = load(tmp_path / "specs" / f"{name}.py")
        importlib.import_module("csv")  # as the engine may, after the load

        assert check(model, engine=engine).holds, name
    assert hasattr(importlib.import_module("csv"), "reader")


def test_what_puts_something_else_in_its_own_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text(
        "import sys\nLIMIT = 8\nclass Other:\n    LIMIT = 3\nsys.modules[__name__] = Other()\n"
    )
    (tmp_path / "spec.py").write_text("from helper import LIMIT\nlimit = lambda: LIMIT\n" + SPEC)

    with pytest.raises(SpecError, match="something else in its own place"):
        load(tmp_path / "spec.py")
