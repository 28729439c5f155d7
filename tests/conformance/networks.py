"""Small networks by brute force in plain Python, without statewalk, and the same as specs.

Clients put numbers, and perhaps stop, servers keep them and perhaps acknowledge. How messages
travel and what goes wrong on the way is generated.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

Fault = bool | int
State = tuple[Any, ...]


@dataclass(frozen=True)
class Case:
    """A network, its faults, and who uses it for what."""

    kind: str
    loss: Fault
    duplicates: Fault
    reorder: Fault
    partitions: Fault
    clients: int
    servers: int
    puts: int
    stops: bool
    replies: bool
    everyone: bool  # a put goes to all servers
    rule: str
    newer: bool  # a client takes only newer acknowledgements
    explicit: bool  # a server receives in an action of its own


def small(seed: int) -> tuple[Case, Counts]:
    """Return a case and its counts, the first of some that has few enough states."""
    draw = random.Random(seed)
    while True:
        case = generated(draw)
        found = explored(case)
        if found is not None:
            return case, found


def generated(draw: random.Random) -> Case:
    """Return a case; what would have no end is left out."""
    kind = draw.choice(["bag", "set", "queue", "fifo", "kept"])
    faults: list[Fault] = [False, False, True, 1, 2]
    replies = draw.random() < 0.7
    finite = kind in ("set", "kept") or not replies
    return Case(
        kind,
        draw.choice(faults) if kind != "kept" else False,
        draw.choice(faults if finite else [False, 1, 2]) if kind != "kept" else False,
        draw.choice(faults) if kind in ("queue", "fifo") else False,
        draw.choice(faults),
        draw.choice([1, 1, 2]),
        draw.choice([1, 2]),
        draw.choice([1, 2]),
        draw.random() < 0.4,
        replies,
        draw.random() < 0.5,
        draw.choice(["max", "set", "add"]),
        draw.random() < 0.5,
        draw.random() < 0.3,
    )


# -- the spec --------------------------------------------------------------------------------------
def spec(case: Case) -> str:
    """Return the spec of a case."""
    rule = {"max": "max(self.value, n)", "set": "n", "add": "(self.value + n) % 3"}[case.rule]
    stop = """
    @action
    def halt(self, to: "Server") -> None:
        require(self.sent == PUTS and not self.stopped)
        self.stopped = True
        wire.send(to, Stop(self))
"""
    put = """
    @action
    def put(self) -> None:
        require(self.sent < PUTS)
        self.sent += 1
        wire.broadcast(servers, Put(self, self.sent))
"""
    if not case.everyone:
        put = put.replace("(self)", '(self, to: "Server")').replace("broadcast(servers", "send(to")
    handlers = """
    @on_message
    def put(self, put: Put) -> None:
        self.store(put.source, put.n)
"""
    stopped = """
    @on_message
    def stop(self, stop: Stop) -> None:
        self.open = False
"""
    ack = f"""
    @on_message
    def ack(self, ack: Ack) -> None:
        {"require(ack.n > self.acked)" if case.newer else "pass"}
        self.acked = ack.n
"""
    explicit = """
    @action
    def serve(self) -> None:
        message = wire.receive(self)
        if isinstance(message, Put):
            self.store(message.source, message.n)
        else:
            self.open = False
"""
    return f"""from statewalk import Constant, Message, Network, Role, action, always, deadlock
from statewalk import on_message, require

LOSS: Constant[bool | int] = {case.loss}
PUTS: Constant[int] = {case.puts}
deadlock(False)


class Put(Message):
    source: "Client"
    n: int


class Stop(Message):
    source: "Client"


class Ack(Message):
    source: "Server"
    n: int


class Client(Role, symmetric=True):
    sent: int = 0
    acked: int = 0
    stopped: bool = False
{put}{stop if case.stops else ""}
{ack if case.replies else ""}

class Server(Role, symmetric=True):
    value: int = 0
    open: bool = True
{explicit if case.explicit else handlers + (stopped if case.stops else "")}
    def store(self, source: Client, n: int) -> None:
        require(self.open)
        self.value = {rule}
        {"wire.send(source, Ack(self, self.value))" if case.replies else "pass"}


class Wire(
    Network[Put | Stop | Ack, Client | Server],
    kind="{case.kind}",
    loss={"LOSS" if case.kind != "kept" else False},
    duplicates={case.duplicates},
    reorder={case.reorder},
    partitions={case.partitions},
): ...


wire = Wire()
servers = [Server() for _ in range({case.servers})]
clients = [Client() for _ in range({case.clients})]


@always
def no_client_knows_the_last() -> bool:
    return all(client.acked < {case.puts} for client in clients)


@always
def no_server_has_the_last() -> bool:
    return all(server.value < {case.puts} for server in servers)
