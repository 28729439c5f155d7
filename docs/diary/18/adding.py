"""A client adds, one after the other; a network between it and the server does what it may."""

from typing import Literal

from statewalk import (
    Constant,
    Message,
    Network,
    Role,
    Timeout,
    action,
    always,
    eventually,
    on_message,
    require,
    terminal,
)

RETRY: Constant[bool] = False  # the client asks again when it has waited
RULE: Constant[Literal["all", "not_the_last", "newer"]] = "all"  # what the server adds
NETWORK: Constant[Literal["set", "fifo"]] = "fifo"
LOSS: Constant[bool | int] = False
DUPLICATES: Constant[bool | int] = False
REORDER: Constant[bool | int] = False
PARTITIONS: Constant[bool | int] = False
ADDS: Constant[int] = 2


class Add(Message):
    source: "Client"
    id: int


class Done(Message):
    source: "Server"
    id: int


class Client(Role):
    done: int = 0
    waiting: bool = False
    retry: Timeout = Timeout()

    @action(fair="weak")
    def ask(self) -> None:
        require(not self.waiting and self.done < ADDS)
        self.waiting = True
        self.send()

    def send(self) -> None:
        wire.send(server, Add(self, self.done + 1))
        if RETRY:
            require(len(wire.to(server)) <= 2)
            self.retry.arm()

    @action(fair="weak")
    def ask_again(self) -> None:
        self.retry.fires()
        self.send()

    @on_message(fair="strong")
    def answer(self, answer: Done) -> None:
        if self.waiting and answer.id == self.done + 1:
            self.done += 1
            self.waiting = False
            self.retry.cancel()


class Server(Role):
    total: int = 0
    last: int = 0

    def counts(self, add: Add) -> bool:
        if RULE == "not_the_last":
            return add.id != self.last
        return RULE == "all" or add.id > self.last

    @on_message(fair="strong")
    def add(self, add: Add) -> None:
        if self.counts(add):
            self.total += 1
            self.last = add.id
        require(len(wire.to(client)) <= 1)
        wire.send(add.source, Done(self, add.id))


class Wire(
    Network[Add | Done, Client | Server],
    kind=NETWORK,
    loss=LOSS,
    duplicates=DUPLICATES,
    reorder=REORDER,
    partitions=PARTITIONS,
    heal="weak",
): ...


wire, server, client = Wire(), Server(), Client()


@always
def each_counts_once() -> bool:
    return client.done <= server.total <= client.done + client.waiting


@eventually
@terminal
def all_is_added() -> bool:
    return client.done == ADDS
