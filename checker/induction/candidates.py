"""The states of the declared domains that satisfy a predicate: all of them, or a sample.

The fields are the digits of a counter. A predicate that is false has read some of them; as long as
these stay as they are it stays false, so the last digit that it has read is counted on and all
combinations of later ones are passed over. A true one stays true in the same way. Which fields come
first is the order in which the predicate reads them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import prod
from typing import Any

from statewalk.checker.explore.expressions import names_of
from statewalk.checker.induction.domains import Reader, Unbounded, Values, listed, or_absent
from statewalk.checker.states.content import content_of, short_names, show_field
from statewalk.checker.states.shortening import fit
from statewalk.dsl.errors import RunError
from statewalk.dsl.model import Model
from statewalk.dsl.state.plain_view import PlainView
from statewalk.dsl.state.roles import Field, Role
from statewalk.dsl.values.stored import ABSENT, intern_key
from statewalk.dsl.view import Path, State

_TRIES = 100  # values drawn anew for a state of a sample that does not satisfy the predicate
Slots = tuple[tuple[Path, Any], ...]


@dataclass
class Digit:
    """A field of a role, or an element of one: its values, and the slots that each fills."""

    path: Path
    values: Values
    slots: Callable[[Any], Slots]
    known: dict[int, Slots] = field(default_factory=dict)

    def at(self, number: int) -> Slots:
        """Return the slots of a value by its number."""
        found = self.known.get(number)
        if found is None:
            found = self.known[number] = self.slots(self.values.at(number))
        return found


@dataclass
class Narrowed:
    """The values of fields by --domain: what a field may be, by class and name."""

    values: dict[tuple[str, str], Values]

    def outside(self, writes: Mapping[Path, Any]) -> str:
        """Return the first thing written that none of these values is; nothing where all are."""
        for path, value in writes.items():
            allowed = self.values.get((path[0], path[2])) if len(path) > 2 else None
            if allowed is None or value is ABSENT:
                continue
            if intern_key(value) not in {intern_key(one) for one in allowed}:
                return f"{path[0]}#{path[1]}.{path[2]} becomes {fit(value, 60)}"
        return ""


class _Reading(PlainView):
    """A view that notes the paths that are read."""

    __slots__ = ("read",)

    def __init__(self, base: State, read: set[Path]) -> None:
        super().__init__(base)
        self.read = read

    def get(self, path: Path) -> Any:
        self.read.add(path)
        return super().get(path)


class Candidates:
    """The states of a model's declared domains. Raises RunError[SW335] for a domain without an end.

    ``evaluated`` counts the states for which the predicate was evaluated.
    """

    def __init__(self, model: Model, predicate: Callable[[], bool], narrowed: Narrowed) -> None:
        self.model, self.predicate = model, predicate
        self.evaluated = 0
        self.digits = list(_digits(model, narrowed))
        self._refuse_other_slots()
        self._sort()

    @property
    def count(self) -> int:
        """The number of states of the domains."""
        return prod(digit.values.count for digit in self.digits)

    def all(self, most: int) -> Iterator[State | None]:
        """Yield the states that satisfy the predicate, and None where more than ``most`` states had
        to be looked at.
        """
        counts = [digit.values.count for digit in self.digits]
        numbers = [0] * len(counts)
        seen, holds = 0, False
        changed = last = -1
        while True:
            if changed <= last:
                holds, last = self._judge(numbers)
            seen += 1
            if seen > most:
                yield None
                return
            if holds:
                yield self._state(numbers)
            changed = len(counts) - 1 if holds else last
            while changed >= 0 and numbers[changed] + 1 == counts[changed]:
                changed -= 1
            if changed < 0:
                return
            numbers[changed] += 1
            numbers[changed + 1 :] = [0] * (len(counts) - changed - 1)

    def some(self, samples: int, seed: int) -> Iterator[State]:
        """Yield different states that satisfy the predicate, from so many that are drawn.

        A state that does not satisfy it gets new values in fields that the predicate has read.
        """
        drawn = random.Random(seed)
        counts = [digit.values.count for digit in self.digits]
        found: set[tuple[int, ...]] = set()
        for _ in range(samples):
            numbers, holds = [drawn.randrange(count) for count in counts], False
            for _ in range(_TRIES):
                holds, read = self._read(numbers)
                if holds or not read:
                    break
                at = drawn.choice(read)
                numbers[at] = drawn.randrange(counts[at])
            if holds and (key := tuple(numbers)) not in found:
                found.add(key)
                yield self._state(numbers)

    def _judge(self, numbers: Sequence[int]) -> tuple[bool, int]:
        """Return whether the predicate holds, and the last digit that it has read."""
        holds, read = self._read(numbers)
        return holds, max(read, default=-1)

    def _read(self, numbers: Sequence[int]) -> tuple[bool, list[int]]:
        self.evaluated += 1
        read: set[Path] = set()
        state = self._state(numbers)
        try:
            holds = self.model.holds(self.predicate, _Reading(state, read))
        except Exception as error:
            raise raised(self.model, state, error) from error
        return holds, sorted({self._digit_of[p] for p in map(self._known, read) if p is not None})

    def _known(self, path: Path) -> Path | None:
        if path in self._digit_of:
            return path
        return path[:3] if path[:3] in self._digit_of else None

    def _state(self, numbers: Sequence[int]) -> dict[Path, Any]:
        state: dict[Path, Any] = {}
        for digit, number in zip(self.digits, numbers, strict=True):
            state.update(digit.at(number))
        return state

    def _sort(self) -> None:
        """Put the digits in the order in which the predicate reads them in an initial state."""
        self._digit_of = {digit.path: at for at, digit in enumerate(self.digits)}
        first: dict[Path, None] = {}

        class InOrder(PlainView):
            def get(self, path: Path) -> Any:
                first[path] = None
                return super().get(path)

        for state in self.model.initial_states[:1]:
            try:
                self.model.holds(self.predicate, InOrder(state))
            except Exception:
                break
        order = {known: None for path in first if (known := self._known(path)) is not None}
        rank = {path: at for at, path in enumerate(order)}
        self.digits.sort(key=lambda digit: rank.get(digit.path, len(rank)))
        self._digit_of = {digit.path: at for at, digit in enumerate(self.digits)}

    def _refuse_other_slots(self) -> None:
        """Raise RunError[SW335] where a state has more in it than fields."""
        known = {digit.path[:3] for digit in self.digits}
        for state in self.model.initial_states:
            for path in state:
                if path[:3] not in known:
                    raise refused(_shown(path), "It is no field with a declared type.", "")


def _digits(model: Model, narrowed: Narrowed) -> Iterator[Digit]:
    roles = [role for instances in model.roles.values() for role in instances]
    reader = Reader(roles, model.classes)
    if model.dialect == "fizz":
        why = "A text spec declares no types."
        raise refused(model.path, why, "statewalk convert makes a Python spec of it: add types.")
    if any(action.slot is not None for action in model.actions):
        why = "A suspended process is a part of the state that has no type."
        raise refused("The spec has flows", why, "Write what is between two yields as an action.")
    for role in roles:
        if type(role)._room is not None:
            why = "Roles that come and go are not enumerated."
            raise refused(type(role).__name__, why, "Declare it without at_most.")
        for name in type(role)._fields:
            found = getattr(type(role), name)
            if isinstance(found, Field) and not found.constant:
                yield from _of_field(role, found, reader, narrowed)


def _of_field(role: Role, of: Field, reader: Reader, narrowed: Narrowed) -> Iterator[Digit]:
    path = of.path(role)
    values = narrowed.values.get((of.owner, of.name))
    try:
        if of.layout == "elements" and of.domain.element is not None:
            elements = reader.values(of.domain.element)
            for element in elements:
                slot = (*path, "in", intern_key(element))
                yield Digit(slot, Values(2, bool), partial(_there, slot))
            return
        values = values or reader.values(of.domain)
    except Unbounded as unbounded:
        place = f"{type(role).__name__}.{of.name}"
        bare = of.domain.kind == "scalar"
        option = f', or --domain "{place}=range(3)"' if bare else ""
        why = f"Its type has no bounds: {unbounded.what}."
        raise refused(place, why, f"Declare {unbounded.instead}{option}.") from None
    values = values if of.settled else or_absent(values)
    yield Digit(path, values, partial(_filled, role, of))


def _filled(role: Role, of: Field, value: Any) -> Slots:
    return () if value is ABSENT else tuple(of.slots(role, value))


def _there(slot: Path, there: bool) -> Slots:
    return ((slot, True),) if there else ()


def raised(model: Model, state: State, error: Exception) -> RunError:
    """Return the error of an invariant that raises in a state of the domains."""
    names = short_names(model)
    content = content_of(model, state)
    told = [f"{show_field(path, names)} = {fit(value, 40)}" for path, value in content.items()]
    return RunError(
        "SW336",
        f"The invariant raises {type(error).__name__}: {error}".rstrip(".") + ".",
        why=f"In the state {', '.join(told[:8])}{' …' if len(told) > 8 else ''}.",
        help="An inductive invariant has a value in every state of the declared domains: "
        "evaluate first what excludes such states.",
    )


def refused(what: str, why: str, help: str) -> RunError:
    """Return the error of what has no finite domain."""
    return RunError("SW335", f"The states of {what} cannot be enumerated.", why=why, help=help)


def _shown(path: Path) -> str:
    return f"{path[0]}#{path[1]}.{path[2]}" if len(path) > 2 else str(path)


def narrowed_by(model: Model, texts: Sequence[str]) -> Narrowed:
    """Return the values of ``Class.field=EXPRESSION`` options. Raises RunError[SW321, SW337]."""
    found: dict[tuple[str, str], Values] = {}
    for text in texts:
        place, equals, expression = text.partition("=")
        owner, _, name = place.strip().partition(".")
        roles = model.roles.get(owner, ())
        of = getattr(type(roles[0]), name, None) if roles and name else None
        if not equals or not isinstance(of, Field):
            said = f"--domain {text} does not name a field and its values."
            raise RunError("SW321", said, help='Write --domain "Class.field=range(3)".')
        try:
            values = listed(eval(expression, dict(names_of(model))))
        except Exception as error:
            said = f"--domain {text} gives no values: {type(error).__name__}: {error}."
            raise RunError("SW337", said, help='Write --domain "Class.field=range(3)".') from None
        wrong = [value for value in values if not of.domain.admits(value)]
        if wrong or of.kind != "scalar" or not values.count:
            said = f"--domain {text} cannot be: {place} is {of.domain.text}."
            raise RunError("SW337", said, help="Name values of its type; a container has its own.")
        found[(owner, name)] = values
    return Narrowed(found)
