"""The functions of a .fizz specification, and what a call of one may mean."""

from __future__ import annotations

import ast

from statewalk.dsl.fizz.names import Names, is_self
from statewalk.dsl.fizz.text import tree
from statewalk.dsl.source.nodes import walk


class Functions:
    """What `dsl.blocks.step_ends` asks of a specification."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.together: dict[str, list[tree.Func]] = {}
        for part in walk(names.module):
            if isinstance(part, tree.Func):
                self.together.setdefault(part.name, []).append(part)

    def callee(self, value: ast.expr | None) -> list[tree.Func]:
        """The functions of the specification that a call may mean."""
        if not isinstance(value, ast.Call):
            return []
        if isinstance(value.func, ast.Name):
            found = self.names.members.get(value.func.id)
            return [found] if isinstance(found, tree.Func) else []
        if isinstance(value.func, ast.Attribute):
            found = self.names.members.get(value.func.attr)
            return [f for f in self.together.get(value.func.attr, []) if f is not found]
        return []

    @property
    def acts(self) -> list[tree.Act]:
        """The actions."""
        return [n for n in walk(self.names.module) if isinstance(n, tree.Act)]

    def nearer(self, found: list[tree.Func], value: ast.expr, caller: ast.AST) -> list[tree.Func]:
        """Of ``self``, only the functions of its own role."""
        if not (isinstance(value, ast.Call) and is_self(value.func)):
            return found
        roles = self.names.roles.values()
        own = next((r.node for r in roles if caller in r.node.body), None)
        return [f for f in found if own is None or f in own.body]

    def chooses(self, node: ast.AST, seen: frozenset[int] = frozenset()) -> bool:
        """Whether a choice may be made in a statement, in functions it calls included."""
        for part in walk(node):
            if isinstance(part, tree.Choice | tree.ChoiceBlock):
                return True
            if getattr(part, "flow", None) == "oneof":
                return True
            if isinstance(part, ast.Call):
                inside = [f for f in self.callee(part) if id(f) not in seen]
                if any(self.chooses(f, seen | {id(f)}) for f in inside):
                    return True
        return False
