"""Names whose effect is known, and which locals of a function hold something new."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from statewalk.dsl.source.nodes import walk
from statewalk.dsl.source.scopes import arguments, stored
from statewalk.dsl.values.frozen import SET_METHODS

# What a spec imports from `dsl`: what makes a step depend on more than the state, and what only
# computes.
CHOOSING = frozenset({"any_of", "maybe", "require", "interrupt", "crash"})
PURE_NAMES = frozenset(
    {"pairs", "replace", "symmetric_values", "Bag", "unreachable", "Record", "Message"}
)

DOING_BUILTINS = frozenset(
    [
        "print",
        "open",
        "input",
        "exec",
        "eval",
        "setattr",
        "delattr",
        "__import__",
        "breakpoint",
        "next",
        "iter",
        "globals",
        "vars",
    ]
)
PURE_LIBRARIES = frozenset(
    [
        "math",
        "itertools",
        "operator",
        "functools",
        "collections",
        "string",
        "re",
        "typing",
        "typing_extensions",
        "enum",
        "fractions",
        "statistics",
        "heapq",
        "bisect",
        "copy",
        "textwrap",
    ]
)

# Methods of containers, strings and numbers that only look.
LOOKING_METHODS = SET_METHODS | frozenset(
    [
        "get",
        "items",
        "keys",
        "values",
        "copy",
        "count",
        "index",
        "startswith",
        "endswith",
        "removeprefix",
        "removesuffix",
        "split",
        "rsplit",
        "partition",
        "rpartition",
        "join",
        "strip",
        "lstrip",
        "rstrip",
        "upper",
        "lower",
        "title",
        "capitalize",
        "replace",
        "format",
        "find",
        "rfind",
        "isdigit",
        "isalpha",
        "isalnum",
        "isupper",
        "islower",
        "zfill",
        "ljust",
        "rjust",
        "center",
        "bit_length",
        "bit_count",
        "as_integer_ratio",
        "encode",
        "splitlines",
        "fromkeys",
    ]
)

_DISPLAYS = (
    ast.List, ast.Set, ast.Dict, ast.Tuple, ast.ListComp, ast.SetComp, ast.DictComp, ast.Constant,
    ast.JoinedStr,
)  # fmt: skip


def own_nodes(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """The nodes of a body; decorators, defaults and annotations of the function are left out."""
    for statement in function.body:
        yield from walk(statement)


def nested_functions(function: ast.FunctionDef) -> set[str]:
    """Names of functions defined within, or of lambdas bound to a local."""
    names = {n.name for n in own_nodes(function) if isinstance(n, ast.FunctionDef)}
    for node in own_nodes(function):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
            names |= {t.id for t in node.targets if isinstance(t, ast.Name)}
    return names - _rebound(function, names)


def _rebound(function: ast.FunctionDef, names: set[str]) -> set[str]:
    """Those of the names that are bound to something else as well."""
    found: set[str] = set()
    for node in own_nodes(function):
        if isinstance(node, ast.Assign) and not isinstance(node.value, ast.Lambda):
            found |= {n.id for t in node.targets for n in walk(t) if isinstance(n, ast.Name)}
        elif isinstance(node, ast.For | ast.comprehension | ast.AnnAssign | ast.NamedExpr):
            found |= {n.id for n in walk(node.target) if isinstance(n, ast.Name)}
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            found |= {n.id for n in walk(node.optional_vars) if isinstance(n, ast.Name)}
    found |= arguments(function.args)
    return names & found


def fresh_locals(function: ast.FunctionDef, constructs: Callable[[ast.Call], bool]) -> set[str]:
    """Locals that only ever hold a value made in this function: changing one changes no state."""
    fresh: set[str] = set()
    spoilt = arguments(function)
    for node in own_nodes(function):
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            value = node.value
            made = value is None or _makes(value, constructs)
            for target in targets:
                if isinstance(target, ast.Name) and made:
                    fresh.add(target.id)
                else:
                    spoilt |= stored(target)
        elif isinstance(node, ast.For | ast.comprehension):
            spoilt |= stored(node.target)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            spoilt |= stored(node.optional_vars)
        elif isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
            spoilt.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            spoilt.add(node.rest)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            spoilt |= set(node.names)
    return fresh - spoilt


def _makes(value: ast.expr, constructs: Callable[[ast.Call], bool]) -> bool:
    if isinstance(value, ast.IfExp):
        return _makes(value.body, constructs) and _makes(value.orelse, constructs)
    return isinstance(value, _DISPLAYS) or (isinstance(value, ast.Call) and constructs(value))
