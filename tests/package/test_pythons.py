"""The Pythons that statewalk names are those that the smoke set is for."""

from __future__ import annotations

import re
import subprocess

import pytest

from tests.package import pythons
from tests.package.release import PYTHONS
from tests.places import ROOT


def test_classifiers_and_makefile_name_the_supported_pythons() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (search,) = re.findall(r"for python in (.*?);", (ROOT / "Makefile").read_text(encoding="utf-8"))

    assert list(PYTHONS) == re.findall(r'"Programming Language :: Python :: (3\.\d+)"', project)
    assert {f"python{version}" for version in PYTHONS} <= {*search.split()}


def test_every_package_of_the_smoke_set_is_pinned() -> None:
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")

    assert {*pythons.NEEDED} <= {match[1] for match in pythons.PIN.finditer(lock)}


def test_a_python_without_its_packages_is_named_and_no_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(version: str, python: str) -> str:
        raise subprocess.CalledProcessError(1, [python, version], stderr="...\nno index")

    monkeypatch.setattr(pythons, "environment", refused)

    told = "Python 3.15: its packages cannot be installed, not tried (no index)"
    assert (told, False) == pythons.tried("3.15", "python3.15", {})


def test_other_counts_than_here_are_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pythons, "environment", lambda version, python: python)
    monkeypatch.setattr(pythons, "output", lambda *words: '{"toys/die_hard": [1, 2, 3, 4]}')

    told, failed = pythons.tried("3.15", "python3.15", {"toys/die_hard": [14, 73, 7, 1]})
    assert failed
    assert "other counts than here: toys/die_hard" in told
