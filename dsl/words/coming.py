"""Words for roles that come and go: ``class Session(Role, at_most=3)``."""

from __future__ import annotations

from typing import TypeVar

from statewalk.dsl.binding import binding
from statewalk.dsl.errors import SpecError
from statewalk.dsl.state.detaching import forget
from statewalk.dsl.state.refs import current_view, forbid_change
from statewalk.dsl.state.roles import Role, no_value
from statewalk.dsl.values.stored import ABSENT
from statewalk.dsl.words.declare import interrupt

R = TypeVar("R", bound=Role)


def instances(role: type[R], /) -> tuple[R, ...]:
    """The instances of a role class, and of those derived from it, that are there: class by class,
    in the order of their index.
    """
    return tuple(one for kind in role._kinds for one in kind._instances if one.there)


def end(role: Role, /) -> None:
    """A role of a class with ``at_most`` is there no more: its fields lose their values, its
    suspended flows end. Nothing in the state may mention it when the step is over.
    """
    cls = type(role)
    if cls._room is None:
        raise SpecError(
            "SW212",
            f"{role!r} cannot end: a {cls.__name__} is there from the beginning.",
            help=f"What comes and goes says how many there may be: "
            f"class {cls.__name__}(Role, at_most={len(cls._instances)}).",
        )
    view = current_view()
    if not role.there:
        raise no_value(role, "there")
    interrupt(role)
    for name in cls._fields:
        path = (cls.__name__, role.index, name)
        forbid_change(path)
        forget(path)
        view.set(path, False if name == "there" else ABSENT)
    binding.gone = (*binding.gone, role)
