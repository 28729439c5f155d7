"""Subjects of commits are in the imperative, and at most 72 characters long: those of the last 20.

Only the first word is looked at. That finds "Added", "Adds", "Adding" and "The table is faster".
"""

from __future__ import annotations

import re
import subprocess

import pytest

from tests.places import ROOT

LONGEST = 72
NO_VERB = re.compile(
    r"[^A-Z]|(A|An|The|This|That|It|We|What|Where|Who|How|Whether|When|No|All|Every)\b|"
    r"(?!(Need|Seed|Feed|Embed|Speed|Bring|String)\b)\w+(ed|ing)\b|"
    r"\w+[^su]s\b"
)


def wrong(subject: str) -> list[str]:
    """Return what is wrong with a subject."""
    found = []
    if len(subject) > LONGEST:
        found.append(f"{len(subject)} characters, at most {LONGEST}")
    if NO_VERB.match(subject):
        found.append("does not begin with a verb in the imperative")
    if subject.endswith("."):
        found.append("ends with a full stop")
    return found


def test_the_last_subjects_are_as_contributing_asks() -> None:
    command = ["git", "log", "-20", "--no-merges", "--format=%s"]
    try:
        log = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no git, or no repository")

    assert {} == {line: wrong(line) for line in log.stdout.splitlines() if wrong(line)}


@pytest.mark.parametrize(
    "subject",
    [
        "Added a check of subjects",
        "Adds a check of subjects",
        "Adding a check of subjects",
        "The check of subjects is faster",
        "check subjects",
        "Check subjects.",
        "Check subjects of commits, their length, their first word and their last one",
    ],
)
def test_an_offence_is_found(subject: str) -> None:
    assert len(wrong(subject)) == 1


@pytest.mark.parametrize(
    "subject", ["Refuse real-time levels", "Pass options", "Need git", "Speed up"]
)
def test_what_is_right_is_let_through(subject: str) -> None:
    assert [] == wrong(subject)
