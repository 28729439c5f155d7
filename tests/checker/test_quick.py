"""The search without kernels says what the reference engine says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from statewalk.checker import disk, quick
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines import reference, table
from statewalk.checker.engines.table import SmallFirst
from statewalk.checker.machine import ahead
from statewalk.dsl.loader import load
from tests.cases import slow, some
from tests.checker.native.agreement import told
from tests.checker.native.programs.test_meaning import BODIES, HEAD

ROOT = Path(__file__).parents[2]
SPECS = [
    "specs/toys/two_phase_commit.fizz",
    "specs/toys/choices.fizz",
    "models/kafka/init_pid.py",
    "models/tables/hudi.py",
    slow("benchmarks/natural/viewchange.py"),
]


def agree(path: Path, options: SearchOptions) -> Any:
    expected = reference.explore(load(str(path), {}), options)
    model = load(str(path), {})
    assert quick.fits(model, options)
    found = quick.explore(model, options)
    if found is not None:
        assert told(found) == told(expected)
    return found


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", some(sorted(BODIES), every=16))
def test_small_specs(name: str, tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    path.write_text(HEAD.replace("@\n", BODIES[name][0].strip("\n") + "\n", 1))

    agree(path, SearchOptions(keep_going=True, max_states=200))
    agree(path, SearchOptions(max_states=200))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("spec", some(SPECS, every=2))
def test_specs(spec: str) -> None:
    assert agree(ROOT / spec, SearchOptions(properties=("Assertion",), max_states=400))


@pytest.mark.thorough
def test_a_check_without_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "SECONDS", 0.0)
    monkeypatch.setattr(quick, "are_kept", lambda: False)
    options = SearchOptions(properties=("Assertion",))
    model = load(str(ROOT / "models/kafka/init_pid.py"), {})

    found = SmallFirst(disk).explore(model, options)

    assert found.statistics["small"]
    assert told(found) == told(reference.explore(model, options))


def test_kernels_are_compiled_beside_a_long_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "_A_WHILE", -1.0)
    monkeypatch.setattr(ahead, "__name__", "this")  # a module of Python's that prints something
    said: list[str] = []
    with ahead.Background(lambda: said.append("compiling")) as work:
        while not work.is_done():
            pass
    assert said == ["compiling"]
