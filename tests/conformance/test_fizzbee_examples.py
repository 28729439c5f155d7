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
REFUSED = ("serial", "parallel", "@state", "sym-", "channel")
# Our results differ, for the reason that docs/fizz.md gives under this heading.
DIFFERENT = {
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
        refused = "SW152" in str(error) and (refusable(row) or "gives way" in str(error))
        if not refused:
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


def test_the_table_of_examples_can_be_read() -> None:
    assert len(rows()) > 90
    assert {"PASSED", "FAILED"} == {row["verdict"] for row in rows()}
