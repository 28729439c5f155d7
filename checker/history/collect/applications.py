"""Applications as workloads: transactions over rows of tables that are keys.

Key-value forms of TPC-C, RUBiS and a small Twitter, as Cobra (OSDI 2020), PolySI (PVLDB 2023) and
Viper (EuroSys 2023) describe them: the same kinds of transaction, over rows of our own. Keys do not
depend on what was read, so an order may be looked up that nobody made: that reads nothing.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate

Steps = list[tuple[str, *tuple[int, ...]]]


@dataclass(frozen=True, slots=True)
class Application:
    """Tables with their sizes, and kinds of transaction with how often each comes.

    A size is a number of rows, or that many times the keys asked for when it begins with "x". Rows
    are there at the beginning, but not those of `made`. A kind is what it does: "r", "w" or "rw"
    and a table, perhaps "xN" rows of it. Large `skew` makes the first rows of tables popular.
    """

    text: str
    sizes: Mapping[str, str]
    made: frozenset[str]
    kinds: tuple[tuple[int, str], ...]
    skew: float = 1.0

    def plan(self, rng: random.Random, keys: int) -> Steps:
        """Return one transaction; a row that it meets twice under one name is the same."""
        begins = self._begins(keys)
        (_, kind) = rng.choices(self.kinds, [often for often, _ in self.kinds])[0]
        chosen = dict[str, int]()
        steps: Steps = []
        for part in kind.split(", "):
            word, table, *times = part.split()
            first, size = begins[table]
            for _ in range(int(times[0][1:]) if times else 1):
                row = first + int(size * rng.random() ** self.skew)
                row = row if times else chosen.setdefault(table, row)
                reading: Steps = [("r", row)] if "r" in word else []
                pause: Steps = [("pause",)] if word == "rw" else []
                steps += [*reading, *pause, *([("w", row)] if "w" in word else [])]
        return steps

    def initial(self, keys: int) -> Iterator[int]:
        """Yield the keys that are there at the beginning."""
        for table, (first, size) in self._begins(keys).items():
            if table not in self.made:
                yield from range(first, first + size)

    def _begins(self, keys: int) -> dict[str, tuple[int, int]]:
        """Return the first key and the number of rows of each table."""
        counts = [int(s[1:]) * keys if s[0] == "x" else int(s) for s in self.sizes.values()]
        firsts = accumulate(counts, initial=0)
        return dict(zip(self.sizes, zip(firsts, counts, strict=False), strict=True))


APPLICATIONS = {
    "c-tpcc": Application(
        "TPC-C: orders, payments, deliveries of a wholesaler with one warehouse",
        {"warehouse": "1", "district": "10", "customer": "x3", "item": "x2", "stock": "x2",
         "order": "x10", "due": "x10", "payment": "x100"},
        frozenset({"order", "due", "payment"}),
        (
            (45, "r warehouse, rw district, r customer, r item x5, rw stock x5, w order, w due"),
            (43, "rw warehouse, rw district, rw customer, w payment"),
            (4, "r customer, r order x2"),
            (4, "rw due, rw order, rw customer"),
            (4, "r district, r stock x8"),
        ),
    ),
    "c-rubis": Application(
        "RUBiS: an auction, where users list items, look, bid, buy and comment",
        {"user": "x1", "item": "x10", "bid": "x20", "comment": "x20"},
        frozenset({"bid", "comment"}),
        (
            (5, "rw user"),
            (10, "r user, w item"),
            (40, "r item, r user, r bid x4"),
            (25, "r user, rw item, w bid"),
            (5, "rw user, rw item"),
            (15, "r item, rw user, w comment"),
        ),
        skew=2.0,
    ),
    "c-twitter": Application(
        "a small Twitter: users write, follow and leave each other, look at a timeline",
        {"user": "x1", "follows": "x1", "followers": "x1", "tweet": "x20"},
        frozenset({"tweet"}),
        (
            (30, "rw user, w tweet"),
            (15, "r user x2, rw follows, rw followers"),
            (40, "r follows, r user x4, r tweet x4"),
            (15, "r followers, r user x4"),
        ),
        skew=3.0,
    ),
}  # fmt: skip
