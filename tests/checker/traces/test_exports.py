"""Exports say what the trace says, in the shape that the other tool reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from statewalk import check, load
from statewalk.checker.behaviours.simulate import simulate
from statewalk.checker.traces.exports import FORMATS, export_trace
from statewalk.checker.traces.exports.dot import graph_to_dot, graph_to_mermaid
from statewalk.checker.traces.exports.plain import to_itf, to_value
from statewalk.checker.traces.file import save_trace
from statewalk.checker.traces.reading import load_trace
from statewalk.checker.traces.trace import Trace
from statewalk.dsl.errors import RunError
from statewalk.dsl.values.stored import freeze
from tests.cases import examples
from tests.places import ROOT

MODELS = ROOT / "models"


@pytest.fixture(scope="module")
def trace() -> Trace:
    constants = {"BROKERS": 1, "MUTANT": "no_epoch_bump"}
    result = check(MODELS / "kafka/init_pid.py", constants, engine="reference")
    return result.traces["epoch_monotone"]


def _valid_itf(value: Any) -> bool:
    """The grammar of values of the format's description."""
    if isinstance(value, bool | str):
        return True
    if isinstance(value, list):
        return all(map(_valid_itf, value))
    if not isinstance(value, dict):
        return False
    match value:
        case {"#bigint": str(n), **rest}:
            return not rest and n.lstrip("-").isdigit()
        case {"#tup": list(items), **rest} | {"#set": list(items), **rest}:
            return not rest and all(map(_valid_itf, items))
        case {"#map": list(pairs), **rest}:
            return not rest and all(len(p) == 2 and all(map(_valid_itf, p)) for p in pairs)
        case {"#unserializable": str(), **rest}:
            return not rest
    return all(not k.startswith("#") and _valid_itf(v) for k, v in value.items())


def test_itf_has_every_variable_in_every_state(trace: Trace) -> None:
    document = json.loads(to_itf(trace, mbt=True))

    assert trace.length + 1 == len(document["states"])
    for at, state in enumerate(document["states"]):
        assert state["#meta"]["index"] == at
        assert set(document["vars"]) == set(state) - {"#meta"}
        assert all(_valid_itf(state[name]) for name in document["vars"])
    assert document["states"][1]["mbt::actionTaken"] == "send_init_pid"
    assert any(step.only for step in trace.steps)
    for state, step in zip(document["states"][1:], trace.steps, strict=True):
        picked = {n for n, value in state["mbt::nondetPicks"].items() if value["tag"] == "Some"}
        assert picked >= {choice.name for choice in step.only}


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
        | st.frozensets(st.integers() | st.text(max_size=3), max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=examples(40))
@given(_VALUES)
def test_values_are_itf_values_in_one_order(value: Any) -> None:
    stored = freeze(value)

    assert _valid_itf(to_value(stored))
    assert json.dumps(to_value(stored)) == json.dumps(to_value(freeze(value)))


def test_tlc_json_has_its_shape(trace: Trace) -> None:
    document = json.loads(export_trace(trace, "tlc"))
    actions, states = document["counterexample"]["action"], document["counterexample"]["state"]

    assert [number for number, _ in states] == list(range(1, trace.length + 2))
    assert [(a[0], b[0]) for a, _, b in actions] == [(n, n + 1) for n in range(1, trace.length + 1)]
    assert set(states[0][1]) == set(document["vars"])


def test_arrows_follow_messages(trace: Trace) -> None:
    text = export_trace(trace, "mermaid")

    assert text.startswith("sequenceDiagram")
    assert "L0->>L1: InitPidRequest(tid=0)" in text
    assert "L1->>L2: InitPidResponse(code='OK', pid=1, epoch=0)" in text


CALLS = """
from statewalk import Role, State, action, deadlock, exists, require

class Client(Role):
    asked: bool = False
    @action
    def ask(self) -> None:
        require(not self.asked)
        self.asked = True
        log.size += 1
        server.state = "busy"
        server.waiting.add(self)

class Server(Role):
    state: str = "idle"
    waiting: set[Client] = set()
    @action
    def answer(self) -> None:
        require(self.state == "busy")
        self.state = "idle"

class Log(State):
    size: int = 0

clients = [Client()]
server = Server()
log = Log()
deadlock(False)

@exists
def answered() -> bool:
    return clients[0].asked and server.state == "idle"
"""


