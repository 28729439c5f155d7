"""The common view of two models on a state: fields of equal names, or the result of a map.

A *sight* is a number: two states, of one model or of both, have the same where they look the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from statewalk.checker.liveness.graph import Ints
from statewalk.checker.refinement.space import Space
from statewalk.checker.states.content import content_of, domain_in
from statewalk.checker.states.diff import by_names, check_members
from statewalk.dsl.errors import RunError, SpecError, StatewalkError, did_you_mean, place_of
from statewalk.dsl.model import Model
from statewalk.dsl.state.plain_view import PlainView
from statewalk.dsl.values.canonical import HOLDS
from statewalk.dsl.values.domains import Domain
from statewalk.dsl.values.stored import ABSENT, FrozenList, freeze
from statewalk.dsl.view import Path, State

_LARGEST = 1 << 62
_MARKED = 1 << 24  # kinds that are marked one by one rather than sorted
_FIELD = 3  # components of the path of a field
Map = Callable[[], Mapping[str, Any]]
"""Called in a state: what it is in the other model, by the names of that one's fields."""


@dataclass
class Values:
    """Numbers of values: those that are one by their names have the same, of whichever model."""

    numbers: dict[bytes, int] = field(default_factory=dict)

    def number(self, value: Any) -> int:
        """Return the number of a value, given when new."""
        return self.numbers.setdefault(by_names(value), len(self.numbers))


def places(model: Model, *, auxiliary: bool = False) -> dict[Path, bool]:
    """Return the fields of a model's instances, and whether steps change them."""
    return {
        (owner, role.index, info.name): not info.constant
        for owner, roles in model.roles.items()
        for role in roles
        for (of, _), info in model.fields.items()
        if of == owner and (auxiliary or not info.auxiliary)
    }


def common(
    a: Model, b: Model, chosen: Sequence[str] = (), *, constant: bool = False
) -> tuple[Path, ...]:
    """Return the fields that both models have and one of them changes; of these the ``chosen``.

    Names are those of a role or of its field: ``Client``, ``Client.state``. Fields that are
    `Auxiliary` count only where they are chosen. With ``constant`` the fields that neither model
    changes come after the others.

    Raises:  RunError[SW360] for a name that is none, and where nothing is common
    """
    mine, theirs = places(a, auxiliary=bool(chosen)), places(b, auxiliary=bool(chosen))
    found = [path for path in mine if path in theirs and (mine[path] or theirs[path])]
    named = {path: {str(path[0]), f"{path[0]}.{path[2]}"} for path in found}
    for name in chosen if found else ():
        known = sorted(set().union(*named.values()))
        if name not in known:
            raise RunError(
                "SW360",
                f"The two have no {name} in common. {did_you_mean(name, known)}".rstrip(),
                help="Name fields that both have, as Role.field, or roles: " + ", ".join(known),
            )
    if chosen:
        found = [path for path in found if named[path] & set(chosen)]
    if not found:
        raise RunError(
            "SW360",
            f"{a.name} and {b.name} have no field in common.",
            why="States are compared by fields of equal names.",
            help="Say what a state of the second is in the first: by= of refines(...), --map of "
            "compare.",
        )
    return (*found, *(path for path in mine if constant and path in theirs and path not in found))


def looked_at(
    a: Model, b: Model, chosen: Sequence[str] = (), seen: Map | None = None, *,
    constant: bool = False,
) -> tuple[Path, ...]:  # fmt: skip
    """Return the compared fields of ``a``: those that ``b`` has too (see `common`), or those that a
    map of its states gives.

    Raises:  RunError[SW360] where there is none, or an enum's names mean other members in each
    """
    check_members(a, b)
    if seen is None:
        return common(a, b, chosen, constant=constant)
    return fields_of(a, given_by(b, seen, b.initial_states[0]))


def sights(
    spaces: Sequence[Space], fields: Sequence[Path], maps: Sequence[Map | None]
) -> list[Ints]:
    """By space, the sight of each state: see `compared`."""
    return compared(spaces, fields, maps)[0]


def compared(
    spaces: Sequence[Space], fields: Sequence[Path], maps: Sequence[Map | None]
) -> tuple[list[Ints], tuple[Path, ...]]:
    """(by space, the sight of each state: of some fields, or of what a map gives for them;
    the fields that are not the same in all states).

    Fields are those of the first space that has no map.
    """
    values = Values()
    of = next(space.model for space, seen in zip(spaces, maps, strict=True) if seen is None)
    tables = [
        np.zeros((0, len(fields)), np.int32)
        if not space.graph.n  # a constraint refuses all of it
        else _mapped(space, fields, of, seen, values)
        if seen
        else _read(space, fields, values)
        for space, seen in zip(spaces, maps, strict=True)
    ]
    joined = np.concatenate(tables)
    varied = (joined != joined[:1]).any(axis=0).tolist()
    _, numbers = different(joined)
    ends = np.cumsum([len(table) for table in tables])[:-1]
    told = tuple(path for path, varies in zip(fields, varied, strict=True) if varies)
    return np.split(numbers, ends), told


