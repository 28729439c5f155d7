"""pytest collects configurations where a project says so, and shows the trace of what fails."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from tests.checker.commands.everyday.test_test import SPEC, WRONG
from tests.places import ROOT

# an installed statewalk is found by pytest itself; one that is not has to be named
PLUGIN = [
    word
    for word in ("-p", "statewalk.checker.commands.everyday.pytest_plugin")
    if "statewalk" not in entry_points(group="pytest11").names
]


def said(folder: Path, *words: str) -> str:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *PLUGIN, *words]
    done = subprocess.run(
        command, cwd=folder, check=False, capture_output=True, text=True,
        env={"PYTHONPATH": str(ROOT), "PATH": "", "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    return done.stdout


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "counter.py").write_text(SPEC + WRONG)
    return tmp_path


def test_configurations_are_tests_where_specs_are_named(project: Path) -> None:
    (project / "pytest.ini").write_text("[pytest]\nstatewalk_specs = specs\n")

    out = said(project, "specs")

    assert "1 failed, 2 passed" in out
    assert "!   3  Counter · count" in out
    assert "FAILED specs/counter.py::wrong - VIOLATED  small" in out


@pytest.mark.thorough
def test_a_folder_is_named_from_where_the_setting_is(project: Path) -> None:
    (project / "tests").mkdir()
    (project / "linked").symlink_to(project / "specs")
    (project / "tests/pytest.ini").write_text(
        "[pytest]\nstatewalk_specs = ../linked\n    ../spces\n"
    )

    out = said(project, "-c", "tests/pytest.ini", "specs")

    assert "1 failed, 2 passed" in out
    assert f"PytestConfigWarning: statewalk_specs: there is no {project}/spces" in out
    assert "linked" not in out


@pytest.mark.slow
def test_without_the_setting_nothing_is_collected(project: Path) -> None:
    assert "no tests ran" in said(project, "specs")


@pytest.mark.slow
def test_a_mistake_in_a_spec_is_shown_with_its_place(project: Path) -> None:
    (project / "pytest.ini").write_text("[pytest]\nstatewalk_specs = specs\n")
    (project / "specs" / "counter.py").write_text(SPEC + 'config("a"\n')

    out = said(project, "specs")

    assert "counter.py:21:7: SW100 This is not Python" in out
    assert "Traceback" not in out
