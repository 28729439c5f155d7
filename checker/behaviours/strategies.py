"""Strategies of random walks: which of the possible steps is taken next.

A *thread* is what acts: a role instance, or an action that belongs to none. All draw from the
random numbers of the walk, so equal seeds give equal walks. `Coverage` also looks at earlier walks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args

from statewalk.dsl.values.stored import intern_key, same_state

if TYPE_CHECKING:
    from statewalk.checker.contract.search import Step
    from statewalk.dsl.model import Action

Name = Literal["uniform", "pct", "pos", "coverage"]
NAMES: tuple[Name, ...] = get_args(Name)
BUG_DEPTH = 3
_WORD = 1 << 32


class Chance(Protocol):
    """Random numbers, see `random_walk.Chance`."""

    def below(self, n: int) -> int: ...


class Move(Protocol):
    """A possible step, and what it writes."""

    @property
    def step(self) -> Step: ...
    @property
    def writes(self) -> Mapping[Any, Any]: ...


class Strategy(Protocol):
    """A way to choose among moves."""

    def begin(self, chance: Chance, length: int) -> None:
        """Begin a walk; walks are expected to be of this length."""

    def pick(self, moves: Sequence[Move], chance: Chance) -> int:
        """Return the place of the next step among the possible ones, of which there is one."""
        ...


class Uniform:
    """Every possible step has the same chance."""

    def begin(self, chance: Chance, length: int) -> None:
        """Keep nothing."""

    def pick(self, moves: Sequence[Move], chance: Chance) -> int:
        """Return the place of a step."""
        return chance.below(len(moves))


@dataclass
class Pct:
    """The thread of highest priority takes a step, at random among its own.

    Priorities are random. At ``depth`` - 1 random moments the thread that would be next falls below
    all others. A bug that needs ``depth`` steps in a certain order is met with a probability of at
    least 1 / (n * k ** (depth - 1)), for n threads and k steps.

    Source: Burckhardt et al., "A randomized scheduler with probabilistic guarantees of finding
            bugs", ASPLOS 2010
    """

    actions: Sequence[Action]
    depth: int = BUG_DEPTH
    _priority: dict[object, int] = field(default_factory=dict)
    _falls: Counter[int] = field(default_factory=Counter)
    _taken: int = 0
    _lowest: int = 0

    def begin(self, chance: Chance, length: int) -> None:
        """Draw the moments."""
        self._priority.clear()
        self._falls = Counter(chance.below(length) for _ in range(self.depth - 1))
        self._taken = self._lowest = 0

    def pick(self, moves: Sequence[Move], chance: Chance) -> int:
        """Return the place of a step."""
        threads = [self._thread(move) for move in moves]
        for thread in threads:
            if thread not in self._priority:
                self._priority[thread] = chance.below(_WORD)
        for _ in range(self._falls[self._taken]):
            self._lowest -= 1
            self._priority[max(threads, key=self._priority.__getitem__)] = self._lowest
        self._taken += 1
        first = max(threads, key=self._priority.__getitem__)
        own = [at for at, thread in enumerate(threads) if thread == first]
        return own[chance.below(len(own))]

    def _thread(self, move: Move) -> object:
        action = self.actions[move.step.action]
        return action.index if action.actor is None else repr(action.actor)


@dataclass
class Pos:
    """The step of highest priority is taken; those that conflict with it draw new priorities.

    A possible step keeps its priority while it writes the same, and nothing that was written since.

    Source: Yuan, Yang and Gu, "Partial order aware concurrency sampling", CAV 2018
    """

    _known: dict[Step, tuple[Mapping[Any, Any], int]] = field(default_factory=dict)

    def begin(self, chance: Chance, length: int) -> None:
        """Forget all priorities."""
        self._known.clear()

    def pick(self, moves: Sequence[Move], chance: Chance) -> int:
        """Return the place of a step."""
        known = {}
        for move in moves:
            before = self._known.get(move.step)
            keeps = before is not None and same_state(before[0], move.writes)
            known[move.step] = before if before and keeps else (move.writes, chance.below(_WORD))
        place = max(range(len(moves)), key=lambda at: known[moves[at].step][1])
        written = known.pop(moves[place].step)[0].keys()
        self._known = {s: k for s, k in known.items() if not written & k[0].keys()}
        return place


@dataclass
class Coverage:
    """The step that was taken least often, by action and by what it writes, in all walks so far."""

    _taken: Counter[object] = field(default_factory=Counter)

    def begin(self, chance: Chance, length: int) -> None:
        """Keep the counts."""

    def pick(self, moves: Sequence[Move], chance: Chance) -> int:
        """Return the place of a step."""
        keys = [
            (move.step.action, tuple((w, intern_key(v)) for w, v in move.writes.items()))
            for move in moves
        ]
        least = min(self._taken[key] for key in keys)
        places = [at for at, key in enumerate(keys) if self._taken[key] == least]
        place = places[chance.below(len(places))]
        self._taken[keys[place]] += 1
        return place


def strategy_of(name: Name, actions: Sequence[Action], depth: int = BUG_DEPTH) -> Strategy:
    """Return the strategy of that name."""
    match name:
        case "pct":
            return Pct(actions, depth)
        case "pos":
            return Pos()
        case "coverage":
            return Coverage()
        case _:
            return Uniform()
