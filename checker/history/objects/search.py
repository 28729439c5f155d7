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

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from statewalk.checker.history.errors import Undecided
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


_Child = tuple[int, int, int, int]  # done, used, state, operation
Group = tuple[Kind, tuple[tuple[int, int], ...]]
Rank = tuple[float, float]


@dataclass
class Timeline:
    """The ends of required operations in order, and what is open just before each.

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
    def of(cls, operations: Sequence[Bound]) -> Timeline:
        """Return the timeline of operations that are in the order of their begins."""
        last = {
            i: b.op.end for i, b in enumerate(operations) if b.required and b.op.end is not None
        }
        ends = sorted(last, key=lambda i: (last[i], i))
        rank = likely(operations, ends)
        bit = [0] * len(operations)
        line, free, used = cls(ends, bit, [], [], []), list[int](), 0
        open_: dict[int, None] = {}
        maybe: list[int] = []
        at = 0
        for end in ends:
            began: set[int] = set()
            while at < len(operations) and operations[at].op.begin <= last[end]:
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


def likely(operations: Sequence[Bound], ends: Sequence[int]) -> list[Rank]:
    """Return a guess at the order: a rank for each operation.

    An operation is about when it ends; but where its argument is in the answer of another one, as
    in that of a queue, a list or a string, the order there shows the order of the operations. What
    was over and is not in an answer was undone before the first that is.
    """
    rank: list[Rank] = [(float("inf"), 0.0)] * len(operations)
    values = [_last_argument(b) for b in operations]
    waiting = dict.fromkeys(i for i, value in enumerate(values) if value is not None)
    for position, guide in enumerate(ends):
        rank[guide] = min(rank[guide], (float(position), float("inf")))
        op, answer = operations[guide].op, operations[guide].kind.answer
        if type(answer) not in (str, int, list) or not answer:
            continue
        before = [i for i in waiting if operations[i].op.begin <= (op.end or 0)]
        seen = {i: at for i in before if (at := _position(answer, values[i])) >= 0}
        for i, at in seen.items():
            rank[i] = min(rank[i], (float(position), float(at)))
            del waiting[i]
        for i in set(before) - seen.keys():
            end = operations[i].op.end
            if end is not None and end < op.begin:
                fronts = [rank[j] for j in ends if _position(answer, values[j]) == 0]
                rank[i] = min(rank[i], (min(fronts, default=rank[i])[0], -1.0))
                del waiting[i]
    return rank


def _last_argument(bound: Bound) -> Any:
    arguments = bound.kind.action.arguments
    return arguments[-1][1] if arguments else None


def _position(answer: str | int | list[Any], value: Any) -> int:
    """Return where an argument is in an answer; -1 where it is not."""
    if isinstance(answer, str):
        return answer.find(value) if isinstance(value, str) and value else -1
    if isinstance(answer, list):
        return answer.index(value) if value in answer else -1
    return 0 if type(value) is int and value == answer else -1


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


class Search:
    """A depth-first search over configurations, which can be done in parts."""

    def __init__(self, operations: Sequence[Bound], object: Object) -> None:
        self.line = Timeline.of(operations)
        self.object = object
        self.configurations = 0
        self.idle = Idle(operations, object)
        self._begin()

    def _begin(self) -> None:
        self.known: dict[tuple[int, int, int], list[int]] = {}
        self.parents: list[int] = []
        self.did: list[tuple[tuple[int, int], ...]] = []
        self.states: list[int] = []
        self.furthest: tuple[int, list[tuple[int, int]]] = (-1, [])  # (ends past, [(id, done)])
        self.idle.states.clear()
        first: list[_Child] = [(0, 0, state, -1) for state in self.object.first]
        self._open: list[tuple[int, int, Iterator[_Child]]] = [(-1, 0, iter(first))]

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
            past, done, did = self._at_once(past, done, state, ((op, state),) if op >= 0 else ())
            if not self._is_new(past, done, used, state):
                continue
            self.idle.look(state)
            number = len(self.parents)
            self.configurations += 1
            self.parents.append(parent)
            self.did.append(did)
            self.states.append(state)
            if past == len(self.line.ends):
                return Outcome(self._order(number), self.configurations, past)
            if past >= self.furthest[0]:
                if past > self.furthest[0]:
                    self.furthest = (past, [])
                self.furthest[1].append((number, done))
            self._open.append((number, past, self._next(past, done, used, state)))
            if self.configurations % _LOOK == 0 and time.monotonic() > deadline:
                raise Undecided
            if self.configurations >= until:
                return None
        return self._failed()

    def _at_once(
        self, past: int, done: int, state: int, did: tuple[tuple[int, int], ...]
    ) -> tuple[int, int, tuple[tuple[int, int], ...]]:
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

    def _is_new(self, past: int, done: int, used: int, state: int) -> bool:
        """Remember a configuration; whether no other was there that is at least as good."""
        known = self.known.setdefault((past, done, state), [])
        if any(other & used == other for other in known):
            return False
        known.append(used)
        return True

    def _next(self, past: int, done: int, used: int, state: int) -> Iterator[_Child]:
        """Yield (done, used, state, operation) for each operation that can be next."""
        after = self.object.after
        for optional, kind, members in self.line.choices[past]:
            gone = used if optional else done
            bit, op = next(((bit, op) for bit, op in members if not gone & bit), (0, -1))
            for following in after(state, kind) if bit else ():
                if not optional:
                    yield done | bit, used, following, op
                elif following != state:
                    yield done, used | bit, following, op

    def _order(self, number: int) -> tuple[tuple[int, int], ...]:
        chain = []
        while number >= 0:
            chain.append(self.did[number])
            number = self.parents[number]
        return tuple(step for did in reversed(chain) for step in did)

    def _failed(self) -> Outcome:
        past, found = self.furthest
        first: dict[int, tuple[int, int]] = {}  # by state
        for number, done in found:
            if len(first) < HALTS:
                first.setdefault(self.states[number], (number, done))
        halts = []
        for number, done in first.values():
            groups = self.line.required[past]
            waiting = tuple(op for _, members in groups for bit, op in members if not done & bit)
            halts.append(Halt(self.states[number], self._order(number), waiting))
        return Outcome(None, self.configurations, past, self.line.ends[past], halts)