def different(table: Ints) -> tuple[NDArray[np.int64], Ints]:
    """(a row of each kind, the kind of each row) of a table: rows are of a kind if they are equal.

    Columns are joined to one number for each row, as many as fit.
    """
    joined, most = np.zeros(len(table), np.int64), 1
    for column in table.T:
        size = int(column.max(initial=0)) + 1
        if most * size >= _LARGEST:
            _, joined = np.unique(joined, return_inverse=True)
            most = int(joined.max(initial=0)) + 1
        joined, most = joined * size + column, most * size
    if most > max(_MARKED, len(joined)):
        _, first, kinds = np.unique(joined, return_index=True, return_inverse=True)
        return first, kinds.astype(np.int32)
    at = np.full(most, -1, np.int32)
    at[joined[::-1]] = np.arange(len(joined) - 1, -1, -1, dtype=np.int32)
    there = np.flatnonzero(at >= 0)
    first = at[there].astype(np.int64)
    at[there] = np.arange(len(there), dtype=np.int32)
    return first, at[joined]


def _read(space: Space, fields: Sequence[Path], values: Values) -> Ints:
    """Return the numbers of the fields' values, by state. Shape: (n, fields)"""
    groups: dict[Path, list[int]] = {}
    for slot in space.slots:
        groups.setdefault(slot.path[:_FIELD], []).append(slot.id)
    table = np.zeros((space.graph.n, len(fields)), np.int32)
    for at, path in enumerate(fields):
        slots = groups.get(path)
        if slots is None:
            table[:, at] = values.number(_value(space.model, path, {}))
            continue
        part = space.rows[:, slots]
        first, kinds = different(part)
        numbers = [
            values.number(_value(space.model, path, _part(space, slots, ids)))
            for ids in part[first].tolist()
        ]
        table[:, at] = np.array(numbers, np.int32)[kinds]
    return table


def _part(space: Space, slots: Sequence[int], ids: Sequence[int]) -> State:
    """Return some slots of a state."""
    held = [space.slots[slot] for slot in slots]
    return {s.path: s.values[id] for s, id in zip(held, ids, strict=True) if id}


def _value(model: Model, path: Path, state: State) -> Any:
    """Return the value of a field in a state that holds at least its slots."""
    return content_of(model, state, constant=True).get(path, ABSENT)


def _mapped(space: Space, fields: Sequence[Path], of: Model, seen: Map, values: Values) -> Ints:
    """Return the numbers of what a map gives for the fields, by state. Shape: (n, fields)

    The map is asked once for each combination of values of the slots that it looks at.
    """
    looked: set[Path] = set()
    while True:
        slots = [slot.id for slot in space.slots if slot.path in looked]
        first, kinds = different(space.rows[:, slots])
        table = np.zeros((len(first), len(fields)), np.int32)
        known = len(looked)
        for at, number in enumerate(first.tolist()):
            given = mapped(space.model, seen, space.state(number), fields, of, looked)
            table[at] = [values.number(given[path]) for path in fields]
            if len(looked) > known:
                break
        else:
            result: Ints = table[kinds]
            return result


class _LookedView(PlainView):
    """A plain view that notes which slots are looked at."""

    __slots__ = ("looked",)

    def __init__(self, base: State, looked: set[Path]) -> None:
        super().__init__(base)
        self.looked = looked

    def get(self, path: Path) -> Any:
        """As in `PlainView`; every way of looking comes here."""
        self.looked.add(path)
        return super().get(path)


def mapped(
    model: Model,
    seen: Map,
    state: State,
    fields: Sequence[Path],
    of: Model,
    looked: set[Path] | None = None,
) -> dict[Path, Any]:
    """Return what a map gives in a state for fields of another model; ``looked`` gets the slots it
    looks at.
    """
    given = given_by(model, seen, state, looked)
    named = {name for path in fields for name in _names(path)}
    lacking = [_names(path)[1] for path in fields if not set(_names(path)) & given.keys()]
    if other := [*lacking, *(name for name in given if name not in named)]:
        raise SpecError(
            "SW363",
            f"The map '{_called(seen)}' gives {other[0]} in some states only.",
            help="It gives the same fields in every state.",
        )
    return {path: _given(given, path, of, seen) for path in fields}


def given_by(
    model: Model, seen: Map, state: State, looked: set[Path] | None = None
) -> Mapping[str, Any]:
    """Return what a map gives in a state, as values.

    Raises SpecError[SW363] for what is no mapping.
    """
    held: list[Mapping[str, Any]] = []
    view = _LookedView(state, set() if looked is None else looked)

    def look() -> bool:
        try:
            given: Any = seen()
        except StatewalkError:
            raise
        except Exception as error:
            said = f"The map '{_called(seen)}' raises {type(error).__name__}: {error}"
            raise SpecError("SW363", said, at=place_of(error, model.sources)) from error
        named = isinstance(given, Mapping) and all(isinstance(name, str) for name in given)
        if not named or not given:
            raise SpecError(
                "SW363",
                f"The map '{_called(seen)}' gave {given!r}.",
                help="It gives values by the names of fields: {'Box.items': set(box.queue)}.",
            )
        held.append({name: _frozen(seen, name, value) for name, value in given.items()})
        return True

    look.__name__ = _called(seen)  # what changes the state is called by this
    model.holds(look, view)
    return held[0]


