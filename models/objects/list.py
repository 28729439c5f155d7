"""A list of elements that clients append to, and read whole."""

from statewalk import State, action, always, any_of, config, constraint, holds
from statewalk.models.objects.values import Value

ELEMENTS = (1, 2)


class Elements(State):
    elements: list[Value] = []

    @action
    def append(self, element: Value = any_of(ELEMENTS)) -> None:
        self.elements.append(element)

    @action
    def read(self) -> list[Value]:
        return list(self.elements)


log = Elements()


@constraint
def short() -> bool:
    return len(log.elements) <= 3


@always
def holds_elements() -> bool:
    return all(element in ELEMENTS for element in log.elements)


config("three", expect=holds(distinct=15))
