"""Operations: expressions of a spec that only look at their arguments, learned by running them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from statewalk.checker.native.programs.runtime import BASE, FIRST_OPERATION
from statewalk.checker.native.programs.values import Sort, frozen
from statewalk.dsl.binding import bound
from statewalk.dsl.errors import SpecError
from statewalk.dsl.lowering.compiling import compile_function, definition_of
from statewalk.dsl.source.nodes import copied
from statewalk.dsl.source.tree import Function
from statewalk.dsl.state.refs import NeedsState
from statewalk.dsl.state.roles import Role
from statewalk.dsl.values.domains import Domain
from statewalk.dsl.values.stored import (
    FrozenBag,
    FrozenDict,
    FrozenList,
    FrozenSet,
    freeze,
    intern_key,
)

_CONTAINERS = (FrozenSet, FrozenDict, FrozenList, FrozenBag)
_ALIKE_NEVER = frozenset({int, str, type(None), *_CONTAINERS})


class GaveUp(Exception):
    """A program cannot go on: what its translation relied on is not so. The text says what.

    ``function`` is the qualified name of the root's function, where it is known; with ``every``
    no program can go on, as they all read the values of the state.
    """

    def __init__(self, what: str, function: str = "", *, every: bool = False) -> None:
        super().__init__(what)
        self.function, self.every = function, every


class Numbers:
    """Numbers of values: small integers are themselves, others BASE + k. Roles come first."""

    def __init__(self, roles: list[Role]) -> None:
        self.values: list[Any] = []
        self._known: dict[Any, int] = {}
        for value in (None, False, True, *roles):
            self.of(value)

    def of(self, value: Any) -> int:
        """Return the number of a value."""
        if type(value) is int and -BASE < value < BASE:
            return value
        value = freeze(value)
        key = intern_key(value)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = BASE + len(self.values)
            self.values.append(value)
        return known

    def value(self, number: int) -> Any:
        """Return the value of a number."""
        return self.values[number - BASE] if number >= BASE else number


NONE, FALSE, TRUE, FIRST_ROLE = BASE, BASE + 1, BASE + 2, BASE + 3


@dataclass
class Operation:
    """A function of values. ``claim`` is the sort that all its results have, or it gives up.

    ``domain`` likewise. ``raw`` ones give a number that is no value's: a slot, or a place in the
    pool of sequences.
    """

    number: int
    function: Callable[..., Any]
    text: str
    arity: int
    claim: Sort = "any"
    raw: bool = False
    domain: Domain | None = None
    learned: int = 0


class Operations:
    """All operations of one machine, by their meaning."""

    def __init__(self, numbers: Numbers, classes: dict[str, type]) -> None:
        self.numbers, self.classes = numbers, classes
        self.all: list[Operation] = []
        self._known: dict[Any, Operation] = {}

    def add(
        self, key: Any, function: Callable[..., Any], text: str, arity: int,
        claim: Sort = "any", raw: bool = False, domain: Domain | None = None,
    ) -> Operation:  # fmt: skip
        """Return the operation of a key, made when new."""
        whole = (key, claim, domain.text if domain is not None else "")
        known = self._known.get(whole)
        if known is None:
            number = FIRST_OPERATION + len(self.all)
            known = Operation(number, function, text, arity, claim, raw, domain)
            self._known[whole] = known
            self.all.append(known)
        return known

    def expression(
        self, node: ast.expr, names: list[str], function: Function, claim: Sort,
        domain: Domain | None = None,
    ) -> Operation:  # fmt: skip
        """Return the operation that a template is, an expression over argument names."""
        text = ast.unparse(node)
        key = (function.module.name, text, tuple(names))
        known = self._known.get((key, claim, domain.text if domain is not None else ""))
        if known is not None:
            return known
        run = compiled(node, names, function)
        return self.add(key, run, text, len(names), claim, domain=domain)

    def of(self, number: int) -> Operation:
        """Return the operation of a number."""
        return self.all[number - FIRST_OPERATION]

    def run(self, operation: Operation, arguments: list[int]) -> int | None:
        """Return the result's number; None where it raises. Raises `GaveUp`."""
        values = [self.numbers.value(argument) for argument in arguments]
        operation.learned += 1
        if not operation.raw and _is_ambiguous(values):
            raise GaveUp(f"{operation.text}: values that are equal in Python alone")
        try:
            with bound(None, classes=self.classes):
                found = operation.function(*values)
                if operation.raw:
                    return int(found)
                found = frozen(found)
        except (NeedsState, RecursionError, MemoryError) as error:
            raise GaveUp(f"{operation.text}: {type(error).__name__}") from None
        except SpecError as error:
            if error.code == "SW203":
                raise GaveUp(f"{operation.text}: {error.message}") from None
            return None
        except GaveUp:
            raise
        except Exception:
            return None
        if operation.claim != "any" and not _is(operation.claim, found):
            raise GaveUp(f"{operation.text}: {found!r} is no {operation.claim}")
        if operation.domain is not None and not operation.domain.admits(found):
            raise GaveUp(f"{operation.text}: {found!r} is not {operation.domain.text}")
        return self.numbers.of(found)


def _is_ambiguous(values: list[Any]) -> bool:
    """Return whether Python takes two of some values, or of their elements, for one, as True and 1.

    The state tells them apart and a container of a step's own does not; an operation does not know
    which of the two it is given.
    """
    containers = [value for value in values if isinstance(value, _CONTAINERS)]
    if not containers:
        return False
    parts = [*values, *(part for held in containers for part in held)]
    if {type(part) for part in parts} <= _ALIKE_NEVER:
        return False
    known: dict[Any, Any] = {}
    return any(
        (other := known.setdefault(part, part)) is not part
        and intern_key(other) != intern_key(part)
        for part in parts
    )


def _is(sort: Sort, value: Any) -> bool:
    if sort == "int":
        return type(value) is int and -BASE < value < BASE
    return type(value) is bool if sort == "bool" else isinstance(value, Role)


def compiled(node: ast.expr, names: list[str], function: Function) -> Callable[..., Any]:
    """Return a function of some arguments that evaluates an expression where it is written."""
    definition = definition_of("operation", names, [ast.Return(copied(node))], function.node)
    found: Callable[..., Any] = compile_function(function, definition)
    return found
