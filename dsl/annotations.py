"""Annotations of classes and functions. Only this module reads them: Python 3.14 makes them lazily.

Up to Python 3.13 a class body leaves a dict of annotations. From 3.14 on it leaves a function that
makes the dict when it is first asked for, so an annotation may use names that are defined later.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

from statewalk.dsl.errors import Span

if sys.version_info >= (3, 14):
    from annotationlib import Format, get_annotations

    def annotations_of(cls: type) -> dict[str, Any]:
        """Return the annotations in the body of a class; bases are left out.

        A part whose names are not defined yet is a ``ForwardRef``.
        """
        return get_annotations(cls, format=Format.FORWARDREF)

else:
    from inspect import get_annotations

    def annotations_of(cls: type) -> dict[str, Any]:
        """Return the annotations in the body of a class; bases are left out."""
        return get_annotations(cls)


def unevaluated(function: Callable[..., Any]) -> Any:
    """Return a function's annotations as a dict, or as the function that makes the dict."""
    return getattr(function, "__annotate__", None) or function.__annotations__


def copy_annotations(source: Callable[..., Any], target: Callable[..., Any]) -> None:
    """Give a function the annotations of another, without evaluating them."""
    found = unevaluated(source)
    setattr(target, "__annotations__" if isinstance(found, dict) else "__annotate__", found)


# -- in the text of a spec -------------------------------------------------------------------------
_BAD_OPERAND = re.compile(r"unsupported operand type\(s\) for \|: .*'str'")


def why_quoted(error: Exception, tree: ast.Module, at: Span | None) -> tuple[str, str] | None:
    """Return why an annotation needs quotes, and what to write, where an error is about that."""
    hint = next((h for h in _annotations(tree) if at is not None and _is_in(at, h)), None)
    if hint is None:
        return None
    if isinstance(error, NameError):
        name = error.name
        if all(n.name != name for n in ast.walk(tree) if isinstance(n, ast.ClassDef)):
            return None
        why = f"Before Python 3.14 an annotation cannot use {name} before its class is complete."
    elif isinstance(error, TypeError) and _BAD_OPERAND.match(str(error)):
        why = "Quotes around a part of a type make it a string, which has no `|`."
    else:
        return None
    whole = ast.unparse(_Unquoted().visit(ast.parse(ast.unparse(hint))))
    return why, f'Write the whole type in quotes: "{whole}".'


class _Unquoted(ast.NodeTransformer):
    """Removes the quotes of names."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        value = node.value
        is_name = isinstance(value, str) and value.isidentifier()
        return ast.Name(str(value), ast.Load()) if is_name else node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Leave the strings of a ``Literal``."""
        is_literal = ast.unparse(node.value).endswith("Literal")
        return node if is_literal else self.generic_visit(node)


def _annotations(tree: ast.Module) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        match node:
            case ast.AnnAssign(annotation=hint) | ast.arg(annotation=ast.expr() as hint):
                yield hint
            case ast.FunctionDef(returns=ast.expr() as hint):
                yield hint


def _is_in(at: Span, node: ast.expr) -> bool:
    end = (node.end_lineno or 0, node.end_col_offset or 0)
    return (node.lineno, node.col_offset) <= (at.line, at.column - 1) < end
