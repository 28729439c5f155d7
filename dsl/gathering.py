"""Which comprehensions may become projections, and how they are rewritten.

A comprehension over a container of the state is a projection when its parts look at no state themselves:
attributes of the loop variable are free when elements are records; attributes of captured names are read
once, outside. This is decided in the text, never by looking at the elements: a projection is also asked
for values that were not there when it was learned, and an empty set would hide what its elements do.
"""

from __future__ import annotations

import ast
import copy
from typing import TYPE_CHECKING, Any

from dsl.roles import Role

if TYPE_CHECKING:
    from dsl.lower import Rewriter

AGGREGATES = frozenset("any all sum sorted set list tuple len max min frozenset any_of".split())
Comprehension = ast.GeneratorExp | ast.ListComp | ast.SetComp


class Gathering:
    """Rewrites the comprehensions of one function."""

    def __init__(self, rewriter: Rewriter) -> None:
        self.rewriter = rewriter
        self.namespace = rewriter.function.module.namespace
        self.state_names = rewriter.lowering.state_names

    def aggregate(self, node: ast.Call) -> ast.AST | None:
        """``any(... for ...)`` and its like; None where it is not one."""
        name = getattr(node.func, "id", "")
        if name not in AGGREGATES or name in self.rewriter.locals or len(node.args) != 1 or node.keywords:
            return None
        inner = node.args[0]
        if not isinstance(inner, ast.GeneratorExp | ast.ListComp | ast.SetComp):
            return None
        if name == "len" and not isinstance(inner, ast.ListComp):
            return None
        if isinstance(inner, ast.SetComp) and name not in ("any", "all", "set", "frozenset"):
            return None
        if len(inner.generators) > 1 and name in ("any", "all"):
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
        if len(node.generators) > 1 or generator.is_async or not isinstance(generator.target, ast.Name):
            return None
        if any(isinstance(n, ast.NamedExpr | ast.Yield | ast.Await) for n in ast.walk(node)):
            return None
        variable = generator.target.id
        hoisting = _Hoist(self, variable)
        parts = [copy.deepcopy(p) for p in (node.elt, *generator.ifs)]
        parts = [hoisting.visit(p) for p in parts]
        free = self._free(parts, variable)
        if free is None:
            return None
        from dsl.lower import lambda_of, runtime_call

        names, values = hoisting.captures(parts)
        element: ast.expr = ast.Constant(None)
        if not (isinstance(parts[0], ast.Name) and parts[0].id == variable):
            element = lambda_of([variable, *names], parts[0])
        condition: ast.expr = ast.Constant(None)
        if len(parts) > 1:
            test = parts[1] if len(parts) == 2 else ast.BoolOp(ast.And(), parts[1:])
            condition = lambda_of([variable, *names], test)
        site = ast.Constant(f"{self.rewriter.function.qualified}:{at.lineno}:{at.col_offset}")
        source = self.rewriter.visit(copy.deepcopy(generator.iter))
        plain = self._plain(name, node)
        captures = lambda_of([], ast.Tuple(values, ast.Load()))
        arguments = [ast.Constant(name), site, source, plain, element, condition, captures, ast.Constant(free)]
        return ast.copy_location(runtime_call("gather", arguments), at)

    def _plain(self, name: str, node: Comprehension) -> ast.Lambda:
        """The source itself, as a function of the container."""
        from dsl.lower import lambda_of, runtime_call

        body = copy.deepcopy(node)
        body.elt = self.rewriter.visit(body.elt)
        body.generators[0].ifs = [self.rewriter.visit(i) for i in body.generators[0].ifs]
        in_order = name in ("list", "tuple", "any_of", "max", "min")
        over: ast.expr = ast.Name("_it", ast.Load())
        body.generators[0].iter = runtime_call("in_order", [over]) if in_order else over
        generator: ast.expr = body
        if not isinstance(body, ast.ListComp) or name != "list":
            if not isinstance(body, ast.SetComp) or name != "set":
                inner = ast.GeneratorExp(body.elt, body.generators) if name in ("any", "all", "any_of") else body
                generator = ast.Call(ast.Name(name, ast.Load()), [inner], [])
        return lambda_of(["_it"], generator)

    def _free(self, parts: list[ast.expr], variable: str) -> str | None:
        """ "always" or "records" (see `dsl.lowered.gather`); None where state is looked at."""
        result = "always"
        inner = {
            m.id
            for part in parts
            for n in ast.walk(part)
            if isinstance(n, ast.comprehension)
            for m in ast.walk(n.target)
            if isinstance(m, ast.Name)
        }
        for part in parts:
            for node in ast.walk(part):
                if isinstance(node, ast.Attribute) and node.attr in self.state_names:
                    base = node.value
                    if not (isinstance(base, ast.Name) and base.id == variable and variable not in inner):
                        return None
                    result = "records"
                elif isinstance(node, ast.Call) and not self._harmless(node):
                    return None
                elif isinstance(node, ast.Name) and self._is_stateful(node.id, variable, inner):
                    return None
        return result

    def _harmless(self, node: ast.Call) -> bool:
        function = self.rewriter.function
        return self.rewriter.lowering.effects.of_call(node, function) == "pure"

    def _is_stateful(self, name: str, variable: str, inner: set[str]) -> bool:
        """Whether a bare name is a function that looks at the state."""
        if name == variable or name in inner or name in self.rewriter.locals:
            return False
        effects = self.rewriter.lowering.effects
        function = effects.function_of(self.namespace.get(name))
        return function is not None and effects.of(function) != "pure"


