"""A search on disk goes on after any interruption, or says why it cannot."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from statewalk.checker import native
from statewalk.checker.contract.saved import MANIFEST
from statewalk.checker.contract.search import SearchOptions
from statewalk.dsl.errors import RunError
from statewalk.dsl.loader import load
from statewalk.dsl.model import Model
from tests.cases import slow, some
from tests.checker.native.agreement import told
from tests.checker.native.generated import generate
from tests.checker.native.hand import two_phase_commit
from tests.places import ROOT

BROKEN = two_phase_commit(3, broken=True)
THREADED = sorted((ROOT / "specs" / "toys").glob("threads*"))


def interrupted_at(depth: int, folder: Path, model: Model = BROKEN) -> SearchOptions:
    options = SearchOptions(keep_going=True, checkpoint=str(folder))
    native.explore(model, replace(options, max_depth=depth))
    return replace(options, resume=True)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("depth", [1, 2, 5, 9])
def test_a_resumed_search_ends_like_one_that_was_never_interrupted(
    depth: int, tmp_path: Path
) -> None:
    expected = native.explore(BROKEN, SearchOptions(keep_going=True))
    resumed = native.explore(BROKEN, interrupted_at(depth, tmp_path))

    assert told(expected) == told(resumed)
    assert () == resumed.warnings


@pytest.mark.parametrize("seed", some(range(30), every=10))
def test_generated_models_are_resumed(seed: int, tmp_path: Path) -> None:
    model = generate(random.Random(seed))
    options = SearchOptions(keep_going=True, max_states=300)
    expected = native.explore(model, options)
    saving = replace(options, checkpoint=str(tmp_path))
    native.explore(model, replace(saving, max_depth=2))
    if not (tmp_path / MANIFEST).exists():
        return
    resumed = native.explore(model, replace(saving, resume=True))

    assert told(expected) == told(resumed)


@pytest.mark.thorough
@pytest.mark.parametrize("depth", [2, slow(5)])
@pytest.mark.parametrize("spec", THREADED, ids=lambda path: path.name)
def test_specs_with_threads_are_resumed(spec: Path, depth: int, tmp_path: Path) -> None:
    expected = native.explore(load(spec), SearchOptions(keep_going=True))
    options = interrupted_at(depth, tmp_path, load(spec))
    resumed = native.explore(load(spec), options)

    assert (tmp_path / MANIFEST).exists()
    assert told(expected) == told(resumed)


def test_an_interrupt_in_the_middle_of_a_level_loses_only_that_level(tmp_path: Path) -> None:
    expected = native.explore(BROKEN, SearchOptions(keep_going=True))
    calls = iter(range(1000))
    options = SearchOptions(
        keep_going=True, checkpoint=str(tmp_path), interrupted=lambda: next(calls) >= 7
    )
    stopped = native.explore(BROKEN, options)
    resumed = native.explore(
        BROKEN, SearchOptions(keep_going=True, checkpoint=str(tmp_path), resume=True)
    )

    assert "interrupt" == stopped.stopped
    assert told(expected) == told(resumed)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", ["frontier", "level", "values"])
@pytest.mark.parametrize("how", ["short", "changed", "missing"])
def test_a_torn_file_is_noticed_and_the_checkpoint_before_is_used(
    kind: str, how: str, tmp_path: Path
) -> None:
    expected = native.explore(BROKEN, SearchOptions(keep_going=True))
    options = interrupted_at(6, tmp_path)
    last = sorted(tmp_path.glob(f"{kind}-*.npz"))[-1]
    data = last.read_bytes()
    if how == "short":
        last.write_bytes(data[:-10])
    elif how == "changed":
        middle = data.index(b".npy") + 150
        last.write_bytes(data[:middle] + bytes([data[middle] ^ 255]) + data[middle + 1 :])
    else:
        last.unlink()
    resumed = native.explore(BROKEN, options)

    assert told(expected) == told(resumed)


def test_a_torn_manifest_is_noticed(tmp_path: Path) -> None:
    expected = native.explore(BROKEN, SearchOptions(keep_going=True))
    options = interrupted_at(6, tmp_path)
    text = (tmp_path / MANIFEST).read_text()
    (tmp_path / MANIFEST).write_text(text[:-20])
    resumed = native.explore(BROKEN, options)

    assert told(expected) == told(resumed)


def test_a_changed_spec_is_refused(tmp_path: Path) -> None:
    options = interrupted_at(4, tmp_path)
    changed = replace(BROKEN, sources={"spec.py": "another text"})

    with pytest.raises(RunError, match="another spec") as raised:
        native.explore(changed, options)
    assert "SW341" == raised.value.code
    assert "spec.py" in raised.value.why


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"sources": {**BROKEN.sources, "more/helper.py": "a text"}}, "helper.py."),
        ({"inputs": {"/data/fizz.yaml": "a text"}}, "fizz.yaml."),
        ({"constants": {**BROKEN.constants, "LIMIT": 5}}, "the constant LIMIT."),
        ({"properties": BROKEN.properties[:-1]}, "what the spec declares."),
        (
            {"inputs": {"numpy": "9.9"}, "properties": BROKEN.properties[:-1]},
            "numpy.",
        ),
    ],
)
def test_what_has_changed_since_a_search_was_begun_is_named(
    changed: dict[str, Any], said: str, tmp_path: Path
) -> None:
    options = interrupted_at(4, tmp_path)

    with pytest.raises(RunError) as raised:
        native.explore(replace(BROKEN, **changed), options)

    assert f"Since it was begun there changed: {said}" == raised.value.why


def test_an_option_that_differs_from_the_search_that_was_begun_is_named(tmp_path: Path) -> None:
    options = interrupted_at(4, tmp_path)

    with pytest.raises(RunError) as raised:
        native.explore(BROKEN, replace(options, fingerprint_bits=128))

    assert "Since it was begun there changed: --fingerprint-bits." == raised.value.why


def test_there_may_be_nothing_to_resume(tmp_path: Path) -> None:
    with pytest.raises(RunError) as raised:
        native.explore(BROKEN, SearchOptions(checkpoint=str(tmp_path), resume=True))
    assert "SW340" == raised.value.code


CHILD = """
import sys
from statewalk.checker import native
from statewalk.checker.contract.search import SearchOptions
from statewalk.dsl.loader import load
from tests.checker.native.agreement import told
from tests.checker.native.hand import two_phase_commit
options = SearchOptions(keep_going=True, checkpoint=sys.argv[1], resume=sys.argv[2] == "resume")
print(told(native.explore({model}, options)))
"""
MODELS = ["two_phase_commit(7)", "load('specs/toys/threads_own.py', {'WORKERS': 4})"]


def run(
    model: str, folder: Path, how: str, kill_after: float | None = None
) -> tuple[int, str, str]:
    root = ROOT
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD.replace("{model}", model), str(folder), how],
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(root)},
        text=True,
    )
    try:
        child.wait(kill_after)
    except subprocess.TimeoutExpired:
        os.kill(child.pid, signal.SIGKILL)
    out, err = child.communicate()
    return child.returncode, out, err


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_killed_at_random_moments_a_search_still_arrives(model: str, tmp_path: Path) -> None:
    _, expected, _ = run(model, tmp_path / "whole", "anew")
    chance = random.Random(1)
    for attempt in range(20):
        folder = tmp_path / str(attempt)
        run(model, folder, "anew", chance.uniform(0.5, 2.5))
        run(model, folder, "resume", chance.uniform(0.5, 2.5))
        code, out, err = run(model, folder, "resume")
        if "SW340" in err:  # killed before the first commit
            code, out, err = run(model, folder, "anew")

        assert (0, expected) == (code, out), err
