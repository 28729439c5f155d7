"""From canonical bytes back to values. Data is only ever read, never run."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, Flag
from typing import Any

from statewalk.dsl.errors import RunError
from statewalk.dsl.state.roles import Role
from statewalk.dsl.values.records import Record
from statewalk.dsl.values.stored import FrozenBag, FrozenDict, FrozenList, FrozenSet

_MAX_DEPTH = 200


class _Reader:
    """A position in canonical bytes."""

    def __init__(self, data: bytes, classes: Mapping[str, type]) -> None:
        self.data = data
        self.at = 0
        self.classes = classes

    def value(self, depth: int = 0) -> Any:
        if depth > _MAX_DEPTH:
            raise RunError("SW401", "A stored value is nested too deeply.")
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
        raise RunError("SW401", f"A stored value has an unknown tag {tag}.")

    def byte(self) -> int:
        if self.at >= len(self.data):
            raise RunError("SW401", "A stored value ends too early.")
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
            raise RunError("SW401", "A stored value ends too early.")
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
            raise RunError("SW402", f"The spec has no {name}, which a stored value needs.")
        return cls

    def enum(self) -> Any:
        cls = self.named(Enum)
        self.byte()
        members, at = list(cls), self.integer()
        if issubclass(cls, Flag):
            return cls(at)
        if at >= len(members):
            raise RunError("SW402", f"{cls.__name__} has no member number {at}.")
        return members[at]

    def role(self) -> Any:
        cls = self.named(Role)
        self.byte()
        at = self.integer()
        if not 0 <= at < len(cls._instances):
            raise RunError("SW402", f"The spec has no {cls.__name__}#{at}.")
        return cls._instances[at]

    def record(self, depth: int) -> Any:
        cls = self.named(Record)
        items = self.items(depth)
        if cls._open:
            return cls._from_items(items)._freeze()
        if len(items) != len(cls._fields):
            raise RunError(
                "SW402", f"{cls.__name__} has {len(cls._fields)} fields, {len(items)} are stored."
            )
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
    """The value of canonical bytes. ``classes`` are the records, roles and enums of the model by
    name.

    Raises:  RunError[SW401] for bytes that are none, RunError[SW402] for what the model does not
    have.
    """
    reader = _Reader(data, classes)
    value = reader.value()
    if reader.at != len(data):
        raise RunError("SW401", "A stored value is followed by further bytes.")
    return value
