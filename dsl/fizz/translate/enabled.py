"""When a Fizzbee step counts as taken, and where it gives way: two questions answered beforehand.

In Fizzbee a step that runs no enabling statement (assignment, expression, ``pass``) is as if it
were not possible. The analysis follows a status (`dsl.blocks.status`) through the statements:
whether some enabling statement ran since the start or the last choice.

In serial flow a statement ends a step when something enabling ran and text follows.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from statewalk.dsl.blocks.status import ACTED, CHOSE, NONE, NOT_YET, Status, certainly_some, settled
from statewalk.dsl.blocks.tree import is_text
from statewalk.dsl.fizz.names import Names, is_one_block, is_self
from statewalk.dsl.fizz.text import tree


@dataclass
class _Run:
    """What happens on the way through a function: statuses at returns, breaks and continues."""

    returns: Status = NONE
    breaks: list[Status] = field(default_factory=list)
    continues: list[Status] = field(default_factory=list)


class Enabling:
    """Statuses after statements, with calls of the specification's functions looked into."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self._summaries: dict[tuple[int, Status], Status] = {}
        self._open: set[int] = set()
        self.functions: dict[str, list[tree.Func]] = {}
        for part in ast.walk(names.module):
            if isinstance(part, tree.Func):
                self.functions.setdefault(part.name, []).append(part)

    def callee(self, value: ast.expr | None) -> list[tree.Func]:
        """The functions of the specification that a call may mean."""
        if not isinstance(value, ast.Call):
            return []
        if isinstance(value.func, ast.Name):
            found = self.names.members.get(value.func.id)
            return [found] if isinstance(found, tree.Func) else []
        if isinstance(value.func, ast.Attribute):
            return [
                f
                for f in self.functions.get(value.func.attr, [])
                if self.names.members.get(f.name) is not f
            ]
        return []

    @property
    def acts(self) -> list[tree.Act]:
        """The actions."""
        return [n for n in ast.walk(self.names.module) if isinstance(n, tree.Act)]

    @property
    def together(self) -> dict[str, list[tree.Func]]:
        """Functions of which none gives way alone: those of one name."""
        return self.functions

    def nearer(self, found: list[tree.Func], value: ast.expr, caller: ast.AST) -> list[tree.Func]:
        """Of ``self``, only the functions of its own role."""
        if not (isinstance(value, ast.Call) and is_self(value.func)):
            return found
        roles = self.names.roles.values()
        own = next((r.node for r in roles if caller in r.node.body), None)
        return [f for f in found if own is None or f in own.body]

    def chooses(self, node: ast.AST, seen: frozenset[int] = frozenset()) -> bool:
        """Whether a choice may be made in a statement, in functions it calls included."""
        for part in ast.walk(node):
            if isinstance(part, tree.Choice | tree.ChoiceBlock):
                return True
            if getattr(part, "flow", None) == "oneof":
                return True
            if isinstance(part, ast.Call):
                inside = [f for f in self.callee(part) if id(f) not in seen]
                if any(self.chooses(f, seen | {id(f)}) for f in inside):
                    return True
        return False

    def summary(self, function: tree.Func, before: Status) -> Status:
        """The status after a call whose value is not used."""
        key = (id(function), before)
        if key not in self._summaries:
            if id(function) in self._open:
                return before | ACTED
            self._open.add(id(function))
            run = _Run()
            after = self.block(
                function.body,
                before,
                run,
                function.flow == "oneof" and not is_one_block(function.body),
            )
            self._open.discard(id(function))
            self._summaries[key] = after | run.returns
        return self._summaries[key]

    def block(
        self,
        statements: Iterable[ast.stmt],
        before: Status,
        run: _Run | None = None,
        oneof: bool = False,
    ) -> Status:
        """The status after statements; nothing if their end is never reached."""
        run = run or _Run()
        if oneof:
            kept = [s for s in statements if not is_text(s)]
            return frozenset().union(*(self.statement(s, NOT_YET, run) for s in kept))
        for statement in statements:
            if not before:
                break
            before = self.statement(statement, before, run)
        return before

    def statement(self, node: ast.stmt, status: Status, run: _Run | None = None) -> Status:
        """The status after one statement."""
        run = run or _Run()
        if is_text(node):
            return status
        before = settled(status)
        if isinstance(node, ast.Expr):
            callees = self.callee(node.value)
            if callees:
                return frozenset().union(*(self.summary(f, before) for f in callees))
            return ACTED
        if isinstance(node, ast.Assign | ast.AugAssign | ast.Pass | ast.FunctionDef):
            return ACTED
        if isinstance(node, tree.Require):
            return before
        if isinstance(node, tree.Choice):
            return CHOSE
        if isinstance(node, ast.Return):
            run.returns |= before
            return NONE
        if isinstance(node, ast.Break):
            run.breaks.append(before)
            return NONE
        if isinstance(node, ast.Continue):
            run.continues.append(before)
            return NONE
        return self._compound(node, before, run)

    def _compound(self, node: ast.stmt, before: Status, run: _Run) -> Status:
        if isinstance(node, ast.If):
            return self.block(node.body, before, run) | self.block(node.orelse, before, run)
        if isinstance(node, ast.For | ast.While):
            return self._loop(node, before, run)
        if isinstance(node, tree.FlowBlock):
            return self.block(node.body, before, run, node.flow == "oneof")
        if isinstance(node, tree.ChoiceBlock):
            skipped = NONE if certainly_some(node.options) else before
            return self.block(node.body, NOT_YET, run) | skipped
        if isinstance(node, tree.Labelled):
            return self.block(node.body, before, run)
        return before

    def _loop(self, node: ast.For | ast.While, before: Status, run: _Run) -> Status:
        endless = (
            isinstance(node, ast.While)
            and isinstance(node.test, ast.Constant)
            and node.test.value is True
        )
        entering = before
        while True:
            inner = _Run()
            after = self.block(node.body, entering, inner)
            run.returns |= inner.returns
            again = settled(frozenset().union(entering, after, *inner.continues))
            left = frozenset().union(*inner.breaks)
            if again == entering:
                return left if endless else left | entering
            entering = again
