"""The record of a step so far, for serial and parallel flows.

There a step ends after a statement that counts as doing something, and in .fizz text a step that
does nothing does not exist. Where that is known beforehand nothing is asked here; where it depends
on the way taken, the step keeps a note, which begins afresh with each step:

    "idle"    nothing was done, and there is nothing to go on with
    "resumed" a suspended run goes on; that alone makes a step
    "chose"   a choice was the last thing to happen; that makes a step if nothing follows
    "acted"   something was done
    "over"    something was done, and the function was over with it: so is the step

And what remains of a loop whose turns come in any order. Its elements have no order then, so plain
values are kept as a bag: two runs that have the same turns left are the same, and members of a
symmetric class stay interchangeable. What can be changed in place stays itself, in a list.
"""

from __future__ import annotations

import ast
from enum import Enum
from typing import Any

from statewalk.dsl.binding import binding
from statewalk.dsl.source.nodes import meaning
from statewalk.dsl.state.roles import Role
from statewalk.dsl.values.records import Bag
from statewalk.dsl.values.stored import intern_key


def acts() -> None:
    """Something was done."""
    if binding.step != "over":
        binding.step = "acted"


def over() -> None:
    """Nothing follows in this function: if something was done, its caller gives way."""
    if binding.step == "acted":
        binding.step = "over"


def waits() -> None:
    """Record a passed guard: resuming alone no longer counts as a step."""
    if binding.step == "resumed":
        binding.step = "idle"


def chose() -> None:
    """Record a choice: effects before it no longer count."""
    binding.step = "chose"


def settles() -> None:
    """Record a statement after a choice: the choice alone no longer counts."""
    if binding.step == "chose":
        binding.step = "idle"


def chooses() -> None:
    """Note that a choice was made: the work before it no longer counts."""
    binding.step = "idle"


def ends(how: str) -> None:
    """Note the end of a function: by ``"return"``, or because it ``"fell"`` off its end."""
    binding.ended = how


def acted() -> bool:
    """Return whether something was done in this step."""
    return binding.step == "acted"


def gives_way() -> bool:
    """Return whether the function called last is over with this step."""
    return binding.step == "over"


def done() -> bool:
    """Return whether something was done in this step, here or in a function that is over
    with it.
    """
    return binding.step in ("acted", "over")


def fell() -> bool:
    """Return whether something was done, and the function called last fell off its end."""
    return binding.ended == "fell" and binding.step == "acted"


def took() -> bool:
    """Return whether this is a step at all."""
    return binding.step != "idle"


def remaining(elements: list[Any]) -> Any:
    """Return what a loop in any order has before it."""
    return Bag(elements) if all(map(_is_plain, elements)) else elements


def next_turns(left: Any) -> Any:
    """Return the candidates for the next turn: elements of a bag, indices of a list."""
    if isinstance(left, list):
        return range(len(left))
    return list({intern_key(element): element for element in left}.values())


def turn_of(left: Any, chosen: Any) -> Any:
    """Return the element of the chosen turn."""
    return left[chosen] if isinstance(left, list) else chosen


def without_turn(left: Any, chosen: Any) -> Any:
    """Return what remains after the chosen turn."""
    if isinstance(left, list):
        return left[:chosen] + left[chosen + 1 :]
    rest = left.copy()
    rest.remove(chosen)
    return rest


def _is_plain(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, bool | int | str | Enum | Role)


_QUESTIONS = (acted, gives_way, done, fell)


def asks_for_notes(node: ast.expr, namespace: dict[str, Any]) -> bool:
    """Return whether an expression is one of the questions here that are false when a
    step begins.
    """
    return isinstance(node, ast.Call) and meaning(node.func, namespace) in _QUESTIONS
