"""A set of items; ``add`` and ``remove`` say, if asked, whether they changed it."""

from statewalk import State, action, always, any_of, config, holds
from statewalk.models.objects.values import Value

ITEMS = (1, 2, 3)


class Items(State):
    items: set[Value] = set()

    @action
    def add(self, item: Value = any_of(ITEMS)) -> None:
        self.items.add(item)

    @action
    def insert(self, item: Value = any_of(ITEMS)) -> bool:
        if item in self.items:
            return False
        self.items.add(item)
        return True

    @action
    def remove(self, item: Value = any_of(ITEMS)) -> bool:
        if item not in self.items:
            return False
        self.items.remove(item)
        return True

    @action
    def contains(self, item: Value = any_of(ITEMS)) -> bool:
        return item in self.items

    @action
    def read(self) -> set[Value]:
        return self.items


kept = Items()


@always
def holds_items() -> bool:
    return len(kept.items) <= len(ITEMS)


config("three", expect=holds(distinct=8))
