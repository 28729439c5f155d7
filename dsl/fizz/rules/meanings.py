"""SW153: a name that would be shared state in one place of a body and a local in another.

Fizzbee decides while it runs: the variable of a loop is a local from its first turn on, and what
is assigned before the shared state is there is one, too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from statewalk.dsl.errors import Mistakes, Span
from statewalk.dsl.fizz.names import Names, loop_names, parameters, targets_of
from statewalk.dsl.fizz.text import tree
from statewalk.dsl.source.nodes import parts_of, walk

_RANGING = (ast.For, tree.ChoiceBlock)


def check_meanings(names: Names, file: str, mistakes: Mistakes) -> None:
    """Every name of a body means one thing in it."""
    for node in walk(names.module):
        if isinstance(node, tree.Act | tree.Func | tree.Assertion):
            for word, at in _outside_of_loops(node, names):
                mistakes.add(
                    "SW153",
                    f"'{word}' is shared state, and the variable of a loop or a choice here.",
                    at=Span.of(at, file),
                    why="Whether it means the one or the other would depend on what has run.",
                    help="Give the variable another name.",
                )
            if id(node) in names.both_ways:
                for word, at in _assigned(node, names):
                    mistakes.add(
                        "SW153",
                        f"'{word}' would be shared state in a step, and a local in Init.",
                        at=Span.of(at, file),
                        why="While Init runs there is no shared state yet. This runs in both.",
                        help="Give the local another name, or write a function for each.",
                    )


def _outside_of_loops(node: ast.AST, names: Names) -> Iterator[tuple[str, ast.AST]]:
    """The first use of each state variable outside of the loops whose variable has its name."""
    body: list[ast.stmt] = node.body  # type: ignore[attr-defined]
    if node is names.init or id(node) in names.from_init_only:
        return
    arguments = getattr(node, "args", None)
    shared = loop_names(body) & set(names.state)
    shared -= set(parameters(arguments)) if arguments is not None else set()
    for word in sorted(shared):
        found = next((n for statement in body for n in _uses(statement, word)), None)
        if found is not None:
            yield word, found


def _uses(node: ast.AST, word: str) -> Iterator[ast.AST]:
    """Where a name stands outside of the loops and comprehensions that bind it."""
    if isinstance(node, ast.Name) and node.id == word:
        yield node
    left_out: list[object] = []
    if isinstance(node, _RANGING) and any(_is(t, word) for t in targets_of(node)):
        left_out = [node.target, *node.body, getattr(node, "condition", None)]
    elif any(_is(n, word) for g in getattr(node, "generators", ()) for n in walk(g.target)):
        yield from _uses(node.generators[0].iter, word)  # type: ignore[attr-defined]
        return
    if isinstance(node, ast.Lambda) and word in parameters(node.args):
        return
    for child in parts_of(node):
        if child not in left_out:
            yield from _uses(child, word)


def _is(node: ast.AST, word: str) -> bool:
    return isinstance(node, ast.Name) and node.id == word


def _assigned(node: ast.AST, names: Names) -> Iterator[tuple[str, ast.AST]]:
    """State variables that a body assigns to, as names."""
    for part in walk(node):
        if isinstance(part, ast.stmt) and not isinstance(part, _RANGING):
            for target in targets_of(part):
                if isinstance(target, ast.Name) and target.id in names.state:
                    yield target.id, target
