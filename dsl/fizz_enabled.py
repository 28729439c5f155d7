"""When a Fizzbee step counts as taken, and where it gives way: two questions answered beforehand.

In Fizzbee a step that runs no enabling statement (assignment, expression, ``pass``) is as if it
were not possible. The analysis follows a *status* through the statements: T, some enabling
statement ran; F, none ran since the start or the last choice; C, a choice was the last thing to
happen (which counts if nothing at all follows it). A set of statuses says which are possible.

In serial flow a statement ends a step when something enabling ran and text follows.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from dsl import fizz_tree as tree
from dsl.fizz_names import Names, is_text

Status = frozenset[str]
NONE: Status = frozenset()
NOT_YET: Status = frozenset("F")
ACTED: Status = frozenset("T")
CHOSE: Status = frozenset("C")


def settled(status: Status) -> Status:
    """The status once another statement follows: a choice alone no longer counts."""
    return frozenset("F" if s == "C" else s for s in status)


def certainly_some(options: ast.expr) -> bool:
    """Whether a choice certainly has options."""
    return isinstance(options, ast.List | ast.Tuple) and len(options.elts) > 0


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
            after = self.block(function.body, before, run, function.flow == "oneof")
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


class Yields:
    """Where serial text gives way, so that it is not one step. None found: it can run as atomic."""

    def __init__(self, names: Names, enabling: Enabling) -> None:
        self.names = names
        self.enabling = enabling
        self._open: set[int] = set()

    def of_action(self, action: tree.Act) -> ast.AST | None:
        """The first statement that ends a step before the action's end."""
        return self._body(action.body, action.flow or "serial", NOT_YET, more=False)

    def _body(self, body: list[ast.stmt], flow: str, status: Status, more: bool) -> ast.AST | None:
        kept = [s for s in body if not is_text(s)]
        if len(kept) == 1 and isinstance(kept[0], tree.FlowBlock):
            return self._body(kept[0].body, kept[0].flow, status, more)
        if flow in ("atomic", "oneof"):
            return self._calls(kept, flow, status)
        if flow == "parallel":
            return kept[0] if kept else None
        return self._serial(kept, status, more)

    def _serial(self, statements: list[ast.stmt], status: Status, more: bool) -> ast.AST | None:
        for index, node in enumerate(statements):
            if not status:
                return None
            follows = more or index + 1 < len(statements)
            found = self._inside(node, settled(status), follows)
            if found is not None:
                return found
            status = self.enabling.statement(node, status)
            if follows and "T" in status:
                return statements[index + 1] if index + 1 < len(statements) else node
            if "T" in status and self._falls_off(node):
                return node
        return None

    def _falls_off(self, node: ast.stmt) -> bool:
        """A call of a function that may end without return parks the caller after it."""
        value = node.value if isinstance(node, ast.Expr | ast.Assign) else None
        return any(self.enabling.block(f.body, NOT_YET) for f in self.enabling.callee(value))

    def _inside(self, node: ast.stmt, status: Status, more: bool) -> ast.AST | None:
        if isinstance(node, ast.If):
            return self._serial(node.body, status, more) or self._serial(node.orelse, status, more)
        if isinstance(node, tree.ChoiceBlock):
            return self._serial(node.body, NOT_YET, more)
        if isinstance(node, tree.Labelled):
            return self._serial(node.body, status, more)
        if isinstance(node, ast.For | ast.While):
            if getattr(node, "flow", None) == "parallel":
                return node
            if getattr(node, "flow", None) == "atomic":
                return self._calls(node.body, "atomic", status) or self._parked(node, status)
            return self._serial(node.body, self.enabling._loop(node, status, _Run()) | status, True)
        if isinstance(node, tree.FlowBlock):
            inner = self._body(node.body, node.flow, status, True)
            return inner or self._parked(node, status)
        value = node.value if isinstance(node, ast.Expr | ast.Assign | ast.Return) else None
        return self._callees(value, status)

    def _parked(self, node: ast.stmt, status: Status) -> ast.AST | None:
        return node if "T" in self.enabling.statement(node, status) else None

    def _calls(self, statements: list[ast.stmt], flow: str, status: Status) -> ast.AST | None:
        """In atomic text only calls of serial functions give way."""
        for node in statements:
            before = NOT_YET if flow == "oneof" else status
            found = self._atomic_inside(node, settled(before))
            if found is not None:
                return found
            status = self.enabling.statement(node, before)
        return None

    def _atomic_inside(self, node: ast.stmt, status: Status) -> ast.AST | None:
        if isinstance(node, tree.FlowBlock) and node.flow in ("serial", "parallel"):
            return self._body(node.body, node.flow, status, True)
        if isinstance(node, tree.For | tree.While) and node.flow in ("serial", "parallel"):
            return self._inside(node, status, True)
        for block in ("body", "orelse"):
            inner = getattr(node, block, None)
            if isinstance(inner, list) and not isinstance(node, ast.FunctionDef):
                flow = node.flow if isinstance(node, tree.FlowBlock) else "atomic"
                wide = status | ACTED if isinstance(node, ast.For | ast.While) else status
                found = self._calls(inner, flow, wide)
                if found is not None:
                    return found
        value = node.value if isinstance(node, ast.Expr | ast.Assign | ast.Return) else None
        return self._callees(value, status)

    def _callees(self, value: ast.expr | None, status: Status) -> ast.AST | None:
        for function in self.enabling.callee(value):
            if id(function) in self._open:
                continue
            self._open.add(id(function))
            found = self._body(function.body, function.flow or "serial", status, True)
            self._open.discard(id(function))
            if found is not None:
                return found
        return None
