"""What a step has done so far, for flows that come from .fizz files.

There a step ends after a statement that counts as doing something, and a step that does nothing
does not exist. Where that is known beforehand nothing is asked here; where it depends on the way
taken, the step keeps a note, which begins afresh with each step:

    "idle"    nothing was done, and there is nothing to go on with
    "resumed" a suspended run goes on; that alone makes a step
    "acted"   something was done
"""

from __future__ import annotations

from dsl.runtime import binding


def acts() -> None:
    """Something was done."""
    binding.step = "acted"


def waits() -> None:
    """A guard was passed: going on is no longer reason enough for a step."""
    if binding.step == "resumed":
        binding.step = "idle"


def chooses() -> None:
    """A choice was made: what was done before it no longer counts."""
    binding.step = "idle"


def acted() -> bool:
    """Whether something was done in this step."""
    return binding.step == "acted"


def took() -> bool:
    """Whether this is a step at all."""
    return binding.step != "idle"


def ends(how: str) -> None:
    """How a function ended: ``"return"``, or ``"over"`` where its last statement was its end.

    ``"over"`` after something was done means that its caller gives way.
    """
    binding.ended = how


def gives_way() -> bool:
    """Whether the function called last ended with something done, and so ends the step."""
    return binding.ended == "over" and binding.step == "acted"
