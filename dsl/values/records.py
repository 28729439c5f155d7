"""Records, messages and bags: the values that specs build themselves.

A record is an ordinary mutable object until it is stored; storing keeps a frozen copy. Changing a
frozen one is SW202. Equal means equal fields; the hash follows the content.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import Enum
from typing import Any, ClassVar, Generic, TypeVar, dataclass_transform

from statewalk.dsl.annotations import annotations_of
from statewalk.dsl.errors import SpecError, did_you_mean, no_delete, no_field
from statewalk.dsl.values.canonical import (
    END,
    RECORD_TAG,
    VALUES,
    check_named,
    text_bytes,
    unstorable,
)
from statewalk.dsl.values.ordered_sets import OrderedSet
from statewalk.dsl.values.stored import (
    FrozenBag,
    FrozenDict,
    FrozenList,
    FrozenSet,
    encode,
    freeze,
    without_roles,
)

T = TypeVar("T")
R = TypeVar("R", bound="Record")
_SIMPLE = frozenset({int, str, bool, type(None)})


def field_names(cls: type) -> tuple[str, ...]:
    """Return the fields of a record class, inherited ones first."""
    names: tuple[str, ...] = cls._fields  # type: ignore[attr-defined]
    return names


def fields_of(record: Record) -> tuple[str, ...]:
    """Return the names of a record's fields; a record with free fields has its own."""
    cls = record_class(record)
    if not cls._open:
        return cls._fields
    content = record.__dict__ if type(record) is cls else freeze(record).__dict__
    return tuple(sorted(name for name in content if name != "_bytes"))


def is_property(cls: type, name: str) -> bool:
    """Return whether a name of a record class is a property, and no field."""
    return name not in field_names(cls) and isinstance(getattr(cls, name, None), property)


def declared_fields(cls: type) -> list[str]:
    """Return the names that the body of a class declares with a type; class variables aside."""
    found = annotations_of(cls)
    return [n for n, hint in found.items() if n[:1] != "_" and "ClassVar" not in str(hint)]


LOOKING = dict.fromkeys(
    ("__setattr__", "__getattribute__", "__delattr__"),
    (
        "The checker reads and writes fields in the state directly, without calling it.",
        "Write a method, or a property under another name than the field's.",
    ),
) | {
    **dict.fromkeys(
        ("__eq__", "__ne__"),
        (
            "In the state, records are equal if their fields are equal. A role equals only itself.",
            "Write a method with another name, such as same(self, other).",
        ),
    ),
    "__hash__": (
        "In the state, equal records are the same value. The checker computes their hash itself.",
        "Remove __hash__.",
    ),
    "__getattr__": (
        "The checker must know all attributes before the search, to find misspelt fields.",
        "Write a method or a property for each of these names.",
    ),
    "__slots__": ("Fields are declared in the class body with a type.", "Remove __slots__."),
}
"""What a role or record may not have of its own: why, and what to do."""

_NEW = ("Records are copied without calling it.", "Write an __init__ instead.")


def check_own(cls: type, base: type, refused: Mapping[str, tuple[str, str]]) -> None:
    """Raise SpecError[SW123] where a class, or one it is made of, has what only its base may."""
    declared = declared_fields(cls)
    for name, (why, do) in refused.items():
        if getattr(cls, name, None) is not getattr(base, name, None) or name in declared:
            said = f"{cls.__name__} cannot define {name}."
            raise SpecError("SW123", said, why=why, help=do.format(cls.__name__))


KEPT = {"_bytes", "_domains", "_reference", "_referenced"}
"""What the checker keeps in records besides what Record has; `dsl.state.refs` adds its own."""


def private(cls: type) -> set[str]:
    """Return the names of a class of ours that begin with an underscore."""
    return {name for name in vars(cls) if name[:1] == "_" and name[:2] != "__"}


def check_kept(cls: type, base: type, names: Iterable[str]) -> None:
    """Raise SpecError[SW123] where a class, or one mixed in, has what the checker keeps there."""
    own = [part for part in cls.__mro__ if part is cls or not issubclass(part, base)]
    for name in sorted(names):
        if any(name in vars(part) for part in own):
            why = f"The checker uses this name internally, in every {base.__name__}."
            free = name[1:] if not hasattr(base, name[1:]) else f"own{name}"
            help = f"Give it another name, such as {free}."
            said = f"{cls.__name__} cannot define {name}."
            raise SpecError("SW123", said, why=why, help=help)


