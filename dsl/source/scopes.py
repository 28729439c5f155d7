"""Which names a function, and what is inside it, binds."""

from __future__ import annotations

import ast

from statewalk.dsl.source.nodes import walk


def arguments(*nodes: ast.AST) -> set[str]:
    """Names of arguments, those of lambdas inside included."""
    return {a.arg for node in nodes for a in walk(node) if isinstance(a, ast.arg)}


def stored(*nodes: ast.AST) -> set[str]:
    """Names that are bound or deleted, whatever the scope."""
    return {
        n.id
        for node in nodes
        for n in walk(node)
        if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)
    }


def locals_of(function: ast.AST) -> set[str]:
    """Names that are local somewhere in a function."""
    return stored(function) | arguments(function)


def bound(*nodes: ast.AST) -> frozenset[str]:
    """Names that nodes bind in their own function: not those of comprehensions and lambdas."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.comprehension):
            found |= bound(node.iter, *node.ifs)
        elif not isinstance(node, ast.Lambda):
            found |= bound(*ast.iter_child_nodes(node))
    return frozenset(found)
