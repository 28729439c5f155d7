"""Every option of `check` decides something, on the command line and from Python."""

from __future__ import annotations

import argparse
import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from statewalk import check, load
from statewalk.checker.cli import main, make_parser
from statewalk.checker.contract.options import CheckOptions
from statewalk.dsl.errors import RunError, SpecError

SPEC = """
from statewalk import *
N: Constant[int] = 4
BROKEN: Constant[int] = 9
class Counter(Role, symmetric=True):
    n: int = 0
    seen: Auxiliary[int] = 0
    @action
    def up(self) -> None:
        require(self.n < N)
        self.n += 1
    @action
    def reset(self) -> None:
        require(self.n == N)
        self.n = 0
        self.seen = 1
    @action
    def never(self) -> None:
        require(self.n > 99)
        self.n = 0
counters = [Counter(), Counter()]
@always
def small() -> bool:
    return all(c.n < 9 for c in counters)
@always
def tiny() -> bool:
    return all(c.n < 3 + BROKEN for c in counters)
@always
def low() -> bool:
    return all(c.n < 4 + BROKEN for c in counters)
@always
@eventually
def back() -> bool:
    return all(c.n == 0 for c in counters)
config("c", expect=holds())
"""
SAFE = "--no-liveness"

# option → (a check, the same with the option): something of the result differs
PAIRS: dict[str, tuple[str, str]] = {
    "--set": (SAFE, f"{SAFE} --set N=2"),
    "--config": ("", "--config c"),
    "--symmetry": (SAFE, f"{SAFE} --symmetry on"),
    "--view": (SAFE, f"{SAFE} --view on"),
    "--slice": (SAFE, f"{SAFE} --slice on"),
    "--reduce": (SAFE, f"{SAFE} --reduce on"),
    "--engine": (SAFE, f"{SAFE} --engine native"),
    "--property": (SAFE, "--property small"),
    "--keep-going": ("--set BROKEN=0", "--set BROKEN=0 --keep-going"),
    "--no-liveness": ("", SAFE),
    "--allow-unsound": ("--max-depth 4", "--max-depth 4 --allow-unsound"),
    "--max-depth": (SAFE, f"{SAFE} --max-depth 2"),
    "--max-states": (SAFE, f"{SAFE} --max-states 3"),
    "--max-memory": (SAFE, f"{SAFE} --max-memory 1k"),
    "--timeout": (SAFE, f"{SAFE} --timeout 0"),
    "--strict": (SAFE, f"{SAFE} --strict"),
}
# options that say what is written or how it is run have tests of their own
ELSEWHERE = {
    "--help", "--json", "--html", "--out", "--graph", "--junit", "--sarif", "--github", "--props",
    "--checkpoint-every", "--threads", "--fingerprint-bits",
    "--master", "--watch", "--tell", "--levels",
}  # fmt: skip


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec.py").write_text(SPEC)
    return "spec.py"


def outcome(spec: str, options: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    words = options.split()
    engine = [] if "--engine" in words else ["--engine", "reference"]
    code = main(["check", spec, *engine, *words, "--json", "-"])
    data: dict[str, Any] = json.loads(capsys.readouterr().out)
    return {**data, "code": code, "seconds": 0}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("option", PAIRS)
def test_every_option_decides_something(
    spec: str, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    without, given = PAIRS[option]

    assert outcome(spec, without, capsys) != outcome(spec, given, capsys)


def test_no_option_is_forgotten() -> None:
    (parser,) = (
        action.choices["check"]
        for action in make_parser("check")._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    options = {o for a in parser._actions for o in a.option_strings if o.startswith("--")}

    assert {o for o in options if not o.startswith("--spark-")} == ELSEWHERE | PAIRS.keys()


@pytest.mark.parametrize(
    ("options", "needed"),
    [
        ("--checkpoint-every 5", "--out DIR"),
        ("--master local[1]", "--engine spark"),
        ("--spark-tasks 2", "--engine spark"),
        ("--spark-folder x", "--engine spark"),
        ("--props --set N=1..2", "a single check"),
        ("--props --config c --config d", "a single check"),
        ("--levels --set N=1..2", "a single check"),
    ],
)
def test_an_option_that_would_do_nothing_is_a_mistake(
    spec: str, capsys: pytest.CaptureFixture[str], options: str, needed: str
) -> None:
    assert 2 == main(["check", spec, *options.split()])
    err = capsys.readouterr().err
    assert "SW326 --" in err
    assert needed in err


def test_a_bug_depth_goes_with_pct(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == main(["simulate", spec, "--bug-depth", "2"])
    assert "It goes with --strategy pct" in capsys.readouterr().err


# keyword → a value that changes something, a value that is refused
WORDS: dict[str, tuple[Any, Any]] = {
    "every_field": (True, 1),
    "config": ("c", 3),
    "engine": ("native", "warp"),
    "properties": (("small",), "small"),
    "keep_going": (True, 1),
    "max_depth": (2, 0),
    "max_states": (3, -1),
    "max_memory": (1000, "4G"),
    "timeout": (0, "10m"),
    "threads": (1, 0),
    "fingerprint_bits": (128, 96),
    "liveness": (False, "no"),
    "allow_unsound": (True, "yes"),
    "symmetry": (True, "off"),
    "view": (True, "off"),
    "slices": ("on", True),
    "reduce": (True, "off"),
    "strict": (True, 1),
    "optimize": (False, "no"),
    "checkpoint_every": (1.0, "10s"),
    "resume": (True, 1),
}
INNER = {"spark", "checkpoint", "graph"}


def test_every_keyword_is_here() -> None:
    assert {f.name for f in fields(CheckOptions)} == INNER | WORDS.keys()


@pytest.mark.parametrize("word", WORDS)
def test_a_keyword_with_an_odd_value_is_refused(spec: str, word: str) -> None:
    with pytest.raises(RunError, match=f"{word} cannot be|warp"):
        check(spec, **{word: WORDS[word][1]})


def test_a_keyword_that_there_is_not_is_refused(spec: str) -> None:
    with pytest.raises(TypeError, match="seed"):
        check(spec, seed=3)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "word", ["properties", "max_depth", "max_states", "liveness", "symmetry", "view", "config"]
)
def test_keywords_decide(spec: str, word: str) -> None:
    plain = check(spec, engine="reference")
    other = check(spec, engine="reference", **{word: WORDS[word][0]})

    assert replace(plain.result, seconds=0) != replace(other.result, seconds=0)


@pytest.mark.parametrize("late", [{"constants": {"N": 1}}, {"optimize": False}, {"config": "d"}])
def test_what_comes_too_late_for_a_model_is_refused(spec: str, late: dict[str, Any]) -> None:
    model = load(spec)

    with pytest.raises((RunError, SpecError), match=r"does nothing here|no configuration d"):
        check(model, **late)
