"""Rewritten functions of a spec are compiled here, in the namespace of their module."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from statewalk.dsl.source.nodes import WITH_ASSERTIONS, Transformer, walk, with_places
from statewalk.dsl.source.scopes import around
from statewalk.dsl.source.set_order import with_ordered_sets
from statewalk.dsl.source.tree import Function, is_old

RUNTIME = "__sw__"
"""The name under which compiled code finds `dsl.lowering.calls`."""


def runtime_call(name: str, arguments: list[Any]) -> ast.Call:
    """Return a call of a function of `dsl.lowering.calls`."""
    return ast.Call(ast.Attribute(ast.Name(RUNTIME, ast.Load()), name, ast.Load()), arguments, [])


class Old(Transformer):
    """Rewrites ``old(e)`` as ``old(lambda: e)``, by any name that `old` has there."""

    def __init__(self, within: ast.AST, namespace: Mapping[str, Any]) -> None:
        self.namespace = around(within, namespace)

    @classmethod
    def of(cls, function: Function) -> Old:
        """Return the transformer for the text of a function."""
        return cls(function.node, function.module.namespace)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if is_old(node, self.namespace):
            node.args = [ast.copy_location(lambda_of([], node.args[0]), node.args[0])]
        return node


def lambda_of(names: Iterable[str], body: ast.expr) -> ast.Lambda:
    """``lambda names: body``"""
    return ast.Lambda(_arguments(names), body)


def definition_of(
    name: str, names: Iterable[str], body: list[ast.stmt], at: ast.AST
) -> ast.FunctionDef:
    """``def name(names): body``, placed somewhere."""
    made = ast.FunctionDef(name=name, args=_arguments(names), body=body, decorator_list=[])
    return with_places(ast.copy_location(made, at))


def _arguments(names: Iterable[str]) -> ast.arguments:
    return ast.arguments([], [ast.arg(n) for n in names], None, [], [], None, [])


def compile_function(function: Function, node: ast.FunctionDef) -> Any:
    """Compile a function definition in its module's namespace."""
    node = with_ordered_sets(node, function.module.source.imported)
    node.decorator_list = []
    node.args.defaults = [ast.copy_location(ast.Constant(None), d) for d in node.args.defaults]
    node.args.kw_defaults = [
        d and ast.copy_location(ast.Constant(None), d) for d in node.args.kw_defaults
    ]
    node.returns = None
    for argument in walk(node.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    module = ast.Module([node], [])
    with_places(module)
    namespace: dict[str, Any] = {}
    path = function.module.source.path
    code = compile(module, path, "exec", dont_inherit=True, optimize=WITH_ASSERTIONS)
    exec(code, function.module.namespace, namespace)
    return namespace[node.name]


def install(function: Function, node: ast.FunctionDef) -> None:
    """Compile a rewritten function and give its code to the function object everyone holds."""
    code = compile_function(function, node).__code__
    with warnings.catch_warnings():  # Python 3.13 warns where a generator becomes none
        warnings.simplefilter("ignore", DeprecationWarning)
        function.function.__code__ = code
