"""Loops with a yield inside: what they keep of what they go through, and what comes next.

As in Python, a list is gone through by index, as it is by then; a set or dict whose elements or
keys are other ones by then is an error. What cannot change is kept as what remains of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from statewalk.dsl.errors import SpecError
from statewalk.dsl.flows.instructions import Instruction
from statewalk.dsl.flows.kept import Fields, listed, restored
from statewalk.dsl.state.containers import SetReference
from statewalk.dsl.state.dicts import DictReference, EntriesReference
from statewalk.dsl.state.lists import ListReference
from statewalk.dsl.state.refs import Reference
from statewalk.dsl.values.records import Record
from statewalk.dsl.values.stored import FrozenList, freeze, ordered

_BY_INDEX = "@index"  # (_BY_INDEX, list or None for the local, index)
_BY_KEY = "@key"  # (_BY_KEY, set or dict or None for the local, what remains, all elements or keys)
_NO_LIST = "Go through a list: for x in list(...). It is made at once, before the first yield."


def made_by_turns(what: str) -> tuple[str, str]:
    """What is wrong with a loop over something that makes its elements later, and what to do."""
    return f"a loop with a yield in it goes through {what}, made turn by turn", _NO_LIST


def turns(values: Any) -> Iterator[Any]:
    """The turns of a loop without a yield."""
    return iter(ordered(values) if isinstance(values, set | frozenset) else values)


def begun(given: tuple[Any, Any], one: Instruction) -> Any:
    """What a loop keeps at its beginning, of what it goes through and what that belongs to."""
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
        raise RuntimeError(f"the {_word(source)} changed during iteration")
    if not left:
        return None
    key = restored(left[0], fields)
    item: Any = key
    if one.callee in ("items", "values"):
        item = (key, source[key]) if one.callee == "items" else source[key]
    return item, (_BY_KEY, kept, FrozenList(left[1:]), everything)


def _all(source: Any) -> Any:
    return freeze(set(source))


def _word(source: Any) -> str:
    return "set" if isinstance(source, set | SetReference) else "dictionary"
