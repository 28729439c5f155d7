"""Two threads take two locks in opposite orders, one of them long after the other.

The bug: a service that starts takes the configuration's lock, then the registry's. One that stops,
when it has handled its requests, takes them the other way round.
"""

from statewalk import Constant, Role, State, action, require, terminal

REQUESTS: Constant[int] = 10
HANDLERS: Constant[int] = 6

FREE = -1


class Locks(State):
    configuration: int = FREE
    registry: int = FREE


class Starting(Role):
    at: int = 0

    @action
    def configure(self) -> None:
        require(self.at == 0 and locks.configuration == FREE)
        locks.configuration, self.at = 0, 1

    @action
    def register(self) -> None:
        require(self.at == 1 and locks.registry == FREE)
        locks.registry, self.at = 0, 2

    @action
    def started(self) -> None:
        require(self.at == 2)
        locks.configuration, locks.registry, self.at = FREE, FREE, 3


class Handler(Role):
    handled: int = 0
    at: int = 0

    @action
    def handle(self) -> None:
        require(self.handled < REQUESTS)
        self.handled += 1

    @action
    def leave(self) -> None:
        require(self.at == 0 and self.handled == REQUESTS and locks.registry == FREE)
        locks.registry, self.at = 1 + self.index, 1

    @action
    def forget(self) -> None:
        require(self.at == 1 and locks.configuration == FREE)
        locks.configuration, self.at = 1 + self.index, 2

    @action
    def stopped(self) -> None:
        require(self.at == 2)
        locks.configuration, locks.registry, self.at = FREE, FREE, 3


locks = Locks()
starting = Starting()
handlers = [Handler() for _ in range(HANDLERS)]


@terminal
def all_have_stopped() -> bool:
    return starting.at == 3 and all(handler.at == 3 for handler in handlers)
