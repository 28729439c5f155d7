"""Chain replication: the head takes writes, the tail acknowledges them, a master removes nodes.

Messages stay in the network. A node forwards what its successor has not been sent yet.
"""

from statewalk import (
    Constant,
    Message,
    Network,
    Role,
    action,
    always,
    any_of,
    deadlock,
    exists,
    on_message,
    pairs,
    require,
)

NODES: Constant[int] = 3
WRITES: Constant[int] = 2
deadlock(False)  # writes run out


class Update(Message):
    source: "Node"
    position: int
    value: int


class Ack(Message):
    source: "Node"
    upto: int


class Master(Role):
    chain: "list[Node]" = []

    @action
    def remove(self, node: "Node") -> None:
        require(node in self.chain and len(self.chain) > 1)
        self.chain = [n for n in self.chain if n is not node]


class Node(Role):
    log: list[int] = []
    stable: int = 0  # entries that the whole chain has

    def successor(self) -> "Node | None":
        later = master.chain[master.chain.index(self) + 1 :]
        return later[0] if later else None

    def acknowledge(self) -> None:
        before = master.chain[: master.chain.index(self)]
        if before:
            wire.send(before[-1], Ack(self, self.stable))

    @action
    def write(self, value: int = any_of(range(WRITES))) -> None:
        require(master.chain[0] is self and value not in self.log)
        self.log.append(value)

    @action
    def forward(self) -> None:
        require(self in master.chain)
        dest = self.successor()
        require(dest is not None)
        updates = [Update(self, i, value) for i, value in enumerate(self.log)]
        wire.send(dest, any_of([m for m in updates if m not in wire.to(dest)]))

    @on_message
    def receive_update(self, message: Update) -> None:
        require(self in master.chain and message.position == len(self.log))
        require(message.source in master.chain and message.source.successor() is self)
        self.log.append(message.value)

    @action
    def commit(self) -> None:
        require(master.chain[-1] is self and self.stable < len(self.log))
        self.stable = len(self.log)
        self.acknowledge()

    @action
    def receive_ack(self) -> None:
        require(self in master.chain)
        acks = [m for m in wire.to(self) if isinstance(m, Ack)]
        upto = max((m.upto for m in acks if self.successor() is m.source), default=0)
        require(upto > self.stable)
        self.stable = upto
        self.acknowledge()


class Wire(Network[Update | Ack, Node], kind="kept"): ...


wire = Wire()
nodes = [Node() for _ in range(NODES)]
master = Master(chain=nodes)


@always
def logs_shrink_along_the_chain() -> bool:
    """Check that a log is a prefix of those before it in the chain."""
    return all(a.log[: len(b.log)] == b.log for a, b in pairs(master.chain))


@always
def stable_entries_are_everywhere() -> bool:
    return all(
        node.log[: other.stable] == other.log[: other.stable]
        for node in master.chain
        for other in nodes
    )


@exists
def one_node_keeps_all() -> bool:
    return any(len(master.chain) == 1 and node.stable == WRITES for node in master.chain)
