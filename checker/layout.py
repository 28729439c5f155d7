"""Slots, value ids and fingerprints: state ⇄ row. The only encoder.

A row is a sequence of value ids, one per slot; 0 is an absent slot, and trailing zeros are
dropped. Ids are dense per slot, in order of discovery, so rows mean something within one run only.
Fingerprints come from content alone: equal on every engine, machine and run.

The fingerprint of a state is the sum modulo 2^bits of a *contribution* per slot. The contribution
of a dict is the sum over its entries, of a set over its elements, of a record over its fields; so
it does not depend on how a field is laid out in slots. All other values contribute BLAKE2b of
(path, canonical bytes).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

from checker.symmetry import Symmetry
from dsl.model import FieldInfo, Model
from dsl.records import Record, fields_of
from dsl.values import ABSENT, FrozenDict, FrozenSet, encode, intern_key
from dsl.view import Path, State

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
        self._view = view
        self._leaves: dict[tuple[bytes, bytes], int] = {}

    def hidden(self, path: Path) -> bool:
        """Whether the view leaves a slot out (auxiliary), or it repeats others (key sets)."""
        if len(path) == 4 and path[3] == "keys":
            return True
        info = self._fields.get((path[0], path[2])) if self._view and len(path) > 2 else None
        return info is not None and info.auxiliary

    def contribution(self, path: Path, value: Any) -> int:
        """What a slot adds to the fingerprint; 0 where absent or hidden."""
        if value is ABSENT or self.hidden(path):
            return 0
        info = self._fields.get((path[0], path[2])) if len(path) == 3 else None
        return self._of(path_bytes(path), value, info.kind if info else None) & self.mask

    def _of(self, path: bytes, value: Any, declared: str | None) -> int:
        kind = type(value)
        if kind is FrozenSet:
            total = 0 if declared == "set" else self._leaf(path + _KIND, b"set")
            return total + sum(self._leaf(path + _IN + encode(e), _TRUE) for e in value)
        if kind is FrozenDict:
            total = 0 if declared == "dict" else self._leaf(path + _KIND, b"dict")
            return total + sum(self._of(path + _KEY + encode(k), v, None) for k, v in value.items())
        if isinstance(value, Record):
            total = self._leaf(path + _KIND, type(value).__name__.encode())
            return total + sum(
                self._of(path + _FIELD + encode(name), getattr(value, name), None)
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
        """The fingerprint of a whole state."""
        return sum(self.contribution(path, value) for path, value in state.items()) & self.mask


class Slot:
    """One slot: its path, and its values by id with their contributions."""

    __slots__ = ("contributions", "hidden", "id", "ids", "path", "values")

    def __init__(self, id: int, path: Path, hidden: bool) -> None:
        self.id = id
        self.path = path
        self.hidden = hidden
        self.values: list[Any] = [ABSENT]
        self.ids: dict[Any, int] = {ABSENT: 0}
        self.contributions: list[int] = [0]


class Layout:
    """The slots of a run, growing as the search meets new ones."""

    def __init__(
        self, model: Model, bits: int = 64, view: bool = False, symmetry: Symmetry | None = None
    ) -> None:
        self.symmetry = symmetry
        self._canonical: dict[tuple[int, ...], tuple[int, ...]] = {}
        self.fingerprints = Fingerprints(model.fields, bits, view)
        self.mask = self.fingerprints.mask
        self.base = self.fingerprints.of_state(model.fixed)
        self.slots: list[Slot] = []
        self._by_path: dict[Path, Slot] = {}

    def slot(self, path: Path) -> Slot:
        """The slot of a path, made when new."""
        slot = self._by_path.get(path)
        if slot is None:
            slot = Slot(len(self.slots), path, self.fingerprints.hidden(path))
            self._by_path[path] = slot
            self.slots.append(slot)
        return slot

    def value_id(self, slot: Slot, value: Any) -> int:
        """The id of a value in a slot, given when new."""
        key = intern_key(value)
        known = slot.ids.get(key)
        if known is None:
            known = slot.ids[key] = len(slot.values)
            slot.values.append(value)
            slot.contributions.append(self.fingerprints.contribution(slot.path, value))
        return known

    def row(self, state: State) -> tuple[int, ...]:
        """The row of a state."""
        return self.changed((), state)

    def changed(self, row: Sequence[int], writes: State) -> tuple[int, ...]:
        """A row after writes."""
        result = list(row)
        for path, value in writes.items():
            slot = self.slot(path)
            if slot.id >= len(result):
                if value is ABSENT:
                    continue
                result.extend([0] * (slot.id + 1 - len(result)))
            result[slot.id] = self.value_id(slot, value)
        while result and result[-1] == 0:
            result.pop()
        return tuple(result)

    def state(self, row: Sequence[int]) -> dict[Path, Any]:
        """The state of a row."""
        return {slot.path: slot.values[id] for slot, id in zip(self.slots, row, strict=False) if id}

    def fingerprint(self, row: Sequence[int]) -> int:
        """The fingerprint of a row's state, of its orbit's representative under symmetry."""
        if self.symmetry is not None:
            row = self.identity(tuple(row))
        total = sum(slot.contributions[id] for slot, id in zip(self.slots, row, strict=False))
        return (self.base + total) & self.mask

    def identity(self, row: tuple[int, ...]) -> tuple[int, ...]:
        """What tells states apart: the row without hidden slots, canonical under symmetry."""
        shown = self._shown(row)
        if self.symmetry is None:
            return shown
        known = self._canonical.get(shown)
        if known is None:
            known = self.row(self.symmetry.canonical(self.state(shown)))
            self._canonical[shown] = known
        return known

    def _shown(self, row: tuple[int, ...]) -> tuple[int, ...]:
        if not any(slot.hidden for slot in self.slots):
            return row
        shown = [0 if slot.hidden else id for slot, id in zip(self.slots, row, strict=False)]
        while shown and shown[-1] == 0:
            shown.pop()
        return tuple(shown)
