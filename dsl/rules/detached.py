"""SW608: a name whose place in the state was replaced is changed, which changes nothing there.

    op = self.op            op refers to self.op
    self.op = Operation()   now it shows the old one
    op.stage = 1            ... and this is lost

Said only where it is sure: along statements in sequence, and if the name is not looked at again.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from statewalk.dsl.rules.rule import Checked
from statewalk.dsl.source.nodes import walk
from statewalk.dsl.source.scopes import stored
from statewalk.dsl.source.types import bare, spec_class
from statewalk.dsl.state.roles import Role
from statewalk.dsl.values.lists import CHANGING
from statewalk.dsl.values.ordered_sets import OrderedSet


@dataclass
class _Known:
    """Names that refer to places in the state, and those whose place was replaced in a line."""

    places: dict[str, str] = field(default_factory=dict)
    gone: dict[str, tuple[str, ast.expr]] = field(default_factory=dict)

    def copy(self) -> _Known:
        return _Known(dict(self.places), dict(self.gone))

    def both(self, other: _Known) -> None:
        """Keep what is known on both ways."""
        self.places = dict(self.places.items() & other.places.items())
        there = {name: place for name, (place, _) in other.gone.items()}
        self.gone = {n: held for n, held in self.gone.items() if there.get(n) == held[0]}

    def forget(self, node: ast.AST) -> None:
        """Know nothing any more of what a statement may do."""
        bound = stored(node)
        replaced = [ast.unparse(n) for n in walk(node) if _is_store(n)]
        for name in list(self.places):
            if name in bound or any(_within(self.places[name], text) for text in replaced):
                del self.places[name]
        for name in bound & set(self.gone):
            del self.gone[name]


def warn_of_detached(checked: Checked) -> None:
    """SW608, in one function."""
    if checked.running and checked.effects.of(checked.function) == "effects":
        _Detached(checked).block(checked.function.body(), _Known())


class _Detached:
    """Follows the statements of one function."""

    def __init__(self, checked: Checked) -> None:
        self.checked = checked

    @cached_property
    def _scopes(self) -> dict[int, Any]:
        return {id(node): scope for node, scope in self.checked.types.nodes}

    def block(self, statements: list[ast.stmt], known: _Known) -> None:
        for statement in statements:
            self.statement(statement, known)

    def statement(self, node: ast.stmt, known: _Known) -> None:
        if isinstance(node, ast.If):
            other = known.copy()
            self.block(node.body, known)
            self.block(node.orelse, other)
            known.both(other)
        elif isinstance(node, ast.With):
            self.block(node.body, known)
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr | ast.Delete):
            self._changes(node, known)
            if isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for target in targets:
                    self._assigned(target, node.value, known)
        else:
            known.forget(node)

    def _assigned(self, target: ast.expr, value: ast.expr | None, known: _Known) -> None:
        if isinstance(target, ast.Name):
            known.places.pop(target.id, None)
            known.gone.pop(target.id, None)
            for name, place in list(known.places.items()):
                if place.partition(".")[0] == target.id:
                    del known.places[name]
            if value is not None and self._refers(value):
                known.places[target.id] = ast.unparse(value)
        elif isinstance(target, ast.Attribute):
            text = ast.unparse(target)
            for name, place in list(known.places.items()):
                same = isinstance(value, ast.Name) and value.id == name
                if _within(place, text) and not same:
                    del known.places[name]
                    known.gone[name] = (text, target)
        else:
            known.forget(target)

    def _refers(self, value: ast.expr) -> bool:
        """Whether an expression is a place that holds something that can change."""
        at: ast.expr = value
        while isinstance(at, ast.Attribute):
            at = at.value
        if not isinstance(value, ast.Attribute) or not isinstance(at, ast.Name):
            return False
        scope = self._scopes.get(id(value), {})
        cls = spec_class(self.checked.types.of(value, scope))
        if cls is not None:
            return not issubclass(cls, Role)
        hint = bare(self.checked.types.of(value, scope))
        return getattr(hint, "__origin__", hint) in (list, dict, set, OrderedSet)

    def _changes(self, node: ast.stmt, known: _Known) -> None:
        for part in walk(node):
            root = _changed(part)
            if root is not None and root.id in known.gone and not self._seen_again(root, known):
                place, target = known.gone[root.id]
                self.checked.doubtful(
                    "SW608",
                    f"'{root.id}' no longer refers to {place}, which was replaced in line "
                    f"{target.lineno}: what is changed here is no part of the state.",
                    root,
                    help=f"Change it before, or read it again: {root.id} = {place}",
                )

    def _seen_again(self, root: ast.Name, known: _Known) -> bool:
        """Whether something looks at the name after its place was replaced."""
        changed = {id(r) for n in walk(self.checked.function.node) if (r := _changed(n))}
        target = known.gone[root.id][1]
        since = (target.lineno, target.col_offset)
        return any(
            isinstance(n, ast.Name) and n.id == root.id and (n.lineno, n.col_offset) > since
            for n in walk(self.checked.function.node)
            if id(n) not in changed
        )


def _within(place: str, text: str) -> bool:
    return place == text or place.startswith((f"{text}.", f"{text}["))


def _is_store(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load)


def changed_in(node: ast.AST) -> ast.expr | None:
    """What a node changes, if it is an assignment to a part of something or a changing method."""
    if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
        return node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.value if node.func.attr in CHANGING else None
    return None


def _changed(node: ast.AST) -> ast.Name | None:
    """The name at the root of a place that is changed."""
    at: Any = changed_in(node)
    while isinstance(at, ast.Attribute | ast.Subscript):
        at = at.value
    return at if isinstance(at, ast.Name) else None
