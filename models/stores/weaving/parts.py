"""The roles of the stamping store: gatekeepers, shards, the oracle, and programs under way.

Of announcements, and of what a gatekeeper sends when it has nothing to send, only the clocks in
them matter; so a gatekeeper hears of any stamp that another one has given, in any order, and a
shard keeps in mind what all that a gatekeeper is going to send is after.
"""

from typing import Literal

from statewalk import Constant, Role, State, action, any_of, require
from statewalk.models.stores.weaving.order import (
    Pairs,
    Stamp,
    covers,
    leads,
    merged,
    precedes,
    vector_order,
)
from statewalk.models.stores.weaving.workloads import STARTS, WORKS, Work, Workload

# -- constants -------------------------------------------------------------------------------------
WORKLOAD: Constant[Workload] = "both"
GATEKEEPERS: Constant[int] = 2
SHARDS: Constant[int] = 2
ORACLE: Constant[
    Literal[
        "acyclic",  # what it decides never contradicts what follows from the rest
        "pairwise",  # it remembers each pair by itself
        "none",  # each shard decides for itself
    ]
] = "acyclic"
HOPS: Constant[
    Literal[
        "stamped",  # a program sees what is before it, and waits for all of that
        "current",  # it sees what is there when it comes by
    ]
] = "stamped"
GRAIN: Constant[
    Literal[
        "shard",  # whatever meets at a shard is ordered
        "vertex",  # only what has a vertex in common
    ]
] = "shard"
NOPS: Constant[bool] = True
ACKS: Constant[
    Literal[
        "applied",  # a client is answered when all is done
        "heard",  # when every gatekeeper has heard of the stamp
        "at_once",  # when its transaction is stamped
        "none",  # never
    ]
] = "none"

ALL_WORKS = tuple(
    Work(w.name, w.gatekeeper % GATEKEEPERS, w.changes, w.root) for w in WORKS[WORKLOAD]
)
BY_NAME = {work.name: work for work in ALL_WORKS}
UPDATES = tuple(work.name for work in ALL_WORKS if work.root is None)
WALKS = tuple(work for work in ALL_WORKS if work.root is not None)
START = STARTS.get(WORKLOAD, ())
NOTHING: Stamp = (0,) * GATEKEEPERS

assert GATEKEEPERS >= 1 and SHARDS >= 1


def vertices_of(name: str) -> frozenset[int]:
    """The vertices that a transaction changes."""
    return frozenset(edge[0] for edge, _ in BY_NAME[name].changes)


def home(vertex: int) -> int:
    """The shard of a vertex."""
    return vertex % SHARDS


def homes(name: str) -> frozenset[int]:
    """The shards that a transaction touches."""
    return frozenset(home(vertex) for vertex in vertices_of(name))


def targets(vertex: int, updates: tuple[str, ...]) -> list[int]:
    """Return where edges lead from a vertex, after some updates."""
    counts = dict.fromkeys(START, 1)
    for name in updates:
        for edge, count in BY_NAME[name].changes:
            counts[edge] = counts.get(edge, 0) + count
    return sorted(to for (start, to), count in counts.items() if start == vertex and count > 0)


# -- the order of transactions ---------------------------------------------------------------------
class Oracle(State):
    decided: Pairs = frozenset()


class Clients(State):
    stamps: dict[str, Stamp] = {}
    answered: frozenset[str] = frozenset()
    earlier: dict[str, frozenset[str]] = {}  # which had been answered when one was submitted

    if ACKS != "none":

        @action(fair="weak")
        def answer(self, name: str = any_of(tuple(BY_NAME))) -> None:
            """Tell a client that its transaction is part of all that is to come."""
            require(name in self.stamps and name not in self.answered)
            require(BY_NAME[name].root is None or is_done(name))
            require(ACKS != "applied" or is_done(name))
            stamp = self.stamps[name]
            require(ACKS != "heard" or all(covers(g.clock, stamp) for g in gatekeepers))
            self.answered = self.answered | {name}


oracle = Oracle()
clients = Clients()


def before(a: str, b: str) -> bool:
    """Return whether a shard knows that one is before another."""
    return precedes(clients.stamps[a], clients.stamps[b]) or (a, b) in oracle.decided


def known_order() -> Pairs:
    """Return what stamps say, and what has been decided."""
    return vector_order(clients.stamps) | oracle.decided


def decide(known: Pairs, a: str, b: str) -> list[tuple[str, str]]:
    """The answers that an oracle may give on two transactions."""
    both = [(a, b), (b, a)]
    return both if ORACLE == "pairwise" else [(x, y) for x, y in both if not leads(known, y, x)]


class Gatekeeper(Role):
    clock: Stamp = NOTHING
    stamped: int = 0

    @action
    def stamp(self) -> None:
        """A client submits the next transaction; it goes to the shards that it touches."""
        mine = [w for w in ALL_WORKS if w.gatekeeper == self.index]
        require(self.stamped < len(mine))
        name = mine[self.stamped].name
        self.stamped += 1
        count = self.clock[self.index] + 1
        self.clock = (*self.clock[: self.index], count, *self.clock[self.index + 1 :])
        clients.stamps[name] = self.clock
        if ACKS != "none":
            clients.earlier[name] = clients.answered
        for shard in homes(name):
            shards[shard].queues[self.index].append(name)
            shards[shard].pass_by(self.index, self.clock)

    @action(fair="weak")
    def hear(self, name: str = any_of(tuple(BY_NAME))) -> None:
        """An announcement arrives, with the clock of another gatekeeper's transaction."""
        require(name in clients.stamps and not covers(self.clock, clients.stamps[name]))
        self.clock = merged(self.clock, clients.stamps[name])

    if NOPS:

        @action(fair="weak")
        def nop(self, shard: "Shard") -> None:
            """An empty transaction, for a shard where something waits for it."""
            require(GRAIN == "vertex" or not shard.queues[self.index])
            require(shard.pass_by(self.index, self.clock))


