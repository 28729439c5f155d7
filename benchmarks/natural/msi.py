"""Caches with states Modified, Shared and Invalid, and a directory; messages overtake each other.

The directory serves one request at a time: it takes the line from its owner or from its
sharers, answers, and waits until the answer has arrived.
"""

from typing import Literal

from statewalk import (
    Constant,
    Message,
    Network,
    Role,
    action,
    always,
    any_of,
    exists,
    on_message,
    require,
)

CACHES: Constant[int] = 4
VALUES: Constant[int] = 2


class Get(Message):
    source: "Cache"
    exclusive: bool


class Invalidate(Message): ...


class Fetch(Message): ...


class InvalidateAck(Message):
    source: "Cache"


class WriteBack(Message):
    source: "Cache"
    value: int


class Data(Message):
    value: int
    exclusive: bool


class Received(Message):
    source: "Cache"


class Cache(Role):
    state: Literal["invalid", "shared", "modified"] = "invalid"
    value: int = 0
    waiting: bool = False

    @action
    def want(self, exclusive: bool) -> None:
        require(not self.waiting and self.state != "modified")
        require(exclusive or self.state == "invalid")
        self.waiting = True
        wire.send(directory, Get(self, exclusive))

    @on_message
    def receive_invalidate(self, _: Invalidate) -> None:
        self.state = "invalid"
        self.value = 0
        wire.send(directory, InvalidateAck(self))

    @on_message
    def receive_fetch(self, _: Fetch) -> None:
        wire.send(directory, WriteBack(self, self.value))
        self.state = "invalid"
        self.value = 0

    @on_message
    def receive_data(self, message: Data) -> None:
        wire.send(directory, Received(self))
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

    @on_message
    def receive_get(self, request: Get) -> None:
        require(self.serving is None)
        self.serving = request
        if self.owner is not None:
            wire.send(self.owner, Fetch())
        elif request.exclusive:
            wire.broadcast([c for c in self.sharers if c is not request.source], Invalidate())

    @on_message
    def receive_write_back(self, message: WriteBack) -> None:
        self.memory = message.value
        self.owner = None

    @on_message
    def receive_invalidate_ack(self, message: InvalidateAck) -> None:
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
        wire.send(request.source, Data(self.memory, request.exclusive))

    @on_message
    def receive_received(self, _: Received) -> None:
        self.serving = None


class Wire(Network[Message, Cache | Directory], kind="set"): ...


wire = Wire()
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