def test_what_a_step_changes_in_another_role_is_one_arrow(tmp_path: Path) -> None:
    spec = tmp_path / "calls.py"
    spec.write_text(CALLS, encoding="utf-8")
    (found,) = check(spec, engine="reference").traces.values()

    assert export_trace(found, "mermaid").splitlines()[2:] == [
        "  participant L0 as Client#35;0",
        "  participant L1 as Server#35;0",
        "  participant L2 as Log",
        "  Note over L0: 1. ask",
        "  L0->>L1: ~ state  'idle' → 'busy'<br/>+ waiting Client#35;0",
        "  L0->>L2: ~ size  0 → 1",
        "  Note over L1: 2. answer",
    ]


SAYING = """
from statewalk import *

class Said(Message):
    text: str

class Peer(Role):
    inbox: set[Said] = set()
    @action
    def say(self, to: "Peer") -> None:
        require(self is not to)
        to.inbox.add(Said({}))

peers = [Peer() for _ in range(2)]

@always
def silence() -> bool:
    return not peers[0].inbox and not peers[1].inbox
"""
ORDERS = {
    "mermaid": ["%%{init: {'theme': 'dark'}}%%", "x; participant Evil", "$$x$$", "&lt;", "<b>x</b>",
                "#9829;"],
    "plantuml": ["%getenv('HOME')", "<img:x.png>", "//x//", "[[http://x]]", "&#65;", "~x", "$x",
                 '""x""', "a\\nb", "--x--"],
    "dot": ["&lt;"],
}  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("format", "said"), [(f, s) for f, found in ORDERS.items() for s in found])
def test_what_other_tools_would_obey_is_written_as_text(
    format: str, said: str, tmp_path: Path
) -> None:
    spec = tmp_path / "saying.py"
    spec.write_text(SAYING.format(repr(said)), encoding="utf-8")
    (found,) = check(spec, engine="reference").traces.values()
    text = export_trace(found, format)

    assert said not in text
    assert repr(said)[1:-1] not in text


@pytest.mark.sampled(3)
@pytest.mark.parametrize("format", FORMATS)
def test_saved_traces_export_without_the_spec(format: str, trace: Trace, tmp_path: Path) -> None:
    file = tmp_path / "t.trace.json"
    save_trace(trace, file)

    assert export_trace(trace, format) == export_trace(load_trace(file), format)


def test_the_graph_of_die_hard() -> None:
    text = graph_to_dot(load(MODELS / "toys/die_hard.py"))

    assert text.count(" [label=") - text.count("->") == 16
    assert text.count("style=filled") == 1


def test_a_quotient_has_one_node_per_projection() -> None:
    model = load(MODELS / "toys/two_phase_commit.py")
    text = graph_to_dot(model, by=("TransactionManager.state",))

    assert text.count(" [label=") - text.count("->") == 3


@pytest.mark.thorough
def test_mermaid_draws_the_nodes_and_edges_that_dot_does() -> None:
    model = load(MODELS / "toys/two_phase_commit.py")
    by = ("TransactionManager.state",)
    text, dot = graph_to_mermaid(model, by), graph_to_dot(model, by)

    assert text.startswith("flowchart LR\n")
    assert dot.count("->") == text.count("-->") > 0
    assert (2, 1) == (text.count('["') - text.count('(["'), text.count('(["'))
    assert "#35;0.state = 'init'" in text


def test_a_graph_that_is_too_large_is_refused() -> None:
    with pytest.raises(RunError, match="more than 100 nodes"):
        graph_to_dot(load(MODELS / "toys/two_phase_commit.py"), limit=100)


def test_equal_seeds_walk_equally() -> None:
    model = load(MODELS / "kafka/init_pid.py")

    assert simulate(model, runs=5, seed=7) == simulate(model, runs=5, seed=7)


def test_simulation_finds_a_planted_bug() -> None:
    model = load(MODELS / "kafka/init_pid.py", {"BROKERS": 1, "MUTANT": "no_epoch_bump"})
    found = simulate(model, runs=50)

    assert "epoch_monotone" in found.findings
