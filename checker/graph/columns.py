"""From rows of value ids to columns a person can read: one for each field of each instance.

Fields that are laid out in several slots (entries of a dict, elements of a set) are put together
again. What a column holds is decided by the values it can take: integers of 64 bits, booleans, or
text. Nothing here needs the spec, so a worker elsewhere can do it from a pickle.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from statewalk.checker.native.kernels.numbering import recode
from statewalk.checker.states.content import declared_fields, key_of, short_names, show_field
from statewalk.checker.states.showing import text_of
from statewalk.dsl.values.stored import ABSENT, encode

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from statewalk.checker.engines.layout import Layout, Slot
    from statewalk.dsl.model import Model
    from statewalk.dsl.view import Path

Kind = Literal["int", "bool", "text"]
TYPES: dict[Kind, pa.DataType] = {"int": pa.int64(), "bool": pa.bool_(), "text": pa.string()}
RESERVED = ("fingerprint", "depth", "parent", "action", "actor", "arguments", "expanded")
_EMPTY = {"dict": "{}", "set": "set()", "bag": "Bag([])", "list": "[]"}
_REMEMBERED = 1 << 17
_FEW = 1 << 10  # texts that may stand in a file although no row has them
_PART, _MARK = 5, 3
_INT64 = range(-(1 << 63), 1 << 63)


@dataclass
class Column:
    """A column of the table of states.

    ``slots`` are the slots it is made of, and ``tables[i]`` what slot i shows by value id; None at
    id 0, where the slot is absent. ``keys`` are the texts of a dict's keys or a set's elements;
    empty for a field of one slot. A slot beyond them holds the field where none of these does.
    ``empty`` is what it shows where every slot is absent.
    """

    name: str
    shows: str
    kind: Kind
    slots: tuple[int, ...]
    tables: tuple[list[Any], ...]
    layout: Literal["whole", "dict", "set"] = "whole"
    keys: tuple[str, ...] = ()
    empty: str | None = None
    known: dict[bytes, str | None] = field(default_factory=dict, repr=False)

    def of(self, rows: NDArray[Any]) -> pa.Array:
        """The column of some states, given as rows of value ids that hold every slot."""
        if not self.slots:
            return pa.array([self.empty] * len(rows), TYPES[self.kind])
        if self.layout == "whole" and len(self.slots) == 1:
            table, codes = self.tables[0], rows[:, self.slots[0]]
            ids: Iterable[int] = range(len(table))
            if len(table) > _FEW:
                there, codes = _told_apart(codes)
                ids = rows[there, self.slots[0]].tolist()
            shown = [self.empty if id == 0 else table[id] for id in ids]
        else:
            part = rows[:, list(self.slots)]
            there, codes = _told_apart(*part.T)
            shown = [self._together(row) for row in part[there]]
        if self.kind == "text":
            return texts(shown, codes)
        return pa.array(shown, TYPES[self.kind]).take(pa.array(codes))

    def _together(self, ids: NDArray[Any]) -> str | None:
        """The text of a field that is laid out in several slots."""
        key = ids.astype(np.uint32).tobytes()
        if key in self.known:
            return self.known[key]
        parts = []
        whole = self.tables[-1][ids[-1]] if len(ids) > len(self.keys) else self.empty
        for at, id in enumerate(ids[: len(self.keys)].tolist()):
            if id:
                shown = self.keys[at]
                parts.append(f"{shown}: {self.tables[at][id]}" if self.layout == "dict" else shown)
        text = f"{{{', '.join(parts)}}}" if parts else whole
        if len(self.known) >= _REMEMBERED:
            self.known.clear()
        self.known[key] = text
        return text


def texts(shown: Sequence[str | None], codes: NDArray[Any]) -> pa.Array:
    """A column of texts by number, each text held once: it is written as fast as numbers are."""
    if len(shown) > _FEW:
        there, codes_of = _told_apart(codes)
        shown, codes = [shown[code] for code in codes[there].tolist()], codes_of
    numbers, dictionary = _each_once(tuple(shown))
    if not len(dictionary):
        return pa.DictionaryArray.from_arrays(pa.nulls(len(codes), pa.int32()), dictionary)
    coded = _recoded(numbers, codes)
    indices = pa.array(coded, mask=coded < 0 if None in shown else None)
    return pa.DictionaryArray.from_arrays(indices, dictionary, safe=False)


@lru_cache(maxsize=16)  # one part after the other has the same
def _each_once(shown: tuple[str | None, ...]) -> tuple[NDArray[np.int32], pa.Array]:
    """The number of each text, -1 for None, and the texts by number."""
    number: dict[str, int] = {}
    numbers = [-1 if t is None else number.setdefault(t, len(number)) for t in shown]
    return np.array(numbers, np.int32), pa.array(list(number), pa.string())


def _recoded(numbers: NDArray[np.int32], codes: NDArray[Any]) -> NDArray[np.int32]:
    """Each code's number."""
    if codes.dtype != np.int32:
        return numbers.take(codes)
    result: NDArray[np.int32] = np.empty(len(codes), np.int32)
    recode(codes, numbers, result)
    return result


