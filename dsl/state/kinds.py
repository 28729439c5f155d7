"""What a spec calls the type of a value: that of Python's, where one in the state stands for it."""

from __future__ import annotations

import sys
from types import GenericAlias
from typing import Any

from statewalk.dsl.binding import binding
from statewalk.dsl.errors import SpecError
from statewalk.dsl.state.dict_views import DictView
from statewalk.dsl.state.refs import Reference
from statewalk.dsl.state.roles import Role
from statewalk.dsl.values.frozen import FROZEN, FrozenBag
from statewalk.dsl.values.ordered_sets import PLAIN
from statewalk.dsl.values.records import Bag


def type_of(value: Any) -> type:
    """What ``type(value)`` and ``value.__class__`` are in a spec."""
    kind = type(value)
    if kind in FROZEN or isinstance(value, DictView) or issubclass(kind, Reference):
        kind = value.__class__
    return _MEANT.get(kind, kind)


def dict_of(value: Any) -> Any:
    """What ``value.__dict__`` and ``vars(value)`` are in a spec.

    Raises:  SpecError[SW213] for a role in a run, whose fields are in the state.
    """
    if isinstance(value, Role) and binding.view is not None:
        name = value._fields[0] if value._fields else "field"
        raise SpecError(
            "SW213",
            f"The fields of {value!r} are in the state, and not in its __dict__.",
            help=f"Name the fields that you mean: role.{name}, or getattr(role, name).",
        )
    return vars(value)


def vars_of(*of: Any) -> Any:
    """``vars`` in a spec."""
    return dict_of(*of) if of else sys._getframe(1).f_locals


class _Asked(type):
    """Of Python's ``type``, all but the question what type a value has stays as it is."""

    def __call__(cls, *parts: Any, **named: Any) -> Any:
        if cls is not Type:
            return super().__call__(*parts, **named)
        return type_of(*parts) if len(parts) == 1 else type(*parts, **named)

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, type) if cls is Type else super().__instancecheck__(value)

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, type) if cls is Type else super().__subclasscheck__(other)


class Type(type, metaclass=_Asked):
    """``type`` in a spec."""

    def __class_getitem__(cls, item: Any) -> GenericAlias:
        return GenericAlias(type, item)


_MEANT: dict[type, type] = {plain: ours for ours, plain in PLAIN.items()}
_MEANT |= {type: Type, FrozenBag: Bag}
