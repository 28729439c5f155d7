"""Constants: their declared domains, and values given as text on the command line."""

from __future__ import annotations

import ast
import typing
from enum import Enum
from typing import Any

from statewalk.dsl.errors import SpecError, StatewalkError, did_you_mean
from statewalk.dsl.values.domains import ANYTHING, Domain, domain_of
from statewalk.dsl.values.stored import freeze


class GivenText(str):
    """A constant's value as typed by a person, to be read by the constant's type."""

    __slots__ = ()


_WORDS = {"true": True, "True": True, "false": False, "False": False, "None": None}


def is_constant(annotation: ast.expr) -> ast.expr | None:
    """The type inside ``Constant[...]``, if an annotation is one."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        annotation = ast.parse(annotation.value, mode="eval").body
    if isinstance(annotation, ast.Subscript):
        head = annotation.value
        name = head.attr if isinstance(head, ast.Attribute) else getattr(head, "id", "")
        if name == "Constant":
            inner = annotation.slice
            if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
                inner = ast.parse(inner.value, mode="eval").body
            return inner
    return None


def read_constant(name: str, given: Any, hint: Any) -> Any:
    """The value of a constant from what was given for it. Raises SpecError[SW301]."""
    domain = domain_of(hint) if hint is not None else ANYTHING
    value = _from_text(given, hint, domain) if isinstance(given, GivenText) else given
    if not _fits(domain, value):
        member = _member_called(value, hint) if type(value) is str else None
        if member is None:
            raise _misfit(name, given, domain)
        value = member
    return value


def _fits(domain: Domain, value: Any) -> bool:
    try:
        return domain.admits(freeze(value))
    except StatewalkError:
        return domain is ANYTHING


def _misfit(name: str, given: Any, domain: Domain) -> SpecError:
    shown = str(given) if isinstance(given, GivenText) else repr(given)
    options, text, close = domain.options or (), domain.text, ""
    if any(isinstance(o, Enum) for o in options):
        text = "one of " + ", ".join(o.name if isinstance(o, Enum) else repr(o) for o in options)
    elif options and isinstance(given, str):
        close = did_you_mean(str(given), [str(o) for o in options if isinstance(o, str)])
    return SpecError("SW301", f"{name} cannot be {shown}. It is {text}.", help=close)


def _member_called(text: str, hint: Any) -> Enum | None:
    """The member that a text names, of the enums in a type."""
    for enum in (hint, *typing.get_args(hint)):
        if isinstance(enum, type) and issubclass(enum, Enum):
            word = text.removeprefix(enum.__name__ + ".")
            if word in enum.__members__:
                return enum[word]
    return None


def _from_text(text: GivenText, hint: Any, domain: Domain) -> Any:
    plain = str(text)
    if (member := _member_called(plain, hint)) is not None:
        return member
    if domain.options is not None and any(type(o) is str and o == plain for o in domain.options):
        return plain
    if hint is str:
        return plain
    if plain in _WORDS:
        return _WORDS[plain]
    try:
        value = ast.literal_eval(plain)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return plain
    wanted = typing.get_origin(hint) or hint
    if wanted in (tuple, list, set, frozenset) and isinstance(
        value, tuple | list | set | frozenset
    ):
        return wanted(value)
    return value


def unknown_constant(name: str, known: list[str]) -> SpecError:
    """The error of a constant that no module of the spec declares."""
    return SpecError("SW301", f"There is no constant {name}. {did_you_mean(name, known)}")
