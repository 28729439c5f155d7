"""The specs of `benchmarks/natural` have the counts of their twins in plain Python."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.natural import table
from statewalk import check
from tests.cases import some
from tests.places import ROOT

SMALL: dict[str, dict[str, int]] = {  # by the name of a row: constants for a moment's search
    "lock service": {"CLIENTS": 2, "SESSIONS": 1, "TOKENS": 2},
    "Raft": {"SERVERS": 2, "MAX_TERM": 2, "MAX_LOG": 1},
    "MSI caches": {"CACHES": 2, "VALUES": 2},
    "Raft, pointwise": {"SERVERS": 2, "MAX_TERM": 2, "MAX_LOG": 1},
    "Paxos, 3 ballots": {"ACCEPTORS": 2, "VALUES": 2, "BALLOTS": 2},
    "chain replication": {"NODES": 2, "WRITES": 2},
    "CRDT, up to 3": {"NODES": 3, "TOP": 1},
    "KIP-848, 1 topic": {"CLIENTS": 1, "TOPICS": 1, "PERTURBATIONS": 0},
    "view change": {"REPLICAS": 3, "MAX_VIEW": 1, "MAX_LOG": 1},
}
TWINS = {row.name: row for row in table.ROWS if row.twin}


@pytest.mark.thorough
@pytest.mark.parametrize("name", some(SMALL, every=6))
def test_a_spec_has_the_counts_of_its_twin(name: str, tmp_path: Path) -> None:
    row = replace(TWINS[name], constants=SMALL[name])
    found = check(ROOT / row.spec, row.constants, threads=1, liveness=False).counts

    _, counted = table.run(table.commands(row, tmp_path, None)[table.PLAIN], tmp_path, None)

    assert (found.distinct, found.generated, found.depth) == counted


def test_every_twin_is_compared() -> None:
    assert {row.twin for row in TWINS.values()} == {TWINS[name].twin for name in SMALL}
    assert {row.spec for row in TWINS.values()} == {TWINS[name].spec for name in SMALL}


def test_a_row_whose_programs_count_differently_is_refused() -> None:
    measured = table.Measured(table.ROWS[1])
    measured.add(table.PLAIN, 1.0, (5, 9, 3))

    with pytest.raises(SystemExit, match=r"statewalk counts \(5, 10, 3\), not \(5, 9, 3\)"):
        measured.add(table.STATEWALK, 2.0, (5, 10, 3))


def test_a_program_that_hits_the_limit_has_no_ratio() -> None:
    measured = table.Measured(table.ROWS[1])
    measured.add(table.STATEWALK, 3.0, (5, 9, 3))
    measured.add(table.PLAIN, 60.2, None)

    assert ("3.00", "> 60", "") == (
        measured.shown(table.STATEWALK),
        measured.shown(table.PLAIN),
        measured.ratio(measured, table.PLAIN),
    )


@pytest.mark.parametrize("why", ["a crash (SIGKILL), in an unknown place", "time"])
def test_a_search_that_was_cut_short_has_no_counts(why: str) -> None:
    counts = {"distinct": 5, "generated": 9, "depth": 3}
    told: dict[str, Any] = {
        "spec": "spec.py",
        "counts": counts,
        "warnings": ["bounded: constraint small"],
    }

    assert (5, 9, 3) == table.counts(json.dumps(told))
    with pytest.raises(SystemExit, match="not searched to the end"):
        table.counts(json.dumps({**told, "warnings": [*told["warnings"], f"bounded: {why}"]}))


def test_counts_of_tlc_are_read() -> None:
    text = "Model checking completed. No error has been found.\n"
    text += "6 states generated, 5 distinct states found, 0 states left on queue.\n"
    text += "The depth of the complete state graph search is 4.\n"

    assert (5, 6, 4) == table.counts(text)
