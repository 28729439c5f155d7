"""Lowering: recompile the functions of a spec so that a View sees how little they look at.

    x.f += v                               a blind update
    any/all/sum/len/...(e for y in xs)     one projection of the slot behind xs
    f(a, b), where f only reads            a remembered call
    a turn of a loop that only reads       the same, see `dsl.lowering.turns`

What a rewriting may do is fixed: it never changes a result (``optimize=False`` leaves it out, and
both agree). Two things are rewritten always: ``old(e)`` into ``old(lambda: e)``, because
it is evaluated in another state, and what makes sets, see `dsl.source.set_order`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from typing import Any

from statewalk.dsl.lowering import calls as lowered
from statewalk.dsl.lowering.calls import is_aggregate
from statewalk.dsl.lowering.compiling import RUNTIME, Old, install, lambda_of, runtime_call
from statewalk.dsl.lowering.turns import find_turns, take_out
from statewalk.dsl.source.effects import Effects
from statewalk.dsl.source.known_effects import MAKING
from statewalk.dsl.source.nodes import Transformer, copied, is_identity, walk
from statewalk.dsl.source.scopes import arguments, free, locals_of, names
from statewalk.dsl.source.tree import Function, SpecTree
from statewalk.dsl.state.roles import Field, Role
from statewalk.dsl.words.declare import any_of

Comprehension = ast.GeneratorExp | ast.ListComp | ast.SetComp
_CONTAINER = "@container"  # no name that a spec could have


@dataclass(frozen=True)
class Gathering:
    """Rewrites the comprehensions of one function, given its locals and the names that mean state.

    ``rewrite`` is done with what is left of one that becomes a projection.
    """

    function: Function
    locals: Set[str]
    state_names: Set[str]
    effects: Effects
    rewrite: Callable[[ast.AST], Any]

    @property
    def namespace(self) -> dict[str, Any]:
        return self.function.module.namespace

    def aggregate(self, node: ast.Call) -> ast.AST | None:
        """``any(... for ...)`` and its like; None where it is not one."""
        name = getattr(node.func, "id", "")
        if name in self.locals or len(node.args) != 1 or node.keywords:
            return None
        if not is_aggregate(name, self.namespace):
            return None
        inner = node.args[0]
        if not isinstance(inner, ast.GeneratorExp | ast.ListComp | ast.SetComp):
            return None
        if name == "len" and not isinstance(inner, ast.ListComp):
            return None
        if isinstance(inner, ast.SetComp) and name not in ("set", "frozenset"):
            return None
        is_lazy = isinstance(inner, ast.GeneratorExp)
        if is_lazy and len(inner.generators) > 1 and name in ("any", "all"):
            inner = self._nested(name, inner)
        return self._rewritten(name, inner, node)

    def comprehension(self, name: str, node: Comprehension) -> ast.AST | None:
        """A list or set comprehension on its own."""
        return self._rewritten(name, node, node)

    @staticmethod
    def _nested(name: str, node: Comprehension) -> Comprehension:
        """``all(e for x in xs for y in ys)`` → ``all(all(e for y in ys) for x in xs)``"""
        body = ast.GeneratorExp(node.elt, node.generators[1:])
        call = ast.Call(ast.Name(name, ast.Load()), [ast.copy_location(body, node)], [])
        return ast.copy_location(
            ast.GeneratorExp(ast.copy_location(call, node), node.generators[:1]), node
        )

    def _rewritten(self, name: str, node: Comprehension, at: ast.expr) -> ast.AST | None:
        generator = node.generators[0]
        target = generator.target
        if len(node.generators) > 1 or generator.is_async or not isinstance(target, ast.Name):
            return None
        if any(isinstance(n, ast.NamedExpr | ast.Yield | ast.Await) for n in walk(node)):
            return None
        originals = [node.elt, *generator.ifs]
        hoisting = _Hoist(self, target.id, bound_inside(originals))
        parts = [hoisting.visit(copied(part)) for part in originals]
        taken_out = [*hoisting.hoisted.values(), *_bounds(generator.iter)]
        if self._looks_further(parts, target.id) or any(map(self._does, taken_out)):
            return None
        names, values = hoisting.captures(parts)
        element: ast.expr = ast.Constant(None)
        if not (isinstance(parts[0], ast.Name) and parts[0].id == target.id):
            element = lambda_of([target.id, *names], parts[0])
        condition: ast.expr = ast.Constant(None)
        if len(parts) > 1:
            test = parts[1] if len(parts) == 2 else ast.BoolOp(ast.And(), parts[1:])
            condition = lambda_of([target.id, *names], test)
        where = f"{self.function.module.name}:{self.function.qualified}"
        site = f"{where}:{at.lineno}:{at.col_offset}:{ast.unparse(node)}"
        source, over, bounds = self._source(generator.iter)
        arguments: list[Any] = [
            ast.Constant(name),
            ast.Constant(site),
            source,
            self._plain(name, node, over),
            element,
            condition,
            lambda_of([], ast.Tuple(values, ast.Load())),
            ast.Constant(self._asks_identity(originals)),
        ]
        if bounds is not None:
            arguments.append(lambda_of([], ast.Tuple(bounds, ast.Load())))
        return ast.copy_location(runtime_call("gather", arguments), at)

    def _source(self, iterated: ast.expr) -> tuple[ast.expr, ast.expr, list[ast.expr] | None]:
        """(container, what to loop over given it, bounds of a slice)"""
        over: ast.expr = ast.Name(_CONTAINER, ast.Load())
        bounds = _bounds(iterated)
        if not bounds or not isinstance(iterated, ast.Subscript):
            return self.rewrite(copied(iterated)), over, None
        over = ast.Subscript(over, copied(iterated.slice), ast.Load())
        return self.rewrite(copied(iterated.value)), over, bounds

    def _plain(self, name: str, node: Comprehension, over: ast.expr) -> ast.Lambda:
        """The source itself, as a function of the container."""
        body = copied(node)
        body.elt = self.rewrite(body.elt)
        body.generators[0].ifs = [self.rewrite(i) for i in body.generators[0].ifs]
        body.generators[0].iter = over
        generator: ast.expr = body
        if not isinstance(body, ast.ListComp) or name != "list":
            if not isinstance(body, ast.SetComp) or name != "set":
                generator = ast.Call(ast.Name(name, ast.Load()), [body], [])
        return lambda_of([_CONTAINER], generator)

    def _looks_further(self, parts: list[ast.expr], variable: str) -> bool:
        """Whether the text shows that the parts look at the state, or do something to it."""
        inner, outer = bound_inside(parts), free(*parts)
        for node in (node for part in parts for node in walk(part)):
            if isinstance(node, ast.Attribute) and node.attr in self.state_names:
                chain = _chain(node)
                if chain is None or chain[0] != variable or variable in inner:
                    return True
            elif (isinstance(node, ast.Call) and not self._harmless(node)) or (
                isinstance(node, ast.Name)
                and node.id in outer
                and self._is_stateful(node.id, variable)
            ):
                return True
        return False

    def _asks_identity(self, parts: list[ast.expr]) -> bool:
        """Whether the parts, or functions that they call, may ask if two things are the same."""
        nodes = [node for part in parts for node in walk(part)]
        calls = [node for node in nodes if isinstance(node, ast.Call)]
        callees = [f for call in calls for f in self.effects.callees(call, self.function)]
        return any(map(is_identity, nodes)) or any(map(self.effects.asks_identity, callees))

    def _does(self, node: ast.expr) -> bool:
        """Whether evaluating what is taken out, perhaps once more, makes a difference."""
        return self.effects.of_part(node, self.function) == "effects"

    def _harmless(self, node: ast.Call) -> bool:
        return self.effects.of_call(node, self.function) == "pure"

    def _is_stateful(self, name: str, variable: str) -> bool:
        """Whether a bare name is a function that looks at the state."""
        if name == variable or name in self.locals:
            return False
        function = self.effects.function_of(self.namespace.get(name))
        return function is not None and self.effects.of(function) != "pure"


def bound_inside(parts: list[ast.expr]) -> set[str]:
    """Names that comprehensions and lambdas inside some expressions bind."""
    inner = (n for part in parts for n in walk(part) if isinstance(n, ast.comprehension))
    return names(*(node.target for node in inner)) | arguments(*parts)


def _bounds(iterated: ast.expr) -> list[ast.expr]:
    """The bounds of ``xs[a:b:c]``; none of other expressions."""
    if not (isinstance(iterated, ast.Subscript) and isinstance(iterated.slice, ast.Slice)):
        return []
    part = iterated.slice
    return [
        ast.Constant(None) if bound is None else copied(bound)
        for bound in (part.lower, part.upper, part.step)
    ]


def _chain(node: ast.expr) -> tuple[str, ...] | None:
    """``a.b.c`` as names; None for any other expression."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.insert(0, node.attr)
        node = node.value
    return (node.id, *names) if isinstance(node, ast.Name) else None


