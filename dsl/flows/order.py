"""Calls ``yield from f(...)`` inside expressions, in Python's order.

A call is taken out and stands before what is left of the statement. What Python evaluates before
it is evaluated before it, into locals of the translation; what is evaluated under a condition
(``and``, ``or``, ``if`` ``else``, chains of comparisons) becomes a branch. Constants and names that
nothing binds meanwhile stay where they are.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any

from statewalk.dsl.blocks.read import refused
from statewalk.dsl.errors import SpecError
from statewalk.dsl.flows.instructions import (
    Code,
    FlowCode,
    Instruction,
    binding_counts,
    exposed,
    unbound,
)
from statewalk.dsl.lowering.compiling import RUNTIME, compile_function, definition_of
from statewalk.dsl.lowering.lower import Lowering, Rewriter
from statewalk.dsl.source.nodes import copied, expression, with_places, yields
from statewalk.dsl.source.nodes import statement as made
from statewalk.dsl.source.scopes import bound, defaults, free, nonlocals
from statewalk.dsl.source.tree import Function

Put = Callable[[ast.expr], None]
_SCOPES = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


class InOrder:
    """The instructions of one function so far; takes the calls out of its statements."""

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
        """Return a function of the locals that an expression uses; what it binds is bound
        before.
        """
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
        """Return a local that has the value of an expression from here on."""
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
        help = "Write yield as a separate statement. For a result, write x = yield from f()"
        return refused(self.function, node, what, help)

    # -- calls inside expressions ---------------------------------------------------------------
    def pulled(self, node: ast.expr) -> ast.expr:
        """Return what is left of an expression when the calls in it have been done."""
        if not yields(node):
            return node
        match node:
            case ast.YieldFrom():
                return self.call(node)
            case ast.Yield():
                raise self.refused(node, "there is a yield inside an expression")
            case ast.Lambda():
                raise self.refused(node, "there is a yield inside a lambda")
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                return self.comprehension(node)
            case ast.BoolOp():
                return self.short(node)
            case ast.IfExp(body=body, orelse=orelse) if yields(body) or yields(orelse):
                return self.either(node)
            case ast.Compare(comparators=[_, *more]) if any(map(yields, more)):
                return self.short(self.conjunction(node))
        self.operands(node)
        return node

    def operands(self, node: ast.AST) -> None:
        """Take the calls out of the parts of a node that are all evaluated, one after the other."""
        parts, merged = _parts(node), _merged(node)
        last = max((at for at, (part, _) in enumerate(parts) if yields(part)), default=-1)
        for at, (part, put) in enumerate(parts[: last + 1]):
            left = self.pulled(part)
            if part in merged and at < last:
                left = ast.copy_location(ast.Dict([None], [left]), part)
            later = [following for following, _ in parts[at + 1 :]]
            put(left if at == last else self.kept(left, bound(*later)))

    def kept(self, node: ast.expr, rebound: frozenset[str]) -> ast.expr:
        """Return an expression whose value is that of a given one here, whatever comes after."""
        if self.stays(node, rebound):
            return node
        match node:
            case ast.Starred(value=value):
                node.value = self.saved(ast.copy_location(ast.List([node], ast.Load()), value))
                return ast.copy_location(ast.Starred(node.value, ast.Load()), node)
            case ast.Slice():
                for part, put in _parts(node):
                    put(self.kept(part, rebound))
                return node
            case ast.FormattedValue():
                text = self.saved(ast.copy_location(ast.JoinedStr([node]), node))
                return ast.copy_location(ast.FormattedValue(text, -1), node)
        return self.saved(node)

    def stays(self, node: ast.expr, rebound: frozenset[str]) -> bool:
        """Return whether an expression has the same value after other things were evaluated."""
        match node:
            case ast.Constant():
                return True
            case ast.Name(id=name):
                return isinstance(node.ctx, ast.Store) or name not in rebound | self.shared
            case ast.Lambda():
                return all(self.stays(part, rebound) for part in defaults(node))
            case ast.Attribute(value=ast.Name(id=name)) if name not in self.locals:
                owner = self.function.module.namespace.get(name)
                return isinstance(owner, ModuleType | type)
        return False

    # -- what is evaluated under a condition -------------------------------------------------------
    def short(self, node: ast.BoolOp) -> ast.expr:
        """``a and b``: b is evaluated only if a is true."""
        values = node.values
        yielding = [at for at, value in enumerate(values) if yields(value)]
        first, last = max(1, yielding[0]), yielding[-1]
        lead = ast.BoolOp(node.op, values[:first]) if first > 1 else values[0]
        found = self.saved(self.pulled(ast.copy_location(lead, node)))
        leave = []
        for value in values[first : last + 1]:
            asked = "X" if isinstance(node.op, ast.And) else "not X"
            test = expression(asked, node, X=found.id)
            leave.append(self.emit("test", node, *self.expression(test)))
            self.bind(found.id, self.pulled(value))
        for at in leave:
            self.here(at)
        rest = values[last + 1 :]
        return ast.copy_location(ast.BoolOp(node.op, [found, *rest]), node) if rest else found

    def either(self, node: ast.IfExp) -> ast.expr:
        found = self.temporary("value")
        test = self.emit("test", node, *self.expression(self.pulled(node.test)))
        self.bind(found, self.pulled(node.body))
        over = self.emit("jump", node)
        self.here(test)
        self.bind(found, self.pulled(node.orelse))
        self.here(over)
        return _name(found, node)

    def conjunction(self, node: ast.Compare) -> ast.BoolOp:
        """``a < b < c`` as ``a < b and b < c``, in which b is evaluated once."""
        values: list[ast.expr] = []
        left = node.left
        for at, (sign, right) in enumerate(zip(node.ops, node.comparators, strict=True)):
            asked: ast.expr = right
            if at < len(node.ops) - 1:
                word = self.temporary("value")
                asked = ast.NamedExpr(ast.Name(word, ast.Store()), right)
            values.append(ast.Compare(left, [sign], [asked]))
            left = _name(word, node) if asked is not right else right
        return with_places(ast.copy_location(ast.BoolOp(ast.And(), values), node))

    def comprehension(self, node: ast.expr) -> ast.expr:
        """Return what a comprehension goes through is evaluated outside of it, and before."""
        assert isinstance(node, _SCOPES)
        node.generators[0].iter = self.pulled(node.generators[0].iter)
        if yields(node):
            raise self.refused(node, "there is a yield inside a comprehension")
        return node

    # -- statements --------------------------------------------------------------------------------
    def assigned(self, node: ast.Assign) -> None:
        """Translate an assignment: the value first, then each target."""
        node.value = self.pulled(node.value)
        if not any(map(yields, node.targets)):
            self.piece([node])
            return
        value = self.saved(node.value)
        for target in node.targets:
            if isinstance(target, ast.Tuple | ast.List) and yields(target):
                raise self.refused(target, "there is a yield among several targets")
            self.piece([ast.copy_location(ast.Assign([self.pulled(target)], value), node)])

    def augmented(self, node: ast.AugAssign) -> None:
        """``a.x += v``: a, then what it has there, then the value; then the result is stored."""
        target, rebound = node.target, bound(node.value)
        if isinstance(target, ast.Name):
            early = yields(node.value) and not self.stays(_name(target.id, node), rebound)
        else:
            early, parts = yields(node.value), _parts(target)
            for at, (part, put) in enumerate(parts if early or yields(target) else []):
                later = bound(*(part for part, _ in parts[at + 1 :]))
                put(self.kept(self.pulled(part), rebound | later))
        if early:
            loaded = copied(target)
            loaded.ctx = ast.Load()
            before = self.saved(loaded)
            node.value = self.pulled(node.value)
            self._in_place(before, node)
        else:
            node.value = self.pulled(node.value)
            self.piece([node])

    def _in_place(self, before: ast.Name, node: ast.AugAssign) -> None:
        changed = ast.AugAssign(ast.Name(before.id, ast.Store()), node.op, node.value)
        stored = ast.Assign([node.target], before)
        made = [ast.copy_location(changed, node), ast.copy_location(stored, node)]
        self.piece([with_places(one) for one in made])

    def flow_named(self, func: ast.expr) -> str:
        """Return the name of the flow that a name stands for."""
        if not isinstance(func, ast.Name) or func.id in self.locals:
            what = f"it is not known which flow '{ast.unparse(func)}' is"
            help = "Call it by its name: yield from self.f(), or yield from f()."
            raise refused(self.function, func, what, help)
        known = self.lowering.effects.function_of(self.function.module.namespace.get(func.id))
        return known.name if known is not None else func.id

    def call(self, node: ast.YieldFrom) -> ast.Name:
        called = node.value
        names = [k.arg for k in called.keywords] if isinstance(called, ast.Call) else [None]
        if not isinstance(called, ast.Call) or None in names:
            raise self.refused(node, "yield from takes a call with its arguments written out")
        self.operands(called)
        receiver: list[ast.expr] = []
        if isinstance(called.func, ast.Attribute):
            name, receiver = "." + called.func.attr, [called.func.value]
        else:
            name = self.flow_named(called.func)
        given = [*receiver, *called.args, *(k.value for k in called.keywords)]
        arguments = ast.copy_location(ast.Tuple(given, ast.Load()), called)
        target = self.temporary("result")
        self.emit(
            "call", node, *self.expression(arguments), writes=(target,), target=target, callee=name,
            names=tuple(n for n in names if n is not None),
        )  # fmt: skip
        return _name(target, node)


def _binder(function: Function) -> Any:
    """Return a function with the head of a given one: its arguments by name, as Python binds
    them.
    """
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


def _name(word: str, at: ast.AST) -> ast.Name:
    return ast.copy_location(ast.Name(word, ast.Load()), at)


def _merged(node: ast.AST) -> list[ast.expr]:
    """Return the parts that stand behind ``**``: what is in them by then counts."""
    if isinstance(node, ast.Call):
        return [k.value for k in node.keywords if k.arg is None]
    if isinstance(node, ast.Dict):
        return [v for k, v in zip(node.keys, node.values, strict=True) if k is None]
    return []


def _parts(node: Any) -> list[tuple[ast.expr, Put]]:
    """Return the expressions directly in a node, as Python evaluates them, each with how to
    replace it.
    """
    found: list[tuple[ast.expr, Put]] = []
    if isinstance(node, ast.Dict):
        for at, key in enumerate(node.keys):
            found += [] if key is None else [(key, _putter(node.keys, at))]
            found.append((node.values[at], _putter(node.values, at)))
        return found
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(node, ast.Call) and name == "func" and isinstance(value, ast.Attribute):
            found.append((value.value, _putter(value, "value")))
        elif isinstance(value, ast.expr):
            found.append((value, _putter(node, name)))
        elif isinstance(value, list):
            for at, part in enumerate(value):
                alone = isinstance(node, ast.Call) and name == "args" and len(value) == 1
                if isinstance(part, ast.keyword) or (alone and isinstance(part, ast.Starred)):
                    found.append((part.value, _putter(part, "value")))  # gone through when called
                elif isinstance(part, ast.expr):
                    found.append((part, _putter(value, at)))
    return found


def _putter(holder: Any, at: Any) -> Put:
    def put(part: ast.expr) -> None:
        if isinstance(holder, list):
            holder[at] = part
        else:
            setattr(holder, at, part)

    return put
