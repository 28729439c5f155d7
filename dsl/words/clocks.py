"""The word for time in numbers: `Clock`. See `dsl.words.networks`."""

from __future__ import annotations

from types import GenericAlias
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from statewalk.dsl.declared import FAIRNESSES, Fairness
from statewalk.dsl.errors import SpecError
from statewalk.dsl.state.roles import Role, State
from statewalk.dsl.words.networks import not_read

R = TypeVar("R", bound=Role)

if TYPE_CHECKING:

    class _Of(State, Generic[R]): ...

else:

    class _Of(State):
        __class_getitem__ = classmethod(GenericAlias)


class Clock(_Of[R]):
    """Clocks of roles, in whole numbers: ``class Time(Clock[Client | Server], skew=1, until=9)``.

    A field of each of these roles, named as the class in lower case, is what its clock shows.
    ``skew`` is the most by which two of them differ; 0: all tick together. At ``until`` they stop,
    and stopping is no deadlock. Time passes at any moment, or, where the class has a method
    ``urgent(self) -> bool``, while that is false. ``fair`` is the fairness of ticks.
    """

    differs: ClassVar[bool] = False  # whether roles may differ

    def __init_subclass__(
        cls, *, until: int, skew: int = 0, fair: Fairness = "weak", **options: Any
    ) -> None:
        super().__init_subclass__(**options)
        for name, value in (("until", until), ("skew", skew)):
            if type(value) is not int or value < 0:
                said = f"{name}= of {cls.__name__} must be a number from 0 on, not {value!r}."
                raise SpecError("SW130", said, help=f"Write {name}=2.")
        if fair not in FAIRNESSES:
            said = f"fair= of {cls.__name__} is no fairness: {fair!r}."
            raise SpecError("SW130", said, help='Write fair="weak".')
        cls.differs = skew > 0

    def now(self, role: R, /) -> int:
        """Return what the clock of a role shows."""
        raise not_read()

    def after(self, role: R, ticks: int, /) -> int:
        """Return what the clock of a role shows so many ticks later."""
        raise not_read()

    def elapsed(self, role: R, since: int, /) -> int:
        """Return how many ticks of its clock have passed for a role."""
        raise not_read()

    def passed(self, role: R, deadline: int, /) -> bool:
        """Return whether the clock of a role shows a deadline, or more."""
        raise not_read()
