"""Checks for memory outside the state: lists and records of a module, caches."""

from __future__ import annotations

import ast
import functools
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import FunctionType, ModuleType
from typing import Any

from statewalk.dsl.errors import Mistakes, Span
from statewalk.dsl.rules.names import field_instead
from statewalk.dsl.rules.rule import Checked, shortened
from statewalk.dsl.source.effects import Effects
from statewalk.dsl.source.known_effects import attribute
from statewalk.dsl.source.modules import SpecModule
from statewalk.dsl.source.nodes import meaning, walk
from statewalk.dsl.source.scopes import around, stored
from statewalk.dsl.source.tree import Function, SpecTree, statements
from statewalk.dsl.source.types import bare, spec_class
from statewalk.dsl.state.roles import Role
from statewalk.dsl.values.lists import CHANGING
from statewalk.dsl.values.ordered_sets import OrderedSet
from statewalk.dsl.values.records import Bag, Record


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
        attributes = [n for n in walk(node) if isinstance(n, ast.Attribute)]
        replaced = [ast.unparse(n) for n in attributes if not isinstance(n.ctx, ast.Load)]
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
        """Return whether an expression is a place that holds something that can change."""
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
                said = f"'{root.id}' no longer refers to {place}, which was replaced in line "
                said += f"{target.lineno}: this change is not part of the state."
                help = f"Change it before, or read it again: {root.id} = {place}"
                self.checked.doubtful("SW608", said, root, help=help)

    def _seen_again(self, root: ast.Name, known: _Known) -> bool:
        """Return whether something looks at the name after its place was replaced."""
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


def changed_in(node: ast.AST) -> ast.expr | None:
    """Return what a node changes, if it is an assignment to a part of something or a changing
    method.
    """
    if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
        return node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.value if node.func.attr in CHANGING else None
    return None


def _changed(node: ast.AST) -> ast.Name | None:
    """Return the name at the root of a place that is changed."""
    at: Any = changed_in(node)
    while isinstance(at, ast.Attribute | ast.Subscript):
        at = at.value
    return at if isinstance(at, ast.Name) else None


_CHANGEABLE = (list, dict, set, bytearray, deque, Bag)
_LIBRARY = sys.stdlib_module_names - {"builtins"}
_DEPTH = 3  # of containers in containers that are looked through for roles


def check_shared(tree: SpecTree, effects: Effects, mistakes: Mistakes) -> None:
    """SW102 and SW104, in all that steps and properties run; what ``@init`` does happens once."""
    reached: dict[int, Function] = {}
    for function in tree.functions:
        if function.function in tree.led or any(m.kind != "init" for m in function.marks):
            reached |= {id(f): f for f in effects.reached_from(function)}
    for function in tree.functions:
        if id(function) in reached and function.module.source.dialect != "fizz":
            _look_at(function, mistakes)
            if hasattr(function.function, "cache_info") and effects.of(function) != "pure":
                _remembers(mistakes, "cache", function.name, function.span())
    _check_caches(tree, effects, [*reached.values()], mistakes)


def _remembers(mistakes: Mistakes, how: str, name: str, at: Span) -> None:
    mistakes.add(
        "SW104",
        f"'{name}' reads the state, but functools.{how} returns the result of another state.",
        at=at,
        help="Remove the cache: the checker itself memoizes functions that only read.",
    )


def _check_caches(
    tree: SpecTree, effects: Effects, reached: list[Function], mistakes: Mistakes
) -> None:
    """SW104 for ``total = cache(_total)`` and `functools.cached_property`."""
    nodes = [node for function in reached for node in walk(function.node)]
    used = {getattr(node, "id", getattr(node, "attr", None)) for node in nodes}
    for module in tree.loading.modules:
        nodes = walk(module.source.tree) if "cache" in module.source.text else []
        inside = {id(n) for f in nodes if isinstance(f, ast.FunctionDef) for n in walk(f)[1:]}
        for node in nodes if module.source.dialect != "fizz" else ():
            if id(node) in inside:
                continue  # a cache that lives no longer than a step
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                name = node.targets[0].id
                for function in _cached_by(node.value, module, effects) if name in used else ():
                    if effects.of(function) != "pure":
                        _remembers(mistakes, "cache", name, module.source.span(node))
            for function in _cached_properties(node, module, effects):
                if function.name in used and effects.of(function) != "pure":
                    _remembers(mistakes, "cached_property", function.name, function.span())


def _cached_properties(node: ast.AST, module: SpecModule, effects: Effects) -> Iterator[Function]:
    """Yield those of a class."""
    owner = module.namespace.get(node.name) if isinstance(node, ast.ClassDef) else None
    body = node.body if isinstance(node, ast.ClassDef) and isinstance(owner, type) else []
    for item in statements(body):
        if isinstance(item, ast.FunctionDef):
            found = [meaning(d, module.namespace) for d in item.decorator_list]
            if functools.cached_property in found:
                wrapped = functools.cached_property
                yield effects.adopt(Function(item.name, module, owner, item, wrapped))


