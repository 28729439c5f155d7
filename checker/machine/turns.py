"""Calls of the Python API from several threads take turns.

While a spec is loaded or a step runs, the state that its code speaks of belongs to the process, as
do the modules and the search path of a load.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import RLock
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
_TURN = RLock()


def in_turn(function: Callable[P, R]) -> Callable[P, R]:
    """Let a call wait for those that other threads began before."""

    @wraps(function)
    def waiting(*args: P.args, **kwargs: P.kwargs) -> R:
        with _TURN:
            return function(*args, **kwargs)

    return waiting
