"""Fizzbee's own examples give Fizzbee's verdicts and numbers of unique states.

The examples are not part of this repository. Name the folder that holds ``references`` and
``tutorials`` in the environment variable FIZZBEE_EXAMPLES; without it these tests are skipped.
The table ``fizzbee_examples.tsv`` holds what Fizzbee reports of each.
"""

import csv
import os
from pathlib import Path

import pytest

from statewalk import check
from statewalk.checker.verdict.run import Run
from statewalk.dsl.errors import SpecError
from tests.conformance.fizzbee_counts import unique_states
from tests.places import ROOT

TABLE = Path(__file__).with_name("fizzbee_examples.tsv")
EXAMPLES = os.environ.get("FIZZBEE_EXAMPLES", "")

# Parsed, and refused with the place.
REFUSED = ("channel",)
# States here, where Fizzbee has fewer: it rotates and mirrors. fizz.md says why.
UNREDUCED = {
    "references/16-10-rotational-symmetry/RotationalSymmetry.fizz": 26,
    "references/16-11-reflection/ReflectionInterval.fizz": 11,
    "references/16-11-reflection/ReflectionRotational.fizz": 42,
    "references/16-12-materialize/Materialize.fizz": 16,
}
# Violated here and passed there, for the reason that fizz.md gives under these words.
STRICTER = {
    "references/13-02-01-two-phase-commit/TwoPhaseCommit.fizz": (
        "ParticipantsDecide",
        "A run may crash again and again",
    ),
    "tutorials/39-actions-limit/Limit.fizz": ("Deadlock", "Bounds of single actions"),
}
# Failed there and not violated here, likewise.
LAXER = {
    "tutorials/28-unfair-coin-toss-while-return/FairCoin.fizz": "Loops that choose",
}
PAGE = ROOT / "docs" / "reference" / "fizz.md"
SECONDS = 120


def rows() -> list[dict[str, str]]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def refusable(row: dict[str, str]) -> bool:
    """Return whether a spec uses what is parsed and not supported."""
    return any(word in row["features"] for word in REFUSED)


def fails_as(failure: str, result: Run) -> bool:
    """Return whether a check found the failure that Fizzbee reports: "safety: Name", "deadlock",
    ...
    """
    kind, _, name = failure.partition(":")
    name = name.strip()
    found = [p for p in result.properties if p.verdict == "violated"]
    if kind == "liveness":
        found = [p for p in found if not p.of_kind.searched]
    elif kind == "deadlock":
        name = "Deadlock"
    return any(p.name == name or not name for p in found)


@pytest.mark.skipif(not EXAMPLES, reason="FIZZBEE_EXAMPLES names no folder of examples")
@pytest.mark.parametrize("row", rows(), ids=lambda row: row["path"])
def test_example_gives_what_fizzbee_reports(row: dict[str, str]) -> None:
    path = Path(EXAMPLES) / row["path"]
    if not path.exists():
        pytest.skip("this example is not in the folder")
    if refusable(row):
        with pytest.raises(SpecError) as refused:
            check(path)
        assert refused.value.code == "SW152"
        pytest.skip(refused.value.message)

    result = check(path, timeout=SECONDS)

    violated = {p.name: p.length for p in result.properties if p.verdict == "violated"}
    if row["path"] in STRICTER:
        assert {STRICTER[row["path"]][0]} == set(violated)
        assert None not in violated.values()  # a way there, or a lasso, proves it
    elif row["verdict"] == "PASSED" or row["path"] in LAXER:
        assert not violated
        assert result.verdict in ("holds", "bounded")
    else:
        assert result.verdict == "violated"
        assert fails_as(row["failure"], result)
    if row["unique"]:
        wanted = UNREDUCED.get(row["path"], int(row["unique"]))
        assert wanted == unique_states(path, seconds=SECONDS)


def test_other_verdicts_are_explained() -> None:
    text = PAGE.read_text(encoding="utf-8")
    known = {row["path"]: row["verdict"] for row in rows()}

    assert all(known[path] == "PASSED" for path in STRICTER)
    assert all(known[path] == "FAILED" for path in LAXER)
    assert "**Places on a ring are not reduced.**" in text
    for heading in (*(words for _, words in STRICTER.values()), *LAXER.values()):
        assert f"**{heading}" in text


def test_all_references_are_compared() -> None:
    references = [row for row in rows() if row["path"].startswith("references/")]
    counted = [row for row in references if row["unique"]]

    assert len(counted) == 99
    assert not [row for row in references if refusable(row)]
    assert set(UNREDUCED) <= {row["path"] for row in counted}


def test_the_table_of_examples_can_be_read() -> None:
    assert len(rows()) > 90
    assert {"PASSED", "FAILED"} == {row["verdict"] for row in rows()}
