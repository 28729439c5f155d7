"""Every spec of the corpus gives, with every engine, what its header says.

A line of the form

    # check [NAME=VALUE ...] -> VERDICT [PROPERTY ...] [COUNT=NUMBER ...] [(orbits)] [(slow)]

gives constants and what is then found: the verdict holds, violated or bounded; for violated the
properties, and perhaps the length of the first one's trace; the counts distinct, generated, depth,
and unique (Fizzbee's way of counting). With (orbits), symmetric states count once.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from statewalk import Run, check
from statewalk.checker.report.runs import evidence_of
from statewalk.dsl.words.constants import GivenText
from tests.cases import slow, some
from tests.conformance.fizzbee_counts import unique_states
from tests.places import ROOT

SPECS = ROOT / "specs"
LINE = re.compile(
    r"^#\s*check(?P<set>(?:\s+\w+=\S+)*)\s*->\s*(?P<verdict>\w+)(?P<rest>.*)$", re.MULTILINE
)
COUNTS = ("distinct", "generated", "depth", "unique", "length")


@dataclass(frozen=True)
class Case:
    """A spec with constants, and what is to be found."""

    path: Path
    constants: tuple[tuple[str, str], ...]
    verdict: str
    properties: tuple[str, ...]
    counts: tuple[tuple[str, int], ...]
    slow: bool
    orbits: bool

    def __str__(self) -> str:
        given = ",".join(f"{name}={value}" for name, value in self.constants)
        name = self.path.relative_to(SPECS).as_posix()
        name = f"{name}[{given}]" if given else name
        return f"{name}-orbits" if self.orbits else name


def cases(path: Path) -> list[Case]:
    """Return what the header of a spec says."""
    found = []
    for line in LINE.finditer(path.read_text(encoding="utf-8")):
        words = line["rest"].split()
        counts = [w.partition("=")[::2] for w in words if "=" in w]
        plain = [w for w in words if "=" not in w]
        unknown = [name for name, _ in counts if name not in COUNTS]
        assert not unknown, f"{path}: {unknown}"
        found.append(
            Case(
                path,
                tuple((n, v) for n, _, v in (w.partition("=") for w in line["set"].split())),
                line["verdict"],
                tuple(w for w in plain if w not in ("(slow)", "(orbits)")),
                tuple((name, int(value)) for name, value in counts),
                "(slow)" in plain,
                "(orbits)" in plain,
            )
        )
    return found


def all_specs() -> list[Path]:
    """Every spec of the corpus; examples state configurations (test_evidence.py)."""
    found = [*SPECS.rglob("*.fizz"), *SPECS.rglob("*.py")]
    return sorted(path for path in found if "examples" not in path.parts)


# How many lines of a spec an engine checks in the default run.
QUICK = {"reference": 1, "native": 2, "auto": 0, "replaying": 0}


@pytest.mark.parametrize("path", all_specs(), ids=lambda p: p.relative_to(SPECS).as_posix())
def test_every_spec_says_what_to_expect(path: Path) -> None:
    assert cases(path)


def checked() -> Iterator[Any]:
    """Every line with every engine; of a spec with many the first ones by default."""
    for path in all_specs():
        for at, case in enumerate(cases(path)):
            for engine, most in QUICK.items():
                row: Any = (case, engine)
                yield slow(*row) if case.slow or at >= most else row


@pytest.mark.sampled(7)
@pytest.mark.parametrize(("case", "engine"), list(checked()), ids=str)
def test_spec_gives_what_its_header_says(case: Case, engine: str) -> None:
    constants = {name: GivenText(value) for name, value in case.constants}
    expected = dict(case.counts)

    result = check(
        str(case.path),
        constants,
        engine=engine,
        liveness=False,
        symmetry=case.orbits,
    )

    assert case.verdict == result.verdict
    violated = {p.name: p.length for p in result.properties if p.verdict == "violated"}
    assert set(case.properties) <= set(violated)
    counts = {
        "distinct": result.counts.distinct,
        "generated": result.counts.generated,
        "depth": result.counts.depth,
        "length": violated.get(case.properties[0]) if case.properties else None,
    }
    if "unique" in expected:
        counts["unique"] = unique_states(case.path, constants, symmetry=case.orbits)
    assert expected == {name: counts[name] for name in expected}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "path", some(all_specs(), every=5), ids=lambda p: p.relative_to(SPECS).as_posix()
)
def test_beginning_in_plain_python_changes_nothing_that_is_told(path: Path) -> None:
    """Of the first line of each spec: result, traces, what they rest on, with liveness."""
    case = cases(path)[0]
    constants = {name: GivenText(value) for name, value in case.constants}
    small, native = (
        check(str(path), constants, engine=engine, keep_going=True) for engine in ("auto", "native")
    )

    assert told(native) == told(small)


def told(run: Run) -> dict[str, Any]:
    """Return what a run says, but for how long it took, what its engine says of itself, and what
    the native engine estimates.
    """
    evidence = evidence_of(run)
    for name in ("statistics", "options", "fields"):
        del evidence[name]
    traces = {name: str(trace) for name, trace in run.traces.items()}
    return {**run.to_dict(), "seconds": 0, "evidence": evidence, "traces": traces}
