"""How many roles of a class there may be, where they come and go: what is refused.

A leaf: `dsl.state.roles` asks here.
"""

from __future__ import annotations

from typing import Any

from statewalk.dsl.binding import binding
from statewalk.dsl.errors import SpecError


def check_room(cls: Any, role: Any, room: object, symmetric: object) -> None:
    """Raises SpecError[SW212] where a class of roles says no number, or is derived from one whose
    roles come and go: those would be of both classes, and counted once; [SW119].
    """
    if type(symmetric) is not bool:
        raise SpecError(
            "SW119", f"symmetric= of {cls.__name__} is True or False, not {symmetric!r}."
        )
    for base in cls.__mro__[1:]:
        if issubclass(base, role) and base._room is not None:
            raise SpecError(
                "SW212",
                f"{cls.__name__} is derived from {base.__name__}, whose roles come and go.",
                why="A class says by itself how many of its roles there may be.",
                help="Move what they share to a class without at_most, and derive both from it: "
                f"class {base.__name__}(Shared, at_most={base._room}).",
            )
    if room is not None and (type(room) is not int or room < 1):
        raise SpecError(
            "SW212",
            f"at_most of {cls.__name__} is a number from 1 on, not {room!r}.",
            help=f"class {cls.__name__}(Role, at_most=3)",
        )


def no_room(cls: Any) -> SpecError:
    """The error of one role too many."""
    return SpecError(
        "SW212",
        f"There is no room for another {cls.__name__}: there are at most {cls._room}.",
        why="One that ends in this step makes room from the next step on."
        if any(type(role) is cls for role in binding.gone)
        else "A bound that is met without a word would hide what comes after it.",
        help=f"Raise it at the top of the file: AT_MOST_{cls.__name__} = {2 * (cls._room or 1)}"
        if cls._fizz
        else f"Raise it, class {cls.__name__}(Role, at_most=...), or end one before; or say that "
        f"the step waits: require(len(instances({cls.__name__})) < {cls._room}).",
    )
