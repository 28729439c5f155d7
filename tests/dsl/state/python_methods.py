"""Every method and operator of Python's containers, called on theirs and on ours alike.

`call` gives what a call returned, or which exception it raised, and what the container holds
afterwards, in terms in which a list of the state and a list of Python are the same.
"""

from __future__ import annotations

import copy
import itertools
import operator
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from statewalk.dsl.binding import bound
from statewalk.dsl.errors import SpecError
from statewalk.dsl.loader import load
from statewalk.dsl.source.set_order import settled
from statewalk.dsl.state.dicts import DictView
from statewalk.dsl.state.plain_view import PlainView
from statewalk.dsl.state.refs import Reference
from statewalk.dsl.values.stored import FrozenBag, freeze

SPEC = """
from statewalk import Record, State, always, deadlock

class Part(Record):
    x: list | set | dict | None = None
    f: frozenset = frozenset()

class Box(State):
    lists: list = []
    sets: set = set()
    frozensets: frozenset = frozenset()
    dicts: dict = {}
    inner: list = []
    alike: list[frozenset] = []
    by_name: dict[str, frozenset | None] = {}
    part: Part = Part()
    pair: tuple = ()

    def touch(self, name: str) -> None:
        setattr(self, name, None)  # so that every field counts as written and listed

box = Box()
deadlock(False)

@always
def fine() -> bool:
    return True
"""


class Places:
    """The places in a state where a container can be, each as a function that puts one there."""

    def __init__(self, folder: Path) -> None:
        path = folder / "box.py"
        path.write_text(SPEC)
        self.model = load(path, optimize=False)
        self.box: Any = self.model.roles["Box"][0]

    def field(self, value: Any) -> Any:
        name = type(value).__name__ + "s"
        setattr(self.box, name, value)
        return getattr(self.box, name)

    def element(self, value: Any) -> Any:
        if type(value) is frozenset:
            self.box.alike = [value]
            return self.box.alike[0]
        self.box.inner = [value]
        return self.box.inner[0]

    def part(self, value: Any) -> Any:
        name = "f" if type(value) is frozenset else "x"
        self.box.part = self.model.classes["Part"](**{name: value})
        return getattr(self.box.part, name)

    def optional(self, value: Any) -> Any:
        if type(value) is not frozenset:
            return self.part(value)
        self.box.by_name = {"k": value}
        return self.box.by_name["k"]

    def detached(self, value: Any) -> Any:
        found = self.element(value)
        self.box.inner, self.box.alike = [], []
        return found

    def value(self, value: Any) -> Any:
        """In a tuple, where it does not change."""
        self.box.pair = (value,)
        return self.box.pair[0]

    def key(self, value: Any) -> Any:
        """Out of the keys of a dict: what is no key stands in a tuple there."""
        if type(value) is frozenset:
            self.box.dicts = {value: 1}
            return next(iter(self.box.dicts))
        return self.value(value)

    def popped(self, value: Any) -> Any:
        self.box.inner = [value]
        return self.box.inner.pop()


PLACES = ("field", "element", "part", "optional", "detached", "value", "key", "popped")
VALUES = ("value", "key", "popped")
"""Where a container is a value: what would change it is SW202."""


def method(name: str) -> Callable[..., Any]:
    def called(container: Any, *arguments: Any, **named: Any) -> Any:
        return getattr(container, name)(*arguments, **named)

    called.__name__ = name
    return called


