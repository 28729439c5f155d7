"""The operations of Fizzbee's language that Python lacks, for translated .fizz files.

``record``, ``struct`` and ``enum`` are values of the state or constants; ``genericset`` and
``genericmap`` are a set and a dict whose elements and keys may be anything, and become those when
they are stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableMapping, MutableSet
from typing import Any, ClassVar, NoReturn

from statewalk.dsl.declared import declaring
from statewalk.dsl.errors import SpecError
from statewalk.dsl.flows.run import slot_of
from statewalk.dsl.state import refs
from statewalk.dsl.state.detaching import forget
from statewalk.dsl.state.refs import RecordReference, StandIn, look
from statewalk.dsl.values.canonical import END, RECORD_TAG, VALUES, check_named, text_bytes
from statewalk.dsl.values.records import Record
from statewalk.dsl.values.stored import (
    ABSENT,
    FrozenBag,
    FrozenDict,
    FrozenList,
    FrozenSet,
    encode,
    freeze,
    intern_key,
    thaw,
)
from statewalk.dsl.view import Disabled

MAX_TURNS = 2000


def _named(fields: dict[str, Any]) -> dict[str, Any]:
    """Return fields by name; names that begin with an underscore are not the specification's."""
    for name in fields:
        if name[:1] == "_":
            raise ValueError(f"a field cannot be called '{name}'")
    return fields


class record(Record):  # noqa: N801 (the name it has in Fizzbee)
    """A value with fields of any name; fields may be added. Equal when the fields are equal."""

    _open: ClassVar[bool] = True

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(_named(fields))

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"record has no field '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        if "_bytes" in self.__dict__:
            said = "This record is a value and cannot be changed."
            help = "Make a changed one, record(...), and store that; in a set or as a key, after "
            help += "removing the old one."
            raise SpecError("SW202", said, why=VALUES, help=help)
        self.__dict__[name] = value

    def _content(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "_bytes"}

    def _freeze(self) -> Any:
        if "_bytes" in self.__dict__:
            return self
        check_named(record)
        result = object.__new__(record)
        content = result.__dict__
        for name in sorted(self.__dict__):
            content[name] = freeze(self.__dict__[name])
        content["_bytes"] = None  # marks it as frozen
        return result

    def _with(self, name: str, value: Any) -> Any:
        if name in self.__dict__:
            return super()._with(name, value)
        return self._replaced({name: value})._freeze()

    def _encoded(self) -> bytes:
        content = self.__dict__
        parts = [encode(part) for n in content if n != "_bytes" for part in (n, content[n])]
        return b"".join([RECORD_TAG, text_bytes("record"), *parts, END])

    @classmethod
    def _from_items(cls, items: list[Any]) -> record:
        return record(**dict(zip(items[::2], items[1::2], strict=True)))

    def _replaced(self, changes: dict[str, Any]) -> record:
        return record(**{**self._content(), **changes})

    def __eq__(self, other: object) -> bool:
        equal = isinstance(other, record) and self._canonical() == other._canonical()
        return self is other or bool(equal)

    def __hash__(self) -> int:
        return hash(self._canonical())

    def __add__(self, other: record) -> record:
        return self._replaced(freeze(other)._content())

    def __repr__(self) -> str:
        return f"record({', '.join(f'{k}={v!r}' for k, v in self._content().items())})"


class _Reference(RecordReference):
    """A record with free fields, in the state."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name[:1] == "_":
            raise AttributeError(name)
        found = self._project(("field", name), lambda r: look(r.__dict__.get(name, ABSENT)))
        if found is ABSENT:
            raise AttributeError(f"record has no field '{name}'")
        if type(found) is not StandIn:
            return found
        step = ("f", name)
        if self._cell is not None:
            return refs.place_in(self._cell, self._path, (*self._sub, step), None)
        cls = refs.class_for(found.example)
        return refs.reference_to(cls, self._path, (*self._sub, step), None, (*self._place, step))

    def __setattr__(self, name: str, value: Any) -> None:
        if name in refs.Reference.__slots__:
            object.__setattr__(self, name, value)
            return
        if self._is_at(value, ("f", name)):
            return
        value = freeze(value)
        if self._cell is None:
            forget(self._path, (*self._sub, ("f", name)))
        self._update(("set", name, intern_key(value)), lambda r: r._with(name, value))

    def __add__(self, other: record) -> record:
        merged: record = self._freeze() + other
        return merged


record._reference = _Reference  # type: ignore[attr-defined]


def struct(**fields: Any) -> Any:
    """Return a record that is not going to change."""
    return record(**fields)._freeze()


class _Enum:
    """Names for plain strings: ``E.Ready`` is "Ready", ``dir(E)`` lists the names."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.__dict__.update(_named({name: name for name in names}))

    def __dir__(self) -> list[str]:
        return list(self.__dict__)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("an enum does not change")

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(
            f"the enum has no member '{name}'. There are: {', '.join(self.__dict__)}."
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self.__dict__)

    def __repr__(self) -> str:
        return f"enum({', '.join(map(repr, self.__dict__))})"


def enum(*names: str) -> Any:
    """Return names for plain strings."""
    return _Enum(names)


