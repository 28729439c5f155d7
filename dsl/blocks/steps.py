"""What a step has done so far, for serial and parallel flows.

There a step ends after a statement that counts as doing something, and in .fizz text a step that
does nothing does not exist. Where that is known beforehand nothing is asked here; where it depends
on the way taken, the step keeps a note, which begins afresh with each step:

    "idle"    nothing was done, and there is nothing to go on with
    "resumed" a suspended run goes on; that alone makes a step
    "chose"   a choice was the last thing to happen; that makes a step if nothing follows
    "acted"   something was done
    "over"    something was done, and the function was over with it: so is the step
"""

from __future__ import annotations

import ast
from typing import Any

from statewalk.dsl.binding import binding
from statewalk.dsl.source.nodes import meaning


def acts() -> None:
    """Something was done."""
    if binding.step != "over":
        binding.step = "acted"


def over() -> None:
    """Nothing follows in this function: if something was done, its caller gives way."""
    if binding.step == "acted":
        binding.step = "over"


def waits() -> None:
    """A guard was passed: going on is no longer reason enough for a step."""
    if binding.step == "resumed":
        binding.step = "idle"


def chose() -> None:
    """A choice was made: what was done before it no longer counts."""
    binding.step = "chose"


def settles() -> None:
    """Something follows a choice, which therefore no longer counts."""
    if binding.step == "chose":
        binding.step = "idle"


def chooses() -> None:
    """What follows was chosen: what was done before no longer counts."""
    binding.step = "idle"


def ends(how: str) -> None:
    """How a function ended: by ``"return"``, or because it ``"fell"`` off its end."""
    binding.ended = how


def acted() -> bool:
    """Whether something was done in this step."""
    return binding.step == "acted"


def gives_way() -> bool:
    """Whether the function called last is over with this step."""
    return binding.step == "over"


def done() -> bool:
    """Whether something was done in this step, here or in a function that is over with it."""
    return binding.step in ("acted", "over")


def fell() -> bool:
    """Whether something was done, and the function called last fell off its end."""
    return binding.ended == "fell" and binding.step == "acted"


def took() -> bool:
    """Whether this is a step at all."""
    return binding.step != "idle"


_QUESTIONS = (acted, gives_way, done, fell)


def asks_for_notes(node: ast.expr, namespace: dict[str, Any]) -> bool:
    """Whether an expression is one of the questions here that are false when a step begins."""
    return isinstance(node, ast.Call) and meaning(node.func, namespace) in _QUESTIONS
