"""SW116: functions that give way are called by their names; handed on they would run to the end."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from statewalk.dsl.blocks.read import flow_of
from statewalk.dsl.errors import Mistakes
from statewalk.dsl.source.nodes import parents_of, read_word, walk
from statewalk.dsl.source.tree import Function, SpecTree


def check_handed_on(spec: SpecTree, mistakes: Mistakes) -> None:
    """Every mention of a function with blocks that gives way is a call that was translated."""
    names = {f.name for f in spec.functions if not f.marks and (f.gives_way or _may_give_way(f))}
    fields = {name for cls in spec.roles for name in cls._fields}
    fields.update(name for cls in spec.records for name in cls._fields)
    for function in spec.functions:
        if function.name in names and function.name[:2] == "__":
            mistakes.add(
                "SW116",
                f"'{function.name}' gives way, and is called by Python.",
                at=function.span(),
                help="Give it a name of its own, and call that.",
            )
    for module in spec.loading.modules:
        if module.source.dialect == "fizz" or not names:
            continue
        read = [f for f in spec.functions if f.module is module]
        lines = {(f.node.lineno, f.node.end_lineno or f.node.lineno) for f in read}
        for name, node in _handed(spec.text_of(module), names - fields, lines):
            mistakes.add(
                "SW116",
                f"'{name}' gives way, and is not called by its name where it is known who calls.",
                at=module.source.span(node),
                why="Called so it would do all of it in one step.",
                help=f"Write self.{name}() or {name}() in an action or in a function that actions "
                "call by name.",
            )


def _may_give_way(function: Function) -> bool:
    return any(
        flow_of(node, function.module.namespace) in ("serial", "parallel")
        for node in walk(function.node)
        if isinstance(node, ast.With)
    )


def _handed(
    text: ast.Module, names: set[str], lines: set[tuple[int, int]]
) -> Iterator[tuple[str, ast.AST]]:
    parents = parents_of(text)
    for node in walk(text):
        word = read_word(node)
        if word is None or word not in names:
            continue
        parent = parents.get(node)
        called = isinstance(parent, ast.Call) and parent.func is node
        at: ast.AST | None = node
        while at is not None and not isinstance(at, ast.Lambda):
            at = parents.get(at)
        called = called and at is None
        line = getattr(node, "lineno", 0)
        if not called or not any(first <= line <= last for first, last in lines):
            yield word, node
