"""Recorded times: floats, and the decimals of the file that stand behind them."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal, InvalidOperation
from typing import Any

import numpy as np
import numpy.typing as npt

_Floats = npt.NDArray[np.float64]
Exact = dict[float, Decimal]
"""The decimals behind floats, of those floats that Python prints otherwise."""
DIGITS = "digits of times that a float does not keep"
_EXACT = 2**53  # integers up to here are exact as floats
_ADDING = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
_ROUNDINGS = 4  # of a sum of two rounded numbers, compared with another, in units of the last place


class Fraction(float):
    """A number as a file has it, which may have more digits than a float keeps."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> Fraction:
        """Return the nearest float, with the text it was read from. Raises ValueError."""
        made = super().__new__(cls, text)
        made.text = text
        try:
            Decimal(text)
        except InvalidOperation:
            raise ValueError(f"{text:.40} has too long an exponent") from None
        return made


class Rounded(Exception):
    """A time, at a place, that no float can tell from another one: (time, place)."""


def origin_of(times: Iterable[tuple[float, int]]) -> tuple[int, Exact]:
    """Return what times (with their places) are counted from, and their decimals.

    Raises:  Rounded where a time would be rounded to another one.
    """
    times = [*times]
    known = [time for time, _ in times]
    whole = all(isinstance(x, int) for x in known)
    origin = int(min(known)) if known and whole and max(map(abs, known)) > _EXACT else 0
    if not known or (whole and max(known) - min(known) <= _EXACT):
        return origin, {}
    found: Exact = {}
    for time, place in times:
        near = float(time - origin)
        exact = Decimal(str(getattr(time, "text", time)))
        if found.setdefault(near, exact) != exact or (
            int(near) != time - origin if isinstance(time, int) else not near and exact
        ):
            raise Rounded(exact, place)
    return origin, {near: exact for near, exact in found.items() if exact != Decimal(repr(near))}


def later(time: Any, error: float, exact: Exact) -> Decimal:
    """Return the exact time that is `error` after a recorded one."""
    near = float(time)
    return _ADDING.add(exact.get(near, Decimal(repr(near))), Decimal(repr(float(error))))


def reached(times: _Floats, error: float, against: _Floats, exact: Exact) -> _Floats:
    """Return for each time the last of `against` that is no more than `error` after it.

    So one of `against` is more than the error after a time exactly when it is after the returned
    one; -inf where all are. _Floats are compared where rounding leaves no doubt, else decimals.
    """
    if not error or np.isinf(error):
        return times + error
    found = times.copy()
    some = np.flatnonzero(np.isfinite(times))
    times = times[some]
    known = np.unique(against[np.isfinite(against)])
    late = times + error
    at = np.searchsorted(known, late, side="right")
    room = _ROUNDINGS * np.spacing(np.maximum(np.maximum(abs(times), abs(late)), error))
    close = np.searchsorted(known, late - room) < np.searchsorted(known, late + room, side="right")
    for x in np.flatnonzero(close).tolist():
        limit = later(times[x], error, exact)
        while at[x] and later(known[at[x] - 1], 0.0, exact) > limit:
            at[x] -= 1
        while at[x] < len(known) and later(known[at[x]], 0.0, exact) <= limit:
            at[x] += 1
    found[some] = np.append(-np.inf, known)[at]
    return found
