"""From rows of value ids to typed columns: one for each field of each instance.

Fields that are laid out in several slots (entries of a dict, elements of a set) are put together
again. The values that the search met decide the type of a column: see `form_of`. Nothing here needs
the spec once the columns are made.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa

from statewalk.checker.native.kernels.numbering import recode
from statewalk.checker.states.content import (
    declared_fields,
    key_of,
    runs_shown,
    short_names,
    show_field,
)
from statewalk.checker.states.shortening import text_of
from statewalk.dsl.values.records import Record, fields_of, record_class
from statewalk.dsl.values.stored import (
    ABSENT,
    FrozenBag,
    FrozenDict,
    FrozenList,
    FrozenSet,
    encode,
    freeze,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from statewalk.checker.engines.layout import Layout, Slot
    from statewalk.dsl.model import Model
    from statewalk.dsl.view import Path

RESERVED = ("fingerprint", "depth", "parent", "action", "actor", "arguments", "expanded")
TEXT = "_text"  # ends the name of what holds values of several types, as text
_FEW = 1 << 10  # texts that may stand in a file although no row has them
_DEEP = 16  # types are not nested deeper
_PART, _MARK = 5, 3
_INT64 = range(-(1 << 63), 1 << 63)


# -- types -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Form:
    """The Arrow type of values, and the function that makes cells of them. ``text`` where a part
    that has no name of its own is shown as text.
    """

    type: pa.DataType
    make: Callable[[Any], Any]
    text: bool = False

    def cell(self, value: Any) -> Any:
        """Return a value as Arrow takes it; None is NULL."""
        return None if value is None else self.make(value)


def form_of(values: Iterable[Any], deep: int = 0) -> Form:
    """Return the form of all values of one place, None aside.

    Integers of 64 bits, truth values and strings (with members of enums and instances of roles) are
    scalars. Lists, sets, bags, and tuples whose elements have a form in common are LIST, other
    tuples of one length STRUCT, dicts MAP, records STRUCT. Values of several kinds are text.
    """
    there = [value for value in values if value is not None]
    kinds = {_kind(value) for value in there}
    if len(kinds) > 1 or deep > _DEEP:
        return _AS_TEXT
    return _FORMS[kinds.pop()](there, deep + 1) if kinds else _STRING


def _kind(value: Any) -> str:
    kind = type(value)
    if kind is int:
        return "int" if value in _INT64 else "other"
    if kind in _KINDS:
        return _KINDS[kind]
    return "record" if isinstance(value, Record) else "string"  # an enum's member, or a role


def _string(value: Any) -> str:
    if type(value) is not str:
        return text_of(value)
    return value.encode(errors="backslashreplace").decode()  # half a character, as in JSON


def _list(there: Sequence[Any], deep: int) -> Form:
    return _listed(form_of(chain.from_iterable(there), deep))


def _listed(element: Form) -> Form:
    return Form(pa.list_(element.type), lambda v: list(map(element.cell, v)), element.text)


def _tuple(there: Sequence[Any], deep: int) -> Form:
    form = _list(there, deep)
    if not form.text or len(set(map(len, there))) > 1:
        return form
    forms = [form_of(at, deep) for at in zip(*there, strict=True)]
    parts = {f"_{n}{TEXT * form.text}": form for n, form in enumerate(forms, 1)}

    def cell(value: tuple[Any, ...]) -> dict[str, Any]:
        cells = (form.cell(v) for form, v in zip(forms, value, strict=True))
        return dict(zip(parts, cells, strict=True))

    return Form(pa.struct([(name, form.type) for name, form in parts.items()]), cell)


def _dict(there: Sequence[Any], deep: int) -> Form:
    values = chain.from_iterable(v.values() for v in there)
    return _map(chain.from_iterable(there), values, deep)[0]


def _map(keys: Iterable[Any], values: Iterable[Any], deep: int = 1) -> tuple[Form, Form, Form]:
    """Return the forms of dicts, of their keys and of their values."""
    keys = list(keys)
    key, item = form_of(keys, deep), form_of(values, deep)
    if None in keys or "map<" in str(key.type):  # neither can be a key in SQL
        key = _AS_TEXT

    def cell(value: Any) -> list[tuple[Any, Any]]:
        return [(key.make(k), item.cell(v)) for k, v in value.items()]

    return Form(pa.map_(key.type, item.type), cell, key.text or item.text), key, item


def _record(there: Sequence[Any], deep: int) -> Form:
    """A field for each there is in one of the records; of several classes also ``class``."""
    classes = dict.fromkeys(record_class(value).__name__ for value in there)
    values: dict[str, list[Any]] = {}
    for value in there:
        for name in fields_of(value):
            values.setdefault(name, []).append(freeze(getattr(value, name)))
    same = len(classes) == 1 and set(fields_of(there[0])) == values.keys()
    order = fields_of(there[0]) if same else sorted(values)  # not as met, which engines decide
    forms = {name: form_of(values[name], deep) for name in order}
    taken: set[str] = set()
    parts = [("class", pa.string())] if len(classes) > 1 or not forms else []
    taken.update(name for name, _ in parts)
    names = {name: _free(_plain(name) + TEXT * form.text, taken) for name, form in forms.items()}
    parts += [(names[name], form.type) for name, form in forms.items()]

    def cell(value: Any) -> dict[str, Any]:
        cells = {names[n]: forms[n].cell(freeze(getattr(value, n))) for n in fields_of(value)}
        return {"class": record_class(value).__name__, **cells}

    return Form(pa.struct(parts), cell)


_STRING, _AS_TEXT = Form(pa.string(), _string), Form(pa.string(), text_of, text=True)
_RAW = Form(pa.null(), lambda value: value)
_KINDS: dict[type, str] = {
    bool: "bool", str: "string", tuple: "tuple", FrozenList: "list", FrozenSet: "set",
    FrozenBag: "bag", FrozenDict: "dict",
}  # fmt: skip
_FORMS: dict[str, Callable[[Sequence[Any], int], Form]] = {
    "int": lambda *_: Form(pa.int64(), int),
    "bool": lambda *_: Form(pa.bool_(), bool),
    "string": lambda *_: _STRING,
    "other": lambda *_: _AS_TEXT,
    "list": _list, "set": _list, "bag": _list, "tuple": _tuple, "dict": _dict, "record": _record,
}  # fmt: skip


# -- columns ---------------------------------------------------------------------------------------


class Column(Protocol):
    """A column of the table of states, and the field that it shows."""

    name: str
    shows: str

    def of(self, rows: NDArray[Any]) -> pa.Array:
        """The cells of some states, given as rows of value ids that hold every slot."""
        ...


@dataclass
class Whole:
    """The column of a field in one slot, or in none; ``cells`` by value id."""

    name: str
    shows: str
    type: pa.DataType
    slot: int | None
    cells: list[Any]

    def of(self, rows: NDArray[Any]) -> pa.Array:
        """See `Column`."""
        codes = np.zeros(len(rows), np.int32) if self.slot is None else rows[:, self.slot]
        if self.type == pa.string():
            return texts(self.cells, codes)
        return self._array.take(pa.array(codes))

    @cached_property
    def _array(self) -> pa.Array:
        return pa.array(self.cells, self.type)


@dataclass
class Parts:
    """The column of a dict or set in several slots; the last one is that of ``whole``.

    ``tables[i]`` are the values of key i by value id. ``together`` makes a cell of the keys that
    are there, with their values. ``whole`` is what the column shows where none is.
    """

    name: str
    shows: str
    type: pa.DataType
    slots: list[int]
    keys: list[Any]
    tables: list[list[Any]]
    together: Callable[[list[tuple[Any, Any]]], Any]
    whole: list[Any]

    def of(self, rows: NDArray[Any]) -> pa.Array:
        """See `Column`."""
        part = rows[:, self.slots]
        there, codes = _told_apart(*part.T)
        cells = [self._cell(ids) for ids in part[there].tolist()]
        if self.type == pa.string():
            return texts(cells, codes)
        return pa.array(cells, self.type).take(pa.array(codes))

    def _cell(self, ids: list[int]) -> Any:
        parts = zip(self.keys, self.tables, ids, strict=False)
        found = [(key, table[id]) for key, table, id in parts if id]
        last = ids[-1] if len(ids) > len(self.keys) else 0
        return self.together(found) if found else self.whole[last]


def texts(shown: Sequence[str | None], codes: NDArray[Any]) -> pa.Array:
    """Return a column of texts by number, each text held once: it is written as fast as
    numbers are.
    """
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
    """Return the number of each text, -1 for None, and the texts by number."""
    number: dict[str, int] = {}
    numbers = [-1 if t is None else number.setdefault(t, len(number)) for t in shown]
    return np.array(numbers, np.int32), pa.array(list(number), pa.string())


def _recoded(numbers: NDArray[np.int32], codes: NDArray[Any]) -> NDArray[np.int32]:
    """Return each code's number."""
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
    """Return the columns of a model's states, in the order in which its fields are declared."""
    whole: dict[Path, Slot] = {}
    parts: dict[Path, list[Slot]] = {}
    for slot in layout.slots:
        path = slot.path
        if len(path) == _PART and path[_MARK] in ("key", "in"):
            parts.setdefault(path[:3], []).append(slot)
        elif not (len(path) == _MARK + 1 and path[_MARK] == "keys"):
            whole[path] = slot
    names, taken = short_names(model), {name.lower() for name in RESERVED}
    fields = declared_fields(model)
    others = [p for p in {**whole, **parts} if p not in fields and (p in parts or _ever(whole[p]))]
    result: list[Column] = []
    for path in [*fields, *sorted(set(others), key=repr)]:
        shown = show_field(path, names)
        empty, slot_of = fields.get(path, ABSENT), whole.get(path)
        empty = None if empty is ABSENT else empty

        def named(form: Form, shown: str = shown) -> tuple[str, str]:
            return _free(_plain(shown) + TEXT * form.text, taken), shown

        values = [] if slot_of is None else slot_of.values[1:]
        if path in parts:
            result.append(_split(model, named, parts[path], slot_of, [empty, *values]))
            continue
        runs = runs_shown(model, path)
        form = Form(pa.string(), runs, text=True) if runs else form_of([empty, *values])
        cells = [form.cell(v) for v in [empty, *values]]
        result.append(Whole(*named(form), form.type, slot_of.id if slot_of else None, cells))
    return result


