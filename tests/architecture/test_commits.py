"""Subjects of commits that are pushed are in the imperative, and at most 72 characters long.

Only the first word is looked at. That finds "Added", "Adds", "Adding" and "The table is faster".
"""

from __future__ import annotations

import os
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


def pushed() -> list[str]:
    """Return the subjects of the commits that no remote has yet, or since ``PUSHED_FROM``."""
    since = os.environ.get("PUSHED_FROM")
    commits = [f"{since}..HEAD"] if since else ["HEAD", "--not", "--remotes"]
    command = ["git", "log", "-100", "--no-merges", "--format=%s", *commits]
    remotes = ["git", "remote"]
    try:
        known = subprocess.run(remotes, cwd=ROOT, capture_output=True, text=True, check=True)
        if not (since or known.stdout):
            return []
        log = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return []
    return log.stdout.splitlines()


def test_subjects_are_as_contributing_asks() -> None:
    assert {} == {line: wrong(line) for line in pushed() if wrong(line)}


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
