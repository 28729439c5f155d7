"""Domains of values that a specification takes into use one by one: here interchangeable ones.

Which values are in use is no state of its own: it is asked of everything that is stored, of the
suspended runs, and of the locals of the run that asks. So a value that nothing mentions any more
is free again.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, NoReturn

from statewalk.dsl.binding import binding
from statewalk.dsl.declared import declaring
from statewalk.dsl.errors import SpecError
from statewalk.dsl.flows.run import Flows, slots_of_runs
from statewalk.dsl.state.refs import Reference, current_view
from statewalk.dsl.state.roles import Role
from statewalk.dsl.values.records import parts_of
from statewalk.dsl.values.stored import freeze
from statewalk.dsl.view import Disabled
from statewalk.dsl.words.declare import symmetric_values

# Below a frame of these, code of a spec runs for a step or a property of its own.
_RUNNERS = ("statewalk.dsl.model", "statewalk.dsl.assemble.build", "statewalk.dsl.words.lookahead")


class Values:
    """At most ``limit`` values; ``materialize`` takes all into use. Each has a number."""

    looks_at_everything = (
        True  # for `dsl.source.effects`: what its methods give depends on all the state
    )

    def __init__(self, name: str, limit: int, materialize: bool) -> None:
        if type(limit) is not int or limit < 1:
            _wrong(f"The limit of a domain is a positive number, not {limit!r}.")
        if type(name) is not str or not name:
            _wrong(f"The name of a domain must be a string, not {name!r}.")
        self.name = name
        self.limit = limit
        self.materialize = bool(materialize)

    def value(self, number: int) -> Any:
        """Return the value with a number."""
        raise NotImplementedError

    def number_of(self, value: Any) -> int | None:
        """Return the number of a stored value; None for what is none of these values."""
        raise NotImplementedError

    def used(self) -> list[Any]:
        """Return the values in use, in the order of their numbers."""
        return [self.value(at) for at in sorted(self.in_use())]

    def fresh(self) -> Any:
        """Return a value that is not in use; where there is none the step is disabled."""
        self.may_take()
        free = self.free(self.in_use())
        if free is None:
            raise Disabled
        return self.take(free)

    def may_take(self) -> None:
        """Raise SpecError[SW103, SW153] where no value can be taken into use."""
        if self.materialize:
            said = f"fresh() of '{self.name}', of which all values are in use from the start."
            raise SpecError("SW153", said, help="Leave materialize out, or choose one of values().")
        if binding.reading:
            said = f"The property '{binding.reading}' takes a value of '{self.name}' into use."
            raise SpecError("SW103", said, why="Properties only read.")

    def take(self, number: int) -> Any:
        """Return a value that is in use from now on."""
        found = self.value(number)
        binding.handed = (*binding.handed, found)
        return found

    def free(self, used: set[int]) -> int | None:
        """Return the number of the value that is fresh while others are in use."""
        return next((at for at in range(self.limit) if at not in used), None)

    def choose(self) -> Any:
        """Return the first value in use; a fresh one where none is."""
        used = self.used()
        return used[0] if used else self.fresh()

    def in_use(self) -> set[int]:
        """Return the numbers of the values in use."""
        if self.materialize:
            return set(range(self.limit))
        if binding.view is None:
            said = f"Which values of '{self.name}' are in use depends on the state, "
            said += "and there is none here."
            raise SpecError("SW153", said, help="Ask in an action or an assertion.")
        used = {n for n in map(self.number_of, binding.handed) if n is not None}
        used |= _of_locals(sys._getframe(1), self.number_of)
        for found in _of_state(self.name, self.number_of):
            used |= found
        return used


class Nominal(Values):
    """Values that are interchangeable."""

    def __init__(self, name: str, limit: int, materialize: bool) -> None:
        super().__init__(name, limit, materialize)
        self.members = symmetric_values(name, limit)
        self._number = {member: at for at, member in enumerate(self.members)}

    def value(self, number: int) -> Any:
        return self.members[number]

    def number_of(self, value: Any) -> int | None:
        return self._number.get(value) if type(value) is str else None

    def choices(self) -> list[str]:
        """Return the values in use, and the first that is not, if there is one."""
        used = self.in_use()
        free = self.free(used)
        offered = used if free is None else used | {free}
        return [self.members[at] for at in sorted(offered)]

    def __repr__(self) -> str:
        return f"nominal({self.name!r}, {self.limit})"


def nominal(name: str, limit: int, materialize: bool = False) -> Nominal:
    """Return a domain of interchangeable values. Raises SpecError[SW153]."""
    declared(name)
    found = Nominal(name, limit, materialize)
    if declaring and not materialize:
        declaring[-1].options["first_unused"] = name
    return found


def declared(name: str) -> None:
    """Note that a spec has a domain. Raises SpecError[SW153] for a name that is taken."""
    if declaring:
        options = declaring[-1].options
        taken = {value for values in declaring[-1].symmetric_values for value in values}
        names = options.setdefault("domains", [])
        if f"{name}0" in taken or name in names:
            _wrong(f"There are other symmetric values with the name '{name}'.")
        names.append(name)
        options["fresh_values"] = True


def _wrong(message: str) -> NoReturn:
    raise SpecError("SW153", message)


# -- what is in use --------------------------------------------------------------------------


Number = Callable[[Any], int | None]


def _of_state(name: str, number: Number) -> Iterator[set[int]]:
    """Yield the values (by number) that the slots of the state mention, slot by slot."""
    view, key = current_view(), ("in use", name)

    def mentioned(value: Any) -> tuple[int, ...]:
        return tuple(sorted(_mentioned(value, number)))

    roles = [cls for cls in binding.classes.values() if issubclass(cls, Role)]
    for cls in roles:
        for role, field in itertools.product(cls._instances, cls._fields):
            for slot, fixed in getattr(cls, field).held(role):
                yield set(view.project(slot, key, mentioned)) if slot else _mentioned(fixed, number)
    for _, _, slot in slots_of_runs(roles):
        yield set(view.project(slot, key, mentioned))


def _of_locals(frame: FrameType | None, number: Number) -> set[int]:
    """Return the values that locals of the running step mention: its functions are on the stack."""
    used: set[int] = set()
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module in _RUNNERS or module.startswith("statewalk.checker."):
            break
        found: list[Any] = []
        if frame.f_code is Flows.run.__code__:
            found = [v for each in frame.f_locals["frames"] for v in each.locals.values()]
        elif not module.startswith("statewalk.dsl."):
            found = list(frame.f_locals.values())
        for value in found:
            used |= _mentioned_by_local(value, number)
        frame = frame.f_back
    return used


def _mentioned_by_local(value: Any, number: Number) -> set[int]:
    if isinstance(value, Reference) and value._cell is None:
        return set()  # it is in the state
    try:
        return _mentioned(freeze(value), number)
    except (SpecError, TypeError):
        return set()  # a function, a module, an iterator


def _mentioned(value: Any, number: Number) -> set[int]:
    """Return the values (by number) inside a stored value."""
    found = number(value)
    if found is not None:
        return {found}
    return set().union(*(_mentioned(part, number) for part in parts_of(value)))
