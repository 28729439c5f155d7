"""What references to lists, sets, bags and dicts share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from statewalk.dsl.state.refs import Reference, seen
from statewalk.dsl.values.domains import Domain
from statewalk.dsl.values.stored import hashable, intern_key


class Sized(Reference):
    """A reference to something that has a size and can be asked for elements."""

    __slots__ = ()

    def __len__(self) -> int:
        return int(self._project("len", len))

    def __bool__(self) -> bool:
        return len(self) > 0

    def __contains__(self, element: object) -> bool:
        e = self._asked(element)
        return bool(self._by_equality(("in", intern_key(e)), lambda v: e in v))

    def _asked(self, element: object) -> Any:
        """What is looked for: in a set, or among keys, only what Python can look up there."""
        return hashable(element)

    def copy(self) -> Any:
        """A container of the same kind that is no part of the state, with the same elements."""
        raise NotImplementedError

    def __copy__(self) -> Any:
        return self.copy()

    def _element(self, value: Any) -> Any:
        return self._checked(value, self._domain.element if self._domain else None)

    def _as_seen(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Elements of a set, which are values, as a spec has them."""
        return _seen(elements, self._domain.element if self._domain else None, self)


def keys_seen(keys: Iterator[Any], of: Reference) -> Iterator[Any]:
    """The keys of a dict as a spec has them."""
    return _seen(keys, of._domain.key if of._domain else None, of)


def _seen(values: Iterator[Any], domain: Domain | None, of: Reference) -> Iterator[Any]:
    if domain is not None and not domain.may_contain:
        return values
    return (seen(value, domain, of._path, key=True) for value in values)
