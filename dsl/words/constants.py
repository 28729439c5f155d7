"""Constants: their declared domains, and values given as text on the command line."""

from __future__ import annotations

import ast
import sys
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum, Flag
from functools import reduce
from itertools import product
from operator import or_
from typing import Any, TypeAlias

from statewalk.dsl.declared import (
    AS_IT_IS,
    Configuration,
    Expectation,
    Formula,
    declaring,
    property_name,
)
from statewalk.dsl.errors import Span, SpecError, StatewalkError, did_you_mean
from statewalk.dsl.values.domains import ANYTHING, Domain, domain_of, meant_by
from statewalk.dsl.values.stored import encode, freeze


class GivenText(str):
    """A constant's value as typed by a person, to be read by the constant's type."""

    __slots__ = ()


_MANY = (tuple, list, set, frozenset)
_WORDS = {"true": True, "True": True, "false": False, "False": False, "None": None}


def is_constant(annotation: ast.expr) -> ast.expr | None:
    """Return the type inside ``Constant[...]``, if an annotation is one."""
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
    """Return the value of a constant from what was given for it. Raises SpecError[SW301]."""
    domain = domain_of(hint) if hint is not None else ANYTHING
    if isinstance(given, GivenText):
        value = _from_text(name, given, hint)
    elif type(given) is str and not _fits(domain, given):
        value = _the_one(name, given, [*_members_called(given, hint)], given)
    else:
        value = given
    if not _fits(domain, value):
        raise _misfit(name, given, domain)
    return value


def values_meant(name: str, text: str, hint: Any) -> tuple[GivenText, ...]:
    """Return the values that ``a,b,c`` or ``all`` means. Raises SpecError[SW301]."""
    try:
        read_constant(name, GivenText(text), hint)
    except SpecError:
        pass
    else:
        return (GivenText(text),)
    if text == "all":
        options = domain_of(hint).options if hint is not None else None
        if not options:
            said = f"{name}=all means every value, but its type has no finite list of values."
            help = "Values of a Literal, an enum or bool are listed; name others: "
            help += f"{name}=1,2,3 or {name}=1..3."
            raise SpecError("SW301", said, help=help)
        return tuple(GivenText(o.name if isinstance(o, Enum) else str(o)) for o in options)
    return tuple(GivenText(part.strip()) for part in text.split(","))


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
    return SpecError("SW301", f"{name} cannot be {shown}. It must be {text}.", help=close)


def _from_text(name: str, text: GivenText, hint: Any) -> Any:
    plain = str(text)
    if hint is str:
        return plain
    value = _literal(plain)
    wanted = typing.get_origin(hint) or hint
    if wanted in _MANY and isinstance(value, tuple | list | set | frozenset):
        value = wanted(value)
    return _the_one(name, plain, _readings(plain, hint), value)


def _the_one(name: str, text: str, readings: list[Any], otherwise: Any) -> Any:
    """Return what a text means, of all that it can.

    Raises SpecError[SW301] where that is unclear.
    """
    if len(readings) > 1:
        readings = [*{encode(freeze(value)): value for value in readings}.values()]
    if len(readings) > 1:
        shown = " or ".join(map(_shown, readings))
        raise SpecError(
            "SW301",
            f"{name} cannot be {text}, which can mean {shown}.",
            help=f"Write one of them: {shown}.",
        )
    return readings[0] if readings else otherwise


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_shown, value))}{',' * (len(value) == 1)})"
    return f"{type(value).__name__}.{value.name}" if isinstance(value, Enum) else repr(value)


def _readings(text: str, hint: Any) -> list[Any]:
    """Return every value of a type that a text can mean."""
    hint = meant_by(hint)
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        found = [value for arg in args if arg is not str for value in _readings(text, arg)]
        return found or (_readings(text, str) if str in args else [])
    if origin in _MANY:
        found = [*_readings_of_many(text, origin, args)]
    else:
        found = [*_members_called(text, hint), _literal(text)]
        if origin is typing.Literal and not _fits(domain_of(hint), found[-1]):
            found.append(text)
    return [value for value in found if _fits(domain_of(hint), value)]


def _readings_of_many(text: str, kind: Any, args: tuple[Any, ...]) -> Iterator[Any]:
    node = _parsed(text)
    if not isinstance(node, ast.Tuple | ast.List | ast.Set):
        found = _literal(text)
        if isinstance(found, set | frozenset):  # set()
            yield kind(found)
        return
    parts = [ast.get_source_segment(text, part) or "" for part in node.elts]
    if kind is tuple and args[-1] is not Ellipsis:
        hints = args if len(args) == len(parts) else ()
    else:
        hints = (args[0],) * len(parts)
    if len(hints) == len(parts):
        yield from map(kind, product(*map(_readings, parts, hints)))


def _members_called(text: str, hint: Any) -> Iterator[Enum]:
    """Yield the members that a text names, of the enums in a type; ``A | B`` of flags."""
    for part in (hint, *typing.get_args(hint)):
        if isinstance(part, Enum) and text in (part.name, f"{type(part).__name__}.{part.name}"):
            yield part
        elif isinstance(part, type) and issubclass(part, Enum):
            words = text.split("|") if issubclass(part, Flag) else [text]
            names = [word.strip().removeprefix(part.__name__ + ".") for word in words]
            if all(name in part.__members__ for name in names):
                yield reduce(or_, (part[name] for name in names))


def _literal(text: str) -> Any:
    """Return a text as Python reads it; one that is no literal as it is."""
    if text in _WORDS:
        return _WORDS[text]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return text


