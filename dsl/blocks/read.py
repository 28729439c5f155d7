"""Functions with blocks (``with serial():`` and its kin), read as the tree of flows.

`dsl.blocks.step_ends` decides where steps end, for this language as for .fizz text. Here the
functions become what it understands; every statement keeps its own syntax tree as ``source``.
"""

from __future__ import annotations

import ast
from typing import Any

from statewalk.dsl.blocks import tree
from statewalk.dsl.blocks.tree import FlowName
from statewalk.dsl.errors import SpecError
from statewalk.dsl.source.nodes import copied, leaves, meaning, walk
from statewalk.dsl.source.tree import Function
from statewalk.dsl.words import declare

BLOCKS: dict[Any, FlowName] = {
    declare.atomic: "atomic",
    declare.serial: "serial",
    declare.parallel: "parallel",
    declare.oneof: "oneof",
}
FLOWS: tuple[FlowName, ...] = ("atomic", "serial", "parallel", "oneof")


def block_named(node: ast.expr, namespace: dict[str, Any]) -> FlowName | None:
    """Return the flow whose block an expression is, called or not; None for any other
    expression.
    """
    found = meaning(node.func if isinstance(node, ast.Call) else node, namespace)
    return BLOCKS.get(found) if callable(found) else None


def flow_of(node: ast.stmt, namespace: dict[str, Any]) -> FlowName | None:
    """Return the flow of a statement that is a block."""
    if isinstance(node, ast.With) and len(node.items) == 1:
        return block_named(node.items[0].context_expr, namespace)
    return None


def flow_option(function: Function) -> FlowName | None:
    """Return what ``@action(flow=...)`` says; None where it says nothing."""
    mark = function.marked("action")
    given = mark.options.get("flow") if mark is not None else None
    return given if given in FLOWS else None


def has_blocks(function: Function) -> bool:
    """Return whether steps of a function end elsewhere than at ``yield``."""
    if flow_option(function) not in (None, "atomic"):
        return True
    return holds_blocks(function.node, function.module.namespace)


def holds_blocks(node: ast.AST, namespace: dict[str, Any]) -> bool:
    """Return whether there are blocks inside a node."""
    return any(isinstance(n, ast.With) and flow_of(n, namespace) is not None for n in walk(node))


class Reader:
    """Reads one function."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.namespace = function.module.namespace

    def read(self) -> tree.Func:
        """Return the function as a node; statements that are no block keep their ``source``."""
        node = self.function.node
        result = ast.copy_location(tree.Func(), node)
        result.name, result.args = self.function.qualified, node.args
        result.flow = flow_option(self.function) or "atomic"
        result.body = self.block(self.function.body())
        if len(result.body) == 1 and isinstance(result.body[0], tree.FlowBlock):
            ast.copy_location(result, result.body[0])
        result.end_lineno, result.end_col_offset = result.lineno, result.col_offset
        result.source = node  # type: ignore[attr-defined]
        return result

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        return [made for statement in statements for made in self.statement(statement)]

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        compound = self._compound(node)
        made = compound or self._simple(node)
        if made is None:
            return []
        ast.copy_location(made, node)
        if compound is not None:  # what is made of it stands in its first line
            made.end_lineno, made.end_col_offset = made.lineno, made.col_offset
        made.source = node  # type: ignore[attr-defined]
        return [made]

    def _compound(self, node: ast.stmt) -> ast.stmt | None:
        flow = flow_of(node, self.namespace)
        if flow is not None:
            assert isinstance(node, ast.With)
            block = tree.FlowBlock()
            block.flow, block.body = flow, self.block(node.body)
            return block
        if isinstance(node, ast.If):
            return ast.If(node.test, self.block(node.body), self.block(node.orelse))
        if isinstance(node, ast.For | ast.While):
            if node.orelse:
                help = "Write it after the loop, under a condition of its own."
                raise refused(self.function, node.orelse[0], "a loop has an else", help)
            if isinstance(node, ast.For):
                return ast.For(node.target, node.iter, self.block(node.body), [], None)
            return ast.While(node.test, self.block(node.body), [])
        if isinstance(node, ast.With | ast.Try | ast.Match):
            word = type(node).__name__.lower()
            if holds_blocks(node, self.namespace):
                raise refused(self.function, node, f"there is a block inside '{word}'")
            if leaves(node):
                help = "Write it with if, or note what to do and do it after this statement."
                raise refused(
                    self.function, node, f"there is a return or jump inside '{word}'", help
                )
        return None

    def _simple(self, node: ast.stmt) -> ast.stmt | None:
        if isinstance(node, ast.AnnAssign):
            if node.value is None:
                return None
            made = ast.Assign([node.target], node.value, lineno=node.lineno)
            return self._simple(made)
        value = node.value if isinstance(node, ast.Assign | ast.Expr) else None
        called = meaning(value.func, self.namespace) if isinstance(value, ast.Call) else None
        if isinstance(node, ast.Expr) and called is declare.require:
            assert isinstance(value, ast.Call)
            guard = tree.Require()
            guard.test = value.args[0] if value.args else ast.Constant(True)
            return guard
        if isinstance(node, ast.Assign) and called in (declare.any_of, declare.maybe):
            assert value is not None
            choice = tree.Choice()
            choice.target, choice.options, choice.condition = node.targets[0], value, None
            choice.fair, choice.word = "none", "oneof"
            return choice
        return copied(node)


def without_super(function: Function) -> None:
    """Raise SpecError[SW116] where a function that gives way asks for its class."""
    if function.function.__code__.co_freevars:
        raise refused(
            function, function.node, "it uses super()",
            "Give what the other class does a name of its own, and call that.",
        )  # fmt: skip


def refused(function: Function, node: ast.AST, what: str, help: str = "") -> SpecError:
    """Return the error of a place where a flow cannot stop."""
    return SpecError(
        "SW116",
        f"'{function.name}' cannot be suspended: {what}.",
        at=function.span(node),
        help=help or "Write blocks and yield as separate statements, inside if, while or for only.",
    )
