"""The instructions of a flow: see `dsl.flows.code` for what each does."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from statewalk.dsl.source.nodes import parts_of, walk
from statewalk.dsl.source.scopes import arguments, binds, bound, free


@dataclass(frozen=True, slots=True)
class Code:
    """A function of some locals; ``lacking`` gives the one for where some of them have no value."""

    run: Callable[..., Any]
    lacking: Callable[[tuple[str, ...]], Callable[..., Any]]


@dataclass
class Instruction:
    """One instruction. ``reads`` and ``writes`` are locals; ``to`` is where a jump goes.

    A ``callee`` with a dot before it belongs to the call's first argument; ``names`` are those of
    its last ones, if given by name. ``asks``: the test is whether the step has done something
    (`dsl.blocks.steps`). ``unbinds``: locals that have no value any more unless the code gives one.
    ``source``: the local that a loop goes through, where the loop may change it; ``stops``: whether
    there is a yield in it.
    """

    kind: str
    line: int
    code: Code | None = None
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    to: int = -1
    target: str = ""
    callee: str = ""
    names: tuple[str, ...] = ()
    live: frozenset[str] = frozenset()
    asks: bool = False
    unbinds: tuple[str, ...] = ()
    source: str = ""
    stops: bool = False


@dataclass
class FlowCode:
    """The instructions of one function; ``bind`` gives the locals that it begins with."""

    name: str
    parameters: tuple[str, ...]
    bind: Callable[..., dict[str, Any]]
    instructions: list[Instruction] = field(default_factory=list)

    def landing(self, at: int) -> int:
        """Return where an instruction leads after jumps, so that runs with one future are equal."""
        while self.instructions[at].kind == "jump":
            at = self.instructions[at].to
        return at

    def resuming(self, at: int) -> int:
        """Return the same after a stop: what goes on has not done anything yet."""
        while self.instructions[at].kind == "jump" or self.instructions[at].asks:
            at = self.instructions[at].to
        return at


LATE = frozenset({"zip", "enumerate", "reversed", "map", "filter", "iter"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_IMPORTS = (ast.Import, ast.ImportFrom)
_STRAIGHT = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, *_IMPORTS, *_FUNCTIONS)


def exposed(statements: list[ast.stmt], defined: frozenset[str]) -> tuple[set[str], frozenset[str]]:
    """Return (names read before they are certainly bound, names certainly bound at the end)."""
    reads: set[str] = set()
    for node in statements:
        if isinstance(node, ast.If):
            reads |= free(node.test) - defined
            defined |= certain(node.test)
            first, after_first = exposed(node.body, defined)
            second, after_second = exposed(node.orelse, defined)
            reads |= first | second
            defined = after_first & after_second
        elif isinstance(node, ast.For | ast.While):
            head = node.iter if isinstance(node, ast.For) else node.test
            reads |= free(head) - defined
            defined |= certain(head)
            inside = defined | (bound(node.target) if isinstance(node, ast.For) else frozenset())
            reads |= exposed(node.body, inside)[0] | exposed(node.orelse, defined)[0]
            defined -= unbound(node)
        elif isinstance(node, ast.Match):
            reads |= free(node.subject) - defined
            defined |= certain(node.subject)
            for case in node.cases:
                inside = defined | bound(case.pattern)
                reads |= free(case.pattern) - defined
                reads |= (free(case.guard) if case.guard else set()) - inside
                reads |= exposed(case.body, inside)[0]
            defined -= unbound(node)
        elif isinstance(node, _STRAIGHT):
            reads |= free(node) - defined
            defined |= certain(node)
        else:
            reads |= free(node) - defined
            defined -= unbound(node)
    return reads, defined


def certain(node: ast.AST) -> frozenset[str]:
    """Return names that a statement without blocks, or an expression, binds whenever it is done."""
    match node:
        case ast.BoolOp(values=[first, *_]):
            return certain(first)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return certain(test) | (certain(body) & certain(orelse))
        case ast.Compare(left=left, comparators=[first, *_]):
            return certain(left) | certain(first)
        case ast.AnnAssign(value=None) | ast.Lambda():
            return frozenset()
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return certain(node.generators[0].iter)
        case ast.FunctionDef(name=name):
            return frozenset((name,))
        case ast.Name() | ast.alias():
            return bound(node)
    return frozenset().union(*map(certain, parts_of(node)))


def unbound(*nodes: ast.AST) -> set[str]:
    """Return names that may have no value any more after some statements."""
    found = set()
    for node in nodes:
        for part in walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Del):
                found.add(part.id)
            elif isinstance(part, ast.ExceptHandler) and part.name:
                found.add(part.name)
    return found


def binding_counts(function: ast.FunctionDef) -> Counter[str]:
    """Count the places that bind each name; an argument counts once."""
    parts = (part for statement in function.body for part in walk(statement))
    return Counter([*arguments(function.args), *(name for part in parts for name in binds(part))])


def closures(statement: ast.AST) -> dict[str, set[str]]:
    """Return names that get a function, or a generator, with the names around it that it
    looks at.
    """
    found: dict[str, set[str]] = {}
    for node in walk(statement):
        if isinstance(node, ast.FunctionDef):
            found.setdefault(node.name, set()).update(free(node))
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr) and node.value:
            looks = set().union(*map(free, _late(node.value)))
            for name in bound(node) if looks else ():
                found.setdefault(name, set()).update(looks)
    return found


def _late(node: ast.AST) -> list[ast.AST]:
    """Return what in a value is evaluated later: not what is given to a call, which uses it up."""
    if isinstance(node, ast.Lambda | ast.GeneratorExp):
        return [node]
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") not in LATE:
        return []
    return [part for child in parts_of(node) for part in _late(child)]


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
