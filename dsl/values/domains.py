"""Domains: what an annotation allows in a field, checked where a value is stored."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum, Flag
from typing import Any, Literal

from statewalk.dsl.errors import SpecError
from statewalk.dsl.values.ordered_sets import PLAIN
from statewalk.dsl.values.records import Bag, Record
from statewalk.dsl.values.stored import (
    ABSENT,
    FrozenBag,
    FrozenDict,
    FrozenList,
    FrozenSet,
    intern_key,
)

Kind = Literal["scalar", "list", "set", "frozenset", "bag", "dict", "record"]


@dataclass(frozen=True)
class Domain:
    """A set of values. ``kind`` is that of all its members, or scalar; ``options`` lists a finite
    one.

    ``element`` is the domain of elements of a container (values of a dict), ``key`` of a dict's
    keys. ``records`` are the record classes its members may have; ``records_only`` tells that
    every member with fields is one of these; ``may_contain`` is false where no member holds other
    values. ``changing_sets`` tells that a set among its members can be changed where it is stored.
    ``parts`` are the domains of a tuple's parts; the last is that of all further ones. ``either``
    are those of ``X | Y``.
    """

    text: str
    admits: Callable[[Any], bool]
    kind: Kind = "scalar"
    options: tuple[Any, ...] | None = None
    element: Domain | None = None
    key: Domain | None = None
    record: type | None = None
    records: tuple[type, ...] = ()
    records_only: bool = False
    may_contain: bool = True
    changing_sets: bool = False
    parts: tuple[Domain, ...] = ()
    either: tuple[Domain, ...] = ()


ANYTHING = Domain("anything", lambda value: True, changing_sets=True)


def _exactly(cls: type, text: str) -> Domain:
    return Domain(text, lambda value: type(value) is cls, records_only=True, may_contain=False)


def _finite(values: tuple[Any, ...], text: str) -> Domain:
    known = {intern_key(v) for v in values}
    return Domain(
        text,
        lambda value: intern_key(value) in known,
        options=values,
        records_only=True,
        may_contain=any(isinstance(v, tuple | frozenset) for v in values),
    )


def either(parts: tuple[Domain, ...]) -> Domain:
    """Return the domain that has the members of all parts."""
    text = " or ".join(part.text for part in parts)
    options: tuple[Any, ...] | None = ()
    for part in parts:
        options = None if options is None or part.options is None else options + part.options
    return Domain(
        text,
        lambda value: any(part.admits(value) for part in parts),
        options=options,
        records=tuple(record for part in parts for record in part.records),
        records_only=all(part.records_only for part in parts),
        may_contain=any(part.may_contain for part in parts),
        changing_sets=any(part.changing_sets for part in parts),
        either=parts,
    )


def _container(kind: Kind, cls: Any, element: Domain) -> Domain:
    def admits(value: Any) -> bool:
        return type(value) is cls and all(element.admits(e) for e in value)

    text, is_set = f"a {kind} of {element.text}", kind == "set"
    return Domain(text, admits, kind, element=element, records_only=True, changing_sets=is_set)


def _dict(key: Domain, value: Domain) -> Domain:
    def admits(v: Any) -> bool:
        return type(v) is FrozenDict and all(
            key.admits(a) and value.admits(b) for a, b in v.items()
        )

    text = f"a dict from {key.text} to {value.text}"
    return Domain(text, admits, "dict", element=value, key=key, records_only=True)


def _tuple(parts: tuple[Domain, ...], *, repeated: bool) -> Domain:
    def admits(value: Any) -> bool:
        if type(value) is not tuple:
            return False
        if repeated:
            return all(parts[0].admits(v) for v in value)
        return len(value) == len(parts) and all(
            p.admits(v) for p, v in zip(parts, value, strict=True)
        )

    text = f"a tuple of {', '.join(part.text for part in parts)}"
    return Domain(text, admits, records_only=True, parts=parts)


_PLAIN: Mapping[Any, Domain] = {
    bool: _finite((False, True), "True or False"),
    int: _exactly(int, "an integer"),
    str: _exactly(str, "a string"),
    type(None): _finite((None,), "None"),
    None: _finite((None,), "None"),
}
_BARE: Mapping[Any, Domain] = {
    list: _container("list", FrozenList, ANYTHING),
    set: _container("set", FrozenSet, ANYTHING),
    frozenset: _container("frozenset", FrozenSet, ANYTHING),
    Bag: _container("bag", FrozenBag, ANYTHING),
    dict: _dict(ANYTHING, ANYTHING),
}


def domain_of(hint: Any) -> Domain:
    """Return the domain of a resolved annotation; `ANYTHING` where it says nothing that can
    be checked.
    """
    hint = meant_by(hint)
    if hint is Any or hint is object or getattr(hint, "_is_protocol", False):
        return ANYTHING
    if hint in _PLAIN:
        return _PLAIN[hint]
    if hint in _BARE:
        return _BARE[hint]
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        return _finite(args, "one of " + ", ".join(map(repr, args)))
    if origin is typing.Annotated:
        return _annotated(args)
    if origin is typing.Union or origin is types.UnionType:
        return either(tuple(domain_of(arg) for arg in args))
    if origin is list:
        return _container("list", FrozenList, domain_of(args[0]))
    if origin is set or origin is frozenset:
        return _container("set" if origin is set else "frozenset", FrozenSet, domain_of(args[0]))
    if origin is Bag:
        return _container("bag", FrozenBag, domain_of(args[0]))
    if origin is dict:
        return _dict(domain_of(args[0]), domain_of(args[1]))
    if origin is tuple:
        repeated = len(args) == 2 and args[1] is Ellipsis
        return _tuple(tuple(domain_of(a) for a in args if a is not Ellipsis), repeated=repeated)
    if isinstance(hint, type):
        return _class(hint)
    return ANYTHING


def meant_by(hint: Any) -> Any:
    """Return the type behind ``NewType``, ``type X = ...`` and a spec's own ``set``."""
    while hasattr(hint, "__supertype__") or hasattr(hint, "__value__"):
        hint = getattr(hint, "__supertype__", None) or hint.__value__
    return PLAIN.get(hint, hint) if isinstance(hint, type) else hint