def _ever(slot: Slot) -> bool:
    """Return whether a slot ever holds something."""
    return len(slot.values) > 1


def _plain(name: str) -> str:
    return re.sub(r"\W+", "_", name).strip("_") or "field"


def _free(name: str, taken: set[str]) -> str:
    while name.lower() in taken:
        name += "_"
    taken.add(name.lower())
    return name


def _split(
    model: Model,
    named: Callable[[Form], tuple[str, str]],
    slots: Sequence[Slot],
    whole: Slot | None,
    others: list[Any],
) -> Column:
    """Return the column of a dict or set in several slots; entries in the order of their
    keys' bytes. ``others`` are the values of the field where it is in one slot, by id.
    """
    keyed = sorted((encode(key_of(model, s.path[4])), s.id, s) for s in slots)
    ordered = [slot for _, _, slot in keyed]
    keys = [key_of(model, s.path[4]) for s in ordered]
    tables = [[None if v is ABSENT else v for v in s.values] for s in ordered]
    ids = [slot.id for slot in (*ordered, *([] if whole is None else [whole]))]
    is_dict = ordered[0].path[_MARK] == "key"
    kind = FrozenDict if is_dict else FrozenSet
    there = [v for v in others if v is not None]
    if any(type(v) is not kind for v in there):
        form, key, item = _AS_TEXT, _RAW, _RAW
    elif is_dict:
        all_keys, all_values = chain(keys, *there), chain(*tables, *(v.values() for v in there))
        form, key, item = _map(all_keys, all_values)
    else:
        key = item = form_of(chain(keys, *there))
        form = _listed(key)

    def together(found: list[tuple[Any, Any]]) -> Any:
        cells = found if is_dict else [k for k, _ in found]
        return text_of(kind(cells)) if form is _AS_TEXT else cells

    tables = [list(map(item.cell, table)) for table in tables] if is_dict else tables
    return Parts(
        *named(form), form.type, ids, list(map(key.make, keys)), tables, together,
        list(map(form.cell, others)),
    )  # fmt: skip
