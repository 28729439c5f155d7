"""Programs do what the spec does: small specs whose meaning is easily lost in translation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from statewalk.checker import native
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines import reference
from statewalk.checker.native.learn.learning import make_roots
from statewalk.checker.native.programs.programs import _UNEXPECTED, Programs, wanted_of
from statewalk.dsl.loader import load
from tests.cases import some
from tests.checker.native.agreement import told

HEAD = """
from statewalk import *
from itertools import combinations
deadlock(False)

class Item(Record):
    n: int
    tag: str = "a"

    def raised(self, by: int) -> int:
        return self.n + by

    def raise_by(self, by: int) -> None:
        self.n += by

class Ping(Message):
    source: "Box"
    n: int

class Pong(Message):
    n: int

class Net(State):
    sent: set[Message] = set()

class Box(Role):
    n: int = 0
    m: int | None = None
    flag: bool = False
    log: list[int] = []
    jobs: list[Item] = []
    table: dict[int, Item] = {}
    counts: dict[str, int] = {}
    peers: set["Box"] = set()
    bag: list[tuple[int, ...]] = []
    mixed: set[int | bool] = set()

    def bump(self) -> int:
        self.n += 1
        return 1

    def seen(self) -> int:
        return max((m.n for m in net.sent if isinstance(m, Ping)), default=0)

    def grow(self, *, by: int, twice: bool = False) -> None:
        self.n += 2 * by if twice else by

    def count(self, x: int) -> int:
        return x + self.n

    def append(self, x: int) -> None:
        self.n += x

    @action
    def go(self) -> None:
@

net = Net()
boxes = [Box() for _ in range(2)]

@always
def small() -> bool:
    return all(b.n <= 2 for b in boxes) and len(net.sent) <= 4
