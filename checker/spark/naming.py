"""Names of what is learned, equal in all processes that have loaded the same spec.

Projections, operations and calls have numbers in the order in which a process has met them, which
differs between processes. Each is found by a key made of values, and of the numbers of operations
before it; the digest of that, names in the place of numbers, is its *name*. What has a key with
something else in it has no name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING, Any

from dsl.errors import SpecError
from dsl.values import ABSENT, encode

if TYPE_CHECKING:
    from checker.native.learned import Learned

Name = bytes
_PLAIN = (type(None), bool, int, str)


class Nameless(Exception):
    """A key holds something that other processes do not know by the same bytes."""


def name_of(*key: object) -> Name:
    """The name of a key.

    Raises:  Nameless
    """
    return blake2b(b"".join(_data(key)), digest_size=16).digest()


def _data(key: object) -> Iterator[bytes]:
    """A key as bytes, each part after its kind and length: different keys give different ones."""
    kind = type(key)
    if isinstance(key, tuple) and kind is tuple:
        yield b"t%d:" % len(key)
        for part in key:
            yield from _data(part)
        return
    if isinstance(key, bytes):
        tag, data = b"b", key
    elif key is ABSENT:
        tag, data = b"a", b""
    elif kind in _PLAIN or isinstance(key, Enum) or hasattr(kind, "_canonical"):
        tag, data = b"v", encode(key)
    else:
        raise Nameless
    yield b"%b%d:" % (tag, len(data))
    yield data


class Names:
    """The names of what one process has learned, brought up to date when asked.

    ``projections``, ``operations`` and ``calls`` are names by number, None for what has none; the
    tables ending in ``_of`` lead back.
    """

    def __init__(self, learned: Learned) -> None:
        self._learned = learned
        self.projections: list[Name | None] = []
        self.operations: list[Name | None] = []
        self.calls: list[Name | None] = []
        self.projection_of: dict[Name, int] = {}
        self.operation_of: dict[Name, int] = {}
        self.call_of: dict[Name, int] = {}

    def refresh(self) -> None:
        """Name what is new. Operations first: keys refer to earlier ones by number."""
        learned = self._learned
        operations = self._new(learned.operation_of, self.operations)
        for slot, key in operations:
            number, name = len(self.operations), self._named("operation", slot, key)
            self._note(self.operations, self.operation_of, number, name)
        for slot, key in self._new(learned.projection_of, self.projections):
            number, name = len(self.projections), self._named("projection", slot, key)
            self._note(self.projections, self.projection_of, number, name)
        for key in self._new(learned.call_of, self.calls):
            self._note(self.calls, self.call_of, len(self.calls), _or_none("call", key))

    @staticmethod
    def _new(found: Mapping[Any, object], known: list[Name | None]) -> list[Any]:
        """Keys that were added, in the order of their numbers."""
        added = list(islice(reversed(found), len(found) - len(known)))
        return added[::-1]

    @staticmethod
    def _note(
        names: list[Name | None], numbers: dict[Name, int], number: int, name: Name | None
    ) -> None:
        names.append(name)
        if name is not None:
            numbers[name] = number

    def _named(self, what: str, slot: int, key: Any) -> Name | None:
        """The name of a key at a slot; those that `TracingView` makes hold operations' numbers."""
        path = self._learned.layout.slots[slot].path
        if type(key) is tuple and len(key) > 1 and type(key[1]) is int and (
            (what == "operation" and key[0] == "then" and len(key) == 3)
            or (what == "projection" and (key[0], len(key)) in (("after", 4), ("raises", 2)))
        ):  # fmt: skip
            before = self.operations[key[1]]
            return None if before is None else _or_none(what, path, key[0], before, key[2:])
        return _or_none(what, path, key)


def _or_none(*key: object) -> Name | None:
    try:
        return name_of(*key)
    except (Nameless, SpecError):  # the latter for what no state could hold
        return None
