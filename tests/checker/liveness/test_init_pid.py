"""Kafka's InitPid: the liveness rows of its table, with the lassos of its two liveness mutants.

Verdicts and lengths come from TLC and from a derivation by hand (six states for the weak client).
TLC's lasso for the phantom transition has 16 states; the shortest stem into a fair cycle and a
shortest cycle there make 14 steps.
"""

import pytest

from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.liveness.check import check_liveness
from statewalk.checker.liveness.conditions import LivenessResult
from statewalk.checker.liveness.explore import build
from statewalk.dsl.loader import load
from statewalk.dsl.model import Model
from tests.cases import slow
from tests.places import ROOT

SPEC = ROOT / "models/kafka/init_pid.py"
NAME = "eventually_all_clients_get_pid"


def decide(
    clients: int, brokers: int, tids: int = 1, mutant: str = "none"
) -> tuple[Model, LivenessResult]:
    constants = {"CLIENTS": clients, "BROKERS": brokers, "TIDS": tids, "MUTANT": mutant}
    model = load(SPEC, constants)
    properties = tuple(p for p in model.properties if p.name == NAME)
    return model, check_liveness(model, build(model, SearchOptions(), properties), properties)[0]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("clients", "brokers", "tids"),
    [(1, 1, 1), (1, 2, 1), (2, 2, 1), slow(3, 1, 2), slow(3, 2, 1)],
)
def test_every_client_gets_a_producer_id(clients: int, brokers: int, tids: int) -> None:
    _, result = decide(clients, brokers, tids)

    assert ("holds", False) == (result.verdict, result.vacuous)


def test_a_weakly_fair_client_may_ask_the_wrong_broker_for_ever() -> None:
    model, result = decide(1, 2, mutant="weak_send")
    round_trip = [
        "Client#0.send_init_pid(broker=Broker#1)",
        "Broker#1.receive_init_pid_request",
        "Client#0.receive_init_pid_response",
    ]

    assert result.lasso is not None
    assert round_trip == [model.actions[s.action].label for s in result.lasso.stem]
    assert round_trip == [model.actions[s.action].label for s in result.lasso.cycle]
    assert [("Client#0.send_init_pid(broker=Broker#0)", "weak", (0,))] == [
        (t.label, t.fairness, t.enabled_at) for t in result.lasso.not_taken
    ]
    assert 14 == build(model, SearchOptions(), ()).n


@pytest.mark.slow
def test_a_phantom_transition_locks_a_client_out() -> None:
    _, result = decide(3, 1, 2, "phantom_pending")

    assert result.lasso is not None
    assert (11, 3) == (len(result.lasso.stem), len(result.lasso.cycle))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("clients", "brokers", "tids"),
    [(1, 1, 2), (2, 1, 2), slow(2, 2, 2), slow(2, 2, 1), slow(3, 1, 1)],
)
def test_a_phantom_transition_needs_three_clients_and_two_ids(
    clients: int, brokers: int, tids: int
) -> None:
    _, result = decide(clients, brokers, tids, "phantom_pending")

    assert "holds" == result.verdict
