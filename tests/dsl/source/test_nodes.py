"""Going through trees gives what Python's own ways give."""

from __future__ import annotations

import ast

import pytest

from statewalk.dsl.source.nodes import Transformer, parts_of, walk, with_places
from tests.cases import some
from tests.places import ROOT

TEXTS = [p.read_text() for p in sorted((ROOT / "models").rglob("*.py"))]
MARKS = ast.expr_context


class Renaming(Transformer):
    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Attribute(node, "x", node.ctx)

    def visit_Assert(self, node: ast.Assert) -> None:
        return None

    def visit_Expr(self, node: ast.Expr) -> list[ast.stmt]:
        return [node, ast.Pass()]


class RenamingOfPython(ast.NodeTransformer):
    visit_Name = Renaming.visit_Name
    visit_Assert = Renaming.visit_Assert
    visit_Expr = Renaming.visit_Expr


@pytest.mark.parametrize("text", TEXTS[:3])
def test_the_parts_of_a_node_are_those_of_python(text: str) -> None:
    for node in walk(ast.parse(text)):
        expected = [n for n in ast.iter_child_nodes(node) if not isinstance(n, MARKS)]

        assert expected == parts_of(node)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", some(TEXTS, every=6))
def test_what_is_changed_and_placed_is_as_python_has_it(text: str) -> None:
    expected = ast.fix_missing_locations(RenamingOfPython().visit(ast.parse(text)))
    made = with_places(Renaming().visit(ast.parse(text)))

    assert ast.dump(expected, include_attributes=True) == ast.dump(made, include_attributes=True)
