"""Loading does not depend on what others have written on syntax nodes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import pytest

from statewalk import check
from statewalk.dsl.loader import load
from statewalk.dsl.source import nodes
from tests.places import ROOT

EVERYTHING = """
x = not -a + b - c * d / e // f % g ** h << i >> j | k ^ l & m @ n and ~o or +p
x = a == b != c < d <= e > f >= g is h is not i in j not in k
x += 1
del x
for a in b:
    pass
"""


def write_parents(tree: ast.AST) -> None:
    """Return what ``executing`` does to the trees of a notebook's cells."""
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            child.parent = node  # type: ignore[attr-defined]


@pytest.fixture
def written() -> Iterator[None]:
    """Parents on what Python shares between all trees: operators and contexts."""
    tree = ast.parse(EVERYTHING)
    shared = [n for n in ast.walk(tree) if isinstance(n, nodes._SHARED)]
    write_parents(tree)
    yield
    for node in shared:
        vars(node).pop("parent", None)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "spec",
    [
        "models/toys/die_hard.py",
        "models/toys/two_phase_commit.py",
        "models/kafka/init_pid.py",
        "specs/toys/blocks.py",
        "specs/toys/blocks.fizz",
        "specs/toys/two_phase_commit.fizz",
        "specs/kafka/init_pid.fizz",
    ],
)
@pytest.mark.usefixtures("written")
def test_specs_load_whatever_is_written_on_shared_nodes(spec: str) -> None:
    assert load(ROOT / spec).actions


@pytest.mark.thorough
def test_specs_load_whatever_is_written_on_their_own_nodes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parse: Any = ast.parse

    def parsed(*arguments: Any, **options: Any) -> ast.AST:
        tree: ast.AST = parse(*arguments, **options)
        write_parents(tree)
        return tree

    spec = ROOT / "models/toys/two_phase_commit.py"
    plain = check(spec, engine="reference")
    monkeypatch.setattr(ast, "parse", parsed)
    with_parents = check(spec, engine="reference")

    assert plain.counts == with_parents.counts


def test_a_copy_has_what_makes_up_a_tree_and_no_more() -> None:
    tree = ast.parse(EVERYTHING)
    before = ast.dump(tree, include_attributes=True)
    write_parents(tree)
    copy = nodes.copied(tree)

    assert before == ast.dump(copy, include_attributes=True)
    assert [] == [n for n in ast.walk(copy) if hasattr(n, "parent") and n._fields]
