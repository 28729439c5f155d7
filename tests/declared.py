"""The configurations of a spec by name, which tests are named after: a Model takes much longer."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from statewalk.dsl.declared import Configuration
from statewalk.dsl.loader import read_spec
from statewalk.dsl.mutants import run_spec


@cache
def declared(path: Path) -> dict[str, Configuration]:
    """What the modules of a spec say when they run with its defaults."""
    return {c.name: c for c in run_spec(read_spec(str(path)), {}).declared.configurations}
