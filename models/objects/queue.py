"""A first-in, first-out queue. An operation that takes something waits while there is nothing;
one that may find nothing is ``poll``, which then returns None.
"""

from statewalk import State, action, always, any_of, config, constraint, holds, require
from statewalk.models.objects.values import Value

ITEMS = (1, 2)


class Queue(State):
    items: list[Value] = []

    @action
    def enqueue(self, item: Value = any_of(ITEMS)) -> None:
        self.items.append(item)

    @action
    def dequeue(self) -> Value:
        require(self.items)
        return self.items.pop(0)

    @action
    def poll(self) -> Value:
        return self.items.pop(0) if self.items else None

    @action
    def peek(self) -> Value:
        return self.items[0] if self.items else None


queue = Queue()


@constraint
def short() -> bool:
    return len(queue.items) <= 3


@always
def holds_items() -> bool:
    return all(item in ITEMS for item in queue.items)


config("three", expect=holds(distinct=15))
