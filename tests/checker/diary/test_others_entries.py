"""An entry may come from elsewhere: what cannot be played is refused, and writes stay inside."""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from statewalk.checker.cli import make_parser
from statewalk.checker.diary.entry import COMMANDS, OUTPUTS, Entry, entries
from statewalk.checker.diary.markup import picture_of as drawn
from statewalk.checker.diary.markup import to_html
from statewalk.checker.diary.notebook import to_notebook
from statewalk.checker.diary.play import play
from statewalk.dsl.errors import RunError
from tests.cases import examples


def entry(folder: Path, *lines: str) -> Entry:
    path = folder / "04-title.md"
    path.write_text("\n".join(("# A\n\n```console", *lines, "```\n")), encoding="utf-8")
    return entries(folder)[0]


def says(words: list[str], folder: Path) -> str:
    return "HOLDS\n  searched 3 states · 1.20 s\n"


OUTSIDE = ["../x", "/tmp/x", "a/../../x"]
INPUTS = {
    "map",
    "spec",
    "steps",
    "graph",
}  # options of commands in the table that name what is read


@pytest.mark.parametrize("file", OUTSIDE)
@pytest.mark.parametrize("option", ["--json {}", "--json={}", "--js {}", "--out={}", "--graph {}"])
def test_output_outside_of_the_folder_is_refused(tmp_path: Path, option: str, file: str) -> None:
    command = f"$ statewalk check a.py {option.format(file)}"

    with pytest.raises(RunError, match=r"SW381.*outside of the entry's folder"):
        play(entry(tmp_path, command), says)
    play(entry(tmp_path, f"$ statewalk check ../03/a.py {option.format('b/x')}"), says)


def test_every_option_that_names_a_file_is_an_input_or_an_output() -> None:
    def options(parser: argparse.ArgumentParser, name: str) -> Iterator[tuple[str, str]]:
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                for word, inner in action.choices.items():
                    yield from options(inner, f"{name} {word}".strip())
            elif action.option_strings and isinstance(action.metavar, str):
                if re.search(r"FILE|DIR", action.metavar):
                    yield name, action.option_strings[-1]

    found = {option for name, option in options(make_parser(), "") if name in COMMANDS}

    assert found - {f"--{name}" for name in INPUTS} <= set(OUTPUTS)


@pytest.mark.parametrize("lines", [[], ["HOLDS"], ["", "$ statewalk check a.py"], ["$"]])
def test_a_console_block_begins_with_a_command(tmp_path: Path, lines: list[str]) -> None:
    with pytest.raises(RunError, match=r"SW381.*04-title.md:4: this block begins without"):
        play(entry(tmp_path, *lines), says)


def test_an_entry_that_is_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "01-a.md").write_bytes(b"# A \xff")
    (tmp_path / "02-a.md").mkdir()

    with pytest.raises(RunError, match=r"SW381.*01-a.md cannot be read"):
        entries(tmp_path)
    (tmp_path / "01-a.md").unlink()
    with pytest.raises(RunError, match=r"SW381.*02-a.md cannot be read"):
        entries(tmp_path)


PIECES = [
    "# A", "", "*22 November 2026*", "```", "```console", "````", "```python a.py",
    "```python a.py +", "```mermaid", "```python ../../x", "$ statewalk check a.py",
    "$ statewalk check 'a", "$ statewalk check a.py | tail -0", "HOLDS", "flowchart TD",
    "stateDiagram-v2", "sequenceDiagram", '  a["x"]', '  a(["x<br/>y"])', '  a -->|"y"| zz',
    "  zz --> b", "  [*] --> b: c", "  b --> b: d", "  participant L0 as x",
    "  Note over L0: 1. go", "  Note over L3: 7. go ← y",
    "  Note over L0: back to state 9, for ever",
    "  L0->>L1: hi", "  L7->>L0: ~ x", "  L0->>L0: x",
    "<!-- statewalk export x.trace.json --format mermaid -->", "<!-- statewalk export  -->",
    "<!-- exercise: a.py b.patch", "HOLDS statewalk check SPEC", "-->", "<details>",
    "<summary>Q?</summary>", "</details>", "[x](http://[)", "| a | b |", "|---|--:|", "# … ",
]  # fmt: skip


@settings(deadline=None, max_examples=examples(100))
@given(
    text=st.lists(st.sampled_from(PIECES), max_size=14).map("\n".join),
    pinned=st.sampled_from([None, b"x\n", b"\xff\n"]),
    patch=st.sampled_from([None, b"@@ -1 +1 @@\n-x\n+y\n", b"@@ -99 @@\n", b"\xff"]),
)
def test_whatever_an_entry_says_is_played_or_refused(
    text: str, pinned: bytes | None, patch: bytes | None
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "04-a.md")
        path.write_text(text, encoding="utf-8")
        path.with_name("04").mkdir()
        for name, data in (("a.py", pinned), ("b.patch", patch)):
            if data is not None:
                (path.with_name("04") / name).write_bytes(data)
        for use in (lambda one: to_html(play(one, says)), to_notebook):
            with suppress(RunError):
                use(entries(path.parent)[0])


@pytest.mark.parametrize(
    "text",
    [
        'flowchart TD\n  a["x"]\n  a -->|"y"| zz\n  zz -->|"w"| b',
        "sequenceDiagram\n  Note over L0: 1. go\n  L0->>L1: hi",
    ],
)
def test_what_is_not_declared_is_drawn(text: str) -> None:
    assert "<svg" in drawn(text)


@pytest.mark.parametrize(
    "text",
    ['flowchart TD\n  a["x"]\n  a --> b', "sequenceDiagram\n  Note over L0: 1. go\n  L0-->>L1: x"],
)
def test_arrows_of_another_kind_stay_a_text(text: str) -> None:
    assert "" == drawn(text)
