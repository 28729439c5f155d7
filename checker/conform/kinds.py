"""The check that a logged value can describe any value: if not, the log has a mistake."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from enum import Enum, Flag
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any

from statewalk.checker.conform.values import fits
from statewalk.dsl.state.roles import Role
from statewalk.dsl.values.records import Record
from statewalk.dsl.values.stored import FrozenBag, FrozenDict, FrozenList, FrozenSet

if TYPE_CHECKING:
    from statewalk.dsl.model import Model
    from statewalk.dsl.values.domains import Domain

_KINDS = {bool: "true or false", int: "a number", str: "a string"}
_SAID = {**_KINDS, dict: "an object", list: "a list", type(None): "nothing"}


def can_be(said: Any, value: Any, model: Model) -> bool:
    """Return whether a JSON value could say a value such as this one."""
    if isinstance(said, dict) and any(name.startswith("#") for name in said):
        return True
    if isinstance(value, Flag):
        return any(fits(said, together) for together in _together(said, type(value)))
    if isinstance(value, Enum):
        return any(fits(said, member) for member in type(value))
    if isinstance(value, Role):
        return said in roles_of(model, type(value).__name__)
    if isinstance(value, FrozenList | FrozenSet | FrozenBag | tuple):
        return isinstance(said, list)
    if isinstance(value, FrozenDict | Record):
        return isinstance(said, dict)
    return type(said) is type(value) or type(value) not in (*_KINDS, type(None))


def can_hold(domain: Domain, said: Any) -> bool:
    """Return whether a field could have a value that a JSON value says, by its type. A number is
    none that an integer's range leaves out: a system may count further than a spec, and that is
    told.
    """
    if isinstance(said, dict) and any(name.startswith("#") for name in said):
        return True
    if domain.either:
        return any(can_hold(part, said) for part in domain.either)
    if domain.options is not None:
        kinds = {type(option) for option in domain.options}
        together = (f for kind in kinds if issubclass(kind, Flag) for f in _together(said, kind))
        options = (*domain.options, *filter(domain.admits, together))
        return kinds == {type(said)} == {int} or any(fits(said, one) for one in options)
    if domain.kind in ("dict", "record"):
        return isinstance(said, dict)
    if domain.kind != "scalar" or domain.parts:
        return isinstance(said, list)
    plain = any(domain.admits(one) for one in (0, "", False))
    return not plain or domain.admits(said)


def _together(said: Any, kind: type[Flag]) -> Iterator[Flag]:
    """Yield the flags that a JSON value may say together: none, or those of some names or of
    a number.
    """
    yield kind(0)
    if isinstance(said, str) and all(name in kind.__members__ for name in said.split("|")):
        yield reduce(or_, (kind[name] for name in said.split("|")))
    if type(said) is int:
        with suppress(ValueError):
            yield kind(said)


def roles_of(model: Model, name: str) -> Mapping[str, Role]:
    """Return the roles of a class, as logs call them."""
    alike = (role for roles in model.roles.values() for role in roles)
    return {repr(role): role for role in alike if type(role).__name__ == name}


def no_role(said: Any, model: Model) -> list[str]:
    """Return where a text names a role that a spec does not have: those that it has."""
    if not isinstance(said, str) or not said.partition("#")[2].isdecimal():
        return []
    known = roles_of(model, said.partition("#")[0])
    return [] if said in known else list(known)


def other_kind(said: Any, value: Any) -> str:
    """Return what is to be said where a log has another kind of value than a spec; empty
    where not.
    """
    if type(said) is type(value) or type(value) not in _KINDS or type(said) not in _SAID:
        return ""
    text = json.dumps(said, ensure_ascii=False)
    return f", {_KINDS[type(value)]}, and the log has {text:.40}, {_SAID[type(said)]}"
