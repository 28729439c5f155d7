"""What modules hold after they ran, as a digest: equal ones mean that nothing tells two runs apart.

Nothing of a spec's own is called to find out: no comparison, no hash, no text of an object.
"""

from __future__ import annotations

import functools
import re
import types
import typing
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from hashlib import blake2b
from typing import Any

from statewalk.dsl.annotations import unevaluated
from statewalk.dsl.source.imports import is_authored

_MOST = 200_000  # things of one spec: more would take longer than looking at its text
# The last is there once somebody asked: `__annotate_func__` says the same.
_NOT_SAID = frozenset({"__builtins__", "__dict__", "__weakref__", "__annotations_cache__"})
_SCALARS = (int, str, float, complex, bytes)
_SAID_WHOLE = frozenset({*_SCALARS, bool, type(None), type(Ellipsis), type(NotImplemented), range})
_BARE = frozenset(
    {dict, list, tuple, set, frozenset, property, staticmethod, classmethod, typing.ForwardRef}
)
_POINTER = object.__basicsize__ // 2

Parts = Iterable[Any]


class _Pair(typing.NamedTuple):
    one: int


class Unclear(Exception):
    """It cannot be said what there is, or not in reasonable time."""


def _named(value: Any) -> Parts:
    return (value.__name__, getattr(value, "__qualname__", ""), getattr(value, "__module__", ""))


def _is(value: Any, kind: Any) -> bool:
    """Whether it is one, whatever it says: a place of the state gives another as its class."""
    return issubclass(type(value), kind)


def _is_said(value: Any) -> bool:
    """Whether Python's text of a value says all, in every process."""
    kind = type(value)
    return kind in _SAID_WHOLE or (kind is tuple and all(map(_is_said, value)))


# What Python keeps where no attribute shows it, and how to get there.
_INSIDE: tuple[tuple[Any, Callable[[Any], Parts]], ...] = (
    (dict, lambda d: [part for item in dict.items(d) for part in item]),
    (list, list.__iter__),
    (tuple, tuple.__iter__),
    (deque, lambda d: [d.maxlen, *deque.__iter__(d)]),
    (bytearray, lambda b: (bytes(b),)),
    (property, lambda p: (p.fget, p.fset, p.fdel, p.__doc__)),
    ((staticmethod, classmethod), lambda m: (m.__func__,)),
    (types.MethodType, lambda m: (m.__func__, m.__self__)),
    (types.MappingProxyType, lambda m: (dict(m),)),
    (slice, lambda s: (s.start, s.stop, s.step)),  # Python 3.14 keeps those of a text as constants
    (types.GenericAlias, lambda a: (a.__origin__, a.__args__)),
    (types.UnionType, lambda u: u.__args__),
    (re.Pattern, lambda p: (p.pattern, p.flags)),
    (typing.ForwardRef, lambda f: (f.__forward_arg__, f.__forward_module__)),
    (typing.TypeVar, lambda t: (t.__name__, t.__bound__, t.__constraints__)),
    (functools.partial, lambda p: (p.func, p.args, p.keywords)),
    (type(functools.lru_cache(len)), lambda f: (f.__wrapped__, *f.cache_parameters().values())),
    (type(_Pair.one), lambda g: g.__reduce__()[1]),
    (types.BuiltinFunctionType, lambda f: (*_named(f), f.__self__)),
    (
        (
            types.GetSetDescriptorType, types.MemberDescriptorType, types.MethodDescriptorType,
            types.ClassMethodDescriptorType, types.WrapperDescriptorType,
        ),
        _named,
    ),
)  # fmt: skip


