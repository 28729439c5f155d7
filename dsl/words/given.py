"""Constants given from outside, in the classes that this run of a spec has.

A spec runs anew for each load and makes its classes anew. Members, records and roles of an earlier
run, of the module as Python imports it, or of a trace, would be equal to nothing in this run.
"""

from __future__ import annotations

import dataclasses
import sys
import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from enum import Enum, Flag
from itertools import islice
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any

from statewalk.dsl.errors import SpecError
from statewalk.dsl.state.roles import Role
from statewalk.dsl.values.canonical import at
from statewalk.dsl.values.frozen import FrozenBag, FrozenSet
from statewalk.dsl.values.ordered_sets import OrderedFrozenSet, OrderedSet
from statewalk.dsl.values.records import Bag, Record, fields_of, record_class
from statewalk.dsl.values.stored import FrozenDict, FrozenList

_PLAIN = frozenset({bool, int, float, str, bytes})
_SEQUENCES = frozenset(
    {list, tuple, set, frozenset, OrderedSet, OrderedFrozenSet, Bag}
    | {FrozenList, FrozenSet, FrozenBag}
)


_MOST = 1_000  # values of a table that are told by their keys
Place = tuple[str, str, Any]  # a module, a name in it, None or the key of what is called so


class _Unknown(Exception):
    """The reason why a value has no counterpart in this run."""


class Given:
    """A translator of outside values into those of a run.

    ``modules`` are those that the run has of its own, as far as they ran; ``is_own`` tells of any
    other by its name whether it would be one. ``here`` is what they hold, ``known`` what those of
    other runs held when the constant was declared, ``others`` are the modules of other runs, and
    ``unset`` names whose values differ from run to run: those of constants.
    """

    def __init__(
        self,
        modules: Mapping[str, ModuleType],
        is_own: Callable[[str], bool],
        hint: Any,
        here: Collection[tuple[Any, Place]],
        known: Collection[tuple[Any, Place]],
        others: Collection[ModuleType],
        unset: Collection[str],
    ) -> None:
        self.modules = modules
        self.is_own = is_own
        self.wanted = [*_classes_in(hint)]
        self.here = here
        self.known = known
        self.others = others
        self.unset = unset

    def adopted(self, name: str, value: Any) -> Any:
        """Return the value of a constant.

        Raises SpecError[SW301] for one that this run does not know.
        """
        try:
            return self._value(value)
        except _Unknown as unknown:
            help = (
                "Give a plain value, or one of a class that the spec declares above the constant."
            )
            raise SpecError("SW301", f"{name} cannot be {value!r}: {unknown}.", help=help) from None

    def _value(self, value: Any) -> Any:
        kind = type(value)
        if value is None or kind in _PLAIN:
            return value
        if kind in _SEQUENCES:
            return kind(map(self._value, value))
        if kind is dict or kind is FrozenDict:
            return kind((self._value(k), self._value(v)) for k, v in value.items())
        if isinstance(value, type):
            return self._counterpart(value)
        if places := self._places_of(value):
            return self._at(places)
        if isinstance(value, FunctionType):
            return self._function(value)
        if isinstance(value, MethodType):
            return MethodType(self._value(value.__func__), self._value(value.__self__))
        if isinstance(value, Record):
            return self._record(value, self._counterpart(record_class(value)))
        cls = self._counterpart(kind)
        if isinstance(value, Enum):
            return value if cls is kind else _member(cls, value)
        if isinstance(value, Role):
            return value if cls is kind else _instance(cls, value)
        if isinstance(value, tuple) and hasattr(kind, "_fields"):
            return self._with_attributes(tuple.__new__(cls, map(self._value, value)), value)
        if dataclasses.is_dataclass(value):
            return self._dataclass(value, cls)
        within = getattr(value, "__wrapped__", None) or getattr(value, "func", None)
        if cls is not kind or self._value(within) is not within:
            what = "what it wraps" if cls is kind else f"its class {kind.__name__}"
            raise _Unknown(f"{what} belongs to an earlier run of the spec")
        if isinstance(value, Collection) and not isinstance(value, str | bytes | range):
            parts = [*value, *value.values()] if isinstance(value, Mapping) else [*value]
            if any(self._value(part) is not part for part in parts):
                raise _Unknown(
                    f"a value in this {kind.__name__} belongs to an earlier run of the spec"
                )
        if not self._is_here(value) and any(v is value for v, _ in held_in(self.others)):
            raise _Unknown("nothing that the spec has above the constant is called like it")
        return value

    def _record(self, record: Record, cls: Any) -> Any:
        names = fields_of(record)
        if not cls._open and {*names} != {*cls._fields}:
            raise _Unknown(f"the fields of {cls.__name__} are {', '.join(cls._fields) or 'none'}")
        made: Any = object.__new__(cls)
        content = {n: self._value(record.__dict__[n]) for n in names if n in record.__dict__}
        made.__dict__.update(content)
        return made._freeze() if "_bytes" in record.__dict__ else made

    def _dataclass(self, value: Any, cls: type) -> Any:
        if vars(object)["__new__"] is not getattr(cls, "__new__", None):
            raise _Unknown(f"its class {cls.__name__} belongs to an earlier run of the spec")
        made: Any = object.__new__(cls)
        for field in dataclasses.fields(value):
            if hasattr(value, field.name):
                object.__setattr__(made, field.name, self._value(getattr(value, field.name)))
        return self._with_attributes(made, value)

    def _with_attributes(self, made: Any, value: Any) -> Any:
        for name, attribute in getattr(value, "__dict__", {}).items():
            object.__setattr__(made, name, self._value(attribute))
        return made

    def _is_here(self, value: Any) -> bool:
        return any(held is value for held, _ in self.here)

    def _places_of(self, value: Any) -> list[Place]:
        """Return where another run had this very value when the constant was declared."""
        if isinstance(value, Enum) or self._is_here(value):
            return []
        found = (place for held, place in self.known if held is value)
        return [place for place in found if place[1] not in self.unset]

    def _at(self, places: list[Place]) -> Any:
        """Return what this run has at the first of these places that it has."""
        here = {place: value for value, place in self.here}
        for place in places:
            if place in here:
                return here[place]
        raise _Unknown(f"the spec has no '{places[0][1]}' above the constant")

    def _function(self, function: FunctionType) -> Any:
        """Look up a function of the spec by its name; make a local one again."""
        here = self.modules.get(function.__module__)
        if here is None and not self.is_own(function.__module__):
            return function
        if here is None or "<" not in function.__qualname__:
            return self._counterpart(function)
        cells = tuple(CellType(self._value(c.cell_contents)) for c in function.__closure__ or ())
        defaults = self._value(function.__defaults__)
        code, name = function.__code__, function.__name__
        made = FunctionType(code, vars(here), name, defaults, cells or None)
        made.__kwdefaults__ = self._value(function.__kwdefaults__)
        made.__qualname__, made.__module__ = function.__qualname__, function.__module__
        return made

    def _counterpart(self, thing: Any) -> Any:
        """Return what this run has for a class or a function: itself, or what is called like it."""
        module, path = thing.__module__ or "", thing.__qualname__
        if module == "builtins" or any(thing is cls for cls in self.wanted):
            return thing
        if module in self.modules:
            found = [o for o in self._known([self.modules[module]], path) if o.__module__ == module]
            found = [o for o in found if o.__qualname__ == path]
        else:
            found = self._known([*self.modules.values()], path)
            found = [o for o in found if o.__name__ == thing.__name__]
        if any(thing is one for one in found):
            return thing
        found = [o for o in found if o in self.wanted] or found
        if len(found) == 1 and isinstance(found[0], type) == isinstance(thing, type):
            return found[0]
        if not found and not self.is_own(module) and at(sys.modules.get(module), path) is thing:
            return thing
        known = "more than one class or function" if found else "no class or function"
        raise _Unknown(f"the spec has {known} named {thing.__name__} above the constant")

    def _known(self, modules: list[ModuleType], path: str) -> list[Any]:
        """Return classes and functions of this run: those that the type names, and those of
        modules.
        """
        found = [*self.wanted, *(v for m in modules for v in [*vars(m).values(), at(m, path)])]
        kept = {id(o): o for o in found if isinstance(o, type | FunctionType)}
        return [o for o in kept.values() if o.__module__ in self.modules]


