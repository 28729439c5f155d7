"""The end of every step of a spec whose values are numbered anew, and what that rules out.

A domain of values (`dsl.fizz.runtime.numbered`) says what is to be done: numbers mean nothing from
one state to the next.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from statewalk.dsl.errors import Mistakes, Span
from statewalk.dsl.source.nodes import walk
from statewalk.dsl.source.tree import SpecTree

_HELP = "Use numbers, with a bound of their own: clock = min(clock + 1, LIMIT)."


def at_step_end(tree: SpecTree) -> Callable[[], None] | None:
    """Return what every step, and the making of an initial state, ends with, if anything."""
    found: Callable[[], None] | None = tree.loading.declared.options.get("at_step_end")
    return found


def refuse_across_states(tree: SpecTree, mistakes: Mistakes) -> None:
    """Note a mistake (SW152) for what speaks of values in two states."""
    if at_step_end(tree) is None:
        return
    why = "Values with an order or distances are numbered anew after each step."
    for function in tree.functions:
        if function.is_property and function.marked("on_step"):
            said = f"'{function.name}' compares two states, which is not supported here."
            mistakes.add("SW152", said, at=function.span(), why=why, help=_HELP)
    for module in tree.loading.modules:
        for node in walk(module.source.tree):
            if isinstance(node, ast.Call) and _is_fair_choice(node):
                said = "A fair choice is not supported here."
                at = Span.of(node, module.source.path)
                mistakes.add("SW152", said, at=at, why=why, help="Leave out the fairness.")


def _is_fair_choice(node: ast.Call) -> bool:
    named = getattr(node.func, "id", "").rstrip("_") == "any_of"
    return named and any(k.arg == "fair" for k in node.keywords)
