"""Write evidence.md, from evidence.tsv and what the configurations of the specs expect.

Nothing is checked here: tests/conformance/test_evidence.py does. Run from the folder of the
repository: .venv/bin/python docs/explanation/evidence.py
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from statewalk import Expectation
from statewalk.checker.api import declared_within

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "explanation" / "evidence.md"
COUNTS = ("distinct", "generated", "depth")
REMARKS = {
    "reasons": "by reasons",
    "depth": "depth",
    "bound": "bounded",
    "orbits": "with symmetry on",
    "own": "own run of TLC 2.15",
    "two ways": "by reasons",
}
GROUPS = {
    "tlaplus": """## The public TLA+ examples

TLC's counts are from the manifests of [tlaplus/Examples](https://github.com/tlaplus/Examples)
(commit 32a32c7, 14 May 2026). Each spec was rewritten for statewalk with the same steps.
*Liveness*: the example's liveness properties, with their fairness, hold here too. *Bounded*: by a
constraint, so liveness is not checked. *By reasons*, *depth*: [below](#where-numbers-differ). *Own
run*: the manifest has no numbers.""",
    "kafka": """## Kafka

TLC's numbers of the public TLA+ specs of Kafka's protocols. [The page of each
model](../models/kafka-init-pid.md) lists what it leaves out.""",
    "tables": """## Table formats

TLC's numbers of the public TLA+ specs of table formats: [Delta Lake](../models/delta.md) and
[Hudi](../models/hudi.md).""",
}
HEAD = """# Evidence

Published counts of other checkers, which statewalk repeats: a checker that
misses a state, or counts one twice, would differ. The numbers are distinct states · generated ·
depth; of a violation, its steps. They are equal outside and here, unless *here* gives others; – was
not published. Each row is a test (`tests/conformance/test_evidence.py`; `make test-slow` runs all).
Run one yourself: `statewalk check specs/examples/puzzles/prisoners.py --config four`.
"""
TAIL = """## Fizzbee's references

Of the {counted} reference examples that Fizzbee publishes with a number of unique states,
{compared} give the same number here, and {more} a larger one: rotations and mirror images are not
reduced. Each has Fizzbee's verdict, or a stricter one with the reason in
[fizz.md](../reference/fizz.md). The files are Fizzbee's: name the folder that holds them in
`FIZZBEE_EXAMPLES` to run `tests/conformance/test_fizzbee_examples.py`.

## Inductive invariants

[`prove`](../how-to/prove.md) takes the states of the types that satisfy an invariant, and each
step from one. TLC, begun in the same states of the public spec, finds as many (own runs; TLC's
generated states count the initial ones too):

| spec | states · steps |
|---|---|
| EWD840 with `TypeOK` and `Inv`, three nodes | 352 · 2,056 |
| TwoPhase with that of `tests/checker/induction/test_prove.py`, three managers | 476 · 1,773 |
| MCBakery (`--max-states 2000000`, 42 minutes) | 655,200 · 2,748,384 |

## Where numbers differ

**Depth, in three rows.** Independent searches in plain Python (`tests/conformance/plain.py`) agree
with the depths here, and so does TLC 2.15 with one worker. With several workers, as in the
manifest, TLC may reach a state by a longer path.

**Left out**: examples that compute a constant, such as CarTalkPuzzle, Stones and TransitiveClosure.

**Generated, by reasons.** For `A \\/ B` TLC counts a successor for each true disjunct, although
they are one step; statewalk counts one. In rows that say so the spec chooses a disjunct, so that
counts agree; without it EWD 840 has 1,817 instead of 2,001 (`--config three-by-steps`).

**MultiPaxos-SMR** satisfies its authors' property, that clients see one copy. Its replicas can
still commit different commands in a slot, after 13 steps (the witness `logs_differ`); TLC finds the
same in the public text.

**Kafka's producer ids** with several transactional ids: the public spec has two defects, and its
numbers appear with both planted ([producer ids](../models/kafka-init-pid.md)).
"""


@dataclass(frozen=True)
class Row:
    """A configuration, and what somebody else found of it."""

    group: str
    source: str
    spec: str
    config: str
    counts: dict[str, int]
    length: int | None
    liveness: bool
    remarks: tuple[str, ...]

    @property
    def orbits(self) -> bool:
        """Whether symmetric states count once."""
        return "orbits" in self.remarks


def rows() -> Iterator[Row]:
    """The rows of evidence.tsv."""
    with PAGE.with_suffix(".tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            known = [remark for remark in REMARKS if remark in row["remarks"]]
            yield Row(
                row["group"],
                row["source"],
                row["spec"],
                row["config"],
                {name: int(row[name]) for name in COUNTS if row[name]},
                int(row["length"]) if row["length"] else None,
                row["liveness"] == "yes",
                tuple(known),
            )


@cache
def _declared(spec: str) -> dict[str, Expectation]:
    found = declared_within(ROOT / spec).declared.configurations
    return {c.name: c.expect for c in found if c.expect is not None}


def expected(row: Row) -> Expectation:
    """What the configuration of a row expects."""
    return _declared(row.spec)[row.config]


def _ours(row: Row) -> dict[str, int]:
    if row.orbits:
        return row.counts  # the configuration expects the states without symmetry
    found = {name: getattr(expected(row), name) for name in COUNTS}
    return {name: number for name, number in found.items() if number is not None}


def _text(counts: dict[str, int]) -> str:
    return " · ".join(f"{counts[name]:,}" if name in counts else "–" for name in COUNTS)


def _line(row: Row) -> str:
    if row.length is not None:
        found = f"violated after {row.length}"
        outside = "violated" if row.group == "tlaplus" else found
    else:
        ours = _ours(row)
        outside = _text(row.counts)
        found = _text({name: count for name, count in ours.items() if name in row.counts})
    numbers = outside if found == outside else f"{outside}; here {found}"
    said = [REMARKS[remark] for remark in row.remarks]
    said += ["liveness"] * row.liveness
    spec = f"[{row.source}](../../{row.spec}) `{row.config}`"
    return f"| {spec} | {numbers} | {'; '.join(said)} |"


def _fizzbee() -> dict[str, int]:
    table = ROOT / "tests" / "conformance" / "fizzbee_examples.tsv"
    with table.open(encoding="utf-8", newline="") as file:
        counted = [
            row
            for row in csv.DictReader(file, delimiter="\t")
            if row["path"].startswith("references/") and row["unique"]
        ]
    words = {"sym-rotational", "reflection"}
    more = sum(not words.isdisjoint(row["features"].split(",")) for row in counted)
    return {"counted": len(counted), "more": more, "compared": len(counted) - more}


def page(found: Iterable[Row]) -> str:
    """The page of some rows."""
    found = list(found)
    text = HEAD
    for group, about in GROUPS.items():
        own = [row for row in found if row.group == group]
        text += f"\n{about}\n\n| spec, configuration | outside and here | |\n|---|---|---|\n"
        text += "".join(f"{_line(row)}\n" for row in own)
    return f"{text}\n{TAIL.format(**_fizzbee())}"


if __name__ == "__main__":
    PAGE.write_text(page(rows()), encoding="utf-8")
