"""The false clauses at the end of a counterexample, as far as the checker could tell, as texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Clause:
    """A part of a property that is false (or true), with the values in it as texts.

    ``depth`` is greater than that of the clause that it is a part of.
    """

    text: str
    truth: bool = False
    values: tuple[tuple[str, str], ...] = ()
    file: str = ""
    line: int = 0
    depth: int = 0

    @property
    def said(self) -> str:
        """``a < b is false: a = 0 · b = 0``; what is no expression of the spec as it stands."""
        said = f"{self.text} is {str(self.truth).lower()}" if self.file else self.text
        values = " · ".join(f"{name} = {value}" for name, value in self.values)
        return f"{said}: {values}" if values else said


@dataclass(frozen=True)
class Reason:
    """Why a trace is a counterexample: the property's sentence, and what is false at a state.

    ``reads`` are the places that the property reads there, as reports show fields.
    """

    doc: str = ""
    clauses: tuple[Clause, ...] = ()
    reads: tuple[str, ...] = ()
    at: int = 0

    @property
    def innermost(self) -> Clause | None:
        """The part that is false by itself."""
        return self.clauses[-1] if self.clauses else None

    @property
    def lanes(self) -> tuple[str, ...]:
        """The instances that the values of the clauses name, then those read."""
        named = [value for clause in self.clauses for _, value in clause.values]
        return tuple(dict.fromkeys([*named, *(place.partition(".")[0] for place in self.reads)]))

    @property
    def said(self) -> str:
        """The innermost clause with all values that are known, on one line."""
        last = self.innermost
        if last is None:
            return self.doc
        known = {name: value for clause in self.clauses for name, value in clause.values}
        mine = dict(last.values)
        values = (*last.values, *((n, v) for n, v in known.items() if n not in mine))
        return Clause(last.text, last.truth, values, last.file).said


def to_dict(reason: Reason) -> dict[str, Any]:
    """Return a reason as JSON."""
    return asdict(reason)


def of_dict(data: Mapping[str, Any]) -> Reason:
    """Return the reason of a JSON object that `to_dict` made, and that was validated."""
    clauses = (
        Clause(**{**c, "values": tuple((n, v) for n, v in c["values"])}) for c in data["clauses"]
    )
    return Reason(data["doc"], tuple(clauses), tuple(data["reads"]), data["at"])
