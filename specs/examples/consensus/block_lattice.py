"""Nano's first protocol: each account has a chain of blocks, and money goes from chain to chain.

Who sends writes a block, and who receives another one. A block refers to others by their hashes,
and is signed with the key of its account. There are so many hashes: after that nothing happens.
"""

from statewalk import (
    Constant,
    Record,
    Role,
    State,
    action,
    always,
    any_of,
    config,
    exists,
    holds,
    require,
)

NODES: Constant[int] = 2  # each has an account, of its number
COINS: Constant[int] = 3
HASHES: Constant[int] = 3


class Genesis(Record):
    account: int


class Send(Record):
    previous: int
    balance: int  # what is left
    to: int


class Open(Record):
    account: int
    source: int
    representative: int


class Receive(Record):
    previous: int
    source: int


class Change(Record):
    previous: int
    representative: int


Block = Genesis | Send | Open | Receive | Change


class Signed(Record):
    block: Block
    hash: int
    key: int  # of an account


class Hashes(State):
    """Each block gets the next number."""

    known: list[Block] = []

    def of(self, block: Block) -> int:
        if block not in self.known:
            self.known.append(block)
        return self.known.index(block)


class Node(Role):
    ledger: dict[int, Signed] = {}
    received: set[Signed] = set()

    @action
    def send(self, to: int = any_of(range(NODES)), balance: int = any_of(range(COINS + 1))) -> None:
        require(are_hashes_left())
        self.publish(Send(any_of(self.own_blocks()), balance, to))

    @action
    def open(self, representative: int = any_of(range(NODES))) -> None:
        require(are_hashes_left())
        self.publish(Open(self.index, any_of(list(self.ledger)), representative))

    @action
    def receive(self) -> None:
        require(are_hashes_left())
        self.publish(Receive(any_of(self.own_blocks()), any_of(list(self.ledger))))

    @action
    def change(self, representative: int = any_of(range(NODES))) -> None:
        require(are_hashes_left())
        self.publish(Change(any_of(self.own_blocks()), representative))

    def publish(self, block: Block) -> None:
        require(self.allows(block))
        signed = Signed(block, hashes.of(block), self.index)
        for node in nodes:
            node.received.add(signed)

    @action
    def confirm(self) -> None:
        """Take a block that was received into the ledger, where it is right and not yet used."""
        require(are_hashes_left())
        signed = any_of(self.received)
        block = signed.block
        require(self.allows(block) and not self.is_spent(block))
        account = block.account if isinstance(block, Open) else self.owner(previous_of(block))
        require(signed.key == account and signed.hash == hashes.of(block))
        self.received.remove(signed)
        self.ledger[signed.hash] = signed

    def own_blocks(self) -> list[int]:
        return [at for at in self.ledger if self.owner(at) == self.index]

    def allows(self, block: Block) -> bool:
        if isinstance(block, Open):
            return self.is_sent_to(block.source, block.account)
        if isinstance(block, Genesis) or block.previous not in self.ledger:
            return False
        if isinstance(block, Send):
            return block.balance <= self.balance(block.previous)
        if isinstance(block, Receive):
            return self.is_sent_to(block.source, self.owner(block.previous))
        return True

    def is_sent_to(self, at: int, account: int) -> bool:
        block = self.ledger[at].block if at in self.ledger else None
        return isinstance(block, Send) and block.to == account

    def is_spent(self, block: Block) -> bool:
        """Return whether its account is open, or what it takes was received."""
        blocks = [signed.block for signed in self.ledger.values()]
        if isinstance(block, Open):
            account = block.account
            return any(isinstance(b, Genesis | Open) and b.account == account for b in blocks)
        if isinstance(block, Receive):
            source = block.source
            return any(isinstance(b, Open | Receive) and b.source == source for b in blocks)
        return False

    def owner(self, at: int) -> int:
        block = self.ledger[at].block
        if isinstance(block, Genesis | Open):
            return block.account
        return self.owner(block.previous)

    def balance(self, at: int) -> int:
        block = self.ledger[at].block
        if isinstance(block, Genesis):
            return COINS
        if isinstance(block, Open):
            return self.amount(block.source)
        if isinstance(block, Send):
            return block.balance
        before = self.balance(block.previous)
        return before + self.amount(block.source) if isinstance(block, Receive) else before

    def amount(self, at: int) -> int:
        block = self.ledger[at].block
        assert isinstance(block, Send)
        return self.balance(block.previous) - block.balance


hashes = Hashes()
nodes = [Node() for _ in range(NODES)]


def previous_of(block: Block) -> int:
    assert isinstance(block, Send | Receive | Change)
    return block.previous


def are_hashes_left() -> bool:
    return len(hashes.known) < HASHES


@action
def begin(account: int = any_of(range(NODES))) -> None:
    """All coins belong to an account."""
    require(not hashes.known)
    block = Genesis(account)
    at = hashes.of(block)
    for node in nodes:
        node.ledger[at] = Signed(block, at, account)


@action
def rest() -> None:
    require(not are_hashes_left())


@always
def all_is_signed_by_its_owner() -> bool:
    return all(
        signed.hash == at and signed.key == node.owner(at)
        for node in nodes
        for at, signed in node.ledger.items()
    )


@exists
def money_was_sent() -> bool:
    return any(isinstance(s.block, Send) for node in nodes for s in node.ledger.values())


config("small", expect=holds(distinct=3003, generated=6083, depth=7))
config("medium", HASHES=4, expect=holds(distinct=530587, generated=1120079, depth=11))