class _Hoist(Transformer):
    """Takes ``self.epoch`` and captured names out of the parts of a comprehension.

    ``inner`` are names bound inside the parts: what hangs on them cannot be taken out.
    """

    def __init__(self, gathering: Gathering, variable: str, inner: set[str]) -> None:
        self.gathering = gathering
        self.locals = gathering.locals
        self.variable = variable
        self.kept = inner | {variable}
        self.hoisted: dict[str, ast.expr] = {}

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        chain = _chain(node)
        if chain is None or chain[0] in self.kept or not isinstance(node.ctx, ast.Load):
            return self.generic_visit(node)
        root = chain[0]
        if root not in self.locals and not isinstance(self.gathering.namespace.get(root), Role):
            return self.generic_visit(node)
        name = ".".join(chain)  # no name that a spec could have
        self.hoisted[name] = node
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Attribute):  # a method is not hoisted, its receiver may be
            node.func.value = self.visit(node.func.value)
        node.args = [self.visit(a) for a in node.args]
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
        return node

    def captures(self, parts: list[ast.expr]) -> tuple[list[str], list[ast.expr]]:
        """Names that the parts need from outside, and what to evaluate for them."""
        plain = sorted((free(*parts) & self.locals) - {self.variable} - set(self.hoisted))
        hoisted = sorted(self.hoisted)
        values: list[Any] = [ast.Name(n, ast.Load()) for n in plain]
        return [*plain, *hoisted], values + [copied(self.hoisted[n]) for n in hoisted]


