"""The subjects of the laws in `truths`: the state of a spec, and objects of Python."""

from __future__ import annotations

import copy
from typing import Any

FIELDS = """
    xs: list[int] = [3, 1, 2]
    none: list[int] = []
    ys: list[list[int]] = [[1], [2, 3]]
    s: set[int] = {1, 2}
    words: set[str] = {"a"}
    f: frozenset[int] = frozenset({2, 3})
    d: dict[str, int] = {"a": 1, "b": 2}
    dd: dict[int, list[int]] = {1: [1], 2: []}
    t: tuple[int, ...] = (1, 2)
    sets: list[set[int]] = [{1, 2}, set()]
    dicts: list[dict[str, int]] = [{"a": 1}]
    ff: set[frozenset[int]] = {frozenset({1})}
    by_set: dict[frozenset[int], int] = {frozenset({2}): 2}
    parts: tuple[list[int], set[int], frozenset[int]] = ([1], {2}, frozenset({3}))
    pairs: list[tuple[int, list[int]]] = [(1, [5]), (2, [5])]
    mixed: list[int | set[int]] = [{7}, {8, 9}]
    r: Part = Part(1, [1, 2], {"k": 1}, {5})
    rs: list[Part] = [Part(2), Part(1)]
    by: dict[str, Part] = {"p": Part(7)}
    rset: set[Part] = {Part(9, [1], {"k": 1}, {5})}
    tset: set[tuple[Part, int]] = {(Part(8, [1], {"k": 1}, {5}), 1)}
    by_part: dict[Part, int] = {Part(7, [1], {"k": 1}, {5}): 1}
    deep: set[Deep] = {Deep(Part(6, [1], {"k": 1}, {5}))}
    m: Part | Other | None = Part(4)
    i: int | str | None = 3
    name: str = "ab"
"""
PART = """
class Part(Record):
    n: int = 0
    xs: list[int] = []
    d: dict[str, int] = {}
    s: set[int] = set()

class Other(Record):
    n: int = 0

class Deep(Record):
    part: Part = Part()
"""
HELPERS = """
def add_to(out, more):
    out += more

def join(out, more):
    out |= more

def same(a, b):
    return a is b

def kind_of(value):
    match value:
        case tuple():
            return "tuple"
        case frozenset():
            return "frozenset"
        case list():
            return "list"
        case set():
            return "set"
    return "other"

def told(value):
    if isinstance(value, type):
        return value.__name__
    if isinstance(value, (set, frozenset)):
        return type(value).__name__ + "{" + ", ".join(sorted(map(told, value))) + "}"
    if isinstance(value, dict):
        return "{" + ", ".join(sorted(told(k) + ": " + told(v) for k, v in value.items())) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(told, value)) + "]"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(told, value)) + ")"
    if isinstance(value, Deep):
        return told(value.part)
    if isinstance(value, (Part, Other)):
        return type(value).__name__ + str(value.n)
    return repr(value)
"""
PROPERTY = """
@always
def as_in_python() -> bool:
    return box.at < 0 or box.said == {}[box.at]
"""
LIBRARIES = "import collections, collections.abc, copy, functools, itertools, operator\n"


def method(at: int, text: str) -> str:
    """An action, ``truth0``, that writes what a truth gives to ``said``."""
    lines = text if "got = " in text else f"got = ({text})"
    body = "\n".join(f"            {line}" for line in lines.replace("; ", "\n").splitlines())
    return f"""
    @action
    def truth{at}(self) -> None:
        require(self.said == "")
        self.at = {at}
        try:
{body}
            self.said = told(got)
        except Exception as error:
            self.said = type(error).__name__
"""


def spec(texts: list[str], expected: list[str] | None = None) -> str:
    """A specification with an action for each truth; a property says what they should say."""
    actions = "".join(method(at, text) for at, text in enumerate(texts))
    fields = f"{FIELDS}    said: str = ''\n    at: int = -1\n"
    head = f"{LIBRARIES}from statewalk import *\n{PART}{HELPERS}"
    end = "" if expected is None else PROPERTY.format(expected)
    return f"{head}\nclass Box(State):{fields}{actions}\nbox = Box()\ndeadlock(False)\n{end}"


class PlainRecord:
    """A record in plain Python."""

    def __init__(self, *values: Any) -> None:
        names = list(type(self).__annotations__)
        for name in names:
            setattr(self, name, copy.copy(getattr(type(self), name)))
        for name, value in zip(names, values, strict=False):
            setattr(self, name, value)

    def __init_subclass__(cls) -> None:
        cls.__match_args__ = tuple(cls.__annotations__)  # type: ignore[attr-defined, misc]

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash(repr(sorted(self.__dict__)))


class PlainState:
    """The fields in plain Python."""

    def __init__(self) -> None:
        for name in type(self).__annotations__:
            setattr(self, name, copy.deepcopy(getattr(type(self), name)))


def in_python(texts: list[str]) -> list[str]:
    """Return what each truth gives in plain Python."""
    names: dict[str, Any] = {
        "Record": PlainRecord, "State": PlainState, "action": lambda f: f, "require": bool,
        "deadlock": bool, "any_of": lambda xs: next(iter(xs)),
    }  # fmt: skip
    exec(spec(texts).replace("from statewalk import *\n", ""), names)
    found = []
    for at in range(len(texts)):
        box = names["Box"]()
        getattr(box, f"truth{at}")()
        found.append(box.said)
    return found
