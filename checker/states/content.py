"""The content of a state: its slots put together to whole values, one per field of an instance.

How a field is laid out in slots may differ between versions of a spec and between lowerings; its
content does not. So traces hold and compare contents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import getattr_static
from typing import TYPE_CHECKING, Any

from statewalk.checker.states.shortening import text_of
from statewalk.dsl.errors import StatewalkError
from statewalk.dsl.flows.kept import is_run, shown
from statewalk.dsl.state.roles import Field, Role
from statewalk.dsl.values.domains import ANYTHING, Domain
from statewalk.dsl.values.stored import (
    ABSENT,
    FrozenBag,
    FrozenDict,
    FrozenList,
    FrozenSet,
    freeze,
)
from statewalk.dsl.view import Path, State

if TYPE_CHECKING:
    from statewalk.dsl.model import Model

Content = Mapping[Path, Any]
_EMPTY = {"dict": FrozenDict(), "set": FrozenSet(), "bag": FrozenBag(), "list": FrozenList()}
_PART = 5  # components of the path of an entry or element
_MARK = 3  # where such a path says which of the two it is


def content_of(model: Model, state: State, *, constant: bool = False) -> dict[Path, Any]:
    """Return the fields of a state that steps may change, in the order in which instances and
    fields are declared; with ``constant`` the others too, which are the same in all states.
    """
    if constant:
        state = {**model.fixed, **state}
    entries: dict[Path, list[tuple[Any, Any]]] = {}
    elements: dict[Path, list[Any]] = {}
    whole: dict[Path, Any] = {}
    for path, value in state.items():
        if len(path) == _PART and path[_MARK] == "key":
            entries.setdefault(path[:3], []).append((key_of(model, path[4]), value))
        elif len(path) == _PART and path[_MARK] == "in":
            elements.setdefault(path[:3], []).append(key_of(model, path[4]))
        elif not (len(path) == _MARK + 1 and path[_MARK] == "keys"):
            whole[path] = value
    whole.update({path: FrozenDict(found) for path, found in entries.items()})
    whole.update({path: FrozenSet(found) for path, found in elements.items()})
    threads = {p: whole.pop(p) for p in list(whole) if len(p) > _MARK and p[2] == "@flow"}
    ordered: dict[Path, Any] = {}
    for path, empty in declared_fields(model, constant=constant).items():
        value = whole.pop(path, empty)
        if value is not ABSENT:
            ordered[path] = value
    ordered.update(sorted(whole.items(), key=lambda item: repr(item[0])))
    for path, held in sorted(threads.items()):
        if model.flows is not None and path[_MARK][:1] != "@":  # the others count runs
            name = f"{path[_MARK]} (suspended)"
            ordered[(path[0], path[1], name)] = shown(model.flows.code, held)
    return ordered


def runs_shown(model: Model, path: Path) -> Callable[[Any], str] | None:
    """Return the function that shows what a slot of suspended runs holds; None for other slots."""
    if model.flows is None or path[2:3] != ("@flow",) or path[_MARK][:1] == "@":
        return None  # the slots with an @ count runs
    code = model.flows.code
    return lambda held: text_of(shown(code, held))


def choice_shown(model: Model, value: Any, name: str) -> tuple[Any, str]:
    """Return what was chosen, and its name, as people read it: a suspended run by where
    it waits.
    """
    if model.flows is not None and is_run(model.flows.code, value):
        return shown(model.flows.code, value), "run"
    return value, name


def choice_text(name: str, text: str) -> str:
    """Return what was chosen: ``x=2`` where the choice has a name, ``i=1: 2`` where a loop tells
    it.
    """
    return f"{name}{': ' if '=' in name else '='}{text}" if name else text


def declared_fields(model: Model, *, constant: bool = False) -> dict[Path, Any]:
    """Return the places of a model's fields, with what each holds in a state without a slot for it;
    constant ones only on demand.
    """
    return {
        (owner, role.index, info.name): _EMPTY.get(info.kind, ABSENT) if info.settled else ABSENT
        for owner, roles in model.roles.items()
        for role in roles
        for (of, _), info in model.fields.items()
        if of == owner and (constant or not info.constant)
    }


def constants_of(model: Model) -> dict[Path, Any]:
    """Return the fields that no step changes."""
    varied = declared_fields(model)
    every = content_of(model, {}, constant=True)
    return {path: value for path, value in every.items() if path not in varied}


def domain_in(role: Role, name: str) -> Domain:
    """Return the domain of a role's field; `ANYTHING` for an attribute that is no field."""
    found = getattr_static(type(role), name, None)
    return found.domain if isinstance(found, Field) else ANYTHING


def key_of(model: Model, key: Any) -> Any:
    """Return the value behind an `intern_key`."""
    if type(key) is not bytes:
        return key
    from statewalk.dsl.state.packing import decode

    return decode(key, model.classes)


def value_of(thing: Any, model: Model, state: State) -> Any:
    """Return what an expression of the spec gave, as a value; to be called while the state is
    bound.

    A field that the spec never lists may be laid out so that a reference to it cannot be read
    whole; its content can.
    """
    try:
        return freeze(thing)
    except StatewalkError:
        path = tuple(getattr(thing, "_path", ()))
        return content_of(model, state).get(path, thing)


def short_names(model: Model) -> dict[str, str]:
    """Return how the fields of shared state are shown: without the number of the one instance there
    is.

    The global variables of a .fizz file are fields of a class of our making, which is left out.
    """
    from statewalk.dsl.state.roles import State as SharedState

    single = [
        name for name, roles in model.roles.items()
        if len(roles) == 1 and isinstance(roles[0], SharedState)
    ]  # fmt: skip
    return {name: "" if model.dialect == "fizz" else name for name in single}


def show_field(path: Path, names: Mapping[str, str] | None = None) -> str:
    """``Broker#0.pending``; ``PidSource.last`` where ``names`` has PidSource."""
    if len(path) < _MARK:
        return ".".join(str(part) for part in path)
    owner, index, name = path[:3]
    if owner == "@module":
        return str(name)
    short = (names or {}).get(owner)
    head = f"{owner}#{index}.{name}" if short is None else f"{short}.{name}" if short else name
    return head + "".join(f"[{part!r}]" for part in path[3:])
