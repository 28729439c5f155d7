"""The files for continuous integration run what works; `statewalk new` writes the same."""

from __future__ import annotations

import shlex
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from statewalk.checker.cli import main, make_parser
from statewalk.checker.commands.everyday.templates import WORKFLOW
from tests.cases import slow
from tests.places import ROOT

FOLDER = ROOT / "examples" / "ci"


def commands(name: str) -> list[str]:
    """Return what a workflow or a hook runs of statewalk."""
    data = yaml.safe_load((FOLDER / name).read_text())
    if "jobs" in data:
        (job,) = data["jobs"].values()
        return [s["run"] for s in job["steps"] if s.get("run", "").startswith("statewalk")]
    return [hook["entry"] for repo in data["repos"] for hook in repo["hooks"]]


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["specs.yml", slow("pre-commit-config.yaml")])
def test_the_commands_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    main(["new", "lock"])
    monkeypatch.chdir(tmp_path / "lock")

    for command in commands(name):
        words = shlex.split(command)[1:]
        if words[0] == "doctor":  # compiling takes a minute
            assert make_parser("doctor").parse_args(words).compile
        else:
            assert 0 == main([*words, "--engine", "reference"])

    if name == "specs.yml":
        assert "testsuites" == ElementTree.parse("specs.xml").getroot().tag


def test_a_new_folder_has_the_same_workflow() -> None:
    pinned = "{install}"

    assert (FOLDER / "specs.yml").read_text() == WORKFLOW.replace(pinned, "pip install statewalk")
