"""Module contents besides the state: recorded at loading, then compared.

Noted is whatever code of the spec can get hold of and change: variables of its modules and of its
helpers, attributes of classes, objects and functions, defaults, closures, and what is in
containers, at any depth. Each such value is a *holding*; it keeps what it held alive, so that a
look compares little more than identities. Of an iterator that is how far it is. Libraries, locks
and the like are taken as they are.
"""

from __future__ import annotations

import functools
import gc
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Mapping, MutableMapping, MutableSet
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, EnumMeta
from itertools import tee
from operator import is_
from types import (
    CellType,
    CodeType,
    FunctionType,
    GeneratorType,
    MemberDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any

from statewalk.dsl.state.refs import Reference
from statewalk.dsl.state.roles import Role
from statewalk.dsl.values.ordered_sets import OrderedFrozenSet, OrderedSet
from statewalk.dsl.values.records import Bag, Record
from statewalk.dsl.values.stored import Keys

SCALARS = frozenset({bool, int, float, complex, str, bytes, type(None)})
ABSENT = object()
# What Python notes of flags: their combinations in the class, its inverse in a member.
NOTED_OF_FLAGS = frozenset({"_value2member_map_", "_inverted_"})
_OF_A_MEMBER = NOTED_OF_FLAGS | {"_value_", "_name_", "__objclass__", "_sort_order_"}
_PARTS = (tuple, type(gc.get_referents(tee(())[0])[-1]))


def progress(iterator: Any) -> list[Any]:
    """Return how far an iterator of Python's own is, and what it still refers to."""
    at: Any = None
    if type(iterator) is GeneratorType:
        at = iterator.gi_frame and iterator.gi_frame.f_lasti
    else:
        for ask in ("__length_hint__", "tell", "__reduce__"):
            with suppress(Exception), warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # of itertools
                at = _plain(getattr(iterator, ask)())
                break
    found = [at]
    for part in gc.get_referents(iterator):
        # its own tuples have holes, and are written again: only what is in them is handed on; so is
        # what a tee has read, as Python 3.14 does not tell how far that is
        found += gc.get_referents(part) if type(part) in _PARTS else [part]
    return found


def _plain(value: Any) -> Any:
    """Return what a position says by itself; what it refers to is looked at on its own."""
    if type(value) is tuple:
        return tuple(_plain(v) for v in value)
    return value if type(value) in SCALARS else type(value).__name__


def remembered(cache: Any) -> list[Any]:
    """Return what a `functools.lru_cache` holds: its table comes before the function."""
    found, function = gc.get_referents(cache), cache.__wrapped__
    at = max((i for i, v in enumerate(found) if v is function), default=0)
    if cache.cache_parameters()["maxsize"] is not None:
        return found[: max(0, at - 1)]
    return [*found[at - 1].values()] if isinstance(found[at - 1], dict) else []


def in_cell(cell: CellType) -> list[Any]:
    """Return what a variable around a function has, if it has a value."""
    try:
        return [cell.cell_contents]
    except ValueError:
        return []


def in_slots(value: Any, slots: Mapping[str, MemberDescriptorType]) -> list[Any]:
    """Return the names of slots, and as many values."""
    values = []
    for slot in slots.values():
        try:
            values.append(slot.__get__(value))
        except AttributeError:
            values.append(ABSENT)
    return [*slots, *values]


def in_array(value: Any) -> bytes | None:
    """Return what is in an array, of whatever library."""
    try:
        return memoryview(value).tobytes()
    except (TypeError, BufferError, ValueError):
        return None


def in_combined(flags: EnumMeta) -> list[Any]:
    """Return what the author's code gave to combinations of flags: names, and as many values."""
    found = {
        f"{member.name}.{name}": value
        for member in flags._value2member_map_.values()
        if member.name not in flags.__members__
        for name, value in vars(member).items()
        if name not in _OF_A_MEMBER
    }
    return [*found, *found.values()]


_WORDS = (Role, Record, OrderedSet, OrderedFrozenSet)
_BOXES = (Bag, Keys, MutableSet, MutableMapping)
_SHIPPED = "statewalk.dsl.library."  # its values are the author's
_HOLDERS = frozenset({"argparse", "collections", "queue", "types"})  # modules of plain containers
# What the checker notes in classes, objects and functions of a spec.
_NOTED = frozenset(
    {
        "_bytes", "_defaults", "_domains", "_fields", "_instances", "_kinds", "_laid_by",
        "_statewalk_marks",
    }
)  # fmt: skip
_WRAPPERS: dict[type, tuple[str, ...]] = {
    MethodType: ("__self__", "__func__"),
    type([].append): ("__self__",),
    MethodWrapperType: ("__self__",),
    functools.partial: ("func", "args", "keywords"),
    property: ("fget", "fset", "fdel"),
    functools.cached_property: ("func",),
    staticmethod: ("__func__",),
    classmethod: ("__func__",),
}
_SHOWN = 8  # steps of a way

in_steps: dict[tuple[str, int], str] = {}
"""What steps and properties asked for since the last load, by the place in the author's code."""


@dataclass(frozen=True, slots=True)
class _Way:
    """The path to a value: its source and the access. Written only when it is to be shown."""

    form: str
    key: Any = None
    before: _Way | None = None

    def __str__(self) -> str:
        parts: list[str] = []
        at: _Way | None = self
        while at is not None:
            key = at.key if isinstance(at.key, str) and "!r" not in at.form else _short(at.key)
            parts.append(at.form.replace("!r", "").format(key))
            at = at.before
        parts.reverse()
        if len(parts) > _SHOWN:
            parts = [*parts[: _SHOWN - 2], "...", parts[-1]]
        return "".join(parts).removeprefix(".")


def _short(key: Any) -> str:
    text = repr(key) if type(key) in SCALARS else f"a {type(key).__name__}"
    return text if len(text) <= 40 else text[:37] + "..."


class _Holding:
    """One value that holds others: how to read it, and what it held.

    Of ``attributes`` that is names, then as many values: the name of what changed is said, and the
    order is of no interest.
    """

    __slots__ = ("attributes", "held", "kind", "read", "way")

    def __init__(
        self, way: _Way, read: Callable[[], list[Any]], kind: type, *, attributes: bool
    ) -> None:
        self.way = way
        self.kind = kind
        self.read = read
        self.attributes = attributes
        self.held = read()

    def changed(self) -> str:
        """Return the way to what is another now; empty where all is as it was."""
        now = self.read()
        if len(now) == len(self.held) and all(map(is_, now, self.held)):
            return ""
        if self.attributes:
            # an import within a function; a cached property of a role, which SW104 has looked at
            old, new = (dict(zip(*_halves(flat), strict=True)) for flat in (self.held, now))
            other = [n for n in old | new if not _is_noted(n)]
            other = [n for n in other if n in old or not self.late(n, new[n])]
            other = [n for n in other if not _same(old.get(n, ABSENT), new.get(n, ABSENT))]
            found = str(_Way(".{}", other[0], self.way)) if other else ""
        else:
            found = "" if _same(tuple(now), tuple(self.held)) else str(self.way)
        if not found:
            self.held = now
        return found

    def late(self, name: str, value: Any) -> bool:
        """Return whether a new attribute is one that is of no interest."""
        if issubclass(self.kind, Role | Record):
            return isinstance(getattr(self.kind, name, None), functools.cached_property)
        if issubclass(self.kind, Enum):
            return name in NOTED_OF_FLAGS
        return type(value) is ModuleType


def _halves(flat: list[Any]) -> tuple[list[Any], list[Any]]:
    """Return names (or keys), and as many values."""
    half = len(flat) // 2
    return flat[:half], flat[half:]


def _is_noted(name: str) -> bool:
    return name in _NOTED or (name[:2] == "__" and name[-2:] == "__")


def _same(one: Any, other: Any) -> bool:
    """Return whether two things are one, or plain values that nothing tells apart."""
    pairs = [(one, other)]
    while pairs:
        a, b = pairs.pop()
        if a is b:
            continue
        if type(a) is not type(b):
            return False
        if type(a) is tuple and len(a) == len(b):
            pairs += zip(a, b, strict=True)
        elif type(a) not in SCALARS or repr(a) != repr(b):
            return False
    return True


class Outside:
    """A snapshot of the contents of some modules. ``main`` is the one of the spec.

    ``is_own`` tells by its name whether a module is the author's. `look` tells what was changed;
    it is told what `runs` meanwhile, so that it can name it. ``enter`` goes where that is to run.
    """

    def __init__(
        self,
        modules: Mapping[str, ModuleType] | None = None,
        main: str = "",
        is_own: Callable[[str], bool] = lambda name: False,
        enter: Callable[[], object] = lambda: None,
    ) -> None:
        self.enter = enter
        self._main = main
        self._is_own = functools.cache(is_own)
        self._held: list[_Holding] = []
        self._known: dict[int, Any] = {}  # by their numbers, and kept, or others could get these
        self._namespaces: set[int] = set()
        self._caches: list[tuple[Any, _Way, list[int]]] = []
        self._ran: list[Any] = []
        self._todo: deque[tuple[Any, _Way]] = deque()
        own = {n: m for n, m in (modules or {}).items() if is_own(n)}
        for name in sorted(own, key=lambda n: n != main):
            self._namespaces.add(id(vars(own[name])))
        for name in sorted(own, key=lambda n: n != main):
            self._note([(own[name], _Way("{}", name))])

    def runs(self, what: Any) -> None:
        """Record that an action or a predicate is about to run."""
        self.enter()
        if len(self._ran) < 2 and not any(one is what for one in self._ran):
            self._ran.append(what)

    def look(self) -> tuple[str, Any] | None:
        """Return what was changed, and what did it if only one value ran; None: all is as
        it was.
        """
        ran = self._ran
        for holding in self._held:
            if name := holding.changed():
                return name, ran[0] if len(ran) == 1 else None
        self._ran = []
        for cache, way, size in self._caches:
            if cache.cache_info().misses != size[0]:
                size[0] = cache.cache_info().misses
                self._note((v, _Way("{}(...)", "", way)) for v in remembered(cache))
        return None

    # -- what there is -------------------------------------------------------------------------

    def _note(self, things: Iterable[tuple[Any, _Way]]) -> None:
        """Note some things, and all that they lead to, the nearest first."""
        self._todo.extend(things)
        while self._todo:
            value, way = self._todo.popleft()
            if type(value) not in SCALARS and id(value) not in self._known:
                self._known[id(value)] = value
                self._look_into(value, way)

    def _hold(
        self, way: _Way, read: Callable[[], list[Any]], form: str = "", *, keyed: bool = False,
        attributes: bool = False, kind: type = object,
    ) -> None:  # fmt: skip
        holding = _Holding(way, read, kind, attributes=attributes)
        self._held.append(holding)
        held: Iterable[tuple[Any, Any]] = enumerate(holding.held)
        if keyed or attributes:
            held = zip(*_halves(holding.held), strict=True)
        for key, value in held:
            if type(value) not in SCALARS and not (attributes and _is_hidden(key, value, kind)):
                self._todo.append((value, _Way(form, key, way) if form else way))
        if keyed:
            self._todo.extend((key, way) for key in _halves(holding.held)[0])

    def _attributes(self, of: Mapping[str, Any], way: _Way, kind: type = object) -> None:
        self._hold(way, lambda: [*of, *of.values()], ".{}", attributes=True, kind=kind)

    def _look_into(self, value: Any, way: _Way) -> None:
        kind = type(value)
        if kind is ModuleType:
            if self._is_own(value.__name__):
                main = value.__name__ == self._main
                self._attributes(vars(value), _Way("" if main else "{}", value.__name__))
        elif kind is FunctionType:
            self._function(value, way)
        elif kind is CellType:
            self._hold(way, lambda: in_cell(value))
        elif kind in _WRAPPERS:
            self._todo.extend((getattr(value, name), way) for name in _WRAPPERS[kind])
        elif hasattr(kind, "cache_info"):
            self._todo.append((value.__wrapped__, way))
            self._attributes(vars(value), way)
            self._caches.append((value, way, [-1]))
        elif isinstance(value, type):
            if self._is_own(value.__module__):
                here = _Way("{}", value.__qualname__.rpartition("<locals>.")[2])
                self._attributes(vars(value), here, type(value))
                if isinstance(value, EnumMeta):
                    members: Mapping[str, Any] = value.__members__
                    self._todo.extend((m, _Way(".{}", n, here)) for n, m in members.items())
                    self._hold(here, lambda: in_combined(value), ".{}", attributes=True)
                made = value._instances if issubclass(value, Role) else ()
                self._todo.extend((role, _Way("{!r}", role)) for role in made)
        elif _is_word(kind) or not self._is_statewalks(kind):
            self._object(value, way)

    def _is_statewalks(self, value: Any) -> bool:
        """Return whether a class or function is statewalk's; its models are not."""
        module = value.__module__ or ""
        return module.partition(".")[0] == "statewalk" and not self._is_own(module)

    def _object(self, value: Any, way: _Way) -> None:
        """Return what is in a container, and the attributes of what is of a class that holds
        things.
        """
        kind = type(value)
        if issubclass(kind, Record) and "_bytes" in value.__dict__:
            return  # a value, which nothing changes
        if issubclass(kind, dict):
            self._hold(way, lambda: [*dict.keys(value), *dict.values(value)], "[{!r}]", keyed=True)
        elif issubclass(kind, list):
            self._hold(way, lambda: [*list.__iter__(value)], "[{!r}]")
        elif issubclass(kind, deque):
            self._hold(way, lambda: [*deque.__iter__(value)], "[{!r}]")
        elif issubclass(kind, set):
            self._hold(way, lambda: [*set.__iter__(value)])
        elif issubclass(kind, tuple):
            self._todo.extend((v, _Way("[{!r}]", i, way)) for i, v in enumerate(tuple(value)))
        elif issubclass(kind, frozenset):
            self._todo.extend((v, way) for v in frozenset.__iter__(value))
        elif issubclass(kind, MutableMapping) and self._is_statewalks(kind):
            self._hold(way, lambda: [*value, *value.values()], "[{!r}]", keyed=True)
        elif issubclass(kind, Bag | MutableSet) and self._is_statewalks(kind):
            self._hold(way, lambda: [*value])
        elif type(getattr(kind, "__next__", None)) is WrapperDescriptorType:
            self._hold(way, lambda: progress(value))
        elif in_array(value) is not None:
            self._hold(way, lambda: [in_array(value)])
        module = kind.__module__
        held = issubclass(kind, _WORDS) or module in _HOLDERS or module.startswith(_SHIPPED)
        if self._is_own(module) or held:
            slots = {
                name: slot
                for base in kind.__mro__
                for name, slot in vars(base).items()
                if isinstance(slot, MemberDescriptorType)
            }
            if slots:
                self._hold(way, lambda: in_slots(value, slots), ".{}", attributes=True)
            with suppress(AttributeError):
                self._attributes(object.__getattribute__(value, "__dict__"), way, kind)

    def _function(self, function: FunctionType, way: _Way) -> None:
        """Note attributes, defaults, closure and global names of a function."""
        if self._is_statewalks(function):
            return
        code, called, closure = function.__code__, function.__name__, function.__closure__ or ()
        if not self._is_own(function.__module__ or ""):
            # what a library keeps for itself is its own matter
            inside = [v for cell in closure for v in in_cell(cell)]
            self._todo.extend((v, way) for v in inside if type(v) is FunctionType)
            return
        defaults = function.__defaults__ or ()
        last = code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount]
        for name, value in [
            *zip(last, defaults, strict=True),
            *(function.__kwdefaults__ or {}).items(),
        ]:
            self._todo.append((value, _Way(f"{name} of {{}}", called)))
        for name, cell in zip(code.co_freevars, closure, strict=True):
            self._todo.append((cell, _Way(f"{name} in {{}}", called)))
        self._attributes(vars(function), way)
        if id(function.__globals__) not in self._namespaces:
            used = {n: function.__globals__.get(n, ABSENT) for n in _names(function.__code__)}
            used = {n: v for n, v in used.items() if v is not ABSENT}
            self._hold(
                _Way("{}", function.__module__),
                lambda: [*used, *(function.__globals__.get(n, ABSENT) for n in used)],
                ".{}",
                attributes=True,
            )


def _is_hidden(name: str, value: Any, kind: type) -> bool:
    """Return whether an attribute is Python's or ours; methods with such names are the author's."""
    if issubclass(kind, EnumMeta) and name in NOTED_OF_FLAGS:
        return True
    return _is_noted(name) and type(value) is not FunctionType


def _is_word(kind: type) -> bool:
    """Return whether a class of statewalk's is for values that a spec holds and can change."""
    if issubclass(kind, Reference):
        return False
    return issubclass(kind, (*_WORDS, *_BOXES)) or kind.__module__.startswith(_SHIPPED)


def _names(code: CodeType) -> set[str]:
    """Return the names that a function looks up outside, and the functions in it."""
    found, todo = set(), [code]
    while todo:
        at = todo.pop()
        found |= {*at.co_names}
        todo += [c for c in at.co_consts if isinstance(c, CodeType)]
    return found