# -- shards ----------------------------------------------------------------------------------------
class Shard(Role):
    queues: list[list[str]] = [[] for _ in range(GATEKEEPERS)]
    passed: frozenset[tuple[int, str]] = frozenset()  # by gatekeeper: what its next is after
    applied: list[str] = []

    def waiting(self) -> list[str]:
        """Return what is not yet applied here, and the programs that want to look."""
        queued = [name for queue in self.queues for name in queue]
        return queued + [program.work for program in programs if program.is_at(self)]

    def pass_by(self, gatekeeper: int, clock: Stamp) -> bool:
        """Note what waits here that is before all that a gatekeeper is going to send."""
        news = {
            (gatekeeper, name)
            for name in self.waiting()
            if BY_NAME[name].gatekeeper != gatekeeper and covers(clock, clients.stamps[name])
        }
        known = self.passed
        self.passed = known | news
        return not news <= known

    def forget(self, name: str) -> None:
        self.passed = frozenset(pair for pair in self.passed if pair[1] != name)

    @action(fair="weak")
    def apply(self, gatekeeper: Gatekeeper) -> None:
        """Apply the head of a queue, if nothing that comes from others can be before it."""
        queue = self.queues[gatekeeper.index]
        require(queue)
        require(not self.waits(queue[0], vertices_of(queue[0]), gatekeeper.index))
        self.applied.append(queue.pop(0))
        self.forget(self.applied[-1])

    def waits(self, name: str, vertices: frozenset[int], own: int) -> bool:
        """Return whether something is before a transaction here, or may be."""
        return any(self.may_come(g, name, vertices) for g in range(GATEKEEPERS) if g != own)

    def may_come(self, gatekeeper: int, name: str, vertices: frozenset[int]) -> bool:
        """Return whether something of a gatekeeper is, or may be, before a transaction here."""
        queue = self.queues[gatekeeper]
        if GRAIN == "shard" and queue:
            return not before(name, queue[0]) and not (
                ORACLE == "none" and not before(queue[0], name)
            )
        ahead = any(not before(name, e) for e in queue if vertices_of(e) & vertices)
        return ahead or (gatekeeper, name) not in self.passed

    if ORACLE != "none":

        @action(fair="weak")
        def ask(self, a: str = any_of(tuple(BY_NAME)), b: str = any_of(tuple(BY_NAME))) -> None:
            """Let the oracle order two transactions that meet here."""
            require(a < b and a in clients.stamps and b in clients.stamps)
            require(self.meet(a, b) and not before(a, b) and not before(b, a))
            oracle.decided = oracle.decided | {any_of(decide(known_order(), a, b))}

    def meet(self, a: str, b: str) -> bool:
        """Return whether the order of two transactions is wanted here."""
        if BY_NAME[a].root is not None or BY_NAME[b].root is not None:
            return self.is_looked_at(a, b) or self.is_looked_at(b, a)
        if GRAIN == "shard":
            heads = [queue[0] for queue in self.queues if queue]
            return a in heads and b in heads
        queued = [name for queue in self.queues for name in queue]
        common = vertices_of(a) & vertices_of(b)
        return a in queued and b in queued and any(home(v) == self.index for v in common)

    def is_looked_at(self, walk: str, update: str) -> bool:
        """Return whether a program is here, and has to know whether it sees an update."""
        for program in programs:
            if program.work == walk and program.is_at(self) and HOPS == "stamped":
                vertex = program.next_vertex()
                if update in self.applied:
                    return vertex in vertices_of(update)
                if GRAIN == "shard":
                    return any(queue[:1] == [update] for queue in self.queues)
                queued = any(update in queue for queue in self.queues)
                return queued and vertex in vertices_of(update)
        return False


class Program(Role):
    work: str = ""
    trail: tuple[int, ...] = ()
    done: bool = False
    seen: frozenset[tuple[int, str]] = frozenset()  # updates, at the vertices where it saw them

    def next_vertex(self) -> int:
        root = BY_NAME[self.work].root
        return self.trail[-1] if self.trail else root if root is not None else 0

    def is_at(self, shard: Shard) -> bool:
        at = home(self.next_vertex()) == shard.index
        return self.work in clients.stamps and not self.done and at

    @action(fair="weak")
    def hop(self) -> None:
        """Look at a vertex, and follow the first of its edges."""
        vertex = self.next_vertex()
        shard = shards[home(vertex)]
        require(self.is_at(shard))
        here = [name for name in shard.applied if vertex in vertices_of(name)]
        if HOPS == "stamped":
            own = BY_NAME[self.work].gatekeeper
            require(not shard.waits(self.work, frozenset({vertex}), own))
            require(not any(before(e, self.work) for e in shard.queues[own]))
            require(all(before(t, self.work) or before(self.work, t) for t in here))
            here = [name for name in here if before(name, self.work)]
        self.seen = self.seen | {(vertex, name) for name in here}
        shard.forget(self.work)
        onward = targets(vertex, tuple(here))
        if not self.trail:
            self.trail = (vertex,)
        if onward and onward[0] not in self.trail:
            self.trail = (*self.trail, onward[0])
        else:
            self.done = True


gatekeepers = [Gatekeeper() for _ in range(GATEKEEPERS)]
shards = [Shard() for _ in range(SHARDS)]
programs = [Program(work=work.name) for work in WALKS]


def is_done(name: str) -> bool:
    """Return whether a transaction is applied wherever it has to be, or its program has ended."""
    if BY_NAME[name].root is not None:
        return any(program.done for program in programs if program.work == name)
    return all(name in shards[shard].applied for shard in homes(name))
