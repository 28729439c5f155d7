"""Anomalies planted in larger histories: rejected, with the right name, few transactions shown.

The default run plants a few of each; the slow one PLANTED (1,000) of each. It cannot find
mistakes on anomalies that nobody thought of: that is what test_oracle is for.
"""

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from statewalk.checker.cli import main
from statewalk.checker.history.collect.applications import APPLICATIONS
from statewalk.checker.history.decide.check import check
from statewalk.checker.history.decide.scan import scan
from statewalk.checker.history.explain.anomaly import explain, fitting
from statewalk.checker.history.formats.jsonl import from_records
from tests.cases import slow
from tests.checker.history.simulated import ANOMALIES, Workload, plant, simulate

ALLOWED_BY_SI = ("write-skew", "read-only-anomaly")


@cache
def base(kind: str, transactions: int) -> list[dict[str, Any]]:
    return list(simulate(Workload(kind, transactions, keys=transactions * 2, seed=1)))


# By the other order of the two writers it is this, and all that it refutes is read-atomic.
NAMED = {"fractured-read": "read-skew"}


def plant_and_explain(anomaly: str, seed: int, transactions: int) -> str:
    """The name that is reported; '' when the history is accepted."""
    kinds = ("rw",) if anomaly in ALLOWED_BY_SI else ("rw", "mixed", "rm")
    history = from_records(plant(base(kinds[seed % len(kinds)], transactions), anomaly, seed))
    known = scan(history)
    if anomaly in ALLOWED_BY_SI:
        accepted = check(history, "si", known=known)
        assert accepted.holds
        assert 2 * len(history) == len(accepted.order)
    verdict = check(history, "serializable" if anomaly in ALLOWED_BY_SI else "si", known=known)
    if verdict.holds:
        return ""
    found = explain(history, verdict)
    assert found.minimal
    assert len(found.transactions) <= 1 + len(ANOMALIES[anomaly])
    return found.name


@pytest.mark.sampled(4)
@pytest.mark.parametrize("anomaly", ANOMALIES)
def test_a_planted_anomaly_is_rejected_by_its_name(anomaly: str) -> None:
    name = NAMED.get(anomaly, anomaly)

    assert [name] * 4 == [plant_and_explain(anomaly, seed, 200) for seed in range(4)]


@pytest.mark.slow
@pytest.mark.parametrize("anomaly", ANOMALIES)
def test_many_planted_anomalies_are_rejected_by_their_names(anomaly: str) -> None:
    count = int(os.environ.get("PLANTED", "1000"))

    name = NAMED.get(anomaly, anomaly)
    wrong = [seed for seed in range(count) if plant_and_explain(anomaly, seed, 1000) != name]

    assert [] == wrong


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", ["rw", "rm", "mixed", "range", "blind", "append", *APPLICATIONS])
@pytest.mark.parametrize("stale", [slow(0), 20])
def test_a_correct_store_is_accepted_with_a_certificate(kind: str, stale: int) -> None:
    work = Workload(kind, 300, sessions=6, keys=40, stale=stale, seed=3)
    history = from_records(simulate(work))
    verdict = check(history, "strong-session-si")

    assert verdict.holds
    assert 600 == len(verdict.order)


def test_a_store_that_misses_conflicts_loses_updates() -> None:
    history = from_records(simulate(Workload("c-tpcc", 300, lost=1.0, seed=5)))
    known = scan(history)

    assert "lost-update" == explain(history, check(history, "si", known=known)).name


def test_of_two_reads_of_a_key_the_one_that_shows_it_is_cited() -> None:
    """As MariaDB does at REPEATABLE READ: an append works on more than the snapshot has."""
    history = from_records(
        [
            {"session": 1, "ops": [["append", "x", 6], ["append", "y", 8]]},
            {"session": 2, "ops": [["r", "x", []], ["append", "x", 1], ["r", "x", [6, 1]],
                                   ["r", "y", []]]},
        ]
    )  # fmt: skip
    known = scan(history)
    found = explain(history, check(history, "monotonic-atomic-view", known=known))

    assert "fractured-read" == found.name
    assert [
        "T2 r(y) = [] does not see T1's append(y, 8)",
        "T2 r(x) = [6, 1] returns what T1 wrote, append(x, 6)",
    ] == [step.text for step in found.cycle]


def test_a_name_says_no_more_than_what_was_decided() -> None:
    """As of a history of PolySI's artifact: too many orders to try all, and si holds."""
    assert "G2-item" == fitting("G1c", "serializable")
    assert "write-skew" == fitting("write-skew", "serializable")
    assert "G-nonadjacent" == fitting("read-skew", "si")
    assert "read-skew" == fitting("read-skew", "parallel-si")


def _check(tmp_path: Path, transactions: list[dict[str, Any]], *options: str) -> int:
    file = tmp_path / "history.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in transactions))
    return main(["history", "check", str(file), *options])


def test_a_read_of_a_retried_value_counts_for_its_last_write(tmp_path: Path) -> None:
    transactions = [
        {"session": 1, "status": "fail", "ops": [["w", "x", 1]]},
        {"session": 2, "ops": [["w", "x", 1], ["w", "x", 2], ["w", "x", 1]]},
        {"session": 3, "ops": [["r", "x", 1]]},
    ]

    assert 0 == _check(tmp_path, transactions)


@pytest.mark.thorough
def test_many_writers_of_a_key_are_explained_by_a_few_orders(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A ring of eleven anti-dependencies; all write one key, in 11! orders."""
    transactions = [
        {
            "session": i,
            "ops": [["r", f"a{i}", None], ["w", f"a{(i + 1) % 11}", 1], ["w", "k", i + 1]],
        }
        for i in range(11)
    ]

    assert 1 == _check(tmp_path, transactions, "--level", "serializable")
    assert "Not serializable" in capsys.readouterr().out
