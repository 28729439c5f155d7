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
    "reasons": "a step is counted once for each reason that allows it, as TLC does",
    "depth": "TLC says {depth}: see below",
    "bound": "bounded by a constraint, so liveness is not asked",
    "orbits": "with symmetry on",
    "own": "counted for this page by TLC 2.15 with one worker: the manifest has no numbers",
    "two ways": "TLC generates {generated}: it counts each way in which a condition is true",
}
GROUPS = {
    "tlaplus": """## The public TLA+ examples

What TLC counts is from the manifests of [tlaplus/Examples](https://github.com/tlaplus/Examples)
(commit 32a32c7, 14 May 2026). Each spec was written anew, in statewalk's words; its steps are
those of the example, so that all three counts have to be equal. A row says *and liveness* where
the example has properties of behaviours, and the spec here has them, with the fairness they
need, and they hold.""",
    "kafka": """## Kafka

Numbers of the public TLA+ specs of Kafka's protocols under TLC. [The page of each
model](../models/kafka-init-pid.md) says what it leaves out.""",
    "tables": """## Table formats

Numbers of the public TLA+ specs of table formats under TLC: [Delta Lake](../models/delta.md) and
[Hudi](../models/hudi.md).""",
}
HEAD = """# Evidence

Numbers from outside, and ours. A checker that misses a state, or sees one twice, would be off
here. Each row is a test: `make test` runs some, `make test-slow` all of them
(`tests/conformance/test_evidence.py`). `python docs/explanation/evidence.py` writes the page, from
`docs/explanation/evidence.tsv` and what the configurations of the specs expect. The numbers are
distinct states · generated · depth; of a violation, the steps to it.

Run a row yourself: `statewalk check specs/examples/puzzles/prisoners.py --config four`.
"""
TAIL = """## Fizzbee's references

Of the {counted} reference examples that Fizzbee publishes with a number of unique states,
{compared} give the same number here, each with Fizzbee's verdict or a stricter one with the
reason in [fizz.md](../reference/fizz.md); the other {refused} use orders among symmetric values,
which are refused. The files are Fizzbee's: name the folder that holds them in `FIZZBEE_EXAMPLES`
to run `tests/conformance/test_fizzbee_examples.py`.

## Where numbers differ

**Depth, in three rows.** Three searches in plain Python, without any of statewalk, agree with
the depths here (`tests/conformance/plain.py`), and so does TLC 2.15 itself with one worker, on the
example's own text: 10, 9 and 5 (23 November 2026). With several workers, as the manifest's runs
have, TLC may come to a state on a way that is not the shortest, and its depth is that of the way:
with eight workers it said 9 and 10 of EWD 840 in turn.

**Left out**: examples whose specs have no behaviours to search but a constant to compute, as
CarTalkPuzzle, Stones and TransitiveClosure.

**Generated, by reasons.** Where an action begins with `A \\/ B`, TLC counts a successor for `A`
and one for `B` when both are true, though they are the same step. statewalk counts a step once.
Where a row says so, the spec chooses a reason, so that both count alike; EWD 840 has 1,817
instead of 2,001 without (`--config three-by-steps`).

**MultiPaxos-SMR** holds what its authors ask, that clients see one copy; its replicas can differ
all the same, after 13 steps, in what they commit in a slot (the witness `logs_differ`). TLC says so
too of the public text, with that invariant, in as many steps: a notice names a slot and no command.

**Kafka's producer ids** with more than one transactional id: the public spec has two defects,
and its numbers come out with both planted ([producer ids](../models/kafka-init-pid.md)).
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
        outside, found = _text(row.counts), _text(_ours(row))
    said = [REMARKS[remark].format(**row.counts) for remark in row.remarks]
    said += ["and liveness"] * row.liveness
    spec = f"[{row.spec.rpartition('/')[2]}](../../{row.spec})"
    return f"| {row.source} | {outside} | {found} | {spec} `{row.config}` | {'; '.join(said)} |"


def _fizzbee() -> dict[str, int]:
    table = ROOT / "tests" / "conformance" / "fizzbee_examples.tsv"
    with table.open(encoding="utf-8", newline="") as file:
        counted = [
            row
            for row in csv.DictReader(file, delimiter="\t")
            if row["path"].startswith("references/") and row["unique"]
        ]
    words = ("sym-ordinal", "sym-interval", "sym-rotational", "channel")
    refused = sum(any(word in row["features"] for word in words) for row in counted)
    return {"counted": len(counted), "refused": refused, "compared": len(counted) - refused}


def page(found: Iterable[Row]) -> str:
    """The page of some rows."""
    found = list(found)
    text = HEAD
    for group, about in GROUPS.items():
        own = [row for row in found if row.group == group]
        text += f"\n{about}\n\n| what | outside | here | spec | |\n|---|---|---|---|---|\n"
        text += "".join(f"{_line(row)}\n" for row in own)
    return f"{text}\n{TAIL.format(**_fizzbee())}"


if __name__ == "__main__":
    PAGE.write_text(page(rows()), encoding="utf-8")
