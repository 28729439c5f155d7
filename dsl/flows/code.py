"""Flows as instructions: a function with ``yield`` becomes code that can stop and go on.

    do f        run a piece of straight code; its locals come from and go back to the frame
    test f, n   go on at n unless f
    jump n
    each f, x, r  start a loop over f: what remains is kept in the hidden local r
    next x, r, n  bind the next element, or go on at n
    call t, g, f  call the flow g with the arguments f; its result goes to the local t
    give f      return
    stop        let others act

Statements without yields, and without jumps out of them, stay together in one piece.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from statewalk.dsl.blocks.read import refused
from statewalk.dsl.blocks.steps import asks_for_notes
from statewalk.dsl.errors import SpecError
from statewalk.dsl.lowering.compiling import RUNTIME, compile_function, definition_of
from statewalk.dsl.lowering.lower import Lowering, Rewriter
from statewalk.dsl.source.nodes import yields
from statewalk.dsl.source.scopes import arguments, bound, names
from statewalk.dsl.source.templates import statement as made
from statewalk.dsl.source.tree import Function


@dataclass
class Instruction:
    """One instruction. ``reads`` and ``writes`` are locals; ``to`` is where a jump goes.

    A ``callee`` with a dot before it belongs to the call's first argument; ``names`` are those of
    its last ones, if given by name. ``asks``: the test is whether the step has done something
    (`dsl.blocks.steps`).
    """

    kind: str
    line: int
    code: Callable[..., Any] | None = None
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    to: int = -1
    target: str = ""
    callee: str = ""
    names: tuple[str, ...] = ()
    live: frozenset[str] = frozenset()
    asks: bool = False


@dataclass
class FlowCode:
    """The instructions of one function."""

    name: str
    parameters: tuple[str, ...]
    defaults: dict[str, Any]
    instructions: list[Instruction] = field(default_factory=list)

    def landing(self, at: int) -> int:
        """Where going on at an instruction leads: jumps are taken beforehand, so that runs with
        equal futures are equal.
        """
        while self.instructions[at].kind == "jump":
            at = self.instructions[at].to
        return at

    def resuming(self, at: int) -> int:
        """The same after a stop: what goes on has not done anything yet."""
        while self.instructions[at].kind == "jump" or self.instructions[at].asks:
            at = self.instructions[at].to
        return at


class Compiler:
    """Compiles one function."""

    def __init__(self, lowering: Lowering, function: Function) -> None:
        self.lowering = lowering
        self.function = function
        arguments = [*function.node.args.posonlyargs, *function.node.args.args]
        names = tuple(a.arg for a in arguments)
        given = function.function.__defaults__ or ()
        defaults = dict(zip(names[len(names) - len(given) :], given, strict=True))
        self.result = FlowCode(function.qualified, names, defaults)
        self.temporaries = 0
        self.loops: list[tuple[int, list[int]]] = []
        self.locals = set(names) | bound(*function.node.body)

    def run(self) -> FlowCode:
        """The instructions, with what is live at each."""
        self.block(copy.deepcopy(self.function.body()))
        self.emit("give", self.function.node, *self.expression(ast.Constant(None)))
        find_live(self.result.instructions)
        return self.result

    # -- pieces ----------------------------------------------------------------------------------

    def emit(self, kind: str, node: ast.AST, code: Any = None, reads: Any = (), **more: Any) -> int:
        line = getattr(node, "lineno", self.function.node.lineno)
        self.result.instructions.append(Instruction(kind, line, code, tuple(reads), **more))
        return len(self.result.instructions) - 1

    def names_in(self, *nodes: ast.AST) -> list[str]:
        return sorted(set().union(*(_loads(node) for node in nodes)) & self.locals)

    def expression(self, node: ast.expr) -> tuple[Any, list[str]]:
        """A function of the locals that an expression uses."""
        reads = self.names_in(node)
        return self.compiled([ast.copy_location(ast.Return(node), node)], reads), reads

    def compiled(self, body: list[ast.stmt], reads: list[str]) -> Callable[..., Any]:
        definition = definition_of(self.function.name, reads, copy.deepcopy(body), body[0])
        if self.lowering.optimize:
            definition = Rewriter(self.lowering, self.function, frozenset(self.locals)).visit(
                definition
            )
        code: Callable[..., Any] = compile_function(self.function, definition)
        return code

    def piece(self, statements: list[ast.stmt]) -> None:
        """Straight code: gives back the locals it bound."""
        stored = bound(*statements)
        writes = sorted(stored & self.locals)
        found, certain = exposed(statements, frozenset())
        reads = sorted(found & self.locals)
        back = f"return {RUNTIME}.bound_locals(locals(), {tuple(writes)!r})"
        returned = made(back, statements[-1])
        code = self.compiled([*statements, returned], reads)
        self.emit("do", statements[0], code, reads, writes=tuple(sorted(certain & self.locals)))

    # -- statements ------------------------------------------------------------------------------

    def block(self, statements: list[ast.stmt]) -> None:
        straight: list[ast.stmt] = []
        for statement in statements:
            if not yields(statement) and not _leaves(statement):
                straight.append(statement)
                continue
            if straight:
                self.piece(straight)
                straight = []
            self.statement(statement)
        if straight:
            self.piece(straight)

    def statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Yield):
            self.emit("stop", node)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.YieldFrom):
            self.pulled(node.value)
        elif isinstance(node, ast.Return):
            self.emit("give", node, *self.expression(self.pulled(node.value or ast.Constant(None))))
        elif isinstance(node, ast.If):
            self.branch(node)
        elif isinstance(node, ast.While):
            self.loop(node)
        elif isinstance(node, ast.For):
            self.for_each(node)
        elif isinstance(node, ast.Break | ast.Continue):
            if not self.loops:
                raise self.refused(node, "a jump out of a block that cannot be suspended")
            top, breaks = self.loops[-1]
            at = self.emit("jump", node, to=top)
            if isinstance(node, ast.Break):
                breaks.append(at)
        elif isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr | ast.Assert):
            for name in ("value", "test"):
                if isinstance(getattr(node, name, None), ast.expr):
                    setattr(node, name, self.pulled(getattr(node, name)))
            self.piece([node])
        else:
            what = "a yield" if yields(node) else "a return or jump"
            raise self.refused(node, f"{what} inside '{type(node).__name__.lower()}'")

    def refused(self, node: ast.AST, what: str) -> SpecError:
        help = "yield stands on its own, in if, while and for; results: x = yield from f()."
        return refused(self.function, node, what, help)

    def branch(self, node: ast.If) -> None:
        asks = asks_for_notes(node.test, self.function.module.namespace)
        test = self.emit("test", node, *self.expression(self.pulled(node.test)), asks=asks)
        self.block(node.body)
        over = self.emit("jump", node) if node.orelse else -1
        self.here(test)
        if node.orelse:
            self.block(node.orelse)
            self.here(over)

    def loop(self, node: ast.While) -> None:
        top = len(self.result.instructions)
        test = self.emit("test", node, *self.expression(self.pulled(node.test)))
        self.inside(node, top, test)

    def for_each(self, node: ast.For) -> None:
        target = node.target.id if isinstance(node.target, ast.Name) else self.temporary("item")
        if target[:1] == "@":  # for x, y in ...: x, y = item
            item = ast.copy_location(ast.Name(target, ast.Load()), node)
            node.body.insert(0, ast.copy_location(ast.Assign([node.target], item), node))
        rest = self.temporary("rest")
        self.emit(
            "each", node, *self.expression(self.pulled(node.iter)), writes=(rest,), target=rest
        )
        top = len(self.result.instructions)
        following = self.emit(
            "next",
            node,
            None,
            (rest,),
            writes=(target, rest),
            target=target,
            callee=rest,
        )
        self.inside(node, top, following)

    def inside(self, node: ast.While | ast.For, top: int, leave: int) -> None:
        self.loops.append((top, []))
        self.block(node.body)
        self.emit("jump", node, to=top)
        _, breaks = self.loops.pop()
        self.here(leave)
        self.block(node.orelse)
        for at in breaks:
            self.here(at)

    def here(self, at: int) -> None:
        """Let the jump at an instruction come here."""
        self.result.instructions[at].to = len(self.result.instructions)

    def temporary(self, word: str) -> str:
        self.temporaries += 1
        name = f"@{word}{self.temporaries}"
        self.locals.add(name)
        return name

    def pulled(self, node: ast.expr) -> ast.expr:
        """Take the calls ``yield from f(...)`` out of an expression, in order."""
        compiler = self

        class Pull(ast.NodeTransformer):
            def visit_YieldFrom(self, node: ast.YieldFrom) -> ast.AST:
                return compiler.call(node)

            def visit_Yield(self, node: ast.Yield) -> ast.AST:
                raise compiler.refused(node, "a yield inside an expression")

        result: ast.expr = Pull().visit(node)
        return result

    def call(self, node: ast.YieldFrom) -> ast.Name:
        called = node.value
        names = [k.arg for k in called.keywords] if isinstance(called, ast.Call) else [None]
        if not isinstance(called, ast.Call) or None in names:
            raise self.refused(node, "yield from takes a call, and arguments one by one")
        name, receiver = getattr(called.func, "id", ""), []
        if isinstance(called.func, ast.Attribute):
            name, receiver = "." + called.func.attr, [called.func.value]
        given = [*receiver, *called.args, *(k.value for k in called.keywords)]
        arguments = ast.copy_location(ast.Tuple(given, ast.Load()), called)
        target = self.temporary("result")
        self.emit(
            "call", node, *self.expression(arguments), writes=(target,), target=target, callee=name,
            names=tuple(n for n in names if n is not None),
        )  # fmt: skip
        return ast.copy_location(ast.Name(target, ast.Load()), node)


def _leaves(node: ast.stmt, in_loop: bool = False) -> bool:
    """Whether a statement may jump out of itself: return, or leave an outer loop."""
    if isinstance(node, ast.Return):
        return True
    if isinstance(node, ast.Break | ast.Continue):
        return not in_loop
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return False
    inner = in_loop or isinstance(node, ast.For | ast.While)
    return any(
        _leaves(child, inner) for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)
    )


def exposed(statements: list[ast.stmt], defined: frozenset[str]) -> tuple[set[str], frozenset[str]]:
    """(names read before they are certainly bound, names certainly bound at the end)"""
    reads: set[str] = set()
    for node in statements:
        if isinstance(node, ast.If):
            reads |= _loads(node.test) - defined
            first, after_first = exposed(node.body, defined)
            second, after_second = exposed(node.orelse, defined)
            reads |= first | second
            defined = after_first & after_second
        elif isinstance(node, ast.For | ast.While):
            head = node.iter if isinstance(node, ast.For) else node.test
            reads |= _loads(head) - defined
            inside = defined | (bound(node.target) if isinstance(node, ast.For) else frozenset())
            reads |= exposed(node.body, inside)[0] | exposed(node.orelse, defined)[0]
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr | ast.Assert):
            reads |= _loads(node) - defined
            if not isinstance(node, ast.AnnAssign) or node.value is not None:
                defined |= bound(node)
        else:
            reads |= _loads(node) - defined
    return reads, defined


def _loads(node: ast.AST) -> set[str]:
    """Names that a node reads from outside: not those bound by its comprehensions and lambdas."""
    if isinstance(node, ast.Name):
        return {node.id} if isinstance(node.ctx, ast.Load) else set()
    found = set().union(*(_loads(child) for child in ast.iter_child_nodes(node)))
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        found.add(node.target.id)
    return (found - _own(node)).union(*map(_loads, _outside(node)))


def _outside(node: ast.AST) -> list[ast.expr]:
    """Parts of a comprehension or lambda that see the names around it, not its own."""
    if isinstance(node, ast.Lambda | ast.FunctionDef):
        return [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]
    return [g.iter for g in getattr(node, "generators", [])[:1]]


def _own(node: ast.AST) -> set[str]:
    """Names that a node binds for itself alone."""
    if isinstance(node, ast.Lambda | ast.FunctionDef):
        return arguments(node.args)
    return names(*(g.target for g in getattr(node, "generators", [])))


def find_live(code: list[Instruction]) -> None:
    """Backward data flow: a local is live where some way on reads it before binding it."""
    live: list[frozenset[str]] = [frozenset()] * (len(code) + 1)
    changed = True
    while changed:
        changed = False
        for at in range(len(code) - 1, -1, -1):
            one = code[at]
            after: frozenset[str] = frozenset()
            if one.kind not in ("give", "jump"):
                after |= live[at + 1]
            if one.kind in ("jump", "test", "next"):
                after |= live[one.to]
            bound = frozenset() if one.kind == "next" else frozenset(one.writes)
            now = (after - bound) | frozenset(one.reads)
            if now != live[at]:
                live[at] = now
                changed = True
    for at, one in enumerate(code):
        one.live = live[at]
