"""Locals of a .fizz file that are read before they can have a value."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from statewalk.dsl.fizz.names import Names, loop_names, parameters, stored_names, targets_of
from statewalk.dsl.fizz.text import tree
from statewalk.dsl.source.nodes import parts_of, walk


def early_reads(names: Names) -> Iterator[tuple[str, ast.Name]]:
    """(name, where it is read) for locals of actions and functions whose first assignment stands
    below. Nothing is said where loops or blocks in any order may run the assignment first.
    """
    for function in walk(names.module):
        if isinstance(function, tree.Act | tree.Func | tree.Assertion | ast.FunctionDef):
            yield from _of(function, names)


def _of(function: ast.AST, names: Names) -> Iterator[tuple[str, ast.Name]]:
    body: list[ast.stmt] = function.body  # type: ignore[attr-defined]
    arguments = getattr(function, "args", None)
    is_init = isinstance(function, tree.Act) and function.name == "Init"
    local = set(stored_names(body)) - loop_names(body) - set(names.constants) - set(names.members)
    local -= set(parameters(arguments)) if arguments is not None else set()
    if not is_init and not isinstance(function, ast.FunctionDef):
        local -= set(names.state)
    if getattr(function, "flow", None) == "parallel":
        return
    reads: dict[str, ast.Name] = {}
    known: set[str] = set()
    for statement in body:
        _in_order(statement, local, known, reads)
    yield from reads.items()


def _in_order(node: ast.AST, local: set[str], known: set[str], reads: dict[str, ast.Name]) -> None:
    """Note what is read before anything above assigns it; afterwards the names are known."""
    if isinstance(node, ast.For | ast.While | ast.Lambda | ast.FunctionDef) or (
        isinstance(node, tree.FlowBlock) and node.flow == "parallel"
    ):
        known |= set(stored_names([node]))
        return
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        _read(node.target, local, known, reads)
    bound = (
        [t.id for t in targets_of(node) if isinstance(t, ast.Name)]
        if isinstance(node, ast.stmt)
        else []
    )
    if isinstance(node, tree.ChoiceBlock | tree.Choice):  # its condition asks about the target
        _expression(node.options, local, known, reads)
        known |= set(bound)
    for child in parts_of(node):
        if isinstance(child, ast.expr):
            _expression(child, local, known, reads)
    known |= set(bound)
    for child in parts_of(node):
        if isinstance(child, ast.stmt):
            _in_order(child, local, known, reads)


def _expression(
    node: ast.AST, local: set[str], known: set[str], reads: dict[str, ast.Name]
) -> None:
    if isinstance(node, ast.Lambda):
        return
    inner = {
        n.id
        for g in getattr(node, "generators", ())
        for n in walk(g.target)
        if isinstance(n, ast.Name)
    }
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        _read(node, local, known, reads)
    for child in parts_of(node):
        _expression(child, local - inner, known, reads)


def _read(node: ast.Name, local: set[str], known: set[str], reads: dict[str, ast.Name]) -> None:
    if node.id in local - known:
        reads.setdefault(node.id, node)
