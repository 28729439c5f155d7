"""A user's project whose own packages are called as ours: in the checkout, and with a wheel."""

from __future__ import annotations

import shutil
import sys
import tomllib
from pathlib import Path

import pytest

from tests.package.building import Command, build, installed, run
from tests.places import ROOT

FILES = {
    "models/__init__.py": "LIMIT = 3\n",
    "dsl.py": "START = 1\n",
    "checker/__init__.py": "def allowed(n: int) -> bool:\n    return n <= 3\n",
    "spec.py": '''"""A counter."""

from checker import allowed
from dsl import START
from models import LIMIT
from statewalk import Constant, Role, action, always, config, holds

COUNTERS: Constant[int] = 2


class Counter(Role):
    n: int = START

    @action
    def up(self) -> None:
        self.n = self.n % LIMIT + START


counters = [Counter() for _ in range(COUNTERS)]


@always
def small() -> bool:
    return all(allowed(counter.n) for counter in counters)


config("one", COUNTERS=1, expect=holds(distinct=3))
''',
    "script.py": '''"""Checks, and what comes of it."""

from models import LIMIT
from statewalk import Replay, Result, Run, Trace, check, load, load_trace, replay, save_trace
from statewalk.models.kafka import init_pid


def again(file: str) -> Replay:
    trace: Trace = load_trace(file)
    save_trace(trace, file)
    return replay(trace)


def spec() -> tuple[str, int]:
    return load("spec.py").name, LIMIT + init_pid.CLIENTS


def written(run: Run) -> Result:
    return run.result


def checked() -> Run:
    return check("spec.py", {"COUNTERS": 2}, engine="reference")
''',
    "test_spec.py": '''"""The counter, checked by a test."""

from models import LIMIT
from statewalk import check


def test_small() -> None:
    result = check("spec.py", engine="reference")
    assert result.verdict == "holds"
    assert result.counts.distinct == LIMIT**2
''',
}
UNKNOWN = "from statewalk import chekc\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="module")
def wheel_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("installed")
    return installed(build("wheel", ROOT, folder / "wheel"), folder / "environment")


@pytest.fixture(params=["checkout", pytest.param("wheel", marks=pytest.mark.slow)])
def python(request: pytest.FixtureRequest) -> Path:
    if request.param == "checkout":
        return Path(sys.executable)
    found: Path = request.getfixturevalue("wheel_python")
    return found


@pytest.mark.thorough
def test_the_command_and_the_module(python: Path, project: Path) -> None:
    check: Command = [python.with_name("statewalk"), "check", "spec.py", "--set", "COUNTERS=1"]
    checked = run([*check, "--engine", "reference"], project)
    version = run([python, "-m", "statewalk", "--version"], project)

    assert "3 distinct states" in checked.stdout, checked.stderr
    assert "statewalk 0.1.0\n" == version.stdout, version.stderr


@pytest.mark.slow
def test_pytest(python: Path, project: Path) -> None:
    plain: Command = [
        python,
        "-c",
        "import sys, pytest; sys.path.remove(''); sys.exit(pytest.main())",
    ]
    module: Command = [python, "-m", "pytest"]
    for command in (plain, module):
        done = run(command, project)

        assert "1 passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.slow
def test_type_checkers_have_nothing_to_say(python: Path, project: Path) -> None:
    strict: Command = [sys.executable, "-m", "mypy", "--strict", "--python-executable", python, "."]
    second: Command = [sys.executable, "-m", "pyright", "--pythonpath", python, "."]
    for command in (strict, second):
        done = run(command, project, PYRIGHT_PYTHON_IGNORE_WARNINGS="1")

        assert 0 == done.returncode, done.stdout + done.stderr

    (project / "unknown.py").write_text(UNKNOWN)
    for command in (strict, second):
        done = run(command, project, PYRIGHT_PYTHON_IGNORE_WARNINGS="1")

        assert "chekc" in done.stdout, done.stdout + done.stderr


@pytest.mark.slow
def test_models_and_pages_are_found_where_only_the_wheel_is(
    wheel_python: Path, project: Path
) -> None:
    command = wheel_python.with_name("statewalk")
    checked = run([command, "check", "init_pid", "--config", "c1b1"], project)
    explained = run([command, "explain", "SW208"], project)

    assert "5 distinct states" in checked.stdout, checked.stderr
    assert (ROOT / "docs/errors/SW208.md").read_text(encoding="utf-8") == explained.stdout


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("written", "right"),
    [
        ("from dsl import Role", "from statewalk import Role, action"),
        ("import dsl", "from statewalk import Role, action"),
        ("from checker import check", "from statewalk import check"),
        ("import models.kafka", "from statewalk.models.kafka import init_pid"),
    ],
)
def test_in_the_checkout_a_name_of_its_folders_is_answered_with_the_right_line(
    written: str, right: str, tmp_path: Path
) -> None:
    (tmp_path / "spec.py").write_text(f"from statewalk import State\n{written}\n")
    command = Path(sys.executable).with_name("statewalk")
    done = run([command, "check", "spec.py"], tmp_path, PYTHONPATH=str(ROOT))

    assert 2 == done.returncode
    assert f"write `{right}`" in done.stderr, done.stderr


def test_a_checkout_without_links_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "statewalk").mkdir()
    shutil.copy(ROOT / "statewalk/__init__.py", tmp_path / "statewalk")
    for name in ("dsl", "checker", "models"):
        (tmp_path / "statewalk" / name).write_text(f"../{name}")
    done = run([sys.executable, "-c", "import statewalk"], tmp_path)

    assert "ImportError: statewalk/dsl, statewalk/checker and statewalk/models are links" in (
        done.stderr
    )
    assert "git clone -c core.symlinks=true" in done.stderr
    assert "During handling" not in done.stderr


def test_a_checkout_that_is_installed_gives_one_name(tmp_path: Path) -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    (folder,) = settings["tool"]["hatch"]["build"]["dev-mode-dirs"]
    for name in ("models", "checker", "tests", "examples"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine.py").write_text(f"NAME = '{name}'\n")
    script = "import statewalk.models.toys.die_hard\n" + "".join(
        f"import {name}.mine\nprint({name}.mine.NAME)\n" for name in ("models", "tests", "examples")
    )
    (tmp_path / "a.py").write_text(script)

    done = run([sys.executable, "a.py"], tmp_path, PYTHONPATH=str(ROOT / folder))
    assert ["statewalk"] == [path.name for path in (ROOT / folder).iterdir()]
    assert ["models", "tests", "examples"] == done.stdout.split(), done.stderr
