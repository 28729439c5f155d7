"""Turns of a loop as remembered calls: what one turn looks at does not multiply with the others.

    for version in range(1, last + 1):            for version in range(1, last + 1):
        if not whole(version):             →          done = __sw__.call(turn, version)
            return False                              if done is not None:
                                                          return done[0]

A turn may be taken out of its loop where it only reads, hands nothing on to later turns or to what
comes after the loop, and leaves with a constant if it leaves.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from statewalk.dsl.lowering.compiling import RUNTIME, Old, compile_function, definition_of
from statewalk.dsl.source import scopes
from statewalk.dsl.source.effects import Effects
from statewalk.dsl.source.nodes import Transformer, copied, walk
from statewalk.dsl.source.nodes import statement as made
from statewalk.dsl.source.tree import Function

_RESULT = "@done"  # no name that a spec could have
Names = frozenset[str]


@dataclass
class Turn:
    """A loop whose turns can be taken out: the names it needs, its own variables first."""

    loop: ast.For
    names: tuple[str, ...]


class Unclear(Exception):
    """A statement of which is not known which names it reads and binds."""


def find_turns(effects: Effects, function: Function, node: ast.FunctionDef) -> list[Turn]:
    """The loops of a function that only reads (``node`` is its definition), outer ones first."""
    if effects.of(function) != "reads":
        return []
    bound = scopes.bound(*node.body) | scopes.arguments(node.args)
    found = []
    for loop in walk(node):
        if isinstance(loop, ast.For) and _worth_it(effects, function, loop):
            names = _needed(node, loop, bound)
            if names is not None and _only_reads(effects, function, loop, names):
                found.append(Turn(loop, names))
    return found


def _worth_it(effects: Effects, function: Function, loop: ast.For) -> bool:
    """Whether a turn looks at enough to be worth remembering."""
    if loop.orelse or not _leaves_well(loop):
        return False
    return any(
        isinstance(n, ast.For)
        or (isinstance(n, ast.Call) and effects.of_call(n, function) == "reads")
        for statement in loop.body
        for n in walk(statement)
    )


def _leaves_well(loop: ast.For) -> bool:
    """Whether a turn only returns constants. Functions inside are too much to follow."""
    inside = [n for statement in loop.body for n in walk(statement)]
    if any(isinstance(n, ast.FunctionDef | ast.Lambda | ast.NamedExpr) for n in inside):
        return False
    returns = [n for n in inside if isinstance(n, ast.Return)]
    return all(isinstance(n.value, ast.Constant | None) for n in returns)


def _needed(node: ast.FunctionDef, loop: ast.For, bound: Names) -> tuple[str, ...] | None:
    """What a turn needs, its own variables first; None where it cannot be taken out."""
    own = scopes.bound(loop.target)
    changed = scopes.bound(*loop.body) | own
    arguments = frozenset(scopes.arguments(node.args))
    try:
        around = _Reading(watched=changed, taken_out=loop)
        around.block(node.body, arguments)
        inside = _Reading(watched=changed)
        inside.turn(loop.body, (around.before - changed) | own)
    except Unclear:
        return None
    if around.early or inside.early:
        return None
    free = (scopes.read(*loop.body) & bound) - changed
    if not free <= around.before:
        return None
    return (*sorted(own), *sorted(free))


def _only_reads(effects: Effects, function: Function, loop: ast.For, names: Iterable[str]) -> bool:
    return effects.of(effects.adopt(_as_function(function, loop, names))) == "reads"


def _as_function(function: Function, loop: ast.For, names: Iterable[str]) -> Function:
    """One turn as a function of the names it needs."""
    name = f"@turn_{function.qualified.replace('.', '_')}_{loop.lineno}_{loop.col_offset}"
    leaving = _Leaving()
    body = [leaving.visit(copied(statement)) for statement in loop.body]
    node = definition_of(name, names, body, loop)
    return Function(name, function.module, None, node, function.function)


def take_out(function: Function, turns: list[Turn], how: str) -> None:
    """Compile each turn, inner ones first, and let its loop ask for it by ``how``, a function of
    `dsl.lowering.calls`. The loops are changed.
    """
    for turn in reversed(turns):
        loop = turn.loop
        taken = _as_function(function, loop, turn.names)
        function.module.namespace[taken.name] = compile_function(
            taken, Old.of(function).visit(taken.node)
        )
        given = {f"N{at}": name for at, name in enumerate((taken.name, *turn.names))}
        asked = f"{RUNTIME}.{how}({', '.join(given)})"
        leaving = _Leaving()
        for part in loop.body:
            leaving.visit(copied(part))
        body = [made(f"DONE = {asked}", loop, DONE=_RESULT, **given)]
        if leaving.breaks:
            body.append(made("if DONE is False:\n break", loop, DONE=_RESULT))
        if leaving.returns:
            body.append(made("if DONE is not None:\n return DONE[0]", loop, DONE=_RESULT))
        loop.body = body


class _Leaving(Transformer):
    """A turn gives None to go on, False to break off, and (value,) to return a value."""

    def __init__(self) -> None:
        self.breaks = self.returns = False
        self._loops = 0

    def _loop(self, node: ast.For | ast.While) -> ast.AST:
        self._loops += 1
        self.generic_visit(node)
        self._loops -= 1
        return node

    visit_For = _loop
    visit_While = _loop

    def visit_Continue(self, node: ast.Continue) -> ast.AST:
        return node if self._loops else ast.copy_location(ast.Return(ast.Constant(None)), node)

    def visit_Break(self, node: ast.Break) -> ast.AST:
        if self._loops:
            return node
        self.breaks = True
        return ast.copy_location(ast.Return(ast.Constant(False)), node)

    def visit_Return(self, node: ast.Return) -> ast.AST:
        self.returns = True
        value = ast.Constant(None) if node.value is None else node.value
        return ast.copy_location(ast.Return(ast.Tuple([value], ast.Load())), node)


@dataclass
class _Reading:
    """Follows the names that are certainly bound through statements.

    ``early`` are names of ``watched`` that may be read before they are bound. The loop
    ``taken_out`` binds nothing for what comes after it; ``before`` is bound where it begins.
    """

    watched: Names
    taken_out: ast.For | None = None
    before: Names = frozenset()
    early: set[str] = field(default_factory=set)
    _exits: list[tuple[list[Names], list[Names]]] = field(default_factory=list)

    def turn(self, body: list[ast.stmt], bound: Names) -> None:
        """The statements of one turn."""
        self._exits.append(([], []))
        self.block(body, bound)

    def block(self, body: list[ast.stmt], bound: Names | None) -> Names | None:
        """What is bound after statements; None where they are not left at their end."""
        for statement in body:
            if bound is None:
                return None
            bound = self._statement(statement, bound)
        return bound

    def _look(self, bound: Names, *nodes: ast.AST | None) -> None:
        self.early |= (scopes.read(*filter(None, nodes)) & self.watched) - bound

    def _statement(self, node: ast.stmt, bound: Names) -> Names | None:
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            self._look(bound, node.value, *targets)
            if isinstance(node, ast.AugAssign):
                self.early |= (scopes.bound(node.target) & self.watched) - bound
            return bound | scopes.bound(*targets) if node.value is not None else bound
        if isinstance(node, ast.Expr | ast.Assert | ast.Pass):
            self._look(bound, node)
            return bound
        if isinstance(node, ast.If):
            self._look(bound, node.test)
            return _both(self.block(node.body, bound), self.block(node.orelse, bound))
        if isinstance(node, ast.For | ast.While) and not node.orelse:
            return self._loop(node, bound)
        if isinstance(node, ast.Return | ast.Raise):
            self._look(bound, node)
            return None
        if isinstance(node, ast.Continue | ast.Break):
            self._exits[-1][isinstance(node, ast.Break)].append(bound)
            return None
        raise Unclear

    def _loop(self, node: ast.For | ast.While, bound: Names) -> Names:
        own: Names = frozenset()
        if isinstance(node, ast.For):
            self._look(bound, node.iter)
            own = scopes.bound(node.target)
        if node is self.taken_out:
            self.before = bound
            return bound - self.watched
        head = bound
        breaks: list[Names] = []
        for _ in range(2):
            self._exits.append(([], []))
            if isinstance(node, ast.While):
                self._look(head, node.test)
            end = self.block(node.body, head | own)
            continues, breaks = self._exits.pop()
            for there in (end, *continues):
                head = head if there is None else head & (there | own)
        for there in breaks:
            head &= there
        return head


def _both(one: Names | None, other: Names | None) -> Names | None:
    if one is None or other is None:
        return other if one is None else one
    return one & other
