"""What flows are put together from, whichever language they are written in.

`dsl.blocks.step_ends` decides where steps end; a front end says here how a single statement, the
end of a step and a choice are written. One of several statements, and statements in any order, are
made from these.
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod

from statewalk.dsl.blocks import tree

Statements = list[ast.stmt]


class Pieces(ABC):
    """How statements are written in a front end. ``first``: the number of the first of several."""

    first = 0

    @abstractmethod
    def fresh(self, word: str) -> str:
        """A local of the translation's own: another one each time."""

    @abstractmethod
    def plain(self, node: ast.stmt, flows: bool) -> Statements:
        """A statement without steps in it; ``flows``: it calls a function that gives way."""

    @abstractmethod
    def expression(self, node: ast.expr) -> ast.expr:
        """An expression."""

    @abstractmethod
    def require(self, condition: ast.expr, at: ast.AST) -> ast.stmt:
        """A guard."""

    @abstractmethod
    def call(self, word: str, at: ast.AST, *arguments: ast.expr) -> ast.expr:
        """A call of a function of `dsl.blocks.steps`."""

    @abstractmethod
    def any_of(self, options: ast.expr, at: ast.AST) -> ast.expr:
        """A choice that no fairness speaks of."""

    @abstractmethod
    def ended(self, at: ast.AST) -> Statements:
        """The end of a step."""

    @abstractmethod
    def loop_head(self, node: ast.For) -> tuple[ast.expr, ast.expr]:
        """(target, what is gone through) of a loop: the elements as they are at its beginning."""

    @abstractmethod
    def choice_block(
        self, node: tree.ChoiceBlock, inside: Statements, skipped: Statements
    ) -> Statements:
        """``oneof x in options:``; without options it is skipped."""

    def turns_head(self, node: ast.For) -> tuple[ast.expr, ast.expr]:
        """(target, list of its own) of a loop whose turns come in any order."""
        return self.loop_head(node)

    # -- one of several, and all in any order ---------------------------------------------------
    def alternatives(self, made: list[Statements], at: ast.AST) -> Statements:
        """One of several statements, chosen now."""
        word = self.fresh("branch")
        choice = self.any_of(_parsed(self.numbers(len(made)), at), at)
        return [_assign(word, choice, at), *self._cases(word, made, at)]

    def numbers(self, count: int) -> str:
        """By which numbers statements are known, as text."""
        return f"range({self.first}, {self.first + count})" if self.first else f"range({count})"

    def _cases(self, word: str, made: list[Statements], at: ast.AST) -> Statements:
        cases: Statements = []
        for index, inside in reversed(list(enumerate(made, self.first))):
            body = inside or [ast.copy_location(ast.Pass(), at)]
            if not cases:
                cases = body
                continue
            same = ast.Compare(_name(word, at), [ast.Eq()], [ast.Constant(index)])
            cases = [ast.copy_location(ast.If(_placed(same, at), body, cases), at)]
        return cases

    def in_any_order(self, made: list[Statements], stop: Statements, at: ast.AST) -> Statements:
        """Each of several statements once; which comes next is chosen after a step ended.

        A statement that jumps out, to a loop around them all, leaves the others undone.
        """
        rest, which = self.fresh("left"), self.fresh("which")
        gone = _Gone(self, at)
        made = [gone.noted(inside) for inside in made]
        body = [
            _assign(which, self.any_of(_name(rest, at), at), at),
            _assign(rest, _without(rest, which, at), at),
            *self._cases(which, made, at),
        ]
        if stop:
            body.append(ast.copy_location(ast.If(_name(rest, at), stop, []), at))
        loop = ast.copy_location(ast.While(_name(rest, at), body, []), at)
        everything = _parsed(f"list({self.numbers(len(made))})", at)
        return [*gone.before(), _assign(rest, everything, at), loop, *gone.after()]

    def turns_in_any_order(self, node: ast.For, body: Statements) -> Statements:
        """A loop whose elements come in any order."""
        rest, place = self.fresh("left"), self.fresh("at")
        target, elements = self.turns_head(node)
        count = ast.Call(ast.Name("len", ast.Load()), [_name(rest, node)], [])
        places = ast.Call(ast.Name("range", ast.Load()), [count], [])
        chosen = self.any_of(_placed(places, node), node)
        picked = ast.Assign([target], _item(rest, place, node), lineno=0)
        inside = [
            _assign(place, chosen, node),
            ast.copy_location(picked, node),
            _assign(rest, _without_item(rest, place, node), node),
            *body,
        ]
        loop = ast.copy_location(ast.While(_name(rest, node), inside, []), node)
        return [_assign(rest, elements, node), loop]


