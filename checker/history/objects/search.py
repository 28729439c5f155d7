"""The search for a linearization: an order of operations within their intervals that gives their
answers.

Operations are linearized just in time (Lowe, "Testing for linearizability"): when an operation ends
that is not in the order yet, some of those that have begun go before it. A *configuration* is how
many ends are past, which open operations are done, and the state; each is expanded once.

Three observations keep configurations few, and lose no order:

- An operation that never changes the state is done at once where it is right. Which operations
  never do is learned: one that is then seen to change a state begins the search anew.
- Of open operations that do the same, the one that ends first goes first.
- An operation that may have happened is one that nobody needs: where a configuration fails, so
  does one that differs only in having used more of those.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from statewalk.checker.history.errors import Undecided
from statewalk.checker.history.objects.guess import likely
from statewalk.checker.history.objects.spec import Bound, Family, Kind, Object

MOST = 2_000_000  # configurations that are remembered: one or two gigabytes
HALTS = 100  # states in which orders end that are told of
_LOOK = 256


@dataclass(frozen=True)
class Halt:
    """A configuration from which nothing led on: the state, what is done, and in which order."""

    state: int
    order: tuple[tuple[int, int], ...]
    open: tuple[int, ...]


@dataclass
class Outcome:
    """The outcome of a search: an order of (operation, state after it), or None.

    ``past`` is how many ends were the most that any configuration has past; ``failed`` is the
    operation that ends next then, and ``halts`` are configurations that got so far,
    one of each state.
    """

    order: tuple[tuple[int, int], ...] | None
    configurations: int
    past: int = 0
    failed: int = -1
    halts: list[Halt] = field(default_factory=list)
    start: int = 0


Child = tuple[int, int, int, int]  # done, used, state, operation
Did = tuple[tuple[int, int], ...]  # operations, and the states after them
After = tuple[int, int, Did]  # how far it is, done, did
Group = tuple[Kind, tuple[tuple[int, int], ...]]


@dataclass
class Timeline:
    """The ends of required operations in order, and what is open just before each, and after all.

    ``required[e]`` are the open operations that will end, in groups of one kind with (bit,
    operation) of each, those that end first at the front; ``fresh[e]`` those of them that began
    since the last end. ``choices[e]`` are all that can be next, the likely ones at the front, with
    whether they are optional.
    """

    ends: list[int]
    bit: list[int]
    required: list[tuple[Group, ...]]
    fresh: list[tuple[Group, ...]]
    choices: list[tuple[tuple[bool, Kind, tuple[tuple[int, int], ...]], ...]]

    @classmethod
    def of(cls, operations: Sequence[Bound], object: Object) -> Timeline:
        """Return the timeline of operations that are in the order of their begins."""
        last = {
            i: b.op.end for i, b in enumerate(operations) if b.required and b.op.end is not None
        }
        ends = sorted(last, key=lambda i: (last[i], i))
        rank = likely(operations, object)
        bit = [0] * len(operations)
        line, free, used = cls(ends, bit, [], [], []), list[int](), 0
        open_: dict[int, None] = {}
        maybe: list[int] = []
        at = 0
        for end in (*ends, None):
            began: set[int] = set()
            until = math.inf if end is None else last[end]
            while at < len(operations) and operations[at].op.begin <= until:
                if operations[at].required:
                    bit[at] = free.pop() if free else 1 << used
                    used += bit[at] == 1 << used
                    began.add(at)
                else:
                    bit[at] = 1 << len(maybe)
                    maybe.append(at)
                at += 1
            open_.update(dict.fromkeys(sorted(began)))
            in_order = sorted(open_, key=lambda i: (last[i], i))
            required = _grouped(operations, bit, in_order)
            line.required.append(required)
            line.fresh.append(_grouped(operations, bit, [i for i in in_order if i in began]))
            both = [(False, *group) for group in required]
            both += [(True, *group) for group in _grouped(operations, bit, maybe)]
            line.choices.append(tuple(sorted(both, key=lambda choice: rank[choice[2][0][1]])))
            if end is not None:
                del open_[end]
                free.append(bit[end])
        return line


def _grouped(
    operations: Sequence[Bound], bit: Sequence[int], chosen: Sequence[int]
) -> tuple[Group, ...]:
    groups: dict[int, tuple[Kind, list[tuple[int, int]]]] = {}
    for i in chosen:
        kind = operations[i].kind
        groups.setdefault(kind.number, (kind, []))[1].append((bit[i], i))
    return tuple((kind, tuple(members)) for kind, members in groups.values())


class Idle:
    """The operations that never change a state, as far as is known.

    An operation is believed to be one until its family is seen to change a state. For that, each
    call of the families believed in is looked at in each state that the search meets.
    """

    def __init__(self, operations: Sequence[Bound], object: Object) -> None:
        self.object = object
        self.calls: dict[Family, dict[int, Kind]] = {}
        for b in operations:
            self.calls.setdefault(b.kind.family, {}).setdefault(b.kind.call, b.kind)
        self.believed: set[Family] = set()
        self.states: set[int] = set()

    def __call__(self, state: int, kind: Kind) -> bool:
        """Return whether an operation is right in a state, and changes none."""
        if kind.family in self.object.changing or self.object.after(state, kind) != (state,):
            return False
        if kind.family not in self.believed:
            self.believed.add(kind.family)
            for met in self.states:
                self._look(met, kind.family)
        return True

    def look(self, state: int) -> None:
        """Look at what is believed in a state."""
        if state not in self.states:
            self.states.add(state)
            for family in self.believed:
                self._look(state, family)

    def _look(self, state: int, family: Family) -> None:
        for kind in self.calls[family].values():
            self.object.done(state, kind)

    def refuted(self) -> bool:
        """Return whether a belief was wrong; then it is given up, and the search begins anew."""
        wrong = self.believed & self.object.changing
        self.believed -= wrong
        return bool(wrong)


class DepthFirst(ABC):
    """A depth-first search over configurations, which can be done in parts.

    A configuration is how far it is (``past``), which required operations are done and which
    optional ones are used (bits), and a state. ``whole`` is how far an order of all leads.
    """

    whole: int

    def __init__(self, operations: Sequence[Bound], object: Object) -> None:
        self.object = object
        self.configurations = 0
        self.idle = Idle(operations, object)
        self._begin()

    def _begin(self) -> None:
        self.known: dict[tuple[int, int, int], list[int]] = {}
        self.parents: list[int] = []
        self.did: list[Did] = []
        # how far the furthest are, and these: (id, done, used, state)
        self.furthest: tuple[int, list[tuple[int, int, int, int]]] = (-1, [])
        self.idle.states.clear()
        first: list[Child] = [(0, 0, state, -1) for state in self.object.first]
        self._open: list[tuple[int, int, Iterator[Child]]] = [(-1, 0, iter(first))]

    @abstractmethod
    def _at_once(self, past: int, done: int, used: int, state: int, did: Did) -> After:
        """Do what changes nothing; return how far that leads, what is done, and the steps."""

    @abstractmethod
    def _next(self, past: int, done: int, used: int, state: int) -> Iterator[Child]:
        """Yield (done, used, state, operation) for each operation that can be next."""

    @abstractmethod
    def _waiting(self, past: int, done: int, used: int) -> tuple[int, ...]:
        """Return the operations of which none leads on from a configuration."""

    def _ends_next(self, past: int) -> int:
        """Return the operation that ends next; -1 where times say nothing."""
        return -1

    def run(self, deadline: float, budget: int = MOST) -> Outcome | None:
        """Return what was found, or None when ``budget`` configurations were looked at.

        Raises:  Undecided
        """
        until = self.configurations + budget
        while self._open:
            parent, past, children = self._open[-1]
            child = next(children, None)
            if self.idle.refuted():
                self._begin()
                continue
            if child is None:
                self._open.pop()
                continue
            done, used, state, op = child
            did: Did = ((op, state),) if op >= 0 else ()
            past, done, did = self._at_once(past, done, used, state, did)
            if not self._is_new(past, done, used, state):
                continue
            self.idle.look(state)
            number = len(self.parents)
            self.configurations += 1
            self.parents.append(parent)
            self.did.append(did)
            if past == self.whole:
                return Outcome(self._order(number), self.configurations, past)
            if past >= self.furthest[0]:
                if past > self.furthest[0]:
                    self.furthest = (past, [])
                self.furthest[1].append((number, done, used, state))
            self._open.append((number, past, self._next(past, done, used, state)))
            if self.configurations % _LOOK == 0 and time.monotonic() > deadline:
                raise Undecided
            if self.configurations >= until:
                return None
        return self._failed()

    def _is_new(self, past: int, done: int, used: int, state: int) -> bool:
        """Remember a configuration; whether no other was there that is at least as good."""
        known = self.known.setdefault((past, done, state), [])
        if any(other & used == other for other in known):
            return False
        known.append(used)
        return True

    def _order(self, number: int) -> Did:
        chain = []
        while number >= 0:
            chain.append(self.did[number])
            number = self.parents[number]
        return tuple(step for did in reversed(chain) for step in did)

    def _failed(self) -> Outcome:
        past, found = self.furthest
        first: dict[int, tuple[int, int, int]] = {}  # by state
        for number, done, used, state in found:
            if len(first) < HALTS:
                first.setdefault(state, (number, done, used))
        halts = [
            Halt(state, self._order(number), self._waiting(past, done, used))
            for state, (number, done, used) in first.items()
        ]
        return Outcome(None, self.configurations, past, self._ends_next(past), halts)


class Search(DepthFirst):
    """The search for a linearization; ``past`` is how many ends are past."""

    def __init__(self, operations: Sequence[Bound], object: Object) -> None:
        self.line = Timeline.of(operations, object)
        self.whole = len(self.line.ends)
        super().__init__(operations, object)

    def _at_once(self, past: int, done: int, used: int, state: int, did: Did) -> After:
        """Do what changes nothing, and go past the ends of what is done."""
        line, idle = self.line, self.idle
        if past == len(line.ends):
            return past, done, did
        more: list[tuple[int, int]] = []
        groups = line.required[past]
        while True:
            for kind, members in groups:
                if idle(state, kind):
                    for bit, op in members:
                        if not done & bit:
                            done |= bit
                            more.append((op, state))
            groups = ()
            while past < len(line.ends) and done & line.bit[line.ends[past]]:
                done ^= line.bit[line.ends[past]]
                past += 1
                groups = line.fresh[past] if past < len(line.ends) else ()
                if groups:
                    break
            if not groups:
                return past, done, (*did, *more)

    def _next(self, past: int, done: int, used: int, state: int) -> Iterator[Child]:
        after = self.object.after
        for optional, kind, members in self.line.choices[past]:
            gone = used if optional else done
            bit, op = next(((bit, op) for bit, op in members if not gone & bit), (0, -1))
            for following in after(state, kind) if bit else ():
                if not optional:
                    yield done | bit, used, following, op
                elif following != state:
                    yield done, used | bit, following, op

    def _waiting(self, past: int, done: int, used: int) -> tuple[int, ...]:
        groups = self.line.required[past]
        return tuple(op for _, members in groups for bit, op in members if not done & bit)

    def _ends_next(self, past: int) -> int:
        return self.line.ends[past]


class Exploration(Search):
    """A search through all orders, and through what may come after the last end: so everything is
    learned that operations do in the states to which they can lead.
    """

    def __init__(self, operations: Sequence[Bound], object: Object) -> None:
        super().__init__(operations, object)
        self.whole = -1

    def _ends_next(self, past: int) -> int:
        return -1
