"""A client puts numbers into servers and hears of them, with each fault of a network alone."""

# check KIND=bag -> holds distinct=57 generated=75 depth=7
# check KIND=set -> holds distinct=57 generated=75 depth=7
# check KIND=queue -> holds distinct=41 generated=55 depth=7
# check KIND=fifo -> holds distinct=39 generated=55 depth=7
# check KIND=kept -> holds distinct=45 generated=153 depth=6
# check KIND=bag LOSS=True -> holds distinct=91 generated=189 depth=7
# check KIND=bag LOSS=1 -> holds distinct=96 generated=165 depth=7
# check KIND=set DUPLICATES=True -> holds distinct=267 generated=1135 depth=7
# check KIND=bag DUPLICATES=1 -> holds distinct=235 generated=433 depth=8
# check KIND=fifo REORDER=True -> holds distinct=63 generated=87 depth=9
# check KIND=fifo REORDER=1 -> holds distinct=57 generated=75 depth=8
# check KIND=queue REORDER=True -> holds distinct=65 generated=91 depth=9
# check KIND=bag PARTITIONS=True -> holds distinct=228 generated=519 depth=8
# check KIND=bag PARTITIONS=2 -> holds distinct=513 generated=1111 depth=11
# check KIND=fifo LOSS=1 DUPLICATES=1 REORDER=1 PARTITIONS=1 -> holds distinct=2240 depth=12

from typing import Literal

from statewalk import (
    Constant,
    Message,
    Network,
    Role,
    action,
    always,
    deadlock,
    on_message,
    require,
)

KIND: Constant[Literal["bag", "set", "queue", "fifo", "kept"]] = "bag"
LOSS: Constant[bool | int] = False
DUPLICATES: Constant[bool | int] = False
REORDER: Constant[bool | int] = False
PARTITIONS: Constant[bool | int] = False
deadlock(False)


class Put(Message):
    """A number to keep."""

    source: "Client"
    n: int


class Ack(Message):
    """A number that is kept."""

    source: "Server"
    n: int


class Client(Role):
    """Who puts two numbers."""

    sent: int = 0
    acked: int = 0

    @action
    def put(self, to: "Server") -> None:
        require(self.sent < 2)
        self.sent += 1
        wire.send(to, Put(self, self.sent))

    @on_message
    def ack(self, ack: Ack) -> None:
        self.acked = ack.n


class Server(Role, symmetric=True):
    """Who keeps the number that came last."""

    value: int = 0

    @on_message
    def put(self, put: Put) -> None:
        self.value = put.n
        wire.send(put.source, Ack(self, self.value))


class Wire(
    Network[Put | Ack, Client | Server],
    kind=KIND,
    loss=LOSS,
    duplicates=DUPLICATES,
    reorder=REORDER,
    partitions=PARTITIONS,
):
    """What is in transit between them."""


wire = Wire()
servers = [Server() for _ in range(2)]
client = Client()


@always
def heard_of_what_was_sent() -> bool:
    """No number is made up on the way."""
    return client.acked <= client.sent
