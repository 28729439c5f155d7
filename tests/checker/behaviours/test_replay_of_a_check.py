"""A trace is repeated as a check would see it: through what it goes on from, to what it asks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from statewalk import check, load_trace, replay
from statewalk.checker.cli import main

SPEC = """from statewalk import *
class Net(State):
    x: int = 0
    y: int = 0
net = Net()
class P(Role):
    @action
    def up(self) -> None:
        require(net.x < 5)
        net.x += 1
        assert net.x < LIMIT
    @action
    def side(self) -> None:
        require(net.x < 5 and net.y < 5)
        net.y += 1
p = P()
"""
LOOSE = "deadlock(False)\nLIMIT = 9\n"
FINDINGS = {
    "an invariant": f"{LOOSE}@always\ndef ok() -> bool:\n    return net.x < 5\n",
    "a step": f"{LOOSE}@on_step\ndef ok() -> bool:\n    return net.x < 5\n",
    "a witness": f"{LOOSE}@exists\ndef ok() -> bool:\n    return net.x == 5\n",
    "an assertion": "deadlock(False)\nLIMIT = 5\n",
    "an error": f"{LOOSE}@always\ndef ok() -> bool:\n    return 1 // (5 - net.x) >= 0\n",
    "a deadlock": "LIMIT = 9\n",
}
STATE = "@constraint\ndef few() -> bool:\n    return {}\n"
STEP = "@constraint\n@on_step\ndef few() -> bool:\n    return {}\n"


def trace_of(folder: Path, finding: str, more: str = "") -> Path:
    """The trace of what is found, of five steps up."""
    (folder / "spec.py").write_text(SPEC + FINDINGS[finding])
    check(folder / "spec.py", out=folder / "out")
    (trace,) = (folder / "out").glob("*.trace.json")
    assert replay(trace).reproduced
    (folder / "spec.py").write_text(SPEC + FINDINGS[finding] + more)
    return trace


@pytest.mark.sampled(4)
@pytest.mark.parametrize("finding", FINDINGS)
@pytest.mark.parametrize("way", [STATE, STEP], ids=["states", "steps"])
def test_a_check_does_not_go_on_from_what_a_constraint_refuses(
    way: str, finding: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = trace_of(tmp_path, finding, way.format("net.x < 3"))

    found = replay(trace)

    assert (3, False) == (found.step, found.reproduced)
    assert "the constraint few refuses this" in found.why
    assert "ok" not in check(tmp_path / "spec.py").traces
    assert 5 == main(["replay", str(trace), "--spec", str(tmp_path / "spec.py")])
    assert "DIVERGED  at step 3 of 5: the constraint few" in capsys.readouterr().out


@pytest.mark.sampled(4)
@pytest.mark.parametrize("finding", FINDINGS)
@pytest.mark.parametrize("way", [STATE, STEP], ids=["states", "steps"])
def test_the_last_state_may_be_refused_where_nothing_goes_on_from_it(
    way: str, finding: str, tmp_path: Path
) -> None:
    trace = trace_of(tmp_path, finding, way.format("net.x < 5"))
    found = check(tmp_path / "spec.py")

    assert bool(found.traces) == replay(trace).reproduced
    assert bool(found.traces) == (finding != "a deadlock")


def test_a_constraint_on_the_initial_state(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, "an invariant", STATE.format("net.x > 0"))

    assert (0, False) == (replay(trace).step, replay(trace).reproduced)


def test_a_behavior_goes_on_from_its_last_state(tmp_path: Path) -> None:
    lives = f"{LOOSE}@eventually\ndef ok() -> bool:\n    return net.x == 9\n"
    (tmp_path / "spec.py").write_text(SPEC + lives)
    check(tmp_path / "spec.py", out=tmp_path / "out")
    trace = tmp_path / "out" / "ok.trace.json"
    last = len(load_trace(trace).contents) - 1
    assert replay(trace).reproduced
    bound = STATE.format(f"net.x + net.y < {last}") if last else STATE.format("net.x > 0")
    (tmp_path / "spec.py").write_text(SPEC + lives + bound)

    assert last == replay(trace).step


def test_a_constraint_that_raises(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, "an invariant", STATE.format("1 // (2 - net.x) < 9"))

    assert "the constraint few raises ZeroDivisionError" in replay(trace).why


def test_a_deadlock_that_nobody_asks_for_any_more(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = trace_of(tmp_path, "a deadlock", "deadlock(False)\n")

    assert "the spec does not ask for Deadlock" in replay(trace).why
    assert 5 == main(["replay", str(trace), "--spec", str(tmp_path / "spec.py")])
    assert "REPRODUCED" not in capsys.readouterr().out


def test_a_deadlock_but_for_faults_that_nobody_asks_for_any_more(tmp_path: Path) -> None:
    crash = "@action(fault=True)\n    def crash(self) -> None:\n        net.y = 0\n"
    crash = f"class C(Role):\n    {crash}c = C()\n"
    text = SPEC + "LIMIT = 9\n" + crash
    (tmp_path / "spec.py").write_text(text)
    check(tmp_path / "spec.py", out=tmp_path / "out")
    (trace,) = (tmp_path / "out").glob("*.trace.json")
    assert replay(trace).reproduced

    (tmp_path / "spec.py").write_text(text + "deadlock(False)\n")

    assert not replay(trace).reproduced


@pytest.mark.parametrize(
    ("finding", "kind", "name"),
    [("an assertion", "error", "no_error"), ("an error", "assertion", "Assertion")],
)
def test_an_error_is_no_failed_assertion(
    finding: str, kind: str, name: str, tmp_path: Path
) -> None:
    """A check reports them under different names: a trace of one that says the other is forged."""
    trace = trace_of(tmp_path, finding)
    data = json.loads(trace.read_text())
    data["property"], data["kind"] = name, kind
    trace.write_text(json.dumps(data))

    assert not replay(trace).reproduced


def test_a_step_that_raises_is_no_failed_assertion(tmp_path: Path) -> None:
    text = (
        SPEC.replace("assert net.x < LIMIT", "1 // (LIMIT - net.x)")
        + "deadlock(False)\nLIMIT = 5\n"
    )
    (tmp_path / "spec.py").write_text(text)
    check(tmp_path / "spec.py", out=tmp_path / "out")
    (trace,) = (tmp_path / "out").glob("*.trace.json")
    assert replay(trace).reproduced
    data = json.loads(trace.read_text())
    data["property"], data["kind"] = "Assertion", "assertion"
    trace.write_text(json.dumps(data))

    assert not replay(trace).reproduced
