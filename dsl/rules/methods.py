"""What Python's containers, strings and numbers do not have, or what there is for others only."""

from __future__ import annotations

import ast
import typing
from typing import Any

from statewalk.dsl.errors import did_you_mean
from statewalk.dsl.rules.rule import Checked, attribute_name, shortened
from statewalk.dsl.source.known_effects import attribute
from statewalk.dsl.source.types import Scope, bare, spec_class
from statewalk.dsl.values.records import Bag, Record
from statewalk.dsl.words.declare import any_of

_KINDS = (list, set, frozenset, dict, tuple, str, int, bool, Bag)
_INSTEAD = {
    "replace": "Write replace(record, field=...), from statewalk.",
    "asdict": "Name the fields that you mean.",
    "astuple": "Name the fields that you mean.",
    "fields": "Name the fields that you mean.",
}


def check_methods(checked: Checked) -> None:
    """SW122: a method that the value of a field does not have; functions for dataclasses. SW124:
    a method without self; SW125: a choice among what has no elements.
    """
    _check_self(checked)
    for node, scope in checked.types.nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            kind = _declared_kind(checked, node.value, scope)
            if kind is not None and not hasattr(kind, node.attr):
                known = [name for name in dir(kind) if name[:1] != "_"]
                checked.wrong(
                    "SW122",
                    f"{shortened(node.value)} is a {kind.__name__}, which has no '{node.attr}'.",
                    attribute_name(node),
                    help=_others(node.attr, known),
                )
        elif isinstance(node, ast.Call):
            _check_dataclasses(checked, node, scope)
            _check_choice(checked, node, scope)


def _check_self(checked: Checked) -> None:
    function = checked.function
    found = function.node.args
    takes = [*found.posonlyargs, *found.args, found.vararg]
    if function.owner is None or function.is_static or any(takes):
        return
    checked.wrong(
        "SW124",
        f"The method '{function.name}' takes no parameter, and is called with its instance.",
        function.node,
        help=f"Write def {function.name}(self), or put it on module level.",
    )


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
        several = f"range({text})" if hint is int else parts
        checked.wrong(
            "SW125",
            f"any_of chooses among several; {text} is {_article(hint)}.",
            node.args[0],
            help=f"Give it a list, a set, a range: any_of({several}).",
        )


def _article(hint: type) -> str:
    names: dict[type, str] = {int: "an integer", bool: "a truth value"}
    return names.get(hint, f"a {hint.__name__}")


def _others(name: str, known: list[str]) -> str:
    """The method that may be meant, else those there are."""
    said = did_you_mean(name, known, quoted=True)
    return said.partition(" (also")[0] if said.startswith("Did") else f"It has: {', '.join(known)}."


def _declared_kind(checked: Checked, node: ast.expr, scope: Scope) -> type | None:
    """The class of what a field, or a part of one, holds, where its type says so."""
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
        checked.wrong(
            "SW122",
            f"{shortened(node.args[0])} is a record, no dataclass, as dataclasses.{name} needs.",
            node.func,
            help=_INSTEAD[name],
        )