class _Hoist(ast.NodeTransformer):
    """Takes ``self.epoch`` and captured names out of the parts of a comprehension."""

    def __init__(self, gathering: Gathering, variable: str) -> None:
        self.gathering = gathering
        self.variable = variable
        self.hoisted: dict[str, ast.expr] = {}

    def _root(self, node: ast.expr) -> str | None:
        while isinstance(node, ast.Attribute):
            node = node.value
        return node.id if isinstance(node, ast.Name) else None

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        root = self._root(node)
        if root is None or root == self.variable or not isinstance(node.ctx, ast.Load):
            return self.generic_visit(node)
        is_local = root in self.gathering.rewriter.locals and root not in self._inner
        is_instance = isinstance(self.gathering.namespace.get(root), Role) and root not in self.gathering.rewriter.locals
        if not (is_local or is_instance) or node.attr in self._methods:
            return self.generic_visit(node)
        name = "_h_" + ast.unparse(node).replace(".", "_")
        self.hoisted[name] = node
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Attribute):  # a method is not hoisted, its receiver may be
            node.func.value = self.visit(node.func.value)
        node.args = [self.visit(a) for a in node.args]
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
        return node

    _methods: frozenset[str] = frozenset()
    _inner: frozenset[str] = frozenset()

    def captures(self, parts: list[ast.expr]) -> tuple[list[str], list[ast.expr]]:
        """Names that the parts need from outside, and what to evaluate for them."""
        bound = {
            m.id
            for part in parts
            for n in ast.walk(part)
            if isinstance(n, ast.comprehension)
            for m in ast.walk(n.target)
            if isinstance(m, ast.Name)
        } | {self.variable} | {a.arg for part in parts for a in ast.walk(part) if isinstance(a, ast.arg)}
        used = {n.id for part in parts for n in ast.walk(part) if isinstance(n, ast.Name)}
        plain = sorted((used & self.gathering.rewriter.locals) - bound - set(self.hoisted))
        names = [*plain, *sorted(self.hoisted)]
        values: list[Any] = [ast.Name(n, ast.Load()) for n in plain]
        values += [copy.deepcopy(self.hoisted[n]) for n in sorted(self.hoisted)]
        return names, values
