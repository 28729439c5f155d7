"""Values as JSON: readable, exact, and only ever data.

None, booleans, strings, integers and lists are themselves; the rest is an object with one key that
begins with ``#``. Integers beyond 2^53 are text, so that no reader rounds them. What has no form
here (kinds that a later version adds) is kept as its canonical bytes.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from enum import KEEP, Enum, Flag
from typing import Any

from statewalk.dsl.errors import RunError, StatewalkError
from statewalk.dsl.state.packing import decode
from statewalk.dsl.state.roles import Role
from statewalk.dsl.values.records import Record, field_names, fields_of, record_class
from statewalk.dsl.values.stored import FrozenBag, FrozenDict, FrozenList, FrozenSet, encode, freeze

_EXACT = 1 << 53
_MAX_DEPTH = 200
_PAIR = 2
_MOST = 1_000_000


def to_json(value: Any) -> Any:
    """Return the JSON form of a stored value."""
    kind = type(value)
    if value is None or kind is bool or kind is str:
        return value
    if kind is int:
        return value if -_EXACT < value < _EXACT else {"#int": str(value)}
    if kind is FrozenList:
        return [to_json(v) for v in value]
    if kind is tuple:
        return {"#tuple": [to_json(v) for v in value]}
    if kind is FrozenSet:
        return {"#set": [to_json(v) for v in value]}
    if kind is FrozenBag:
        return {"#bag": [[to_json(v), count] for v, count in value.counts()]}
    if kind is FrozenDict:
        return {"#dict": [[to_json(k), to_json(v)] for k, v in value.items()]}
    if isinstance(value, Enum):  # some flags together have no name
        return {"#enum": [kind.__name__, value.value if isinstance(value, Flag) else value.name]}
    if isinstance(value, Role):
        return {"#role": [kind.__name__, value.index]}
    if isinstance(value, Record):
        cls = record_class(value)
        return {
            "#record": [cls.__name__, {n: to_json(getattr(value, n)) for n in fields_of(value)}]
        }
    return {"#bytes": base64.b64encode(encode(value)).decode("ascii")}


def plain(value: Any) -> Any:
    """Return a value as JSON for programs that only want to look: untagged, roles and enum
    members as text. A dict with keys of one text (``1`` and ``"1"``) is tagged.
    """
    value = freeze(value)
    kind = type(value)
    if value is None or kind is bool or kind is str or kind is int:
        return value
    if kind in (FrozenList, tuple, FrozenSet, FrozenBag):
        return [plain(v) for v in value]
    if kind is FrozenDict:
        named = {k if type(k) is str else repr(k): plain(v) for k, v in value.items()}
        return named if len(named) == len(value) else to_json(value)
    if isinstance(value, Enum):
        return value.name or repr(value)
    if isinstance(value, Record):
        return {n: plain(getattr(value, n)) for n in fields_of(value)}
    return repr(value)


_MOST_ROLES = 1 << 16  # of all classes: each is made


class Classes:
    """Stand-ins for the classes of a spec: enough to hold, compare and show values, no code of the
    spec.
    """

    def __init__(self, described: Mapping[str, Any]) -> None:
        self.known: dict[str, type] = {}
        roles = 0
        for name, form in described.items():
            if not name.isidentifier() or not isinstance(form, dict):
                raise corrupt(f"a class called {name!r}")
            count = form.get("role", 0)
            roles += count if isinstance(count, int) else 0
            if roles > _MOST_ROLES:
                raise corrupt(f"more than {_MOST_ROLES} roles")
            self.known[name] = _stand_in(name, form)

    def get(self, name: Any, base: type) -> Any:
        """Return the class of a name. Raises RunError[SW401]."""
        cls = self.known.get(name) if isinstance(name, str) else None
        if cls is None or not issubclass(cls, base):
            raise corrupt(f"a value of the unknown class {name!r}")
        return cls


def _stand_in(name: str, form: Mapping[str, Any]) -> type:
    match form:
        case {"record": None}:
            from statewalk.dsl.fizz.runtime.values import record

            return record
        case {"record": list(names)} if all(isinstance(n, str) for n in names):
            return type(name, (Record,), {"__annotations__": dict.fromkeys(names, Any)})
        case {"enum": list(names)} if names and all(isinstance(n, str) for n in names):
            try:
                return Enum(name, names)  # type: ignore[return-value]
            except (TypeError, ValueError):
                raise corrupt(f"the members of {name}") from None
        case {"flag": dict(members)} if all(type(n) is int for n in members.values()):
            try:
                return Flag(name, members, boundary=KEEP)  # type: ignore[return-value]
            except (TypeError, ValueError):
                raise corrupt(f"the members of {name}") from None
        case {"role": int(count)} if count >= 0:
            cls = type(name, (Role,), {})
            for _ in range(count):
                cls()
            return cls
    raise corrupt(f"the description of the class {name}")


def describe_classes(classes: Mapping[str, type]) -> dict[str, Any]:
    """Return what `Classes` makes stand-ins of."""
    found: dict[str, Any] = {}
    for name, cls in classes.items():
        if issubclass(cls, Flag):
            found[name] = {"flag": {n: m.value for n, m in cls.__members__.items()}}
        elif issubclass(cls, Enum):
            found[name] = {"enum": [m.name for m in cls]}
        elif issubclass(cls, Role):
            found[name] = {"role": len(cls._instances)}
        elif issubclass(cls, Record):
            found[name] = {"record": None if cls._open else list(field_names(cls))}
    return found


def from_json(data: Any, classes: Classes, depth: int = 0) -> Any:
    """Return the stored value of a JSON form. Raises RunError[SW401]."""
    if depth > _MAX_DEPTH:
        raise corrupt("a value that is nested too deeply")
    if data is None or isinstance(data, bool | str | int):
        return data
    if isinstance(data, list):
        return FrozenList(from_json(v, classes, depth + 1) for v in data)
    if isinstance(data, dict) and len(data) == 1:
        ((tag, content),) = data.items()
        reader = _READERS.get(tag)
        if reader is not None:
            try:
                return reader(content, classes, depth + 1)
            except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError):
                raise corrupt(f"a value {tag} that cannot be read") from None
            except StatewalkError as error:
                raise corrupt(f"a value that cannot be read: {error.message.rstrip('.')}") from None
    raise corrupt(f"a value that cannot be read: {str(data)[:60]}")


def _items(content: Any, classes: Classes, depth: int) -> list[Any]:
    if not isinstance(content, list):
        raise TypeError
    return [from_json(v, classes, depth) for v in content]


def _pairs(content: Any) -> Sequence[tuple[Any, Any]]:
    if not all(isinstance(p, list) and len(p) == _PAIR for p in content):
        raise TypeError
    return [(a, b) for a, b in content]


def _bag(content: Any, classes: Classes, depth: int) -> FrozenBag:
    bag = FrozenBag()
    for element, count in _pairs(content):
        if type(count) is not int or count < 1:
            raise TypeError
        if count > _MOST:  # shown, each of them is
            raise corrupt(f"a bag with {count:,} of one thing: {_MOST:,} are the most")
        bag = bag.adjusted(from_json(element, classes, depth), count)
    return bag


def _dict(content: Any, classes: Classes, depth: int) -> FrozenDict:
    return FrozenDict(
        [(from_json(k, classes, depth), from_json(v, classes, depth)) for k, v in _pairs(content)]
    )


def _enum(content: Any, classes: Classes, depth: int) -> Any:
    name, member = content
    cls = classes.get(name, Enum)
    return cls(member) if issubclass(cls, Flag) else cls[member]


def _role(content: Any, classes: Classes, depth: int) -> Any:
    name, index = content
    if type(index) is not int or index < 0:
        raise TypeError
    return classes.get(name, Role)._instances[index]


def _record(content: Any, classes: Classes, depth: int) -> Any:
    name, fields = content
    values = {n: from_json(v, classes, depth) for n, v in fields.items()}
    return classes.get(name, Record)(**values)._freeze()


def _leaf(content: Any, classes: Classes, depth: int) -> Any:
    found = decode(base64.b64decode(content, validate=True), classes.known)
    if isinstance(found, FrozenList | tuple | FrozenSet | FrozenBag | FrozenDict | Record):
        raise TypeError  # these have forms of their own, which are looked at
    return found


_READERS: Mapping[str, Callable[[Any, Classes, int], Any]] = {
    "#int": lambda content, classes, depth: int(str(content)),
    "#tuple": lambda content, classes, depth: tuple(_items(content, classes, depth)),
    "#set": lambda content, classes, depth: FrozenSet(_items(content, classes, depth)),
    "#bag": _bag,
    "#dict": _dict,
    "#enum": _enum,
    "#role": _role,
    "#record": _record,
    "#bytes": _leaf,
}


def corrupt(what: str) -> RunError:
    """Return the error of a trace file that holds something it should not."""
    return RunError("SW401", f"it holds {what}.")
