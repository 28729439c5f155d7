"""Fields that are asked of a class where an instance is meant; private names in classes."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import types
import typing
from collections.abc import Callable
from dataclasses import is_dataclass
from enum import Enum
from typing import Any

from statewalk.dsl.errors import Mistakes, SpecError, did_you_mean
from statewalk.dsl.rules.rule import Checked, attribute_name, shortened
from statewalk.dsl.source.effects import Effects
from statewalk.dsl.source.known_effects import attribute
from statewalk.dsl.source.nodes import walk
from statewalk.dsl.source.tree import SpecTree, class_span, field_span, says_no_types
from statewalk.dsl.source.types import Scope, bare, spec_class
from statewalk.dsl.state.roles import Role
from statewalk.dsl.values.canonical import AS_INTEGER, AS_NAME, HOLDS
from statewalk.dsl.values.domains import meant_by
from statewalk.dsl.values.records import LOOKING, Bag, Record, check_own, declared_fields
from statewalk.dsl.words.declare import any_of


def check_classes(checked: Checked) -> None:
    """SW120: ``Log.size`` where the state has a ``log.size``; once for each class."""
    said: set[str] = set()
    function = checked.function
    namespace = function.module.namespace
    first = function.class_parameter if checked.running else None
    for node in walk(function.node):
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
            continue
        name = node.value.id
        known = None if name in checked.types.locals else namespace.get(name)
        cls = function.owner if name == first else known
        if not (isinstance(cls, type) and issubclass(cls, Role)):
            continue
        if node.attr in cls._fields and name not in said:
            said.add(name)
            checked.wrong(
                "SW120",
                f"{shortened(node)} is a field of the class {cls.__name__}, not of an instance.",
                node,
                why="The state is in the instances; "
                f"{cls.__name__} itself only says what they have.",
                help=_instead(namespace, cls, node),
            )


def _instead(namespace: dict[str, object], cls: type, node: ast.Attribute) -> str:
    for name, value in namespace.items():
        if type(value) is cls:
            return f"Write {name}.{node.attr}."
    word = cls.__name__.lower()
    made = f"{word} = {cls.__name__}()"
    return f"Make an instance on module level, {made}, and write {word}.{node.attr}."


def check_private(tree: SpecTree, _: Effects, mistakes: Mistakes) -> None:
    """SW127: ``self.__n`` in a class; methods are compiled again without their class."""
    for module in tree.loading.modules:
        for cls in walk(module.source.tree) if module.source.dialect != "fizz" else ():
            made = module.namespace.get(cls.name) if isinstance(cls, ast.ClassDef) else None
            if not (isinstance(made, type) and issubclass(made, Role | Record)):
                continue
            found = {_word(node): node for node in reversed(walk(cls))}
            for word, node in found.items():
                if word[:2] == "__" and word[-2:] != "__":
                    said = f"'{word}' has two underscores in front, in a class."
                    why = "Python adds the name of the class to such names."
                    help = f"Write {word[1:]}, with one underscore."
                    mistakes.add("SW127", said, at=module.source.span(node), why=why, help=help)


def check_equal(tree: SpecTree, _: Effects, mistakes: Mistakes) -> None:
    """SW123: methods written into a class by a decorator; enums with an ``__eq__``."""
    for cls in (*tree.roles, *tree.records):
        try:
            check_own(cls, Role if issubclass(cls, Role) else Record, LOOKING)
        except SpecError as error:
            help = f"If a decorator or a later statement adds it, remove that. {error.help}"
            at = class_span(tree, cls)
            mistakes.add(error.code, error.message, at=at, why=error.why, help=help)
    for cls in tree.enums:
        for name in ("__eq__", "__ne__", "__hash__"):
            owner = next(part for part in cls.__mro__ if name in vars(part))
            if owner.__module__ in tree.loading.by_name and not is_dataclass(owner):
                mistakes.add(
                    "SW123",
                    f"{cls.__name__} cannot define {name}.",
                    at=class_span(tree, cls),
                    why="In the state, an enum member equals only itself.",
                    help="Write a method with another name, such as same(self, other).",
                )
                break


def _word(node: ast.AST) -> str:
    """Return the name that a node says, if it says one."""
    words = (getattr(node, field, None) for field in ("id", "attr", "arg", "name"))
    return next((word for word in words if isinstance(word, str)), "")


_SCALARS = (bool, int, str, type(None), None)
_CONTAINERS = (list, set, frozenset, dict, tuple, Bag)
_ANYTHING = (Any, object)


def check_types(tree: SpecTree, effects: Effects, mistakes: Mistakes) -> None:
    """SW203 for fields of types that the state cannot hold, SW610 for those that say nothing."""
    for module in tree.loading.modules:
        if says_no_types(module):
            continue
        for cls in [*tree.records, *tree.roles]:
            if module.namespace.get(cls.__name__) is cls:
                _check_class(tree, cls, mistakes)


def _check_class(tree: SpecTree, cls: type, mistakes: Mistakes) -> None:
    try:
        hints = tree.hints(cls)
    except Exception:
        return  # SW110, said where fields are made
    for name in declared_fields(cls):
        part = _unfit(tree, hints[name])
        if part is None:
            continue
        where = field_span(tree, cls, name)
        word = getattr(part, "__name__", str(part))
        if part in _ANYTHING:
            mistakes.warn(
                "SW610",
                f"{cls.__name__}.{name} may hold anything, so what is stored there is not checked.",
                at=where,
                help="Say what it holds: int | None, list[Job], a record.",
            )
        else:
            said = f"{cls.__name__}.{name} is declared to hold {_described(part, word)}, which "
            said += "the state cannot hold."
            mistakes.add("SW203", said, at=where, why=HOLDS, help=_hint(part, word))


def _unfit(tree: SpecTree, hint: Any) -> Any:
    """Return the part of a type of which the state can hold no value, or that says nothing;
    else None.
    """
    hint = meant_by(hint)
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return _unfit(tree, args[0])
    if origin is typing.Literal or hint in _SCALARS:
        return None
    if origin in (typing.Union, types.UnionType) or origin in _CONTAINERS:
        found = [_unfit(tree, arg) for arg in args if arg is not Ellipsis]
        found = [part for part in found if part is not None]
        surely = [part for part in found if part not in _ANYTHING]
        return (surely or found or [None])[0]
    known = origin or hint
    if known in _CONTAINERS or known in _ANYTHING:
        return known if known in _ANYTHING else None
    if known is Callable or not isinstance(known, type):
        return Callable if known is Callable else object
    if inspect.isabstract(known) or getattr(known, "_is_protocol", False):
        return object
    if issubclass(known, Role | Record | Enum):
        return None
    parts = tree.classes.values()
    return None if any(issubclass(part, known) for part in parts) else known


def _described(part: Any, word: str) -> str:
    if part is Callable:
        return "a function"
    if dataclasses.is_dataclass(part):
        return f"a {word}, a dataclass"
    return f"a {word}"


def _hint(part: Any, word: str) -> str:
    if part is float:
        return AS_INTEGER
    if part is Callable:
        return AS_NAME
    if part.__module__ == "builtins":
        return "Use a tuple of integers, a string, or a record of what matters."
    return f"Make it a record: class {word}(Record), with typed fields."


_KINDS = (list, set, frozenset, dict, tuple, str, int, bool, Bag)
_INSTEAD = {
    "replace": "Write replace(record, field=...), from statewalk.",
    "asdict": "Name the fields that you mean.",
    "astuple": "Name the fields that you mean.",
    "fields": "Name the fields that you mean.",
}


def check_methods(checked: Checked) -> None:
    """SW122: methods that a field's value lacks; SW124: no self; SW125: a choice of one."""
    _check_self(checked)
    for node, scope in checked.types.nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            kind = _declared_kind(checked, node.value, scope)
            if kind is not None and not hasattr(kind, node.attr):
                known = [name for name in dir(kind) if name[:1] != "_"]
                said = f"{shortened(node.value)} is a {kind.__name__}, which has no '{node.attr}'."
                checked.wrong("SW122", said, attribute_name(node), help=_others(node.attr, known))
        elif isinstance(node, ast.Call):
            _check_dataclasses(checked, node, scope)
            _check_choice(checked, node, scope)