class _Gone:
    """Notes in a local that a statement inside jumped to the loop around."""

    def __init__(self, pieces: Pieces, at: ast.AST) -> None:
        self.pieces = pieces
        self.at = at
        self.word = ""
        self.ways: set[int] = set()

    def noted(self, statements: Statements) -> Statements:
        """The statements, in which a jump to the loop around says so and leaves this one."""
        result: Statements = []
        for node in statements:
            if isinstance(node, ast.Break | ast.Continue):
                way = 1 if isinstance(node, ast.Break) else 2
                self.word = self.word or self.pieces.fresh("gone")
                self.ways.add(way)
                result.append(_assign(self.word, _constant(way, node), node))
                result.append(ast.copy_location(ast.Break(), node))
                continue
            if isinstance(node, ast.If):
                node.body, node.orelse = self.noted(node.body), self.noted(node.orelse)
            result.append(node)
        return result

    def before(self) -> Statements:
        """Nothing is noted yet."""
        return [_assign(self.word, _constant(0, self.at), self.at)] if self.ways else []

    def after(self) -> Statements:
        """The jumps, done where they lead."""
        result: Statements = []
        for way, jump in ((1, ast.Break()), (2, ast.Continue())):
            if way in self.ways:
                same = ast.Compare(_name(self.word, self.at), [ast.Eq()], [ast.Constant(way)])
                test = _placed(same, self.at)
                made = ast.If(test, [ast.copy_location(jump, self.at)], [])
                result.append(ast.copy_location(made, self.at))
        return result


def _without(rest: str, which: str, at: ast.AST) -> ast.expr:
    """``[r for r in rest if r != which]``"""
    clause = ast.comprehension(
        ast.Name("r", ast.Store()),
        ast.Name(rest, ast.Load()),
        [ast.Compare(ast.Name("r", ast.Load()), [ast.NotEq()], [ast.Name(which, ast.Load())])],
        is_async=0,
    )
    return _placed(ast.ListComp(ast.Name("r", ast.Load()), [clause]), at)


def _item(rest: str, place: str, at: ast.AST) -> ast.expr:
    """``rest[place]``"""
    return _placed(ast.Subscript(_name(rest, at), _name(place, at), ast.Load()), at)


def _without_item(rest: str, place: str, at: ast.AST) -> ast.expr:
    """``rest[:place] + rest[place + 1:]``"""
    before = ast.Slice(None, _name(place, at), None)
    after = ast.Slice(ast.BinOp(_name(place, at), ast.Add(), ast.Constant(1)), None, None)
    parts = [ast.Subscript(_name(rest, at), part, ast.Load()) for part in (before, after)]
    return _placed(ast.BinOp(parts[0], ast.Add(), parts[1]), at)


def _parsed(text: str, at: ast.AST) -> ast.expr:
    return _placed(ast.parse(text, mode="eval").body, at)


def _constant(value: int, at: ast.AST) -> ast.expr:
    return ast.copy_location(ast.Constant(value), at)


def _name(word: str, at: ast.AST) -> ast.expr:
    return ast.copy_location(ast.Name(word, ast.Load()), at)


def _placed(node: ast.expr, at: ast.AST) -> ast.expr:
    """A made expression, all of it placed somewhere."""
    for part in ast.walk(node):
        if isinstance(part, ast.expr):
            ast.copy_location(part, at)
    return node


def _assign(word: str, value: ast.expr, at: ast.AST) -> ast.stmt:
    target = ast.copy_location(ast.Name(word, ast.Store()), at)
    return ast.copy_location(ast.Assign([target], value, lineno=0), at)