def _told_apart(*columns: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Positions of rows, one of each kind, and of each row the number of its kind."""
    codes: NDArray[Any] = np.zeros(len(columns[0]), np.int64)
    kinds = 1
    for column in columns:
        width = int(column.max(initial=0)) + 1
        if kinds * width > _INT64.stop // 2:
            codes, kinds = _numbered(codes)
        codes = codes.astype(np.int64) * width + column
        kinds *= width
    numbers, n = _numbered(codes)
    there = np.zeros(n, np.int64)
    there[numbers[::-1]] = np.arange(len(numbers))[::-1]
    return there, numbers


def _numbered(codes: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """Small numbers instead of some, by hashing, and how many there are."""
    encoded = pa.array(codes).dictionary_encode()
    return encoded.indices.to_numpy(), len(encoded.dictionary)


def columns_of(model: Model, layout: Layout) -> list[Column]:
    """The columns of a model's states, in the order in which its fields are declared."""
    whole: dict[Path, Slot] = {}
    parts: dict[Path, list[Slot]] = {}
    for slot in layout.slots:
        path = slot.path
        if len(path) == _PART and path[_MARK] in ("key", "in"):
            parts.setdefault(path[:3], []).append(slot)
        elif not (len(path) == _MARK + 1 and path[_MARK] == "keys"):
            whole[path] = slot
    names, taken = short_names(model), {name.lower() for name in RESERVED}
    kinds = dict(declared_fields(model))
    others = [p for p in {**whole, **parts} if p not in kinds and (p in parts or _ever(whole[p]))]
    result = []
    for path in [*kinds, *sorted(set(others), key=repr)]:
        shown = show_field(path, names)
        name = _free(re.sub(r"\W+", "_", shown).strip("_") or "field", taken)
        empty = _EMPTY.get(kinds.get(path, ""))
        if path in parts:
            result.append(_split(model, name, shown, parts[path], whole.get(path), empty))
        else:
            slots = [whole[path]] if path in whole else []
            result.append(_single(name, shown, slots, empty))
    return result


def _ever(slot: Slot) -> bool:
    """Whether a slot ever holds something."""
    return len(slot.values) > 1


def _free(name: str, taken: set[str]) -> str:
    while name.lower() in taken:
        name += "_"
    taken.add(name.lower())
    return name


def _single(name: str, shown: str, slots: Sequence[Slot], empty: str | None) -> Column:
    values = [v for slot in slots for v in slot.values if v is not ABSENT]
    kind = _kind(values) if empty is None else "text"
    tables = tuple([None if v is ABSENT else _cell(v, kind) for v in slot.values] for slot in slots)
    return Column(name, shown, kind, tuple(s.id for s in slots), tables, empty=empty)


def _kind(values: Iterable[Any]) -> Kind:
    there = [v for v in values if v is not None]
    if there and all(type(v) is bool for v in there):
        return "bool"
    if there and all(type(v) is int and v in _INT64 for v in there):
        return "int"
    return "text"


def _cell(value: Any, kind: Kind) -> Any:
    """A value as its column holds it: strings without quotes, None as NULL."""
    if value is None or kind != "text":
        return value
    if type(value) is str:  # half a character, which a column cannot hold, as in JSON
        return value.encode(errors="backslashreplace").decode()
    return text_of(value)


def _split(
    model: Model,
    name: str,
    shown: str,
    slots: Sequence[Slot],
    whole: Slot | None,
    empty: str | None,
) -> Column:
    """The column of a dict or set in several slots; entries in the order of their keys' bytes."""
    keyed = sorted((encode(key_of(model, s.path[4])), s.id, s) for s in slots)
    ordered = [slot for _, _, slot in keyed]
    is_dict = ordered[0].path[_MARK] == "key"
    tables = tuple(
        [None if v is ABSENT else text_of(v) for v in s.values] if is_dict else [] for s in ordered
    )
    keys = tuple(text_of(key_of(model, s.path[4])) for s in ordered)
    slots_of = tuple(s.id for s in ordered)
    if whole is not None:
        slots_of += (whole.id,)
        tables += ([empty if v is ABSENT else _cell(v, "text") for v in whole.values],)
    layout: Literal["dict", "set"] = "dict" if is_dict else "set"
    return Column(name, shown, "text", slots_of, tables, layout, keys, empty)
