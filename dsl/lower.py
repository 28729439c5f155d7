"""Lowering: recompile the functions of a spec so that a View sees how little they look at.

What a rewriting may do is fixed: it never changes a result (``optimize=False`` leaves it out, and both
must agree). Only ``old(e)`` is rewritten always, into ``old(lambda: e)``, because it has to be evaluated in another
state.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping
from typing import Any

from dsl.model import Element
from dsl.roles import Field
from dsl.tree import Function, SpecTree


class Lowering:
    """Recompiles the functions of one spec in place."""

    def __init__(
        self, tree: SpecTree, fields: Mapping[tuple[str, str], Field], classes: Mapping[str, type], *, optimize: bool
    ) -> None:
        self.tree = tree
        self.fields = fields
        self.classes = classes
        self.optimize = optimize

    def run(self) -> None:
        """Recompile what needs it."""
        for function in self.tree.functions:
            if any(isinstance(n, ast.Name) and n.id == "old" for n in ast.walk(function.node)):
                node = _Old().visit(copy.deepcopy(function.node))
                install(function, node)

    def split(self, function: Function) -> tuple[Element, ...]:
        """The conjuncts of an invariant; empty where it stays whole."""
        return ()


class _Old(ast.NodeTransformer):
    """``old(e)`` → ``old(lambda: e)``"""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "old" and len(node.args) == 1:
            empty = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
            node.args = [ast.copy_location(ast.Lambda(empty, node.args[0]), node.args[0])]
        return node


def install(function: Function, node: ast.FunctionDef) -> None:
    """Compile a rewritten function and give its code to the function object everyone holds."""
    node.decorator_list = []
    module = ast.Module([node], [])
    ast.fix_missing_locations(module)
    namespace: dict[str, Any] = {}
    code = compile(module, function.module.source.path, "exec", dont_inherit=True)
    exec(code, function.module.namespace, namespace)
    function.function.__code__ = namespace[node.name].__code__
