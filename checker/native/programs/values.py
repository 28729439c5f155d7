"""Static knowledge of values in a program: what kind of number one is, and what it may share."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

from statewalk.dsl.state.dicts import DictView
from statewalk.dsl.state.roles import Role
from statewalk.dsl.values.domains import ANYTHING, Domain, either
from statewalk.dsl.values.stored import FrozenBag, FrozenDict, FrozenList, FrozenSet, freeze

Sort = Literal["int", "bool", "role", "any"]
_CHANGING = frozenset({"list", "set", "bag", "dict", "record"})


class Untranslatable(Exception):
    """A function is not translated; the text says why."""


@dataclass(frozen=True)
class Value:
    """A number in a register, and what is known of it.

    ``aliases`` are the fields of the state that the value may be a live reference into: ``f`` is
    the container itself, ``f.`` something in it. ``born`` orders it among changes in place.
    """

    operand: str
    sort: Sort = "any"
    domain: Domain | None = None
    aliases: frozenset[str] = frozenset()
    born: int = 0
    constant: tuple[Any, ...] = ()

    def knowing(self, *parts: Value) -> Value:
        """Return this container, with the aliases of what is put into it."""
        more = frozenset(name for part in parts for name in part.aliases)
        return replace(self, aliases=self.aliases | more) if more else self


@dataclass
class Temporary:
    """A list that a comprehension made, in the run's arena: variables of its place and length."""

    first: str
    length: str
    element: Value
    kind: str = "list"


@dataclass(frozen=True)
class Kind:
    """The facts that hold for a variable at all times."""

    sort: Sort
    domain: Domain | None
    aliases: frozenset[str] = field(default_factory=frozenset)


def sort_of(domain: Domain | None) -> Sort:
    """Return the sort of all members of a domain."""
    if domain is None:
        return "any"
    if domain.options is not None:
        kinds = {type(option) for option in domain.options}
        if kinds == {int}:
            return "int"
        if kinds == {bool}:
            return "bool"
        if kinds and all(issubclass(kind, Role) for kind in kinds):
            return "role"
        return "any"
    return "int" if domain.text == "an integer" else "any"


def sort_of_value(value: Any) -> Sort:
    """Return the sort of a stored value."""
    if type(value) is int:
        return "int"
    if type(value) is bool:
        return "bool"
    return "role" if isinstance(value, Role) else "any"


def may_change(domain: Domain | None) -> bool:
    """Return whether a member may be a place that can be changed where it is stored."""
    if domain is None or domain is ANYTHING:
        return True
    if domain.either:
        return any(map(may_change, domain.either))
    return domain.kind in _CHANGING


def is_plain(domain: Domain | None) -> bool:
    """Return whether equal members have equal numbers, also beside strings, None and roles."""
    if domain is None:
        return False
    if domain.either:
        return all(map(is_plain, domain.either))
    if domain.options is not None:
        return all(type(option) in (str, type(None)) for option in domain.options)
    return domain.text == "a string"


def element_of(domain: Domain | None) -> Domain | None:
    """Return the domain of what iterating over a member gives."""
    if domain is None:
        return None
    if domain.kind == "dict":
        return domain.key
    if domain.element is not None:
        return domain.element
    if domain.parts and len({part.text for part in domain.parts}) == 1:
        return domain.parts[0]
    return None


def joined(one: Kind | None, other: Kind) -> Kind:
    """Return what is known of a variable that holds either."""
    if one is None:
        return other
    sort: Sort = one.sort if one.sort == other.sort else "any"
    return Kind(sort, united(one.domain, other.domain), one.aliases | other.aliases)


def united(one: Domain | None, other: Domain | None) -> Domain | None:
    """Return a domain that has the members of both."""
    if one is None or other is None or one is other:
        return one if one is other else None
    parts = {part.text: part for whole in (one, other) for part in whole.either or (whole,)}
    if len(parts) <= len(one.either or (one,)):
        return one
    return either(tuple(parts.values()))


def is_container(value: Any) -> bool:
    """Return whether a stored value can be gone through."""
    return isinstance(value, FrozenList | FrozenSet | FrozenDict | FrozenBag | tuple)


def frozen(value: Any) -> Any:
    """Return what an operation gave as it is stored; what is gone through once as a tuple."""
    if hasattr(value, "__next__") or isinstance(value, _PASSING):
        value = tuple(value)
    return freeze(value)


_VIEWS: list[type] = [type(view({})) for view in (dict.keys, dict.values, dict.items)]
_PASSING: tuple[type, ...] = (range, DictView, *_VIEWS)