def _check_self(checked: Checked) -> None:
    function = checked.function
    found = function.node.args
    takes = [*found.posonlyargs, *found.args, found.vararg]
    if function.owner is None or function.is_static or any(takes):
        return
    said = f"The method '{function.name}' takes no parameter, and is called with its instance."
    help = f"Write def {function.name}(self), or put it on module level."
    checked.wrong("SW124", said, function.node, help=help)


def _check_choice(checked: Checked, node: ast.Call, scope: Scope) -> None:
    if getattr(node.func, "id", "") != "any_of" or "any_of" in scope or len(node.args) != 1:
        return
    if checked.types.namespace.get("any_of") is not any_of:
        return  # a function of the spec
    hint = bare(checked.types.of(node.args[0], scope))
    single = hint in (int, bool) or spec_class(hint) is not None
    if single:
        text = shortened(node.args[0])
        parts = f"list({text})" if hasattr(hint, "__iter__") else f"[{text}]"
        what = {int: "an integer", bool: "a truth value"}.get(hint, f"a {hint.__name__}")
        several = f"range({text})" if hint is int else parts
        said = f"any_of chooses among several; {text} is {what}."
        help = f"Give it a list, a set, a range: any_of({several})."
        checked.wrong("SW125", said, node.args[0], help=help)


def _others(name: str, known: list[str]) -> str:
    """Return the method that may be meant, else those there are."""
    said = did_you_mean(name, known, quoted=True)
    return said.partition(" (also")[0] if said.startswith("Did") else f"It has: {', '.join(known)}."


def _declared_kind(checked: Checked, node: ast.expr, scope: Scope) -> type | None:
    """Return the class of what a field, or a part of one, holds, where its type says so."""
    at: ast.expr = node
    while isinstance(at, ast.Subscript) and not isinstance(at.slice, ast.Slice):
        at = at.value
    if not isinstance(at, ast.Attribute) or spec_class(checked.types.of(at.value, scope)) is None:
        return None
    hint = bare(checked.types.of(node, scope))
    kind: Any = typing.get_origin(hint) or hint
    if kind is typing.Literal:
        kinds = {type(value) for value in typing.get_args(hint)}
        kind = kinds.pop() if len(kinds) == 1 else None
    return kind if kind in _KINDS else None


def _check_dataclasses(checked: Checked, node: ast.Call, scope: Scope) -> None:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name not in _INSTEAD or not node.args or name in scope:
        return
    owner = getattr(node.func, "value", None)
    names = checked.function.module.namespace
    found = getattr(names.get(getattr(owner, "id", "")), name, None) if owner else names.get(name)
    cls = spec_class(checked.types.of(node.args[0], scope))
    if attribute(found, "__module__", "") != "dataclasses" or cls is None:
        return
    if issubclass(cls, Record):
        said = f"{shortened(node.args[0])} is a record, no dataclass, as dataclasses.{name} needs."
        checked.wrong("SW122", said, node.func, help=_INSTEAD[name])
