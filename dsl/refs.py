"""Live references: what a spec holds when it reaches a list, set, bag, dict or record through a
field.

A reference is a *place*: a slot and the steps into its value. Reading goes through the view as
projections, changing as updates, so that an engine sees how little was looked at. One place has
one reference object per run. Replacing a place detaches the references to it: they go on showing
what was there, as Python has it.

Steps into a value are pairs: ("f", field), ("i", index), ("k", key).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dsl.detaching import Cell, Sub, forget, sub_key
from dsl.domains import Domain, misfit_of
from dsl.errors import SpecError, placed
from dsl.records import Record, replace
from dsl.runtime import binding
from dsl.values import ABSENT, FrozenBag, FrozenDict, FrozenList, FrozenSet, freeze, intern_key
from dsl.view import Path, View

_UNHASHABLE = frozenset({list, set, dict, FrozenList, FrozenDict})
_CONTAINERS = (FrozenList, FrozenSet, FrozenBag, FrozenDict, Record)


def walk(value: Any, sub: Sub) -> Any:
    """The value at the end of steps into a value."""
    for kind, key in sub:
        value = getattr(value, key) if kind == "f" else value[key]
    return value


def put(value: Any, sub: Sub, new: Any) -> Any:
    """A value with another one at the end of steps into it."""
    if not sub:
        return new
    (kind, key), rest = sub[0], sub[1:]
    if kind == "f":
        return freeze(replace(value, **{key: put(getattr(value, key), rest, new)}))
    if kind == "k":
        return value.with_item(key, put(value[key], rest, new) if rest else new)
    items = list(value)
    items[key] = put(items[key], rest, new)
    return FrozenList(items)


def current_view() -> View:
    """The bound view. Raises `NeedsState` outside a run."""
    view = binding.view
    if view is None:
        raise NeedsState
    return view


class NeedsState(BaseException):
    """State was read where none is bound: at load time, or outside the checker."""


class Reference:
    """Common to all references. ``_cell`` is None while attached."""

    __slots__ = ("_cell", "_domain", "_path", "_sub")
    __hash__ = None  # type: ignore[assignment]
    _path: Path
    _sub: Sub
    _domain: Domain | None
    _cell: Cell | None

    def _freeze(self) -> Any:
        if self._cell is not None:
            return walk(self._cell.get(), self._sub)
        if not self._sub:
            return current_view().get(self._path)
        sub = self._sub
        return current_view().project(self._path, ("at", sub_key(sub)), lambda v: walk(v, sub))

    def _project(self, key: object, fn: Callable[[Any], Any]) -> Any:
        if self._cell is not None:
            return fn(walk(self._cell.get(), self._sub))
        sub = self._sub
        if not sub:
            return current_view().project(self._path, key, fn)
        return current_view().project(self._path, (key, sub_key(sub)), lambda v: fn(walk(v, sub)))

    def _update(self, key: object, fn: Callable[[Any], Any]) -> None:
        forbid_change(self._path)
        sub = self._sub
        if self._cell is not None:
            whole = self._cell.get()
            self._cell.set(put(whole, sub, fn(walk(whole, sub))))
        elif not sub:
            current_view().update(self._path, key, fn)
        else:
            current_view().update(
                self._path, (key, sub_key(sub)), lambda v: put(v, sub, fn(walk(v, sub)))
            )

    def _at(self, step: tuple[str, Any], domain: Domain | None) -> Any:
        """What is at one more step: a reference, or a scalar."""
        if self._cell is not None:
            value = walk(self._cell.get(), (*self._sub, step))
            return place(self._path, (*self._sub, step), domain, cell=self._cell, value=value)
        return place(self._path, (*self._sub, step), domain)

    def _checked(self, value: Any, domain: Domain | None) -> Any:
        value = stored(value, self._path, self._sub)
        if domain is not None and not domain.admits(value):
            raise outside(show_place(self._path, self._sub) + "[..]", value, domain)
        return value

    def _member(self, value: Any, domain: Domain | None) -> Any:
        """What is stored of an element of a set or a key. Raises SpecError[SW203]."""
        if type(value) in _UNHASHABLE or isinstance(value, Reference):
            kind = value.__class__
            # Specs with free records (from .fizz files) have sets and dicts of anything.
            generic = getattr(binding.classes.get("record"), "_open", False)
            if kind in (list, set, dict) and not generic:
                raise SpecError(
                    "SW203",
                    f"{show_place(self._path, self._sub)} cannot hold {value!r} as an element or a "
                    f"key: a {kind.__name__} can change.",
                    help="Use a tuple or a frozenset.",
                )
        return self._checked(value, domain)

    def __eq__(self, other: object) -> bool:
        return bool(self._freeze() == (freeze(other) if isinstance(other, Reference) else other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __repr__(self) -> str:
        return repr(self._freeze())

    def __copy__(self) -> Any:
        return self._freeze()

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self._freeze()


def forbid_change(path: Path) -> None:
    """Raises SpecError[SW103] while a property is evaluated."""
    if binding.reading:
        raise SpecError(
            "SW103",
            f"The property '{binding.reading}' changes the state ({show_place(path, ())}).",
            why="Properties only read.",
            help="To record history, write an Auxiliary field in the action.",
        )


def show_place(path: Path, sub: Sub) -> str:
    """``Broker#0.pending[3].epoch``"""
    text = f"{path[0]}#{path[1]}.{path[2]}" if len(path) > 2 else str(path)
    if len(path) > 4:
        text += f"[{path[4]!r}]"
    for kind, key in sub:
        text += f".{key}" if kind == "f" else f"[{key!r}]"
    return text


