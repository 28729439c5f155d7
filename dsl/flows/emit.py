"""Makes instructions: straight code is compiled, with the locals that it needs and gives."""

from __future__ import annotations

import ast
import copy
from functools import cache
from typing import Any

from statewalk.dsl.blocks.read import refused
from statewalk.dsl.errors import SpecError
from statewalk.dsl.flows.instructions import Code, FlowCode, Instruction
from statewalk.dsl.flows.live import binding_counts, exposed, unbound
from statewalk.dsl.lowering.compiling import RUNTIME, compile_function, definition_of
from statewalk.dsl.lowering.lower import Lowering, Rewriter
from statewalk.dsl.source.scopes import bound, free, nonlocals
from statewalk.dsl.source.templates import statement as made
from statewalk.dsl.source.tree import Function


class Emitter:
    """The instructions of one function so far."""

    def __init__(self, lowering: Lowering, function: Function) -> None:
        self.lowering = lowering
        self.function = function
        bind = _binder(function)
        names = bind.__code__.co_varnames
        self.result = FlowCode(function.qualified, names, bind)
        self.temporaries = 0
        self.loops: list[tuple[int, list[int]]] = []
        self.made: list[tuple[int, ast.stmt]] = []  # statements, with the piece that they are in
        self.rebound = {n for n, count in binding_counts(function.node).items() if count > 1}
        self.locals = set(names) | bound(*function.node.body)
        self.shared = nonlocals(function.node)  # what functions inside bind, when they are called

    def emit(
        self, kind: str, node: ast.AST, code: Code | None = None, reads: Any = (), **more: Any
    ) -> int:
        line = getattr(node, "lineno", self.function.node.lineno)
        self.result.instructions.append(Instruction(kind, line, code, tuple(reads), **more))
        return len(self.result.instructions) - 1

    def expression(self, node: ast.expr) -> tuple[Code, list[str]]:
        """A function of the locals that an expression uses; what it binds is bound before."""
        if bound(node):
            node = self.saved(node)
        reads = sorted(free(node) & self.locals)
        return self.compiled([ast.copy_location(ast.Return(node), node)], reads), reads

    def compiled(self, body: list[ast.stmt], reads: list[str]) -> Code:
        @cache
        def lacking(missing: tuple[str, ...]) -> Any:
            gone = [made("del NAME", body[0], NAME=name) for name in missing]
            definition = definition_of(
                self.function.name, reads, [*gone, *copy.deepcopy(body)], body[0]
            )
            if self.lowering.optimize:
                rewriter = Rewriter(self.lowering, self.function, frozenset(self.locals))
                definition = rewriter.visit(definition)
            return compile_function(self.function, definition)

        return Code(lacking(()), lacking)

    def piece(self, statements: list[ast.stmt]) -> None:
        """Straight code: gives back the locals it bound."""
        shared = nonlocals(*statements)
        writes = sorted((bound(*statements) | shared) & self.locals)
        gone = unbound(*statements) & self.locals
        found, certain = exposed(statements, frozenset())
        reads = sorted((found | gone | shared) & self.locals)
        back = f"return {RUNTIME}.bound_locals(locals(), {tuple(writes)!r})"
        code = self.compiled([*statements, made(back, statements[-1])], reads)
        kept = tuple(sorted(certain & self.locals))
        at = self.emit("do", statements[0], code, reads, writes=kept, unbinds=tuple(sorted(gone)))
        self.made += [(at, node) for node in statements]

    def saved(self, node: ast.expr) -> ast.Name:
        """A local that has the value of an expression from here on."""
        name = self.temporary("value")
        self.bind(name, node)
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def bind(self, name: str, node: ast.expr) -> None:
        """Give a local the value of an expression."""
        self.piece([made("NAME = VALUE", node, NAME=name, VALUE=node)])

    def here(self, at: int) -> None:
        """Let the jump at an instruction come here."""
        self.result.instructions[at].to = len(self.result.instructions)

    def temporary(self, word: str) -> str:
        self.temporaries += 1
        name = f"@{word}{self.temporaries}"
        self.locals.add(name)
        return name

    def refused(self, node: ast.AST, what: str) -> SpecError:
        help = "yield stands on its own, in if, while, for and match; results: x = yield from f()."
        return refused(self.function, node, what, help)


def _binder(function: Function) -> Any:
    """A function with the head of a given one: its arguments by name, as Python binds them."""
    found = function.node.args
    words = [*found.posonlyargs, *found.args, found.vararg, *found.kwonlyargs, found.kwarg]
    text = ", ".join(f"{a.arg!r}: {a.arg}" for a in words if a is not None)
    definition = definition_of(
        function.name, [], [made(f"return {{{text}}}", function.node)], function.node
    )
    definition.args = copy.deepcopy(found)
    bind = compile_function(function, definition)
    bind.__defaults__ = function.function.__defaults__
    bind.__kwdefaults__ = function.function.__kwdefaults__
    bind.__qualname__ = function.qualified
    return bind
