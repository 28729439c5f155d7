"""The parts of flows, common to all front ends.

`dsl.blocks.step_ends` decides where steps end; a front end says here how a single statement, the
end of a step and a choice are written. One of several statements, and statements in any order, are
made from these. Then: what is known of functions that may give way, and the notes that steps keep.
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from statewalk.dsl.blocks import tree
from statewalk.dsl.blocks.tree import NONE, NOT_YET, Status
from statewalk.dsl.source.nodes import IF, copied, expression, statement

Statements = list[ast.stmt]


class Pieces(ABC):
    """The statement builders of a front end. ``first``: the number of the first of several."""

    first = 0

    @abstractmethod
    def fresh(self, word: str) -> str:
        """Return the name of a new local of the translation."""

    @abstractmethod
    def plain(self, node: ast.stmt, flows: bool) -> Statements:
        """Return a statement without steps; ``flows``: it calls a function that yields."""

    @abstractmethod
    def expression(self, node: ast.expr) -> ast.expr:
        """Return a translated expression."""

    @abstractmethod
    def require(self, condition: ast.expr, at: ast.AST) -> ast.stmt:
        """Return a guard."""

    @abstractmethod
    def call(self, word: str, at: ast.AST, *arguments: ast.expr) -> ast.expr:
        """Return a call of a function of `dsl.blocks.steps`."""

    @abstractmethod
    def python(self, word: str, at: ast.AST, *arguments: ast.expr) -> ast.expr:
        """Return a call of a Python builtin, even if the spec rebinds its name."""

    @abstractmethod
    def any_of(self, options: ast.expr, at: ast.AST) -> ast.expr:
        """Return a choice that no fairness condition names."""

    @abstractmethod
    def ended(self, at: ast.AST) -> Statements:
        """Return the end of a step."""

    @abstractmethod
    def loop_head(self, node: ast.For) -> tuple[ast.expr, ast.expr]:
        """Return (target, iterable) of a loop, with the elements as at its beginning."""

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
        """Return one of several statements, chosen now."""
        word = self.fresh("branch")
        choice = self.any_of(self.numbers(len(made), at), at)
        return [statement("WORD = V", at, WORD=word, V=choice), *self._cases(word, made, at)]

    def numbers(self, count: int, at: ast.AST) -> ast.expr:
        """By which numbers statements are known."""
        ends = [self.first, self.first + count] if self.first else [count]
        return self.python("range", at, *(expression("N", at, N=end) for end in ends))

    def _cases(self, word: str, made: list[Statements], at: ast.AST) -> Statements:
        cases: Statements = []
        for index, inside in reversed(list(enumerate(made, self.first))):
            body = inside or [statement("pass", at)]
            if not cases:
                cases = body
                continue
            same = expression("WORD == INDEX", at, WORD=word, INDEX=index)
            cases = [statement(IF, at, TEST=same, BODY=body, ORELSE=cases)]
        return cases

    def in_any_order(self, made: list[Statements], stop: Statements, at: ast.AST) -> Statements:
        """Return each of several statements once; which comes next is chosen after a step ended.

        A statement that jumps out, to a loop around them all, leaves the others undone.
        """
        rest, which = self.fresh("left"), self.fresh("which")
        gone = _Gone(self, at)
        made = [gone.noted(inside) for inside in made]
        names = {"LEFT": rest, "WHICH": which}
        choice = self.any_of(expression("LEFT", at, **names), at)
        body = [
            statement("WHICH = V", at, **names, V=choice),
            statement("LEFT = [r for r in LEFT if r != WHICH]", at, **names),
            *self._cases(which, made, at),
        ]
        if stop:
            body.append(statement("if LEFT:\n STOP", at, **names, STOP=stop))
        numbers = self.python("list", at, self.numbers(len(made), at))
        everything = statement("LEFT = NUMBERS", at, **names, NUMBERS=numbers)
        loop = statement("while LEFT:\n BODY", at, **names, BODY=body)
        return [*gone.before(), everything, loop, *gone.after()]

    def turns_in_any_order(self, node: ast.For, body: Statements) -> Statements:
        """Return a loop whose elements come in any order."""
        rest, place = self.fresh("left"), self.fresh("at")
        target, elements = self.turns_head(node)
        names = {"LEFT": rest, "AT": place}
        left, at = (expression(name, node, **names) for name in ("LEFT", "AT"))
        choice = self.any_of(self.call("next_turns", node, left), node)
        inside = [
            statement("AT = V", node, **names, V=choice),
            statement("T = V", node, T=target, V=self.call("turn_of", node, left, at)),
            statement("LEFT = V", node, **names, V=self.call("without_turn", node, left, at)),
            *body,
        ]
        begin = self.call("remaining", node, elements)
        return [
            statement("LEFT = V", node, **names, V=begin),
            statement("while LEFT:\n BODY", node, **names, BODY=inside),
        ]


class _Gone:
    """Notes in a local that a statement inside jumped to the loop around."""

    def __init__(self, pieces: Pieces, at: ast.AST) -> None:
        self.pieces = pieces
        self.at = at
        self.word = ""
        self.ways: set[int] = set()

    def noted(self, statements: Statements) -> Statements:
        """Return the statements, in which a jump to the loop around says so and leaves this one."""
        result: Statements = []
        for node in statements:
            if isinstance(node, ast.Break | ast.Continue):
                way = 1 if isinstance(node, ast.Break) else 2
                self.word = self.word or self.pieces.fresh("gone")
                self.ways.add(way)
                result.append(statement("WORD = WAY", node, WORD=self.word, WAY=way))
                result.append(statement("break", node))
                continue
            if isinstance(node, ast.If):
                node.body, node.orelse = self.noted(node.body), self.noted(node.orelse)
            result.append(node)
        return result

    def before(self) -> Statements:
        """Nothing is noted yet."""
        return [statement("WORD = 0", self.at, WORD=self.word)] if self.ways else []

    def after(self) -> Statements:
        """Return the jumps, done where they lead."""
        return [
            statement(f"if WORD == {way}:\n {jump}", self.at, WORD=self.word)
            for way, jump in ((1, "break"), (2, "continue"))
            if way in self.ways
        ]


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


Made = tuple[Statements, Status]


class Program:
    """The functions of a specification; of those ``together`` none gives way alone."""

    acts: Sequence[tree.Act] = ()
    together: Mapping[str, Sequence[tree.Func]]

    def callee(self, value: ast.expr | None) -> list[tree.Func]:
        """Return the functions of the specification that a call may mean."""
        raise NotImplementedError

    def nearer(self, found: list[tree.Func], value: ast.expr, caller: ast.AST) -> list[tree.Func]:
        """Return those of the functions that a call may mean where it stands."""
        return found


@dataclass
class Ends:
    """The ways a function may end: by return or falling off its end (statuses), or with its
    step.
    """

    returned: Status = NONE
    fell: Status = NONE
    yielded: bool = False


@dataclass
class Facts:
    """Facts about functions (by identity), collected before translation.

    ``flows`` give way; ``noting`` ones do not, but keep notes of what they did; ``announcing`` ones
    say how they end.
    """

    flows: set[int] = field(default_factory=set)
    entered: dict[int, Status] = field(default_factory=dict)
    ends: dict[int, Ends] = field(default_factory=dict)
    noted: bool = False
    announcing: set[int] = field(default_factory=set)
    noting: set[int] = field(default_factory=set)

    def size(self) -> object:
        """Something that changes whenever a fact is added."""
        ends = [(e.returned, e.fell, e.yielded) for e in self.ends.values()]
        counts = len(self.flows), len(self.announcing), len(self.noting)
        return counts, list(self.entered.values()), ends, self.noted


@dataclass
class Loop:
    """Statuses with which a loop is left, and begun again, from inside."""

    breaks: Status = NONE
    continues: Status = NONE


class Notes:
    """Makes and asks for the notes of a step, where something asks for them."""

    def __init__(self) -> None:
        self.facts = Facts()
        self.pieces: Pieces | None = None  # None while facts are collected
        self._asked = False  # whether the end of the present action asks if it is a step

    def _note(self, word: str, at: ast.AST, *arguments: str) -> Statements:
        """Return a note of the step about itself, where something asks for such notes."""
        if self.pieces is None or not self.facts.noted:
            return []
        given = [constant(a, at) for a in arguments]
        call = self.pieces.call(word, at, *given)
        return [ast.copy_location(ast.Expr(call), at)]

    def _waits(self, before: Status, at: ast.AST) -> Statements:
        return self._note("waits", at) if "P" in before else []

    def _settled(self, status: Status, at: ast.AST) -> Statements:
        return self._note("settles", at) if "C" in status else []

    def _forget(self, before: Status, at: ast.AST) -> Statements:
        return self._note("chooses", at) if before - NOT_YET else []

    def _ask(self, word: str, at: ast.AST) -> ast.expr:
        self.facts.noted = True
        if self.pieces is None:
            return constant(True, at)
        return self.pieces.call(word, at)

    def _took(self, status: Status, at: ast.AST) -> Statements:
        """Return what to check where an action ends: that this is a step."""
        if "F" not in status:
            return []
        condition: ast.expr = constant(False, at)
        if status - NOT_YET:
            condition = self._ask("took", at)
            self._asked = True
        return [self.pieces.require(condition, at)] if self.pieces is not None else []

    def _expression(self, node: ast.expr) -> ast.expr:
        return node if self.pieces is None else self.pieces.expression(node)


def constant(value: object, at: ast.AST) -> ast.expr:
    """Return a constant, placed somewhere."""
    return ast.copy_location(ast.Constant(value), at)  # type: ignore[arg-type]
