"""Generated specs as text: reference and native, plain and optimised, one thread and two."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from statewalk.checker import native, quick
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines import reference
from statewalk.checker.native.programs.programs import Programs
from statewalk.dsl.loader import load
from tests.cases import slow, some
from tests.checker.native.agreement import told
from tests.checker.native.spec_source import source

Run = Callable[[Path], dict[str, Any]]


def agree(seed: int, folder: Path, unset: float = 0.0) -> None:
    random = Random(seed)
    path = folder / f"spec_{seed}.py"
    path.write_text(source(random, unset))
    optimised, plain = load(str(path), {}), load(str(path), {}, optimize=False)
    keep_going, most = random.random() < 0.5, random.choice([30, 200])

    def options(threads: int = 1) -> SearchOptions:
        return SearchOptions(keep_going=keep_going, max_states=most, threads=threads)

    expected = told(reference.explore(plain, options()))

    assert expected == told(reference.explore(optimised, options())), seed
    assert expected == told(native.explore(plain, options())), seed
    assert expected == told(native.explore(optimised, options())), seed
    assert expected == told(native.explore(optimised, options(2))), seed
    early = replace(options(), program_after=0)
    assert expected == told(native.explore(optimised, early)), seed
    early = replace(options(), program_after=1 + seed % 3)
    assert expected == told(native.explore(optimised, early)), seed
    found = quick.explore(optimised, options())
    assert found is None or expected == told(found), seed
    with pytest.MonkeyPatch.context() as unverified:
        unverified.setattr(Programs, "_compare", lambda *_: None)
        found = quick.explore(optimised, options())
    assert found is None or expected == told(found), seed


@pytest.mark.parametrize("seed", some(range(12), every=12))
def test_engines_agree_on_generated_specs(seed: int, tmp_path: Path) -> None:
    agree(seed, tmp_path)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [270, slow(762)])
def test_programs_see_what_a_function_without_a_program_wrote(seed: int, tmp_path: Path) -> None:
    agree(seed, tmp_path)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", some(range(3, 15), every=12))
def test_engines_agree_on_fields_that_may_have_no_value(seed: int, tmp_path: Path) -> None:
    agree(seed, tmp_path, random_share(seed))


def random_share(seed: int) -> float:
    """Return how often a spec looks at fields without a value: seldom, so that searches get
    somewhere.
    """
    return (0.03, 0.1, 0.25)[seed % 3]


@pytest.mark.slow
@pytest.mark.parametrize("block", range(50))
def test_engines_agree_on_very_many_specs_with_such_fields(block: int, tmp_path: Path) -> None:
    for seed in range(100 + 20 * block, 100 + 20 * (block + 1)):
        agree(seed, tmp_path, random_share(seed))


@pytest.mark.slow
@pytest.mark.parametrize("block", range(50))
def test_engines_agree_on_very_many_generated_specs(block: int, tmp_path: Path) -> None:
    for seed in range(100 + 20 * block, 100 + 20 * (block + 1)):
        agree(seed, tmp_path)
