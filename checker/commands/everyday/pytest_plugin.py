"""For pytest: configurations of specs are tests, where a project names the folders of its specs.

    [tool.pytest.ini_options]
    statewalk_specs = ["specs"]

Without that setting nothing is collected.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from statewalk.checker.verdict.run import Run
    from statewalk.dsl.declared import Configuration

_SETTING = "statewalk_specs"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the setting."""
    text = "folders and files of specs whose configurations are tests"
    parser.addini(_SETTING, text, type="paths", default=[])


def pytest_configure(config: pytest.Config) -> None:
    """Warn of folders that are not there: their specs would be missed without a word."""
    for folder in config.getini(_SETTING):
        if not folder.exists():
            said = f"{_SETTING}: there is no {os.path.normpath(folder)}"
            config.issue_config_time_warning(pytest.PytestConfigWarning(said), stacklevel=2)


def _is_named(file: Path, folders: Sequence[Path]) -> bool:
    """Return whether a file lies in a folder of the setting, by the names that lead there or by
    where it is.
    """
    if not folders:
        return False
    names = Path(os.path.normpath(file)), file.resolve()
    known = [place for f in folders for place in (Path(os.path.normpath(f)), f.resolve())]
    return any(name.is_relative_to(place) for name in names for place in known)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Return a spec, where the file is one and lies where the project says."""
    if file_path.suffix not in (".py", ".fizz"):
        return None
    if not _is_named(file_path, parent.config.getini(_SETTING)):
        return None
    from statewalk.checker.commands.everyday.found import is_tested

    if not is_tested(file_path):
        return None
    return Spec.from_parent(parent, path=file_path)


class NotAsExpected(Exception):
    """A configuration with another result than it expects."""

    def __init__(self, run: Run) -> None:
        super().__init__("; ".join(run.evidence.unexpected) or run.verdict)
        self.run = run


class Spec(pytest.File):
    """A spec with its configurations; of a .fizz file, it as it is."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield one test for each configuration.

        Nothing but the text of the spec is run for that.
        """
        from statewalk.checker.api import declared_within
        from statewalk.dsl.declared import AS_IT_IS

        found: list[Configuration] = []
        if self.path.suffix == ".py":
            found = list(declared_within(self.path).declared.configurations)
        for name in [configuration.name for configuration in found] or [AS_IT_IS]:
            yield Check.from_parent(self, name=name)

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        """Return a mistake in the spec, with its place, and no traceback through statewalk."""
        return _said(excinfo) or super().repr_failure(excinfo)


class Check(pytest.Item):
    """A configuration that is checked."""

    def runtest(self) -> None:
        """Check it. Raises NotAsExpected; is skipped where a bound ended the search."""
        from statewalk.checker.api import check
        from statewalk.checker.verdict import exits
        from statewalk.dsl.declared import AS_IT_IS

        run = check(self.path, config=None if self.name == AS_IT_IS else self.name)
        code = exits.exit_code(run)
        if code == exits.INCONCLUSIVE:
            pytest.skip(f"{run.verdict}: not searched to the end")
        if code != exits.HOLDS:
            raise NotAsExpected(run)

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        """Return the report, with its trace."""
        return _said(excinfo) or super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return where it stands, and what pytest calls it."""
        return self.path, None, f"{self.path.name} [{self.name}]"


def _said(excinfo: Any) -> str:
    from statewalk.dsl.errors import StatewalkError

    error = excinfo.value
    if isinstance(error, NotAsExpected):
        return str(error.run)
    return str(error) if isinstance(error, StatewalkError) else ""
