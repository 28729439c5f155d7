"""Properties from the functions of a spec."""

from __future__ import annotations

import ast

from statewalk.dsl.declared import property_name
from statewalk.dsl.errors import Mistakes
from statewalk.dsl.kinds import KIND_OF_MARKS, KINDS, PropertyKind
from statewalk.dsl.lowering.conjuncts import checked
from statewalk.dsl.model import Element, Property, Text
from statewalk.dsl.source.tree import Function


def property_kind(function: Function, mistakes: Mistakes) -> PropertyKind | None:
    """What the decorators of a property say together."""
    names = tuple(
        m.kind for m in function.marks if m.kind not in ("named", "constraint", "terminal")
    )
    kind = KIND_OF_MARKS.get(names)
    if kind is None:
        mistakes.add(
            "SW113",
            f"'{function.name}' cannot be {_shown(names)}.",
            at=function.span(),
            help=f"There are: {', '.join(_shown(k.marks[0]) for k in KINDS.values() if k.marks)}.",
        )
    return kind


def _shown(names: tuple[str, ...]) -> str:
    return " ".join(f"@{name}" for name in names)


def make_property(
    function: Function, kind: PropertyKind, elements: tuple[Element, ...]
) -> Property:
    """A property from its function; one element where it was not split."""
    name, text = property_name(function.function), Text(function)
    whole = checked(function.function, name, function.span())
    doc = ast.get_docstring(function.node) or ""
    if not elements:
        elements = (Element(name, (), whole, span=function.span(), source=text),)
    return Property(name, kind, elements, whole, span=function.span(), doc=doc, source=text)
