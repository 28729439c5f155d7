"""Fizzbee's own examples give Fizzbee's verdicts and numbers of unique states.

The examples are not part of this repository. Name the folder that holds ``references`` and
``tutorials`` in the environment variable FIZZBEE_EXAMPLES; without it these tests are skipped.
The table ``fizzbee_examples.tsv`` holds what Fizzbee reports of each.
"""

import csv
import os
from pathlib import Path
from typing import Any

import pytest

from checker import check
from dsl.errors import SpecError

TABLE = Path(__file__).with_name("fizzbee_examples.tsv")
EXAMPLES = os.environ.get("FIZZBEE_EXAMPLES", "")

# Parsed, and refused with the place: docs/fizz.md says what they are about.
REFUSED = ("sym-", "channel")
# Our results differ, for the reason that docs/fizz.md gives under this heading.
DIFFERENT = {
    "references/02-03-parallel-block/Counter.fizz": "A parallel block chooses late",
    "references/13-02-01-two-phase-commit/TwoPhaseCommit.fizz": "Threads are told apart",
    "tutorials/05-multiple-parallel-counters/Counter.fizz": "A parallel block chooses late",
    "tutorials/39-actions-limit/Limit.fizz": "Counting starts",
}
SECONDS = 120


def rows() -> list[dict[str, str]]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def refusable(row: dict[str, str]) -> bool:
    """Whether a spec uses what is parsed and not supported yet."""
    return any(word in row["features"] for word in REFUSED)


@pytest.mark.skipif(not EXAMPLES, reason="FIZZBEE_EXAMPLES names no folder of examples")
@pytest.mark.parametrize("row", rows(), ids=lambda row: row["path"])
def test_example_gives_what_fizzbee_reports(row: dict[str, str]) -> None:
    path = Path(EXAMPLES) / row["path"]
    if not path.exists():
        pytest.skip("this example is not in the folder")
    if row["path"] in DIFFERENT:
        pytest.skip(f"differs: {DIFFERENT[row['path']]}")
    try:
        result = check(path, liveness=False, fizzbee_counts=True, timeout=SECONDS)
    except SpecError as error:
        if "SW152" not in str(error) or not refusable(row):
            raise
        pytest.skip(str(error).splitlines()[0])

    wanted: dict[str, Any] = {"verdict": row["verdict"]}
    if row["failure"].startswith("liveness"):
        wanted = {"verdict": "PASSED"}  # liveness is the subject of other tests
    found: dict[str, Any] = {"verdict": "FAILED" if result.verdict == "violated" else "PASSED"}
    if row["unique"]:
        wanted["unique"] = int(row["unique"])
        found["unique"] = result.counts.fizzbee_unique
    assert wanted == found


def test_nearly_all_references_are_compared() -> None:
    named = [row for row in rows() if row["path"].startswith("references/")]
    references = [row for row in named if row["unique"]]
    compared = [r for r in references if r["path"] not in DIFFERENT and not refusable(r)]

    assert len(references) == 99
    assert len(compared) == 87


def test_the_table_of_examples_can_be_read() -> None:
    assert len(rows()) > 90
    assert {"PASSED", "FAILED"} == {row["verdict"] for row in rows()}
