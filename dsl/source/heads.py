"""The heads of functions: defaults that say over which values a parameter ranges.

``i: int = any_of(range(3))``: what is in the brackets is looked up once, when the spec has been
read, and not when Python meets the function. It may be empty, and use names declared further below.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from statewalk.dsl.source.nodes import walk

_NAMES = ("any_of", "maybe")


def is_range(node: ast.expr | None) -> bool:
    """Whether a default says over what its parameter ranges."""
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") in _NAMES


def defaults(arguments: ast.arguments) -> Iterator[tuple[ast.arg, ast.expr]]:
    """The parameters that have a default, with it."""
    positional = [*arguments.posonlyargs, *arguments.args]
    yield from zip(positional[::-1], arguments.defaults[::-1], strict=False)
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if default is not None:
            yield argument, default


def without_ranges(tree: ast.Module) -> ast.Module:
    """A module as Python is to run it: nothing is chosen where a function is defined. It is
    changed.
    """
    for node in walk(tree):
        if isinstance(node, ast.FunctionDef):
            found = node.args
            found.defaults = [_nothing(d) if is_range(d) else d for d in found.defaults]
            found.kw_defaults = [_nothing(d) if d and is_range(d) else d for d in found.kw_defaults]
    return tree


def _nothing(node: ast.expr) -> ast.expr:
    return ast.copy_location(ast.Constant(None), node)
