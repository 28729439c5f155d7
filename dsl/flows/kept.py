"""The locals that a suspended run keeps, and their restoration.

Of a value a copy is kept. A reference to something in the state is kept as its place and bound
again. Lists, dicts, sets, bags and records that are not part of the state, or no longer, can be
changed after the yield as before it; what they refer to is kept in the same way.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from statewalk.dsl.binding import binding
from statewalk.dsl.errors import SpecError
from statewalk.dsl.flows.instructions import FlowCode, Instruction
from statewalk.dsl.state.containers import FrozenSetReference, SetReference
from statewalk.dsl.state.detaching import Fixed, Sub, follow, sub_key
from statewalk.dsl.state.dicts import DictReference, DictView, EntriesReference
from statewalk.dsl.state.lists import ListReference
from statewalk.dsl.state.packing import decode
from statewalk.dsl.state.refs import Reference, current_view, place, place_in, show_place
from statewalk.dsl.state.roles import Field
from statewalk.dsl.values.ordered_sets import OrderedFrozenSet, OrderedSet
from statewalk.dsl.values.records import Bag, Record, own
from statewalk.dsl.values.stored import (
    ABSENT,
    FrozenBag,
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
    """Return a local as a stored value: a reference as its place, anything else as a copy."""
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
    """Return what a loop has still to go through."""
    if isinstance(values, set | frozenset):
        values = ordered(values)
    return FrozenList(keep(v) for v in values)


def restored(value: Any, fields: Fields) -> Any:
    """Return a kept value as it was, or a reference to its place. Raises SpecError[SW206]."""
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
        place_of = f"{owner}#{role.index}.{name}"
        said = f"A local variable referred to {place_of}, which was removed during the yield."
        raise SpecError("SW206", said, help="Read it again after the yield.")
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
    """Return a kept value for people: a place by its name."""
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


_BY_INDEX = "@index"  # (_BY_INDEX, list or None for the local, index)
_BY_KEY = "@key"  # (_BY_KEY, set or dict or None for the local, what remains, all elements or keys)
_NO_LIST = (
    "Iterate over a list: for x in list(...). It is computed at once, before the first yield."
)


def made_by_turns(what: str) -> tuple[str, str]:
    """Return what is wrong with a loop over something that makes its elements later, and what to
    do.
    """
    return f"a loop with a yield in it iterates over {what}, which is lazy", _NO_LIST


def turns(values: Any) -> Iterator[Any]:
    """Return an iterator over the turns of a loop without a yield."""
    return iter(ordered(values) if isinstance(values, set | frozenset) else values)


def begun(given: tuple[Any, Any], one: Instruction) -> Any:
    """Return what a loop keeps at its beginning, of what it goes through and what that
    belongs to.
    """
    values, source = given
    if isinstance(values, Iterator | Record):  # its __iter__ says what comes next, turn by turn
        what, help = made_by_turns(f"'{values.__class__.__name__}'")
        raise SpecError("SW116", f"This cannot be suspended: {what}.", help=help)
    shared = isinstance(source, Reference) and source._cell is None
    if not shared and not one.source:
        return listed(values)
    kept = source if shared else None
    if isinstance(source, list | ListReference) and source is values:
        return (_BY_INDEX, kept, 0)
    if isinstance(source, set | dict | SetReference | DictReference | EntriesReference):
        return (_BY_KEY, kept, listed(source), _all(source))
    return listed(values)


def following(rest: Any, local: Any, one: Instruction, fields: Fields) -> tuple[Any, Any] | None:
    """(the next element, what is kept then); None at the end. ``local``: see `begun`."""
    if type(rest) is FrozenList:
        return (restored(rest[0], fields), FrozenList(rest[1:])) if rest else None
    kind, kept, *more = rest
    source = local if kept is None else kept
    if kind == _BY_INDEX:
        (at,) = more
        return (source[at], (_BY_INDEX, kept, at + 1)) if at < len(source) else None
    left, everything = more
    if _all(source) != everything:
        word = "set" if isinstance(source, set | SetReference) else "dictionary"
        raise RuntimeError(f"the {word} changed during iteration")
    if not left:
        return None
    key = restored(left[0], fields)
    item: Any = key
    if one.callee in ("items", "values"):
        item = (key, source[key]) if one.callee == "items" else source[key]
    return item, (_BY_KEY, kept, FrozenList(left[1:]), everything)


def _all(source: Any) -> Any:
    return freeze(set(source))


REST = "@left"


def shown(code: Mapping[str, FlowCode], held: Any) -> Any:
    """Return what a slot of suspended runs holds; a list where there can be several.

    ``at`` says in which line a run goes on, of each function that it is in. Then come its locals,
    those of inner functions with the name of the function before them. ``left`` are the
    statements of a parallel block, by number, or the elements of a parallel loop, still to come;
    ``left inside`` is the same of what is inside of that.
    """
    if isinstance(held, FrozenBag):
        return FrozenList(_run(code, run) for run in held)
    return _run(code, held)


def is_run(code: Mapping[str, FlowCode], value: Any) -> bool:
    """Return whether a value that was chosen is a suspended run: which of several goes on, or
    crashes.
    """
    return (
        type(value) is tuple
        and len(value) > 0
        and all(type(f) is tuple and len(f) == 4 and f[0] in code for f in value)
    )


def _run(code: Mapping[str, FlowCode], frames: tuple[Any, ...]) -> FrozenDict:
    places, content = [], {}
    for depth, (name, at, kept, _) in enumerate(frames):
        short = name.rpartition(".")[2]
        line = code[name].instructions[at].line
        places.append(f"{short} line {line}" if depth else f"line {line}")
        for word, value in sorted(kept, key=_number):
            hidden = word[:1] == "@" and not (word.startswith(REST) and told(value))
            if word == "self" or hidden:
                continue
            plain = f"{short}." if depth else ""
            plain += "left" if word[:1] == "@" else word
            while plain in content:  # the outer one was made later, and comes first
                plain += " inside"
            content[plain] = told(value)
    return FrozenDict({"at": " > ".join(places), **content})


def _number(kept: tuple[str, Any]) -> tuple[int, str]:
    """Return the sort key: names of the spec, then generated ones, newest first."""
    word = kept[0]
    if not word.startswith(REST):
        return -sys.maxsize, word
    return -int("0" + "".join(c for c in word if c.isdigit())), word
