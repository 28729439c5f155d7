"""A run is true where the command ends with 0; what an expected violation leaves is no warning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import statewalk
from statewalk import check, compare
from statewalk.checker.report.ci import to_github
from statewalk.checker.verdict.exits import HOLDS, exit_code

SPEC = """
from statewalk import Constant, State, action, always, config, eventually, holds, require
from statewalk import terminal, violates

N: Constant[int] = 2

class Box(State):
    n: int = 0

    @action(fair="weak")
    def up(self) -> None:
        require(self.n < N)
        self.n += 1

box = Box()

@always
def small() -> bool:
    return box.n < 3

@eventually
def ends() -> bool:
    return box.n == N

@terminal
def full() -> bool:
    return box.n == N

config("small", expect=holds(distinct=3))
config("off", expect=holds(distinct=4))
config("broken", N=5, expect=violates(small))
config("wrong", N=5, expect=holds())
config("never", expect=violates(small))
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    file = tmp_path / "box.py"
    file.write_text(SPEC)
    return file


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("constants", "options", "true"),
    [
        ({}, {}, True),
        ({"N": 5}, {}, False),
        ({}, {"max_depth": 1}, False),
        ({}, {"config": "small"}, True),
        ({}, {"config": "small", "max_depth": 1}, False),
        ({}, {"config": "off"}, False),
        ({}, {"config": "broken"}, True),
        ({}, {"config": "broken", "max_depth": 1}, False),
        ({}, {"config": "broken", "strict": True}, True),
        ({}, {"config": "wrong"}, False),
        ({}, {"config": "never"}, False),
        ({"N": "many"}, {}, False),
    ],
)
def test_a_run_is_true_where_the_command_ends_with_0(
    spec: Path, constants: dict[str, Any], options: dict[str, Any], true: bool
) -> None:
    if constants == {"N": "many"}:
        constants = {}
        spec.write_text(SPEC.replace("self.n += 1", "self.n += 1 // self.n"))
    run = check(spec, constants, engine="reference", **options)

    assert true == bool(run) == (HOLDS == exit_code(run))
    assert true == bool(run.result)


def test_a_comparison_has_no_truth(spec: Path) -> None:
    found = compare(spec, vary={"N": [1, 2]}, engine="reference")

    with pytest.raises(TypeError, match="neither true nor false"):
        bool(found)


def test_what_an_expected_violation_leaves_unchecked_is_no_warning(spec: Path) -> None:
    expected = check(spec, config="broken", engine="reference")
    alone = check(spec, {"N": 5}, engine="reference")
    wrong = check(spec, config="wrong", engine="reference")

    assert ["ends"] == [name for name, _ in expected.evidence.unchecked]
    assert () == expected.warnings
    assert "::warning" not in to_github(expected)
    assert "::notice" in to_github(expected)
    for run in (alone, wrong):
        assert any("ends: the search stopped" in text for text in run.warnings)
        assert "::warning" in to_github(run)


def test_what_is_left_out_for_another_reason_is_a_warning_all_the_same(spec: Path) -> None:
    run = check(spec, config="broken", engine="reference", liveness=False)

    assert run.as_expected
    assert ("ends: --no-liveness",) == run.warnings


def test_the_package_lists_what_it_offers_and_nothing_else() -> None:
    listed = dir(statewalk)

    assert {"check", "load", "Run", "action", "__all__"} <= set(listed)
    assert not {"import_module", "TYPE_CHECKING", "Any"} & set(listed)
    assert all(hasattr(statewalk, name) for name in listed)
