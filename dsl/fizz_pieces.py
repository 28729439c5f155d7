"""The parts of flows in the embedded language: plain statements, loop heads, statements in any
order.
"""

from __future__ import annotations

import ast

from dsl import fizz_tree as tree
from dsl.fizz_ahead import asks_for_steps
from dsl.fizz_blocks import Blocks
from dsl.fizz_making import at_place

Statements = list[ast.stmt]


class Pieces:
    """Makes what `dsl.fizz_threads` puts together, with the translation of single statements."""

    def __init__(self, blocks: Blocks, returns: bool) -> None:
        self.b = blocks
        self.returns = returns
        self.x = blocks.x
        self.temporaries: set[str] = set()
        self._made = 0

    def fresh(self, word: str) -> str:
        """A local of the translation's own: another one each time."""
        self._made += 1
        found = self.b.fresh(word if self._made == 1 else f"{word}{self._made}")
        self.temporaries.add(found)
        self.x.scope.locals.add(found)
        return found

    def plain(self, node: ast.stmt) -> Statements:
        """A statement without steps in it."""
        if isinstance(node, tree.Choice):
            return self.b._choice(node)
        if isinstance(node, tree.Require):
            return [self.require(self.x(node.test), node)]
        if isinstance(node, ast.Return):
            return self.b.returned(node)
        return self.b._simple(node)

    def require(self, condition: ast.expr, at: ast.AST) -> ast.stmt:
        """A guard."""
        return self.b._require(condition, at)

    def call(self, word: str, at: ast.AST, *arguments: ast.expr) -> ast.expr:
        """A call of a function of `dsl.fizz_steps`."""
        return self.x.call(self.x.noting(word, at), *arguments)

    def stop(self, asked: bool, at: ast.AST) -> Statements:
        """The end of a step, ``asked`` only where something was done."""
        found: Statements = [ast.copy_location(ast.Expr(ast.copy_location(ast.Yield(), at)), at)]
        if self.returns:
            found.append(self.b.set_returns(at_place(ast.Dict([], []), at), at))
        if asked:
            return [ast.copy_location(ast.If(self.call("acted", at), found, []), at)]
        return found

    def loop_head(self, node: ast.For) -> tuple[ast.expr, ast.expr]:
        """(target, what is gone through) of a loop: the elements as they are at its beginning."""
        self.b._single(node.target)
        if asks_for_steps(node.iter) and isinstance(node.target, ast.Name):
            self.x.scope.steps.add(node.target.id)
        return self.b._target(node.target), self.listed(node.iter)

    def listed(self, node: ast.expr) -> ast.expr:
        """The elements of something, as a list of their own."""
        return self.x.call(self.x.name("list", node), self.x.iterable(node))

    def _assign(self, word: str, value: ast.expr, at: ast.AST) -> ast.stmt:
        target = ast.copy_location(ast.Name(word, ast.Store()), at)
        return at_place_all(ast.Assign([target], value, lineno=0), at)

    def choice_block(
        self, node: tree.ChoiceBlock, inside: Statements, skipped: Statements
    ) -> Statements:
        """``oneof x in options:``; without options it is skipped."""
        self.b._single(node.target)
        word = self.fresh("options")
        keep = self._assign(word, self.listed(node.options), node)
        choice = self.b._any_of(self.x.name(word, node), node.options, node.fair)
        chosen = ast.copy_location(
            ast.Assign([self.b._target(node.target)], choice, lineno=0), node
        )
        made = ast.If(self.x.name(word, node), [chosen, *inside], skipped)
        return [keep, ast.copy_location(made, node)]

    def alternatives(self, made: list[Statements], at: ast.AST) -> Statements:
        """One of several statements, chosen now."""
        word = self.fresh("branch")
        numbers = at_place(ast.Call(_name("range"), [ast.Constant(len(made))], []), at)
        chosen = self._assign(word, self.b._any_of(numbers, at, "none"), at)
        return [chosen, *self._cases(word, made, at)]

    def _cases(self, word: str, made: list[Statements], at: ast.AST) -> Statements:
        cases: Statements = []
        for index, inside in reversed(list(enumerate(made))):
            body = inside or [ast.copy_location(ast.Pass(), at)]
            if not cases:
                cases = body
                continue
            test = at_place(ast.Compare(_name(word), [ast.Eq()], [ast.Constant(index)]), at)
            cases = [ast.copy_location(ast.If(test, body, cases), at)]
        return cases

    def in_any_order(self, made: list[Statements], stop: Statements, at: ast.AST) -> Statements:
        """Each of several statements once; which comes next is chosen after a step ended."""
        rest, which = self.fresh("rest"), self.fresh("which")
        everything = at_place(
            ast.Call(_name("list"), [ast.Call(_name("range"), [ast.Constant(len(made))], [])], []),
            at,
        )
        choice = self.b._any_of(self.x.name(rest, at), at, "none")
        left = ast.parse(f"[r for r in {rest} if r != {which}]", mode="eval").body
        body = [
            self._assign(which, choice, at),
            self._assign(rest, _placed(left, at), at),
            *self._cases(which, made, at),
        ]
        if stop:
            body.append(ast.copy_location(ast.If(self.x.name(rest, at), stop, []), at))
        loop = ast.While(self.x.name(rest, at), body, [])
        return [self._assign(rest, everything, at), ast.copy_location(loop, at)]

    def turns_in_any_order(self, node: ast.For, body: Statements) -> Statements:
        """A loop whose elements come in any order."""
        self.b._single(node.target)
        rest, at_ = self.fresh("rest"), self.fresh("at")
        places = ast.parse(f"range(len({rest}))", mode="eval").body
        element = ast.parse(f"{rest}[{at_}]", mode="eval").body
        left = ast.parse(f"{rest}[:{at_}] + {rest}[{at_} + 1:]", mode="eval").body
        chosen = self.b._any_of(_placed(places, node), node, "none")
        picked = ast.Assign([self.b._target(node.target)], _placed(element, node), lineno=0)
        inside = [
            self._assign(at_, chosen, node),
            ast.copy_location(picked, node),
            self._assign(rest, _placed(left, node), node),
            *body,
        ]
        loop = ast.While(self.x.name(rest, node), inside, [])
        return [self._assign(rest, self.listed(node.iter), node), ast.copy_location(loop, node)]


def _name(word: str) -> ast.expr:
    return ast.Name(word, ast.Load())


def _placed(node: ast.expr, at: ast.AST) -> ast.expr:
    """A parsed expression, all of it placed somewhere."""
    for part in ast.walk(node):
        if isinstance(part, ast.expr):
            ast.copy_location(part, at)
    return node


def at_place_all(node: ast.Assign, at: ast.AST) -> ast.stmt:
    """A made assignment, placed somewhere."""
    at_place(node.value, at)
    return ast.copy_location(node, at)
