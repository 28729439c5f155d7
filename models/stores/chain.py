"""Chain replication of a register (van Renesse and Schneider): writes go to the head and are
passed on in order, the tail acknowledges them and answers reads.

``STALE_READ``: any replica answers reads with what it has. Then a read at the head sees a write
that a later one at the tail does not. Failures of replicas are left out.
"""

from statewalk import (
    Auxiliary,
    Constant,
    Role,
    State,
    action,
    always,
    any_of,
    config,
    exists,
    holds,
    require,
    terminal,
    violates,
)
from statewalk.dsl.operations import Event, linearizable

REPLICAS: Constant[int] = 3
CLIENTS: Constant[int] = 2
CALLS: Constant[int] = 2  # of each client
STALE_READ: Constant[bool] = False


class History(State):
    events: Auxiliary[list[tuple["Client | str | int", ...]]] = []


class Replica(Role):
    log: list["Client"] = []  # who wrote: the number of a write is its value

    @action
    def pass_on(self) -> None:
        """The next replica takes the first write that it does not have."""
        require(self.index + 1 < REPLICAS)
        following = chain[self.index + 1]
        require(len(following.log) < len(self.log))
        client = self.log[len(following.log)]
        following.log.append(client)
        if following.index == REPLICAS - 1:
            client.waits = False
            history.events.append(("return", client))


class Client(Role, symmetric=True):
    calls: int = 0
    waits: bool = False
    reads: bool = False

    def call(self) -> None:
        require(not self.waits and self.calls < CALLS)
        self.calls += 1
        self.waits = True

    @action
    def write(self) -> None:
        """The request reaches the head."""
        self.call()
        chain[0].log.append(self)
        history.events.append(("call", self, "write", len(chain[0].log)))

    @action
    def read(self) -> None:
        self.call()
        self.reads = True
        history.events.append(("call", self, "read"))

    @action
    def answer(self) -> None:
        require(self.reads)
        replica = any_of(chain if STALE_READ else chain[-1:])
        self.reads = self.waits = False
        history.events.append(("return", self, len(replica.log)))


history = History()
chain = [Replica() for _ in range(REPLICAS)]
clients = [Client() for _ in range(CLIENTS)]


def recorded_operations() -> list[Event]:
    """Return what `statewalk history from-trace` writes."""
    return list(history.events)


@always
def is_linearizable() -> bool:
    return linearizable("register", history.events, INITIAL=0)


@terminal
def all_done() -> bool:
    return all(client.calls == CALLS and not client.waits for client in clients)


@exists
def a_read_answers_during_a_write() -> bool:
    return any(e[0] == "return" and len(e) > 2 for e in history.events[-1:]) and any(
        client.waits and not client.reads for client in clients
    )


config("three", expect=holds(distinct=3583))
config("stale_read", STALE_READ=True, expect=violates(is_linearizable))
