"""The documentation of histories names what there is, and its example can be read."""

import argparse
import re
import sqlite3
from pathlib import Path

import pytest

from statewalk.checker.history.collect.databases import DATABASES
from statewalk.checker.history.collect.workloads import WORKLOADS
from statewalk.checker.history.commands.cli import FORMATS, WRITTEN, add_parser
from statewalk.checker.history.decide.check import check
from statewalk.checker.history.decide.scan import scan
from statewalk.checker.history.explain.anomaly import explain
from statewalk.checker.history.explain.telling import lines as telling
from statewalk.checker.history.formats import READERS, WRITERS, read
from statewalk.checker.history.formats.jsonl import parse
from statewalk.dsl.library.isolation import REFUTES
from statewalk.dsl.library.levels import LEVELS
from tests.checker.history.simulated import ANOMALIES
from tests.places import ROOT

DOCS = ROOT / "docs"
TEXT = (DOCS / "reference/history-format.md").read_text(encoding="utf-8")
GUIDE = (DOCS / "how-to/histories.md").read_text(encoding="utf-8")
OBJECTS = (DOCS / "how-to/objects.md").read_text(encoding="utf-8")
SHOWN = (DOCS / "explanation/history-databases.md").read_text(encoding="utf-8")


def test_every_level_format_and_anomaly_is_documented() -> None:
    names = {*LEVELS, *READERS, *ANOMALIES, *REFUTES} - {"jsonl"}

    assert [] == sorted(name for name in names if f"`{name}`" not in TEXT)


def test_the_command_line_knows_every_level_and_format() -> None:
    assert (tuple(READERS), tuple(WRITERS)) == (FORMATS, WRITTEN)


def test_every_option_is_documented_and_every_documented_option_exists() -> None:
    parser = argparse.ArgumentParser()
    add_parser(parser.add_subparsers())
    history = parser._subparsers._group_actions[0].choices["history"]  # type: ignore[union-attr, index]
    commands = history._subparsers._group_actions[0].choices.values()
    options = {o for c in commands for a in c._actions for o in a.option_strings}

    texts = re.sub(r"`statewalk check [^`]*`", "", TEXT + GUIDE + OBJECTS)
    assert options - {"-h", "--help"} == set(re.findall(r"--[a-z][a-z-]+", texts))


def test_the_example_is_a_history() -> None:
    block = re.findall(r"```json\n(.*?)```", TEXT, flags=re.DOTALL)[0]
    history = parse(block.encode().splitlines(), "docs")

    assert 4 == len(history)
    assert check(history, "strong-session-serializable").holds


def test_the_recorder_of_the_guide_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connection = sqlite3.connect(tmp_path / "app.db")
    connection.execute("CREATE TABLE register (k TEXT PRIMARY KEY, v INTEGER)")
    connection.execute("INSERT INTO register VALUES ('x', 0)")
    connection.commit()
    connection.close()
    monkeypatch.chdir(tmp_path)
    space: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", GUIDE, flags=re.DOTALL):
        exec(compile(block, "histories.md", "exec"), space)
    space["connection"].close()  # type: ignore[attr-defined]
    history = read(tmp_path / "history.jsonl")

    assert ["r(x) = 0", "w(x, 17)"] == [history.show(op) for op in history.operations(0)]
    assert check(history, "strict-serializable").holds


def test_every_workload_of_the_driver_is_in_the_guide() -> None:
    named = set(re.findall(r"`([a-z-]+)`", GUIDE.split("## Recording")[0]))

    assert [] == sorted(WORKLOADS.keys() - named)


def test_every_error_code_of_the_package_is_documented() -> None:
    sources = (ROOT / "checker" / "history").rglob("*.py")
    codes = {c for file in sources for c in re.findall(r"SW7\d\d", file.read_text("utf-8"))}

    errors = (DOCS / "reference/errors.md").read_text(encoding="utf-8")
    assert codes == set(re.findall(r"SW7\d\d", errors))


def test_what_mariadb_showed_is_what_the_page_says() -> None:
    block, said = (re.findall(rf"```{k}\n(.*?)```", SHOWN, flags=re.DOTALL)[0]
                   for k in ("json", "text"))  # fmt: skip
    history = parse(block.encode().splitlines(), "docs")
    known = scan(history)
    found = explain(history, check(history, "monotonic-atomic-view", known=known))

    assert said.strip() == "Not monotonic-atomic-view. " + "\n".join(telling(history, found))
    assert check(history, "strong-session-read-committed").holds


def test_every_level_of_servers_is_on_the_page() -> None:
    levels = {x.upper() for name in ("postgres", "mysql") for x in DATABASES[name].levels}

    assert [] == sorted(x for x in levels - {"SNAPSHOT"} if x not in SHOWN)
    assert set(WORKLOADS) >= set(re.findall(r"\| `([a-z-]+)` \|$", SHOWN, flags=re.MULTILINE))
