"""Generated .fizz specifications with threads: flows, blocks, calls, loops, choices and crashes."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

FLOWS = ("atomic", "serial", "parallel", "oneof")


class Writer:
    """Writes one specification; ``random`` decides everything."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.role = ""  # whose function is written
        self.level = 0  # functions of lower levels may be called
        self.made = 0
        self.left = 0  # statements that may still be written
        self.returning = True
        self.any_order = False
        self.alone = False  # whether this is one of the statements of a block without an order
        self.gives: set[str] = set()

    def pick(self, *options: str) -> str:
        return self.random.choice(options)

    def chance(self, likely: float) -> bool:
        return self.random.random() < likely

    def fresh(self, word: str) -> str:
        self.made += 1
        return f"{word}{self.made}"

    # -- expressions ------------------------------------------------------------------------------
    def places(self) -> list[str]:
        """Return what can be assigned to."""
        own = ["self.f", "self.e"] if self.role == "P" else ["self.g"] if self.role == "Q" else []
        return ["a", "b", *own, *own]

    def number(self, known: list[str]) -> str:
        return self.random.choice([*self.places(), *known, *known, "0", "1", "2"])

    def value(self, known: list[str]) -> str:
        if self.chance(0.4):
            return self.number(known)
        return f"({self.number(known)} + {self.number(known)}) % 3"

    def test(self, known: list[str]) -> str:
        first = self.pick(*self.places(), *known)
        return f"{first} {self.pick('<', '==', '!=', '>=')} {self.number(known)}"

    def some(self, known: list[str]) -> str:
        """Return what a loop or a choice goes through."""
        return self.pick(
            "[0, 1]", "[1, 2]", "[2]", "range(2)", f"range({self.number(known)})", "[]"
        )

    # -- statements -------------------------------------------------------------------------------
    def block(self, known: list[str], depth: int, loop: bool, most: int = 3) -> list[str]:
        """Statements one after the other; what one binds, those after it know."""
        known = list(known)
        lines: list[str] = []
        for _ in range(self.random.randint(1, most)):
            if self.left > 0 or not lines:
                lines += self.statement(known, depth, loop)
        return lines

    def ordered(self, known: list[str], depth: int, loop: bool, most: int = 3) -> list[str]:
        """Statements of a block with an order, whatever is around it."""
        saved = self.any_order, self.alone
        self.any_order = self.alone = False
        lines = self.block(known, depth, loop, most)
        self.any_order, self.alone = saved
        return lines

    def inside(self, head: str, lines: list[str]) -> list[str]:
        return [head, *("    " + line for line in lines)]

    def statement(self, known: list[str], depth: int, loop: bool) -> list[str]:
        self.left -= 1
        plain: list[Callable[..., list[str]]] = [
            self.assign, self.assign, self.assign, self.local, self.passing, self.require,
            self.choose, self.call,
        ]  # fmt: skip
        nested = [self.branch, self.each, self.repeat, self.flow, self.flow, self.option]
        if loop and self.chance(0.15):
            return self.inside(f"if {self.test(known)}:", [self.pick("break", "continue")])
        if self.returning and self.chance(0.05):
            value = f" {self.value(known)}" if self.level or self.chance(0.5) else ""
            return self.inside(f"if {self.test(known)}:", ["return" + value])
        if depth and self.chance(0.4):
            return self.random.choice(nested)(known, depth - 1, loop)
        return self.random.choice(plain)(known)

    def assign(self, known: list[str]) -> list[str]:
        if self.chance(0.15):
            return [f"{self.pick(*self.places())} += 0", "a = a % 3"][:1]
        if self.chance(0.15):
            return [f"log = [{self.value(known)}]"]
        return [f"{self.pick(*self.places())} = {self.value(known)}"]

    def local(self, known: list[str]) -> list[str]:
        name, value = self.pick("x", "y"), self.value(known)
        known += [name] * (name not in known)
        return [f"{name} = {value}"]

    def passing(self, known: list[str]) -> list[str]:
        return ["pass"]

    def require(self, known: list[str]) -> list[str]:
        return [f"require {self.test(known)}"]

    def choose(self, known: list[str]) -> list[str]:
        name, options = self.pick("x", "y", "a"), self.some(known)
        condition = f" if {name} != {self.number(known)}" if self.chance(0.2) else ""
        known += [name] * (name not in known and name != "a")
        return [f"{name} = oneof {options}{condition}"]

    def call(self, known: list[str]) -> list[str]:
        """A call of a function of a lower level."""
        if not self.level and self.chance(0.2):
            return self.assign(known)
        callable_ = [n for n in range(3) if n < self.level] if self.level else [0, 1, 2]
        if not callable_:
            return self.assign(known)
        n = self.random.choice(callable_)
        receiver = self.pick("q.", "self.") if self.role == "P" else ""
        receiver = {"": "q.", "P": receiver, "Q": "self."}[self.role]
        if self.role != "Q" and self.chance(0.3):
            receiver = ""
        called = f"{receiver}f{n}({self.value(known)})"
        if self.chance(0.4):
            return [called]
        whose = {"": "", "q.": "Q", "self.": self.role}[receiver]
        if whose + str(n) not in self.gives:
            return [f"z = {called}"]
        name = self.pick("x", "y")
        known += [name] * (name not in known)
        return [f"{name} = {called}"]

    def branch(self, known: list[str], depth: int, loop: bool) -> list[str]:
        lines = self.inside(f"if {self.test(known)}:", self.ordered(known, depth, loop))
        if self.chance(0.2):
            lines += self.inside(f"elif {self.test(known)}:", self.ordered(known, depth, loop))
        if self.chance(0.4):
            lines += self.inside("else:", self.ordered(known, depth, loop))
        return lines

    def each(self, known: list[str], depth: int, loop: bool) -> list[str]:
        name = self.fresh("i")
        flow = self.pick("", "", "serial ", "atomic ", "parallel ")
        if flow == "parallel " or (self.any_order and not flow):
            body = self.apart([*known, name], depth, True)
        else:
            body = self.ordered([*known, name], depth, True, 2)
        return self.inside(f"{flow}for {name} in {self.some(known)}:", body)

    def repeat(self, known: list[str], depth: int, loop: bool) -> list[str]:
        name = self.fresh("k")
        flow = self.pick("", "", "serial ", "atomic ")
        body = [f"{name} = {name} + 1", *self.ordered([*known, name], depth, True, 2)]
        return [f"{name} = 0", *self.inside(f"{flow}while {name} < 2:", body)]

    def flow(self, known: list[str], depth: int, loop: bool) -> list[str]:
        flow = self.pick(*FLOWS)
        if flow in ("parallel", "oneof"):
            return self.inside(f"{flow}:", self.apart(known, depth, flow == "parallel"))
        return self.inside(f"{flow}:", self.ordered(known, depth, loop))

    def apart(self, known: list[str], depth: int, any_order: bool) -> list[str]:
        """Statements of which none knows what another one binds."""
        lines: list[str] = []
        saved = self.returning, self.any_order, self.alone
        self.returning, self.any_order, self.alone = False, any_order, True
        for _ in range(self.random.randint(1, 3)):
            if self.left > 0 or not lines:
                found = self.statement(list(known), depth, False)
                tops = [line for line in found if not line.startswith(" ")]
                single = len(tops) == 1 or tops[1:] in (["else:"],) or "elif" in " ".join(tops)
                lines += found if single else self.wrapped(found)
        self.returning, self.any_order, self.alone = saved
        return lines

    def wrapped(self, lines: list[str]) -> list[str]:
        """Several statements as one."""
        return self.inside(self.pick("serial:", "atomic:"), lines)

    def option(self, known: list[str], depth: int, loop: bool) -> list[str]:
        name = self.fresh("c")
        body = self.ordered([*known, name], depth, loop)
        return self.inside(f"oneof {name} in {self.some(known)}:", body)

    # -- the whole --------------------------------------------------------------------------------
    def function(self, role: str, level: int) -> list[str]:
        self.role, self.level, self.left = role, level, 4
        if level == 0:
            self.level = -1
        flow = self.pick("", "", "serial ", "atomic ", "parallel ", "oneof ")
        if flow in ("parallel ", "oneof "):
            body = self.apart(["n"], 1, flow == "parallel ")
        else:
            body = self.block(["n"], 1, False)
            if self.chance(0.7):
                body.append(f"return {self.value(['n'])}")
                self.gives.add(role + str(level))
        return self.inside(f"{flow}func f{level}(n):", body)

    def action(self, role: str, name: str) -> list[str]:
        self.role, self.level, self.left = role, 0, self.random.randint(3, 9)
        flow = self.pick("", "", "", "serial ", "atomic ", "parallel ", "oneof ")
        if flow in ("parallel ", "oneof "):
            body = self.apart([], 2, flow == "parallel ")
        else:
            guard = self.random.choice([[], [f"require {self.test([])}"]])
            body = [*guard, *self.block([], 2, False, 4)]
        return self.inside(f"{flow}action {name}:", body)

    def head(self) -> list[str]:
        """The options."""
        most = self.pick("1", "2", "2", "3")
        lines = ["---"]
        if self.chance(0.4):
            lines.append("deadlock_detection: false")
        lines += ["options:", f"  crash_on_yield: {self.pick('true', 'false', 'false')}"]
        lines.append(f"  max_concurrent_actions: {most}")
        if self.chance(0.25):
            lines.append(f"  max_actions: {self.pick('2', '3')}")
        if self.chance(0.2):
            lines += ["action_options:", f"  {self.pick('A0', 'P#.A')}:"]
            lines.append(f"    {self.pick('crash_on_yield: false', 'max_concurrent_actions: 1')}")
        return [*lines, "---"]

    def source(self) -> str:
        kept = self.pick("", "", '@state(ephemeral=["e"])', '@state(durable=["f"])')
        lines = [*self.head(), *([kept] if kept else [])]
        init = ["self.f = 0", self.pick("self.e = 0", "self.e = 1", "self.e = oneof [0, 1]")]
        role = self.inside("action Init:", init)
        for level in range(3):
            role += self.function("P", level)
        role += self.action("P", "A")
        lines += self.inside("role P:", role)
        role = self.inside("action Init:", ["self.g = 0"])
        for level in range(3):
            role += self.function("Q", level)
        lines += self.inside("role Q:", role)
        init = ["a = 0", self.pick("b = 0", "b = oneof [0, 1]"), "log = [0]", "q = Q()", "p = P()"]
        init += ["p2 = P()"] if self.chance(0.2) else []
        lines += self.inside("action Init:", init)
        for level in range(3):
            lines += self.function("", level)
        for number in range(self.random.randint(1, 2)):
            lines += self.action("", f"A{number}")
        for number in range(2):
            test = f"a + p.f < {self.pick('2', '3', '4')} or q.g != {self.pick('1', '2')}"
            lines += self.inside(f"always assertion S{number}:", [f"return {test}"])
        lines += self.inside(
            "exists assertion E:",
            [f"return b == {self.pick('1', '2')} and p.e == {self.pick('0', '2')}"],
        )
        if self.chance(0.5):
            step = f"return before.a != {self.pick('1', '2')} or after.p.f != {self.pick('0', '2')}"
            lines += self.inside("transition assertion T(before, after):", [step])
        return "\n".join(lines) + "\n"


def source(random: Random) -> str:
    """The text of a random specification."""
    return Writer(random).source()
