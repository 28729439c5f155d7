"""Orders that a level asks for and that a history may not have recorded.

Real time and sessions only ever add to what must come first. So a violation stands however little
of them was recorded; that a level holds is known only where nothing of its orders is missing.
"""

from __future__ import annotations

import math

import numpy as np

from statewalk.checker.history.clock import reached
from statewalk.checker.history.data import INFO, Bools, Floats, History, Ints


def unrecorded(
    history: History, members: Ints, clock_error: float, *, session: bool, real_time: bool
) -> str:
    """Return what is missing of the orders that a level asks for; "" where nothing is.

    `members` are the transactions that count as committed.
    """
    if not len(members):
        return "no transaction is known to have committed"
    ends = history.status[members] != INFO
    begin, end = history.begin[members], np.where(ends, history.end[members], np.nan)
    lacking = np.isnan(begin) | (np.isnan(end) & ends)
    if real_time and _in_doubt(history, members, begin, end, ends, clock_error).any():
        no_begins, no_ends = np.isnan(begin).all(), np.isnan(end).all()
        if no_begins or no_ends:
            what = "times" if no_begins and no_ends else "begins" if no_begins else "ends"
            return f"the history has no {what}"
        return f"times are partial: {_count(lacking)} lack a begin or an end"
    nameless = np.array([name is None for name in history.sessions])[history.session[members]]
    if not session or not nameless.any() or len(members) == 1:
        return ""
    # What follows in a session also follows in real time, unless clocks leave that open.
    if real_time and not (clock_error or lacking.any() or np.isin(begin, end).any()):
        return ""
    if nameless.all():
        return "the history has no sessions"
    return f"sessions are partial: {_count(nameless)} name none"


def contradiction(history: History, members: Ints, clock_error: float) -> str:
    """Return how the times of a session contradict the order of its lines; "" where none do.

    `members` are the transactions that count as committed.
    """
    if math.isinf(clock_error) or not len(members):
        return ""
    by_session = members[np.argsort(history.session[members], kind="stable")]
    begin, session = history.begin[by_session], history.session[by_session]
    ends = np.where(history.status[by_session] != INFO, history.end[by_session], np.nan)
    limit = reached(ends, clock_error, begin, history.exact)
    latest, current = -1, -1
    for at in range(len(by_session)):
        if session[at] != current:
            latest, current = -1, session[at]
        if latest >= 0 and begin[latest] > limit[at]:
            early, late = (history.name(int(by_session[x])) for x in (at, latest))
            return (
                f"{late} comes before {early} in {history.session_of(int(by_session[at]))}, and "
                "began after that had ended"
            )
        if not np.isnan(begin[at]) and (latest < 0 or begin[at] > begin[latest]):
            latest = at
    return ""


def _in_doubt(
    history: History, members: Ints, begin: Floats, end: Floats, ends: Bools, clock_error: float
) -> Bools:
    """Return which transactions lack a time that could order them and another one (n,)."""
    if math.isinf(clock_error):  # then real time orders nothing
        return np.zeros(len(begin), np.bool_)
    earliest = np.where(np.isnan(end), np.where(np.isnan(begin), -np.inf, begin), end)
    earliest = reached(earliest, clock_error, np.append(begin, end), history.exact)
    earliest[~ends] = np.inf
    last = history.end[members]  # one that is indeterminate also began before it
    latest = np.where(np.isnan(begin), np.where(np.isnan(last), np.inf, last), begin)
    after = np.isnan(end) & ends & (earliest < _largest_other(latest))
    doubt: Bools = after | (np.isnan(begin) & (-_largest_other(-earliest) < latest))
    return doubt


def _largest_other(numbers: Floats) -> Floats:
    """Return the largest of the other numbers, for each (n,)."""
    largest = int(np.argmax(numbers))
    found = np.full(len(numbers), numbers[largest])
    found[largest] = np.delete(numbers, largest).max(initial=-np.inf)
    return found


def _count(some: Bools) -> str:
    return f"{int(some.sum())} of {len(some)} committed transactions"
