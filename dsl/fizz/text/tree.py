"""The syntax tree of .fizz text: that of flows (`dsl.blocks.tree`), and these nodes around it."""

from __future__ import annotations

import ast

from statewalk.dsl.blocks.tree import (
    Act,
    Choice,
    ChoiceBlock,
    FlowBlock,
    FlowName,
    For,
    Func,
    Labelled,
    Node,
    Require,
    While,
    flow_and_body,
    gives_nothing,
    is_text,
)

__all__ = [
    "Act", "Assertion", "Choice", "ChoiceBlock", "Compose", "FlowBlock", "FlowName",
    "For", "Func", "InitStanza", "Invariant", "Invariants", "Labelled", "Node", "Require", "Role",
    "While", "flow_and_body", "gives_nothing", "is_text",
]  # fmt: skip


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
