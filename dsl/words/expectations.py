"""Configurations of a spec, and what they expect."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from statewalk.dsl.declared import Configuration, Expectation, LeadsTo, declaring, property_name
from statewalk.dsl.errors import SpecError
from statewalk.dsl.words.constants import MUTANT


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
    """Expect that these properties are violated, the first in ``length`` transitions.

    ``violates({small: 3, even: 5})`` says it of each. ``states`` is the number of states in all:
    the search keeps going past violations to count them.
    """
    lengths: dict[str, int | None] = {}
    names = sys._getframe(1).f_globals
    for given in properties:
        for each, steps in given.items() if isinstance(given, Mapping) else [(given, None)]:
            lengths[_name_of(each, names)] = steps
    if length is not None and lengths:
        if lengths[first := next(iter(lengths))] not in (None, length):
            raise _odd(f"violates(...) says two lengths of {first}", "Say one.")
        lengths[first] = length
    _numbers("violates", length=length, states=states, **lengths)
    said = {name: steps for name, steps in lengths.items() if steps is not None}
    first_length = next(iter(lengths.values()), length)
    return Expectation("violated", tuple(lengths), first_length, states=states, lengths=said)


def _name_of(given: Any, names: Mapping[str, Any]) -> str:
    """The name of a property; of `leads_to` and its kin, that in the module that speaks of it."""
    if isinstance(given, str):
        return given
    if isinstance(given, LeadsTo):
        for name, value in names.items():
            if value is given:
                return name
        raise _odd("violates(...) cannot see this property's name", "Give it as a text.")
    if not hasattr(given, "__name__"):
        called = "Leave out the (): violates(p), not violates(p()). "
        help = f"{called if isinstance(given, bool) else ''}Name functions, or texts."
        raise _odd(f"violates({given!r}) names no property", help)
    return property_name(given)


def _numbers(word: str, **numbers: int | None) -> None:
    for name, number in numbers.items():
        if number is not None and (type(number) is not int or number < 0):
            raise _odd(f"{word}(...) cannot expect {name} {number!r}", "It is a number from 0 on.")


def _odd(what: str, help: str) -> SpecError:
    return SpecError("SW305", f"{what}.", help=help)


def config(name: str, /, *, expect: Expectation | None = None, **constants: object) -> None:
    """A named set of constants, checked by ``statewalk check --config NAME``.

    ``MUTANT`` is given as the mutant's function, or as its name.
    """
    chosen = constants.get(MUTANT)
    if callable(chosen):
        constants[MUTANT] = getattr(chosen, "__name__", chosen)
    if type(name) is not str or not name:
        raise _odd(f"A configuration cannot be called {name!r}", "Its name is a text.")
    odd: object = expect
    if odd is not None and not isinstance(odd, Expectation):
        said = next((f.__name__ for f in (holds, violates) if odd is f), "")
        what = f"{said} without calling it" if said else repr(odd)
        wanted = f"{said}()" if said else "holds() or violates(...)"
        raise _odd(f"config({name!r}, ...) expects {what}", f"Write expect={wanted}.")
    if declaring:
        if any(known.name == name for known in declaring[-1].configurations):
            raise _odd(f"There are two configurations '{name}'", "Call one of them otherwise.")
        declaring[-1].configurations.append(Configuration(name, constants, expect))
