"""Leases by clocks that differ: one is given away again when its time and a margin have passed.

# check SKEW=0 MARGIN=0 -> holds distinct=761 generated=2379 depth=12
# check SKEW=0 MARGIN=1 -> holds distinct=291 generated=669 depth=10
# check SKEW=1 MARGIN=1 -> holds distinct=1602 generated=5135 depth=20
# check SKEW=1 MARGIN=0 -> violated one_holder length=8
"""

from statewalk import Clock, Constant, Message, Network, Role, action, always, on_message, require

SKEW: Constant[int] = 1
MARGIN: Constant[int] = 1


class Grant(Message):
    """A lease up to a time."""

    until: int


class Client(Role):
    """Who has a lease or not, by its own clock."""

    until: int = 0

    @on_message
    def granted(self, grant: Grant) -> None:
        """Believe what comes last."""
        self.until = grant.until


class Server(Role):
    """Who gives leases of two ticks."""

    free: int = 0

    @action
    def grant(self, to: Client) -> None:
        """Give the lease when it is free by the server's clock."""
        require(time.passed(self, self.free))
        until = time.after(self, 2)
        self.free = until + MARGIN
        wire.send(to, Grant(until))


class Wire(Network[Grant, Client], kind="set", loss=True):
    """Grants in transit."""


class Time(Clock[Client | Server], skew=SKEW, until=5):
    """The clocks of all."""


wire, time, server = Wire(), Time(), Server()
clients = [Client() for _ in range(2)]


@always
def one_holder() -> bool:
    """No two hold the lease, each by its own clock."""
    return sum(not time.passed(client, client.until) for client in clients) <= 1
