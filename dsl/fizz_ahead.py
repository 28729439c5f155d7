"""``next_states()``: properties that look one step ahead."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dsl.fizz_exprs import Expressions


def asks_for_steps(node: ast.expr) -> bool:
    """Whether an expression is ``next_states()``."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "next_states"
    )


def _nothing() -> ast.arguments:
    return ast.arguments(
        posonlyargs=[], args=[], vararg=None, kwonlyargs=[], kw_defaults=[], kwarg=None, defaults=[]
    )


def part_of_step(x: Expressions, node: ast.Attribute) -> ast.expr:
    """A part of what next_states() gives: ``n.state.x`` is x after the step."""
    inner = node.value
    if isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name):
        if inner.attr == "state":
            after = ast.copy_location(ast.Attribute(inner.value, "after", ast.Load()), node)
            copied = x.call(x.runtime("deepcopy", node), x.field(node.attr, node))
            later = ast.Lambda(_nothing(), copied)
            return x.call(after, ast.copy_location(later, node))
        return x.plainly(node)
    if not isinstance(inner, ast.Name):
        return x.plainly(node)
    renamed = {"role_id": "actor", "role_ref": "actor", "action_name": "action", "kind": "kind"}
    if node.attr not in renamed:
        raise x.refuse(node, f"'{node.attr}' of a possible step")
    made = ast.Attribute(inner, renamed[node.attr], ast.Load())
    return ast.copy_location(made, node)
