"""Folding: with the constants known, branches that cannot be taken are dropped before any analysis.

Otherwise a switched-off branch would make a field "written", and its slot would be read for
nothing.
"""

from __future__ import annotations

import ast
from typing import Any

from statewalk.dsl.source.nodes import Transformer, copied, walk
from statewalk.dsl.source.scopes import around
from statewalk.dsl.source.tree import Function, SpecTree
from statewalk.dsl.values.ordered_sets import OrderedFrozenSet

_SCALARS = (bool, int, str, type(None))
_FOLDABLE = (
    ast.Name, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.Tuple, ast.List,
    ast.Set, ast.IfExp, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context,
)  # fmt: skip


def fold_constants(tree: SpecTree) -> None:
    """Give every function a syntax tree without the branches that the constants exclude.

    Functions that gave way before are still called so.
    """
    for function in tree.functions:
        function.gives_way = function.gives_way or function.is_flow
        function.node = _Fold(function).visit(copied(function.node))


class _Fold(Transformer):
    """Folds tests; expressions elsewhere are left as they are written."""

    def __init__(self, function: Function) -> None:
        self.names = around(function.node, function.module.namespace)
        self.path = function.module.source.path

    def known(self, node: ast.expr) -> tuple[Any] | None:
        """The value of an expression over constants, boxed; None where it is not one."""
        names: dict[str, Any] = {}
        for part in walk(node):
            if not isinstance(part, _FOLDABLE):
                return None
            if isinstance(part, ast.Name):
                if part.id not in self.names:
                    return None
                value = self.names[part.id]
                if type(value) not in _SCALARS and not _is_scalar_tuple(value):
                    return None
                names[part.id] = value
        try:
            return (
                eval(compile(ast.Expression(node), self.path, "eval"), {"__builtins__": {}}, names),
            )
        except Exception:
            return None

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        self.generic_visit(node)
        neutral = isinstance(node.op, ast.And)
        kept: list[ast.expr] = []
        for at, value in enumerate(node.values):
            found = self.known(value)
            if found is None or (bool(found[0]) is neutral and at == len(node.values) - 1):
                kept.append(value)
            elif bool(found[0]) is not neutral:
                kept.append(value)
                break
        if len(kept) == 1:
            return kept[0]
        node.values = kept
        return node

    def visit_If(self, node: ast.If) -> Any:
        self.generic_visit(node)
        found = self.known(node.test)
        if found is None:
            return node
        kept = node.body if found[0] else node.orelse
        return kept or ast.copy_location(ast.Pass(), node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        self.generic_visit(node)
        found = self.known(node.test)
        if found is None:
            return node
        return node.body if found[0] else node.orelse


def _is_scalar_tuple(value: Any) -> bool:
    return type(value) in (tuple, frozenset, OrderedFrozenSet) and all(
        type(v) in _SCALARS for v in value
    )
