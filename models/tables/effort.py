"""The cost of concurrency: operations that are given up, and attempts that are made again.

They are counted only where a run says how many there can be at most.
"""

from statewalk import Constant, State, always, exists

MOST_ABORTS: Constant[int | None] = None
MOST_RETRIES: Constant[int | None] = None


class Effort(State):
    aborts: int = 0
    retries: int = 0


effort = Effort()


def aborted() -> None:
    effort.aborts += MOST_ABORTS is not None


def retried() -> None:
    effort.retries += MOST_RETRIES is not None


if MOST_ABORTS is not None:

    @always
    def no_more_aborts() -> bool:
        return effort.aborts <= (MOST_ABORTS or 0)

    @exists
    def as_many_aborts() -> bool:
        return effort.aborts == (MOST_ABORTS or 0)


if MOST_RETRIES is not None:

    @always
    def no_more_retries() -> bool:
        return effort.retries <= (MOST_RETRIES or 0)

    @exists
    def as_many_retries() -> bool:
        return effort.retries == (MOST_RETRIES or 0)
