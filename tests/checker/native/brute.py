"""All states of a spec's text, by running it on plain Python objects: no code of the package.

Roles are objects that stay, states are copies of their fields, `any_of` runs a step again for each
option. Values are told apart by their types, too. What is stored is not copied in a step, so a spec
stores what it has just made.
"""

from __future__ import annotations

import copy
import enum
import inspect
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import permutations, product
from typing import Any


class Disabled(Exception):
    """A step that is not possible."""


class Gone(Exception):
    """A role that ended is mentioned, or there is no room for another."""


class Record:
    """Fields by annotation; defaults are copied."""

    def __init__(self, *values: Any, **named: Any) -> None:
        names = list(type(self).__annotations__)
        given = dict(zip(names, values, strict=False)) | named
        self.__dict__.update(
            {n: given.get(n, copy.deepcopy(getattr(type(self), n, None))) for n in names}
        )

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash(tuple(self.__dict__.values()))


def replace(record: Any, **named: Any) -> Any:
    return type(record)(**(record.__dict__ | named))


@dataclass
class Found:
    """Counts, and the fewest steps to what violates a property, meets a witness, or raises (those
    before the step that raises).
    """

    distinct: int = 0
    generated: int = 0
    depth: int = 0
    first: dict[str, int] = field(default_factory=dict)

    def raised(self, depth: int) -> None:
        self.first["no_error"] = min(depth, self.first.get("no_error", depth))


