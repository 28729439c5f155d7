"""Fingerprints: what a state's slots add up to, whatever their layout, engine, machine and run.

The fingerprint of a state is the sum modulo 2^bits of a *contribution* per slot. The contribution
of a dict is the sum over its entries, of a set over its elements, of a record over its fields; so
it does not depend on how a field is laid out in slots. A field that may have no value, which adds
nothing, adds its kind too, so an empty one is told apart. All other values contribute BLAKE2b of
(path, canonical bytes).
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from statewalk.dsl.model import FieldInfo
from statewalk.dsl.values.records import Record, fields_of
from statewalk.dsl.values.stored import ABSENT, FrozenDict, FrozenSet, encode
from statewalk.dsl.view import Path, State

FINGERPRINT_VERSION = "statewalk-fp-1"
_PERSON = FINGERPRINT_VERSION.encode()
_KEY, _IN, _FIELD, _KIND = (encode(word) for word in ("key", "in", ".", "kind"))
_TRUE = encode(True)


def path_bytes(path: Path) -> bytes:
    """Canonical bytes of a path; components that are bytes already are canonical."""
    return b"".join(part if type(part) is bytes else encode(part) for part in path)


class Fingerprints:
    """Contributions of slots to the fingerprint of a state."""

    def __init__(
        self, fields: Mapping[tuple[str, str], FieldInfo], bits: int = 64, view: bool = False
    ) -> None:
        self.bits = bits
        self.mask = (1 << bits) - 1
        self._fields = fields
        self.view = view
        self._leaves: dict[tuple[bytes, bytes], int] = {}

    def hidden(self, path: Path) -> bool:
        """Return whether the view leaves a slot out (auxiliary), or it repeats others
        (key sets).
        """
        if len(path) == 4 and path[3] == "keys":
            return True
        info = self._fields.get((path[0], path[2])) if self.view and len(path) > 2 else None
        return info is not None and info.auxiliary and path[1] not in info.shown

    def contribution(self, path: Path, value: Any) -> int:
        """Return what a slot adds to the fingerprint; 0 where absent or hidden."""
        if value is ABSENT or self.hidden(path):
            return 0
        return self.leaves(path_bytes(path), value, self.declared(path)) & self.mask

    def declared(self, path: Path) -> str | None:
        """Return the kind of value that a field is declared to hold; None for anything but a
        field that always has a value.
        """
        info = self._fields.get((path[0], path[2])) if len(path) == 3 else None
        return info.kind if info and info.settled else None

    def leaves(self, path: bytes, value: Any, declared: str | None) -> int:
        """Return the sum, not reduced, of what is in a value that stands at a path."""
        kind = type(value)
        if kind is FrozenSet:
            total = 0 if declared == "set" else self._leaf(path + _KIND, b"set")
            return total + sum(self._leaf(path + _IN + encode(e), _TRUE) for e in value)
        if kind is FrozenDict:
            total = 0 if declared == "dict" else self._leaf(path + _KIND, b"dict")
            return total + sum(
                self.leaves(path + _KEY + encode(k), v, None) for k, v in value.items()
            )
        if isinstance(value, Record):
            total = self._leaf(path + _KIND, type(value).__name__.encode())
            return total + sum(
                self.leaves(path + _FIELD + encode(name), getattr(value, name), None)
                for name in fields_of(value)
            )
        return self._leaf(path, encode(value))

    def _leaf(self, path: bytes, data: bytes) -> int:
        key = (path, data)
        known = self._leaves.get(key)
        if known is None:
            size = len(path).to_bytes(4, "big")
            digest = blake2b(
                size + path + data, digest_size=self.bits // 8, person=_PERSON
            ).digest()
            known = self._leaves[key] = int.from_bytes(digest, "little")
        return known

    def of_state(self, state: State) -> int:
        """Return the fingerprint of a whole state."""
        return sum(self.contribution(path, value) for path, value in state.items()) & self.mask
