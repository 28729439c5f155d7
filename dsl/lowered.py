"""What lowered code calls. Each function means what the source it stands for means."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from typing import Any

from dsl.containers import DictReference, ElementsReference, EntriesReference, ListReference
from dsl.declare import any_of
from dsl.packing import NotPackable, pack, unpack
from dsl.records import Record
from dsl.refs import Reference, RecordReference, current_view, forbid_change, forget, outside, show_place
from dsl.roles import Field, Role
from dsl.runtime import binding
from dsl.values import freeze, intern_key, ordered

_OPERATORS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "+": (operator.add, operator.iadd),
    "-": (operator.sub, operator.isub),
    "*": (operator.mul, operator.imul),
    "%": (operator.mod, operator.imod),
    "//": (operator.floordiv, operator.ifloordiv),
    "|": (operator.or_, operator.ior),
    "&": (operator.and_, operator.iand),
    "^": (operator.xor, operator.ixor),
}


def augment(target: Any, name: str, sign: str, value: Any) -> None:
    """``target.name sign= value``, as a blind update where the field is a number or a string."""
    plain, in_place = _OPERATORS[sign]
    if isinstance(target, Role) and type(value) in (int, str):
        field = type(target).__dict__.get(name) or getattr(type(target), name, None)
        if isinstance(field, Field) and field.kind == "scalar" and not field.constant:
            path = field.path(target)
            forbid_change(path)
            domain = field.domain

            def changed(old: Any) -> Any:
                new = freeze(plain(old, value))
                if not domain.admits(new):
                    raise outside(show_place(path, ()), new, domain)
                return new

            forget(path)
            current_view().update(path, (sign, intern_key(value)), changed)
            return
    if isinstance(target, RecordReference) and type(value) in (int, str):
        domain = getattr(target._referenced, "_domains", {}).get(name)
        if domain is not None and domain.text in ("an integer", "a string"):
            place = show_place(target._path, (*target._sub, ("f", name)))

            def changed_part(old: Any) -> Any:
                new = freeze(plain(old, value))
                if not domain.admits(new):
                    raise outside(place, new, domain)
                return new

            target._augment(name, (sign, intern_key(value)), changed_part)
            return
    setattr(target, name, in_place(getattr(target, name), value))


_AGGREGATES: dict[str, Callable[[Any], Any]] = {
    name: getattr(builtins, name)
    for name in ("any", "all", "sum", "sorted", "set", "list", "tuple", "len", "max", "min", "frozenset")
}
_AGGREGATES["any_of"] = list
_KEEPING = frozenset({"list", "any_of", "tuple"})
_PLAIN = (bool, int, str, type(None))


def gather(
    kind: str,
    site: str,
    source: Any,
    plain: Callable[[Any], Any],
    element: Callable[..., Any] | None,
    condition: Callable[..., Any] | None,
    captures: Callable[[], tuple[Any, ...]],
    free: str,
) -> Any:
    """An aggregate over a comprehension, as one projection of the container's slot where that is sound.

    ``plain`` is the source itself as a function of the container. ``element`` (None: the element itself) and
    ``condition`` take an element and the captured values, and look at no state. ``free`` is "always", or
    "records" where that is so only if the elements are known to be records.
    """
    if not isinstance(source, Reference) or source._cell is not None:
        return plain(source)
    if isinstance(source, EntriesReference | ElementsReference | DictReference):
        return plain(source)
    inner = source._domain.element if source._domain is not None else None
    if free == "records" and (inner is None or inner.record is None):
        return plain(source)
    in_list = isinstance(source, ListReference)
    indices = in_list and element is None and kind in _KEEPING
    if in_list and element is None and not indices and (inner is None or inner.kind != "scalar"):
        if kind in ("max", "min", "sorted", "set", "frozenset"):
            return plain(source)
    try:
        values = tuple(freeze(v) for v in captures())
        key = ("gather", kind, site, tuple(intern_key(v) for v in values))
    except Exception:
        return plain(source)

    def project(container: Any) -> Any:
        kept = [
            (at, x) for at, x in enumerate(container) if condition is None or condition(x, *values)
        ]
        if indices:
            return pack([at for at, _ in kept])
        found = [x if element is None else element(x, *values) for _, x in kept]
        if in_list and not all(type(f) in _PLAIN or isinstance(f, Role) for f in found):
            return None if kind in _KEEPING or kind in ("max", "min", "sorted", "set", "frozenset") else _AGGREGATES[kind](found)
        result = _AGGREGATES[kind](found)
        return pack(result)

    if indices:
        chosen = [source[at] for at in unpack(source._project(key, project))]
        return any_of(chosen) if kind == "any_of" else _AGGREGATES[kind](chosen)
    try:
        found = source._project(key, project)
    except NotPackable:
        return plain(source)
    if found is None:
        return plain(source)
    result = unpack(found)
    return any_of(result) if kind == "any_of" else result


def call(function: Callable[..., Any], *arguments: Any) -> Any:
    """A call of a function that only reads, remembered by the state it looked at."""
    view = binding.view
    if view is None:
        return function(*arguments)
    try:
        key = (function.__module__, function.__qualname__, *(intern_key(pack(a)) for a in arguments))
    except NotPackable:
        return function(*arguments)
    return unpack(view.call(key, lambda: pack(function(*arguments))))


def in_order(values: Any) -> Any:
    """Local sets are iterated in canonical order."""
    return ordered(values) if type(values) in (set, frozenset) else values


def is_record(value: Any) -> bool:
    """Whether a value is a record, referred to or not."""
    return isinstance(value, Record)
