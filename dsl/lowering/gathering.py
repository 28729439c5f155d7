"""What a comprehension over a container of the state is when it runs, see `comprehensions`."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Any

from statewalk.dsl.state.alone import NotAlone, alone
from statewalk.dsl.state.containers import ElementsReference
from statewalk.dsl.state.dicts import DictReference, EntriesReference
from statewalk.dsl.state.lists import ListReference
from statewalk.dsl.state.packing import pack, pack_new, unpack
from statewalk.dsl.state.refs import Reference, seen
from statewalk.dsl.state.roles import Role
from statewalk.dsl.values.frozen import FROZEN
from statewalk.dsl.values.ordered_sets import OrderedFrozenSet, OrderedSet
from statewalk.dsl.values.records import Record, fields_of
from statewalk.dsl.values.stored import freeze, intern_key
from statewalk.dsl.words.declare import any_of

_BUILTINS = (
    "any", "all", "sum", "sorted", "set", "list", "tuple", "len", "max", "min", "frozenset",
)  # fmt: skip
AGGREGATES: dict[str, Callable[[Any], Any]] = {name: getattr(builtins, name) for name in _BUILTINS}
AGGREGATES["any_of"] = list


def is_aggregate(name: str, namespace: dict[str, Any]) -> bool:
    """Whether a name of a module is one of these, and not the spec's own of that name."""
    meant = any_of if name == "any_of" else getattr(builtins, name, None)
    return name in AGGREGATES and namespace.get(name, meant) is meant


_KEEPING = frozenset({"list", "any_of", "tuple"})
_REDUCING = frozenset({"any", "all", "sum", "len"})
_PLAIN = (bool, int, str, type(None))
_BY_KEY = (EntriesReference, ElementsReference, DictReference)


def gather(
    kind: str,
    site: str,
    source: Any,
    plain: Callable[[Any], Any],
    element: Callable[..., Any] | None,
    condition: Callable[..., Any] | None,
    captures: Callable[[], tuple[Any, ...]],
    identity: bool,
    bounds: Callable[[], tuple[Any, Any, Any]] | None = None,
) -> Any:
    """An aggregate over a comprehension, as one projection of the container's slot where that is
    sound.

    ``plain`` is the source itself as a function of the container: what is done where elements look
    at more than themselves and the captured values, or raise. ``element`` (None: the element
    itself) and ``condition`` take an element and the captured values; ``identity`` tells that they
    may ask whether two things are the same one. ``bounds`` are those of a slice of the container.
    """
    if not isinstance(source, Reference) or source._cell is not None or isinstance(source, _BY_KEY):
        return plain(source)
    inner = source._domain.element if source._domain is not None else None
    in_list = isinstance(source, ListReference)
    by_index = in_list and element is None and kind in _KEEPING
    if in_list and element is None and (inner is None or inner.may_contain):
        if not by_index or bounds is not None:
            return plain(source)
    try:
        outer = _Captures.of(captures())
        part = None if bounds is None else slice(*bounds())
    except Exception:
        return plain(source)
    key = ("gather", kind, site, outer.keys, _bounds_key(part))
    if identity and not outer.simple:
        return plain(source)
    by_index = by_index and part is None

    project = _Projection(
        kind,
        outer,
        element,
        condition,
        part,
        identity,
        by_index,
        in_list,
        partial(seen, domain=inner, path=source._path, key=not in_list),
    )
    try:
        result = unpack(source._project(key, lambda container: alone(project, container)))
    except NotAlone:
        return plain(source)
    if by_index:
        result = [source[at] for at in result]  # type: ignore[index]
        return any_of(result) if kind == "any_of" else AGGREGATES[kind](result)
    return any_of(result) if kind == "any_of" else result


@dataclass(frozen=True)
class _Projection:
    """What `gather` makes of a container as stored. Raises `NotAlone` where that is not all."""

    kind: str
    outer: _Captures
    element: Callable[..., Any] | None
    condition: Callable[..., Any] | None
    part: slice | None
    identity: bool
    by_index: bool
    in_list: bool
    seen: Callable[[Any], Any]

    def __call__(self, container: Any) -> Any:
        element, condition = self.element, self.condition
        whole = container if self.part is None else container.part(self.part)
        if self.identity and not all(map(is_plain, whole)):
            raise NotAlone
        if not self.by_index or condition is not None:
            whole = [x if is_plain(x) else self.seen(x) for x in whole]
        with self.outer.given() as values:
            kept = [
                (at, x) for at, x in enumerate(whole) if condition is None or condition(x, *values)
            ]
            if self.by_index:
                return pack(tuple(at for at, _ in kept))
            found = [x if element is None else element(x, *values) for _, x in kept]
        if self.kind not in _REDUCING and not all(map(is_plain, found)):
            if self.in_list or (element is not None and not self.outer.simple):
                raise NotAlone  # what was found may be something that can change, where it is
        return pack_new(AGGREGATES[self.kind](found))


@dataclass(frozen=True)
class _Captures:
    """The values that a comprehension captures, and keys that tell them from others; ``simple``
    where none has parts.
    """

    values: tuple[Any, ...]
    keys: tuple[Any, ...]
    simple: bool

    @classmethod
    def of(cls, captured: tuple[Any, ...]) -> _Captures:
        pairs = [_captured(value) for value in captured]
        return cls(
            tuple(value for value, _ in pairs),
            tuple(key for _, key in pairs),
            all(map(is_plain, captured)),
        )

    @contextmanager
    def given(self) -> Iterator[tuple[Any, ...]]:
        """The values, for one use. Raises `NotAlone` where they were changed."""
        values = self.values if self.simple else tuple(_captured(v)[0] for v in self.values)
        yield values
        if not self.simple and tuple(_captured(v)[1] for v in values) != self.keys:
            raise NotAlone


def _captured(value: Any) -> tuple[Any, Any]:
    """A captured value as a projection sees it, and a key that tells it from others.

    What is in the state is seen as it is stored. A plain container is copied and stays Python's,
    which looks things up by Python's equality and in its own order. Raises `NotAlone` for others.
    """
    kind = type(value)
    if isinstance(value, Reference):
        frozen = freeze(value)
        return seen(frozen, value._domain, value._path), (kind.__name__, intern_key(frozen))
    if is_plain(value) or kind in FROZEN:
        return value, intern_key(value)
    if is_record := isinstance(value, Record):
        if "_bytes" in value.__dict__:
            return value, intern_key(value)
        parts = [getattr(value, name) for name in fields_of(value)]
    elif kind in _CONTAINERS:
        parts = list(value) if kind is not dict else [p for item in value.items() for p in item]
    else:
        raise NotAlone
    pairs = [_captured(part) for part in parts]
    copied: Any = [value for value, _ in pairs]
    if is_record:
        copy = object.__new__(kind)
        copy.__dict__.update(zip(fields_of(value), copied, strict=True))
    else:
        copy = (
            kind(copied) if kind is not dict else dict(zip(copied[::2], copied[1::2], strict=True))
        )
    return copy, (f"{kind.__module__}.{kind.__qualname__}", *(key for _, key in pairs))


_CONTAINERS = frozenset({tuple, list, set, frozenset, dict, OrderedSet, OrderedFrozenSet})


def is_plain(value: Any) -> bool:
    """Whether a value has no parts: where it comes from makes no difference."""
    return type(value) in _PLAIN or isinstance(value, Role | Enum)


def _bounds_key(part: slice | None) -> tuple[Any, Any, Any] | None:
    return None if part is None else (part.start, part.stop, part.step)