def _cached_by(node: ast.expr, module: SpecModule, effects: Effects) -> Iterator[Function]:
    """Yield the function that an expression makes a cache of."""
    if not isinstance(node, ast.Call) or not node.args:
        return
    maker = node.func.func if isinstance(node.func, ast.Call) else node.func
    if meaning(maker, module.namespace) not in (functools.cache, functools.lru_cache):
        return
    wrapped = node.args[0]
    if isinstance(wrapped, ast.Lambda):
        body = ast.copy_location(ast.Return(wrapped.body), wrapped.body)
        made = ast.FunctionDef("<lambda>", wrapped.args, [body], [])
        made = ast.copy_location(made, wrapped)
        yield effects.adopt(Function("<lambda>", module, None, made, functools.cache))
    elif (found := effects.function_of(meaning(wrapped, module.namespace))) is not None:
        yield found


def check_bodies(tree: SpecTree, _: Effects, mistakes: Mistakes) -> None:
    """SW102 for what can be changed and stands in the body of a class without a type: no field."""
    for module in tree.loading.modules:
        nodes = walk(module.source.tree) if module.source.dialect != "fizz" else []
        for cls in (n for n in nodes if isinstance(n, ast.ClassDef)):
            made = module.namespace.get(cls.name)
            if not (isinstance(made, type) and issubclass(made, Role | Record)):
                continue
            for node in (n for n in statements(cls.body) if isinstance(n, ast.Assign)):
                for name in (t.id for t in node.targets if isinstance(t, ast.Name)):
                    value = vars(made).get(name)
                    if isinstance(value, _CHANGEABLE) and not _is_known(made, name):
                        kind = type(value).__name__.removeprefix("Ordered").lower()
                        _untyped(mistakes, made, name, kind, module.source.span(node))


def _untyped(mistakes: Mistakes, cls: type, name: str, kind: str, at: Span) -> None:
    other = {"bytearray": "list[int]", "deque": "list[...]", "bag": "Bag[...]"}
    typed = other.get(kind, f"{kind}[...]")
    mistakes.add(
        "SW102",
        f"{cls.__name__}.{name} has no type, so it is no field: one {kind} of the class, which is "
        "not part of the state.",
        at=at,
        why="The checker moves between states and does not restore it.",
        help=f"Declare a field with its type: {name}: {typed} = ...\n"
        "If it never changes, make it a tuple or a frozenset, or a class variable: "
        f"{name}: ClassVar[{'bytes' if kind == 'bytearray' else typed}] = ...",
    )


def _is_known(cls: Any, name: str) -> bool:
    """Return whether a name is a field, or means something to Python."""
    return name in cls._fields or (name[:2] == "__" and name[-2:] == "__")


def _look_at(function: Function, mistakes: Mistakes) -> None:
    names = around(function.node, function.module.namespace)
    for node in walk(function.node):
        changed = changed_in(node)
        if isinstance(node, ast.Attribute) and changed is not None:
            _look_at_class(function, node, names, mistakes)
        root: Any = changed
        while isinstance(root, ast.Attribute | ast.Subscript):
            root = root.value
        if not isinstance(root, ast.Name) or root.id not in names:
            continue
        value = names[root.id]
        if isinstance(value, list | dict | set | Bag | Record) and (
            root is changed or not _holds_roles(value)
        ):
            mistakes.add(
                "SW102",
                f"{_shown(node)} changes '{root.id}', a variable of the module, which is not part "
                "of the state.",
                at=function.span(node),
                why="The checker moves between states and does not restore such a variable.",
                help=f"{field_instead(root.id, value)}\n"
                "To cache the result of a pure function, use functools.cache.",
            )


def _look_at_class(
    function: Function, node: ast.Attribute, names: Mapping[str, Any], mistakes: Mistakes
) -> None:
    """SW102 for an attribute that no role has: ``Node.leader = ...``, ``context.prec = 3``."""
    on = node.value
    if isinstance(on, ast.Name) and on.id == function.class_parameter:
        value: Any = function.owner
    elif ast.unparse(on) in ("type(self)", "self.__class__"):
        value = function.owner
    else:
        value = meaning(on, {**names})
    kinds = {"class": type, "function": FunctionType, "module": ModuleType}
    what = next((name for name, kind in kinds.items() if isinstance(value, kind)), "")
    if not what and type(value).__module__.partition(".")[0] in _LIBRARY:
        what = type(value).__name__
    if not what or node.attr in attribute(value, "_fields", ()):
        return
    said = f"{_shown(node)} changes an attribute of a {what}, which is not part of the state."
    why = "The checker moves between states and does not restore such an attribute."
    help = field_instead(node.attr, attribute(value, node.attr))
    mistakes.add("SW102", said, at=function.span(node), why=why, help=help)


def _shown(node: ast.AST) -> str:
    context = getattr(node, "ctx", None)
    deleted = "del " if isinstance(context, ast.Del) else ""
    return deleted + shortened(node) + (" = ..." if isinstance(context, ast.Store) else "")


def _holds_roles(value: Any, depth: int = 0) -> bool:
    """Return whether there are roles in a container, whose fields are the state."""
    if isinstance(value, Role):
        return True
    if depth == _DEPTH:
        return True
    if isinstance(value, dict):
        return any(_holds_roles(v, depth + 1) for v in value.values())
    if isinstance(value, list | tuple | set | frozenset):
        return any(_holds_roles(v, depth + 1) for v in value)
    return isinstance(value, Record)