_COMPREHENSIONS = ast.GeneratorExp | ast.ListComp | ast.SetComp
_SIGNS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Mod: "%", ast.FloorDiv: "//",
    ast.BitOr: "|", ast.BitAnd: "&", ast.BitXor: "^",
}  # fmt: skip


class Lowering:
    """Recompiles the functions of one spec in place."""

    def __init__(
        self,
        tree: SpecTree,
        fields: Mapping[tuple[str, str], Field],
        classes: Mapping[str, type],
        *,
        optimize: bool,
    ) -> None:
        self.tree = tree
        self.fields = fields
        self.classes = classes
        self.optimize = optimize
        self.effects = Effects(tree)
        hidden_calls = [f for f in tree.functions if f.name[:2] == "__" and f.name not in MAKING]
        self.operators_write = any(self.effects.of(f) == "effects" for f in hidden_calls)
        self.state_names = {name for cls in tree.roles for name in cls._fields}
        self.state_names |= {f.name for f in tree.functions if self.effects.of(f) != "pure"}

    def run(self) -> None:
        """Recompile what needs it."""
        for module in self.tree.loading.modules:
            module.namespace[RUNTIME] = lowered
        for function in self.tree.functions:
            if not _recompilable(function) or not self._gains(function):
                continue
            node = copied(function.node)
            if self.optimize:
                turns = find_turns(self.effects, function, node)
                node = Rewriter(self, function).visit(node)
                take_out(function, turns, self.how_to_call([function]))
            install(function, Old.of(function).visit(node))

    def may_write(self, function: Function, node: ast.expr) -> bool:
        """Whether evaluating an expression may do more than look, or binds names."""
        if any(isinstance(n, ast.NamedExpr | ast.Yield | ast.YieldFrom) for n in walk(node)):
            return True
        return self.operators_write or self.effects.of_part(node, function) == "effects"

    def how_to_call(self, callees: list[Function]) -> str:
        """By which of `dsl.lowering.calls` a call is remembered that may reach some functions."""
        return "call_telling_apart" if any(map(self.effects.asks_identity, callees)) else "call"

    def _gains(self, function: Function) -> bool:
        """Whether recompiling may matter: it looks at the state, or goes through something."""
        return self.effects.of(function) != "pure" or any(
            isinstance(n, ast.For | ast.comprehension | ast.Call) for n in walk(function.node)
        )


