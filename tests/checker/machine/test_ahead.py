"""Compilation ahead of any check: every kernel, for the types that it is then called with.

What only large models meet (wider numbers in rows and labels) stays for then.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from statewalk.checker import native
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.history.decide.check import check_levels
from statewalk.checker.history.formats.jsonl import from_records
from statewalk.checker.liveness import kernels as liveness
from statewalk.checker.liveness.check import check_liveness
from statewalk.checker.liveness.explore import build
from statewalk.checker.machine.ahead import all_kernels, compiled, types_of
from statewalk.checker.machine.compiling import SOURCES
from statewalk.dsl.loader import load
from tests.places import ROOT

TOYS = ROOT / "models" / "toys"


def kernel(module: str, name: str) -> Any:
    """As it is called."""
    function = getattr(import_module(f"statewalk.checker.{module}"), name)
    return liveness.compiled(function) if module == "liveness.kernels" else function


def test_every_type_is_known() -> None:
    """A named tuple has the name of its class."""
    for module, name in all_kernels():
        assert types_of(module, name), (module, name)


def test_no_kernel_is_missing() -> None:
    kept = set()
    for source in (s.removesuffix(".py").replace("/", ".") for s in SOURCES if "kernels" in s):
        there = import_module(f"statewalk.checker.{source}")
        for name, value in vars(there).items():
            own = getattr(value, "__module__", "") == there.__name__
            if own and hasattr(getattr(value, "_cache", None), "_cache_file"):
                kept.add((source, name))

    assert kept == {k for k in all_kernels() if k[0] != "liveness.kernels"}


@pytest.mark.thorough
def test_checks_call_kernels_with_the_types_they_are_compiled_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(liveness, "SMALL", -1)
    for spec in ("two_phase_commit.py", "token_ring.py"):
        model = load(TOYS / spec)
        native.explore(model, SearchOptions())
        native.explore(model, SearchOptions(symmetry=spec == "two_phase_commit.py"))
        live = tuple(p for p in model.properties if p.of_kind.liveness)
        check_liveness(model, build(model, SearchOptions(), live), model.properties)
    check_levels(
        from_records(
            {"session": i, "ops": [["r", "x", None], ["r", "y", None], ["w", "xy"[i % 2], i]]}
            for i in range(3)
        )
    )
    names = {"expand", "check", "insert", "gather", "orbits", "scan", "components"}
    called = {k for k in all_kernels() if k[1] in names and kernel(*k).signatures}

    assert names == {name for _, name in called}
    assert [] == [k for k in sorted(called) if types_of(*k)[0] not in kernel(*k).signatures]


def test_compiling_ahead_leaves_nothing_to_compile() -> None:
    made = compiled("native.kernels.runs", "mark")

    assert types_of("native.kernels.runs", "mark") == made.signatures
    assert 2 == len(types_of("native.kernels.tables", "insert"))  # ids of one byte and of two
