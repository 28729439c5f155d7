"""A counter. ``add`` tells nothing, ``fetch_and_add`` what the counter held, ``add_and_fetch`` what
it holds then.
"""

from statewalk import State, action, always, any_of, config, constraint, holds

STEPS = (-1, 1)


class Counter(State):
    value: int = 0

    @action
    def read(self) -> int:
        return self.value

    @action
    def add(self, step: int = any_of(STEPS)) -> None:
        self.value += step

    @action
    def fetch_and_add(self, step: int = any_of(STEPS)) -> int:
        before = self.value
        self.value += step
        return before

    @action
    def add_and_fetch(self, step: int = any_of(STEPS)) -> int:
        self.value += step
        return self.value


counter = Counter()


@constraint
def small() -> bool:
    return abs(counter.value) <= 3


@always
def is_a_number() -> bool:
    return isinstance(counter.value, int)


config("three", expect=holds(distinct=7))
