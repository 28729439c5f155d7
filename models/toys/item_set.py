"""Items are put into a box, each once, and taken out again: in any order, and all of them.

What `queue` refines. What is inside, and what was put in at all, is everything there is to see.
"""

from statewalk import Constant, Role, action, any_of, config, holds, leads_to, terminal

ITEMS: Constant[int] = 3


class Box(Role):
    inside: set[int] = set()
    seen: set[int] = set()

    @action
    def put(self) -> None:
        item = any_of(i for i in range(ITEMS) if i not in self.seen)
        self.seen.add(item)
        self.inside.add(item)

    @action(fair="weak")
    def take(self) -> None:
        self.inside.remove(any_of(self.inside))


box = Box()


def something_is_inside() -> bool:
    return len(box.inside) > 0


def nothing_is_inside() -> bool:
    return len(box.inside) == 0


emptied = leads_to(something_is_inside, nothing_is_inside)


@terminal
def all_were_put_in() -> bool:
    return len(box.seen) == ITEMS


config("three", expect=holds(distinct=27))
