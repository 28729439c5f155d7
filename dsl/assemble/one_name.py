"""SW126: two things of one name, where a name is all that tells things apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from statewalk.dsl.declared import property_name
from statewalk.dsl.errors import Mistakes, Span
from statewalk.dsl.model import Action, Property
from statewalk.dsl.source.tree import SpecTree, class_span
from statewalk.dsl.state.roles import Role
from statewalk.dsl.values.canonical import encode
from statewalk.dsl.values.named import of_one_name
from statewalk.dsl.values.stored import freeze

BUILT_IN = ("Deadlock", "Assertion", "no_error")
"""What is checked besides the properties of a spec."""


def refuse_same_names(tree: SpecTree, mistakes: Mistakes) -> None:
    """Classes, properties, and symmetric values of one name."""
    first: dict[str, type] = {}
    for cls in tree.every_class():
        other = first.setdefault(cls.__name__, cls)
        if other is not cls and not (_is_not_used(other) and issubclass(cls, Role)):
            error = of_one_name(other, cls)
            mistakes.add(
                "SW126", error.message, at=class_span(tree, cls), why=error.why, help=error.help
            )
        first[cls.__name__] = cls
    named: dict[str, object] = {}
    functions = [
        (property_name(f.function), f.function, f.span())
        for f in tree.functions
        if f.is_property and f.owner is None
    ]
    for name, thing, span in chain(functions, tree.leads):
        if named.setdefault(name, thing) is not thing or name in BUILT_IN:
            _add_property(name, span, mistakes)
    known: set[str] = set()
    for values in tree.loading.declared.symmetric_values:
        if known & {*values}:
            mistakes.add(
                "SW126",
                f"{min(known & {*values})} is in two groups of symmetric values.",
                why="It would change places within each of them.",
                help="Give one of the groups another name.",
            )
        known |= {*values}


def _is_not_used(cls: type) -> bool:
    """Whether there are no values of a class: a role that another is derived from, say."""
    return issubclass(cls, Role) and not cls._instances


def _add_property(name: str, span: Span | None, mistakes: Mistakes) -> None:
    built_in = name in BUILT_IN
    mistakes.add(
        "SW126",
        f"There is a check called {name} in every run."
        if built_in
        else f"There are two properties called {name}.",
        at=span,
        why="Verdicts are told by name.",
        help="Give the property another name, or one with @named."
        if built_in
        else "Give one of them another name, or one with @named.",
    )


def refuse_same_names_made(
    actions: Iterable[Action], properties: Sequence[Property], mistakes: Mistakes
) -> None:
    """Action instances and properties of one name, which show when they have been made."""
    labels: dict[bytes, Action] = {}
    for action in actions:
        values = tuple(value for _, value in action.arguments)
        key = encode(freeze((action.name, action.actor, values)))
        if labels.setdefault(key, action) is not action:
            mistakes.add(
                "SW126",
                f"There are two actions called {action.label}.",
                at=action.span,
                why="The steps of a trace are told by name.",
                help="Give one of them another name, or one with @action(name=...).",
            )
    names: set[str] = set()
    for prop in properties:
        if prop.name in names:
            _add_property(prop.name, prop.span, mistakes)
        names.add(prop.name)
