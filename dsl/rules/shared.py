"""What steps change or remember outside the state: lists and records of a module, caches."""

from __future__ import annotations

import ast
from typing import Any

from statewalk.dsl.errors import Mistakes
from statewalk.dsl.rules.detached import changed_in
from statewalk.dsl.rules.names import field_instead
from statewalk.dsl.rules.rule import shortened
from statewalk.dsl.source.effects import Effects
from statewalk.dsl.source.nodes import walk
from statewalk.dsl.source.scopes import around
from statewalk.dsl.source.tree import Function, SpecTree
from statewalk.dsl.state.roles import Role
from statewalk.dsl.values.records import Bag, Record

_DEPTH = 3  # of containers in containers that are looked through for roles


def check_shared(tree: SpecTree, effects: Effects, mistakes: Mistakes) -> None:
    """SW102 and SW104, in all that steps and properties run; what ``@init`` does happens once."""
    reached: dict[int, Function] = {}
    for function in tree.functions:
        if function.function in tree.led or any(m.kind != "init" for m in function.marks):
            reached |= {id(f): f for f in effects.reached_from(function)}
    for function in tree.functions:
        if id(function) in reached and function.module.source.dialect != "fizz":
            _look_at(function, mistakes)
            if hasattr(function.function, "cache_info") and effects.of(function) != "pure":
                mistakes.add(
                    "SW104",
                    f"'{function.name}' looks at the state, and functools.cache remembers what it "
                    "gave in another one.",
                    at=function.span(),
                    help="Leave the cache out: what only reads is remembered by the checker.",
                )


def _look_at(function: Function, mistakes: Mistakes) -> None:
    names = around(function.node, function.module.namespace)
    for node in walk(function.node):
        changed = changed_in(node)
        root: Any = changed
        while isinstance(root, ast.Attribute | ast.Subscript):
            root = root.value
        if not isinstance(root, ast.Name) or root.id not in names:
            continue
        value = names[root.id]
        if isinstance(value, list | dict | set | Bag | Record) and (
            root is changed or not _holds_roles(value)
        ):
            mistakes.add(
                "SW102",
                f"{_shown(node)} changes '{root.id}', a variable of the module, which is no part "
                "of the state.",
                at=function.span(node),
                why="The checker goes back and forth between states; such a variable would not.",
                help=f"{field_instead(root.id, value)}\n"
                "What a pure function gave can be remembered with functools.cache.",
            )


def _shown(node: ast.AST) -> str:
    return shortened(node) + (" = ..." if isinstance(getattr(node, "ctx", None), ast.Store) else "")


def _holds_roles(value: Any, depth: int = 0) -> bool:
    """Whether there are roles in a container, whose fields are the state."""
    if isinstance(value, Role):
        return True
    if depth == _DEPTH:
        return True
    if isinstance(value, dict):
        return any(_holds_roles(v, depth + 1) for v in value.values())
    if isinstance(value, list | tuple | set | frozenset):
        return any(_holds_roles(v, depth + 1) for v in value)
    return isinstance(value, Record)
