"""Figures say who takes part and how a role's state changes; lines are broken, nothing is lost."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statewalk import check, load
from statewalk.checker.cli import main
from statewalk.checker.traces.exports.bands import bands
from statewalk.checker.traces.exports.figures import actors_of, machine_of
from statewalk.checker.traces.exports.wrapping import wrapped
from statewalk.checker.traces.trace import Trace
from statewalk.dsl.errors import RunError
from tests.places import ROOT

INIT_PID = ROOT / "models/kafka/init_pid.py"


@pytest.fixture(scope="module")
def trace() -> Trace:
    run = check(INIT_PID, {"BROKERS": 1, "MUTANT": "no_epoch_bump"}, engine="reference")
    return run.traces["epoch_monotone"]


def test_actors_are_roles_and_shared_state_with_numbered_exchanges(trace: Trace) -> None:
    found = actors_of(trace)

    assert ["Client × 2", "Broker", "PidSource", "TxnLog"] == [*found.boxes.values()]
    assert {"Client", "Broker"} == found.first
    assert ["1, 2 InitPidRequest"] == found.arrows["Client", "Broker"]
    assert ["4 InitPidResponse"] == found.arrows["Broker", "Client"]
    assert ["3, 5 writes entries", "4 writes committed"] == found.arrows["Broker", "TxnLog"]


def test_a_machine_has_the_actions_that_change_a_field() -> None:
    found = machine_of(load(INIT_PID, {"CLIENTS": 1}), "Client.state")

    assert ["Ready", "SentInitPidRequest", "HasPid"] == [*found.boxes]
    assert {"Ready"} == found.first
    assert {
        ("Ready", "SentInitPidRequest"): ["send_init_pid"],
        ("SentInitPidRequest", "Ready"): ["receive_init_pid_response"],
        ("SentInitPidRequest", "HasPid"): ["receive_init_pid_response"],
    } == found.arrows


def test_a_machine_of_no_field_names_those_there_are() -> None:
    with pytest.raises(RunError, match=r"There is no field Client\.nothing"):
        machine_of(load(INIT_PID, {"CLIENTS": 1}), "Client.nothing")


@pytest.mark.thorough
def test_figures_are_mermaid_and_pictures(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ["export", str(INIT_PID), "--set", "CLIENTS=1", "--set", "BROKERS=1"]

    assert 0 == main([*words, "--format", "machine", "--by", "Client.state"])
    assert capfd.readouterr().out.startswith('flowchart LR\n  n0(["Ready"])\n')
    for form in (["machine", "--by", "Client.state"], ["actors"]):
        svg = tmp_path / "a.svg"
        assert 0 == main([*words, "--format", *form, "--out", str(svg)])
        picture = ET.fromstring(svg.read_text(encoding="utf-8"))
        told = "".join(picture.itertext())
        assert "SentInitPidRequest" in told or "InitPidRequest" in told
    assert 2 == main([*words, "--format", "machine"])
    assert "--by Role.field" in capfd.readouterr().err


def test_the_state_of_a_role_is_found_without_its_spec(trace: Trace) -> None:
    found = bands(trace)

    assert {"Client#0", "Client#1"} == {*found}
    assert "Client#0.state" == found["Client#0"].place
    assert ("Ready", "Ready", *["SentInitPidRequest"] * 4) == found["Client#0"].values


@given(st.text("abc ,(=_.X", max_size=80), st.integers(60, 400))
def test_nothing_is_lost_when_a_text_is_wrapped(text: str, width: int) -> None:
    lines = wrapped(text, width, 6.4, hang="  ")

    assert text.replace(" ", "") == "".join(lines).replace(" ", "")
    assert all(len(line) <= max(8, int(width / 6.4)) for line in lines)
