"""The pieces of flows as the embedded language has them: statements stay as they are written."""

from __future__ import annotations

import ast

from statewalk.dsl.blocks import tree
from statewalk.dsl.blocks.pieces import Pieces, Statements
from statewalk.dsl.source.nodes import copied
from statewalk.dsl.source.templates import expression, statement

RUNTIME = "__sw__"
STEPS = "__steps__"


class OwnPieces(Pieces):
    """Statements of one function. Locals of the translation begin with ``@``."""

    def __init__(self, first: int = 1) -> None:
        self.first = first
        self._made = 0

    def fresh(self, word: str) -> str:
        self._made += 1
        return f"@{word}_{self._made}"

    def plain(self, node: ast.stmt, flows: bool) -> Statements:
        made = copied(node) if flows else copied(getattr(node, "source", node))
        if flows and isinstance(made, ast.Assign | ast.AugAssign | ast.Expr):
            if not isinstance(made.value, ast.YieldFrom):
                made.value = ast.copy_location(ast.YieldFrom(made.value), made.value)
        return [made]

    def expression(self, node: ast.expr) -> ast.expr:
        return copied(node)

    def require(self, condition: ast.expr, at: ast.AST) -> ast.stmt:
        raise NotImplementedError  # every step of the embedded language is one

    def call(self, word: str, at: ast.AST, *arguments: ast.expr) -> ast.expr:
        return _call(STEPS, word, at, *arguments)

    def python(self, word: str, at: ast.AST, *arguments: ast.expr) -> ast.expr:
        return _call(RUNTIME, word, at, *arguments)

    def any_of(self, options: ast.expr, at: ast.AST) -> ast.expr:
        return _call(RUNTIME, "any_of", at, options)

    def ended(self, at: ast.AST) -> Statements:
        return [statement("yield", at)]

    def loop_head(self, node: ast.For) -> tuple[ast.expr, ast.expr]:
        return copied(node.target), copied(node.iter)

    def turns_head(self, node: ast.For) -> tuple[ast.expr, ast.expr]:
        return copied(node.target), self.python("list", node, copied(node.iter))

    def choice_block(
        self, node: tree.ChoiceBlock, inside: Statements, skipped: Statements
    ) -> Statements:
        raise NotImplementedError  # there is no such block in the embedded language


def _call(module: str, word: str, at: ast.AST, *arguments: ast.expr) -> ast.expr:
    function = expression(f"{module}.{word}", at)
    return ast.copy_location(ast.Call(function, list(arguments), []), at)
