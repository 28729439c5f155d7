"""A last-in, first-out stack. ``pop`` waits while there is nothing; ``poll`` then returns None."""

from statewalk import State, action, always, any_of, config, constraint, holds, require
from statewalk.models.objects.values import Value

ITEMS = (1, 2)


class Stack(State):
    items: list[Value] = []

    @action
    def push(self, item: Value = any_of(ITEMS)) -> None:
        self.items.append(item)

    @action
    def pop(self) -> Value:
        require(self.items)
        return self.items.pop()

    @action
    def poll(self) -> Value:
        return self.items.pop() if self.items else None


stack = Stack()


@constraint
def short() -> bool:
    return len(stack.items) <= 3


@always
def holds_items() -> bool:
    return all(item in ITEMS for item in stack.items)


config("three", expect=holds(distinct=15))
