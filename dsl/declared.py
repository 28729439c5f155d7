"""The declarations of a spec while its modules run, and their registry.

A leaf: the words of the language write here, and whoever reads a spec looks here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from statewalk.dsl.kinds import PropertyKind

Promised: TypeAlias = Literal["weak", "strong"]
Fairness: TypeAlias = Literal["none", Promised]
"""The fairness of an action, or of an option of a choice."""
FAIRNESSES: tuple[Fairness, ...] = get_args(Fairness)
BOUNDS = frozenset({"terminal", "constraint", "assume"})
"""Marks of predicates that are not checked: they bound what is."""


@dataclass
class Mark:
    """A decorator's declaration for a function."""

    kind: str
    options: dict[str, Any] = field(default_factory=dict)


def marks(function: object) -> list[Mark]:
    """Return the marks of a function, uppermost decorator first."""
    found: list[Mark] = getattr(function, "_statewalk_marks", [])
    return found


class Formula:
    """A property of behaviors: an operator over predicates and formulas, see `dsl.words.formulas`.

    ``inner`` says that it is a part of another one.
    """

    kind: PropertyKind = "formula"
    inner = False

    def __init__(self, operator: str, *parts: Any) -> None:
        self.operator = operator
        self.parts = parts
        for part in parts:
            if isinstance(part, Formula):
                part.inner = True
        if declaring:
            declaring[-1].formulas.append(self)

    def __and__(self, other: Any) -> Formula:
        return Formula("and", self, other) if callable(other) else NotImplemented

    def __rand__(self, other: Any) -> Formula:
        return Formula("and", other, self) if callable(other) else NotImplemented

    def __or__(self, other: Any) -> Formula:
        return Formula("or", self, other) if callable(other) else NotImplemented

    def __ror__(self, other: Any) -> Formula:
        return Formula("or", other, self) if callable(other) else NotImplemented

    def __invert__(self) -> Formula:
        return Formula("not", self)

    def __call__(self) -> bool:
        raise TypeError(f"{self} is about behaviors: it is true of no state.")

    def __bool__(self) -> bool:
        raise TypeError("Combine formulas with &, | and ~, which and, or and not cannot do.")

    @property
    def predicates(self) -> list[Callable[..., bool]]:
        """The predicates that it is made of, in the order of the text."""
        return [f for part in self.parts for f in getattr(part, "predicates", [part])]

    def __str__(self) -> str:
        names = (str(p) if isinstance(p, Formula) else p.__name__ for p in self.parts)
        return f"{self.operator}({', '.join(names)})"


class LeadsTo(Formula):
    """A property of two predicates, see `leads_to` and `until`."""

    def __init__(
        self, kind: PropertyKind, premise: Callable[..., bool], conclusion: Callable[..., bool]
    ) -> None:
        super().__init__(kind, premise, conclusion)
        self.kind = kind
        self.premise = premise
        self.conclusion = conclusion

    def __call__(self) -> bool:
        """Return whether nothing is owed in this state."""
        return not self.premise() or self.conclusion()


def _nothing() -> None:
    """Stand for no map: fields correspond by name."""


class Refines(LeadsTo):
    """A declared refinement of another spec through the map ``by``; see `refines`."""

    def __init__(
        self,
        abstract: str,
        by: Callable[[], Mapping[str, Any]] | None,
        constants: Mapping[str, Any],
    ) -> None:
        seen: Callable[..., Any] = by or _nothing
        super().__init__("refines", seen, seen)
        self.abstract = abstract
        self.by = by
        self.constants = constants


@dataclass(frozen=True)
class Expectation:
    """The expected result of a configuration.

    ``properties`` are to be violated, ``lengths`` after how many steps; ``length`` is that of the
    first. ``distinct`` counts the states that a run keeps, ``states`` all states past violations.
    """

    verdict: Literal["holds", "violated"]
    properties: tuple[str, ...] = ()
    length: int | None = None
    distinct: int | None = None
    generated: int | None = None
    depth: int | None = None
    states: int | None = None
    lengths: Mapping[str, int] = field(default_factory=dict)

    def names(self, name: str) -> bool:
        """Return whether a property is one of those to be violated, by its name or its family's."""
        return name in self.properties or name.partition("(")[0] in self.properties


AS_IT_IS = "(as it is)"
"""What reports name where a spec declares no configuration."""


@dataclass(frozen=True)
class Configuration:
    """A named set of constants with what to expect of them."""

    name: str
    constants: Mapping[str, Any]
    expect: Expectation | None = None


@dataclass
class Mutant:
    """A replacement that ``@mutant(target)`` declares; ``function`` is None until it
    decorates one.
    """

    target: Any
    function: Callable[..., object] | None = None

    @property
    def name(self) -> str:
        return getattr(self.function, "__name__", "")

    @property
    def line(self) -> str:
        """The first line of its doc-string."""
        return (getattr(self.function, "__doc__", None) or "").strip().partition("\n")[0]


@dataclass
class Declared:
    """The declarations made by calls while a spec module runs.

    ``marked``, ``formulas`` and ``roles`` are what was made at all, wherever in the text; what of
    it is found where a spec is read is in the tree.
    """

    marked: list[Callable[..., object]] = field(default_factory=list)
    formulas: list[Formula] = field(default_factory=list)
    roles: list[Any] = field(default_factory=list)
    configurations: list[Configuration] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)
    symmetric_values: list[tuple[str, ...]] = field(default_factory=list)
    mutants: list[Mutant] = field(default_factory=list)
    fizz: bool = False  # its text is a .fizz file

    @property
    def init(self) -> str:
        """Return what makes the initial states, as the reader of the spec calls it."""
        return "the action Init" if self.fizz else "@init"


declaring: list[Declared] = []
"""The innermost last; empty where no spec is being loaded: a spec is an ordinary module too."""


def property_name(function: Any) -> str:
    """Return the name of a property: that of ``@named``, else the function's."""
    for mark in marks(function):
        if mark.kind == "named":
            return str(mark.options["name"])
    return str(function.__name__)
