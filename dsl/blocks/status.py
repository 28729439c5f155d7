"""Whether a step has done something by some place in the text: its *status*, as letters.

    T  something was done       F  nothing was      C  a choice was the last thing to happen
    P  the step goes on with a suspended run, which is reason enough for a step
    Y  as T, and the function is over with it: the step ends here, together with the function

A set of them says which are possible. A choice counts if nothing at all follows it.
"""

from __future__ import annotations

import ast

Status = frozenset[str]
NONE: Status = frozenset()
NOT_YET: Status = frozenset("F")
ACTED: Status = frozenset("T")
CHOSE: Status = frozenset("C")
RESUMED: Status = frozenset("P")
OVER: Status = frozenset("Y")


def settled(status: Status) -> Status:
    """The status once another statement follows: a choice alone no longer counts."""
    return frozenset("F" if s == "C" else s for s in status)


def passed(status: Status) -> Status:
    """After a guard or a choice, going on is no longer reason enough for a step."""
    return frozenset("F" if s == "P" else s for s in status)


def certainly_some(options: ast.expr) -> bool:
    """Whether a choice certainly has options."""
    return isinstance(options, ast.List | ast.Tuple) and len(options.elts) > 0
