"""Fields of each kind of value that the state holds."""

from enum import Enum

from statewalk import Bag, Record, Role, action, require


class Colour(Enum):
    RED = 1
    BLUE = 2


class Vote(Record):
    term: int
    who: str


class Ack(Record):
    term: int
    ok: bool


class Empty(Record):
    pass


class Node(Role):
    log: list[int] = []
    seen: set[int] = set()
    bag: Bag[int] = Bag()
    votes: list[Vote] = []
    sent: set[Vote | Ack] = set()
    pair: tuple[int, str] = (0, "")
    odd: tuple[int, int | str] = (0, 0)
    point: tuple[int, int] = (0, 0)
    at: dict[tuple[int, int], int] = {}
    by: dict[str, list[int]] = {}
    nested: dict[str, dict[str, set[int]]] = {}
    unnamed: dict[str | None, int] = {}
    mixed: list[int | str] = []
    union: int | str = 0
    flags: int | bool = 0
    kinds: list[int] | tuple[int, ...] = []
    large: int = 0
    peer: "Node | None" = None
    colour: Colour = Colour.RED
    empty: Empty | None = None

    @action
    def numbers(self) -> None:
        require(len(self.log) < 2)
        self.log.append(7 - len(self.log))
        self.seen.add(2 - len(self.log))
        self.votes.append(Vote(term=1, who="x"))
        self.sent.add(Vote(term=2, who="y"))
        self.pair = (1, "one")
        self.odd = (1, "1")
        self.point = (3, 4)
        self.at[(1, 2)] = 3
        self.by["k"] = [1, 2]
        self.mixed.append(1)
        self.flags = True

    @action
    def strings(self) -> None:
        require(self.union == 0)
        self.sent.add(Ack(term=3, ok=True))
        self.mixed.append("1")
        self.union = "0"
        self.kinds = (1,)
        self.large = 1 << 64
        self.peer = self
        self.bag.add(1)
        self.bag.add(1)
        self.nested["a"] = {"b": {3, 1}}
        self.unnamed[None] = 1
        self.empty = Empty()
        self.colour = Colour.BLUE


node = Node()
