"""What is known of functions that may give way, and the notes that steps keep."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from statewalk.dsl.blocks import tree
from statewalk.dsl.blocks.tree import NONE, NOT_YET, Status

if TYPE_CHECKING:
    from statewalk.dsl.blocks.pieces import Pieces

Statements = list[ast.stmt]
Made = tuple[Statements, Status]


class Program(Protocol):
    """The functions of a specification, and what a call may mean."""

    @property
    def acts(self) -> Sequence[tree.Act]:
        """The actions."""
        ...

    @property
    def together(self) -> Mapping[str, Sequence[tree.Func]]:
        """Functions of which none gives way alone: those of one name."""
        ...

    def callee(self, value: ast.expr | None) -> list[tree.Func]:
        """The functions of the specification that a call may mean."""
        ...

    def nearer(self, found: list[tree.Func], value: ast.expr, caller: ast.AST) -> list[tree.Func]:
        """Those of the functions that a call may mean where it stands."""
        ...


@dataclass
class Ends:
    """How a function may end: by return or falling off its end (statuses), or with its step."""

    returned: Status = NONE
    fell: Status = NONE
    yielded: bool = False


@dataclass
class Facts:
    """What is found out about functions (by identity) before anything is translated.

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
        """A note of the step about itself, where something asks for such notes."""
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
        """What to check where an action ends: that this is a step."""
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
    """A constant, placed somewhere."""
    return ast.copy_location(ast.Constant(value), at)  # type: ignore[arg-type]
