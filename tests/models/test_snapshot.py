"""The store of versions: each run finds what it states, and three judges agree on every history.

The judges are the library (which is told the order of versions), the history checker (which is
not) and an executor that knows no graphs. Counts marked derived come from an independent script.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from statewalk.checker.api import check
from statewalk.checker.behaviours.replay import replay
from statewalk.checker.contract.search import Exploration, SearchOptions
from statewalk.checker.engines import reference
from statewalk.checker.history.commands.from_trace import history_of, load_with_hook
from statewalk.checker.history.decide.check import check as check_history
from statewalk.checker.history.decide.scan import scan
from statewalk.checker.history.explain.anomaly import explain
from statewalk.checker.history.formats.jsonl import from_records
from statewalk.checker.traces.reading import load_trace
from statewalk.checker.traces.trace import Trace
from statewalk.dsl.declared import Configuration
from statewalk.dsl.errors import RunError
from statewalk.dsl.library.recording import did, judged
from statewalk.dsl.loader import load
from tests.cases import some
from tests.models.stores import (
    SNAPSHOT,
    accepted,
    clients,
    configurations,
    histories,
    possible,
    search,
    settled,
)

LARGE = 5000
QUICK = 200
ROWS = configurations()
PROPERTIES = {
    "parallel_si": "parallel-si",
    "snapshot_isolation": "si",
    "strong_session_si": "strong-session-si",
    "strong_si": "strong-si",
    "serializable": "serializable",
}


def size(row: Configuration) -> int:
    assert row.expect is not None
    return row.expect.distinct or row.expect.states or 0


def cases(rows: dict[str, Configuration]) -> list[Any]:
    """Names of rows; those with more than a few states are slow."""
    return [
        pytest.param(name, marks=[pytest.mark.slow] if size(row) > QUICK else [])
        for name, row in rows.items()
    ]


def not_large(rows: dict[str, Configuration]) -> dict[str, Configuration]:
    return {name: row for name, row in rows.items() if size(row) <= LARGE}


def broken(row: Configuration) -> str:
    """The level that a row expects to be violated, if one is."""
    assert row.expect is not None
    return PROPERTIES.get(row.expect.properties[0], "") if row.expect.properties else ""


VIOLATING = {name: row for name, row in ROWS.items() if broken(row)}


@cache
def explored(name: str) -> Exploration:
    return search(dict(ROWS[name].constants))


@pytest.mark.parametrize("name", some(cases(ROWS), every=60))
def test_a_run_finds_what_it_states(name: str) -> None:
    expect, found = ROWS[name].expect, explored(name)
    assert expect is not None

    assert size(ROWS[name]) == found.counts.distinct
    assert (expect.lengths or dict.fromkeys(expect.properties, expect.length)) == {
        f.property: f.length for f in found.findings if f.property != "terminates"
    }


@pytest.mark.thorough
@pytest.mark.parametrize("name", some((n for n, row in ROWS.items() if size(row) <= 80), every=40))
@pytest.mark.parametrize(
    "optimize",
    [
        pytest.param(True, id="lowered"),
        pytest.param(False, id="plain", marks=pytest.mark.slow),
    ],
)
def test_the_reference_engine_agrees(name: str, optimize: bool) -> None:
    model = load(SNAPSHOT, dict(ROWS[name].constants), optimize=optimize)
    found = reference.explore(model, SearchOptions(keep_going=True))

    assert explored(name).counts == found.counts
    assert {(f.property, f.length) for f in explored(name).findings} == {
        (f.property, f.length) for f in found.findings
    }


DERIVED = {
    "increments-fcw": 51,
    "increments-fuw": 45,
    "lost-update-no-check": 51,
    "lost-update-read-committed": 63,
    "write-skew-fcw": 51,
    "write-skew-fuw": 51,
    "crossed-occ": 51,
    "both-read-fcw": 73,
    "both-read-occ": 73,
    "two-keys-fcw": 51,
    "read-skew-read-committed": 61,
    "fractured-read-partial-publish": 74,
    "look-after-fcw": 659,
    "look-after-stale": 4005,
    "own-write-missed": 10,
    "other-write-missed-stale": 36,
    "other-write-missed-psi": 52,
    "with-reader-fcw": 1160,
    "with-reader-occ": 1160,
}


def test_the_numbers_of_states_are_those_derived_before() -> None:
    assert DERIVED == {name: size(ROWS[name]) for name in DERIVED}


# -- the smallest scripts --------------------------------------------------------------------------
SMALLEST = (
    "lost-update-blind",
    "write-skew-fcw",
    "read-skew-read-committed",
    "fractured-read-partial-publish",
    "read-skew-skewed-clock",
    "own-write-missed",
    "other-write-missed-stale",
    "other-write-missed-psi",
    "aborted-read",
    "intermediate-read",
    "dirty-write",
)


def less(script: str) -> list[str]:
    """The script without one of its operations, for each of them."""
    sessions = [[t.split(", ") for t in s.split("; ")] for s in script.split(" || ")]
    found = []
    for i, session in enumerate(sessions):
        for j, transaction in enumerate(session):
            for k in range(len(transaction)):
                parts = [[list(t) for t in s] for s in sessions]
                del parts[i][j][k]
                kept = [[t for t in s if t] for s in parts]
                found.append(" || ".join("; ".join(", ".join(t) for t in s) for s in kept if s))
    return [text for text in dict.fromkeys(found) if text]


def test_scripts_are_made_smaller_by_one_operation() -> None:
    assert ["w x || r x", "r x || r x", "r x, w x"] == less("r x, w x || r x")
    assert ["r x", "w x"] == less("w x; r x")


@pytest.mark.parametrize(
    ("name", "script"),
    some(
        ((name, s) for name in SMALLEST for s in less(str(ROWS[name].constants["WORKLOAD"]))),
        every=60,
    ),
)
def test_a_smaller_script_finds_nothing(name: str, script: str) -> None:
    found = search({**ROWS[name].constants, "WORKLOAD": script})

    assert not found.findings


# -- what the anomalies are called, and whether clients could tell ---------------------------------
ANOMALIES = {
    "lost-update-blind": "lost-update",
    "lost-update-no-check": "lost-update",
    "lost-update-read-committed": "lost-update",
    "lost-update-psi-unchecked": "lost-update",
    "lost-update-lost-commit": "lost-update",
    "lost-update-skewed-clock": "lost-update",
    "write-skew-fcw": "write-skew",
    "write-skew-fuw": "write-skew",
    "write-skew-both-read": "write-skew",
    "read-skew-read-committed": "read-skew",
    "fractured-read-partial-publish": "fractured-read",
    "read-skew-skewed-clock": "read-skew",
    "long-fork-psi": "long-fork",
    "causality-psi": "causality-violation",
    "session-stale-read": "stale-read-session",
    "stale-read": "stale-read-session",
    "own-write-missed": "stale-read-session",
    "other-write-missed-stale": "stale-read",
    "other-write-missed-psi": "stale-read",
    "own-write-lost": "stale-read-session",
    "read-only-anomaly": "read-only-anomaly",
    "read-only-anomaly-ssi": "read-only-anomaly",
    "aborted-read": "G1a",
    "intermediate-read": "G1b",
    "intermediate-read-uncommitted": "G1b",
    "dirty-write": "G0",
}
"""By row, what the library calls the first violation."""

UNOBSERVED = {
    "lost-update-blind": "",  # as if the blind write came last
    "dirty-write": "",  # nobody reads, so any order of versions will do
}
"""Where clients are told less than the store knows: what the checker calls it, if anything."""

EVERY_NAME = {
    "stale-read": {("stale-read", "stale-read"), ("stale-read-session", "stale-read-session")}
}
"""Rows with more than one anomaly: all pairs of what the library and the checker say."""


def test_every_violating_run_has_a_name() -> None:
    assert set(ANOMALIES) == set(VIOLATING)


@cache
def trace_of(name: str) -> Trace:
    """The saved trace of a violating row."""
    with TemporaryDirectory() as folder:
        check(SNAPSHOT, config=name, out=folder)
        (file,) = Path(folder).glob("*.trace.json")
        return load_trace(file)


@pytest.mark.thorough
@pytest.mark.parametrize("name", some(cases(VIOLATING), every=30))
def test_the_clients_of_a_violating_trace_can_tell(name: str) -> None:
    trace = trace_of(name)
    model, hook = load_with_hook(str(SNAPSHOT), trace)
    outcome = replay(trace, model)
    assert outcome.reproduced

    history = history_of(model, hook, outcome.states)
    known = scan(history)
    level = broken(VIOLATING[name])
    verdict = check_history(history, level, known=known)

    wanted = UNOBSERVED.get(name, ANOMALIES[name])
    assert (wanted == "") == verdict.holds
    if not verdict.holds:
        assert wanted == explain(history, verdict).name


@pytest.mark.thorough
@pytest.mark.parametrize("name", some(cases(not_large(VIOLATING)), every=30))
def test_every_violating_history_has_one_name(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    level, names = broken(VIOLATING[name]), set()
    for (events, work), judgement in histories(
        monkeypatch, dict(VIOLATING[name].constants)
    ).items():
        if not judgement.holds:
            history = from_records(clients(settled(events, work)[0]))
            known = scan(history)
            verdict = check_history(history, level, known=known)
            told = "" if verdict.holds else explain(history, verdict).name
            names.add((judgement.anomaly, told))

    assert EVERY_NAME.get(name, {(ANOMALIES[name], UNOBSERVED.get(name, ANOMALIES[name]))}) == names


# -- three judges ----------------------------------------------------------------------------------
@pytest.mark.thorough
@pytest.mark.parametrize("name", some(cases(not_large(ROWS)), every=40))
def test_the_library_agrees_with_execution_on_every_history(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    level = str(ROWS[name].constants.get("LEVEL", "strong-si"))
    found = histories(monkeypatch, dict(ROWS[name].constants))
    compared = 0
    for (events, work), verdict in found.items():
        history, versions = settled(events, work)
        if told_of_ended_only(history):
            compared += 1
            assert possible(history, versions, level) == verdict.holds, history

    assert compared > 0


def told_of_ended_only(history: tuple[Any, ...]) -> bool:
    """Return whether nobody read from a transaction that is still running."""
    running = {op[2] for t in history for op in t.ops if op[0] == "w" and t.end is None}
    return not any(op[2] in running for t in history for op in t.ops if t.end is not None)


def agree(found: Any, level: str) -> int:
    """Return how many different histories there are, all of which all judges accept at a level."""
    seen: set[Any] = set()
    for (events, work), verdict in found.items():
        history, versions = settled(events, work)
        if history and history not in seen:
            seen.add(history)
            assert verdict.holds
            assert possible(history, versions, level), history
            assert accepted(history, level), history
    return len(seen)


SMALL_FREE = {"WORKLOAD": "free", "TRANSACTIONS": 1}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("variant", "level", "count"),
    some(
        [
            ({}, "strong-si", 544),
            ({"CHECK": "first_updater"}, "strong-si", 488),
            ({"CHECK": "reads"}, "serializable", 544),
            ({"CHECK": "ssi"}, "serializable", 576),
            ({"SNAPSHOT": "session"}, "strong-session-si", 620),
            ({"SNAPSHOT": "any"}, "si", 620),
        ],
        every=6,
    ),
)
def test_all_judges_accept_what_a_correct_store_does(
    variant: dict[str, Any], level: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    constants = {**SMALL_FREE, **variant, "LEVEL": level}

    assert count == agree(histories(monkeypatch, constants), level)


TWO_EACH = {"WORKLOAD": "free", "EVERY_ORDER": False}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variant", "level"),
    [
        ({}, "strong-si"),
        ({"CHECK": "first_updater"}, "strong-si"),
        ({"CHECK": "reads"}, "serializable"),
        ({"CHECK": "ssi"}, "serializable"),
    ],
)
def test_all_judges_accept_two_transactions_in_each_of_two_sessions(
    variant: dict[str, Any], level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = histories(monkeypatch, {**TWO_EACH, **variant, "LEVEL": level})

    assert agree(found, level) > len(found) // 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variant", "level", "states"),
    [
        ({"CHECK": "first_updater"}, "strong-si", 381_575),
        ({"CHECK": "ssi"}, "serializable", 506_825),
    ],
)
def test_two_transactions_in_each_of_two_sessions_keep_the_level(
    variant: dict[str, Any], level: str, states: int
) -> None:
    found = search({**TWO_EACH, **variant, "LEVEL": level})

    assert states == found.counts.distinct
    assert not found.findings


def test_a_value_that_nobody_wrote_is_an_error() -> None:
    with pytest.raises(KeyError):
        judged([("begin", "t"), ("commit", "t")], [did("s", "t", [("r", "x", 7)])], "si")


# -- from a trace to a history ---------------------------------------------------------------------
def test_a_spec_without_a_record_is_refused(tmp_path: Path) -> None:
    spec = tmp_path / "spec.py"
    spec.write_text(
        "from statewalk import State, action, always\n"
        "class Counter(State):\n    n: int = 0\n\n    @action\n    def up(self) -> None:\n"
        "        self.n = min(self.n + 1, 3)\ncounter = Counter()\n\n"
        "@always\ndef small() -> bool:\n    return counter.n < 2\n"
    )
    check(spec, out=tmp_path / "run")
    trace = load_trace(tmp_path / "run" / "small.trace.json")

    with pytest.raises(RunError, match="does not say what its clients record"):
        load_with_hook(str(spec), trace)


def test_transactions_point_to_the_states_of_the_trace() -> None:
    trace = trace_of("lost-update-no-check")
    model, hook = load_with_hook(str(SNAPSHOT), trace)

    history = history_of(model, hook, replay(trace, model).states)

    assert {"A1", "B1"} == set(history.names.values())
    for t, numbers in history.states.items():
        name = history.name(t)
        began = next(i for i, c in enumerate(trace.contents) if name in str(c))
        assert began == numbers["begin"]
    assert trace.length == max(n["end"] for n in history.states.values())
