"""Which loops give their turns away as remembered calls, and that nothing else changes."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from statewalk.checker import native
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines import reference
from statewalk.dsl.loader import load
from statewalk.dsl.lowering.turns import Turn, find_turns
from tests.checker.native.agreement import told

HEAD = """
from statewalk import *

class Node(Role):
    n: int = 0
    log: list[int] = []

    @action
    def work(self) -> None:
        k = any_of([0, 1, 2])
        require(len(self.log) < 2)
        self.n = k
        self.log.append(k)

nodes = [Node() for _ in range(2)]

def weight(node: Node, k: int) -> int:
    return node.n + k + len(node.log)

@always
def small() -> bool:
"""

TAKEN = {
    "one loop": (
        """
        for node in nodes:
            if weight(node, 1) > 4:
                return False
        return True
        """,
        [("node",)],
    ),
    "what a turn needs comes after its own variables": (
        """
        most = 4
        for node in nodes:
            here = weight(node, most)
            if here > 2 * most:
                return False
        return True
        """,
        [("node", "most")],
    ),
    "loops in loops": (
        """
        for node in nodes:
            for k in range(2):
                if weight(node, k) == 5:
                    return False
        return True
        """,
        [("node",), ("k", "node")],
    ),
    "break and continue": (
        """
        for node in nodes:
            if weight(node, 0) == 0:
                continue
            if weight(node, 1) > 3:
                break
            if weight(node, 2) == 5:
                return False
        return True
        """,
        [("node",)],
    ),
    "the same name in another loop": (
        """
        for node in nodes:
            if weight(node, 1) > 4:
                return False
        for node in nodes:
            if weight(node, 3) < 3:
                return False
        return True
        """,
        [("node",), ("node",)],
    ),
    "a list that is made anew in each turn": (
        """
        for node in nodes:
            found = []
            for k in node.log:
                found.append(weight(node, k))
            if len(found) == 2 and found[0] > found[1]:
                return False
        return True
        """,
        [("node",)],
    ),
}

LEFT = {
    "a sum is handed on": """
        total = 0
        for node in nodes:
            total += weight(node, 0)
        return total < 7
        """,
    "a list from outside changes": """
        found = []
        for node in nodes:
            found.append(weight(node, 0))
        return sum(found) < 7
        """,
    "read after the loop": """
        last = 0
        for node in nodes:
            last = weight(node, 0)
        return last < 5
        """,
    "read in the next turn, around an outer loop": """
        last = 0
        for k in range(2):
            if last > 3:
                return False
            for node in nodes:
                last = weight(node, k)
        return True
        """,
    "read in the next turn, where it is bound in some": """
        for node in nodes:
            if node.n == 0:
                first = weight(node, 0)
            elif node.log and weight(node, 1) > 3:
                return first < 2
        return True
        """,
    "the loop variable afterwards": """
        for node in nodes:
            if weight(node, 1) > 4:
                return False
        return node.n < 3
        """,
    "a result that is not a constant": """
        for node in nodes:
            if weight(node, 1) > 4:
                return node.n < 2
        return True
        """,
}


def _load(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[Turn]:
    """Write the spec, check it plainly and optimised on both engines; the turns taken out."""
    found: list[Turn] = []

    def finding(*arguments: object) -> list[Turn]:
        turns = find_turns(*arguments)  # type: ignore[arg-type]
        found.extend(turns)
        return turns

    monkeypatch.setattr("statewalk.dsl.lowering.lower.find_turns", finding)
    path = folder / "turns.py"
    path.write_text(HEAD + textwrap.indent(textwrap.dedent(text), "    "))
    options = SearchOptions(keep_going=True)
    expected = told(reference.explore(load(path, {}, optimize=False), options))
    optimised = load(path, {})
    assert told(reference.explore(optimised, options)) == expected
    assert told(native.explore(optimised, options)) == expected
    return found


@pytest.mark.parametrize("name", TAKEN)
def test_turns_that_are_taken_out(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, names = TAKEN[name]

    assert [turn.names for turn in _load(text, tmp_path, monkeypatch)] == names


@pytest.mark.parametrize("name", LEFT)
def test_turns_that_stay(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not _load(LEFT[name], tmp_path, monkeypatch)
