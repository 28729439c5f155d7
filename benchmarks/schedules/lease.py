"""A lease expires while its holder is slow, which then writes after its successor.

The bug: the store does not compare tokens. Clients write twice each; the clock stops in the end.
"""

from statewalk import Constant, Role, State, action, always, deadlock, require

CLIENTS: Constant[int] = 4
LENGTH: Constant[int] = 12  # of a lease, in ticks
END: Constant[int] = 40
WRITES: Constant[int] = 2


class Store(State):
    now: int = 0
    until: int = 0  # the lease ends
    token: int = 0
    holder: int = -1
    last: int = 0  # the token of the last write
    late: bool = False


class Clock(Role):
    @action
    def tick(self) -> None:
        require(store.now < END)
        store.now += 1


class Client(Role):
    token: int = 0
    valid: bool = False
    writes: int = 0

    @action
    def acquire(self) -> None:
        require(self.token == 0 and self.writes < WRITES)
        require(store.holder < 0 or store.until <= store.now)
        store.token += 1
        store.holder, store.until, self.token = self.index, store.now + LENGTH, store.token

    @action
    def look(self) -> None:
        require(self.token != 0 and not self.valid)
        if store.holder == self.index and store.now < store.until:
            self.valid = True
        else:
            self.token = 0

    @action
    def write(self) -> None:
        require(self.valid)
        store.late = self.token < store.last
        store.last = max(store.last, self.token)
        self.valid, self.token = False, 0
        self.writes += 1
        if store.holder == self.index:
            store.holder = -1


store = Store()
clock = Clock()
clients = [Client() for _ in range(CLIENTS)]
deadlock(False)


@always
def writes_are_in_the_order_of_leases() -> bool:
    return not store.late
