"""Printed installation commands work for the copy that prints them."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from statewalk.checker.commands.everyday import templates
from statewalk.checker.machine import installed
from statewalk.checker.machine.installed import Source, source_of

COMMIT = "0123456789abcdef0123456789abcdef01234567"
GIT = {
    "url": "https://me:secret@example.org/a/b.git",
    "vcs_info": {"vcs": "git", "commit_id": COMMIT},
}
RECORDED: list[tuple[dict[str, Any] | None, str, bool]] = [
    (None, "pip install 'statewalk[graph]==1.2.3'", True),
    (GIT, f"pip install 'statewalk[graph] @ git+https://example.org/a/b.git@{COMMIT}'", True),
    (
        {**GIT, "url": "file:///a/clone", "subdirectory": "sub"},
        f"pip install 'statewalk[graph] @ git+file://localhost/a/clone@{COMMIT}#subdirectory=sub'",
        False,
    ),
    (
        {"url": "file:///a%20b/c", "dir_info": {"editable": True}},
        "pip install -e '/a b/c[graph]'",
        False,
    ),
    ({"url": "file:///a/c", "dir_info": {}}, "pip install '/a/c[graph]'", False),
    (
        {"url": "file:///a/s-1.whl", "archive_info": {}},
        "pip install 'statewalk[graph] @ file:///a/s-1.whl'",
        False,
    ),
    (
        {"url": "https://example.org/s-1.whl", "archive_info": {}},
        "pip install 'statewalk[graph] @ https://example.org/s-1.whl'",
        True,
    ),
]


@pytest.mark.parametrize(("recorded", "command", "portable"), RECORDED)
def test_the_command_names_where_the_copy_came_from(
    recorded: dict[str, Any] | None, command: str, portable: bool
) -> None:
    found = source_of(recorded, "1.2.3")

    assert command == found.command("graph")
    assert portable == found.is_portable


@pytest.mark.parametrize(("recorded", "command", "portable"), RECORDED)
def test_a_workflow_installs_it_or_says_what_to_write(
    recorded: dict[str, Any] | None, command: str, portable: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = source_of(recorded, "1.2.3")
    monkeypatch.setattr(installed, "source", lambda: found)

    (job,) = yaml.safe_load(templates.workflow())["jobs"].values()

    runs = [step["run"] for step in job["steps"] if "run" in step]
    if portable:
        assert found.command() == runs[0]
    else:
        assert runs[0].endswith("exit 1\n") and "first lines" in runs[0]
        assert templates.workflow().startswith("# Before the first run")
    assert any("doctor --compile" in run for run in runs)


def test_this_copy_has_a_source() -> None:
    assert isinstance(installed.source(), Source)
    assert installed.source().where
