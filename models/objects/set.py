"""A set of items: each is an object of its own, unless the set is read whole. ``insert`` and
``remove`` say whether they changed it.

It is a dict of which only the keys count: so an operation on an item looks at no other one.
"""

from statewalk import State, action, always, any_of, config, holds
from statewalk.models.objects.values import Value

ITEMS = (1, 2, 3)


class Items(State):
    items: dict[Value, bool] = {}

    @action
    def add(self, item: Value = any_of(ITEMS)) -> None:
        self.items[item] = True

    @action
    def insert(self, item: Value = any_of(ITEMS)) -> bool:
        if item in self.items:
            return False
        self.items[item] = True
        return True

    @action
    def remove(self, item: Value = any_of(ITEMS)) -> bool:
        if item not in self.items:
            return False
        del self.items[item]
        return True

    @action
    def contains(self, item: Value = any_of(ITEMS)) -> bool:
        return item in self.items

    @action
    def read(self) -> set[Value]:
        return set(self.items)


kept = Items()


@always
def holds_items() -> bool:
    return len(kept.items) <= len(ITEMS)


config("three", expect=holds(distinct=8))
