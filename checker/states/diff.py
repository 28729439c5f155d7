"""The changes of a step, by nested path: ``~ Broker#0.pending[0].epoch 1 → 2``, not wholes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, Flag
from typing import Any, Literal

from statewalk.checker.states.content import Content, show_field
from statewalk.checker.states.shortening import text_of
from statewalk.dsl.errors import RunError
from statewalk.dsl.model import Model
from statewalk.dsl.values.canonical import (
    BAG_TAG,
    DICT_TAG,
    END,
    ENUM_TAG,
    LIST_TAG,
    RECORD_TAG,
    SET_TAG,
    TUPLE_TAG,
    encode,
    int_bytes,
    text_bytes,
)
from statewalk.dsl.values.frozen import SCALARS
from statewalk.dsl.values.records import Record, fields_of, record_class
from statewalk.dsl.values.stored import (
    ABSENT,
    FrozenBag,
    FrozenDict,
    FrozenList,
    FrozenSet,
    freeze,
)

Mark = Literal["+", "-", "~"]


@dataclass(frozen=True)
class Change:
    """One change. ``+`` has no ``before``, ``-`` no ``after``.

    ``element`` tells that something was put into, or taken out of, what is at ``place``;
    ``shifting`` that this was in a list, in which later elements have other places now.
    """

    mark: Mark
    place: str
    before: Any = ABSENT
    after: Any = ABSENT
    element: bool = False
    shifting: bool = False

    def __str__(self) -> str:
        if self.mark == "~":
            return f"~ {self.place}  {text_of(self.before)} → {text_of(self.after)}"
        value = self.after if self.mark == "+" else self.before
        link = " " if self.element else " = "
        return f"{self.mark} {self.place}{link}{text_of(value)}"


def changes(
    before: Content, after: Content, names: Mapping[str, str] | None = None
) -> Iterator[Change]:
    """Yield the changes between two states, in the order of the fields."""
    for path in dict.fromkeys([*before, *after]):
        yield from between(
            show_field(path, names), before.get(path, ABSENT), after.get(path, ABSENT)
        )


def between(place: str, a: Any, b: Any) -> Iterator[Change]:
    """Yield the changes that make ``b`` of ``a`` at a place."""
    if a is ABSENT or b is ABSENT:
        if b is not ABSENT:
            yield Change("+", place, after=b)
        elif a is not ABSENT:
            yield Change("-", place, before=a)
        return
    if alike(a, b):
        return
    kind = type(a)
    if kind is not type(b) and not _same_record(a, b):
        yield Change("~", place, a, b)
    elif kind is FrozenDict:
        was, now = ({by_names(k): (k, v) for k, v in d.items()} for d in (a, b))
        for key, _ in _either(was, now):
            at, of = f"{place}[{text_of(key)}]", by_names(key)
            yield from between(at, *(d.get(of, (key, ABSENT))[1] for d in (was, now)))
    elif kind is FrozenSet:
        was, now = ({by_names(e): e for e in s} for s in (a, b))
        yield from (Change("-", place, before=was[e], element=True) for e in was if e not in now)
        yield from (Change("+", place, after=now[e], element=True) for e in now if e not in was)
    elif kind is FrozenBag:
        yield from _bags(place, a, b)
    elif kind is FrozenList:
        yield from _lists(place, a, b)
    elif kind is tuple and len(a) == len(b):
        for index, (x, y) in enumerate(zip(a, b, strict=True)):
            yield from between(f"{place}[{index}]", x, y)
    elif isinstance(a, Record):
        for name in dict.fromkeys([*fields_of(a), *fields_of(b)]):
            yield from between(
                f"{place}.{name}", getattr(a, name, ABSENT), getattr(b, name, ABSENT)
            )
    else:
        yield Change("~", place, a, b)


def _same_record(a: Any, b: Any) -> bool:
    """Return whether two are records of one class, of two runs of a spec perhaps."""
    records = isinstance(a, Record) and isinstance(b, Record)
    return records and type(a).__name__ == type(b).__name__


def _either(a: Mapping[bytes, Any], b: Mapping[bytes, Any]) -> list[Any]:
    """Return what one of two has, each once, in canonical order."""
    return sorted({**b, **a}.values(), key=lambda pair: encode(pair[0]))


def _bags(place: str, a: FrozenBag, b: FrozenBag) -> Iterator[Change]:
    was, now = ({by_names(e): (e, n) for e, n in bag.counts()} for bag in (a, b))
    for element, _ in _either(was, now):
        of = by_names(element)
        by = now.get(of, (element, 0))[1] - was.get(of, (element, 0))[1]
        for _ in range(-by):
            yield Change("-", place, before=element, element=True)
        for _ in range(by):
            yield Change("+", place, after=element, element=True)


def _lists(place: str, a: FrozenList, b: FrozenList) -> Iterator[Change]:
    """Yield elements changed in place where the length stayed, else what was inserted and
    removed.
    """
    x, y = [by_names(e) for e in a], [by_names(e) for e in b]
    if len(x) == len(y):
        for index, (before, after) in enumerate(zip(a, b, strict=True)):
            yield from between(f"{place}[{index}]", before, after)
        return
    from difflib import SequenceMatcher

    for kind, i, i2, j, j2 in SequenceMatcher(None, x, y, autojunk=False).get_opcodes():
        if kind == "replace" and i2 - i == j2 - j:
            for offset in range(i2 - i):
                yield from between(f"{place}[{j + offset}]", a[i + offset], b[j + offset])
        elif kind != "equal":
            for n in range(i, i2):
                yield Change("-", f"{place}[{n}]", before=a[n], shifting=True)
            for n in range(j, j2):
                yield Change("+", f"{place}[{n}]", after=b[n], shifting=True)


def by_names(value: Any) -> bytes:
    """Return bytes that are equal for values that are one by their names; empty for `ABSENT`."""
    return b"" if value is ABSENT else _of(freeze(value))


def alike(a: Any, b: Any) -> bool:
    """Return whether two values are one by their names, whichever load or spec each is of."""
    return a is b or by_names(a) == by_names(b)


def alike_state(a: Mapping[Any, Any], b: Mapping[Any, Any]) -> bool:
    """Return whether two contents of states are one by their names."""
    return a.keys() == b.keys() and all(alike(a[path], b[path]) for path in a)


def check_members(a: Model, b: Model) -> None:
    """Raises RunError[SW360] where a name of an enum is a member in one model, an alias in another.

    Members are compared by name, and such a name does not tell which of two is meant.
    """
    for name, cls in a.classes.items():
        other = b.classes.get(name)
        if other is None or not (issubclass(cls, Enum) and issubclass(other, Enum)):
            continue
        if issubclass(cls, Flag) or issubclass(other, Flag):
            continue  # these are compared by single members
        for one in cls.__members__.keys() & other.__members__.keys():
            mine, theirs = cls.__members__[one].name, other.__members__[one].name
            if mine != theirs:
                raise RunError(
                    "SW360",
                    f"{name}.{one} is {name}.{mine} in {a.name} and {name}.{theirs} in {b.name}.",
                    why="Enum members of two specs are compared by name.",
                    help=f"Give {one} a value of its own in both specs, or in neither.",
                )


def _of(value: Any) -> bytes:
    kind = type(value)
    if kind in SCALARS:
        return encode(value)
    if kind is tuple or kind is FrozenList:
        return _joined(TUPLE_TAG if kind is tuple else LIST_TAG, map(_of, value))
    if kind is FrozenSet:
        return _joined(SET_TAG, sorted(map(_of, value)))
    if kind is FrozenBag:
        return _joined(BAG_TAG, sorted(_of(e) + int_bytes(n) for e, n in value.counts()))
    if kind is FrozenDict:
        return _joined(DICT_TAG, sorted(_of(k) + _of(v) for k, v in value.items()))
    if isinstance(value, Enum):
        return _joined(ENUM_TAG + text_bytes(kind.__name__), _members(value))
    if isinstance(value, Record):
        fields = sorted(fields_of(value))
        parts = (text_bytes(name) + _of(getattr(value, name)) for name in fields)
        return _joined(RECORD_TAG + text_bytes(record_class(value).__name__), parts)
    return encode(value)


def _joined(head: bytes, parts: Any) -> bytes:
    return head + b"".join(parts) + END


def _members(value: Enum) -> list[bytes]:
    """Return the names of a member; of a Flag, those of its single members and the bits
    without a name.
    """
    if not isinstance(value, Flag):
        return [encode(value.name)]
    kind = type(value)
    left, names = value.value, list[str]()
    for member in kind:
        if not member.value & ~value.value:
            names.append(str(member.name))
            left &= ~member.value
    if left and value.name in kind.__members__:
        return [encode(value.name)]
    return [encode(name) for name in sorted(names)] + ([int_bytes(left)] if left else [])
