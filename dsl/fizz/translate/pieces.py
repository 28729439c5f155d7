"""The pieces of flows as .fizz text has them: each statement translated by `blocks`."""

from __future__ import annotations

import ast

from statewalk.dsl.blocks.pieces import Pieces, Statements
from statewalk.dsl.fizz.text import tree
from statewalk.dsl.fizz.translate.blocks import Blocks
from statewalk.dsl.source.templates import expression, statement

STATEMENTS_LEFT = "statements_left_of_"  # a local of parallel blocks; a number and _ follow


class FizzPieces(Pieces):
    """Makes what `step_ends` puts together, with the translation of single statements."""

    def __init__(self, blocks: Blocks, returns: bool) -> None:
        self.b = blocks
        self.returns = returns
        self.x = blocks.x
        self.temporaries: set[str] = set()
        self._made = 0
        self._words: dict[str, str] = {}

    def fresh(self, word: str) -> str:
        self._made += 1
        word = self._words.get(word, word)
        found = self.b.fresh(word if self._made == 1 else f"{word}{self._made}")
        self.temporaries.add(found)
        self.x.scope.locals.add(found)
        return found

    def in_any_order(self, made: list[Statements], stop: Statements, at: ast.AST) -> Statements:
        if self.b.notes_choices:
            self._words = {"left": f"{STATEMENTS_LEFT}{len(made)}_"}
        found = super().in_any_order(made, stop, at)
        self._words = {}
        return found

    def plain(self, node: ast.stmt, flows: bool) -> Statements:
        made = self._translated(node)
        if flows:
            assert isinstance(node, ast.Assign | ast.Expr)
            for statement in made:
                if isinstance(statement, ast.Assign | ast.Expr):
                    value = ast.YieldFrom(statement.value)
                    statement.value = ast.copy_location(value, statement)
        return made

    def _translated(self, node: ast.stmt) -> Statements:
        if isinstance(node, tree.Choice):
            return self.b._choice(node)
        if isinstance(node, tree.Require):
            return [self.require(self.x(node.test), node)]
        if isinstance(node, ast.Return):
            return self.b.returned(node)
        return self.b._simple(node)

    def expression(self, node: ast.expr) -> ast.expr:
        return self.x(node)

    def require(self, condition: ast.expr, at: ast.AST) -> ast.stmt:
        return self.b._require(condition, at)

    def call(self, word: str, at: ast.AST, *arguments: ast.expr) -> ast.expr:
        return self.x.call(self.x.imported(word, at), *arguments)

    def any_of(self, options: ast.expr, at: ast.AST) -> ast.expr:
        return self.b._any_of(options, at, "none")

    def ended(self, at: ast.AST) -> Statements:
        found = [statement("yield", at)]
        if self.returns:
            found.append(self.b.set_returns(expression("{}", at), at))
        return found

    def loop_head(self, node: ast.For) -> tuple[ast.expr, ast.expr]:
        self.b._single(node.target)
        return self.b._target(node.target), self.listed(node.iter)

    def listed(self, node: ast.expr) -> ast.expr:
        """The elements of something, as a list of their own."""
        return self.x.call(self.x.imported("list", node), self.x.iterable(node))

    def python(self, word: str, at: ast.AST, *arguments: ast.expr) -> ast.expr:
        return self.call(word, at, *arguments)

    def choice_block(
        self, node: tree.ChoiceBlock, inside: Statements, skipped: Statements
    ) -> Statements:
        self.b._single(node.target)
        return self.b.chosen_unless_empty(node, self.fresh("options"), inside, skipped)
