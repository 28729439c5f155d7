"""Formulas of a spec as properties of its model: terms over predicates.

A term is one of ``("true",)``, ``("part", n)`` for the n-th predicate, and of ``not``, ``and``,
``or``, ``implies``, ``until`` and ``often`` (infinitely often) with the terms that they are of. A
predicate of steps stands below ``often`` only: steps that change the state satisfy it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from statewalk.dsl.assemble.build import given_to
from statewalk.dsl.assemble.coming import coming, of_those_there
from statewalk.dsl.declared import Formula, LeadsTo
from statewalk.dsl.errors import Mistakes, Span
from statewalk.dsl.kinds import KINDS, PropertyKind
from statewalk.dsl.lowering.conjuncts import checked
from statewalk.dsl.model import Property, Term, Text
from statewalk.dsl.source.ranges import domains_of
from statewalk.dsl.source.tree import SpecTree
from statewalk.dsl.values.stored import freeze

TRUE: Term = ("true",)


def make_formulas(
    tree: SpecTree, name: str, formula: Formula, span: Span, mistakes: Mistakes
) -> Iterator[Property]:
    """Yield the properties of a formula, one for each combination of its predicates' arguments."""
    known = {id(f.function): f for f in tree.functions}
    functions = [known.get(id(p)) for p in formula.predicates]
    first = functions[0] if isinstance(formula, LeadsTo) else None
    first = first or next((f for f in functions if f is not None and f.parameters()), None)
    for values in itertools.product(*(domains_of(tree, first, mistakes) if first else [])):
        shown = f"{name}({', '.join(map(repr, map(freeze, values)))})" if values else name
        maker = _Maker(shown, span, values, {i: f for i, f in known.items() if f in functions})
        yield maker.of_two(formula) if isinstance(formula, LeadsTo) else maker.whole(formula)


class _Maker:
    """Makes the property of one combination of values."""

    def __init__(self, name: str, span: Span, values: tuple[Any, ...], known: Any) -> None:
        self.name, self.span, self.values, self.known = name, span, values, known
        self.parts: dict[tuple[int, PropertyKind], Property] = {}

    def of_two(self, lead: LeadsTo) -> Property:
        """Return a `leads_to` or `until` of two predicates."""
        absent = KINDS[lead.kind].absent
        # While one is not there leads_to owes nothing, until goes on.
        premise, premise_source = self._predicate(lead.premise, not absent)
        effect, source = self._predicate(lead.conclusion, absent)
        return Property(
            self.name, lead.kind, (), effect, premise, self.span,
            source=source, premise_source=premise_source,
        )  # fmt: skip

    def whole(self, formula: Formula) -> Property:
        """Return the property of a formula."""
        term = self._term(formula)
        parts = tuple(self.parts.values())
        return Property(
            self.name, "formula", (), parts[0].whole, None, self.span, parts=parts, formula=term
        )

    def _predicate(self, function: Any, absent: bool, *, steps: bool = False) -> tuple[Any, Any]:
        """Return a predicate of no arguments, and its text; ``absent`` for roles not there."""
        known = self.known.get(id(function))
        given = self.values if known is not None and known.parameters() else ()
        roles = coming(given)
        holds = of_those_there(given_to(function, given), roles, otherwise=absent, steps=steps)
        text = Text(known, given) if known is not None and not roles else None
        return checked(holds, self.name, self.span), text

    def _part(self, function: Any, kind: PropertyKind) -> Term:
        """Return the term of a predicate, which is a part from now on."""
        key = id(function), kind
        if key not in self.parts:
            holds, text = self._predicate(function, False, steps=kind == "on_step")
            name = f"{self.name} ({len(self.parts)}: {function.__name__})"
            self.parts[key] = Property(name, kind, (), holds, None, self.span, source=text)
        return "part", [*self.parts].index(key)

    def _term(self, given: Any) -> Term:
        """Return the term of a predicate of states, or of a formula."""
        if not isinstance(given, Formula):
            return self._part(given, "always")
        operator, parts = given.operator, given.parts
        steps = operator.endswith("_on_step")
        terms = [self._part(p, "on_step") if steps else self._term(p) for p in parts]
        match operator:
            case "sometime":
                return "until", TRUE, *terms
            case "throughout":
                return _throughout(*terms)
            case "leads_to":
                cause, effect = terms
                return _throughout(("or", ("not", cause), ("until", TRUE, effect)))
            case "always_eventually" | "always_eventually_on_step":
                return "often", *terms
            case "eventually_always" | "eventually_always_on_step":
                return "not", ("often", ("not", *terms))
            case _:
                return operator, *terms


def _throughout(term: Term) -> Term:
    return "not", ("until", TRUE, ("not", term))
