"""The names that a function and the scopes inside it bind."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from statewalk.dsl.source.nodes import once, parts_of, walk


def arguments(*nodes: ast.AST) -> set[str]:
    """Return names of arguments, those of lambdas inside included."""
    return {a.arg for node in nodes for a in walk(node) if isinstance(a, ast.arg)}


def names(*nodes: ast.AST) -> set[str]:
    """Return all names, whatever is done with them."""
    return {n.id for node in nodes for n in walk(node) if isinstance(n, ast.Name)}


def read(*nodes: ast.AST) -> frozenset[str]:
    """Return names that are read, whatever the scope."""
    found = (n for node in nodes for n in walk(node) if isinstance(n, ast.Name))
    return frozenset(n.id for n in found if isinstance(n.ctx, ast.Load))


def stored(*nodes: ast.AST) -> set[str]:
    """Return names that are bound or deleted, whatever the scope; not the name of a function
    itself.
    """
    return {
        name
        for node in nodes
        for part in walk(node)
        if part is not node or not isinstance(part, _DEFINITIONS)
        for name in binds(part)
    }


def binds(node: ast.AST) -> tuple[str, ...]:
    """Return the names that a node itself binds or deletes."""
    if type(node) not in _BINDING:
        return ()
    match node:
        case ast.Name(id=name):
            return () if isinstance(node.ctx, ast.Load) else (name,)
        case (
            ast.FunctionDef(name=name)
            | ast.AsyncFunctionDef(name=name)
            | ast.ClassDef(name=name)
            | ast.MatchAs(name=str(name))
            | ast.MatchStar(name=str(name))
            | ast.MatchMapping(rest=str(name))
            | ast.ExceptHandler(name=str(name))
        ):
            return (name,)
        case ast.alias(name=name, asname=other):
            return (other or name.partition(".")[0],)
    return ()


_DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_BINDING = frozenset(
    {ast.Name, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.MatchAs, ast.MatchStar}
    | {ast.MatchMapping, ast.ExceptHandler, ast.alias}
)


def bindings(nodes: Iterable[ast.AST]) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """(target, value) of what nodes bind; no value where it is not written beside the target."""
    for node in nodes:
        match node:
            case ast.Assign(targets=targets, value=value):
                yield from ((target, value) for target in targets)
            case (
                ast.AnnAssign(target=target, value=ast.expr() as value)
                | ast.NamedExpr(target=target, value=value)
            ):
                yield target, value
            case (
                ast.For(target=target)
                | ast.comprehension(target=target)
                | ast.withitem(optional_vars=ast.expr() as target)
            ):
                yield target, None
            case (
                ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
                | ast.MatchMapping(rest=str(name))
            ):
                yield ast.Name(name, ast.Store()), None


def locals_of(function: ast.AST) -> set[str]:
    """Return names that are local somewhere in a function."""
    return {*once(_locals, function)}


def _locals(function: ast.AST) -> set[str]:
    found: set[str] = set()
    for part in walk(function):
        if isinstance(part, ast.arg):
            found.add(part.arg)
        elif part is not function or not isinstance(part, _DEFINITIONS):
            found.update(binds(part))
    return found


def around(
    node: ast.AST, namespace: Mapping[str, Any], own: set[str] | None = None
) -> dict[str, Any]:
    """Return what a function's free names mean, from the module's namespace."""
    own = locals_of(node) if own is None else own
    return {name: value for name, value in namespace.items() if name not in own}


def bound(*nodes: ast.AST) -> frozenset[str]:
    """Return names that nodes bind in their own function: not those of comprehensions and
    lambdas.
    """
    found: set[str] = set()
    for node in nodes:
        found.update(binds(node))
        if isinstance(node, ast.comprehension):
            found |= bound(node.iter, *node.ifs)
        elif isinstance(node, ast.Lambda):
            found |= bound(*defaults(node))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found |= bound(*defaults(node), *node.decorator_list)
        elif isinstance(node, ast.ClassDef):
            found |= bound(*node.bases, *node.keywords, *node.decorator_list)
        else:
            found |= bound(*parts_of(node))
    return frozenset(found)


def free(*nodes: ast.AST) -> set[str]:
    """Return the names that nodes need from outside."""
    return set().union(*map(_free, nodes))


def _free(node: ast.AST) -> set[str]:
    own: set[str] = set()  # what the node binds for itself alone
    outside: Iterable[ast.expr] = ()  # its parts that see the names around it
    match node:
        case ast.Name(id=name):
            return set() if isinstance(node.ctx, ast.Store) else {name}
        case ast.Nonlocal(names=names):
            return set(names)
        case ast.AugAssign(target=ast.Name(id=name)) | ast.ExceptHandler(name=str(name)):
            return {name}.union(free(*parts_of(node)))
        case ast.Lambda() | ast.FunctionDef() | ast.AsyncFunctionDef():
            own = {a.arg for a in parts_of(node.args) if isinstance(a, ast.arg)}
            outside = defaults(node)
            if not isinstance(node, ast.Lambda):
                own = (own | bound(*node.body)) - nonlocals(node)
                outside = [*outside, *node.decorator_list]
        case ast.GeneratorExp() | ast.ListComp() | ast.SetComp() | ast.DictComp():
            own = {*bound(*(g.target for g in node.generators))}
            outside = [node.generators[0].iter]
    return (free(*parts_of(node)) - own) | free(*outside)


def nonlocals(*nodes: ast.AST) -> set[str]:
    """Return names of the function around that functions inside nodes bind."""
    parts = (part for node in nodes for part in walk(node))
    return {name for part in parts if isinstance(part, ast.Nonlocal) for name in part.names}


def defaults(node: ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.expr]:
    """Return what a function's arguments are where they are not given: evaluated outside of it."""
    return [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]