def swapped(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def called(container: Any, other: Any) -> Any:
        return function(other, container)

    called.__name__ = "r" + function.__name__
    return called


def changed_by(sign: str) -> Callable[[Any, Any], Any]:
    """``other sign= container``: what it is now, and whether it still is the same object."""
    code = compile(f"mine {sign}= container", "<in place>", "exec")

    def called(container: Any, other: Any) -> Any:
        names = {"mine": other, "container": container}
        exec(code, names)
        return names["mine"], other, names["mine"] is other

    called.__name__ = f"{sign}= on the left"
    return called


ALONE = (
    len, bool, list, tuple, reversed, sorted, sum, min, max, enumerate, copy.copy, copy.deepcopy,
    set, frozenset, dict, iter, hash,
)  # fmt: skip
OPERATORS = (
    operator.add, operator.sub, operator.mul, operator.or_, operator.and_, operator.xor,
    operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge,
)  # fmt: skip
IN_PLACE = (
    operator.iadd, operator.imul, operator.ior, operator.iand, operator.isub, operator.ixor,
)  # fmt: skip
LEFT_IN_PLACE = tuple(map(changed_by, ("+", "-", "*", "|", "&", "^")))
ASKING = (operator.contains, operator.getitem, operator.delitem)
CONTENTS: dict[type, list[Any]] = {
    list: [[], [1], [3, 1, 2], [1, 2, 1, 2, 1], ["b", "a"]],
    set: [set(), {1}, {1, 2, 3}],
    frozenset: [frozenset(), frozenset({1}), frozenset({1, 2, 3})],
    dict: [{}, {1: 2}, {1: 1, 2: 2, 3: 1}],
}
_SETS = [1, 9, set(), {1}, {1, 2, 4}, frozenset({2, 9}), [1], (2, 3), "xy", None, {1: 2}, [[1]]]
ARGUMENTS: dict[type, list[Any]] = {
    list: [
        -7, -2, 0, 1, 7, [], [9], [1, 2], (7,), "xy", None, slice(None), slice(1, 3),
        slice(None, None, -1), slice(0, 9, 2), range(2), deque([1, 2], 3), bytearray(b"a"),
    ],
    set: _SETS,
    frozenset: _SETS,
    dict: [1, 9, {}, {1: 5}, {9: 9}, [(1, 7)], None, "x", (1, 2), [1, 2], "xy",
           OrderedDict({1: 5}), defaultdict(list, {9: 9})],
}  # fmt: skip
NAMED: dict[tuple[type, str], list[dict[str, Any]]] = {
    (list, "sort"): [{"reverse": True}, {"key": lambda v: str(v)[::-1]}, {"key": None}],
    (dict, "update"): [{"a": 1}],
}


def calls(kind: type) -> Iterator[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]]:
    """Every call to try on containers of a kind: function, arguments, keywords."""
    pool = ARGUMENTS[kind]
    yield from ((function, (), {}) for function in ALONE)
    for one in pool:
        for function in (*OPERATORS, *map(swapped, OPERATORS), *IN_PLACE, *LEFT_IN_PLACE, *ASKING):
            yield function, (one,), {}
        yield from ((operator.setitem, (one, other), {}) for other in pool)
    for name in (n for n in dir(kind) if n[:1] != "_"):
        for count in range(4):
            for arguments in itertools.product(pool[: (1, 99, 8, 4)[count]], repeat=count):
                yield method(name), arguments, {}
        yield from ((method(name), (), named) for named in NAMED.get((kind, name), []))


Outcome = tuple[str, Any, Any]
"""The kind of exception, or ""; what was returned; the container afterwards."""


def call(function: Callable[..., Any], container: Any, arguments: Any, named: Any) -> Outcome:
    """Return what a call does."""
    try:
        result = function(container, *settled(copy.deepcopy(arguments)), **named)
    except SpecError as error:
        return error.code, None, plain(container)
    except Exception as error:
        return type(error).__name__, None, plain(container)
    return "", plain(result), plain(container)


def plain(value: Any) -> Any:
    """A container of either kind as something that can be compared; sets alike."""
    if isinstance(value, DictView):
        value = list(value)
    if isinstance(value, Reference):
        value = freeze(value)
    if isinstance(value, set | frozenset):
        return "set", sorted(repr(plain(v)) for v in value)
    if isinstance(value, dict):
        return "dict", sorted((repr(plain(k)), repr(plain(value[k]))) for k in value)
    if type(value) is tuple:
        return "tuple", *map(plain, value)
    if isinstance(value, list | type({}.keys()) | type({}.values()) | type({}.items())):
        return "list", *map(plain, value)
    if isinstance(value, FrozenBag):
        return "bag", *map(plain, value)
    if hasattr(value, "__next__"):
        return "iterator", *map(plain, value)
    return type(value).__name__, value


def in_state(places: Places, place: str, content: Any, function: Any, a: Any, k: Any) -> Outcome:
    """Return what a call does to a container in the state."""
    with bound(PlainView(places.model.initial_states[0]), classes=places.model.classes):
        return call(function, getattr(places, place)(copy.deepcopy(content)), a, k)
