"""docs/reference/checking.md and the README's tour say what the program does."""

from __future__ import annotations

import argparse
import re
import shlex
from dataclasses import fields
from pathlib import Path

import pytest

from statewalk.checker.cli import main, make_parser
from statewalk.checker.traces.exports import FORMATS
from statewalk.checker.verdict import exits
from statewalk.checker.verdict.result import Result
from tests.places import ROOT

PAGE = (ROOT / "docs/reference/checking.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")


def subparser(command: str) -> argparse.ArgumentParser:
    for action in make_parser(command)._actions:
        if isinstance(action, argparse._SubParsersAction):
            found: argparse.ArgumentParser = action.choices[command]
            return found
    raise AssertionError(command)


@pytest.mark.parametrize("command", ["check", "replay", "show"])
def test_every_option_is_documented_and_nothing_else(command: str) -> None:
    options = {
        o
        for a in subparser(command)._actions
        for o in a.option_strings
        if o[:2] == "--" and a.help != argparse.SUPPRESS
    }

    assert set() == {o for o in options if f"`{o}" not in PAGE}
    if command == "check":
        documented = set(re.findall(r"^\| `(--[a-z-]+)", PAGE, re.MULTILINE))
        assert options - {"--help"} == documented


def test_every_format_of_a_trace_is_documented() -> None:
    row = next(line for line in PAGE.splitlines() if "`statewalk export TRACE" in line)

    assert [] == [name for name in FORMATS if f"`{name}`" not in row]


def test_every_exit_code_is_documented() -> None:
    codes = {v for k, v in vars(exits).items() if k.isupper() and isinstance(v, int)}
    section = PAGE.partition("## Exit codes")[2].partition("## ")[0]

    assert codes == {int(n) for n in re.findall(r"^\| (\d+) \|", section, re.MULTILINE)}


def test_every_field_of_the_json_is_documented() -> None:
    names = {f.name.rstrip("_") for f in fields(Result)}
    section = PAGE.partition("## The result as JSON")[2]

    assert set() == {name for name in names if f'  "{name}": ' not in section}


@pytest.mark.parametrize(
    "code", re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
)
def test_the_python_examples_run(
    code: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)

    exec(compile(code, "docs/reference/checking.md", "exec"), {})

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
