"""The reference and the README's tour say what the program does."""

from __future__ import annotations

import argparse
import re
import runpy
import shlex
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from statewalk.checker.cli import main, make_parser
from statewalk.checker.commands import COMMANDS as COMMANDS_THERE_ARE
from statewalk.checker.traces.exports import FORMATS
from statewalk.checker.verdict import exits
from statewalk.checker.verdict.run import Result
from statewalk.dsl.kinds import KINDS
from tests.places import ROOT

FOLDER = ROOT / "docs/reference"
GENERATE = runpy.run_path(str(FOLDER / "generate.py"))
COMMANDS, VERDICTS, REPORT, PYTHON, LANGUAGE = (
    (FOLDER / name).read_text(encoding="utf-8")
    for name in ("command-line.md", "verdicts.md", "report.md", "python.md", "language.md")
)
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="signatures are printed as by Python 3.11")
@pytest.mark.parametrize("kind", GENERATE["PAGES"])
def test_the_reference_is_what_docs_reference_generate_py_writes(kind: str) -> None:
    """Of command-line.md, python.md and words.md."""
    text = (FOLDER / GENERATE["PAGES"][kind]).read_text(encoding="utf-8")

    assert GENERATE["fresh"](kind, text) == text


def test_the_reference_has_every_command_and_option() -> None:
    shown = [a for a in subparser("check")._actions if a.help != argparse.SUPPRESS]
    options = {o for a in shown for o in a.option_strings}

    assert {"--help", "-h"} == {o for o in options if f"`{o}" not in COMMANDS}
    assert [] == [name for name in COMMANDS_THERE_ARE if f"### {name}\n" not in COMMANDS]


def test_the_notes_name_options_that_there_are() -> None:
    options = {o for a in subparser("check")._actions for o in a.option_strings}
    noted = re.findall(r"^- `(--[a-z-]+)", COMMANDS.partition("<!-- generated")[0], re.MULTILINE)

    assert set() == {*noted} - options


def subparser(command: str) -> argparse.ArgumentParser:
    for action in make_parser(command)._actions:
        if isinstance(action, argparse._SubParsersAction):
            found: argparse.ArgumentParser = action.choices[command]
            return found
    raise AssertionError(command)


def test_every_format_of_a_trace_is_documented() -> None:
    listed = COMMANDS.partition("\nFormats: ")[2].partition("\n")[0]

    assert [] == [name for name in FORMATS if f"{name}: " not in listed]


def test_every_exit_code_is_documented() -> None:
    codes = {v for k, v in vars(exits).items() if k.isupper() and isinstance(v, int)}
    section = VERDICTS.partition("## Exit codes")[2].partition("## ")[0]

    assert codes == {int(n) for n in re.findall(r"^\| (\d+) \|", section, re.MULTILINE)}


def test_every_field_of_the_json_is_documented() -> None:
    names = {f.name.rstrip("_") for f in fields(Result)}
    section = REPORT.partition("## JSON")[2]

    assert set() == {name for name in names if f'  "{name}": ' not in section}


def test_every_kind_of_property_is_documented() -> None:
    section = REPORT.partition("\n`kind` is ")[2].partition(". ")[0]
    stacks = [
        " ".join(f"@{mark}" for mark in stack) for k in KINDS.values() for stack in k.marks[:1]
    ]

    assert list(KINDS) == re.findall(r"`(\w+)`", section)
    assert [] == [stack for stack in stacks if f"`{stack}`" not in LANGUAGE]


@pytest.mark.parametrize(
    "code", re.findall(r"^```python\n(.*?)^```", PYTHON, re.MULTILINE | re.DOTALL)
)
def test_the_python_examples_run(
    code: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)

    exec(compile(code, "python.md", "exec"), {})

    assert "goal_not_reached" in capsys.readouterr().out


def examples() -> list[tuple[str, str]]:
    """The commands of the README's tour and what they print there."""
    blocks = re.findall(r"^```console\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    found = []
    for block in blocks:
        command, _, output = block.partition("\n")
        found.append((command.removeprefix("$ "), output))
    return found


def normal(text: str) -> str:
    """Without what differs from run to run, or with every line added to a model."""
    text = re.sub(r"(\d+ min )?\d+(\.\d+)? s\b", "#", text)
    text = re.sub(r"runs/\d{4}", "runs/#", text)
    return re.sub(r"\.py:\d+", ".py:#", text).strip()


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("command", "output"), examples(), ids=lambda text: text[:60])
def test_the_tour_prints_what_the_readme_says(
    command: str,
    output: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "models").symlink_to(ROOT / "models")
    (tmp_path / "counter.py").write_text(first_spec())

    main(shlex.split(command)[1:])

    shown, printed = normal(output), normal(capsys.readouterr().out)
    if shown.endswith("\n..."):  # the summary is left out
        assert printed.startswith(shown.removesuffix("..."))
    else:
        assert shown == printed


def first_spec() -> str:
    """The spec on the README's first screen."""
    found = re.search(r"^```python counter.py\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found.group(1)


def test_the_picture_is_that_of_the_first_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "counter.py").write_text(first_spec())
    main(["check", "counter.py", "--out", "run"])

    main(["export", "run/no_update_is_lost.trace.json", "--format", "svg", "--out", "new.svg"])

    picture = ROOT / "docs" / "images" / "lost-update.svg"
    assert picture.read_text() == (tmp_path / "new.svg").read_text()


def test_the_tour_has_commands() -> None:
    assert 3 == len(examples())
