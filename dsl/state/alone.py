"""Functions that are remembered by what they are given: while one runs, there is no state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from statewalk.dsl.binding import binding
from statewalk.dsl.view import Disabled


class NotAlone(Exception):
    """What a function does is not told by what it was given: it asked for the state, or raised."""


class _Asked(BaseException):
    """Not an `Exception`, so that a spec does not swallow it."""


class _NoState:
    """The view of a function that is given no state; ``asked`` tells that it wanted one."""

    asked = False

    def _refuse(self, *asked: object, **more: object) -> NoReturn:
        self.asked = True
        raise _Asked

    get = set = project = update = call = choose = progress = later = _refuse


def alone(function: Callable[[Any], Any], value: Any) -> Any:
    """What a function gives for a value, where the value alone decides. Raises `NotAlone`.

    However a function comes to look at the state, in the end it asks the bound view.
    """
    nothing = _NoState()
    saved = binding.view, binding.before, binding.references
    binding.view = binding.before = nothing
    binding.references = {}
    try:
        result = function(value)
    except (Exception, Disabled, _Asked):
        raise NotAlone from None
    finally:
        binding.view, binding.before, binding.references = saved
    if nothing.asked:
        raise NotAlone
    return result
