"""An allocator of resources that grants them in an order of clients which it decides on.

Clients ask for sets of resources, get them in parts, and give them back. The allocator puts who
waits into a schedule, in any order, and grants a resource only to whom nobody before in the
schedule waits for it. So it has to give nobody another chance again and again: `allocator.py` does.
"""

from itertools import combinations, permutations

from statewalk import (
    Constant,
    Role,
    State,
    action,
    always,
    any_of,
    config,
    eventually,
    holds,
    leads_to,
    pairs,
    require,
)

CLIENTS: Constant[int] = 3
RESOURCES: Constant[int] = 2

ALL = frozenset(range(RESOURCES))


def parts(whole: set[int] | frozenset[int]) -> list[frozenset[int]]:
    """The sets of some of a set's elements."""
    listed = sorted(whole)
    sizes = range(1, len(listed) + 1)
    return [frozenset(found) for size in sizes for found in combinations(listed, size)]


class Client(Role):
    waiting: set[int] = set()
    held: set[int] = set()

    @action
    def ask(self, wanted: frozenset[int] = any_of(parts(ALL))) -> None:
        require(not self.waiting and not self.held)
        self.waiting = set(wanted)

    @action(fair="weak")
    def get(self) -> None:
        require(self in allocator.schedule)
        place = allocator.schedule.index(self)
        before = {r for client in allocator.schedule[:place] for r in client.waiting}
        granted = any_of(parts({r for r in self.waiting if r in free() and r not in before}))
        if granted == self.waiting:
            allocator.schedule.pop(place)
        self.held |= granted
        self.waiting -= granted

    @action
    def give_back_some(self, given: frozenset[int] = any_of(parts(ALL))) -> None:
        require(given <= self.held and (self.waiting or given != self.held))
        self.held -= given

    @action(fair="weak")
    def give_back_all(self) -> None:
        """A client that waits for nothing more gives its resources back in the end."""
        require(self.held and not self.waiting)
        self.held = set()


class Allocator(State):
    schedule: list[Client] = []

    @action(fair="weak")
    def extend(self) -> None:
        missing = [c for c in clients if c.waiting and c not in self.schedule]
        require(missing)
        self.schedule += any_of(list(permutations(missing)))


clients = [Client() for _ in range(CLIENTS)]
allocator = Allocator()


def free() -> set[int]:
    """Return what nobody holds."""
    return {r for r in ALL if all(r not in client.held for client in clients)}


@always
def one_holder() -> bool:
    return all(not a.held & b.held for a, b in pairs(clients))


@always
def who_is_scheduled_waits() -> bool:
    return all(client.waiting for client in allocator.schedule)


@always
@eventually
def satisfied(client: Client) -> bool:
    return not client.waiting


def got_all(client: Client) -> bool:
    return not client.waiting


def holds_none(client: Client) -> bool:
    return not client.held


returns = leads_to(got_all, holds_none)


def wants(client: Client, r: int = any_of(range(RESOURCES))) -> bool:
    return r in client.waiting


def has(client: Client, r: int = any_of(range(RESOURCES))) -> bool:
    return r in client.held


obtains = leads_to(wants, has)

config("three-clients", expect=holds(distinct=1690, generated=5854, depth=7))
