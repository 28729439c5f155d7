"""The Python API in several threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from statewalk import (
    Run,
    check,
    compare,
    conform,
    load,
    page,
    replay,
    save_trace,
)
from statewalk.dsl.model import Model
from statewalk.dsl.source import apart

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


LAZY = """
import os, sys
from statewalk import State, action, always, draw, picture
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))

class C(State):
    n: int = 0

    @action
    def inc(self) -> None:
        from late import LIMIT
        self.n = min(self.n + 1, LIMIT)

c = C()

@always
def small() -> bool:
    return c.n < 2

@picture
def drawn() -> draw.Part:
    from late import LIMIT
    return draw.text(str(LIMIT - c.n))
"""
GIVEN: dict[str, list[Any]] = {
    "get": [""],
    "of": ["small"],
    "save": ["page.html"],
    "with_files": ["", {}],
    "with_unsaved": [""],
}


@pytest.mark.thorough
def test_whatever_is_asked_of_a_result_leaves_the_world_of_its_spec(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "late.py").write_text("LIMIT = 2\n")
    spec, other, log = (tmp_path / name for name in ("spec.py", "other.py", "log.jsonl"))
    spec.write_text(LAZY)
    other.write_text(LAZY.replace("n < 2", "n < 3"))
    log.write_text('{"action": "inc"}\n')
    run, compared = check(spec), compare(spec, other)
    trace, graph = run.traces["small"], run.graph()
    save_trace(trace, "trace.json")
    asked = [
        run, run.result, trace, trace.states[-1], compared, compared.base, graph, graph.states(),
        replay("trace.json"), conform(spec, log), page(run),
    ]  # fmt: skip
    for one in asked:
        for name in [n for n in dir(type(one)) if _is_asked(n)]:
            if (one, name) != (compared, "__bool__"):
                found = getattr(one, name)
                found = found(*GIVEN.get(name, [])) if callable(found) else found
                assert name != "__iter__" or list(found)
            assert apart._now == [None], f"{type(one).__name__}.{name} takes no turn"


def _is_asked(name: str) -> bool:
    shown = name.startswith("_repr") or name in ("__str__", "__repr__", "__iter__", "__bool__")
    return shown or not name.startswith("_")