"""

# What is said of each: whether the action gets a program. Where it does not, it is refused.
BODIES: dict[str, tuple[str, bool]] = {
    "an alias sees a change in place": ("""
        require(len(self.log) < 2)
        x = self.log
        self.log.append(1)
        self.n = len(x)""", False),
    "an alias keeps what was replaced": ("""
        require(len(self.log) < 2)
        x = self.log
        self.log = [*self.log, 1]
        self.n = len(x)""", True),
    "operands from left to right": ("""
        require(self.n < 2)
        self.m = self.n + self.bump()""", True),
    "a change through a local": ("""
        if not self.jobs:
            self.jobs.append(Item(0))
        job = self.jobs[0]
        require(job.n < 2)
        job.n += 1
        self.n = self.jobs[0].n""", True),
    "a change through a local of a dict's entry": ("""
        if 1 not in self.table:
            self.table[1] = Item(0)
        entry = self.table[1]
        require(entry.n < 2)
        entry.n += 1
        self.n = entry.n""", True),
    "a name for a place that was replaced": ("""
        if 1 not in self.table:
            self.table[1] = Item(0)
        entry = self.table[1]
        self.table[1] = Item(1)
        entry.n += 1
        self.n = self.table[1].n""", False),
    "a record's own method changes it": ("""
        if not self.jobs:
            self.jobs.append(Item(0))
        require(self.jobs[0].n < 2)
        self.jobs[0].raise_by(1)
        self.n = self.jobs[0].raised(0)""", True),
    "a truth is no number": ("""
        require(self.n < 2)
        self.n += sum(x == 1 for x in (1, True, 2))
        self.flag = self.n == True""", True),
    "one is true in a set, and is not True": ("""
        require(not self.flag)
        self.flag = 1 in {True} and True in (1, 2)
        one = any_of([1, True])
        self.n = (one is True) + 1""", True),
    "and, or as values": ("""
        require(self.n < 2)
        x = self.m or self.n + 1
        self.m = x and 2
        self.n = x""", True),
    "a raise in the middle undoes nothing that is seen": ("""
        require(self.n < 2)
        self.n += 1
        self.m = self.log[0] if self.n > 1 and self.log else 1""", True),
    "a guard after a change undoes it": ("""
        self.n += 1
        require(self.n < 3)
        self.log.append(self.n)
        require(len(self.log) < 3)""", True),
    "lists made before the first choice": ("""
        high = [k for k in range(4) if k > self.n]
        low = [k for k in range(3) if k <= self.n and sum([j for j in range(k)]) < 9]
        x = any_of([k for k in low if k >= 0])
        y = any_of([k + len(low) for k in high])
        require(x + y < 5)
        self.n = min(2, y - x)
        self.log = [x, y, *low]""", True),
    "a choice in the filter of a choice": ("""
        require(self.n < 2)
        x = any_of([k for k in range(3) if any_of([True, False])])
        y = any_of([k for k in range(2) if k != x])
        self.n = y
        self.log = [x]""", True),
    "choices with one option before one with two": ("""
        require(self.n < 2 and len(self.log) < 4)
        total = 0
        for k in range(4):
            total += any_of([i for i in range(3) if i == k or (k > 1 and i < 2)])
        self.log = [*self.log, total]""", True),
    "a list after a change, before the first choice": ("""
        require(self.n < 2)
        before = [k for k in range(3) if k != self.n]
        self.n += 1
        x = any_of([k for k in range(3) if k != self.n])
        y = any_of([k for k in before if k != self.n])
        self.log = [x, y]""", True),
    "choices of elements that a step removes": ("""
        net.sent.add(Ping(self, len(net.sent)))
        require(len(net.sent) < 4)
        one = any_of([m for m in net.sent if isinstance(m, Ping) and m.source is self])
        other = any_of([m for m in net.sent if m != one] or [one])
        net.sent.discard(other)
        self.log = [k.n for k in net.sent if isinstance(k, Ping)]
        self.n = any_of([m.n for m in net.sent if isinstance(m, Ping)] or [0])""", True),
    "choices in choices": ("""
        require(self.n < 2)
        a = any_of([0, 1, 2])
        b = any_of([x for x in range(a, 3)])
        self.n = b
        self.m = a if maybe() else None""", True),
    "a message of the network": ("""
        if maybe():
            net.sent.add(Ping(self, self.n))
        else:
            m = any_of([m for m in net.sent if isinstance(m, Ping) and m.source is not self])
            require(m.n + 1 < 3)
            self.n = m.n + 1
            net.sent.add(Pong(m.n))""", True),
    "a message is taken away": ("""
        net.sent.add(Ping(self, self.seen()))
        m = any_of(m for m in net.sent)
        net.sent.remove(m)
        self.n = len(net.sent)""", True),
    "loops with break and continue": ("""
        require(self.n < 2)
        total = 0
        for a in range(4):
            if a == 1:
                continue
            for b in (1, 2, 3):
                if b > a:
                    break
                total += b
            if total > 3:
                break
        self.n = min(2, total)
        while self.n > 0 and total > 5:
            self.n -= 1
            total -= 1""", True),
    "a list of its own is changed": ("""
        require(len(self.bag) < 2)
        xs = [self.n]
        xs.append(2)
        xs[0] = 3
        ys = sorted(xs)
        self.bag.append(tuple(ys))
        self.n = len(xs) - len(ys)""", True),
    "a list that two names know": ("""
        require(len(self.log) < 2)
        xs = [1]
        ys = xs
        ys.append(2)
        self.log = [len(xs)]
        self.n = len(xs)""", False),
    "a dict's entries": ("""
        self.counts["a"] = self.counts.get("a", 0) + 1
        require(self.counts["a"] < 3)
        self.n = sum(self.counts.values())
        if self.n == 2:
            self.m = self.counts.pop("a")""", True),
    "a dict is gone through": ("""
        require(self.n < 2)
        self.counts = {"b": 1, "a": self.n}
        for key, value in self.counts.items():
            if key == "b":
                self.n += value
        self.m = len([k for k in self.counts if k in ("a", "c")])""", True),
    "sets of roles": ("""
        other = any_of(boxes)
        self.peers.add(other)
        self.n = len(self.peers) - (1 if self in self.peers else 0)
        if self.peers == set(boxes):
            self.peers.clear()""", True),
    "the largest by a key": ("""
        require(self.n < 2)
        best = max(boxes, key=lambda b: (b.n, -b.index))
        self.m = best.index
        self.n += 1 if best is self else 2 if self.n == 0 else 1
        self.n = min(self.n, 2)""", True),
    "pairs of roles": ("""
        require(self.n < 2)
        self.m = sum(a.n == b.n for a, b in pairs(boxes))
        self.n += len([1 for a, b in combinations(boxes, 2) if a is self])+1
        self.n = min(self.n, 2)""", True),
    "numbers that grow too large are not cut": ("""
        require(self.n < 2)
        big = 1 << 23
        self.flag = big * big + self.n > big * big
        self.n += 1""", True),
    "a walrus, a try and a match": ("""
        require((k := self.n) < 2)
        try:
            self.m = self.log[5]
        except IndexError:
            self.m = 0
        match k:
            case 0: self.n = 1
            case _: self.n = 2""", False),
    "a value outside its type": ("""
        require(self.n < 2)
        self.n += 1
        self.m = [1, "text"][self.n - 1]""", True),
    "a failed assertion": ("""
        require(self.n < 2)
        self.n += 1
        assert self.n < 2, "too many" """, True),
    "text": ("""
        require(self.n < 2)
        self.counts = {f"{self.n}-{self.index}": self.n}
        self.n += 1""", True),
    "a number that is too large for a program": ("""
        require(self.n < 2)
        self.n += 1
        self.m = 20_000_000
        self.counts["k"] = 20_000_000""", True),
    "a local dict of what the state holds": ("""
        require(self.n < 2)
        found = {k: v.n for k, v in self.table.items() if k != 5}
        found[7] = self.n
        self.n += 1
        self.counts = {str(k): v for k, v in found.items()}""", True),
    "a local that holds a reference to what changes": ("""
        require(self.n < 2)
        self.n += 1
        found = [self.log]
        found.append([])
        self.log.append(1)
        self.m = len(found[0])""", False),
    "what is in a local list is changed": ("""
        require(self.n < 2)
        self.n += 1
        self.jobs = [Item(0)]
        found = [job for job in self.jobs]
        found[0].n = 2
        self.m = self.jobs[0].n""", False),
    "an operator on a local list": ("""
        require(self.n < 2)
        can = ["a"] * self.n
        can += ["b"] * (self.m is None)
        can += ["c"]
        self.n += 1
        self.counts[any_of(can)] = 1""", True),
    "an operator on a list with two names": ("""
        require(self.n < 2)
        self.n += 1
        one = [1]
        other = one
        one += [2]
        self.m = len(other)""", False),
    "an operator on a list that is in another": ("""
        require(self.n < 2)
        self.n += 1
        one = [1]
        other = [one]
        one += [2]
        self.m = len(other[0])""", False),
    "methods of lists that a role has too": ("""
        require(len(self.log) < 2)
        self.log.append(self.log.count(1))
        self.n = self.log.index(0)""", True),
    "several places at once": ("""
        require(self.n < 2)
        self.n, self.m = max((self.n + 1, i) for i in (1, 2))""", True),
    "the first of a generator": ("""
        require(self.n < 2)
        self.n = next((b.n + 1 for b in boxes if b.n < 2 and b is not None), 5)""", False),
    "the first of a list": ("""
        require(self.n < 2)
        self.log = [self.n]
        self.n += next((k for k in (3, 2, 1) if k < 2), 5)""", True),
    "sums of what may be None or lists": ("""
        require(self.n < 2)
        self.bag.append((self.n,))
        self.n += 1
        self.counts = {str(k): k for k in sum(self.bag, ())}
        self.m = sum(b.n if b.m is None else b.m for b in boxes) // 9""", True),
    "the greatest by a key, or something else": ("""
        require(self.n < 2)
        best = max((t for t in self.bag if t), key=lambda t: (t[0], -len(t)), default=None)
        self.m = None if best is None else best[0]
        self.bag.append((self.n, 1))
        self.n += 1""", True),
    "True beside 1": ("""
        require(self.n < 3)
        self.n += 1
        self.mixed |= {True} if self.n == 3 else {self.n}
        self.m = len(self.mixed)""", True),
    "True among the entries of a dict": ("""
        require(self.n < 3)
        self.n += 1
        own = {1: 2}
        own[self.n == 2] = 3
        self.m = len(own)""", True),
    "parameters by name": ("""
        require(self.n < 2)
        self.grow(by=1)""", True),
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", some(sorted(BODIES), every=8))
def test_a_program_does_what_the_spec_does(name: str, tmp_path: Path) -> None:
    body, translated = BODIES[name]
    path = tmp_path / "spec.py"
    path.write_text(HEAD.replace("@\n", body.strip("\n") + "\n", 1))
    model = load(str(path), {})
    options = SearchOptions(keep_going=True, max_states=200, program_after=0)

    expected = told(reference.explore(load(str(path), {}, optimize=False), options))

    assert expected == told(native.explore(model, replace(options, programs="none")))
    assert expected == told(native.explore(model, replace(options, programs="whole")))
    assert expected == told(native.explore(model, options))
    refused = untranslated(model)
    assert translated == (not any(why.startswith("Box.go") for why in refused)), refused
    assert not any(_UNEXPECTED in why for why in refused), refused


def untranslated(model: Any) -> list[str]:
    """Return why functions of a model have no program."""
    options = SearchOptions()
    programs = Programs(model, options)
    if not programs.exploded:
        wanted = map(wanted_of, make_roots(model, options).all)
        programs.translate([one for one in wanted if one is not None])
    return programs.refused


def test_a_search_asks_python_a_few_times_only(tmp_path: Path) -> None:
    body, _ = BODIES["a message of the network"]
    path = tmp_path / "spec.py"
    path.write_text(HEAD.replace("@\n", body.strip("\n") + "\n", 1))
    model = load(str(path), {})

    found = native.explore(model, SearchOptions(keep_going=True, max_states=300))

    asked: Any = found.statistics["evaluations"]
    assert 0 < asked < 400
