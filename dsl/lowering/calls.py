"""The functions that lowered code calls.

Each function means what the source it stands for means.
"""

from __future__ import annotations

import operator
import sys
from builtins import len, list, range  # noqa: UP029  # whatever a spec calls so
from collections.abc import Callable, Iterable
from enum import Enum
from functools import partial
from typing import Any

from statewalk.dsl.binding import binding
from statewalk.dsl.errors import SpecError
from statewalk.dsl.state.detaching import forget
from statewalk.dsl.state.packing import NotPackable, pack, pack_new, unpack
from statewalk.dsl.state.refs import (
    RecordReference,
    Reference,
    current_view,
    forbid_change,
    show_place,
)
from statewalk.dsl.state.roles import Field, Role, no_value
from statewalk.dsl.values.domains import Domain, outside
from statewalk.dsl.values.stored import freeze, intern_key
from statewalk.dsl.words.declare import any_of, listed

__all__ = [
    "any_of", "augment", "bound_locals", "call", "call_telling_apart", "called_plainly", "len",
    "list", "made", "range",
]  # fmt: skip

_PLAIN = (bool, int, str, type(None))


def is_plain(value: Any) -> bool:
    """Return whether a value has no parts: where it comes from makes no difference."""
    return type(value) in _PLAIN or isinstance(value, Role | Enum)


_MADE: dict[str, tuple[object, object, object, tuple[Any, ...]]] = {}


def made(site: str, make: Callable[[], Iterable[Any]]) -> Iterable[Any]:
    """Return the options that a step makes of nothing but constants and locals.

    A step is run once for each option. Options that cannot change are made once, and not once for
    each of them: of many that would be quadratic.
    """
    try:
        held = [cell.cell_contents for cell in make.__closure__ or ()]
    except ValueError:  # a local that has no value yet
        return make()
    if not all(map(_never_changes, held)):
        return make()
    key = intern_key(tuple(held))
    code, module, known, options = _MADE.get(site, (None, None, None, ()))
    if code is not make.__code__ or module is not make.__globals__ or known != key:
        options = tuple(listed(make()))
        if not all(map(_never_changes, options)):
            return options
        _MADE[site] = make.__code__, make.__globals__, key, options
    return options


def _never_changes(value: Any) -> bool:
    return is_plain(value) or (type(value) is tuple and all(map(_never_changes, value)))


def called_plainly(name: str) -> None:
    """Raise SW105: a flow is called in a way that nothing of the text tells of."""
    said = f"'{name}' contains yield, but is called without `yield from`."
    help = "Call it by its name in a flow: yield from self.f()"
    raise SpecError("SW105", said, why="The call would do nothing.", help=help)


def _plus_is(left: Any, right: Any) -> Any:
    """``left += right``, which is told from ``+`` as it stands in a text, see `is_in_place`."""
    left += right
    return left


_OPERATORS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "+": (operator.add, _plus_is),
    "-": (operator.sub, operator.isub),
    "*": (operator.mul, operator.imul),
    "%": (operator.mod, operator.imod),
    "//": (operator.floordiv, operator.ifloordiv),
    "|": (operator.or_, operator.ior),
    "&": (operator.and_, operator.iand),
    "^": (operator.xor, operator.ixor),
}


def augment(target: Any, name: str, sign: str, value: Callable[[], Any]) -> None:
    """``target.name sign= value``, as a blind update where the field is a number or a string.

    ``value`` only looks. It is asked after the old value, as Python does, which makes a difference
    only where one of the two raises: a blind update is of what certainly has a value.
    """
    plain, in_place = _OPERATORS[sign]
    change = _change_of(target, name)
    old = getattr(target, name) if change is None else None
    added = value()
    if change is not None and type(added) in (int, str):
        change((sign, intern_key(added)), lambda old: plain(old, added))
    else:
        setattr(target, name, in_place(old if change is None else getattr(target, name), added))


def _change_of(target: Any, name: str) -> Callable[[object, Callable[[Any], Any]], None] | None:
    """Return what updates a field, or a part of a record, by a key and a function; None where it
    may have no value, or is no number or string.
    """
    if isinstance(target, Role):
        field = type(target).__dict__.get(name) or getattr(type(target), name, None)
        if isinstance(field, Field) and field.kind == "scalar" and not field.constant:
            if field.given and not target.there:
                raise no_value(target, name)
            certain = field.settled or field.given
            return partial(_change_field, target, field) if certain else None
    elif isinstance(target, RecordReference):
        domain: Domain | None = getattr(target._referenced, "_domains", {}).get(name)
        if domain is not None and domain.text in ("an integer", "a string"):
            return partial(_change_part, target, name, domain)
    return None


def _change_field(target: Role, field: Field, key: object, change: Callable[[Any], Any]) -> None:
    path = field.path(target)
    forbid_change(path)
    forget(path)
    fitting = partial(_fitting, change, field.domain, show_place(path, ()))
    current_view().update(path, key, fitting)


def _change_part(
    target: RecordReference, name: str, domain: Domain, key: object, change: Callable[[Any], Any]
) -> None:
    place = show_place(target._path, (*target._sub, ("f", name)))
    target._augment(name, key, partial(_fitting, change, domain, place))


def _fitting(change: Callable[[Any], Any], domain: Domain, place: str, old: Any) -> Any:
    """Return a value changed, where the result is one that the place may hold."""
    new = freeze(change(old))
    if not domain.admits(new):
        raise outside(place, new, domain)
    return new


def call_telling_apart(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call as `call` does; with values that have parts it is not remembered."""
    given = (getattr(function, "__self__", None), *arguments)
    if all(is_plain(value) or isinstance(value, Reference) for value in given):
        return call(function, *arguments)
    return function(*arguments)


def call(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function that only reads, remembered by what it looked at."""
    view = binding.view
    if view is None:
        return function(*arguments)
    try:
        receiver = getattr(function, "__self__", None)
        names = function.__module__, function.__qualname__
        key = (*names, _key(receiver), *map(_key, arguments))
    except NotPackable:
        return function(*arguments)
    asked = _RememberedCall(function, receiver, arguments)
    try:
        return unpack(view.call(key, asked))
    except NotPackable:
        return asked.result


def _key(value: Any) -> Any:
    kind = type(value)
    return value if kind is str or kind is int or value is None else intern_key(pack(value))


class _RememberedCall:
    """A call that is to be remembered: see `dsl.view.CallResult`."""

    __slots__ = ("arguments", "function", "receiver", "result")

    def __init__(
        self, function: Callable[..., Any], receiver: Any, arguments: tuple[Any, ...]
    ) -> None:
        self.function = function
        self.receiver = receiver
        self.arguments = arguments
        self.result: Any = None

    def __call__(self) -> Any:
        self.result, held = _given(self.function, self.arguments)
        return pack_new(self.result) if held == _NEW else pack(self.result)

    def lasts(self) -> bool:
        return is_plain(self.receiver) and all(map(is_plain, self.arguments))


def _given(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, int]:
    """Return what a function gives, and how often it is held: more often if somebody else
    does too.
    """
    result = function(*arguments)
    return result, sys.getrefcount(result)


_NEW = _given(list, ())[1]


def bound_locals(found: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Return the locals that a piece of a flow has bound."""
    return {n: found[n] for n in names if n in found}
