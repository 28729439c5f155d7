"""Syntax trees from text with holes, for what a translation adds to a spec.

A name of the text that is also a keyword is a hole. What fills it keeps its own place in the
source; everything else, and what has no place yet, is placed where the template is.

>>> ast.unparse(statement("x = F(1)", ast.parse("y").body[0], F="f"))
'x = f(1)'
"""

from __future__ import annotations

import ast
from functools import cache
from typing import Any

IF = "if TEST:\n BODY\nelse:\n ORELSE"


def expression(text: str, at: ast.AST, **parts: Any) -> ast.expr:
    """An expression. A part is a node, the name to stand there, or another constant."""
    made: ast.expr = _filled(_parsed(text).value, at, parts)  # type: ignore[attr-defined]
    return made


def statement(text: str, at: ast.AST, **parts: Any) -> ast.stmt:
    """A statement; a part that is a list of statements stands on a line of its own."""
    made: ast.stmt = _filled(_parsed(text), at, parts)
    return made


@cache
def _parsed(text: str) -> ast.stmt:
    return ast.parse(text).body[0]


def _filled(node: Any, at: ast.AST, parts: dict[str, Any]) -> Any:
    """A copy of a template's node with its holes filled."""
    if isinstance(node, list):
        return [made for item in node for made in _line(item, at, parts)]
    if not isinstance(node, ast.AST):
        return node
    if isinstance(node, ast.Name) and node.id in parts:
        part = parts[node.id]
        if isinstance(part, str):
            made: ast.expr = ast.Name(part, node.ctx)
        else:
            made = part if isinstance(part, ast.expr) else ast.Constant(part)
        return made if hasattr(made, "lineno") else ast.copy_location(made, at)
    content = {name: _filled(value, at, parts) for name, value in ast.iter_fields(node)}
    return ast.copy_location(type(node)(**content), at)


def _line(item: Any, at: ast.AST, parts: dict[str, Any]) -> list[Any]:
    alone = isinstance(item, ast.Expr) and isinstance(item.value, ast.Name)
    part = parts.get(item.value.id) if alone else None
    return part if isinstance(part, list) else [_filled(item, at, parts)]
