"""Calls of the Python API from several threads take turns.

While a spec is loaded or a step runs, the state that its code speaks of belongs to the process, as
do the modules and the search path of a load.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import RLock
from typing import ParamSpec, TypeVar

from statewalk.dsl.source.apart import enter

P = ParamSpec("P")
R = TypeVar("R")
_TURN = RLock()


def in_turn(function: Callable[P, R]) -> Callable[P, R]:
    """Let a call wait for those that other threads began before, and leave the worlds of specs as
    they were.
    """

    @wraps(function)
    def waiting(*args: P.args, **kwargs: P.kwargs) -> R:
        with _TURN:
            before = enter(None)
            try:
                return function(*args, **kwargs)
            finally:
                enter(before)

    return waiting
