"""Looks at another state, `old` and `after`, find no place of this one there."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from statewalk.checker import native
from statewalk.checker.api import check
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines import reference
from statewalk.dsl.errors import SpecError
from statewalk.dsl.loader import load
from tests.cases import slow

SPEC = """
from statewalk import *
class Entry(Record):
    term: int = 0
class Log(State):
    entries: list[Entry] = [Entry(1), Entry(2)]
    table: dict[str, list[int]] = {{"a": [1]}}
    @action
    def overwrite(self) -> None:
        self.entries[0] = Entry(9)
        self.table["a"] = [9]
log = Log()
deadlock(False)
{kind}
def kept() -> bool:
    {body}
"""
TAKEN_HERE = [
    ("@on_step", "return all(old(e in log.entries) for e in log.entries)"),
    ("@on_step", "here = log.table['a']; return old(here == log.table['a'])"),
    ("@on_step", "e = log.entries[0]; return old(e.term) == e.term"),
    ("@always", "return all(s.after(lambda: e in log.entries) for e in log.entries"
                " for s in next_steps())"),
]  # fmt: skip
TAKEN_THERE = [
    ("@on_step", "before = old(list(log.entries)); return all(e in before for e in log.entries)"),
    ("@on_step", "return old(log.table['a']) == log.table['a']"),
    ("@always", "return all(log.entries[0] in s.after(lambda: log.entries) for s in next_steps())"),
]


def written(folder: Path, kind: str, body: str) -> Path:
    path = folder / "spec.py"
    path.write_text(SPEC.format(kind=kind, body=body))
    return path


@pytest.mark.parametrize("engine", [slow(reference), native])
@pytest.mark.parametrize(("kind", "body"), TAKEN_HERE)
def test_a_place_taken_in_this_state_is_no_place_in_another(
    kind: str, body: str, engine: ModuleType, tmp_path: Path
) -> None:
    found = engine.explore(load(written(tmp_path, kind, body)), SearchOptions()).findings

    assert isinstance(found[0].error, SpecError)
    assert "SW121" == found[0].error.code
    assert "taken outside it" in found[0].error.message


@pytest.mark.parametrize(("kind", "body"), TAKEN_THERE)
def test_what_another_state_gives_is_compared_with_this_one(
    kind: str, body: str, tmp_path: Path
) -> None:
    assert "violated" == check(written(tmp_path, kind, body)).verdict


def test_what_an_action_may_not_ask_is_no_step_that_is_possible(tmp_path: Path) -> None:
    path = written(tmp_path, "@always", "return not enabled(log.overwrite)")
    path.write_text(
        path.read_text().replace(
            "    @action\n    def overwrite(self) -> None:\n",
            "    def free(self) -> bool:\n        return all(map(enabled, [self.overwrite]))\n"
            "    @action\n    def overwrite(self) -> None:\n        require(not self.free())\n",
        )
    )

    result = check(path)

    assert "error" == result.verdict


def test_a_local_sum_may_have_the_name_of_something_in_the_module(tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    path.write_text(
        "from statewalk import *\n"
        "class Node(State):\n"
        "    votes: list[int] = [1, 2]\n"
        "    total: int = 0\n"
        "    @action\n"
        "    def count(self) -> None:\n"
        "        n = 0\n"
        "        for v in self.votes:\n"
        "            n += v\n"
        "        self.total = n\n"
        "n = Node()\n"
        "@exists\n"
        "def counted() -> bool:\n"
        "    return n.total == 3\n"
    )

    assert "holds" == check(path).verdict
