"""The public Paimon spec, unmodified: engines agree, and its dangling deletion vectors are found.

The file is not part of this repository. Name it in the environment variable PAIMON_FIZZ; without
it these tests are skipped.
"""

import os
from typing import Any

import pytest

from statewalk.checker import native
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines import reference
from statewalk.dsl.loader import load
from tests.checker.native.agreement import told

FILE = os.environ.get("PAIMON_FIZZ", "")
pytestmark = pytest.mark.skipif(not FILE, reason="PAIMON_FIZZ names no file")

# The setting in which the spec's README finds dangling deletion vectors, without the two guards
# that it adds so that the search ends.
DANGLING: dict[str, Any] = {
    "NUM_WRITERS": 1, "NUM_COMPACTORS": 2, "NUM_PARTITIONS": 1, "NUM_BUCKETS": 1, "MAX_LEVEL": 3,
    "PUT_IF_ABSENT": True, "USE_LOCK": False, "DV_ENABLED": True, "ONE_WRITER_PER_BUCKET": False,
    "ALLOW_UPDATES": True, "ALLOW_DELETES": False, "MAX_WRITE_OPS": 2, "MAX_WRITE_OPS_PER_KEY": 2,
    "MAX_WRITE_OPS_PER_WRITER": 2, "MAX_COMPACTIONS": 3, "MAX_COMPACTIONS_PER_COMPACTOR": 2,
    "PkCol1Values": ["jack"], "Col2Values": ["red", "blue"], "Col3Values": ["A"],
}  # fmt: skip

SMALLER: list[dict[str, Any]] = [
    {"MAX_COMPACTIONS": 1},
    {"MAX_COMPACTIONS": 1, "ALLOW_DELETES": True, "DV_ENABLED": False},
    {"MAX_COMPACTIONS": 1, "STREAMING_SINK": True, "Col2Values": ["red"]},
    {"NUM_WRITERS": 2, "MAX_WRITE_OPS": 1, "MAX_COMPACTIONS": 1},
]


@pytest.mark.parametrize("change", SMALLER, ids=str)
@pytest.mark.parametrize("keep_going", [False, True])
def test_the_reference_engine_agrees(change: dict[str, Any], keep_going: bool) -> None:
    constants = {**DANGLING, **change}
    options = SearchOptions(keep_going=keep_going, max_states=2000)
    expected = told(reference.explore(load(FILE, constants, optimize=False), options))

    assert expected["counts"].distinct > 20
    for optimize in (False, True):
        model = load(FILE, constants, optimize=optimize)
        assert told(native.explore(model, options)) == expected
    assert told(native.explore(model, SearchOptions(
        keep_going=keep_going, max_states=2000, threads=2
    ))) == expected  # fmt: skip


@pytest.mark.slow
def test_the_reference_engine_agrees_on_two_compactions() -> None:
    model = load(FILE, {**DANGLING, "MAX_COMPACTIONS": 2, "Col2Values": ["red"]})
    options = SearchOptions(keep_going=True)

    found = native.explore(model, options)

    assert (found.counts.distinct, found.counts.generated, found.counts.depth) == (18049, 24705, 22)
    assert told(found) == told(reference.explore(model, options))


@pytest.mark.slow
def test_dangling_deletion_vectors_are_found() -> None:
    found = native.explore(load(FILE, DANGLING), SearchOptions())
    lengths = {finding.property: len(finding.steps) for finding in found.findings}

    assert (found.counts.distinct, found.counts.depth) == (614213, 21)
    assert lengths == {
        "Deadlock": 19,
        "NoDanglingDeletionVectors": 20,
        "DVEnabledOnlyOneValidRowPerPkInLevels1Plus": 20,
    }
