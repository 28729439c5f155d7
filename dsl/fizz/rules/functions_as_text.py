"""Functions of a .fizz file that are made text of, which says where in memory they are."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from statewalk.dsl.fizz.names import Names
from statewalk.dsl.fizz.text import tree
from statewalk.dsl.source.nodes import made_text, walk


def functions_as_text(names: Names) -> Iterator[ast.Name]:
    """Where a name that only stands for a function is made text of."""
    nodes = list(walk(names.module))
    given = Counter(word for node in nodes for word in _given(node))
    lambdas = {
        name
        for name, node in names.constants.items()
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda)
    }
    own = {n for n, member in names.members.items() if isinstance(member, _FUNCTIONS)}
    known = {n for n in own if not given[n]} | {n for n in lambdas if given[n] == 1}
    for node in nodes:
        for part in made_text(node):
            if isinstance(part, ast.Name) and part.id in known:
                yield part


_FUNCTIONS = ast.FunctionDef | tree.Func


def _given(node: ast.AST) -> tuple[str, ...]:
    """The name to which a node gives a value."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        return (node.id,)
    return (node.arg,) if isinstance(node, ast.arg) else ()
