"""The witness of a verdict: an order of operations, executed anew on the spec.

Nothing of the search is used: each action runs on a plain view, and orders are compared by times.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from statewalk.checker.history.objects.spec import Bound, answers
from statewalk.dsl.state.plain_view import PlainView, apply_writes
from statewalk.dsl.values.stored import encode
from statewalk.dsl.view import Disabled

if TYPE_CHECKING:
    from statewalk.checker.history.objects.operations import Time
    from statewalk.dsl.model import Model
    from statewalk.dsl.view import State


_Text = tuple[tuple[str, bytes], ...]


class NoWitness(Exception):
    """An order that a search found, and that is none: a mistake of ours."""


def execute(
    model: Model, operations: Sequence[Bound], order: Sequence[int], *, by_client: bool
) -> None:
    """Execute operations in an order.

    Raises:  NoWitness where one is missing, comes too early or has another answer.
    """
    missing = {i for i, b in enumerate(operations) if b.required} - set(order)
    if missing or len(set(order)) < len(order):
        raise NoWitness(f"{len(missing)} operations are not in the order, or some are twice")
    _in_time(operations, order, by_client)
    states = {_text(s): s for s in model.initial_states}
    for position, i in enumerate(order):
        bound = operations[i]
        states = {_text(s): s for one in states.values() for s in _after(model, bound, one)}
        if not states:
            raise NoWitness(f"{bound.kind.shown} is wrong at place {position + 1}")


def _in_time(operations: Sequence[Bound], order: Sequence[int], by_client: bool) -> None:
    """Raise NoWitness where an operation comes after one that began when it was over."""
    latest: dict[Any, Time] = {}
    for i in order:
        op = operations[i].op
        of = op.client if by_client else None
        if operations[i].required and op.end is not None:
            if latest.get(of, op.end) > op.end:
                raise NoWitness(f"{op.name} of {op.where} comes after a later one")
        latest[of] = max(latest.get(of, op.begin), op.begin)


def _after(model: Model, bound: Bound, state: State) -> list[State]:
    found: list[State] = []
    for view in PlainView.runs(state):
        try:
            returned = model.take(bound.kind.action, view)
        except Disabled:
            continue
        if answers(bound.kind.answer, returned):
            found.append(apply_writes(state, view.writes))
    return found


def _text(state: State) -> _Text:
    return tuple(sorted((repr(path), encode(value)) for path, value in state.items()))
