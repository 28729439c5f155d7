"""Caches with states Modified, Shared and Invalid, and a directory; messages overtake each other.

The directory serves one request at a time: it takes the line from its owner or from its
sharers, answers, and waits until the answer has arrived.
"""

from typing import Literal

from statewalk import (
    Constant,
    Message,
    Role,
    State,
    action,
    always,
    any_of,
    exists,
    require,
)

CACHES: Constant[int] = 4
VALUES: Constant[int] = 2


class Get(Message):
    source: "Cache"
    exclusive: bool


class Invalidate(Message):
    dest: "Cache"


class Fetch(Message):
    dest: "Cache"


class InvalidateAck(Message):
    source: "Cache"


class WriteBack(Message):
    source: "Cache"
    value: int


class Data(Message):
    dest: "Cache"
    value: int
    exclusive: bool


class Received(Message):
    source: "Cache"


class Network(State):
    sent: set[Message] = set()


class Cache(Role):
    state: Literal["invalid", "shared", "modified"] = "invalid"
    value: int = 0
    waiting: bool = False

    @action
    def want(self, exclusive: bool) -> None:
        require(not self.waiting and self.state != "modified")
        require(exclusive or self.state == "invalid")
        self.waiting = True
        network.sent.add(Get(self, exclusive))

    @action
    def receive_invalidate(self) -> None:
        require(Invalidate(self) in network.sent)
        network.sent.remove(Invalidate(self))
        self.state = "invalid"
        self.value = 0
        network.sent.add(InvalidateAck(self))

    @action
    def receive_fetch(self) -> None:
        require(Fetch(self) in network.sent)
        network.sent.remove(Fetch(self))
        network.sent.add(WriteBack(self, self.value))
        self.state = "invalid"
        self.value = 0

    @action
    def receive_data(self) -> None:
        message = any_of([m for m in network.sent if isinstance(m, Data) and m.dest is self])
        network.sent.remove(message)
        network.sent.add(Received(self))
        self.state = "modified" if message.exclusive else "shared"
        self.value = message.value
        self.waiting = False

    @action
    def write(self, value: int = any_of(range(VALUES))) -> None:
        require(self.state == "modified" and value != self.value)
        self.value = value


class Directory(Role):
    memory: int = 0
    owner: Cache | None = None
    sharers: set[Cache] = set()
    serving: Get | None = None

    @action
    def receive_get(self) -> None:
        require(self.serving is None)
        request = any_of([m for m in network.sent if isinstance(m, Get)])
        network.sent.remove(request)
        self.serving = request
        if self.owner is not None:
            network.sent.add(Fetch(self.owner))
        elif request.exclusive:
            network.sent.update({Invalidate(c) for c in self.sharers if c is not request.source})

    @action
    def receive_write_back(self) -> None:
        message = any_of([m for m in network.sent if isinstance(m, WriteBack)])
        network.sent.remove(message)
        self.memory = message.value
        self.owner = None

    @action
    def receive_invalidate_ack(self) -> None:
        message = any_of([m for m in network.sent if isinstance(m, InvalidateAck)])
        network.sent.remove(message)
        self.sharers.remove(message.source)

    @action
    def answer(self) -> None:
        request = self.serving
        require(request is not None and self.owner is None)
        if request.exclusive:
            require(not {c for c in self.sharers if c is not request.source})
            self.owner = request.source
            self.sharers.clear()
        else:
            require(request.source not in self.sharers)
            self.sharers.add(request.source)
        network.sent.add(Data(request.source, self.memory, request.exclusive))

    @action
    def receive_received(self) -> None:
        message = any_of([m for m in network.sent if isinstance(m, Received)])
        network.sent.remove(message)
        self.serving = None


network = Network()
caches = [Cache() for _ in range(CACHES)]
directory = Directory()


@always
def a_writer_is_alone() -> bool:
    writers = [c for c in caches if c.state == "modified"]
    return not writers or len([c for c in caches if c.state != "invalid"]) == 1


@always
def sharers_have_the_value_of_memory() -> bool:
    return all(c.value == directory.memory for c in caches if c.state == "shared")


@exists
def all_share() -> bool:
    return all(c.state == "shared" for c in caches)