def _annotated(args: tuple[Any, ...]) -> Domain:
    for extra in args[1:]:
        if isinstance(extra, range):
            return _finite(tuple(extra), f"an integer in {extra}")
    return domain_of(args[0])


def misfit_of(record: Record) -> tuple[str, Any, Domain] | None:
    """Return the first field of a record with a value outside its type: name, value and type."""
    domains: Mapping[str, Domain] = getattr(type(record), "_domains", {})
    for name, domain in domains.items():
        value = record.__dict__.get(name, ABSENT)
        if value is not ABSENT and not domain.admits(value):
            return f"{type(record).__name__}.{name}", value, domain
    return None


def outside(what: str, value: Any, domain: Domain) -> SpecError:
    """Return the error of a value that its type does not allow."""
    inner = misfit_of(value) if isinstance(value, Record) else None
    if inner is not None:
        return outside(*inner)
    said = f"{what} cannot be {value!r}. It must be {domain.text}."
    return SpecError("SW201", said, help="Correct the value, or change the declared type.")


def one_of(cls: type) -> str:
    """Return the name of a class with its article: ``a Broker``, ``an Order``."""
    return f"{'an' if cls.__name__[:1] in 'AEIOaeio' else 'a'} {cls.__name__}"


def _class(cls: type) -> Domain:
    if issubclass(cls, Record):
        return Domain(
            one_of(cls),
            lambda v: isinstance(v, cls) and misfit_of(v) is None,
            "record",
            record=cls,
            records=tuple(_with_subclasses(cls)),
            records_only=True,
        )
    if issubclass(cls, Flag):
        return replace(_exactly(cls, one_of(cls)), options=tuple(cls))
    if issubclass(cls, Enum):
        return _finite(tuple(cls), one_of(cls))
    return Domain(one_of(cls), lambda v: isinstance(v, cls), may_contain=False)


def _with_subclasses(cls: type) -> Iterator[type]:
    """Yield a record class and what is derived from it."""
    yield cls
    derived: type
    for derived in cls.__subclasses__():
        yield from _with_subclasses(derived)