class Brute:
    """One spec. ``members`` is the class whose members may change places, if any."""

    def __init__(self, text: str, members: str = "") -> None:
        self.members = members
        self.classes: dict[str, Any] = {}
        self.script: list[tuple[int, int]] = []
        self.at = 0
        self.ended: list[Any] = []
        self.marks: dict[str, list[tuple[Any, Callable[..., Any]]]] = {
            kind: [] for kind in ("action", "always", "exists", "init")
        }
        self.names: dict[str, Any] = {
            "Record": Record, "Role": self._role(), "require": self.require, "any_of": self.any_of,
            "end": self.end, "instances": self.instances, "replace": replace, "Bag": Counter,
            "deadlock": lambda wanted: None, "enum": enum,
        }  # fmt: skip
        self.names["State"] = self.names["Role"]
        for kind, marked in self.marks.items():
            self.names[kind] = self._mark(marked)
        exec(text.replace("from statewalk import *", ""), self.names)
        owners = {
            f: cls for cls in self.classes.values() for f in vars(cls).values() if callable(f)
        }
        for marked in self.marks.values():
            marked[:] = [(owners.get(function), function) for _, function in marked]

    def _mark(self, marked: list[Any]) -> Callable[[Any], Any]:
        def mark(function: Any) -> Any:
            marked.append((None, function))
            return function

        return mark

    def _role(self) -> type:
        world = self  # the class's own methods have another self

        class Role:
            index: int
            there: bool
            all_: list[Any]
            most: int | None

            def __init_subclass__(cls, at_most: int | None = None, symmetric: bool = False) -> None:
                cls.all_, cls.most = [], at_most
                world.classes[cls.__name__] = cls

            def __new__(cls, *_: Any, **__: Any) -> Any:
                free = (r for r in cls.all_ if not r.there and r not in world.ended)
                found = next(free, None)
                if found is None:
                    if cls.most is not None and len(cls.all_) == cls.most:
                        raise Gone
                    found = object.__new__(cls)
                    found.index = len(cls.all_)
                    cls.all_.append(found)
                return found

            def __init__(self, **given: Any) -> None:
                self.there = True
                for name in world.fields(type(self)):
                    value = given.get(name, copy.deepcopy(getattr(type(self), name)))
                    setattr(self, name, value)

            def __deepcopy__(self, memo: Any) -> Any:
                return self

            def __copy__(self) -> Any:
                return self

            def __repr__(self) -> str:
                return f"{type(self).__name__}#{self.index}"

        return Role

    def fields(self, cls: Any) -> list[str]:
        return list(inspect.get_annotations(cls))

    # -- the words of a step -----------------------------------------------------------------

    def require(self, condition: object) -> None:
        if not condition:
            raise Disabled

    def any_of(self, options: Any) -> Any:
        options = list(options)
        if not options:
            raise Disabled
        if self.at == len(self.script):
            self.script.append((0, len(options)))
        chosen, _ = self.script[self.at]
        self.at += 1
        return options[chosen]

    def end(self, role: Any) -> None:
        role.there = False
        self.ended.append(role)

    def instances(self, cls: Any) -> list[Any]:
        return [role for role in cls.all_ if role.there]

    # -- states ------------------------------------------------------------------------------

    def save(self) -> list[tuple[Any, Any]]:
        return [
            (
                role,
                copy.deepcopy({n: vars(role)[n] for n in self.fields(cls)}) if role.there else None,
            )
            for cls in self.classes.values()
            for role in cls.all_
        ]

    def restore(self, state: list[tuple[Any, Any]]) -> None:
        known = dict(state)
        for cls in self.classes.values():
            for role in cls.all_:
                held = known.get(role)
                role.there = held is not None
                for name in self.fields(cls):
                    vars(role).pop(name, None)
                vars(role).update(copy.deepcopy(held) if held else {})

    def key(self, state: list[tuple[Any, Any]]) -> Any:
        """The same of equal states; of those that only differ by an exchange of members."""
        known = [(role, held) for role, held in state if held is not None]
        if not self.members:
            return frozenset((repr(r), canon(held, {})) for r, held in known)
        cls = self.classes[self.members]
        return min(
            repr(sorted((name(r, renamed), canon(held, renamed)) for r, held in known))
            for order in permutations(range(cls.most or len(cls.all_)))
            for renamed in [
                {f"{self.members}#{a}": f"{self.members}#{b}" for a, b in enumerate(order)}
            ]
        )

    # -- the search --------------------------------------------------------------------------

    def runs(self, run: Callable[[], Any]) -> Iterator[Any]:
        """Yield what a step does with each option: its exception, or None.

        It has been taken then.
        """
        start = self.save()
        self.script = []
        while True:
            self.restore(start)
            self.at, self.ended = 0, []
            try:
                run()
                for _, held in self.save():
                    if any(repr(gone) in repr(canon(held, {})) for gone in self.ended):
                        raise Gone
                yield None
            except Disabled:
                pass
            except Exception as error:
                yield error
            self.script = self.script[: self.at]
            while self.script and self.script[-1][0] + 1 == self.script[-1][1]:
                self.script.pop()
            if not self.script:
                return
            at, of = self.script[-1]
            self.script[-1] = (at + 1, of)

    def calls(self, of: Any, function: Any) -> Iterator[Callable[[], Any]]:
        """A function with each actor and each role for its parameters."""
        names = list(inspect.signature(function).parameters)
        hints = {n: str(h).strip("'\"") for n, h in inspect.get_annotations(function).items()}
        ranges = [self.instances(of if n == "self" else self.classes[hints[n]]) for n in names]
        for values in product(*ranges):
            yield lambda values=values: function(*values)  # type: ignore[misc]

    def explore(self, most: int = 100_000) -> Found | None:
        """All states, breadth first; None where there are too many. A step that raises ends it."""
        found = Found()
        level = []
        starts = [f for _, f in self.marks["init"]] or [lambda: None]
        for error in self.runs(lambda: [begin() for begin in starts]):
            assert error is None
            level.append(self.save())
        found.generated = len(level)
        seen: dict[Any, int] = {}
        level = [s for s in level if not (self.key(s) in seen or seen.setdefault(self.key(s), 0))]
        for state in level:
            seen[self.key(state)] = 0
            self.judge(found, state, 0)
        depth = 0
        while level:
            depth += 1
            further = []
            for state in level:
                self.restore(state)
                calls = [c for of, f in self.marks["action"] for c in self.calls(of, f)]
                for call in calls:
                    self.restore(state)
                    for error in self.runs(call):
                        found.generated += 1
                        if error is not None:
                            found.raised(depth - 1)
                            continue
                        after = self.save()
                        key = self.key(after)
                        if key not in seen:
                            seen[key] = depth
                            further.append(after)
                            self.judge(found, after, depth)
            if len(seen) > most:
                return None
            level = further
            if "no_error" in found.first:
                break
        found.distinct, found.depth = len(seen), depth
        return found

    def judge(self, found: Found, state: Any, depth: int) -> None:
        for kind in ("always", "exists"):
            for of, function in self.marks[kind]:
                self.restore(state)
                for call in self.calls(of, function):
                    try:
                        told = bool(call())
                    except Exception:
                        found.raised(depth)
                    else:
                        if told == (kind == "exists"):
                            found.first.setdefault(function.__name__, depth)
        self.restore(state)


def name(role: Any, renamed: dict[str, str]) -> str:
    return renamed.get(repr(role), repr(role))


def canon(value: Any, renamed: dict[str, str]) -> Any:
    """A value that equals only its like: the type is part of it, sets and dicts have no order."""
    kind = type(value)
    if hasattr(kind, "all_"):
        return ("role", name(value, renamed))
    if isinstance(value, list | tuple):
        return (kind.__name__, *(canon(v, renamed) for v in value))
    if isinstance(value, set | frozenset):
        return ("set", *sorted((canon(v, renamed) for v in value), key=repr))
    if isinstance(value, dict):
        parts = ((canon(k, renamed), canon(v, renamed)) for k, v in value.items())
        return (kind.__name__, *sorted(parts, key=repr))
    if isinstance(value, Record):
        return (kind.__name__, *((n, canon(v, renamed)) for n, v in vars(value).items()))
    return (kind.__name__, repr(value))
