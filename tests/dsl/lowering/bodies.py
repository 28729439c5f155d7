"""Generated specs whose bodies do what Python allows and protocols seldom need.

Aliases and identity in and out of helpers, what is read through ``getattr``, dunders, ``match`` and
partial functions, elements that raise, right sides that change the left, names that look alike,
containers of Python's own whose order and equality are not those of the state. What a body found
out it writes down as text. It stores only what it has just made, so that plain Python objects,
which do not copy what is stored, do the same.
"""

from __future__ import annotations

from tests.checker.native.spec_source import Writer

HEAD = """
from functools import partial
from operator import attrgetter
from typing import Any
from statewalk import *

deadlock(False)

class Part(Record):
    k: int = 0

class Box(Record):
    table: dict[int, int] = {}

class Item(Record):
    n: int = 0
    c: int = 1
    b_c: int = 2
    part: Part | None = None
    def __lt__(self, other: "Item") -> bool:
        return self.n < other.n + nodes[0].n
    def __str__(self) -> str:
        return f"<{self.n}{nodes[0].m}>"
    def __bool__(self) -> bool:
        return self.n != nodes[-1].n
    def plus(self, x: int) -> int:
        return self.n + x

class Node(Role):
    n: int = 0
    m: int = 1
    m_n: int = 2
    xs: list[int] = [2, 0, 1]
    kept: set[int] = {1, 2}
    table: dict[int, int] = {0: 1}
    item: Item = Item(1)
    items: list[Item] = [Item(1), Item(2, part=Part(1))]
    peers: set["Node"] = set()
    got: str = ""
    def __str__(self) -> str:
        return f"#{self.n}"
    @property
    def size(self) -> int:
        return len(self.items) + self.m
    def better(self, a: Item, b: Item) -> Item:
        return a if self.n % 2 == 0 else b
    def same(self, a: Any, b: Any) -> bool:
        return self.m < 3 and a is b
    def pair(self) -> tuple[list[int], list[int]]:
        rows = [self.n]
        return rows, rows
    def fresh(self) -> list[int]:
        return [x for x in self.xs if x != self.m]
    def doubled(self) -> list[Item]:
        item = Item(self.n)
        return [item, item]
    def last(self) -> Item | None:
        return self.items[-1] if self.items else None
    def near(self, x: int = 3, *, y: int = 1) -> int:
        return (self.n + x - y) % 4
    def first_of(self, rows: list[int]) -> int:
        for row in rows:
            if self.near(row) == 1:
                return 1
        return 0
    def sneak(self, v: int) -> None:
        xs = self.xs
        xs += (v,)
        del xs[4:]
    def hand(self, v: int) -> None:
        list(map(self.kept.add, [v]))
    def put(self, v: int) -> int:
        PUT
        return v

def two(x: Any) -> bool:
    match x:
        case Node(n=2) | Item(n=2):
            return True
    return False

def at_least(k: int, x: Any) -> bool:
    return x.n >= k

def hidden(x: Any, name: str = "n") -> int:
    try:
        return getattr(x, name)
    except AttributeError:
        return -1

get_n = attrgetter("n")
full = partial(at_least, 2)
nodes = [Node() for _ in range(2)]

@init
def link() -> None:
    for node in nodes:
        node.peers.add(nodes[0])
"""

ERRORS = "ZeroDivisionError, IndexError, KeyError, AttributeError, TypeError, ValueError"


