"""Names for places and for values that a step changes: a program keeps them, or there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk.checker import quick
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines import reference
from statewalk.checker.native.programs.programs import Programs
from statewalk.dsl.loader import load
from tests.cases import some
from tests.checker.native.agreement import told
from tests.checker.native.programs.test_meaning import untranslated

HEAD = """
from statewalk import *
deadlock(False)
class Item(Record):
    n: int = 0
    tags: list[int] = []
    def up(self) -> None:
        self.n = 2
    def me(self) -> "Item":
        return self
    def my(self) -> list[int]:
        return self.tags
class Wrap(Record):
    i: Item
CONST = Item(1)
def first(x: list[Item]) -> Item:
    return x[0]
def fresh(n: int) -> Item:
    return Item(n)
def grow(x: list[Item]) -> None:
    x.append(Item(2))
class Node(Role):
    n: int = 0
    items: list[Item] = []
    table: dict[int, Item] = {}
    rows: list[list[int]] = []
    one: Item = Item(1)
    def latest(self) -> Item | None:
        return self.items[-1] if self.items else None
    def last2(self) -> Item:
        if self.n:
            return self.one
        return self.items[0]
    def newest(self) -> Item:
        return Item(self.n)
    def viacopy(self) -> list[Item]:
        found = [i for i in self.items]
        return found
    def allof(self) -> list[Item]:
        return self.items
    def bump(self, x: Item) -> None:
        x.n = 2
    def bumped(self, x: Item) -> Item:
        x.n = 1
        return x
    def gather(self) -> list[Item]:
        found = []
        for i in self.items:
            found.append(i)
        return found
    def putin(self, x: list[Item]) -> Item:
        y = Item(0)
        x.append(y)
        y.n = 1
        return y
    def tweak(self, n: int) -> None:
        x = [Item(n)]
        z = x
        z.append(Item(2))
        self.n = len(x) % 2
    def rowof(self) -> list[int]:
        return self.rows[0]
    def newset(self) -> set[int]:
        found = set()
        for i in self.items:
            found.add(i.n)
        return found
    def same(self, x: Item) -> Item:
        return x
    def local(self) -> Item:
        it = self.items[0]
        return it
    @action
    def change(self) -> None:
        require(self.items and self.table)
@
    @action
    def fill(self) -> None:
        require(len(self.items) < 2)
        self.items.append(Item(self.n % 3))
        self.table[len(self.items)] = Item(0)
        self.rows.append([0])
    @action
    def step(self) -> None:
        self.n = (self.n + 1) % 2
