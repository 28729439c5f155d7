"""What a suspended run keeps of its locals, and how they come back.

Of a value a copy is kept. A reference to something in the state is kept as its place and bound
again. Lists, dicts, sets, bags and records that are not part of the state, or no longer, can be
changed after the yield as before it; what they refer to is kept in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from statewalk.dsl.binding import binding
from statewalk.dsl.errors import SpecError
from statewalk.dsl.state.containers import FrozenSetReference
from statewalk.dsl.state.decoding import decode
from statewalk.dsl.state.detaching import Fixed, Sub, follow, sub_key
from statewalk.dsl.state.dict_views import DictView
from statewalk.dsl.state.refs import (
    Reference,
    current_view,
    place,
    place_in,
    show_place,
)
from statewalk.dsl.state.roles import Field
from statewalk.dsl.values.ordered_sets import OrderedFrozenSet, OrderedSet
from statewalk.dsl.values.records import Bag, Record, own
from statewalk.dsl.values.stored import (
    ABSENT,
    FrozenDict,
    FrozenList,
    Keys,
    freeze,
    intern_key,
    ordered,
)

_PLACE = "@place"  # (_PLACE, role, field, keys, steps into the value)
_OWN = "@own"  # (_OWN, name of the class, content): what is no part of the state
_ROWS: Mapping[str, Any] = {"list": list, "tuple": tuple, "Keys": Keys}
Fields = Mapping[tuple[str, str], Field]


def keep(value: Any) -> Any:
    """A local as a stored value: a reference as its place, anything else as a copy."""
    if isinstance(value, Reference) and type(value) is not FrozenSetReference:
        is_place = value._cell is None or isinstance(value._cell, Fixed)
        return _place_of(value) if is_place else _copy_of(own(freeze(value)))
    return _copy_of(value)


def _place_of(value: Reference) -> Any:
    name, index, field = value._path[:3]
    # the role itself, which changes places with others where it is symmetric
    role = binding.classes[name]._instances[index]  # type: ignore[attr-defined]
    keys = tuple(decode(k, binding.classes) if type(k) is bytes else k for k in value._path[3:])
    return (_PLACE, role, field, keys, tuple((step, key) for step, key in value._sub))


def _copy_of(value: Any) -> Any:
    kind = type(value)
    if kind is tuple:
        parts = tuple(keep(v) for v in value)
        return (_OWN, "tuple", parts) if parts[:1] in ((_PLACE,), (_OWN,)) else parts
    if isinstance(value, DictView):
        return _copy_of(Keys(value))
    if kind is list or kind is Keys:
        return (_OWN, kind.__name__, FrozenList(keep(v) for v in value))
    if kind is range:
        return (_OWN, "range", (value.start, value.stop, value.step))
    if kind is dict:
        return (_OWN, "dict", FrozenDict({k: keep(v) for k, v in value.items()}))
    if isinstance(value, frozenset):
        return (_OWN, "frozenset", freeze(value))
    if isinstance(value, set | Bag):
        return (_OWN, kind.__name__, freeze(value))
    if isinstance(value, Record) and "_bytes" not in value.__dict__:
        content = {name: keep(v) for name, v in value.__dict__.items()}
        return (_OWN, kind.__name__, FrozenDict(content))
    return freeze(value)


def listed(values: Any) -> FrozenList:
    """What a loop has still to go through."""
    if isinstance(values, set | frozenset):
        values = ordered(values)
    return FrozenList(keep(v) for v in values)


def restored(value: Any, fields: Fields) -> Any:
    """A kept value as it was; for a place, a reference to it.

    Raises:  SpecError[SW206] for a place that is gone.
    """
    if type(value) is not tuple:
        return value
    if value[:1] == (_PLACE,):
        return _bound_again(value, fields)
    if value[:1] != (_OWN,):
        return tuple(restored(v, fields) for v in value)
    _, kind, content = value
    if kind in _ROWS:
        return _ROWS[kind](restored(v, fields) for v in content)
    if kind == "range":
        return range(*content)
    if kind == "dict":
        return {k: restored(v, fields) for k, v in content.items()}
    if kind == "set":
        return OrderedSet(content)
    if kind == "frozenset":
        return OrderedFrozenSet(content)
    if kind == "Bag":
        return Bag(content)
    record: Any = object.__new__(binding.classes[kind])
    record.__dict__.update({name: restored(v, fields) for name, v in content.items()})
    return record


def _bound_again(value: tuple[Any, ...], fields: Fields) -> Any:
    _, role, name, keys, steps = value
    owner = type(role).__name__
    path = (owner, role.index, name, *(intern_key(k) if i else k for i, k in enumerate(keys)))
    field = fields.get((owner, name))
    if field is not None and not keys and not steps:
        return field.__get__(role)
    domain = field.domain if field else None
    if keys and domain is not None:
        domain = domain.element
    sub: Sub = tuple(steps)
    for step, key in sub:
        if domain is not None and step == "f" and domain.record is not None:
            domain = getattr(domain.record, "_domains", {}).get(key)
        else:
            domain = domain.element if domain is not None else None
    if field is not None and field.constant:
        return place_in(field.__get__(role)._cell, path, sub, domain)
    if not current_view().project(path, ("there", sub_key(sub)), lambda v: _is_there(v, sub)):
        raise SpecError(
            "SW206",
            f"A local referred to {owner}#{role.index}.{name}, which is gone since the yield.",
            help="Read it again after the yield.",
        )
    return place(path, sub, domain)


def _is_there(value: Any, sub: Sub) -> bool:
    if value is ABSENT:
        return False
    try:
        follow(value, sub)
    except (LookupError, AttributeError):
        return False
    return True


def told(value: Any) -> Any:
    """A kept value for people: a place by its name."""
    if type(value) is not tuple:
        return value
    if value[:1] == (_PLACE,):
        _, role, name, keys, steps = value
        path = (type(role).__name__, role.index, name, *keys)
        return "→ " + show_place(path, tuple(steps))
    if value[:1] == (_OWN,):
        kind, content = value[1:]
        if kind == "range":
            return str(range(*content))
        if kind in _ROWS:
            return FrozenList(told(v) for v in content)
        if type(content) is FrozenDict:
            return FrozenDict({k: told(v) for k, v in content.items()})
        return content
    return tuple(map(told, value))
