"""`--certain`: what is found is a violation, and nothing else is decided."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from statewalk.checker.cli import main
from statewalk.checker.history.decide.check import Options, check
from statewalk.checker.history.formats.jsonl import from_records

LOST_UPDATE = [("a", "rx wx"), ("b", "rx wx")]
WRITE_SKEW = [("a", "rx ry wx"), ("b", "rx ry wy")]


def write(folder: Path, transactions: list[tuple[str, str]]) -> Path:
    """A history whose reads are of the initial versions."""
    lines = []
    for number, (session, text) in enumerate(transactions):
        ops = [[op[0], op[1], number + 1 if op[0] == "w" else None] for op in text.split()]
        lines.append(json.dumps({"session": session, "ops": ops}))
    file = folder / "history.jsonl"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("transactions", "level", "code"),
    [
        (LOST_UPDATE, "si", 3),
        (WRITE_SKEW, "si", 3),
        (WRITE_SKEW, "serializable", 1),
        (LOST_UPDATE, "serializable", 1),
        (LOST_UPDATE, "causal", 2),
    ],
)
def test_what_is_certain(
    transactions: list[tuple[str, str]], level: str, code: int, tmp_path: Path
) -> None:
    file = write(tmp_path, transactions)

    assert code == main(["history", "check", str(file), "--level", level, "--certain"])


def test_nothing_is_said_of_what_is_not_certain(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["history", "check", str(write(tmp_path, LOST_UPDATE)), "--certain", "--json", "-"])
    said = json.loads(capsys.readouterr().out)

    assert said["levels"]["si"]["holds"] is None
    assert said["explanations"] == said["weakest_that_fail"] == []


def test_phases_add_up_to_what_the_levels_took(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path, WRITE_SKEW)
    main(["history", "check", str(file), "--level", "si", "--json", "-"])
    said = json.loads(capsys.readouterr().out)

    assert list(said["phases"]) == ["read", "build", "prune", "search", "replay"]
    assert sum(said["phases"].values()) == pytest.approx(
        said["phases"]["read"] + sum(said["levels"]["si"]["seconds"].values())
    )


@st.composite
def histories(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Reads of whatever anybody wrote to the key, or of the first version."""
    number = draw(st.integers(2, 5))
    found: list[dict[str, Any]] = []
    for me in range(number):
        keys = draw(st.lists(st.sampled_from("xy"), unique=True, max_size=2))
        reads = [["r", k, draw(st.sampled_from([None, *range(number)]))] for k in keys]
        ops = reads + [["w", k, me] for k in draw(st.lists(st.sampled_from("xy"), unique=True))]
        found.append({"session": f"s{draw(st.integers(0, 2))}", "ops": ops})
    written = {(op[1], op[2]) for t in found for op in t["ops"] if op[0] == "w"}
    for t in found:
        t["ops"] = [
            op for op in t["ops"] if op[0] == "w" or op[2] is None or (op[1], op[2]) in written
        ]
    return [t for t in found if t["ops"]]


@settings(deadline=None)  # the first example compiles
@given(histories(), st.sampled_from(["prefix", "si", "strong-session-si", "serializable"]))
def test_a_certain_violation_is_one(records: list[dict[str, Any]], level: str) -> None:
    if records:
        certain = check(from_records(records), level, Options(certain=True))

        if certain.settled:
            assert not check(from_records(records), level).holds