def held_in(modules: Iterable[ModuleType]) -> Iterator[tuple[Any, Place]]:
    """Yield the values of modules, of their classes and of their tables, with their places."""
    for module in modules:
        of = str(getattr(module, "__name__", ""))
        for name, value in [*getattr(module, "__dict__", {}).items()]:
            yield value, (of, name, None)
            inner: Any = ()
            if isinstance(value, type) and value.__module__ == of:
                inner = vars(value).items()
            elif type(value) in (dict, FrozenDict):
                inner = value.items()
            elif type(value) in (list, tuple, FrozenList):
                inner = enumerate(value)
            for key, one in islice([*inner], _MOST):
                yield one, (of, name, key)


def _classes_in(hint: Any) -> Iterator[type]:
    """Yield the classes that a type is made of."""
    if isinstance(hint, type):
        yield hint
    for part in typing.get_args(hint):
        yield from _classes_in(part)


def _member(cls: Any, member: Enum) -> Any:
    known = getattr(cls, "__members__", {})
    if member.name in known:
        return known[member.name]
    if isinstance(member, Flag) and issubclass(cls, Flag):
        return cls(member.value)  # some together have no name
    members = ", ".join(known) or "none"
    raise _Unknown(f"{cls.__name__} has no member {member.name} (its members: {members})")


def _instance(cls: Any, role: Role) -> Any:
    made = getattr(cls, "_instances", ())
    if role.index >= len(made):
        raise _Unknown(
            f"the spec creates {len(made)} instances of {cls.__name__} above the constant"
        )
    return made[role.index]
