"""A queue of items: it does what a set of items allows, and does in the end what that has to.

A queue is a set of which the order is known: `as_set` forgets it. Two defects break one half each
of what `refines` asks: a step that a set has not, and something that a set would do in the end.
"""

from statewalk import (
    Constant,
    Role,
    action,
    any_of,
    config,
    holds,
    mutant,
    refines,
    require,
    terminal,
    violates,
)

ITEMS: Constant[int] = 3
ROOM: Constant[int] = 2


class Queue(Role):
    slots: list[int] = []
    seen: set[int] = set()

    @action
    def put(self) -> None:
        require(len(self.slots) < ROOM)
        item = any_of(i for i in range(ITEMS) if i not in self.seen)
        self.seen.add(item)
        self.slots.append(item)

    @action(fair="weak")
    def take(self) -> None:
        require(may_take(self.slots))
        self.slots = left_by(self.slots)


queue = Queue()


def may_take(slots: list[int]) -> bool:
    return len(slots) > 0


def left_by(slots: list[int]) -> list[int]:
    return slots[1:]


def as_set() -> dict[str, object]:
    return {"Box.inside": set(queue.slots), "Box.seen": queue.seen}


is_a_set = refines("toys/item_set", by=as_set, ITEMS=ITEMS)


@terminal
def all_were_put_in() -> bool:
    return len(queue.seen) == ITEMS


# -- mutants -------------------------------------------------------------------------------------
@mutant(left_by)
def loses_the_others(slots: list[int]) -> list[int]:
    return []


@mutant(may_take)
def keeps_one(slots: list[int]) -> bool:
    return len(slots) > 1


config("three", expect=holds(distinct=32))
config("loses", MUTANT=loses_the_others, expect=violates({"is_a_set": 3}))
config("keeps", MUTANT=keeps_one, expect=violates("is_a_set"))