class genericset(MutableSet[Any]):  # noqa: N801 (the name it has in Fizzbee)
    """A set whose elements may be lists, dicts and records."""

    def __init__(self, elements: Iterable[Any] = ()) -> None:
        self._content = FrozenSet(elements)

    def _freeze(self) -> FrozenSet:
        return self._content

    def __contains__(self, element: object) -> bool:
        return element in self._content

    def __iter__(self) -> Iterator[Any]:
        return iter(self._content)

    def __len__(self) -> int:
        return len(self._content)

    def add(self, element: Any) -> None:
        """Add an element."""
        self._content = self._content.with_element(freeze(element))

    def discard(self, element: Any) -> None:
        """Remove an element, if it is there."""
        self._content = self._content.without_element(freeze(element))

    def update(self, *others: Iterable[Any]) -> None:
        """Add all elements of others."""
        for other in others:
            for element in other:
                self.add(element)

    def union(self, *others: Iterable[Any]) -> FrozenSet:
        """Return all elements of it and of others."""
        return self._content.union(*others)

    def __repr__(self) -> str:
        return repr(self._content)


class genericmap(MutableMapping[Any, Any]):  # noqa: N801 (the name it has in Fizzbee)
    """A dict whose keys may be lists, dicts and records."""

    def __init__(self, items: Any = ()) -> None:
        self._content: dict[bytes, tuple[Any, Any]] = {}
        pairs = items.items() if hasattr(items, "items") else items
        for key, value in pairs:
            self[key] = value

    def _freeze(self) -> FrozenDict:
        return FrozenDict(self._content.values())

    def __getitem__(self, key: Any) -> Any:
        found = self._content.get(encode(freeze(key)))
        if found is None:
            raise KeyError(key)
        return found[1]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._content[encode(freeze(key))] = (freeze(key), value)

    def __delitem__(self, key: Any) -> None:
        if key not in self:
            raise KeyError(key)
        del self._content[encode(freeze(key))]

    def __contains__(self, key: object) -> bool:
        return encode(freeze(key)) in self._content

    def __iter__(self) -> Iterator[Any]:
        return (self._content[k][0] for k in sorted(self._content))

    def __len__(self) -> int:
        return len(self._content)

    def __repr__(self) -> str:
        return repr(self._freeze())


class Loop:
    """Ends a loop that chooses where it is back at an earlier turn with nothing changed."""

    def __init__(self) -> None:
        self._seen: set[object] = set()
        self._turns = 0

    def again(self, names: dict[str, Any], *live: str) -> None:
        """Begin a turn with these locals; disabled where the ``live`` ones were so before."""
        view = refs.current_view()
        self._turns += 1
        if self._turns > MAX_TURNS:
            raise SpecError("SW154", f"A loop did not end in {MAX_TURNS} turns of one step.")
        known = []
        for name in live:
            try:
                known.append(intern_key(freeze(names.get(name))))
            except (SpecError, TypeError):
                return
        here = (tuple(known), view.progress())
        if here in self._seen:
            raise Disabled
        self._seen.add(here)


def deepcopy(value: Any) -> Any:
    """Return a copy that shares nothing with the original and can be changed."""
    value = freeze(value)
    if isinstance(value, record):
        return record(**{k: deepcopy(v) for k, v in value._content().items()})
    if type(value) is FrozenList:
        return [deepcopy(v) for v in value]
    if type(value) is FrozenDict:
        return {k: deepcopy(v) for k, v in value.items()}
    return thaw(value)


def fail(*words: object) -> NoReturn:
    """Stop with an error."""
    raise RuntimeError(" ".join(map(str, words)))


_TYPE_NAMES = {
    "NoneType": "NoneType", "str": "string", "FrozenList": "list", "FrozenSet": "set",
    "FrozenDict": "dict", "FrozenBag": "bag", "Bag": "bag", "OrdinalValue": "symmetric_value",
    "IntervalValue": "symmetric_value", "RotationalValue": "symmetric_value",
    "Segment": "symmetry_segment",
}  # fmt: skip


def type_name(value: Any) -> str:
    """Return the name of a value's type, as Starlark's ``type`` gives it."""
    value = freeze(value)
    if isinstance(value, record):
        return "record"
    name = type(value).__name__
    return _TYPE_NAMES.get(name, name if isinstance(value, bool | int | float | tuple) else "role")


def max_actions(count: int, *, counted: bool = False) -> None:
    """Explore paths on which at most so many actions start (100 where nothing is said).

    ``counted`` keeps the number in the state, which specs need whose actions take several steps.
    Without it the bound is on steps.
    """
    if declaring:
        name, value = ("most_starts", count) if counted else ("max_depth", count + 1)
        declaring[-1].options[name] = value


def at_most(most: int, count: int) -> None:
    """A guard: no more than ``most``. Looking ahead does not mind it."""
    if count > most and not getattr(refs.current_view(), "unbounded", False):
        raise Disabled


def in_flight(of: Any, action: str) -> int:
    """Return how many runs of an action are suspended: of one role, or of all roles of a class."""
    actors = of._instances if isinstance(of, type) else [of]  # type: ignore[attr-defined]

    def count(held: Any) -> int:
        return 0 if held is ABSENT else len(held) if isinstance(held, FrozenBag) else 1

    view = refs.current_view()
    return sum(view.project(slot_of(actor, action), "in flight", count) for actor in actors)


def no_liveness(value: str) -> None:
    """Leave liveness assertions unchecked, as the option ``liveness`` with a value says."""
    if declaring:
        declaring[-1].options["no_liveness"] = f"the option liveness is {value!r}"