def _recompilable(function: Function) -> bool:
    """Closures over the class cell (super), generators, and what is no function (`functools.cache`)
    stay as they are.
    """
    names = {n.id for n in walk(function.node) if isinstance(n, ast.Name)}
    code = getattr(function.function, "__code__", None)
    if code is None or names & {"super", "__class__"} or code.co_freevars:
        return False
    return not function.is_generator


class Rewriter(Transformer):
    """Rewrites one function."""

    def __init__(
        self, lowering: Lowering, function: Function, extra: frozenset[str] = frozenset()
    ) -> None:
        self.lowering = lowering
        self.function = function
        self.locals = extra | locals_of(function.node)
        names, effects = lowering.state_names, lowering.effects
        self.gathering = Gathering(function, self.locals, names, effects, self.visit)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        sign = _SIGNS.get(type(node.op))
        only_reads = not self.lowering.may_write(self.function, node.value)
        self.generic_visit(node)
        if sign is None or not isinstance(node.target, ast.Attribute) or not only_reads:
            return node
        arguments = [
            node.target.value,
            ast.Constant(node.target.attr),
            ast.Constant(sign),
            lambda_of([], node.value),
        ]
        return ast.copy_location(ast.Expr(runtime_call("augment", arguments)), node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if self._makes_options(node):
            site = f"{self.function.module.source.path}:{node.lineno}:{node.col_offset}"
            options = runtime_call("made", [ast.Constant(site), lambda_of([], node.args[0])])
            return ast.copy_location(ast.Call(node.func, [options], node.keywords), node)
        found = self.gathering.aggregate(node)
        if found is not None:
            return found
        remembered = self._remembered(node)
        callees = self.lowering.effects.callees(node, self.function) if remembered else []
        how = self.lowering.how_to_call(callees)
        self.generic_visit(node)
        if not remembered:
            return node
        return ast.copy_location(runtime_call(how, [node.func, *node.args]), node)

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        return self.gathering.comprehension("list", node) or self.generic_visit(node)

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        return self.gathering.comprehension("set", node) or self.generic_visit(node)

    def _makes_options(self, node: ast.Call) -> bool:
        """Whether a call is an `any_of` of what is made there, of nothing in the state."""
        name, namespace = getattr(node.func, "id", ""), self.function.module.namespace
        if name in self.locals or namespace.get(name) is not any_of or len(node.args) != 1:
            return False
        options = node.args[0]
        if not isinstance(options, ast.Call | ast.BinOp | _COMPREHENSIONS):
            return False
        return self.lowering.effects.of_part(options, self.function) == "pure" and not any(
            isinstance(n, ast.NamedExpr | ast.Yield | ast.YieldFrom) for n in walk(options)
        )

    def _remembered(self, node: ast.Call) -> bool:
        """Whether a call is of a spec function that only reads, and gives something to remember."""
        if node.keywords or any(isinstance(a, ast.Starred | ast.Lambda) for a in node.args):
            return False
        if self.lowering.effects.of_call(node, self.function) != "reads":
            return False
        callee = self.callee(node.func)
        return callee is not None and self._rememberable(callee)

    def callee(self, func: ast.expr) -> Function | None:
        """The spec function that a call certainly means, or one of its equals by name."""
        effects = self.lowering.effects
        if isinstance(func, ast.Name) and func.id not in self.locals:
            return effects.function_of(self.function.module.namespace.get(func.id))
        if isinstance(func, ast.Attribute):
            found = effects.methods(func.attr)
            return found[0] if found else None
        return None

    @staticmethod
    def _rememberable(callee: Function) -> bool:
        returns = callee.node.returns
        if callee.is_generator or callee.is_static:
            return False
        if returns is None:
            return callee.module.source.dialect == "fizz"
        text = ast.unparse(returns).strip("'\"")
        head = text.partition("[")[0]
        return head not in ("Iterator", "Iterable", "Generator", "Flow", "Callable", "object")
