"""The syntax tree of flows: Python's `ast`, and the nodes for what Python does not have.

.fizz text is parsed into it, and functions of the embedded language are read as it
(`dsl.blocks.read`). All nodes are statements, so `ast.walk` and
visitors go through them like through Python's own. They carry ``lineno`` and ``col_offset`` of the
file they were read from (columns from 0, as in `ast`).
"""

from __future__ import annotations

import ast
from typing import Literal

from statewalk.dsl.declared import Fairness

FlowName = Literal["atomic", "serial", "parallel", "oneof"]


class Node(ast.stmt):
    """A statement that Python does not have."""


class Act(Node):
    """``[flow] [fair] action Name:``; ``flow`` is None when none is written."""

    _fields = ("body",)
    name: str
    flow: FlowName | None
    fair: Fairness
    body: list[ast.stmt]


class Func(Node):
    """``[flow] func name(parameters):``."""

    _fields = ("args", "body")
    name: str
    flow: FlowName | None
    args: ast.arguments
    body: list[ast.stmt]


class FlowBlock(Node):
    """``atomic:``, ``serial:``, ``parallel:`` or ``oneof:`` with a block."""

    _fields = ("body",)
    flow: FlowName
    body: list[ast.stmt]


class Require(Node):
    """``require condition``."""

    _fields = ("test",)
    test: ast.expr


class Choice(Node):
    """``target = [fair] oneof options [if condition]``; ``fair`` None: not fair."""

    _fields = ("target", "options", "condition")
    target: ast.expr
    options: ast.expr
    condition: ast.expr | None
    fair: Fairness
    word: str


class ChoiceBlock(Node):
    """``oneof x in options:`` with a block."""

    _fields = ("target", "options", "body")
    target: ast.expr
    options: ast.expr
    fair: Fairness
    body: list[ast.stmt]


class Labelled(Node):
    """A statement with a label in back-quotes before it."""

    _fields = ("body",)
    label: str
    body: list[ast.stmt]


class For(ast.For):
    """A loop, possibly with a flow of its own."""

    flow: FlowName | None


class While(ast.While):
    """A loop, possibly with a flow of its own."""

    flow: FlowName | None


# -- what only .fizz text has ----------------------------------------------------------------
class Role(Node):
    """``[symmetric] role Name:`` with actions, functions and methods."""

    _fields = ("body", "decorators")
    name: str
    symmetric: bool
    body: list[ast.stmt]
    decorators: list[ast.expr]


class Assertion(Node):
    """``always assertion Name:`` and its kin; ``kinds`` in the order written."""

    _fields = ("args", "body")
    name: str
    kinds: tuple[str, ...]
    args: ast.arguments
    body: list[ast.stmt]


class Invariant(Node):
    """A line of the older ``invariants:`` stanza."""

    _fields = ("test",)
    kinds: tuple[str, ...]
    test: ast.expr


class Invariants(Node):
    """The older ``invariants:`` stanza."""

    _fields = ("items",)
    items: list[Invariant]


class InitStanza(Node):
    """The older ``init:`` stanza: every name assigned in it is state."""

    _fields = ("body",)
    body: list[ast.stmt]


class Compose(Node):
    """``compose:`` or ``refine:``, which are parsed and refused."""

    _fields = ()
    name: str


def flow_and_body(node: Act | Func) -> tuple[FlowName, list[ast.stmt]]:
    """Return the flow of a function, and its statements; where they are one block, those of
    the block.
    """
    flow, kept = node.flow or "serial", [s for s in node.body if not is_text(s)]
    while len(kept) == 1 and isinstance(kept[0], FlowBlock):
        flow, kept = kept[0].flow, [s for s in kept[0].body if not is_text(s)]
    return flow, kept


def gives_nothing(node: ast.Return) -> bool:
    """Return whether a return gives None."""
    return node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None)


def is_text(statement: ast.stmt) -> bool:
    """Return whether a statement is only a string."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


Status = frozenset[str]
NONE: Status = frozenset()
NOT_YET: Status = frozenset("F")
ACTED: Status = frozenset("T")
CHOSE: Status = frozenset("C")
RESUMED: Status = frozenset("P")
OVER: Status = frozenset("Y")


def settled(status: Status) -> Status:
    """Return the status before another statement: a choice alone no longer counts."""
    return frozenset("F" if s == "C" else s for s in status)


def passed(status: Status) -> Status:
    """Return the status after a guard or a choice: resuming alone no longer counts as a step."""
    return frozenset("F" if s == "P" else s for s in status)


def certainly_some(options: ast.expr) -> bool:
    """Return whether a choice certainly has options."""
    return isinstance(options, ast.List | ast.Tuple) and len(options.elts) > 0
