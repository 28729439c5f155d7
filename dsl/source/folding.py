"""Folding: with the constants known, branches that cannot be taken are dropped before any analysis.

Otherwise a switched-off branch would make a field "written", and its slot would be read for
nothing. What is asked for in no other branch has no effect in a run, be it a constant.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from statewalk.dsl.source.nodes import (
    WITH_ASSERTIONS,
    Transformer,
    copied,
    parts_of,
    walk,
)
from statewalk.dsl.source.scopes import around
from statewalk.dsl.source.tree import Function, SpecTree
from statewalk.dsl.values.ordered_sets import OrderedFrozenSet

_SCALARS = (bool, int, str, type(None))
_NOT_ASKING = ast.Import | ast.ImportFrom | ast.Assert | ast.FunctionDef
_FOLDABLE = (
    ast.Name, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.Tuple, ast.List,
    ast.Set, ast.IfExp, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context,
)  # fmt: skip


def fold_constants(tree: SpecTree) -> None:
    """Drop the branches of functions that the constants exclude."""
    for function in tree.functions:
        function.gives_way = function.gives_way or function.is_flow
        function.node = _Fold(function).visit(copied(function.node))


class _Fold(Transformer):
    """Folds tests; expressions elsewhere are left as they are written."""

    def __init__(self, function: Function) -> None:
        self.names = around(function.node, function.module.namespace)

    def known(self, node: ast.expr) -> tuple[Any] | None:
        return known(node, self.names)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        self.generic_visit(node)
        neutral = isinstance(node.op, ast.And)
        kept: list[ast.expr] = []
        for at, value in enumerate(node.values):
            found = self.known(value)
            if found is None or (bool(found[0]) is neutral and at == len(node.values) - 1):
                kept.append(value)
            elif bool(found[0]) is not neutral:
                kept.append(value)
                break
        if len(kept) == 1:
            return kept[0]
        node.values = kept
        return node

    def visit_If(self, node: ast.If) -> Any:
        self.generic_visit(node)
        found = self.known(node.test)
        if found is None:
            return node
        kept = node.body if found[0] else node.orelse
        return kept or ast.copy_location(ast.Pass(), node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        self.generic_visit(node)
        found = self.known(node.test)
        if found is None:
            return node
        return node.body if found[0] else node.orelse


def known(node: ast.expr, meanings: Mapping[str, Any]) -> tuple[Any] | None:
    """Return the value of an expression over constants, boxed; None where it is not one."""
    names: dict[str, Any] = {}
    for part in walk(node):
        if not isinstance(part, _FOLDABLE):
            return None
        if isinstance(part, ast.Name):
            if part.id not in meanings:
                return None
            value = meanings[part.id]
            if type(value) not in _SCALARS and not _is_scalar_tuple(value):
                return None
            names[part.id] = value
    try:
        code = compile(ast.Expression(node), "<constants>", "eval", optimize=WITH_ASSERTIONS)
        return (eval(code, {"__builtins__": {}}, names),)
    except Exception:
        return None


def _is_scalar_tuple(value: Any) -> bool:
    return type(value) in (tuple, frozenset, OrderedFrozenSet) and all(
        type(v) in _SCALARS for v in value
    )


class NamesUsed:
    """The names that what can happen asks for, in the branches that the constants leave.

    It begins with what is declared (actions, properties, what modules and classes run) and goes on
    with the functions and module-level names that this mentions, whosever they are.
    """

    def __init__(self, tree: SpecTree) -> None:
        self.names: set[str] = set()
        self.classes = tree.classes
        self.acting = {f.owner for f in tree.functions if f.marks}
        self.values: dict[str, list[tuple[ast.AST, Mapping[str, Any]]]] = {}
        functions: dict[str, list[Function]] = {}
        led = [getattr(f, "__name__", "") for f in tree.led]
        for function in tree.functions:
            functions.setdefault(function.name, []).append(function)
            if function.marks or function.name in led or function.name.startswith("__"):
                self.names.add(function.name)
        for module in tree.loading.modules:
            for statement in tree.text_of(module).body:
                self._statement(statement, module.namespace)
        seen: set[str] = set()
        while left := self.names - seen:
            seen |= left
            for name in left:
                for function in functions.pop(name, ()):
                    self._visit(function.node, around(function.node, function.module.namespace))
                for value, namespace in self.values.pop(name, ()):
                    self._visit(value, namespace)

    def _statement(
        self, node: ast.stmt, namespace: Mapping[str, Any], *, in_class: bool = False
    ) -> None:
        """A statement of a module or class: what a module names counts where that is asked for."""
        if isinstance(node, _NOT_ASKING):
            return
        if isinstance(node, ast.ClassDef | ast.If):
            inside = in_class or isinstance(node, ast.ClassDef)
            parts = self._taken(node, namespace) if isinstance(node, ast.If) else parts_of(node)
            for part in parts:
                if isinstance(part, ast.stmt):
                    self._statement(part, namespace, in_class=inside)
                else:
                    self._visit(part, namespace)
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value and not in_class:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name) and self._only_says(node.value):
                    self.values.setdefault(target.id, []).append((node.value, namespace))
                else:
                    self._visit(node, namespace)
        else:
            self._visit(node, namespace)

    def _only_says(self, value: ast.expr) -> bool:
        """Return whether an expression makes nothing that acts by itself."""
        calls = [n for n in walk(value) if isinstance(n, ast.Call)]
        made = [self.classes.get(getattr(call.func, "id", "")) for call in calls]
        return all(cls is not None and not {*cls.__mro__} & self.acting for cls in made)

    def _visit(self, node: ast.AST, namespace: Mapping[str, Any]) -> None:
        if isinstance(node, ast.If | ast.IfExp):
            parts = self._taken(node, namespace)
        elif isinstance(node, ast.BoolOp):
            parts = self._needed(node, namespace)
        else:
            if isinstance(node, ast.Name):
                self.names.add(node.id)
            elif isinstance(node, ast.Attribute):
                self.names.add(node.attr)
            parts = [*parts_of(node)]
        for part in parts:
            self._visit(part, namespace)

    def _taken(self, node: ast.If | ast.IfExp, namespace: Mapping[str, Any]) -> list[ast.AST]:
        """Return its test, and the branch that is taken, or both."""
        found = known(node.test, namespace)
        branches = [node.body, node.orelse] if found is None else [
            node.body if found[0] else node.orelse
        ]  # fmt: skip
        return [node.test, *(p for b in branches for p in (b if isinstance(b, list) else [b]))]

    def _needed(self, node: ast.BoolOp, namespace: Mapping[str, Any]) -> list[ast.AST]:
        """Return the operands up to the one that decides."""
        parts: list[ast.AST] = []
        for value in node.values:
            parts.append(value)
            found = known(value, namespace)
            if found is not None and bool(found[0]) is isinstance(node.op, ast.Or):
                break
        return parts
