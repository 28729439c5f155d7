"""Count what ordering costs: questions to an oracle, beside rounds of a fixpoint that asks nobody.

    python benchmarks/weaver.py [--transactions 2000] [--seed 1]

Transactions change two vertices each, drawn at random, and come to the gatekeepers in turn; every
few of them, all gatekeepers tell each other their clocks. Shards apply what they can after each, as
in `models/stores/weaving/parts.py`. A question is needless where the two have no vertex in common.
The same transactions, in batches of a hundred, go through `models/stores/resolution.py`: each
requires one of its vertices' edges, and removes or adds the other.
"""

from __future__ import annotations

import argparse
import random
from collections import deque
from dataclasses import dataclass, field

from statewalk.models.stores.resolution import Counts, Transaction, resolve, summed
from statewalk.models.stores.weaving.order import Stamp, covers, merged, precedes

BATCH = 100


@dataclass
class Store:
    """Gatekeepers and shards, and the questions that shards have asked."""

    gatekeepers: int
    shards: int
    works: list[tuple[int, int]]  # by transaction: its vertices
    clocks: list[list[int]] = field(init=False)
    stamps: list[Stamp] = field(default_factory=list)
    queues: list[list[deque[int]]] = field(init=False)
    decided: set[tuple[int, int]] = field(default_factory=set)
    needless: int = 0

    def __post_init__(self) -> None:
        self.clocks = [[0] * self.gatekeepers for _ in range(self.gatekeepers)]
        self.queues = [[deque() for _ in range(self.gatekeepers)] for _ in range(self.shards)]

    def submit(self) -> None:
        """Stamp the next transaction, and send it to its shards."""
        number = len(self.stamps)
        own = number % self.gatekeepers
        self.clocks[own][own] += 1
        self.stamps.append(tuple(self.clocks[own]))
        for shard in {vertex % self.shards for vertex in self.works[number]}:
            self.queues[shard][own].append(number)

    def announce(self) -> None:
        """All gatekeepers hear from all others."""
        known: Stamp = (0,) * self.gatekeepers
        for clock in self.clocks:
            known = merged(known, tuple(clock))
        self.clocks = [list(known) for _ in self.clocks]

    def before(self, a: int, b: int) -> bool:
        return precedes(self.stamps[a], self.stamps[b]) or (a, b) in self.decided

    def ask(self, a: int, b: int) -> None:
        """Order two that meet; whoever was submitted first is first, so that no circle arises."""
        if not self.before(a, b) and not self.before(b, a):
            self.decided.add((min(a, b), max(a, b)))
            self.needless += not set(self.works[a]) & set(self.works[b])

    def apply(self) -> None:
        """Let shards apply what nothing can be before; gatekeepers have sent empty ones to all."""
        for queues in self.queues:
            while (first := self.first(queues)) is not None:
                queues[first].popleft()

    def first(self, queues: list[deque[int]]) -> int | None:
        """The queue whose head is before all that may come."""
        heads = {own: queue[0] for own, queue in enumerate(queues) if queue}
        for own, head in heads.items():
            silent = [g for g in range(self.gatekeepers) if g not in heads and g != own]
            if all(covers(tuple(self.clocks[g]), self.stamps[head]) for g in silent):
                for other in heads.values():
                    if other != head:
                        self.ask(head, other)
                if all(other == head or self.before(head, other) for other in heads.values()):
                    return own
        return None


def questions(
    works: list[tuple[int, int]], gatekeepers: int, shards: int, every: int
) -> tuple[int, int]:
    """Return how many questions were asked, and how many of them were needless."""
    store = Store(gatekeepers, shards, works)
    for number in range(1, len(works) + 1):
        store.submit()
        if number % every == 0:
            store.announce()
        store.apply()
    store.announce()
    store.apply()
    assert not any(queue for queues in store.queues for queue in queues)
    return len(store.decided), store.needless


def rounds(works: list[tuple[int, int]], seed: int) -> list[int]:
    """Return how many rounds each batch takes that resolves the same transactions."""
    pick = random.Random(seed)
    collection: Counts = tuple(sorted(((v, v + 1), 1) for v in {v for w in works for v in w}))
    found = []
    for start in range(0, len(works), BATCH):
        batch = [
            Transaction(tid, ((a, a + 1),), (((b, b + 1), pick.choice((1, -1))),))
            for tid, (a, b) in enumerate(works[start : start + BATCH], 1)
        ]
        resolution = resolve(collection, batch, "ordered")
        found.append(resolution.rounds)
        collection = summed((*collection, *resolution.changes))
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--transactions", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    print("| vertices | gatekeepers | announced every | questions | needless | rounds a batch |")
    print("|---|---|---|---|---|---|")
    for vertices in (10_000, 100):
        pick = random.Random(asked.seed)
        span = range(vertices)
        works = [(pick.choice(span), pick.choice(span)) for _ in range(asked.transactions)]
        taken = rounds(works, asked.seed)
        for gatekeepers in (2, 4):
            for every in (1, 4, 16):
                found, needless = questions(works, gatekeepers, 4, every)
                print(
                    f"| {vertices:,} | {gatekeepers} | {every} | {found:,} | {needless:,} "
                    f"| {min(taken)}–{max(taken)} |"
                )


if __name__ == "__main__":
    main()
