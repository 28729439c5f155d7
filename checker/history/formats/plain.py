"""The common parts of formats: JSON of a line, numbers for sessions, and what is left out, in
words.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

from statewalk.checker.history.data import History, Scalar
from statewalk.dsl.files import decoded

_LARGEST = 2**63
_DEEPEST = 100
_NESTED = (list, dict)


def record_in(line: bytes, fraction: Callable[[str], float] = float) -> Any:
    """Return the JSON value of a line.

    Raises:  `SaidTwice`, RecursionError where it is deep, ValueError: also for NaN, Infinity and
             what is too large for a float.
    """

    def finite(digits: str) -> float:
        number = fraction(digits)
        if math.isinf(number):
            raise ValueError(f"{digits:.40} is too large a number")
        return number

    found = decoded(line, finite, _no_number)
    level = [found] if line.count(b"[") + line.count(b"{") > _DEEPEST else []
    for _ in range(_DEEPEST):
        inside = [v if isinstance(v, list) else v.values() for v in level if isinstance(v, _NESTED)]
        level = [part for parts in inside for part in parts]
    if level:
        raise RecursionError(f"nested more than {_DEEPEST} deep")
    return found


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


class Lost(Counter[str]):
    """The things that a format cannot express, in words, and how often each was dropped."""

    def told(self) -> list[str]:
        """Return a line for each."""
        return [f"{what} ({n} times)" if n > 1 else what for what, n in self.items() if n]


def session_numbers(history: History, used: set[int], least: int, lost: Lost) -> dict[int, int]:
    """Return a number for each session in use: its name, where that is one and no other
    session has it.

    What a client did after an indeterminate transaction is another session of its name.
    """
    own = {s: history.sessions[s] for s in sorted(used)}
    whole = {x for x in own.values() if isinstance(x, int) and least <= x < _LARGEST}
    free, seen, found = 1 + max(whole, default=-1), set[Scalar](), dict[int, int]()
    for s, name in own.items():
        if name is None:
            lost["that sessions were not recorded (now one for each transaction)"] += 1
            found[s], free = free, free + 1
            continue
        lost["that a session goes on after an indeterminate transaction"] += name in seen
        lost["the names of sessions (now numbers)"] += name not in whole and name not in seen
        if isinstance(name, int) and name in whole and name not in seen:
            found[s] = name
        else:
            found[s], free = free, free + 1
        seen.add(name)
    return found