def _called(seen: Map) -> str:
    """Return what a map is called, which need not be a function."""
    return getattr(seen, "__name__", type(seen).__name__)


def _frozen(seen: Map, name: str, value: Any) -> Any:
    """Return what a map gives for a field, as a value. Raises SpecError[SW363]."""
    try:
        return freeze(value)
    except StatewalkError as error:
        why, do = error.message, error.help
    except RecursionError:
        why, do = "It contains itself, or it is nested too deeply.", "Give a value of finite depth."
    except TypeError as error:  # of a class that was given in the place of an instance
        why, do = f"It is no value of the state ({error}).", HOLDS
    said = f"The map '{_called(seen)}' gives {name} a value that no field can hold."
    raise SpecError("SW363", said, why=why, help=do)


def by_rule(*models: Model) -> str:
    """Return why states of these models cannot be compared value by value; empty if they can."""
    domain = next((model.first_unused for model in models if model.first_unused), "")
    if not domain:
        return ""
    return (
        f"the values of {domain!r} are interchangeable, and the first that is not in use is taken: "
        "one spec can take another than the other does in the same place"
    )


def fields_of(model: Model, given: Iterable[str]) -> tuple[Path, ...]:
    """Return the fields of a model that a map speaks of.

    Raises RunError[SW360] for a name of none.
    """
    found = places(model, auxiliary=True)
    names = {path: _names(path) for path in found}
    known = sorted({name for both in names.values() for name in both})
    for name in given:
        if name not in known:
            raise RunError(
                "SW360",
                f"{model.name} has no field {name}. {did_you_mean(name, known)}".rstrip(),
                help="A map gives values by Role.field, or by Role#0.field.",
            )
    wanted = set(given)
    return tuple(path for path, both in names.items() if wanted & set(both))


def names_of(fields: Iterable[Path], *models: Model) -> tuple[str, ...]:
    """Return the names of some fields; with numbers of instances where not all that models
    have are of them.
    """
    held = list(fields)
    every = {path for model in models for path in places(model, auxiliary=True)}
    partly = {(path[0], path[2]) for path in every - set(held)}
    names = (_names(path)[(path[0], path[2]) not in partly] for path in held)
    return tuple(dict.fromkeys(names))


def left_out(a: Model, b: Model, fields: Iterable[Path]) -> tuple[str, ...]:
    """Return the instances of compared classes that only one of two models has: they are not
    compared.
    """
    found = []
    for owner in dict.fromkeys(path[0] for path in fields):
        one, other = ({role.index for role in m.roles.get(owner, ())} for m in (a, b))
        found += [f"{owner}#{index}" for index in sorted(one ^ other)]
    return tuple(found)


def _names(path: Path) -> tuple[str, str]:
    owner, index, name = path
    return f"{owner}#{index}.{name}", f"{owner}.{name}"


def _given(given: Mapping[str, Any], path: Path, of: Model, seen: Map) -> Any:
    """Return the value that a map gives for a field: by its own name, or one of those given for all
    instances in their order.

    The one instance of a class may have its value itself, or a list of that value where the field
    can hold no list (of a tuple: no tuple). The field's type decides, never the value.
    """
    own, shared = _names(path)
    if own in given and shared in given:
        raise SpecError(
            "SW363",
            f"The map '{_called(seen)}' gives both {own} and {shared}.",
            help="Give a field for all instances, or for each by its own name.",
        )
    if own in given:
        return given[own]
    owner, index, name = path
    value, roles = given[shared], of.roles[owner]
    each = isinstance(value, tuple | FrozenList) and len(value) == len(roles)
    if len(roles) > 1:
        if each:
            return value[index]
        raise SpecError(
            "SW363",
            f"The map '{_called(seen)}' gives {shared} no list of {len(roles)} values.",
            help=f"It is a field of {len(roles)} instances: give a list with a value for each.",
        )
    domain = domain_in(roles[0], name)
    if each and not _can_be(domain, type(value)):
        return value[0]
    if each and not domain.admits(value) and domain.admits(value[0]):
        raise SpecError(
            "SW363",
            f"The map '{_called(seen)}' gives {shared} {value!r}. It is {domain.text}.",
            why=f"{owner} has one instance, and {shared} holds lists: the value is not unwrapped.",
            help=f"Give the value itself, or give it by the name of the instance: {own}.",
        )
    return value


def _can_be(domain: Domain, kind: type) -> bool:
    """Return whether a domain has members that are a list, or a tuple."""
    if any(_can_be(part, kind) for part in domain.either):
        return True
    return domain.admits(kind()) or (kind is tuple and bool(domain.parts))
