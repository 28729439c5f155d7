"""Live references: what a spec holds when it reaches a list, set, bag, dict or record through a
field.

A reference is a *place*: a slot and the steps into its value. Reading goes through the view as
projections, changing as updates, so that an engine sees how little was looked at. One place has
one reference object per run. Replacing a place detaches the references to it: they go on showing
what was there, as Python has it.

Steps into a value are pairs: ("f", field), ("i", index), ("k", key).
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Mapping
from functools import cache
from itertools import chain, repeat
from types import MappingProxyType
from typing import Any, NoReturn

from statewalk.dsl.binding import binding
from statewalk.dsl.errors import SpecError, placed
from statewalk.dsl.state.detaching import Cell, Sub, Value, follow, forget, sub_key, with_at
from statewalk.dsl.values.domains import Domain, outside
from statewalk.dsl.values.ordered_sets import OrderedFrozenSet
from statewalk.dsl.values.records import KEPT, Record, fields_of, is_property, own, private
from statewalk.dsl.values.stored import (
    FrozenBag,
    FrozenDict,
    FrozenList,
    FrozenSet,
    can_change,
    freeze,
    intern_key,
    without_roles,
)
from statewalk.dsl.view import WHOLE, Disabled, Path, Place, View

_CONTAINERS = (FrozenList, FrozenSet, FrozenBag, FrozenDict, Record)
_known: dict[type, bool] = {}  # by class: these have bases that are slow to ask


def is_container(value: object) -> bool:
    """Return whether a value holds others that a spec has a reference to."""
    kind = type(value)
    found = _known.get(kind)
    if found is None:
        single = getattr(kind, "_single", False)
        found = _known[kind] = isinstance(value, _CONTAINERS) and not single
    return found


class StandIn:
    """A stand-in for a container or record where only its class matters."""

    __slots__ = ("_bytes", "example")

    def __init__(self, example: Any) -> None:
        self.example = example
        kind = type(example)
        self._bytes = f"{kind.__module__}.{kind.__qualname__}".encode() + b"\x00\xfd"

    def _canonical(self) -> bytes:
        return self._bytes


_stand_ins: dict[type, StandIn | None] = {}  # by class; None for one that holds nothing


def look(value: Any) -> Any:
    """Return a scalar itself; of a container or a record only the class, as a `StandIn`."""
    kind = type(value)
    if kind not in _stand_ins:
        example = None
        if is_container(value):
            example = object.__new__(kind) if issubclass(kind, Record) else kind()
        _stand_ins[kind] = None if example is None else StandIn(example)
    known = _stand_ins[kind]
    return value if known is None else known


class NotAlone(Exception):
    """A signal that arguments do not decide a function's result: it read the state, or raised."""


class _Asked(BaseException):
    """Not an `Exception`, so that a spec does not swallow it."""


class _NoState:
    """The view of a function that is given no state; ``asked`` tells that it wanted one."""

    asked = False

    def _refuse(self, *asked: object, **more: object) -> NoReturn:
        self.asked = True
        raise _Asked

    get = set = project = update = call = choose = progress = later = _refuse


def alone(function: Callable[[Any], Any], value: Any) -> Any:
    """Return what a function gives for a value alone. Raises `NotAlone` if it asks the view."""
    nothing = _NoState()
    saved = binding.view, binding.before, binding.references
    binding.view = binding.before = nothing
    binding.references = {}
    try:
        result = function(value)
    except (Exception, Disabled, _Asked):
        raise NotAlone from None
    finally:
        binding.view, binding.before, binding.references = saved
    if nothing.asked:
        raise NotAlone
    return result


def current_view() -> View:
    """Return the bound view. Raises `NeedsState` outside a run."""
    view = binding.view
    if view is None:
        raise NeedsState
    return view


class NeedsState(BaseException):
    """State was read where none is bound: at load time, or outside the checker."""


