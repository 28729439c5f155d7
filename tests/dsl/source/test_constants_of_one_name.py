"""Constants of one name in two modules of a spec are two, in everything that is said of a run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from statewalk import check, load
from statewalk.dsl.errors import SpecError
from tests.cases import slow

RING = """
from statewalk import *
N: Constant[int] = 2
class Ring(State):
    k: int = 0
    @action
    def turn(self) -> None:
        self.k = (self.k + 1) % N
r = Ring()
"""
MAIN = """
from statewalk import *
import ring
N: Constant[int] = 5
class C(State):
    n: int = 0
    @action
    def up(self) -> None:
        require(self.n < N)
        self.n += 1
c = C()
@always
def small() -> bool:
    return not (c.n == N and ring.r.k == ring.N - 1)
"""


def replayed(spec: Path, trace: Path) -> str:
    """Return what a fresh process with another hash seed says."""
    command = [sys.executable, "-m", "statewalk", "replay", str(trace), "--spec", str(spec)]
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    return subprocess.run(
        command, capture_output=True, text=True, env=environment, check=False
    ).stdout


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    (tmp_path / "ring.py").write_text(RING)
    (tmp_path / "spec.py").write_text(MAIN)
    return tmp_path / "spec.py"


def test_each_goes_by_the_name_of_its_module(spec: Path) -> None:
    found = load(spec).constants

    assert {"ring.N": 2, "spec.N": 5} == found


def test_one_that_two_modules_use_is_one(spec: Path) -> None:
    spec.write_text(MAIN.replace("N: Constant[int] = 5\n", "from ring import N\n"))

    found = load(spec, {"N": 3}).constants

    assert {"N": 3} == found


def test_each_can_be_given_a_value(spec: Path) -> None:
    found = load(spec, {"ring.N": 3, "spec.N": 1}).constants

    assert {"ring.N": 3, "spec.N": 1} == found


def test_what_sets_both_is_refused(spec: Path) -> None:
    with pytest.raises(SpecError) as caught:
        load(spec, {"N": 3})

    assert "SW301" == caught.value.code
    assert "N is the name of 2 constants: ring.N, spec.N." == caught.value.message


def test_a_bare_name_sets_the_one_that_is_not_named_in_full(spec: Path) -> None:
    found = load(spec, {"ring.N": 3, "N": 1}).constants

    assert {"ring.N": 3, "spec.N": 1} == found


def test_a_configuration_says_which(spec: Path) -> None:
    spec.write_text(MAIN + 'config("more", **{"ring.N": 4})\n')

    found = load(spec, config="more").constants

    assert {"ring.N": 4, "spec.N": 5} == found


@pytest.mark.thorough
@pytest.mark.parametrize("engine", ["native", slow("reference")])
def test_a_trace_is_repeated_with_both_values(engine: str, spec: Path, tmp_path: Path) -> None:
    check(spec, {"ring.N": 3, "spec.N": 2}, engine=engine, out=tmp_path / "run")
    saved = json.loads((tmp_path / "run" / "result.json").read_text())

    again = replayed(spec, tmp_path / "run" / "small.trace.json")

    assert "REPRODUCED  4 steps" in again
    assert {"ring.N": 3, "spec.N": 2} == saved["constants"]


def test_a_helper_without_the_language_has_no_constants(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text(
        "from __future__ import annotations\nN: Constant[int] = 2\n"
    )
    (tmp_path / "spec.py").write_text(MAIN.replace("ring.r.k == ring.N - 1", "ring.N > 2")
                                      .replace("import ring", "import helper as ring"))  # fmt: skip

    found = load(tmp_path / "spec.py", {"N": 3}).constants

    assert {"N": 3} == found
