"""Clients ask a manager for sets of resources, get them in parts, and give them back.

The manager grants what is free; each step picks a set that is not empty.
"""

from itertools import combinations

from statewalk import Role, action, always, any_of, config, eventually, holds, leads_to, require

RESOURCES = ("r1", "r2")


def parts(whole: set[str] | frozenset[str]) -> list[frozenset[str]]:
    """The sets of some of a set's elements."""
    listed = sorted(whole)
    sizes = range(1, len(listed) + 1)
    return [frozenset(found) for size in sizes for found in combinations(listed, size)]


def free() -> set[str]:
    """Return what nobody holds."""
    return {r for r in RESOURCES if all(r not in c.held for c in clients)}


class Client(Role):
    """Waits for what it asked for, and holds what it got."""

    waiting: set[str] = set()
    held: set[str] = set()

    @action
    def ask(self, wanted: frozenset[str] = any_of(parts(set(RESOURCES)))) -> None:
        """Ask for some resources, with none held and none asked for."""
        require(not self.waiting and not self.held)
        self.waiting = set(wanted)

    @action(fair="strong")
    def get(self) -> None:
        """The manager grants some of what is free."""
        granted = any_of(parts({r for r in self.waiting if r in free()}))
        self.held |= granted
        self.waiting -= granted

    @action
    def give_back(self) -> None:
        """Give back some of what is held."""
        self.held -= any_of(parts(set(self.held)), fair="weak")


clients = [Client() for _ in range(3)]


@always
def one_holder() -> bool:
    """A resource is held by at most one client."""
    return all(sum(r in c.held for c in clients) <= 1 for r in RESOURCES)


@always
@eventually
def satisfied(client: Client) -> bool:
    """Again and again a client waits for nothing."""
    return not client.waiting


def wants(client: Client, r: str = any_of(RESOURCES)) -> bool:
    """A client waits for a resource."""
    return r in client.waiting


def has(client: Client, r: str = any_of(RESOURCES)) -> bool:
    """A client holds a resource."""
    return r in client.held


obtains = leads_to(wants, has)

config("three-clients", expect=holds(distinct=400, generated=1633, depth=6))
