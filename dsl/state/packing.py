"""Results of memoised calls and projections as hashable values, and back.

A reference is packed as its place, so that what a remembered call returns still reaches the state.
What can change is packed only where nobody else holds it: each time it comes back as a new one, and
nobody could tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, Flag
from typing import Any

from statewalk.dsl.binding import binding
from statewalk.dsl.errors import RunError
from statewalk.dsl.state.detaching import Fixed
from statewalk.dsl.state.refs import Reference, make
from statewalk.dsl.state.roles import Role
from statewalk.dsl.values.canonical import is_named
from statewalk.dsl.values.domains import Domain
from statewalk.dsl.values.frozen import FROZEN, SCALARS
from statewalk.dsl.values.ordered_sets import OrderedFrozenSet, OrderedSet
from statewalk.dsl.values.records import Bag, Record, fields_of
from statewalk.dsl.values.stored import (
    FrozenBag,
    FrozenDict,
    FrozenList,
    FrozenSet,
    encode,
    intern_key,
)

_MAX_DEPTH = 200


def _damaged(why: str) -> RunError:
    """Return the error of bytes that are no value."""
    help = "The file is damaged: run statewalk check again to write it anew."
    return RunError("SW401", f"A stored value {why}.", help=help)


def _of_another_spec(said: str) -> RunError:
    """Return the error of a value that the spec cannot have."""
    help = "Use the spec and the constants of the run that stored the value, or run check again."
    return RunError("SW402", said, help=help)


class _Reader:
    """A position in canonical bytes."""

    def __init__(self, data: bytes, classes: Mapping[str, type]) -> None:
        self.data = data
        self.at = 0
        self.classes = classes

    def value(self, depth: int = 0) -> Any:
        if depth > _MAX_DEPTH:
            raise _damaged("is nested too deeply")
        tag = self.byte()
        if tag <= 3:
            return (None, False, True)[tag - 1]
        if tag == 4:
            return self.integer()
        if tag == 5:
            return self.text()
        if tag == 6:
            return self.enum()
        if tag == 7:
            return self.role()
        if tag == 10:
            return self.record(depth)
        if tag == 12:
            return self.bag(depth)
        items = self.items(depth)
        if tag == 8:
            return tuple(items)
        if tag == 9:
            return FrozenList(items)
        if tag == 11:
            return FrozenSet(items)
        if tag == 13 and len(items) % 2 == 0:
            return FrozenDict(zip(items[::2], items[1::2], strict=True))
        raise _damaged(f"has an unknown tag {tag}")

    def byte(self) -> int:
        if self.at >= len(self.data):
            raise _damaged("ends too early")
        self.at += 1
        return self.data[self.at - 1]

    def items(self, depth: int) -> list[Any]:
        found = []
        while self.peek() != 0:
            found.append(self.value(depth + 1))
        self.at += 1
        return found

    def peek(self) -> int:
        if self.at >= len(self.data):
            raise _damaged("ends too early")
        return self.data[self.at]

    def integer(self) -> int:
        head = self.byte()
        size = head - 128 if head >= 128 else 127 - head
        body = int.from_bytes(self.data[self.at : self.at + size], "big")
        self.at += size
        return body if head >= 128 else body - (1 << (8 * size)) + 1

    def text(self) -> str:
        parts = bytearray()
        while True:
            byte = self.byte()
            if byte == 0:
                if self.at < len(self.data) and self.data[self.at] == 0xFF:
                    self.at += 1
                    parts.append(0)
                    continue
                return parts.decode("utf-8", "surrogatepass")
            parts.append(byte)

    def named(self, wanted: type) -> Any:
        name = self.text()
        cls = self.classes.get(name)
        if cls is None or not issubclass(cls, wanted):
            raise _of_another_spec(f"The spec has no class {name}, which a stored value needs.")
        return cls

    def enum(self) -> Any:
        cls = self.named(Enum)
        self.byte()
        members, at = list(cls), self.integer()
        if issubclass(cls, Flag):
            return cls(at)
        if at >= len(members):
            known = ", ".join(member.name for member in members)
            said = f"A stored value is member {at} of {cls.__name__}, which has {len(members)}"
            raise _of_another_spec(f"{said}: {known}.")
        return members[at]

    def role(self) -> Any:
        cls = self.named(Role)
        self.byte()
        at = self.integer()
        if not 0 <= at < len(cls._instances):
            said = f"A stored value is {cls.__name__}#{at}, but the spec creates "
            raise _of_another_spec(f"{said}{len(cls._instances)} of this class.")
        return cls._instances[at]

    def record(self, depth: int) -> Any:
        cls = self.named(Record)
        items = self.items(depth)
        if cls._open:
            return cls._from_items(items)._freeze()
        if len(items) != len(cls._fields):
            known = ", ".join(cls._fields) or "none"
            said = f"A stored {cls.__name__} has {len(items)} fields, but the spec declares "
            raise _of_another_spec(f"{said}{len(cls._fields)}: {known}.")
        return cls(*items)._freeze()

    def bag(self, depth: int) -> FrozenBag:
        found = []
        while self.peek() != 0:
            element = self.value(depth + 1)
            self.byte()
            found += [element] * self.integer()
        self.at += 1
        return FrozenBag(found)


def decode(data: bytes, classes: Mapping[str, type]) -> Any:
    """Return the value of canonical bytes. ``classes`` are the records, roles and enums of
    the model by name.

    Raises:  RunError[SW401] for bytes that are none, RunError[SW402] for what the model does not
    have.
    """
    reader = _Reader(data, classes)
    value = reader.value()
    if reader.at != len(data):
        raise _damaged("is followed by further bytes")
    return value


class NotPackable(Exception):
    """A value that cannot be remembered: a generator, a detached reference, some other object."""


class Packed:
    """A packed value: its kind and packed parts, compared by canonical bytes."""

    __slots__ = ("_bytes", "kind", "parts")

    def __init__(self, kind: str, parts: tuple[Any, ...], data: bytes) -> None:
        self.kind = kind
        self.parts = parts
        self._bytes = b"\xfe" + kind.encode() + b"\x00" + data + b"\x00"

    def _canonical(self) -> bytes:
        return self._bytes

    def _freeze(self) -> Packed:
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Packed) and self._bytes == other._bytes

    def __hash__(self) -> int:
        return hash(self._bytes)

    def __repr__(self) -> str:
        return f"Packed({self.kind}, {self.parts!r})"


def _of_parts(kind: str, parts: list[Any]) -> Packed:
    return Packed(kind, tuple(parts), b"".join(encode(p) for p in parts))


def pack(value: Any) -> Any:
    """Return a hashable stand-in for what cannot change, or is in the state.

    Raises `NotPackable`.
    """
    kind = type(value)
    if kind in SCALARS or isinstance(value, Role) or kind in FROZEN:
        return value
    if isinstance(value, Reference):
        if value._cell is not None and not isinstance(value._cell, Fixed):
            raise NotPackable
        steps = b"".join(
            step.encode() + encode(key) if step != "f" else b"f" + encode(key)
            for step, key in value._sub
        )
        place = b"".join(p if type(p) is bytes else encode(p) for p in value._path)
        if value._cell is not None:
            return Packed("fixed", (value,), b"\x00".join((place, steps)))
        return Packed(
            "ref",
            (kind, value._path, value._sub, value._domain, getattr(value, "_keys", None)),
            b"\x00".join((f"{kind.__module__}.{kind.__qualname__}".encode(), place, steps)),
        )
    if isinstance(value, Enum | Record) and is_named(kind):
        if isinstance(value, Enum) or "_bytes" in value.__dict__:
            return value
    if kind is tuple:
        return _of_parts("tuple", [pack(v) for v in value])
    if isinstance(value, frozenset):
        return _of_parts(kind.__name__, sorted((pack(v) for v in value), key=encode))
    raise NotPackable


def pack_new(value: Any) -> Any:
    """Return the same for a value that nobody else holds, and that may change therefore."""
    kind = type(value)
    if isinstance(value, Reference):
        return pack(value)
    if kind is list:
        return _of_parts("list", [pack(v) for v in value])
    if isinstance(value, set):
        return _of_parts(kind.__name__, sorted((pack(v) for v in value), key=encode))
    if kind is dict:
        return _of_parts("dict", [pack(p) for item in value.items() for p in item])
    if kind is Bag:
        return Packed("bag", (value._freeze(),), encode(value._freeze()))
    if isinstance(value, Record) and is_named(kind) and "_bytes" not in value.__dict__:
        names = fields_of(value)
        parts = [pack(value.__dict__[name]) for name in names]
        data = kind.__name__.encode() + b"".join(encode(p) for p in (names, *parts))
        return Packed("record", (kind, names, *parts), data)
    return pack(value)


def unpack(value: Any) -> Any:
    """Return what was packed; mutable things fresh."""
    if type(value) is not Packed:
        return value
    parts = value.parts
    if value.kind == "fixed":
        return parts[0]
    if value.kind == "ref":
        return _reference(*parts)
    if value.kind == "record":
        record = object.__new__(parts[0])
        record.__dict__.update(zip(parts[1], map(unpack, parts[2:]), strict=True))
        return record
    found = [unpack(p) for p in parts]
    if value.kind == "dict":
        return dict(zip(found[::2], found[1::2], strict=True))
    if value.kind == "bag":
        return Bag(found[0])
    return _MAKERS[value.kind](found)


_MAKERS: dict[str, Any] = {"tuple": tuple, "list": list}
_MAKERS |= {"set": OrderedSet, "frozenset": OrderedFrozenSet}


def _reference(kind: type, path: Any, sub: Any, domain: Domain | None, keys: Any) -> Any:
    steps = tuple((step, intern_key(key)) for step, key in sub)
    known = binding.references.get(path, {}).get(steps)
    if known is not None:
        return known
    result = make(kind, path, sub, domain)
    if keys is not None:
        result._keys = keys
    return result
