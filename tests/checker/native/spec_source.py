"""Generated specs as source text: roles, records, containers, choices, calls, guards, loops."""

from __future__ import annotations

from random import Random

HEAD = """
from typing import Literal
from statewalk import *

class Item(Record):
    n: int = 0
    tag: str = "a"

class Board(State):
    total: int = 0
    seen: set[str] = set()
    scores: dict[str, int] = {}

class Node(Role):
    state: Literal["idle", "busy", "done"] = "idle"
    n: int = 0
    inbox: set[int] = set()
    log: list[int] = []
    table: dict[int, int] = {}
    item: Item | None = None
    items: list[Item] = []
    flag: bool
    level: int
    perhaps: int | None
    kept: set[int]
    rows: list[int]
    by: dict[int, int]
    part: Item
"""

METHODS = """
    def latest(self) -> Item | None:
        return self.items[-1] if self.items else None

    def tally(self) -> int:
        total = 0
        for item in self.items:
            if item.tag == "b":
                continue
            total += item.n + self.weight(item.n)
        return total

    def all_of(self, others: list["Node"]) -> list[Item]:
        found = list()
        for node in others:
            for item in node.items:
                found.append(item)
        return found
"""


class Writer:
    """Writes one spec; ``random`` decides everything. ``unset``: how often it looks at a field that
    may have no value yet.
    """

    def __init__(self, random: Random, unset: float = 0.0) -> None:
        self.random = random
        self.unset = unset

    def pick(self, *options: str) -> str:
        return self.random.choice(options)

    def number(self) -> str:
        return str(self.random.randint(0, 3))

    def value(self, depth: int = 2) -> str:
        a = self.number()
        simple = [a, "self.n", "len(self.log)", "len(self.inbox)", "board.total"]
        if depth == 0 or self.random.random() < 0.4:
            return self.random.choice(simple)
        inner = self.value(depth - 1)
        if self.random.random() < self.unset:
            return self.pick(
                "self.level",
                "(self.perhaps or 0)",
                "len(self.kept)",
                "sum(self.rows) % 3",
                f"sum(m for m in self.kept if m != {a})",
                f"(self.rows[0] if self.rows else {a})",
                f"self.by.get({a}, 0)",
                "sum(self.by.values()) % 3",
                "self.part.n",
                "sum(node.level for node in nodes) % 4",
                f"(self.level if self.n == {a} else {inner})",
                f"(1 if self.flag else {inner})",
            )
        return self.pick(
            f"({inner} + {a}) % 4",
            f"self.table.get({a}, {self.number()})",
            f"sum(m for m in self.inbox if m != {a})",
            f"sum(1 for node in nodes if node.n == {a})",
            f"max([{inner}, {a}])",
            f"self.weight({inner})",
            f"(self.log[0] if self.log else {a})",
            f"(self.item.n if self.item is not None else {inner})",
            f"sum(self.table.values()) % {int(a) + 2}",
            f"min(self.inbox) if self.inbox else {a}",
            f"board.scores.get('s{a}', 0)",
            "self.tally() % 4",
            f"(self.items[-1].n if self.items else {inner})",
            f"sum(item.n for item in self.items) % {int(a) + 1}",
            f"len([i for i in self.all_of(nodes) if i.n == {a}])",
        )

    def condition(self, depth: int = 2) -> str:
        a, b = self.number(), self.number()
        plain = self.pick(
            f"self.n < {a}",
            f"{a} in self.inbox",
            f"len(self.log) < {int(a) + 1}",
            f"self.state == '{self.pick('idle', 'busy', 'done')}'",
            f"any(m > {a} for m in self.inbox)",
            "all(m != self.n for m in self.log)",
            f"self.table.get({a}, 0) == {b}",
            f"{a} in self.table",
            "self.ready()",
            "self.item is None",
            f"'s{a}' in board.seen",
            "any(node.state == 'busy' for node in nodes)",
            f"crowded({a})",
        )
        if self.random.random() < self.unset:
            plain = self.pick(
                "not self.flag",
                "self.flag != True",
                f"self.level == {a}",
                "self.perhaps is None",
                "not self.kept",
                f"{a} in self.kept",
                f"{a} not in self.by",
                "all(not node.flag for node in nodes)",
                f"self.n == {a} or self.flag",
                f"self.n == {a} and not self.flag",
                "self.part == Item(1)",
                "self.rows == []",
                "bool(other.flag)",
            )
        if depth == 0 or self.random.random() < 0.5:
            return plain
        other = self.condition(depth - 1)
        return self.pick(
            f"not ({other})", f"({plain}) and ({other})", f"({plain}) or ({other})",
            f"{self.value(1)} != {self.value(1)}",
        )  # fmt: skip

    def block(self, n: int, indent: int, depth: int) -> list[str]:
        lines = [line for _ in range(n) for line in self.statement(indent, depth)]
        return lines or [" " * indent + "pass"]

    def statement(self, indent: int, depth: int) -> list[str]:
        pad, a, v = " " * indent, self.number(), self.value()
        kind = self.random.randint(0, 19)
        if kind <= 2:
            return [f"{pad}require({self.condition()})"]
        if kind == 3 and depth:
            return [
                f"{pad}if {self.condition()}:",
                *self.block(2, indent + 4, depth - 1),
                *([f"{pad}else:", *self.block(1, indent + 4, depth - 1)] if int(a) % 2 else []),
            ]
        if kind == 4 and depth:
            over = self.pick("self.inbox", "self.log", "range(2)", "list(self.table)")
            return [
                f"{pad}for x in {over}:",
                f"{pad}    self.n = (self.n + x) % 3"
                if int(a) % 2
                else f"{pad}    other.inbox.add(x % 3)",
            ]
        if kind == 5 and depth:
            return [
                f"{pad}for node in nodes:",
                f"{pad}    if node.state == '{self.pick('idle', 'busy')}':",
                f"{pad}        node.n = {a}",
            ]
        if kind == 6:
            return [f"{pad}c = any_of([{a}, {self.number()}, {v}])", f"{pad}self.n = c % 4"]
        if kind == 7:
            return [f"{pad}m = any_of(self.inbox)", f"{pad}self.inbox.discard(m)"]
        if kind == 8 and int(a) == 0:
            return [f"{pad}assert {self.condition()}"]
        return [pad + line for line in self.effect(a, v).split("\n")]

    def effect(self, a: str, v: str) -> str:
        if self.unset and self.random.random() < 0.35:
            return self.fill(a, v)
        return self.pick(
            f"self.n = {v} % 4",
            "self.n += 1\nrequire(self.n < 4)",
            f"self.state = '{self.pick('idle', 'busy', 'done')}'",
            f"self.inbox.add({v} % 4)",
            f"other.inbox.add({v} % 3)",
            f"self.inbox.discard({a})",
            f"require(len(self.log) < 2)\nself.log.append({v})",
            "require(self.log)\nself.log.pop(0)",
            f"self.table[{a}] = {v} % 3",
            f"self.table.pop({a}, None)",
            f"self.item = Item({v} % 3)",
            "if self.item is not None:\n    self.item.n = (self.item.n + 1) % 3",
            "self.item = None",
            f"other.n = {v} % 3",
            f"board.total = {v} % 5",
            f"board.seen.add('s{a}')",
            f"board.scores['s{a}'] = {v} % 3",
            f"self.bump({a})",
            f"require(len(self.items) < 2)\nself.items.append(Item({v} % 3))",
            f"for item in self.items:\n    item.n = (item.n + {a}) % 3",
            f"last = self.latest()\nif last is not None:\n    last.tag = '{self.pick('a', 'b')}'",
            f"for item in self.all_of(nodes):\n    item.n = {v} % 3",
            "require(self.items)\nself.item = self.items.pop(0)",
            f"require(self.item is not None)\nself.item.n = {v} % 3\nself.item.tag = 'b'",
        )

    def fill(self, a: str, v: str) -> str:
        """Something that gives a field a value, or changes the value that it may not have."""
        b = self.number()
        return self.pick(
            f"self.flag = {v} == {a}",
            "other.flag = True",
            f"self.level = {v} % 4",
            "self.level += 1\nrequire(self.level < 4)",
            f"self.perhaps = None if self.n == {a} else {a}",
            f"self.kept = {{{a}, {b}}}",
            f"other.kept = set()\nother.kept.add({a})",
            f"self.kept.add({a})",
            f"self.rows = [{v}]",
            f"require(len(self.rows) < 2)\nself.rows.append({a})",
            f"self.by = {{{a}: {v} % 3}}",
            f"self.by[{a}] = {v} % 3",
            f"self.part = Item({v} % 3)",
            "self.part.n = (self.part.n + 1) % 3",
            "other.level = self.level\nother.kept = self.kept",
        )

    def source(self) -> str:
        lines = [HEAD.rstrip()]
        lines += [
            "",
            "    def ready(self) -> bool:",
            f"        return self.n != {self.number()} and len(self.inbox) < 3",
        ]
        lines += [
            "",
            "    def weight(self, x: int) -> int:",
            "        return (self.n + x + len(self.log)) % 4",
        ]
        lines += ["", "    def bump(self, x: int) -> None:", "        self.n = (self.n + x) % 4"]
        lines.append(METHODS.rstrip())
        for number in range(self.random.randint(1, 4)):
            choice = ", k: int = any_of([0, 1])" if self.random.random() < 0.3 else ""
            lines += [
                "",
                "    @action",
                f"    def act{number}(self, other: 'Node'{choice}) -> None:",
            ]
            if choice:
                lines.append("        self.table[k] = (self.n + k) % 2")
            lines += self.block(self.random.randint(1, 5), 8, 2)
        lines += [
            "",
            "board = Board()",
            f"nodes = [Node() for _ in range({self.random.randint(1, 2)})]",
        ]
        lines += [
            "",
            "def crowded(x: int) -> bool:",
            "    return sum(len(node.inbox) for node in nodes) > x",
        ]
        for number in range(self.random.randint(0, 2)):
            lines += [
                "",
                "@always",
                f"def safe{number}() -> bool:",
                f"    return all({self.about_node()} for node in nodes)",
            ]
        if self.random.random() < 0.5:
            lines += ["", *self.turns()]
        if self.random.random() < 0.4:
            lines += [
                "",
                "@exists",
                "def seen() -> bool:",
                f"    return any(not ({self.about_node()}) for node in nodes)",
            ]
        if self.random.random() < 0.3:
            lines += [
                "",
                "@constraint",
                "def small() -> bool:",
                f"    return board.total < {int(self.number()) + 1}",
            ]
        if self.random.random() < 0.4:
            lines += [
                "",
                "@terminal",
                "def over() -> bool:",
                f"    return all(node.n == {self.number()} for node in nodes)",
            ]
        return "\n".join(lines) + "\n"

    def turns(self) -> list[str]:
        """An invariant written as loops."""
        a, b = self.number(), self.number()
        return [
            "@always",
            "def in_turns() -> bool:",
            f"    least = {a}",
            "    for node in nodes:",
            f"        for at in range({self.pick('2', 'len(node.items)', 'node.n')}):",
            f"            if {self.about_node()}:",
            "                continue",
            "            near = node.latest()",
            f"            if near is not None and near.n + at > {b}:",
            "                return False",
            f"            {self.pick('least = min(least, at)', 'break', 'at = node.n', 'pass')}",
            f"    return least >= {self.pick('0', '1')} or board.total < {b}",
        ]

    def about_node(self) -> str:
        a = self.number()
        if self.random.random() < self.unset:
            return self.pick(
                f"node.n != {a} or not node.flag",
                f"(node.n == 0 or node.level != {a})",
                f"(node.n < 2 or {a} not in node.kept)",
            )
        return self.pick(
            f"node.n != {a}",
            f"len(node.inbox) < {int(a) + 1}",
            f"{a} not in node.table",
            f"node.state != 'done' or len(node.log) < {a}",
            f"not crowded({a}) or node.item is None",
            f"all(m < 3 for m in node.inbox) and node.weight({a}) < 4",
        )


def source(random: Random, unset: float = 0.0) -> str:
    """The text of a random spec."""
    return Writer(random, unset).source()
