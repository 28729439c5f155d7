"""A map of keys to values: each key is an object of its own, so a history is checked key by key.

``get`` and ``put`` do what ``read`` and ``write`` do. ``append`` is for strings. ``EMPTY`` is what
a key holds that nobody wrote.
"""

from statewalk import Constant, State, action, always, any_of, config, constraint, holds
from statewalk.models.objects.values import Value

EMPTY: Constant[str | None] = None
KEYS = ("x", "y")
VALUES = ("a", "b")


class Map(State):
    values: dict[Value, Value] = {}

    @action
    def read(self, key: Value = any_of(KEYS)) -> Value:
        return self.values.get(key, EMPTY)

    @action
    def get(self, key: Value = any_of(KEYS)) -> Value:
        return self.values.get(key, EMPTY)

    @action
    def write(self, key: Value = any_of(KEYS), value: Value = any_of(VALUES)) -> None:
        self.values[key] = value

    @action
    def put(self, key: Value = any_of(KEYS), value: Value = any_of(VALUES)) -> None:
        self.values[key] = value

    @action
    def append(self, key: Value = any_of(KEYS), value: str = any_of(VALUES)) -> None:
        before = self.values.get(key, EMPTY)
        self.values[key] = value if before is None else f"{before}{value}"

    @action
    def cas(
        self,
        key: Value = any_of(KEYS),
        old: Value = any_of(VALUES),
        new: Value = any_of(VALUES),
    ) -> bool:
        if self.values.get(key, EMPTY) != old:
            return False
        self.values[key] = new
        return True

    @action
    def delete(self, key: Value = any_of(KEYS)) -> None:
        self.values.pop(key, None)


stored = Map()


@constraint
def short() -> bool:
    return all(len(str(stored.values.get(key, ""))) <= 2 for key in KEYS)


@always
def keeps_strings() -> bool:
    return all(isinstance(stored.values.get(key, ""), str) for key in KEYS)


config("two", expect=holds(distinct=49))
