"""Properties that speak of role instances: one property for each combination of arguments."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator
from typing import Any

from statewalk.dsl.assemble.coming import coming, of_those_there
from statewalk.dsl.declared import LeadsTo, property_name
from statewalk.dsl.errors import Mistakes, Span
from statewalk.dsl.kinds import KINDS, PropertyKind
from statewalk.dsl.lowering.conjuncts import checked
from statewalk.dsl.model import Element, Property, Text
from statewalk.dsl.source.ranges import domains_of
from statewalk.dsl.source.tree import Function, SpecTree
from statewalk.dsl.values.stored import freeze


def make_instances(
    tree: SpecTree, function: Function, kind: PropertyKind, mistakes: Mistakes
) -> Iterator[Property]:
    """One property per combination of arguments: ``p(Client#0)``, ``p(Client#1)``."""
    name, span = property_name(function.function), function.span()
    domains = domains_of(tree, function, mistakes)
    doc = ast.get_docstring(function.node) or ""
    for values in itertools.product(*domains):
        shown = f"{name}({', '.join(map(repr, map(freeze, values)))})"
        whole = checked(_of_kind(kind, _given(function.function, values), values), shown, span)
        bindings = tuple(
            zip((a.arg for a in function.parameters()), map(freeze, values), strict=True)
        )
        text = None if coming(values) else Text(function, values)
        elements = (Element(shown, bindings, whole, span=span, source=text),)
        yield Property(shown, kind, elements, whole, span=span, doc=doc, source=text)


def make_leads(
    tree: SpecTree, name: str, lead: LeadsTo, span: Span, mistakes: Mistakes
) -> Iterator[Property]:
    """The properties of ``name = leads_to(p, q)`` or ``until(p, q)``.

    One, or one per combination of arguments where p has parameters; q then has the same or none.
    """
    absent = KINDS[lead.kind].absent
    known = {id(f.function): f for f in tree.functions}
    first, second = known.get(id(lead.premise)), known.get(id(lead.conclusion))
    domains = domains_of(tree, first, mistakes) if first else []
    for values in itertools.product(*domains):
        shown = f"{name}({', '.join(map(repr, map(freeze, values)))})" if values else name
        given = values if second is not None and second.parameters() else ()
        roles = coming(values)
        # While one is not there leads_to owes nothing, until goes on.
        cause = of_those_there(_given(lead.premise, values), roles, otherwise=not absent)
        effect = of_those_there(_given(lead.conclusion, given), coming(given), otherwise=absent)
        premise = checked(cause, shown, span)
        plain = not roles and not coming(given)
        yield Property(
            shown, lead.kind, (), checked(effect, shown, span), premise, span,
            source=Text(second, given) if plain and second is not None else None,
            premise_source=Text(first, values) if plain and first is not None else None,
        )  # fmt: skip


def _of_kind(
    kind: PropertyKind, holds: Callable[[], bool], values: tuple[Any, ...]
) -> Callable[[], bool]:
    """What a property says of roles that need not be there: nothing, while they are not."""
    row, roles = KINDS[kind], coming(values)
    return of_those_there(holds, roles, otherwise=row.absent, steps=row.over == "steps")


def _given(function: Callable[..., bool], values: tuple[Any, ...]) -> Callable[[], bool]:
    return (lambda: function(*values)) if values else function