class BodyWriter(Writer):
    """Writes one such spec; ``about`` is what its expressions hang on: ``self`` or a node."""

    about = "self"

    def of_node(self, x: str) -> str:
        a, me = self.number(), self.about
        return self.pick(
            f"getattr({x}, 'n') == {a}", f"get_n({x}) == {a}", f"two({x})", f"full({x})",
            f"f'{{{x}}}' == '#{a}'", f"str({x}) < '#{a}'", f"{x}.n == {a}", f"{x} is {me}",
            f"{x}.near({a}) == 1", f"hidden({x}) == {a}", f"hidden({x}, 'zz') == -1",
            f"{x}.last() is not None", f"{x}.size > {a}", f"{x} in {me}.peers",
            f"10 // ({x}.n - {a}) > 1", f"any({self.of_item('i')} for i in {x}.items)",
        )  # fmt: skip

    def of_item(self, x: str) -> str:
        a, me = self.number(), self.about
        return self.pick(
            f"{x}.n == {a}", f"{x}.part.k == {a}", f"{x} < Item({a})", f"{x}", f"not {x}",
            f"str({x}) == '<{a}1>'", f"{x}.n > {me}.item.n", f"{x} == {me}.item", f"two({x})",
            f"{x} is {me}.item", f"{me}.same({x}, {me}.items[0])", f"full({x})",
            f"{x}.plus({a}) < 3", f"hidden({x}) < {a}", f"6 // {x}.n == {a}",
            f"{x} is {me}.items[{a}]", f"{me}.better({x}, {me}.item).n == {a}",
        )  # fmt: skip

    def of_number(self, x: str) -> str:
        a, b, me = self.number(), self.number(), self.about
        return self.pick(
            f"{x} > {a}", f"1 // {x} == {a}", f"{x} > {me}.m", f"{x} in {me}.kept",
            f"{me}.xs[{x}] == {a}", f"{me}.table[{x}] == {b}", f"(lambda y: {x} + y)({a}) < 3",
            f"f'{{{x}}}{{{me}.n}}' < '{a}{b}'", f"{me}.near({x}) == {a}", f"{x} % {me}.m_n == {a}",
            f"{x} < {me}.item.b_c", f"({x} in {me}.table and {me}.table[{x}] == {a})",
            f"any(y > {x} for y in {me}.xs)", f"{x} < {me}.m < {a}", f"{x} == {me}.size",
        )  # fmt: skip

    def local(self, x: str) -> str:
        """The same about an element and locals of the body."""
        a = self.number()
        return self.pick(
            f"{x} < a.b_c and {x} > a_b.c", f"{x} + _it > a_b.n",
            f"not ({x} in seen or seen.add({x}))",
            f"acc.append({x}) is None", f"{x} < job.n", f"{x} in acc", f"inner({x}) < {a}",
            f"max({x}, a.c) == a_b.b_c", f"(total := {x}) < {a}", f"{x} != _h_a_b_c",
            f"{x} == list(order)[0]", f"{x} == [*order][{a}]", f"{x} in mixed",
            f"({x}, {x}) in pairs", f"truths.get({x}) == 'y'", f"str(order) < '{{{{{x}'",
            f"{x} == list(box.table)[0]", f"{x} in tangle[0]", f"{x} in tangle[1]",
        )  # fmt: skip

    def loop(self) -> tuple[str, str]:
        """(container, condition on x)"""
        a, b, me = self.number(), self.number(), self.about
        kind = self.random.randint(0, 6)
        if kind == 0:
            return f"{me}.peers", self.of_node("x")
        if kind <= 2:
            return f"{me}.items", self.of_item("x")
        over = self.pick(
            f"{me}.xs", f"{me}.kept", f"{me}.xs[{a}:]", f"{me}.xs[:{b}]", f"{me}.table"
        )
        use_local = me == "self" and self.random.random() < 0.3
        return over, self.local("x") if use_local else self.of_number("x")

    def expression(self) -> str:
        over, about = self.loop()
        me, a = self.about, self.number()
        shown = self.pick("x", "str(x)", "(x, 1)", about)
        return self.pick(
            f"any({about} for x in {over})", f"all({about} for x in {over})",
            f"any([{about} for x in {over}])", f"sum(1 for x in {over} if {about})",
            f"len([x for x in {over} if {about}])", f"[{about} for x in {over}]",
            f"[str(x) for x in {over} if {about}]",
            f"next((str(x) for x in {over} if {about}), None)",
            f"sorted(str(x) for x in {over} if {about})", f"tuple({about} for x in {over})",
            f"max(({about} for x in {over}), default=None)", f"min([{about} for x in {over}])",
            f"[{shown} for x in {over}] == [{shown} for x in {over}]",
            f"list(map(str, [x for x in {over} if {about}]))",
            f"list(filter(full, [x for x in {me}.items if x]))",
            f"[(y, {about}) for y in {me}.xs for x in {over} if y]",
            f"sorted({{str(x): {about} for x in {over}}})", f"{me}.near(y={a}, x={me}.m)",
            f"{me}.near(*{me}.xs[:1])", f"{me}.first_of({me}.xs)", f"{me}.first_of([{a}, {me}.n])",
            f"({me}.same({me}.item, {me}.item), {me}.same({me}.xs, {me}.xs[:]))",
            f"str({me}.items[{a}])", f"({me}.last() or {me}.item).n", f"min({me}.items).n",
        )  # fmt: skip

    def statement(self, indent: int, depth: int) -> list[str]:
        pad, a, e = " " * indent, self.number(), self.expression()
        kind = self.random.randint(0, 9)
        if kind <= 3:
            return [f"{pad}out.append({e})"]
        if kind == 4:
            return [f"{pad}try:", f"{pad}    out.append({e})", f"{pad}except ({ERRORS}) as error:",
                    f"{pad}    out.append(type(error).__name__)"]  # fmt: skip
        if kind == 5 and depth:
            return [f"{pad}if {e}:", *self.block(2, indent + 4, depth - 1),
                    f"{pad}else:", *self.block(1, indent + 4, depth - 1)]  # fmt: skip
        if kind == 6 and depth:
            return [f"{pad}for k in range({a}):", *self.block(1, indent + 4, depth - 1),
                    f"{pad}    if k == 1:", f"{pad}        break",
                    f"{pad}else:", f"{pad}    out.append('else')"]  # fmt: skip
        return [pad + line for line in self.effect(a, self.number()).split("\n")]

    def effect(self, a: str, v: str) -> str:
        grown = self.pick("n", "m", "item.n", "items[0].n", "xs[0]", "table[0]", "items[-1].c")
        sign = self.pick("+", "-", "*", "%", "//", "|")
        right = self.pick(f"self.put({a})", a, f"self.near({a})", "self.m", f"{a} // self.n")
        return self.pick(
            f"self.{grown} {sign}= {right}\nself.{grown} %= 4",
            f"self.{grown} {sign}= {right}\nself.{grown} %= 4",
            f"self.better(job, a).n = {a}\nout.append((job.n, a.n))",
            f"x, y = self.pair()\nx.append({a})\nout.append(y)",
            f"rows = self.fresh()\nrows.append({a})\nout.append((rows, self.fresh()))",
            f"one, other_one = self.doubled()\none.n = {a}\nout.append(other_one.n)",
            f"self.sneak({a})", f"self.hand({a})",
            f"first = self.last()\nif first:\n    first.n = {a}",
            f"if len(self.items) < 3:\n    self.items.append(Item({a}, part=Part({v})))",
            "first = self.items[0]\nself.items.pop(0)\nfirst.n += 1\n"
            "out.append((first.n, self.items))",
            f"self.kept.add({a})", f"self.kept.discard({a})", "self.peers.add(other)",
            "other.peers.discard(self)", f"self.table[{a}] = {v}", f"self.table.pop({a}, None)",
            f"self.item = Item({a})", f"self.xs = [{a}, {v}]", "self.xs.reverse()",
            f"self.n = len([i for i in self.items if i.n])\ndel self.items[{a}:]",
            "self.last()\nself.items.reverse()", f"self.last()\nself.items[{a}:] = [Item({v})]",
            "first = self.item\nself.item = Item(3)\nfirst.n = 2\n"
            "out.append((first.n, self.item.n))",
            f"xs = self.xs\nself.xs = [{a}]\nxs.append(1)\nout.append((xs, self.xs))",
            f"out.append([*self.xs, self.put({a}), self.n])",
            f"out.append(dict(a=self.put({a}), b=self.n, c=self.put({v})))",
            f"out.append({a} <= self.n < self.put({v}) < self.m)",
            f"out.append((self.n, self.put({a}), self.n, (self.put({v}), self.item.n)))",
            "jobs = [job for x in self.kept]\nif jobs:\n    jobs[0].n += 1\nout.append(job.n)",
            "held = [self.item for x in self.kept]\nif held:\n    held[0].n = 3\n"
            "out.append(self.item.n)",
            f"def inner(y: int, k: int = {a}) -> int:\n    return y + self.n + k + total",
            f"total += {a}\nout.append(inner(total))",
            "[acc.append(x) for x in self.xs if x not in acc]\nout.append(list(acc))",
            f"if (w := len(self.xs) - {a}) > 1:\n    out.append(w)",
        )  # fmt: skip

    def source(self) -> str:
        put = self.pick(
            "self.n = (self.n + v) % 4", "self.n, self.m = self.m, v % 4", "self.item.n = v % 3",
            "self.xs[0:1] = [v]", "self.table[0] = self.n = v % 4", "self.items.reverse()",
        )  # fmt: skip
        lines = [HEAD.strip().replace("PUT", put)]
        body = next(i for i, line in enumerate(lines[0].split("\n")) if line.startswith("def two"))
        head, rest = lines[0].split("\n")[:body], lines[0].split("\n")[body:]
        for number in range(self.random.randint(1, 3)):
            head += self.action(number)
        self.about = "node"
        for number in range(self.random.randint(1, 3)):
            over = self.pick("nodes", "nodes", "nodes[0].peers")
            rest += [
                "@always",
                f"def holds{number}() -> bool:",
                f"    return all(bool({self.expression()}) for node in {over})",
                "",
            ]
        return "\n".join([*head, "", *rest]) + "\n"

    def action(self, number: int) -> list[str]:
        """One action with the locals that its statements may use."""
        guard = self.pick("self.n < 9", self.expression())
        return [
            "    @action",
            f"    def act{number}(self, other: 'Node') -> None:",
            "        out: list[Any] = []",
            "        seen: set[int] = set()",
            "        acc: list[int] = []",
            "        job, a, a_b = Item(2), Item(0, 1, 2), Item(1, 0, 0)",
            "        total, _it, _h_a_b_c = 1, 1, 2",
            "        order, truths = {2: 1, 0: 2, 1: 3}, {True: 'y', False: 'n'}",
            "        mixed, pairs = {True, 3}, frozenset({(True, 1), (0, False)})",
            "        tangle, box = ([True], {False: order}), Box({2: 0, 1: 1})",
            "        def inner(y: int) -> int:",
            "            return y + self.m",
            "        try:",
            f"            out.append({guard})",
            *self.block(self.random.randint(2, 6), 12, 2),
            f"        except ({ERRORS}) as error:",
            "            out.append(type(error).__name__)",
            "        self.got = repr(out)",
        ]
