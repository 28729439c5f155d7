"""A clock that shows the hour."""

from statewalk import Constant, State, action, always, any_of, config, eventually, holds, init

HOURS: Constant[int] = 12


class Clock(State):
    hour: int = 1

    @action(fair="weak")
    def tick(self) -> None:
        self.hour = self.hour % HOURS + 1


clock = Clock()


@init
def any_hour() -> None:
    clock.hour = any_of(range(1, HOURS + 1))


@always
@eventually
def strikes(hour: int = any_of(range(1, HOURS + 1))) -> bool:
    return clock.hour == hour


config("twelve", expect=holds(distinct=12, generated=24, depth=1))