class Reference:
    """Common to all references. ``_cell`` is None while attached; ``_place`` is `sub_key`."""

    __slots__ = ("_cell", "_domain", "_path", "_place", "_sub")
    __hash__ = None  # type: ignore[assignment]
    _path: Path
    _place: Place
    _sub: Sub
    _domain: Domain | None
    _cell: Cell | None

    def _freeze(self) -> Any:
        if self._cell is not None:
            return follow(self._cell.get(), self._sub)
        sub = self._sub
        if not sub:
            return current_view().get(self._path)
        return current_view().project(self._path, WHOLE, lambda v: follow(v, sub), self._place)

    def _project(self, key: object, fn: Callable[[Any], Any]) -> Any:
        if self._cell is not None:
            return fn(follow(self._cell.get(), self._sub))
        sub, view = self._sub, binding.view or current_view()
        if not sub:
            return view.project(self._path, key, fn)
        return view.project(self._path, key, lambda v: fn(follow(v, sub)), self._place)

    def _by_equality(self, key: object, fn: Callable[[Any], Any]) -> Any:
        """Return the same for a function that compares elements: their ``==`` may look at the
        state.
        """
        try:
            return self._project(key, lambda v: alone(fn, v))
        except NotAlone:
            return fn(self._freeze())

    def _update(self, key: object, fn: Callable[[Any], Any]) -> None:
        forbid_change(self._path)
        sub = self._sub
        if self._cell is not None:
            whole = self._cell.get()
            self._cell.set(with_at(whole, sub, fn(follow(whole, sub))))
        elif not sub:
            current_view().update(self._path, key, fn)
        else:
            current_view().update(
                self._path, (key, self._place), lambda v: with_at(v, sub, fn(follow(v, sub)))
            )

    def _at(self, step: tuple[str, Any], domain: Domain | None) -> Any:
        """Return what is at one more step: a reference, or a scalar."""
        sub = (*self._sub, step)
        if self._cell is not None:
            return place_in(self._cell, self._path, sub, domain)
        return place(self._path, sub, domain, (*self._place, (step[0], intern_key(step[1]))))

    def _among(self, whole: Any, at: int, domain: Domain | None) -> Any:
        """Return what `_at` gives for an element of a list that has been looked at as a
        ``whole``.
        """
        value = whole[at]
        if not is_container(value):
            return seen(value, domain, self._path) if type(value) is tuple else value
        step = ("i", at)
        if self._cell is not None:
            return place_in(self._cell, self._path, (*self._sub, step), domain)
        cls = class_at(value, domain)
        return reference_to(cls, self._path, (*self._sub, step), domain, (*self._place, step))

    def _is_at(self, value: Any, step: tuple[str, Any]) -> bool:
        """Return whether a value is what is at one more step already, as after ``x[i] += y``."""
        return (
            isinstance(value, Reference)
            and value._cell is self._cell
            and value._path == self._path
            and value._place == (*self._place, (step[0], intern_key(step[1])))
        )

    def _checked(self, value: Any, domain: Domain | None) -> Any:
        return fitting(value, self._path, self._sub, domain, "[..]")

    def _member(self, value: Any, domain: Domain | None) -> Any:
        """Return what is stored of an element of a set or a key. Raises SpecError[SW203]."""
        if can_change(value):
            said = f"{show_place(self._path, self._sub)} cannot hold {value!r} as an element or a "
            said += f"key: a {value.__class__.__name__} can change."
            raise SpecError("SW203", said, help="Use a tuple or a frozenset.")
        return self._checked(value, domain)

    def __eq__(self, other: object) -> bool:
        return bool(self._freeze() == (freeze(other) if isinstance(other, Reference) else other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __repr__(self) -> str:
        return repr(self._freeze())

    def __reduce__(self) -> Any:
        raise TypeError("what is in the state is not pickled; a copy of it can be")

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return own(without_roles(self._freeze()))


def forbid_change(path: Path) -> None:
    """Raise SpecError[SW103] while a property is evaluated."""
    if binding.reading:
        said = f"The property '{binding.reading}' changes the state ({show_place(path, ())})."
        help = "To record history, let an action write it to a field."
        raise SpecError("SW103", said, why="Properties only read.", help=help)


def show_place(path: Path, sub: Sub) -> str:
    """``Broker#0.pending[3].epoch``"""
    text = f"{path[0]}#{path[1]}.{path[2]}" if len(path) > 2 else str(path)
    if len(path) > 4:
        text += f"[{path[4]!r}]"
    for kind, key in sub:
        text += f".{key}" if kind == "f" else f"[{key!r}]"
    return text


def fitting(value: Any, path: Path, sub: Sub, domain: Domain | None, part: str = "") -> Any:
    """Return the stored form of a value that goes to a place. Raises SpecError[SW201, SW203]."""
    try:
        value = freeze(value)
    except SpecError as error:
        raise placed(error, show_place(path, sub)) from None
    if domain is not None and not domain.admits(value):
        raise outside(show_place(path, sub) + part, value, domain)
    return value


def place(path: Path, sub: Sub, domain: Domain | None, at: Place | None = None) -> Any:
    """Return the reference to a place, or its value; ``at`` is ``sub`` as a key, if known."""
    if at is None:
        at = sub_key(sub) if sub else ()
    if domain is None or domain.kind in ("scalar", "record"):
        # Asked also where a reference is known: a remembered call has to note what it looks at.
        value = _scalar_or_example(current_view(), path, sub, domain, at)
        if not is_container(value):
            return seen(value, domain, path) if type(value) is tuple else value
        cls = class_for(value, domain)
    else:
        cls = BY_KIND[domain.kind]
    return reference_to(cls, path, sub, domain, at)


def class_at(value: Any, domain: Domain | None) -> type:
    """Return the class of the reference to a place that holds a container or a record."""
    if domain is None or domain.kind in ("scalar", "record"):
        return class_for(value, domain)
    return BY_KIND[domain.kind]


def reference_to(cls: type, path: Path, sub: Sub, domain: Domain | None, at: Place) -> Any:
    """Return the reference of a class to a place in the state."""
    known = binding.references.get(path)
    reference = known.get(at) if known is not None else None
    return make(cls, path, sub, domain, None, at) if reference is None else reference


def place_in(cell: Cell, path: Path, sub: Sub, domain: Domain | None) -> Any:
    """Return the same in what a cell holds, where ``path`` once was."""
    value = follow(cell.get(), sub)
    if not is_container(value):
        return seen(value, domain, path) if type(value) is tuple else value
    at = sub_key(sub)
    known = cell.references.get(at)
    return make(class_for(value, domain), path, sub, domain, cell, at) if known is None else known


def seen(value: Any, domain: Domain | None, path: Path, *, key: bool = False) -> Any:
    """Return what a spec has of a stored value that is no place, which ``path`` names: like
    Python's.

    ``key`` tells that it is an element of a set or a key, where a set is a frozenset.
    """
    kind = type(value)
    if kind is tuple:
        parts = domain.parts if domain is not None else ()
        domains = chain(parts, repeat(parts[-1] if parts else None))
        new = tuple(seen(v, d, path, key=key) for v, d in zip(value, domains))  # noqa: B905
        return value if all(map(operator.is_, new, value)) else new
    if kind is FrozenSet and key:
        inner = domain.element if domain is not None else None
        return OrderedFrozenSet(seen(v, inner, path, key=True) for v in value)
    if not is_container(value) or (kind not in REFERENCES and _is_flat(kind)):  # type: ignore[arg-type]
        return value
    known = binding.references.setdefault(_SEEN, {})
    at = (id(value), id(domain))  # what is found holds the value
    if at not in known:
        known[at] = place_in(Value(value), path, (), domain)
    return known[at]


_SEEN: Path = ("values",)


@cache
def _is_flat(kind: Any) -> bool:
    """Return whether the fields of a record class hold no other values."""
    domains = getattr(kind, "_domains", None)
    return kind._open or (domains is not None and not any(d.may_contain for d in domains.values()))


def make(
    cls: type,
    path: Path,
    sub: Sub,
    domain: Domain | None,
    cell: Cell | None = None,
    at: Place | None = None,
) -> Any:
    """Return a reference of a class to a place in the state, or in what a cell holds."""
    result: Any = object.__new__(cls)
    set_slot = object.__setattr__
    set_slot(result, "_path", path)
    set_slot(result, "_sub", sub)
    set_slot(result, "_domain", domain)
    set_slot(result, "_cell", cell)
    at = sub_key(sub) if at is None else at
    set_slot(result, "_place", at)
    known = binding.references.setdefault(path, {}) if cell is None else cell.references
    known[at] = result
    return result


def _scalar_or_example(view: View, path: Path, sub: Sub, domain: Domain | None, at: Place) -> Any:
    """Return the value at a place when scalar; when a container, some value of the same class."""
    if domain is not None and not domain.may_contain:
        return view.project(path, WHOLE, lambda v: follow(v, sub), at) if sub else view.get(path)
    if domain is not None and domain.kind == "record" and domain.record is not None:
        if not domain.record.__subclasses__():
            return _example(domain.record)
    seen = view.project(path, LOOK, lambda v: look(follow(v, sub)), at)
    return seen.example if type(seen) is StandIn else seen


LOOK = "look"


@cache
def _example(cls: type) -> Any:
    """Return an empty instance that only stands for its class."""
    return object.__new__(cls)


def class_for(value: Any, domain: Domain | None = None) -> type:
    """Return the class of references to values like this one, where such are stored."""
    kind: Any = type(value)
    if kind is FrozenSet and domain is not None and not domain.changing_sets:
        return BY_KIND["frozenset"]
    return REFERENCES.get(kind) or record_reference(kind)


@cache
def record_reference(cls: type) -> type:
    """Return the class of references to records of a class; a subclass, so that `isinstance`
    holds.
    """
    base = getattr(cls, "_reference", RecordReference)
    content: dict[str, Any] = {"_referenced": cls, "__slots__": (), "__module__": cls.__module__}
    content["__dict__"] = property(
        lambda self: MappingProxyType({n: getattr(self, n) for n in fields_of(self)})
    )
    content |= {name: _part(cls, name) for name in cls._fields}  # type: ignore[attr-defined]
    for name, _ in inspect.getmembers_static(cls, lambda m: isinstance(m, classmethod)):
        if name[:2] != "__":  # asked of the class that the spec knows
            content[name] = staticmethod(getattr(cls, name))
    return type(cls.__name__, (base, cls), content)


def _part(cls: type, name: str) -> property:
    """Return a field of a record in the state."""
    domains: Mapping[str, Domain] = getattr(cls, "_domains", {})
    step = ("f", name)
    return property(lambda self: self._at(step, domains.get(name)))


class RecordReference(Reference):
    """A record in the state."""

    __slots__ = ()
    _referenced: type

    def __init_subclass__(cls) -> None:
        """Nothing: a spec does what it does with its classes to those that it wrote."""

    @property  # type: ignore[misc]
    def __class__(self) -> type:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self._referenced

    def __setattr__(self, name: str, value: Any) -> None:
        cls = self._referenced
        if name in Reference.__slots__ or is_property(cls, name):
            object.__setattr__(self, name, value)
            return
        if name not in cls._fields:  # type: ignore[attr-defined]
            Record.__setattr__(_example(cls), name, value)
        if self._is_at(value, ("f", name)):
            return
        domain = getattr(cls, "_domains", {}).get(name)
        value = fitting(value, self._path, (*self._sub, ("f", name)), domain)
        forget(self._path, (*self._sub, ("f", name)), self._cell)
        self._update(("set", name, intern_key(value)), lambda r: r._with(name, value))

    def _augment(self, name: str, key: object, fn: Callable[[Any], Any]) -> None:
        self._update((key, name), lambda r: r._with(name, fn(getattr(r, name))))

    def __repr__(self) -> str:
        cls: Any = self._referenced
        if cls.__repr__ is not Record.__repr__ or cls._open:
            return repr(self._freeze())
        as_any: Any = Record.__repr__
        return str(as_any(self))

    def _canonical(self) -> bytes:
        data: bytes = self._freeze()._canonical()
        return data

    def __eq__(self, other: object) -> bool:
        if self is other or not isinstance(other, Record):
            return self is other
        return bool(self._freeze() == freeze(other))

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(self._freeze())


KEPT.update(private(Reference) | private(RecordReference))
# Filled by statewalk.dsl.state.containers, which defines the container references.
REFERENCES: dict[type, type] = {}
BY_KIND: dict[str, type] = {}
