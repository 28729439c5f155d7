"""The kinds of properties, a row each: whoever treats kinds differently asks an attribute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

PropertyKind = Literal[
    "always", "exists", "on_step", "eventually", "always_eventually", "eventually_always",
    "always_eventually_on_step", "eventually_always_on_step", "leads_to", "until", "formula",
    "refines", "deadlock", "assertion", "error",
]  # fmt: skip
Over = Literal["states", "steps", "behaviors", "specs", "anything"]


@dataclass(frozen=True)
class Kind:
    """A kind of property; ``name`` stands in results and traces.

    ``over`` says what shows that one is false: a state, a step, a behavior, or another spec.
    ``one`` and ``many`` name properties of the kind in a summary. ``marks`` are the decorators
    that make it, read downwards. A search looks for states or steps in which its predicate is what
    is ``sought``: that violates the property, but for a ``witness``, which it shows. ``absent`` is
    the value of the predicate for role instances that do not exist. The predicate is one of a step,
    and may say ``old``, where it is ``of_steps``.
    """

    name: PropertyKind
    over: Over
    one: str = ""
    many: str = ""
    marks: tuple[tuple[str, ...], ...] = ()
    sought: bool = False
    witness: bool = False
    absent: bool = True
    of_steps: bool = False

    @property
    def word(self) -> str:
        """The kind in a report."""
        return "on every step" if self.name == "on_step" else self.name.replace("_", " ")

    @property
    def searched(self) -> bool:
        """Return whether a search decides it; the others need the state graph."""
        return self.over in ("states", "steps")

    @property
    def liveness(self) -> bool:
        """Return whether it is decided on the state graph, for endless behaviors."""
        return self.over == "behaviors"

    @property
    def invariant(self) -> bool:
        """Return whether its predicate has to hold in every state."""
        return self.over == "states" and not self.sought and bool(self.marks)


_STEP = ("step property", "step properties")
_LIVE = ("liveness property", "liveness properties")
# In the order in which reports and help list them; the last three are built in.
_ROWS = (
    Kind("always", "states", "invariant", "invariants", (("always",),)),
    Kind("exists", "states", "witness", "witnesses", (("exists",),), True, True, absent=False),
    Kind("on_step", "steps", *_STEP, (("on_step",), ("always", "on_step")), of_steps=True),
    Kind("eventually", "behaviors", *_LIVE, (("eventually",),), absent=False),
    Kind("always_eventually", "behaviors", *_LIVE, (("always", "eventually"),)),
    Kind("eventually_always", "behaviors", *_LIVE, (("eventually", "always"),)),
    Kind(
        "always_eventually_on_step",
        "behaviors",
        *_LIVE,
        (("always", "eventually", "on_step"),),
        of_steps=True,
    ),
    Kind(
        "eventually_always_on_step",
        "behaviors",
        *_LIVE,
        (("eventually", "always", "on_step"),),
        of_steps=True,
    ),
    Kind("leads_to", "behaviors", *_LIVE),
    Kind("until", "behaviors", *_LIVE, absent=False),
    Kind("formula", "behaviors", *_LIVE, absent=False),
    Kind("refines", "specs", "refinement", "refinements"),
    Kind("deadlock", "states", "no deadlock"),
    Kind("assertion", "steps", "no failed assertion"),
    Kind("error", "anything"),
)
KINDS: dict[str, Kind] = {row.name: row for row in _ROWS}
KIND_OF_MARKS = {marks: row.name for row in _ROWS for marks in row.marks}
PROPERTY_MARKS = frozenset(mark for marks in KIND_OF_MARKS for mark in marks)
ASSUMED: frozenset[PropertyKind] = frozenset(
    row.name for row in _ROWS if row.liveness and "always" in row.name and row.marks
)
"""Kinds that `assume` takes: those of which every suffix of a behavior says the same."""


class OfKind:
    """A property, or what was found of one."""

    kind: Any

    @property
    def of_kind(self) -> Kind:
        """The row of its kind; a bare one for a kind which only a trace file knows."""
        return KINDS.get(self.kind) or Kind(self.kind, "anything")