class Described:
    """The digest of what is added, in this order. Things that are met again are told by the number
    at which they were met first. ``own`` are the names of the modules of which all counts.
    """

    def __init__(self, own: Collection[str] = ()) -> None:
        self._digest = blake2b(digest_size=20)
        self._numbers: dict[int, int] = {}
        self._kept: list[object] = []  # so that none gets the identity of one that is gone
        self._slots: dict[type, list[str]] = {}
        self._own = frozenset(own)

    def digest(self) -> str:
        """The digest as text."""
        return self._digest.hexdigest()

    def module(self, module: types.ModuleType) -> None:
        """Add a module of those named ``own``, with all that it holds. Raises `Unclear`.

        Which of a package's modules it holds depends on what anybody imported before, and in which
        order; those that count are added by themselves.
        """
        held = vars(module).items()
        self.add({n: v for n, v in held if n not in _NOT_SAID and not _is_part(v, module, n)})

    def add(self, value: Any) -> None:
        """Add a thing. Of classes and functions of other modules than those, the names count.

        Raises:  Unclear
        """
        pending = [value]
        while pending:
            if len(pending) + len(self._kept) > _MOST:
                raise Unclear
            pending += reversed([*self._parts(pending.pop())])

    def _tell(self, *words: object) -> None:
        self._digest.update(repr(words).encode("utf-8", "backslashreplace"))

    def _parts(self, value: Any) -> Parts:
        """Say what a thing is; what is left to say of it are the things given back."""
        kind = type(value)
        if kind in _SAID_WHOLE:
            self._tell(kind.__name__, value)
            return ()
        known = self._numbers.setdefault(id(value), len(self._numbers))
        if known != len(self._kept):
            self._tell("again", known)
            return ()
        self._kept.append(value)
        self._tell(kind.__module__, kind.__qualname__)
        if _is(value, types.ModuleType):
            return self._of_module(value)
        if _is(value, type):
            return self._of_class(value)
        if _is(value, types.CodeType):
            self._tell(value.co_filename, value.co_firstlineno, value.co_code, value.co_names)
            return (*value.co_consts,)
        if _is(value, types.FunctionType):
            return self._of_function(value)
        if kind in _BARE:
            return self._inside(value, ())
        if kind not in self._slots:
            self._slots[kind] = _slots_of(kind)
        slots = self._slots[kind]
        return [*self._inside(value, slots), *_under(value, ("__dict__", *slots))]

    def _of_module(self, module: types.ModuleType) -> Parts:
        """A module is told by its name: what is in an own one is added by itself."""
        name = vars(module).get("__name__")
        if name not in self._own and is_authored(str(name)):
            raise Unclear
        return (name,)

    def _of_class(self, cls: type) -> Parts:
        self._tell(cls.__module__, cls.__qualname__)
        if cls.__module__ not in self._own:
            return ()
        held = {n: v for n, v in type.__getattribute__(cls, "__dict__").items()
                if n not in _NOT_SAID}  # fmt: skip
        return [*cls.__mro__[1:], held]

    def _of_function(self, function: types.FunctionType) -> Parts:
        self._tell(function.__module__, function.__qualname__)
        if function.__module__ not in self._own:
            return (function.__code__.co_filename,)
        return [
            function.__code__, function.__defaults__, function.__kwdefaults__,
            unevaluated(function), [*map(_in_cell, function.__closure__ or ())],
            function.__dict__,
        ]  # fmt: skip

    def _inside(self, value: Any, slots: Sequence[str]) -> Parts:
        if _is(value, _SCALARS):
            scalar = next(base for base in _SCALARS if _is(value, base))
            self._tell(scalar.__name__, scalar.__repr__(value))
            return ()
        if _is(value, (set, frozenset)):
            return self._elements(value)
        for base, parts in _INSIDE:
            if _is(value, base):
                return parts(value)
        if _hides(type(value), slots):
            raise Unclear
        return ()

    def _elements(self, value: Any) -> Parts:
        """Of a set, in an order that does not depend on the process, as far as that is known."""
        found = [*(frozenset if _is(value, frozenset) else set).__iter__(value)]
        if all(map(_is_said, found)):
            return sorted(found, key=repr)
        return sorted(found, key=self._place)

    def _place(self, value: Any) -> tuple[int, str]:
        """What puts elements in order: when they were met, else what is plain of what they keep."""
        [(_, kept)] = _under(value, ("__dict__",)) or [("", {})]
        plain = [(name, part) for name, part in kept.items() if _is_said(part)]
        return self._numbers.get(id(value), len(self._numbers)), repr(plain)


def _in_cell(cell: types.CellType) -> Any:
    try:
        return (cell.cell_contents,)
    except ValueError:  # nothing yet
        return ()


def _hides(kind: type, slots: Sequence[str]) -> bool:
    """Whether things of a type may hold what no attribute shows: they are larger than those."""
    shown = len(slots) + (kind.__dictoffset__ > 0) + (kind.__weakrefoffset__ > 0)
    return kind.__basicsize__ > object.__basicsize__ + _POINTER * shown or kind.__itemsize__ > 0


def _is_part(value: Any, package: types.ModuleType, name: str) -> bool:
    return _is(value, types.ModuleType) and value.__name__ == f"{package.__name__}.{name}"


def _slots_of(kind: type) -> list[str]:
    """The names of slots of a type, those of bases included; names may be there twice."""
    classes = (type.__getattribute__(cls, "__dict__") for cls in kind.__mro__)
    return [
        member.__name__
        for held in classes
        if held.get("__slots__")
        for member in held.values()
        if type(member) is types.MemberDescriptorType
    ]


def _under(value: Any, names: Iterable[str]) -> Parts:
    """What an object keeps under names."""
    found: list[Any] = []
    for name in names:
        try:
            found.append((name, object.__getattribute__(value, name)))
        except AttributeError:
            continue
    return found
