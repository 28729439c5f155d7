"""Going through syntax trees, quickly: loading a spec does little else.

Source: `ast.walk` of Python's library, whose order it keeps.
"""

from __future__ import annotations

import ast
from functools import cache
from types import ModuleType
from typing import Any, TypeVar

# Fields that hold no nodes, or only what tells reading from writing, which is never asked for.
_LEAVES = frozenset({"id", "ctx", "attr", "arg", "kind", "type_comment", "conversion"})
_FIELDS: dict[type, tuple[str, ...]] = {
    ast.Constant: (),
    ast.Global: (),
    ast.Nonlocal: (),
    ast.alias: (),
}


def walk(root: ast.AST) -> list[ast.AST]:
    """A node and all nodes below it, those nearer first. `ast.Load` and its like are left out."""
    found = [root]
    for node in found:
        kind = type(node)
        fields = _FIELDS.get(kind)
        if fields is None:
            fields = _FIELDS[kind] = tuple(f for f in kind._fields if f not in _LEAVES)
        for field in fields:
            value = getattr(node, field, None)
            if type(value) is list:
                found += [item for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST):
                found.append(value)
    return found


_Node = TypeVar("_Node", bound=ast.AST)


def copied(node: _Node) -> _Node:
    """A copy of a syntax tree that shares no node with it that could be changed.

    Only what makes up a tree is copied: others may have written on its nodes, for instance which
    node is above (``executing``, which notebooks use, does), and on operators, which Python shares
    between all trees.
    """
    kind: Any = type(node)
    result: _Node = kind.__new__(kind)
    content = node.__dict__
    for name in _parts(kind):
        if name not in content:
            continue
        value = content[name]
        if type(value) is list:
            part: Any = [copied(item) if isinstance(item, ast.AST) else item for item in value]
        elif isinstance(value, ast.AST) and not isinstance(value, _SHARED):
            part = copied(value)
        else:
            part = value
        result.__dict__[name] = part
    return result


_SHARED = (ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop)


@cache
def _parts(kind: type[ast.AST]) -> tuple[str, ...]:
    """What a node holds: its fields, its place, what our own kinds of nodes declare besides, and
    the statement that a block was read from.
    """
    own = [
        name
        for base in kind.__mro__
        if base.__module__ not in ("ast", "_ast", "builtins")
        for name in base.__dict__.get("__annotations__", ())
    ]
    return tuple(dict.fromkeys([*kind._fields, *kind._attributes, *own, "source"]))


def yields(node: ast.AST) -> bool:
    """Whether there is a ``yield`` in a node."""
    return any(isinstance(n, ast.Yield | ast.YieldFrom) for n in walk(node))


def parents_of(root: ast.AST) -> dict[ast.AST, ast.AST]:
    """For every node below another one: the node that it is directly below."""
    return {child: node for node in walk(root) for child in ast.iter_child_nodes(node)}


def placed(lines: list[str], at: ast.AST) -> list[ast.stmt]:
    """Statements from text, all of them placed somewhere."""
    made = ast.parse("\n".join(lines)).body
    for statement in made:
        for part in ast.walk(statement):
            if hasattr(part, "lineno"):
                ast.copy_location(part, at)
    return made


def meaning(node: ast.expr, namespace: dict[str, Any]) -> Any:
    """What a name of the module, or a name in a module that it imports, stands for."""
    if isinstance(node, ast.Name):
        return namespace.get(node.id)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        module = namespace.get(node.value.id)
        return getattr(module, node.attr, None) if isinstance(module, ModuleType) else None
    return None
