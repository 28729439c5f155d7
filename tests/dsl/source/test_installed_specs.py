"""A spec may consist of several modules wherever it lies, also among installed packages."""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines.reference import explore
from statewalk.dsl.loader import load


def test_modules_of_an_installed_spec_are_run_afresh_for_each_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site-packages" / "installed_models"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "counting.py").write_text("""
from statewalk import Constant, State, action, require

LIMIT: Constant[int] = 2

class Counter(State):
    n: int = 0

    @action
    def up(self) -> None:
        require(self.n < LIMIT)
        self.n += 1

counter = Counter()
""")
    (package / "spec.py").write_text("""
from statewalk import always, deadlock
from installed_models.counting import LIMIT, counter

deadlock(False)

@always
def bounded() -> bool:
    return counter.n <= LIMIT
""")
    monkeypatch.syspath_prepend(package.parent)

    distinct = [
        explore(load(package / "spec.py", constants), SearchOptions()).counts.distinct
        for constants in ({}, {"LIMIT": 5}, {})
    ]

    assert [3, 6, 3] == distinct
