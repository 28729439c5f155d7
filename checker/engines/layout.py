"""Slots, value ids and fingerprints: state ⇄ row. The only encoder.

A row is a sequence of value ids, one per slot; 0 is an absent slot, and trailing zeros are
dropped. Ids are dense per slot, in order of discovery, so rows mean something within one run only.
Fingerprints come from content alone: equal on every engine, machine and run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from statewalk.checker.states.content import key_of
from statewalk.checker.states.fingerprints import Fingerprints
from statewalk.checker.states.shortening import text_of
from statewalk.checker.symmetry.colours import Colouring
from statewalk.checker.symmetry.group import Symmetry
from statewalk.dsl.model import Model
from statewalk.dsl.values.stored import ABSENT, FrozenSet, intern_key
from statewalk.dsl.view import Path, State


@dataclass(frozen=True)
class Orbit:
    """The result of symmetry reduction on a row: its representative, its fingerprint, how
    many states it has.
    """

    row: tuple[int, ...]
    fingerprint: int
    size: int


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


class _Slots(dict[Path, Slot]):
    """The slots of a layout by their paths, made when new."""

    def __init__(self, layout: Layout) -> None:
        super().__init__()
        self._layout = layout

    def __missing__(self, path: Path) -> Slot:
        slots = self._layout.slots
        slot = self[path] = Slot(len(slots), path, self._layout.fingerprints.hidden(path))
        slots.append(slot)
        return slot


class _Elements(dict[Path, Any]):
    """Elements of sets, and keys, by the paths of their slots; read from a path that is new."""

    def __init__(self, model: Model) -> None:
        super().__init__()
        self._model = model

    def __missing__(self, path: Path) -> Any:
        found = self[path] = key_of(self._model, path[4])
        return found


_WORD = (1 << 64) - 1


class Layout:
    """The slots of a run, growing as the search meets new ones."""

    def __init__(
        self, model: Model, bits: int = 64, view: bool = False, symmetry: Symmetry | None = None
    ) -> None:
        self.symmetry = symmetry
        self._orbits: dict[tuple[int, ...], Orbit] = {}
        self.fingerprints = Fingerprints(model.fields, bits, view)
        self.mask = self.fingerprints.mask
        self.base = self.fingerprints.of_state(model.fixed)
        self.slots: list[Slot] = []
        self.exploded: set[tuple[str, str]] = set()  # (class, field): a slot for each element
        self.elements: dict[Path, Any] = _Elements(model)  # by path of such a slot; keys too
        self.by_path = _Slots(self)
        self.whole: dict[Path, None] = {}  # the paths of fields of initial states
        self.colouring = None
        if symmetry is not None:
            base = (self.base >> 64, self.base & _WORD) if bits == 128 else (self.base, 0)
            self.colouring = Colouring(symmetry.facts, self.fingerprints, base)

    def slot(self, path: Path) -> Slot:
        """Return the slot of a path, made when new."""
        return self.by_path[path]

    def show(self, path: Path) -> str:
        """Return a path as the author of the spec would write it; an element's is its set's."""
        owner, *rest = path
        shown = f"{owner}#{rest[0]}" if rest else str(owner)
        shown += f".{rest[1]}" if len(rest) > 1 else ""
        return f"{shown}[{text_of(self.elements[path])}]" if rest[2:3] == ["key"] else shown

    def value_id(self, slot: Slot, value: Any) -> int:
        """Return the id of a value in a slot, given when new."""
        key = intern_key(value)
        known = slot.ids.get(key)
        if known is None:
            known = slot.ids[key] = len(slot.values)
            slot.values.append(value)
            slot.contributions.append(self.fingerprints.contribution(slot.path, value))
        return known

    def explode(self, fields: set[tuple[str, str]]) -> None:
        """Give the elements of set fields a slot each from now on."""
        self.exploded = fields

    def _apart(self, state: State) -> State:
        """Return a state, or writes, with a path for each element of an exploded set."""
        if not self.exploded:
            return state
        found: dict[Path, Any] = {}
        for path, value in state.items():
            if len(path) != 3 or (path[0], path[2]) not in self.exploded:
                found[path] = value
                continue
            known = {slot.path for slot in self.slots if slot.path[:3] == path}
            found.update(dict.fromkeys(known, ABSENT))
            for element in value:
                found[(*path, "in", intern_key(element))] = True
        return found

    def _together(self, state: dict[Path, Any]) -> dict[Path, Any]:
        """Return the state as the model has it: exploded sets as whole values."""
        if not self.exploded:
            return state
        found: dict[Path, Any] = {
            path: FrozenSet() for path in self.whole if (path[0], path[2]) in self.exploded
        }
        elements: dict[Path, list[Any]] = {}
        for path, value in state.items():
            if len(path) == 5 and path[3] == "in" and (path[0], path[2]) in self.exploded:
                elements.setdefault(path[:3], []).append(self.elements[path])
            else:
                found[path] = value
        found.update({path: FrozenSet(held) for path, held in elements.items()})
        return found

    def row(self, state: State) -> tuple[int, ...]:
        """Return the row of a state."""
        if self.exploded:
            self.whole.update(dict.fromkeys(p for p in state if len(p) == 3))
        return self.changed((), state)

    def changed(self, row: Sequence[int], writes: State) -> tuple[int, ...]:
        """A row after writes."""
        result = list(row)
        for path, value in self._apart(writes).items():
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
        """Return the state of a row."""
        return self._together(
            {slot.path: slot.values[id] for slot, id in zip(self.slots, row, strict=False) if id}
        )

    def fingerprint(self, row: Sequence[int]) -> int:
        """Return the fingerprint of a row's state, of its orbit under symmetry."""
        if self.symmetry is not None:
            return self.orbit(row).fingerprint
        total = sum(slot.contributions[id] for slot, id in zip(self.slots, row, strict=False))
        return (self.base + total) & self.mask

    def identity(self, row: tuple[int, ...]) -> tuple[int, ...]:
        """Return what tells states apart: the row without hidden slots, canonical under
        symmetry.
        """
        return self._shown(row) if self.symmetry is None else self.orbit(row).row

    def orbit(self, row: Sequence[int]) -> Orbit:
        """Return the orbit of a row's state; under symmetry only."""
        assert self.symmetry is not None
        assert self.colouring is not None
        shown = self._shown(tuple(row))
        known = self._orbits.get(shown)
        if known is None:
            state = self.state(shown)
            found = self.colouring.of(state)
            high, low = found.fingerprint
            representative = self.symmetry.canonical(state, [c for c, _ in found.colours])
            known = self._orbits[shown] = Orbit(
                self.row(representative),
                (high << 64) + low if self.fingerprints.bits == 128 else high,
                self.symmetry.order // found.stabiliser,
            )
        return known

    def _shown(self, row: tuple[int, ...]) -> tuple[int, ...]:
        if not any(slot.hidden for slot in self.slots):
            return row
        shown = [0 if slot.hidden else id for slot, id in zip(self.slots, row, strict=False)]
        while shown and shown[-1] == 0:
            shown.pop()
        return tuple(shown)