def stored(value: Any, path: Path, sub: Sub) -> Any:
    """The stored form of a value that goes to a place. Raises SpecError[SW203]."""
    try:
        return freeze(value)
    except SpecError as error:
        raise placed(error, show_place(path, sub)) from None


def outside(what: str, value: Any, domain: Domain) -> SpecError:
    """The error of a value that its type does not allow."""
    inner = misfit_of(value) if isinstance(value, Record) else None
    if inner is not None:
        return outside(*inner)
    return SpecError("SW201", f"{what} cannot be {value!r}. It is {domain.text}.")


def _kind(value: Any) -> Any:
    kind = type(value)
    if kind in _REFERENCES:
        return kind.__name__
    return "record:" + type(value).__name__ if isinstance(value, Record) else "scalar"


def place(
    path: Path, sub: Sub, domain: Domain | None, *, cell: Cell | None = None, value: Any = ABSENT
) -> Any:
    """What is at a place: a reference to a container or record, else the value itself."""
    if cell is None:
        known = binding.references.get(path)
        reference = known.get(sub_key(sub)) if known is not None else None
        if domain is None or domain.kind in ("scalar", "record"):
            # Asked also where a reference is known: a remembered call has to note what it looks at.
            value = _scalar_or_example(current_view(), path, sub, domain)
            if not isinstance(value, _CONTAINERS):
                return value
            cls = _class_for(value)
        else:
            cls = _BY_KIND[domain.kind]
        if reference is not None:
            return reference
    else:
        if not isinstance(value, _CONTAINERS):
            return value
        if (known_there := cell.references.get(sub_key(sub))) is not None:
            return known_there
        cls = _class_for(value)
    return make(cls, path, sub, domain, cell)


def make(cls: type, path: Path, sub: Sub, domain: Domain | None, cell: Cell | None = None) -> Any:
    """A reference of a class to a place in the state, or in what a cell holds."""
    result: Any = object.__new__(cls)
    for name, content in (("_path", path), ("_sub", sub), ("_domain", domain), ("_cell", cell)):
        object.__setattr__(result, name, content)
    known = binding.references.setdefault(path, {}) if cell is None else cell.references
    known[sub_key(sub)] = result
    return result


