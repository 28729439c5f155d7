"""The syntax tree of .fizz text: Python's `ast` for what both languages share, and these nodes.

All of them are statements, so `ast.walk` and visitors go through them like through Python's own.
They carry ``lineno`` and ``col_offset`` of the .fizz file (columns from 0, as in `ast`).
"""

from __future__ import annotations

import ast
from typing import Literal

FlowName = Literal["atomic", "serial", "parallel", "oneof"]
FairName = Literal["none", "weak", "strong"]


class Node(ast.stmt):
    """A statement that Python does not have."""


class Role(Node):
    """``[symmetric] role Name:`` with actions, functions and methods."""

    _fields = ("body", "decorators")
    name: str
    symmetric: bool
    body: list[ast.stmt]
    decorators: list[ast.expr]


class Act(Node):
    """``[flow] [fair] action Name:``; ``flow`` is None when none is written."""

    _fields = ("body",)
    name: str
    flow: FlowName | None
    fair: FairName
    body: list[ast.stmt]


class Func(Node):
    """``[flow] func name(parameters):``."""

    _fields = ("args", "body")
    name: str
    flow: FlowName | None
    args: ast.arguments
    body: list[ast.stmt]


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
    fair: FairName
    word: str


class ChoiceBlock(Node):
    """``oneof x in options:`` with a block."""

    _fields = ("target", "options", "body")
    target: ast.expr
    options: ast.expr
    fair: FairName
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
