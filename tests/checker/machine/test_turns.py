"""The Python API in several threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from statewalk import Run, check, load
from statewalk.dsl.model import Model

SPEC = """
from enum import Enum
from statewalk import State, action, always

class Kind(Enum):
    EVEN = {step}
    ODD = 0

class C(State):
    n: int = 0
    kind: Kind = Kind.EVEN

    @action
    def inc(self) -> None:
        self.n = (self.n + {step}) % {size}
        self.kind = Kind.ODD if self.n % 2 else Kind.EVEN

c = C()

@always
def small() -> bool:
    return c.n < {limit}
"""
SPECS = [(1, 60, 60), (2, 80, 79), (1, 90, 90), (3, 90, 80)]


@pytest.mark.parametrize("loaded", [True, False])
def test_calls_in_several_threads_find_what_each_finds_alone(loaded: bool, tmp_path: Path) -> None:
    files: list[Path] = []
    for step, size, limit in SPECS:
        file = tmp_path / f"spec{len(files)}.py"
        file.write_text(SPEC.format(step=step, size=size, limit=limit))
        files.append(file)
    asked: list[Path | Model] = [load(f) for f in files] if loaded else [*files]

    def found(spec: Path | Model) -> tuple[str, int, str]:
        run: Run = check(spec, engine="reference", keep_going=True)
        return run.verdict, run.counts.distinct, str(run).partition("searched")[0]

    alone = [found(spec) for spec in asked]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(found, asked * 3))

    assert alone * 3 == together
