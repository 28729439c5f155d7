"""The configurations of a spec by name, which tests are named after: a Model takes much longer."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from statewalk.checker.api import declared_within
from statewalk.dsl.declared import Configuration


@cache
def declared(path: Path) -> dict[str, Configuration]:
    """Return what the modules of a spec say when they run with its defaults."""
    return {c.name: c for c in declared_within(path).declared.configurations}