def _scalar_or_example(view: View, path: Path, sub: Sub, domain: Domain | None) -> Any:
    """The value at a place when scalar; when a container, some value of the same class."""
    if domain is not None and not domain.may_contain:
        return (
            view.project(path, ("at", sub_key(sub)), lambda v: walk(v, sub))
            if sub
            else view.get(path)
        )
    if domain is not None and domain.kind == "record" and domain.record is not None:
        derived: list[type] = domain.record.__subclasses__()
        if all(hasattr(c, "_referenced") for c in derived):
            return _example(domain.record)
    return _dynamic(view, path, sub)


_EXAMPLES: dict[Any, Any] = {}


def _example(cls: type) -> Any:
    """An empty instance that only stands for its class."""
    if cls not in _EXAMPLES:
        _EXAMPLES[cls] = object.__new__(cls)
    return _EXAMPLES[cls]


def _dynamic(view: View, path: Path, sub: Sub) -> Any:
    """Ask for the kind first: a record or container is then not looked at any further."""
    name = view.project(path, ("kind", sub_key(sub)), lambda v: _kind(walk(v, sub)))
    if name == "scalar":
        return (
            view.project(path, ("at", sub_key(sub)), lambda v: walk(v, sub))
            if sub
            else view.get(path)
        )
    if name in _FROZEN_BY_NAME:
        return _FROZEN_BY_NAME[name]()
    return _example(binding.classes[name.removeprefix("record:")])


_FROZEN_BY_NAME: dict[str, type] = {
    c.__name__: c for c in (FrozenList, FrozenSet, FrozenBag, FrozenDict)
}


def _class_for(value: Any) -> type:
    kind = type(value)
    if kind in _REFERENCES:
        return _REFERENCES[kind]
    return record_reference(kind)


_RECORD_REFERENCES: dict[type, type] = {}


def record_reference(cls: type) -> type:
    """The class of references to records of a class; a subclass, so that `isinstance` holds."""
    known = _RECORD_REFERENCES.get(cls)
    if known is None:
        base = getattr(cls, "_reference", RecordReference)
        known = _RECORD_REFERENCES[cls] = type(
            cls.__name__,
            (base, cls),
            {"_referenced": cls, "__slots__": (), "__module__": cls.__module__},
        )
    return known


class RecordReference(Reference):
    """A record in the state."""

    __slots__ = ()
    _referenced: type

    def __getattribute__(self, name: str) -> Any:
        if name[:1] == "_":
            return object.__getattribute__(self, name)
        cls = object.__getattribute__(self, "_referenced")
        if name not in cls._fields:
            return object.__getattribute__(self, name)
        domains = getattr(cls, "_domains", {})
        return self._at(("f", name), domains.get(name))

    def __setattr__(self, name: str, value: Any) -> None:
        if name in Reference.__slots__:
            object.__setattr__(self, name, value)
            return
        cls = self._referenced
        if name not in cls._fields:  # type: ignore[attr-defined]
            Record.__setattr__(_example(cls), name, value)
        value = stored(value, self._path, (*self._sub, ("f", name)))
        domain = getattr(cls, "_domains", {}).get(name)
        if domain is not None and not domain.admits(value):
            raise outside(show_place(self._path, (*self._sub, ("f", name))), value, domain)
        forget(self._path, (*self._sub, ("f", name)), self._cell)
        self._update(
            ("set", name, intern_key(value)), lambda r: freeze(replace(r, **{name: value}))
        )

    def _augment(self, name: str, key: object, fn: Callable[[Any], Any]) -> None:
        self._update((key, name), lambda r: freeze(replace(r, **{name: fn(getattr(r, name))})))

    def _canonical(self) -> bytes:
        data: bytes = self._freeze()._canonical()
        return data

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Record):
            return False
        return bool(self._freeze() == freeze(other))

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(self._freeze())

    def __bool__(self) -> bool:
        return True


# Filled by dsl.containers, which defines the container references.
_REFERENCES: dict[type, type] = {}
_BY_KIND: dict[str, type] = {}
