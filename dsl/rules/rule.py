"""The common base of the static rules: a function under inspection, its types, a way to
complain.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from statewalk.dsl.errors import Mistakes
from statewalk.dsl.source.effects import Effects
from statewalk.dsl.source.nodes import parents_of
from statewalk.dsl.source.tree import Function, SpecTree
from statewalk.dsl.source.types import Types


@dataclass
class Checked:
    """One function under inspection. ``running`` tells whether the checker ever calls it."""

    tree: SpecTree
    effects: Effects
    function: Function
    mistakes: Mistakes
    running: bool = True
    _seen: set[tuple[str, int, int]] = field(default_factory=set)

    @cached_property
    def types(self) -> Types:
        """The types of the function's expressions."""
        return Types(self.tree, self.function)

    @cached_property
    def parents(self) -> Mapping[ast.AST, ast.AST]:
        """The parent of every node of the function."""
        return parents_of(self.function.node)

    @property
    def is_property(self) -> bool:
        """Return whether it is a property, or the part of a `leads_to` or `until`."""
        return self.function.is_property or self.function.function in self.tree.led

    def wrong(
        self, code: str, message: str, node: ast.AST, *, why: str = "", help: str = ""
    ) -> None:
        """Note a mistake at a node, once."""
        if self._is_new(code, node):
            at = self.function.span(node)
            self.mistakes.add(code, message, at=at, why=why, help=help)

    def doubtful(self, code: str, message: str, node: ast.AST, *, help: str = "") -> None:
        """Note a warning at a node, once."""
        if self._is_new(code, node):
            self.mistakes.warn(code, message, at=self.function.span(node), help=help)

    def _is_new(self, code: str, node: ast.AST) -> bool:
        key = (code, getattr(node, "lineno", 0), getattr(node, "col_offset", 0))
        new = key not in self._seen
        self._seen.add(key)
        return new


def attribute_name(node: ast.Attribute) -> ast.expr:
    """Return a node that stands for the name behind the dot, for the caret."""
    end = node.end_col_offset or 0
    name = ast.Name(node.attr, ast.Load())
    name.lineno = name.end_lineno = node.end_lineno or node.lineno
    name.col_offset, name.end_col_offset = end - len(node.attr.encode()), end
    return name


def shortened(node: ast.AST) -> str:
    """Return the text of a node, first line only, cut in the end."""
    text = ast.unparse(node).partition("\n")[0]
    return text if len(text) <= 60 else text[:57] + "..."
