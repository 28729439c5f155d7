"""What every property says of every state along a trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from statewalk.dsl.state.plain_view import PlainView

if TYPE_CHECKING:
    from statewalk.dsl.model import Model
    from statewalk.dsl.view import State

Truth = tuple[bool | None, ...]
"""Per state of a trace; None where the property raises, or where there is no step to speak of"""


def truths(model: Model, states: Sequence[State]) -> dict[str, Truth]:
    """Per property its truth in each of these states.

    A property of steps has it at the state that the step leads to. Of a liveness property it is
    what should come true in the end; its premise, if it has one, is listed apart.
    """
    found: dict[str, Truth] = {}
    for prop in model.properties:
        if prop.of_kind.over == "specs":  # true of behaviours only
            continue
        on_step = prop.of_kind.over == "steps"
        predicates = {prop.name: prop.whole}
        if prop.premise is not None:
            predicates = {f"{prop.name} (premise)": prop.premise, **predicates}
        for name, predicate in predicates.items():
            values: list[bool | None] = []
            for at, state in enumerate(states):
                before = states[at - 1] if on_step and at else None
                try:
                    values.append(
                        None
                        if on_step and before is None
                        else model.holds(
                            predicate,
                            PlainView(state),
                            PlainView(before) if before is not None else None,
                        )
                    )
                except Exception:
                    values.append(None)
            found[name] = tuple(values)
    return found


def runs(truth: Truth) -> Mapping[bool, list[str]]:
    """Where a property is true and where false, as ``0-3`` and ``5``."""
    result: dict[bool, list[str]] = {True: [], False: []}
    for value, (first, last) in _stretches(truth):
        if value is not None:
            result[value].append(str(first) if first == last else f"{first}-{last}")
    return result


def _stretches(truth: Truth) -> Iterator[tuple[bool | None, tuple[int, int]]]:
    for value, group in groupby(enumerate(truth), key=lambda pair: pair[1]):
        places = [at for at, _ in group]
        yield value, (places[0], places[-1])