@dataclass_transform(eq_default=False)
class Record:
    """A value with named fields, equal to one with equal fields."""

    _fields: ClassVar[tuple[str, ...]] = ()
    __match_args__: ClassVar[tuple[str, ...]] = ()
    # Whether fields of any name may be added, as in .fizz specs.
    _open: ClassVar[bool] = False
    # Whether it is one value like a number, and no place with parts.
    _single: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if not cls.__module__.startswith("statewalk.dsl."):
            check_own(cls, Record, {**LOOKING, "__new__": _NEW})
            check_kept(cls, Record, {*private(Record), *KEPT})
        own = declared_fields(cls)
        inherited = [n for base in reversed(cls.__mro__[1:]) for n in getattr(base, "_fields", ())]
        cls._fields = tuple(dict.fromkeys([*inherited, *own]))
        if "__match_args__" not in cls.__dict__:
            cls.__match_args__ = cls._fields  # type: ignore[misc]

    @classmethod
    def __subclasses__(cls) -> list[Any]:
        """Without the classes of references, which no spec wrote."""
        return [c for c in type.__subclasses__(cls) if "_referenced" not in c.__dict__]

    def __init__(self, *values: Any, **named: Any) -> None:
        cls = type(self)
        fields = cls._fields
        if len(values) > len(fields):
            raise TypeError(f"{cls.__name__} has {len(fields)} fields, {len(values)} values given")
        content = self.__dict__
        for name, value in zip(fields, values, strict=False):
            content[name] = value
        for name, value in named.items():
            if name not in fields:
                raise no_field(cls, name, fields)
            if name in content:
                raise TypeError(f"{cls.__name__} got two values for '{name}'")
            content[name] = value
        for name in fields:
            if name not in content:
                if not hasattr(cls, name):
                    raise TypeError(f"{cls.__name__} needs a value for '{name}'")
                default = getattr(cls, name)
                content[name] = (
                    copy.copy(default) if isinstance(default, list | set | dict) else default
                )
        if hasattr(cls, "__post_init__"):
            self.__post_init__()

    def __getattr__(self, name: str) -> Any:
        if name[:1] == "_":
            raise AttributeError(name)
        cls = record_class(self)
        raise (_no_value if name in cls._fields else no_field)(cls, name, cls._fields)

    def __delattr__(self, name: str) -> None:
        raise no_delete(f"{record_class(self).__name__}.{name}")

    def __setattr__(self, name: str, value: Any) -> None:
        cls = type(self)
        if is_property(cls, name):
            object.__setattr__(self, name, value)
            return
        if name not in cls._fields:
            raise no_field(cls, name, cls._fields)
        if "_bytes" in self.__dict__:
            said = f"This {cls.__name__} is a value and cannot be changed."
            help = f"Make a changed one, replace(record, {name}={value!r}), and store that; "
            help += "in a set or as a key, after removing the old one."
            raise SpecError("SW202", said, why=VALUES, help=help)
        self.__dict__[name] = value

    def _freeze(self) -> Any:
        if "_bytes" in self.__dict__:
            return self
        cls = type(self)
        check_named(cls)
        result = object.__new__(cls)
        content = result.__dict__
        for name in cls._fields:
            if name not in self.__dict__:
                raise _no_value(cls, name, cls._fields)
            content[name] = freeze(self.__dict__[name])
        content["_bytes"] = None  # marks it as frozen; most are never compared
        return result

    def _with(self, name: str, value: Any) -> Any:
        """Return a frozen record with one field changed to a frozen value."""
        result = object.__new__(type(self))
        content = result.__dict__
        content.update(self.__dict__)
        content[name] = value
        content["_bytes"] = None
        return result

    def _encoded(self) -> bytes:
        """Return the canonical bytes of a frozen record."""
        cls, content = type(self), self.__dict__
        parts = [encode(content[name]) for name in cls._fields]
        return b"".join([RECORD_TAG, text_bytes(cls.__name__), *parts, END])

    def _canonical(self) -> bytes:
        content = self.__dict__
        if "_bytes" not in content:
            data: bytes = self._freeze()._canonical()
            return data
        if content["_bytes"] is None:
            content["_bytes"] = self._encoded()
        known: bytes = content["_bytes"]
        return known

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Record) or record_class(self) is not record_class(other):
            return NotImplemented if not isinstance(other, Record) else False
        return all(getattr(self, n) == getattr(other, n) for n in record_class(self)._fields)

    def __hash__(self) -> int:
        return hash(self._canonical())

    def __repr__(self) -> str:
        shown = ", ".join(f"{n}={getattr(self, n)!r}" for n in type(self)._fields)
        return f"{type(self).__name__}({shown})"

    def __copy__(self) -> Any:
        return _unfrozen(record_class(self), {n: getattr(self, n) for n in fields_of(self)})

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return own(without_roles(freeze(self)))

    def __replace__(self, /, **changes: Any) -> Any:
        return replace(self, **changes)  # for copy.replace


