"""The values of a domain by number: the fewer than can be listed, and the many that cannot."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Flag
from math import prod
from typing import Any

from statewalk.dsl.state.roles import Role
from statewalk.dsl.values.domains import Domain
from statewalk.dsl.values.stored import ABSENT, FrozenDict, FrozenSet, freeze, intern_key

_LISTED = 10_000  # values of which equal ones are looked for


class Unbounded(Exception):
    """The signal that a domain has no end: what of it, and a type that has one."""

    def __init__(self, what: str, instead: str) -> None:
        super().__init__(what)
        self.what, self.instead = what, instead


@dataclass(frozen=True)
class Values:
    """The values of a domain: how many, and each by its number from 0 on."""

    count: int
    at: Callable[[int], Any]

    def __iter__(self) -> Iterator[Any]:
        return map(self.at, range(self.count))


def listed(values: Iterable[Any]) -> Values:
    """Return values without those that are there already."""
    known = list({intern_key(value): value for value in map(freeze, values)}.values())
    return Values(len(known), known.__getitem__)


class Reader:
    """Reads the values of domains in a model with these roles, and record classes by name."""

    def __init__(self, roles: Sequence[Role], classes: Mapping[str, type]) -> None:
        self.roles, self.classes = roles, classes

    def values(self, domain: Domain) -> Values:
        """Return the values of a domain. Raises Unbounded."""
        return self.read(domain, ())

    def read(self, domain: Domain, above: tuple[type, ...]) -> Values:
        """Return the values of a domain within records of the classes ``above``."""
        if domain.options is not None:
            return listed(_options(domain.options))
        if domain.either:
            return self._either(domain, above)
        if domain.kind in ("set", "frozenset") and domain.element is not None:
            return _subsets(self.read(domain.element, above))
        if domain.kind == "dict" and domain.element is not None and domain.key is not None:
            return _dicts(self.read(domain.key, above), self.read(domain.element, above))
        if domain.kind in ("list", "bag"):
            instead = "a tuple or a set, or --domain"
            raise Unbounded(f"{domain.text}, of any length", instead)
        if domain.kind == "record":
            return _joined([self._record(cls, above) for cls in self._of(domain)])
        if domain.parts:
            if domain.admits(()):
                raise Unbounded(f"{domain.text}, of any length", "a tuple with a type per part")
            return _product([self.read(part, above) for part in domain.parts], tuple)
        instances = [] if domain.admits(object()) else [r for r in self.roles if domain.admits(r)]
        if instances:
            return listed(instances)
        raise Unbounded(domain.text, "Literal[...] or Annotated[int, range(...)]")

    def _of(self, domain: Domain) -> list[type]:
        """Return the record classes of this spec; others may be loaded beside it."""
        found = [cls for cls in domain.records if self.classes.get(cls.__name__) is cls]
        if not found or any(getattr(cls, "_open", False) for cls in found):
            raise Unbounded(domain.text, "a record class with fields")
        return found

    def _either(self, domain: Domain, above: tuple[type, ...]) -> Values:
        found = _joined([self.read(part, above) for part in domain.either])
        return listed(found) if found.count <= _LISTED else found

    def _record(self, cls: type, above: tuple[type, ...]) -> Values:
        if cls in above:
            raise Unbounded(f"a {cls.__name__} within a {cls.__name__}", "a type without itself")
        domains: dict[str, Domain] = getattr(cls, "_domains", {})
        names: tuple[str, ...] = getattr(cls, "_fields", ())
        parts = [self.read(domains[name], (*above, cls)) for name in names]
        return _product(parts, lambda values: _made(cls, dict(zip(names, values, strict=True))))


def _options(options: tuple[Any, ...]) -> Iterable[Any]:
    """Return the options of a finite domain; of flags all that can be put together of them."""
    if not options or not isinstance(options[0], Flag):
        return options
    flags, none = options, type(options[0])(0)
    return (
        functools.reduce(operator.or_, chosen, none)
        for size in range(len(flags) + 1)
        for chosen in itertools.combinations(flags, size)
    )


def _made(cls: type, content: dict[str, Any]) -> Any:
    result: Any = object.__new__(cls)
    result.__dict__.update(content)
    return freeze(result)


def _digits(number: int, counts: Sequence[int]) -> list[int]:
    """Return a number in the mixed radix of these counts, the last digit the fastest."""
    found = []
    for count in reversed(counts):
        number, digit = divmod(number, count)
        found.append(digit)
    return found[::-1]


def _product(parts: Sequence[Values], make: Callable[[list[Any]], Any]) -> Values:
    counts = [part.count for part in parts]

    def at(number: int) -> Any:
        digits = _digits(number, counts)
        return make([part.at(digit) for part, digit in zip(parts, digits, strict=True)])

    return Values(prod(counts), at)


def _joined(parts: Sequence[Values]) -> Values:
    def at(number: int) -> Any:
        for part in parts:
            if number < part.count:
                return part.at(number)
            number -= part.count
        raise IndexError(number)

    return Values(sum(part.count for part in parts), at)


def _subsets(elements: Values) -> Values:
    def at(number: int) -> FrozenSet:
        members = (i for i in range(number.bit_length()) if number >> i & 1)
        return FrozenSet(elements.at(i) for i in members)

    return Values(_power(2, elements.count), at)


def _dicts(keys: Values, values: Values) -> Values:
    """Return all dicts from some of the keys to values."""
    known = [keys.at(i) for i in range(keys.count)] if keys.count <= _LISTED else []
    counts = [values.count + 1] * len(known)

    def at(number: int) -> FrozenDict:
        digits = _digits(number, counts)
        pairs = zip(known, digits, strict=True)
        return FrozenDict((key, values.at(digit - 1)) for key, digit in pairs if digit)

    return Values(_power(values.count + 1, keys.count), at)


def _power(base: int, exponent: int) -> int:
    if exponent > _LISTED:
        raise Unbounded(f"a container with up to {exponent:,} elements", "fewer elements")
    return int(base**exponent)


def or_absent(values: Values) -> Values:
    """Return the values, and that there is none."""
    return Values(values.count + 1, lambda n: values.at(n - 1) if n else ABSENT)
