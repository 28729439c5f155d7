"""Lowering: recompile the functions of a spec so that a View sees how little they look at.

    x.f += v                               an update that does not look at x.f
    f(a, b), where f only reads            a remembered call
    any_of(...) of what is made there      its options made once

What a rewriting may do is fixed: it never changes a result (``optimize=False`` leaves it out, and
both agree). Two things are rewritten always: ``old(e)`` into ``old(lambda: e)``, because
it is evaluated in another state, and what makes sets, see `dsl.source.set_order`.
"""

from __future__ import annotations

import ast

from statewalk.dsl.lowering import calls as lowered
from statewalk.dsl.lowering.compiling import RUNTIME, Old, install, lambda_of, runtime_call
from statewalk.dsl.source.effects import Effects
from statewalk.dsl.source.known_effects import MAKING
from statewalk.dsl.source.nodes import Transformer, copied, walk
from statewalk.dsl.source.scopes import locals_of
from statewalk.dsl.source.tree import Function, SpecTree
from statewalk.dsl.words.declare import any_of

_COMPREHENSIONS = ast.GeneratorExp | ast.ListComp | ast.SetComp
_SIGNS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Mod: "%", ast.FloorDiv: "//",
    ast.BitOr: "|", ast.BitAnd: "&", ast.BitXor: "^",
}  # fmt: skip


class Lowering:
    """Recompiles the functions of one spec in place."""

    def __init__(self, tree: SpecTree, *, optimize: bool) -> None:
        self.tree = tree
        self.optimize = optimize
        self.effects = Effects(tree)
        hidden_calls = [f for f in tree.functions if f.name[:2] == "__" and f.name not in MAKING]
        self.operators_write = any(self.effects.of(f) == "effects" for f in hidden_calls)

    def run(self) -> None:
        """Recompile what needs it."""
        for module in self.tree.loading.modules:
            module.namespace[RUNTIME] = lowered
        for function in self.tree.functions:
            kinds = ast.For | ast.comprehension | ast.Call
            gains = any(isinstance(n, kinds) for n in walk(function.node))
            gains |= self.effects.of(function) != "pure"  # it looks at the state
            if not _recompilable(function) or not gains:
                continue
            node = copied(function.node)
            if self.optimize:
                node = Rewriter(self, function).visit(node)
            install(function, Old.of(function).visit(node))

    def may_write(self, function: Function, node: ast.expr) -> bool:
        """Return whether evaluating an expression may do more than look, or binds names."""
        if _binds(node) or self.operators_write:
            return True
        return self.effects.of_part(node, function) == "effects"

    def how_to_call(self, callees: list[Function]) -> str:
        """By which of `dsl.lowering.calls` a call is remembered that may reach some functions."""
        return "call_telling_apart" if any(map(self.effects.asks_identity, callees)) else "call"


def _binds(node: ast.expr) -> bool:
    """Return whether evaluating an expression binds names or gives way."""
    return any(isinstance(n, ast.NamedExpr | ast.Yield | ast.YieldFrom) for n in walk(node))


def _recompilable(function: Function) -> bool:
    """Return whether it is a plain function: no super(), generator or cache."""
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
        remembered = self._remembered(node)
        callees = self.lowering.effects.callees(node, self.function) if remembered else []
        how = self.lowering.how_to_call(callees)
        self.generic_visit(node)
        if not remembered:
            return node
        return ast.copy_location(runtime_call(how, [node.func, *node.args]), node)

    def _makes_options(self, node: ast.Call) -> bool:
        """Return whether a call is an `any_of` of what is made there, of nothing in the state."""
        name, namespace = getattr(node.func, "id", ""), self.function.module.namespace
        if name in self.locals or namespace.get(name) is not any_of or len(node.args) != 1:
            return False
        options = node.args[0]
        if not isinstance(options, ast.Call | ast.BinOp | _COMPREHENSIONS):
            return False
        pure = self.lowering.effects.of_part(options, self.function) == "pure"
        return pure and not _binds(options)

    def _remembered(self, node: ast.Call) -> bool:
        """Return whether a call is of a spec function that only reads, and gives something to
        remember.
        """
        if node.keywords or any(isinstance(a, ast.Starred | ast.Lambda) for a in node.args):
            return False
        if self.lowering.effects.of_call(node, self.function) != "reads":
            return False
        callee = self.callee(node.func)
        return callee is not None and self._rememberable(callee)

    def callee(self, func: ast.expr) -> Function | None:
        """Return the spec function that a call certainly means, or one of its equals by name."""
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
        head = ast.unparse(returns).strip("'\"").partition("[")[0]
        return head not in ("Iterator", "Iterable", "Generator", "Flow", "Callable", "object")