nodes = [Node() for _ in range(1)]
"""

# Bodies of an action that changes something by one name and may look at it by another.
BODIES = {
    "helper ifexp": """
        x = self.latest()
        if x is not None:
            x.n = 2""",
    "helper returns": """
        x = self.last2()
        x.n = 2""",
    "helper new": """
        x = self.newest()
        x.n = 2
        self.one = x""",
    "helper list of": """
        x = self.viacopy()
        x.append(Item(2))
        self.n = len(x) % 2""",
    "helper list elem": """
        x = self.viacopy()
        x[0].n = 2""",
    "helper list": """
        x = self.allof()
        x.append(Item(2))
        require(len(x) < 4)""",
    "helper same": """
        x = self.same(self.items[0])
        x.n = 2""",
    "helper same2": """
        x = self.same(self.one)
        x.n = 2""",
    "helper local": """
        x = self.local()
        x.n = 2""",
    "get": """
        x = self.table.get(1)
        x.n = 2""",
    "get default": """
        x = self.table.get(9, self.one)
        x.n = 2""",
    "get new default": """
        x = self.table.get(9, Item(5))
        x.n = 2
        self.one = x""",
    "max": """
        x = max(self.items, key=lambda i: i.n)
        x.n = 2""",
    "min default": """
        x = min(self.items, key=lambda i: i.n, default=None)
        x.n = 2""",
    "max of two": """
        x = max(self.items[0], self.one, key=lambda i: i.n)
        x.n = 2""",
    "next": """
        x = next(i for i in self.items if i.n < 2)
        x.n = 2""",
    "next default": """
        x = next((i for i in self.items if i.n < 2), None)
        if x is not None:
            x.n = 2""",
    "any_of": """
        x = any_of(self.items)
        x.n = 2""",
    "any_of list": """
        x = any_of([i for i in self.items if i.n < 2])
        x.n = 2""",
    "any_of gen": """
        x = any_of(i for i in self.items if i.n < 2)
        x.n = 2""",
    "any_of places": """
        x = any_of([self.items[0], self.one])
        x.n = 2""",
    "any_of values": """
        x = any_of(self.table.values())
        x.n = 2""",
    "any_of rows": """
        x = any_of(self.rows)
        x.append(1)
        require(len(x) < 3)""",
    "pop": """
        x = self.items.pop()
        x.n = 2
        self.one = x""",
    "pop rows": """
        x = self.rows.pop()
        x.append(1)
        require(len(x) < 3)
        self.rows.append(x)""",
    "setdefault": """
        x = self.table.setdefault(1, Item(1))
        x.n = 2""",
    "setdefault new": """
        x = self.table.setdefault(7, Item(1))
        x.n = 2""",
    "list()": """
        x = list(self.items)
        x[0].n = 2""",
    "list() append": """
        x = list(self.items)
        x.append(Item(2))
        self.n = len(x) % 2""",
    "sorted": """
        x = sorted(self.items, key=lambda i: i.n)
        x[0].n = 2""",
    "reversed": """
        for x in reversed(self.items):
            x.n = 2""",
    "for": """
        for x in self.items:
            x.n = 2""",
    "for values": """
        for x in self.table.values():
            x.n = 2""",
    "for items": """
        for k, x in self.table.items():
            x.n = 2""",
    "for enumerate": """
        for k, x in enumerate(self.items):
            x.n = 2""",
    "for zip": """
        for x, y in zip(self.items, self.rows):
            x.n = 2""",
    "for two": """
        for x in [self.items[0], self.one]:
            x.n = 2""",
    "ifexp": """
        x = self.items[0] if self.n else self.one
        x.n = 2""",
    "ifexp new": """
        x = Item(0) if self.n else self.one
        x.n = 2""",
    "or": """
        x = self.latest() or self.one
        x.n = 2""",
    "or2": """
        x = self.table.get(9) or self.one
        x.n = 2""",
    "and": """
        x = self.items and self.rows
        x.append([2])
        require(len(x) < 4)""",
    "subscript list": """
        x = [self.items[0], self.one][self.n]
        x.n = 2""",
    "tuple": """
        x, y = self.items[0], self.one
        x.n = 2""",
    "tuple2": """
        x, y = self.one, self.items
        x.n = 2""",
    "slice": """
        x = self.items[:1]
        x[0].n = 2""",
    "slice append": """
        x = self.items[:1]
        x.append(Item(2))
        self.n = len(x) % 2""",
    "attribute of helper": """
        self.latest().n = 2""",
    "method of helper": """
        self.local().tags.append(1)
        require(len(self.items[0].tags) < 3)""",
    "nested": """
        x = self.items[0].tags
        x.append(1)
        require(len(x) < 3)""",
    "nested helper": """
        x = self.local().tags
        x.append(1)
        require(len(x) < 3)""",
    "get.attr": """
        self.table.get(1).n = 2""",
    "max.attr": """
        max(self.items, key=lambda i: i.n).n = 2""",
    "next.attr": """
        next(i for i in self.items).n = 2""",
    "any_of.attr": """
        any_of(self.items).n = 2""",
    "aug get": """
        self.table.get(1).n += 1
        require(self.table[1].n < 3)""",
    "walrus": """
        if (x := self.items[0]).n < 3:
            x.n = 2""",
    "record of part": """
        x = Item(0, self.items[0].tags)
        x.tags.append(1)
        require(len(x.tags) < 3)""",
    "dict of": """
        x = dict(self.table)
        x[1].n = 2""",
    "list literal": """
        x = [self.one]
        x[0].n = 2""",
    "list comp": """
        x = [i for i in self.items]
        x[0].n = 2""",
    "dict comp": """
        x = {k: v for k, v in self.table.items()}
        x[1].n = 2""",
    "sum lists": """
        x = self.items + [self.one]
        x[-1].n = 2""",
    "two steps": """
        x = list(self.items)
        y = x[0]
        y.n = 2""",
    "alias back": """
        x = Item(7)
        self.one = x
        x.n = 2""",
    "alias back list": """
        x = [Item(7)]
        self.one = x[0]
        x[0].n = 2""",
    "append then change": """
        x = Item(1)
        self.items.append(x)
        require(len(self.items) < 4)
        x.n = 2""",
    "arg place": """
        self.bump(self.items[0])""",
    "arg helper": """
        self.bump(self.local())""",
    "arg latest": """
        self.bump(self.latest() or self.one)""",
    "arg get": """
        self.bump(self.table.get(1))""",
    "arg any_of": """
        self.bump(any_of(self.items))""",
    "arg max": """
        self.bump(max(self.items, key=lambda i: i.n))""",
    "arg new": """
        x = Item(0)
        self.bump(x)
        self.one = x""",
    "arg new2": """
        self.bump(Item(0))""",
    "arg local alias": """
        x = self.one
        self.bump(x)""",
    "arg local get": """
        x = self.table.get(1)
        self.bump(x)""",
    "arg local any": """
        x = any_of(self.items)
        self.bump(x)""",
    "arg local helper": """
        x = self.local()
        self.bump(x)""",
    "ret bump": """
        x = self.bumped(self.one)
        x.n = 2""",
    "ret bump2": """
        x = self.bumped(Item(0))
        x.n = 2
        self.one = x""",
    "meth on helper": """
        self.local().up()""",
    "meth on get": """
        self.table.get(1).up()""",
    "meth on any": """
        any_of(self.items).up()""",
    "meth on any local": """
        x = any_of(self.items)
        x.up()""",
    "meth on helper local": """
        x = self.local()
        x.up()""",
    "meth self": """
        x = self.one.me()
        x.n = 2""",
    "meth self tags": """
        x = self.one.my()
        x.append(3)
        require(len(x) < 3)""",
    "aug rows": """
        x = self.rowof()
        x += [1]
        require(len(x) < 3)""",
    "del rows": """
        x = self.rowof()
        del x[0]""",
    "set idx": """
        x = self.rowof()
        x[0] = 1""",
    "sort": """
        x = self.rowof()
        x.append(0)
        x.sort()
        require(len(x) < 3)""",
    "extend get": """
        x = self.table.get(1)
        x.tags.extend([1])
        require(len(x.tags) < 3)""",
    "cond bind": """
        x = Item(5)
        if self.n:
            x = self.one
        x.n = 2""",
    "cond bind2": """
        if self.n:
            x = self.one
        else:
            x = Item(0)
        x.n = 2""",
    "cond bind3": """
        x = self.newest()
        if self.n:
            x = self.local()
        x.n = 2""",
    "pop default": """
        x = self.table.pop(9, self.one)
        x.n = 2""",
    "union": """
        x = {i.n for i in self.items} | {7}
        x.add(1)
        self.n = len(x) % 2""",
    "global fn": """
        x = first(self.items)
        x.n = 2""",
    "global fn new": """
        x = fresh(1)
        x.n = 2
        self.one = x""",
    "global fn arg": """
        grow(self.items)
        require(len(self.items) < 4)""",
    "global fn arg2": """
        grow(self.allof())
        require(len(self.items) < 4)""",
    "lambda": """
        f = lambda: self.one
        x = f()
        x.n = 2""",
    "method list": """
        x = [self.local(), self.one]
        x[0].n = 2""",
    "kw": """
        x = self.same(x=self.one)
        x.n = 2""",
    "two names": """
        x = Item(0)
        y = x
        y.n = 2
        self.n = 10 + (x.n % 2)
        require(self.n > 10)""",
    "two names get": """
        x = self.one
        y = x
        y.n = 2
        self.n = x.n % 2""",
    "in dict": """
        x = {1: self.one}
        x[1].n = 2""",
    "set method": """
        x = self.newset()
        x.add(3)
        self.n = len(x) % 2""",
    "nested local": """
        x = Item(0, [1])
        y = x.tags
        y.append(2)
        self.one = x
        require(len(x.tags) < 3)""",
    "item of new": """
        x = [Item(0)]
        y = x[0]
        y.n = 2
        self.one = x[0]""",
    "helper of new": """
        x = [Item(0)]
        y = self.same(x[0])
        y.n = 2
        self.one = x[0]""",
    "get of new": """
        x = {1: Item(0)}
        y = x.get(1)
        y.n = 2
        self.one = x[1]""",
    "max of new": """
        x = [Item(0), Item(1)]
        y = max(x, key=lambda i: i.n)
        y.n = 5
        self.one = x[1]""",
    "any of new": """
        x = [Item(0), Item(1)]
        y = any_of(x)
        y.n = 2
        self.one = x[1]""",
    "pop of new": """
        x = [Item(0), Item(1)]
        y = x.pop()
        y.n = 2
        self.one = y""",
    "for of new": """
        x = [Item(0), Item(1)]
        for y in x:
            y.n = 2
        self.one = x[1]""",
    "appended": """
        x = []
        y = Item(0)
        x.append(y)
        y.n = 2
        self.one = x[0]""",
    "appended2": """
        x = [Item(0)]
        x.append(self.one)
        x[1].n = 2""",
    "list of new copy": """
        x = [Item(0)]
        z = list(x)
        z[0].n = 2
        self.one = x[0]""",
    "slice of new": """
        x = [Item(0)]
        z = x[:]
        z[0].n = 2
        self.one = x[0]""",
    "copy of new": """
        x = [Item(0)]
        z = x.copy()
        z[0].n = 2
        self.one = x[0]""",
    "record in record": """
        x = Item(0)
        z = Wrap(x)
        x.n = 2
        self.one = z.i""",
    "record in record2": """
        x = Item(0)
        z = Wrap(x)
        z.i.n = 2
        self.one = x""",
    "place replaced elem": """
        x = self.items[0]
        self.items[0] = Item(5)
        x.n = 2""",
    "place replaced pop": """
        x = self.items[-1]
        self.items.pop()
        x.n = 2""",
    "place moved": """
        x = self.items[0]
        self.items.insert(0, Item(5))
        require(len(self.items) < 4)
        x.n = 2""",
    "place cleared": """
        x = self.items[0]
        self.items.clear()
        self.items.append(Item(4))
        x.n = 2""",
    "place whole": """
        x = self.one
        self.one = Item(4)
        x.n = 2""",
    "place del": """
        x = self.items[0]
        del self.items[0]
        self.items.append(Item(4))
        x.n = 2""",
    "place popped other": """
        x = self.items[-1]
        self.items.pop(0)
        self.items.append(Item(4))
        x.n = 2""",
    "stale element": """
        x = [Item(0)]
        y = x[0]
        x[0].n = 2
        require(y.n == 2)
        self.n = 5""",
    "stale wrap": """
        x = Item(0)
        z = Wrap(x)
        x.n = 2
        require(z.i.n == 2)
        self.n = 5""",
    "stale list": """
        x = [0]
        z = [x]
        x.append(1)
        require(len(z[0]) == 2)
        self.n = 5""",
    "stale dict": """
        x = [0]
        z = {1: x}
        x.append(1)
        require(len(z[1]) == 2)
        self.n = 5""",
    "stale tuple": """
        x = [0]
        z = (x, 1)
        x.append(1)
        require(len(z[0]) == 2)
        self.n = 5""",
    "stale comp": """
        x = [0]
        z = [x for _ in range(2)]
        x.append(1)
        require(len(z[0]) == 2)
        self.n = 5""",
    "stale or": """
        x = [0]
        z = x or [1]
        x.append(1)
        require(len(z) == 2)
        self.n = 5""",
    "stale ifexp": """
        x = [0]
        z = x if self.n else [1, 2]
        x.append(1)
        require(len(z) == 2)
        self.n = 5""",
    "stale max": """
        x = Item(0)
        z = max([x, Item(-1)], key=lambda i: i.n)
        x.n = 1
        require(z.n == 1)
        self.n = 5""",
    "stale helper": """
        x = Item(0)
        z = self.same(x)
        x.n = 1
        require(z.n == 1)
        self.n = 5""",
    "stale any_of": """
        x = [Item(0), Item(0)]
        z = any_of(x)
        x[0].n = 1
        require(z.n == 1)
        self.n = 5""",
    "stale sorted": """
        x = [Item(0), Item(0)]
        z = sorted(x, key=lambda i: i.n)
        x[0].n = 1
        require(z[0].n == 1)
        self.n = 5""",
    "stale loop": """
        x = [Item(0)]
        z = x[0]
        for k in range(2):
            x[0].n = k
            require(z.n == 1)
        self.n = 5""",
    "stale copy": """
        x = [[0]]
        z = list(x)
        x[0].append(1)
        require(len(z[0]) == 2)
        self.n = 5""",
    "len before": """
        x = [0]
        k = len(x)
        x.append(1)
        self.n = 10 + (k)
        require(self.n > 10)""",
    "sum before": """
        x = [0]
        k = sum(x)
        x.append(1)
        self.n = 10 + (k)
        require(self.n > 10)""",
    "element int": """
        x = [0]
        k = x[0]
        x.append(1)
        self.n = 10 + (k)
        require(self.n > 10)""",
    "acc": """
        found = []
        for i in self.items:
            found.append(i.n)
        self.n = 10 + (len(found) % 2)
        require(self.n > 10)""",
    "acc helper": """
        n = 0
        for i in range(2):
            r = self.newset()
            n += len(r)
        self.n = 10 + (n % 2)
        require(self.n > 10)""",
    "acc helper2": """
        out = []
        for i in range(2):
            r = self.gather()
            out.append(r)
        self.n = 10 + (len(out) % 2)
        require(self.n > 10)""",
    "acc set": """
        s = set()
        for i in self.items:
            s.add(i.n)
            if len(s) > 1:
                break
        self.n = 10 + (len(s) % 2)
        require(self.n > 10)""",
    "acc dict": """
        d = {}
        for i in self.items:
            d[i.n] = d.get(i.n, 0) + 1
        self.n = 10 + (max(d.values()) % 2)
        require(self.n > 10)""",
    "acc rec": """
        r = Item(0)
        for i in self.items:
            r.n = r.n + i.n
        self.one = Item(r.n % 2)""",
    "acc sorted": """
        out = []
        for i in self.items:
            out.append(i.n)
        out.sort()
        z = out[0]
        out.append(3)
        self.n = 10 + (z % 2)
        require(self.n > 10)""",
    "param": """
        self.tweak(1)""",
    "escape helper": """
        x = [Item(7)]
        z = self.putin(x)
        z.n = 2
        self.one = x[-1]""",
    "escape helper2": """
        x = [Item(7)]
        z = self.putin(x)
        x[-1].n = 2
        self.one = z""",
    "escape helper3": """
        x = [Item(7)]
        self.putin(x)
        x[-1].n = 2
        self.one = x[-1]""",
    "a constant": """
        x = CONST
        self.n = x.n % 2""",
}
TRANSLATED = frozenset(
    [
        "a constant",
        "acc",
        "acc dict",
        "acc helper",
        "acc helper2",
        "acc rec",
        "acc set",
        "alias back",
        "append then change",
        "arg place",
        "element int",
        "global fn arg",
        "global fn new",
        "helper list of",
        "helper new",
        "len before",
        "list() append",
        "nested",
        "pop",
        "pop rows",
        "union",
    ]
)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", some(sorted(BODIES), every=13))
def test_a_program_keeps_names_without_being_compared(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "spec.py"
    path.write_text(HEAD.replace("@\n", BODIES[name].strip("\n") + "\n", 1))
    model = load(str(path), {})
    options = SearchOptions(keep_going=True, max_states=300)
    expected = told(reference.explore(load(str(path), {}, optimize=False), options))
    monkeypatch.setattr(Programs, "_compare", lambda *_: None)

    found = quick.explore(model, options)

    assert found is not None
    assert expected == told(found)
    refused = [why for why in untranslated(model) if why.startswith("Node.change")]
    assert (name in TRANSLATED) == (not refused), refused
