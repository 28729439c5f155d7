"""The words for formulas: properties of behaviors made of predicates and of other formulas.

A predicate alone says that it is true in the first state. `&`, `|` and `~` combine formulas.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from statewalk.dsl.declared import Formula, LeadsTo, marks, property_name
from statewalk.dsl.errors import SpecError
from statewalk.dsl.kinds import KIND_OF_MARKS, KINDS, PropertyKind
from statewalk.dsl.words.declare import a_function, a_truth

Part: TypeAlias = Callable[..., bool] | Formula
"""A predicate, or a formula."""


def leads_to(cause: Part, effect: Part, /) -> Formula:
    """Declare that each state with the cause is followed by one with the effect.

    ``served = leads_to(asked, answered)``. With parameters of role types it is a property for each
    combination of instances.
    """
    return _of_two("leads_to", cause, effect)


def until(first: Part, second: Part, /) -> Formula:
    """Declare that the first predicate holds up to a state with the second, and there is one."""
    return _of_two("until", first, second)


def _of_two(kind: PropertyKind, first: Part, second: Part) -> Formula:
    if isinstance(first, Formula) or isinstance(second, Formula):
        return _made(kind, first, second)
    a_function(f"The first of {kind}(...)", first)
    a_function(f"The second of {kind}(...)", second)
    return LeadsTo(kind, first, second)


def implies(premise: Part, conclusion: Part, /) -> Formula:
    """Declare that behaviors that satisfy the premise satisfy the conclusion.

    ``fair = implies(always_eventually(asks), always_eventually(is_served))``.
    """
    return _made("implies", premise, conclusion)


def sometime(part: Part, /) -> Formula:
    """Declare that a predicate or a formula is true in this state or a later one."""
    return _made("sometime", part)


def throughout(part: Part, /) -> Formula:
    """Declare that a predicate or a formula is true in this state and all later ones."""
    return _made("throughout", part)


def always_eventually(part: Part, /, *, on_step: bool = False) -> Formula:
    """Declare that a predicate or a formula is true infinitely often.

    With ``on_step``, that steps that change the state satisfy a predicate of steps infinitely
    often.
    """
    return _lasting("always_eventually", part, on_step)


def eventually_always(part: Part, /, *, on_step: bool = False) -> Formula:
    """Declare that a predicate or a formula is true from some state on.

    With ``on_step``, that from some state on every step that changes the state satisfies a
    predicate of steps.
    """
    return _lasting("eventually_always", part, on_step)


def _lasting(operator: str, part: Part, on_step: bool) -> Formula:
    a_truth(f"on_step= of {operator}(...)", on_step)
    if on_step:
        a_function(f"The predicate of steps in {operator}(...)", _no_formula(part))
    return _made(f"{operator}_on_step" if on_step else operator, part)


def _no_formula(part: Part) -> object:
    return str(part) if isinstance(part, Formula) else part


def _made(operator: str, *parts: Part) -> Formula:
    _parts(operator, *parts)
    return Formula(operator, *parts)


def _parts(operator: str, *parts: Any) -> None:
    """Raise SpecError[SW119] for what is no predicate, or is a liveness property already."""
    for number, part in enumerate(parts):
        if not isinstance(part, Formula):
            where = ("first", "second")[number] if len(parts) == 2 else "part"
            a_function(f"The {where} of {operator}(...)", part)
        kind = KIND_OF_MARKS.get(tuple(mark.kind for mark in marks(part)))
        if kind and KINDS[kind].liveness:
            said = f"'{property_name(part)}' in {operator}(...) is a liveness property itself."
            help = f"Write {kind.removesuffix('_on_step')}(p) for a predicate p without decorators."
            if kind == "eventually":
                help = help.replace("eventually(p)", "sometime(p)")
            raise SpecError("SW119", said, help=help)