def _parsed(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def check_given(
    given: Iterable[str], used: Mapping[str, Sequence[str]], known: Sequence[str]
) -> None:
    """Raise SpecError[SW301] for a name that was given to no constant, or to more than one."""
    for name in given:
        meant = used.get(name, ())
        again = [full for full in used if not meant and full.endswith(f".{name}")]
        if again:
            said = f"{again[0]} is given twice, also as {name}."
            raise SpecError("SW301", said, help="They are one constant: leave one of the two out.")
        if not meant:
            said = f"There is no constant {name} to set. {did_you_mean(name, known)}"
            help = "Set a constant that the spec declares: --set NAME=VALUE"
            raise SpecError("SW301", said, help=help)
        if len(meant) > 1:
            said = f"{name} is the name of {len(meant)} constants: {', '.join(meant)}."
            raise SpecError("SW301", said, help=f"Say which: --set {meant[-1]}=VALUE")


MUTANT = "MUTANT"
"""The constant that says which of a spec's mutants it is run with. It comes with the mutants."""
NO_MUTANT = "none"


def chosen_mutant(
    names: Iterable[str], given: Mapping[str, Any], used: dict[str, list[str]]
) -> str:
    """Return the mutant to run, of those with some names.

    Raises SpecError[SW301] where there is none.
    """
    known = dict.fromkeys([NO_MUTANT, *names])
    value = given.get(MUTANT, NO_MUTANT)
    if MUTANT in given:
        used.setdefault(MUTANT, [MUTANT])
    chosen: str = read_constant(MUTANT, value, typing.Literal[tuple(known)])
    return chosen


def no_value(name: str, hint: str, at: Span) -> SpecError:
    """Return the error of a constant without a value, which would be none at all."""
    help = f"Give it one here, {name}: {hint} = ...; --set {name}=VALUE and configurations "
    help += "change it."
    return SpecError("SW301", f"The constant {name} has no value.", at=at, help=help)


def holds(
    *, distinct: int | None = None, generated: int | None = None, depth: int | None = None
) -> Expectation:
    """Expect that everything holds, optionally with exact counts."""
    _numbers("holds", distinct=distinct, generated=generated, depth=depth)
    return Expectation("holds", distinct=distinct, generated=generated, depth=depth)


_Named: TypeAlias = Callable[..., bool] | str


def violates(
    *properties: _Named | Mapping[Any, int], length: int | None = None, states: int | None = None
) -> Expectation:
    """Expect that these properties are violated, the first after ``length`` transitions.

    ``violates({small: 3, even: 5})`` gives a length for each. ``states`` counts all states, past
    the violations.
    """
    lengths: dict[str, int | None] = {}
    names = sys._getframe(1).f_globals
    for given in properties:
        for each, steps in given.items() if isinstance(given, Mapping) else [(given, None)]:
            lengths[_name_of(each, names)] = steps
    if length is not None and lengths:
        if lengths[first := next(iter(lengths))] not in (None, length):
            raise _odd(f"violates(...) gives two lengths for {first}", "Give one.")
        lengths[first] = length
    _numbers("violates", length=length, states=states, **lengths)
    said = {name: steps for name, steps in lengths.items() if steps is not None}
    first_length = next(iter(lengths.values()), length)
    return Expectation("violated", tuple(lengths), first_length, states=states, lengths=said)


def _name_of(given: Any, names: Mapping[str, Any]) -> str:
    """Return the name of a property; of a formula, that in the module that
    speaks of it.
    """
    if isinstance(given, str):
        return given
    if isinstance(given, Formula):
        for name, value in names.items():
            if value is given:
                return name
        raise _odd("violates(...) cannot see this property's name", "Give its name as a string.")
    if not hasattr(given, "__name__"):
        called = "Leave out the (): violates(p), not violates(p()). "
        help = (
            f"{called if isinstance(given, bool) else ''}Give functions, or their names as strings."
        )
        raise _odd(f"violates({given!r}) names no property", help)
    return property_name(given)


def _numbers(word: str, **numbers: int | None) -> None:
    for name, number in numbers.items():
        if number is not None and (type(number) is not int or number < 0):
            raise _odd(
                f"{word}(...) cannot expect {name} {number!r}", "It must be an integer from 0 on."
            )


def _odd(what: str, help: str) -> SpecError:
    return SpecError("SW305", f"{what}.", help=help)


def config(name: str, /, *, expect: Expectation | None = None, **constants: object) -> None:
    """Declare a named configuration, for ``statewalk check --config NAME``.

    ``MUTANT`` is a mutant's function or name.
    """
    chosen = constants.get(MUTANT)
    if callable(chosen):
        constants[MUTANT] = getattr(chosen, "__name__", chosen)
    if type(name) is not str or not name:
        raise _odd(f"A configuration cannot be called {name!r}", "Give it a string as its name.")
    if name == AS_IT_IS:
        raise _odd(f"Reports call a spec without configurations {name!r}", "Rename this one.")
    odd: object = expect
    if odd is not None and not isinstance(odd, Expectation):
        said = next((f.__name__ for f in (holds, violates) if odd is f), "")
        what = f"{said} without calling it" if said else repr(odd)
        wanted = f"{said}()" if said else "holds() or violates(...)"
        raise _odd(f"config({name!r}, ...) expects {what}", f"Write expect={wanted}.")
    if declaring:
        if any(known.name == name for known in declaring[-1].configurations):
            raise _odd(f"There are two configurations '{name}'", "Rename one of them.")
        declaring[-1].configurations.append(Configuration(name, constants, expect))