"""


# -- the same by hand ------------------------------------------------------------------------------
@dataclass
class World:
    """A state that is being changed: lists throughout; `frozen` is the state."""

    clients: list[list[Any]]
    servers: list[list[Any]]
    transit: dict[tuple[str, int], list[tuple[Any, ...]]]  # to whom; with the sender in front
    left: dict[str, int]
    sides: tuple[Any, ...]

    def frozen(self, kind: str) -> State:
        lines = []
        for to, found in sorted(self.transit.items()):
            if kind == "fifo":  # the order between senders does not matter
                held: Any = tuple(sorted(found, key=lambda m: m[1]))
            elif kind == "queue":
                held = tuple(found)
            else:
                held = tuple(sorted(found))
            lines.append((to, held))
        people = tuple(map(tuple, self.clients)), tuple(map(tuple, self.servers))
        return (*people, tuple(lines), tuple(sorted(self.left.items())), self.sides)


def thawed(state: State) -> World:
    clients, servers, lines, left, sides = state
    transit = {to: list(held) for to, held in lines}
    return World(list(map(list, clients)), list(map(list, servers)), transit, dict(left), sides)


FAULTS = ("loss", "duplicates", "reorder", "partitions")


def initial(case: Case) -> State:
    people = [("c", i) for i in range(case.clients)] + [("s", i) for i in range(case.servers)]
    left = {f: getattr(case, f) for f in FAULTS if getattr(case, f) not in (False, True, 0)}
    left |= {f: 1 for f in FAULTS if getattr(case, f) == 1 and getattr(case, f) is not True}
    clients = [[0, 0, False] for _ in range(case.clients)]
    servers = [[0, True] for _ in range(case.servers)]
    return World(clients, servers, {p: [] for p in people}, left, ()).frozen(case.kind)


def send(case: Case, world: World, to: tuple[str, int], message: tuple[Any, ...]) -> None:
    if case.kind in ("set", "kept") and message in world.transit[to]:
        return
    world.transit[to].append(message)


def may(case: Case, world: World, fault: str) -> bool:
    given = getattr(case, fault)
    return given is True or (bool(given) and world.left[fault] > 0)


def spend(case: Case, world: World, fault: str) -> None:
    if getattr(case, fault) is not True:
        world.left[fault] -= 1


def connected(world: World, one: tuple[str, int], other: tuple[str, int]) -> bool:
    return not world.sides or any(one in side and other in side for side in world.sides)


def receivable(case: Case, world: World, to: tuple[str, int]) -> list[tuple[Any, ...]]:
    """Return the messages that may be received, each once. A message is (kind, sender, ...)."""
    held = world.transit[to]
    if case.kind == "queue":
        held = held[:1]
    elif case.kind == "fifo":
        held = [next(m for m in held if m[1] == source) for source in {m[1] for m in held}]
    return [m for m in dict.fromkeys(held) if connected(world, m[1], to)]


def handle(case: Case, world: World, to: tuple[str, int], message: tuple[Any, ...]) -> bool:
    """Let somebody react; return whether they may."""
    if to[0] == "c":
        mine = world.clients[to[1]]
        if case.newer and message[2] <= mine[1]:
            return False
        mine[1] = message[2]
        return True
    own = world.servers[to[1]]
    if message[0] == "stop":
        own[1] = False
        return True
    if not own[1]:
        return False
    n = message[2]
    own[0] = {"max": max(own[0], n), "set": n, "add": (own[0] + n) % 3}[case.rule]
    if case.replies:
        send(case, world, message[1], ("ack", to, own[0]))
    return True


def steps(case: Case, state: State) -> Iterator[State]:
    """Yield each successor as often as there are steps to it."""
    now = thawed(state)
    everyone = list(now.transit)
    yield from _puts(case, state)
    for to in everyone:
        for message in receivable(case, now, to):
            for stays in (False, True):
                world = thawed(state)
                if stays and not may(case, world, "duplicates"):
                    continue
                if stays:
                    spend(case, world, "duplicates")
                elif case.kind != "kept":
                    world.transit[to].remove(message)
                if handle(case, world, to, message):
                    yield world.frozen(case.kind)
        yield from _line_faults(case, state, to)
    if now.sides:
        now.sides = ()
        yield now.frozen(case.kind)
    elif may(case, now, "partitions"):
        found = set()
        for size in range(1, len(everyone)):
            for side in combinations(everyone, size):
                rest = tuple(p for p in everyone if p not in side)
                found.add(tuple(sorted([side, rest])))
        for sides in found:
            world = thawed(state)
            spend(case, world, "partitions")
            world.sides = sides
            yield world.frozen(case.kind)


def _puts(case: Case, state: State) -> Iterator[State]:
    servers = [("s", i) for i in range(case.servers)]
    for i in range(case.clients):
        me = ("c", i)
        for to in [servers] if case.everyone else [[server] for server in servers]:
            world = thawed(state)
            if world.clients[i][0] < case.puts:
                world.clients[i][0] += 1
                for one in to:
                    send(case, world, one, ("put", me, world.clients[i][0]))
                yield world.frozen(case.kind)
        for to_one in servers if case.stops else []:
            world = thawed(state)
            if world.clients[i][0] == case.puts and not world.clients[i][2]:
                world.clients[i][2] = True
                send(case, world, to_one, ("stop", me))
                yield world.frozen(case.kind)


def _line_faults(case: Case, state: State, to: tuple[str, int]) -> Iterator[State]:
    """Yield what losing and reordering what is in transit to somebody leads to."""
    held = thawed(state).transit[to]
    ordered = case.kind in ("queue", "fifo")
    if may(case, thawed(state), "loss"):
        places = range(len(held)) if ordered else [held.index(m) for m in dict.fromkeys(held)]
        for at in places:
            world = thawed(state)
            spend(case, world, "loss")
            del world.transit[to][at]
            yield world.frozen(case.kind)
    if may(case, thawed(state), "reorder"):
        for one, two in combinations(range(len(held)), 2):
            if case.kind == "queue" and two != one + 1:
                continue
            if case.kind == "fifo":
                mine = [i for i, m in enumerate(held) if m[1] == held[one][1]]
                if held[two][1] != held[one][1] or mine.index(two) != mine.index(one) + 1:
                    continue
            if held[one] == held[two]:
                continue
            world = thawed(state)
            spend(case, world, "reorder")
            found = world.transit[to]
            found[one], found[two] = found[two], found[one]
            yield world.frozen(case.kind)


@dataclass(frozen=True)
class Counts:
    """The result of a search, with the steps to the first state that breaks each property."""

    distinct: int
    generated: int
    depth: int
    broken: dict[str, int]


def explored(case: Case, most: int = 1_000) -> Counts | None:
    """Search all states, if there are not too many."""
    start = initial(case)
    seen, level, generated_, depth = {start}, [start], 1, 0
    broken: dict[str, int] = {}
    while level:
        for clients, servers, *_ in level:
            if any(c[1] >= case.puts for c in clients):
                broken.setdefault("no_client_knows_the_last", depth)
            if any(s[0] >= case.puts for s in servers):
                broken.setdefault("no_server_has_the_last", depth)
        depth += 1
        following = []
        for state in level:
            for found in steps(case, state):
                generated_ += 1
                if found not in seen:
                    seen.add(found)
                    following.append(found)
        if len(seen) > most:
            return None
        level = following
    return Counts(len(seen), generated_, depth, broken)


# -- specs of their own ----------------------------------------------------------------------------
def _search(start: State, following: Callable[[State], Iterator[State]]) -> tuple[int, int, int]:
    seen, level, found, depth = {start}, [start], 1, 0
    while level:
        depth += 1
        later = []
        for state in level:
            for after in following(state):
                found += 1
                if after not in seen:
                    seen.add(after)
                    later.append(after)
        level = later
    return len(seen), found, depth


def dead_letters() -> tuple[int, int, int]:
    """Two sessions, one after the other, and two letters: specs/toys/dead_letters.py."""

    def following(state: State) -> Iterator[State]:
        there, total, letters, opened, written = state
        if not there and opened < 2:
            yield True, 0, (), opened + 1, written
        if there and written < 2:
            yield True, total, (*letters, written + 1), opened, written + 1
        if there:
            yield False, 0, (), opened, written
            for letter in letters:
                left = tuple(x for x in letters if x != letter)
                yield True, total + letter, left, opened, written

    return _search((False, 0, (), 0, 0), following)


def leases(skew: int, margin: int) -> tuple[int, int, int]:
    """Two clients and a server with clocks: specs/toys/leases.py."""

    def following(state: State) -> Iterator[State]:
        clocks, held, transit, free = state
        if skew == 0 and max(clocks) < 5:
            yield tuple(c + 1 for c in clocks), held, transit, free
        for who in range(3) if skew else ():
            if clocks[who] < 5 and all(clocks[who] < c + skew for c in clocks):
                yield _with(clocks, who, clocks[who] + 1), held, transit, free
        for who in range(2):
            if clocks[2] >= free:
                until = clocks[2] + 2
                sent = tuple(sorted({*transit[who], until}))
                yield clocks, held, _with(transit, who, sent), until + margin
            for grant in transit[who]:
                left = _with(transit, who, tuple(x for x in transit[who] if x != grant))
                yield clocks, _with(held, who, grant), left, free
                yield clocks, held, left, free

    return _search(((0, 0, 0), (0, 0), ((), ()), 0), following)


def _with(values: tuple[Any, ...], at: int, value: Any) -> tuple[Any, ...]:
    return (*values[:at], value, *values[at + 1 :])
