"""Two-phase commit: resource managers agree with a transaction manager to commit or to abort.

The abstraction of Lamport's TwoPhase: messages stay in the network and can be acted on again, and
a resource manager may abort on its own until it has prepared.
"""

from typing import Literal

from statewalk import (
    Constant,
    Message,
    Role,
    State,
    action,
    always,
    config,
    exists,
    holds,
    pairs,
    require,
    terminal,
)

RMS: Constant[int] = 3


class Prepared(Message):
    source: "ResourceManager"


class Commit(Message): ...


class Abort(Message): ...


class Network(State):
    sent: set[Message] = set()  # messages stay: a receiver may act on one again


class ResourceManager(Role, symmetric=True):
    state: Literal["working", "prepared", "committed", "aborted"] = "working"

    @action
    def prepare(self) -> None:
        require(self.state == "working")
        self.state = "prepared"
        network.sent.add(Prepared(self))

    @action
    def choose_to_abort(self) -> None:
        require(self.state == "working")
        self.state = "aborted"

    @action
    def receive_commit(self) -> None:
        require(Commit() in network.sent)
        self.state = "committed"

    @action
    def receive_abort(self) -> None:
        require(Abort() in network.sent)
        self.state = "aborted"


class TransactionManager(Role):
    state: Literal["init", "committed", "aborted"] = "init"
    prepared: set[ResourceManager] = set()

    @action
    def receive_prepared(self, rm: ResourceManager) -> None:
        require(self.state == "init")
        require(Prepared(rm) in network.sent)
        self.prepared.add(rm)

    @action
    def commit(self) -> None:
        require(self.state == "init")
        require(all(rm in self.prepared for rm in rms))
        self.state = "committed"
        network.sent.add(Commit())

    @action
    def abort(self) -> None:
        require(self.state == "init")
        self.state = "aborted"
        network.sent.add(Abort())


network = Network()
rms = [ResourceManager() for _ in range(RMS)]
tm = TransactionManager()


@always
def consistent() -> bool:
    """No resource manager commits while another aborts."""
    return all({a.state, b.state} != {"committed", "aborted"} for a, b in pairs(rms))


@exists
def all_committed() -> bool:
    return all(rm.state == "committed" for rm in rms)


@exists
def all_aborted() -> bool:
    return all(rm.state == "aborted" for rm in rms)


@terminal
def decided() -> bool:
    return all(rm.state in ("committed", "aborted") for rm in rms)


config("three", RMS=3, expect=holds(distinct=288, generated=1146, depth=11))
config("five", RMS=5, expect=holds(distinct=8832, generated=58146, depth=17))
config("seven", RMS=7, expect=holds(distinct=296448, generated=2744706, depth=23))
