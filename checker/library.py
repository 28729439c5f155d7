"""The model library: which models there are, and whether they give what they say."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from statewalk.dsl.errors import RunError, did_you_mean

if TYPE_CHECKING:
    from statewalk.checker.verdict.result import Result
    from statewalk.dsl.declared import Configuration
    from statewalk.dsl.model import Model


CONFIGURED = re.compile(r"^ *config\(", re.MULTILINE)


@dataclass(frozen=True)
class Entry:
    """A model of the library: ``name`` is its path below the library's folder, without ``.py``."""

    name: str
    path: Path

    def load(self) -> Model:
        """The model with its default constants."""
        from statewalk.checker.api import load

        return load(self.path)

    @property
    def line(self) -> str:
        """The first line of its description."""
        text = self.path.read_text(encoding="utf-8")
        return text.partition('"""')[2].partition("\n")[0].rstrip('"')


def library_folder() -> Path:
    """Where the models are. Raises RunError[SW323]."""
    found = importlib.util.find_spec("statewalk.models")
    if found is None or not found.submodule_search_locations:
        raise RunError(
            "SW323", "The model library is not installed.", help="Install statewalk again."
        )
    return Path(next(iter(found.submodule_search_locations))).resolve()


def entries() -> list[Entry]:
    """The models of the library, by name; modules that only serve others are left out."""
    folder = library_folder()
    found = []
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if path.name != "__init__.py" and CONFIGURED.search(text):
            found.append(Entry(path.relative_to(folder).with_suffix("").as_posix(), path))
    return found


def matching(name: str | None) -> list[Entry]:
    """The models whose name is, or ends with, or starts with the folder of, a name."""
    known = entries()
    if name is None:
        return known
    found = [
        e
        for e in known
        if name in (e.name, e.path.stem) or e.name.startswith(name.rstrip("/") + "/")
    ]
    if not found:
        raise RunError(
            "SW324", f"There is no model {name}. {did_you_mean(name, [e.name for e in known])}"
        )
    return found


@dataclass(frozen=True)
class Row:
    """What one configuration gave."""

    entry: Entry
    configuration: Configuration
    result: Result

    @property
    def passed(self) -> bool:
        return self.result.as_expected is True


def run_configurations(entry: Entry) -> Iterator[Row]:
    """Check every configuration of a model that says what to expect."""
    from statewalk.checker.api import check

    for configuration in entry.load().configurations:
        if configuration.expect is not None:
            yield Row(entry, configuration, check(entry.path, config=configuration.name))
