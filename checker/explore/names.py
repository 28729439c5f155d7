"""What can be told of an expression before it is evaluated: names that nobody knows, and functions
that are not called, which are true in every state.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from statewalk.dsl.annotations import annotations_of
from statewalk.dsl.state.roles import Role

if TYPE_CHECKING:
    from statewalk.dsl.model import Model


def mistake_in(node: ast.expr, names: Mapping[str, Any], model: Model) -> tuple[str, str] | None:
    """What is wrong with an expression in every state, and what to write; None where nothing is."""
    fine = {id(part) for call in ast.walk(node) for part in _called(call)}
    own = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    own |= {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}
    known = {**vars(builtins), **names}
    roles = [type(one) for instances in model.roles.values() for one in instances]
    methods = _methods_of({*roles, *(c for c in names.values() if isinstance(c, type))})
    given = {id(part) for call in ast.walk(node) for part in _given(call)}
    properties = {p.name for p in model.properties}
    for part in ast.walk(node):
        match part:
            case ast.Name(id=name) if name not in own and name not in known:
                near = get_close_matches(name, [*names, *dir(builtins)], 1, 0.7)
                own_ones = ", ".join(instances_in(names)) or "none"
                help = f"Did you mean {near[0]}?" if near else f"The spec has: {own_ones}."
                return f"there is no name {name!r}", help
            case ast.Name(id=name) if name in own or id(part) in fine:
                continue
            case ast.Name(id=name) if _is_function(known[name]):
                if id(part) not in given or name in properties:
                    return _uncalled(part)
            case ast.Attribute(attr=name) if name in methods:
                if id(part) not in fine | given:
                    return _uncalled(part)
    return None


def instances_in(names: Mapping[str, Any]) -> list[str]:
    """The names of a module's instances of roles, and of its lists of them."""
    return [
        name for name, thing in names.items()
        if isinstance(thing, Role) or _are_roles(thing)
    ]  # fmt: skip


def _are_roles(thing: Any) -> bool:
    return isinstance(thing, list | tuple) and len(thing) > 0 and isinstance(thing[0], Role)


def _uncalled(part: ast.expr) -> tuple[str, str]:
    text = ast.unparse(part)
    return f"{text} is a function, which is true whatever the state", f"Call it: {text}()."


def _called(node: ast.AST) -> list[ast.expr]:
    return [node.func] if isinstance(node, ast.Call) else []


def _given(node: ast.AST) -> list[ast.expr]:
    """What is handed to a function, which may well call it."""
    match node:
        case ast.Call(func=ast.Name(id="bool")):
            return []
        case ast.Call(args=args, keywords=keywords):
            return [*args, *(word.value for word in keywords)]
    return []


def _is_function(thing: Any) -> bool:
    return callable(thing) and not isinstance(thing, type) and not hasattr(thing, "_canonical")


def _methods_of(classes: Collection[type]) -> set[str]:
    """The methods of the spec's classes, but for names that some class has a field of."""
    found = {
        name: thing
        for one in classes
        for base in reversed(one.__mro__[:-1])
        for name, thing in vars(base).items()
    }
    fields = {name for one in classes for base in one.__mro__ for name in annotations_of(base)}
    return {
        name for name, thing in found.items()
        if _is_function(thing) and not name.startswith("__") and name not in fields
    }  # fmt: skip