def _no_value(cls: type, name: str, known: Iterable[str]) -> SpecError:
    """Return the error of a field that the constructor of a record left without a value."""
    said = f"{cls.__name__}.{name} has no value yet."
    why = f"The __init__ of {cls.__name__} did not give it one."
    return SpecError("SW208", said, why=why, help=f"Set all fields there: {', '.join(known)}.")


def own(value: Any) -> Any:
    """Return a copy of a stored value that can be changed, as can what is in it; sets hold
    values.
    """
    kind = type(value)
    if kind is FrozenList:
        return [own(v) for v in value]
    if kind is FrozenDict:
        return {k: own(v) for k, v in value.items()}
    if kind is FrozenSet:
        return OrderedSet(value)
    if kind is FrozenBag:
        return Bag(value)
    if isinstance(value, Record):
        return _unfrozen(kind, {n: own(value.__dict__[n]) for n in fields_of(value)})
    return value


def parts_of(value: Any) -> Iterable[Any]:
    """Return what a stored value holds directly: elements, keys and values, fields."""
    kind = type(value)
    if kind is FrozenDict:
        return [*value, *value.values()]
    if kind in (tuple, FrozenList, FrozenSet, FrozenBag):
        return value  # type: ignore[no-any-return]
    return [getattr(value, n) for n in fields_of(value)] if isinstance(value, Record) else ()


def check_options(options: Collection[Any]) -> None:
    """Raise SpecError[SW203, SW208] for what cannot be chosen, without asking the state."""
    if _SIMPLE.issuperset(map(type, options)):
        return
    for option in options:
        kind = type(option)
        if kind in (tuple, list) or isinstance(option, set | frozenset):
            check_options(option)
        elif kind is dict:
            check_options((*option, *option.values()))
        elif isinstance(option, Enum):
            check_named(kind)
        elif isinstance(option, Record) and kind is record_class(option):
            check_named(kind)
            names = fields_of(option) if "_bytes" not in option.__dict__ else ()
            check_options([getattr(option, name) for name in names])
        elif not (kind in _SIMPLE or hasattr(kind, "_canonical") or hasattr(kind, "_freeze")):
            error = unstorable(option)
            error.message = error.message.replace("The state cannot hold", "any_of cannot choose")
            error.why = error.why.replace("It holds", "What is chosen tells steps apart. It can be")
            raise error


def _unfrozen(cls: type[Record], content: dict[str, Any]) -> Any:
    result = object.__new__(cls)
    result.__dict__.update(content)
    return result


class Message(Record):
    """A record drawn as an arrow; fields ``source`` and ``dest`` name its ends."""


def record_class(record: Record) -> type[Record]:
    """Return the class a spec declared for a record, also for a live reference to one."""
    cls: type[Record] = getattr(type(record), "_referenced", type(record))
    return cls


def replace(record: R, /, **changes: Any) -> R:
    """Return a copy of a record with some fields changed."""
    cls = record_class(record)
    if cls._open:
        return freeze(record)._replaced(changes)  # type: ignore[no-any-return]
    unknown = [name for name in changes if name not in cls._fields]
    if unknown:
        raise SpecError(
            "SW101",
            f"{cls.__name__} has no field '{unknown[0]}'. {did_you_mean(unknown[0], cls._fields)}",
        )
    frozen = freeze(record)
    content = {n: own(getattr(frozen, n)) for n in cls._fields if n not in changes}
    result: R = cls(**{**content, **changes})  # type: ignore[assignment]
    return result


class Bag(Generic[T]):
    """A multiset: adding an element twice needs removing it twice."""

    __slots__ = ("_content",)

    def __init__(self, elements: Iterable[T] = (), /) -> None:
        self._content = FrozenBag(elements)

    def _freeze(self) -> FrozenBag:
        return self._content

    def add(self, element: T, /) -> None:
        """Add one occurrence of an element."""
        self._content = self._content.adjusted(freeze(element), 1)

    def remove(self, element: T, /) -> None:
        """Remove one occurrence of an element; raise KeyError if there is none."""
        if element not in self._content:
            raise KeyError(element)
        self.discard(element)

    def discard(self, element: T, /) -> None:
        """Remove one occurrence of an element, if there is one."""
        self._content = self._content.adjusted(freeze(element), -1)

    def count(self, element: T, /) -> int:
        """Return how often an element is in it."""
        return self._content.count(element)

    def clear(self) -> None:
        """Take everything out."""
        self._content = FrozenBag()

    def copy(self) -> Bag[T]:
        """Return another bag with the same elements."""
        return Bag(self._content)

    def __contains__(self, element: object, /) -> bool:
        return element in self._content

    def __iter__(self) -> Iterator[T]:
        return iter(self._content)

    def __len__(self) -> int:
        return len(self._content)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Bag | FrozenBag):
            return bool(freeze(self) == freeze(other))
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self._content)
