"""Generated specs of the embedded language with flows: ``yield``, blocks, calls, crashes."""

from __future__ import annotations

import re
from random import Random

from tests.dsl.flows.fizz_source import Writer

BLOCKS = ("atomic", "serial", "serial", "parallel", "oneof")


class OwnWriter(Writer):
    """Writes one spec. Functions that say ``yield`` are called with ``yield from``."""

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self.flows: set[str] = set()  # functions with yield
        self.effects: set[str] = set()  # functions that do something: others count as expressions
        self.yields = False  # whether the present function has a yield
        self.atomic = False

    def places(self) -> list[str]:
        own = ["self.f", "self.e"] if self.role == "P" else ["self.g"] if self.role == "Q" else []
        return ["s.a", "s.b", *own, *own]

    def statement(self, known: list[str], depth: int, loop: bool) -> list[str]:
        may_yield = self.yields and not self.atomic and not self.alone
        if may_yield and self.chance(0.2):
            return ["yield"]
        return super().statement(known, depth, loop)

    def require(self, known: list[str]) -> list[str]:
        return [f"require({self.test(known)})"]

    def choose(self, known: list[str]) -> list[str]:
        name = self.pick("x", "y", "s.a")
        options = self.some(known)
        known += [name] * (name not in known and name != "s.a")
        return [f"{name} = any_of({options})"]

    def assign(self, known: list[str]) -> list[str]:
        if self.chance(0.1):
            return [f"s.log = [{self.value(known)}]"]
        return [f"{self.pick(*self.places())} = {self.value(known)}"]

    def call(self, known: list[str]) -> list[str]:
        if self.atomic:
            return self.assign(known)
        before = list(known)
        (line,) = super().call(known)
        found = re.search(r"(q\.|self\.|)f(\d)\(", line)
        if found is None:
            return [line]
        whose = {"q.": "Q", "self.": self.role, "": ""}[found[1]] + found[2]
        if whose not in self.effects or (whose in self.flows and not self.yields):
            known[:] = before
            return self.assign(known)
        called = line[line.index(found[0]) :]
        return [line.replace(called, "yield from " + called) if whose in self.flows else line]

    def each(self, known: list[str], depth: int, loop: bool) -> list[str]:
        name = self.fresh("i")
        flow = self.pick("", "", "", "parallel", "serial")
        in_any_order = flow == "parallel" or (self.any_order and not flow)
        if self.atomic:
            flow, in_any_order = "", False
        if in_any_order:
            body = self.apart([*known, name], depth, True)
        else:
            body = self.ordered([*known, name], depth, True, 2)
        lines = self.inside(f"for {name} in {self.some(known)}:", body)
        return self.inside(f"with {flow}():", lines) if flow else lines

    def repeat(self, known: list[str], depth: int, loop: bool) -> list[str]:
        name = self.fresh("k")
        body = [f"{name} = {name} + 1", *self.ordered([*known, name], depth, True, 2)]
        return [f"{name} = 0", *self.inside(f"while {name} < 2:", body)]

    def flow(self, known: list[str], depth: int, loop: bool) -> list[str]:
        flow = "oneof" if self.atomic else self.pick(*BLOCKS)
        if flow in ("parallel", "oneof"):
            return self.inside(f"with {flow}():", self.apart(known, depth, flow == "parallel"))
        saved, self.atomic = self.atomic, self.atomic or flow == "atomic"
        lines = self.inside(f"with {flow}():", self.ordered(known, depth, loop))
        self.atomic = saved
        return lines

    def option(self, known: list[str], depth: int, loop: bool) -> list[str]:
        return self.choose(known)

    def wrapped(self, lines: list[str]) -> list[str]:
        return self.inside("with atomic():" if self.atomic else "with serial():", lines)

    def function(self, role: str, level: int) -> list[str]:
        self.role, self.level, self.left = role, level or -1, 4
        self.yields = self.chance(0.5)
        body = self.block(["n"], 1, False)
        if self.yields:
            self.flows.add(f"{role}{level}")
            body.insert(0, "yield")
        if self.chance(0.7):
            body.append(f"return {self.value(['n'])}")
            self.gives.add(role + str(level))
        if re.search(r"(s|self)\.\w+ =|any_of|require|yield|with ", "\n".join(body)):
            self.effects.add(f"{role}{level}")
        first = "self, " if role else ""
        return self.inside(f"def f{level}({first}n: int):", body)

    def action(self, role: str, name: str) -> list[str]:
        self.role, self.level, self.left = role, 0, self.random.randint(3, 9)
        self.yields = self.chance(0.5)
        flow = self.pick("", "", "serial", "serial", "parallel", "oneof")
        options = [f"flow='{flow}'"] if flow else []
        options += [self.pick("concurrent=2", "crash=False")] if self.chance(0.4) else []
        if flow in ("parallel", "oneof"):
            self.yields = False
            body = self.apart([], 2, flow == "parallel")
        else:
            guard = self.random.choice([[], [f"require({self.test([])})"]])
            body = [*guard, *self.block([], 2, False, 4)]
            if self.yields:
                body.insert(len(guard), "yield")
        head = f"@action({', '.join(options)})"
        return [head, *self.inside(f"def {name}({'self' if role else ''}):", body)]

    def source(self) -> str:
        lines = [
            "from statewalk import *",
            "class Shared(State):",
            "    a: int = 0",
            "    b: int = 0",
        ]
        lines += ["    log: list[int] = [0]"]
        kind = self.pick("int", "Ephemeral[int]")
        other = [line for level in range(3) for line in self.function("Q", level)]
        functions = [line for level in range(3) for line in self.function("", level)]
        role = ["f: int = 0", f"e: {kind} = {self.pick('0', '1')}"]
        for level in range(3):
            role += self.function("P", level)
        role += self.action("P", "A")
        if self.chance(0.3):
            kill = self.pick("interrupt", "crash")
            body = [f"require(self.f == {self.pick('1', '2')})", f"{kill}(self)", "self.f = 0"]
            role += [f"@action({self.pick('', 'fault=True')})", *self.inside("def K(self):", body)]
        lines += self.inside("class P(Role):", role)
        lines += self.inside("class Q(Role):", ["g: int = 0", *other])
        lines += functions
        for number in range(self.random.randint(1, 2)):
            lines += self.action("", f"A{number}")
        lines += ["s = Shared()", "q = Q()", "p = P()"]
        lines += ["p2 = P()"] if self.chance(0.3) else []
        lines += [f"threads({self.pick('1', '2')})"] if self.chance(0.6) else []
        lines += [f"crashes({self.pick('True', 'runs=True', 'roles=True')})"] * self.chance(0.4)
        lines += ["deadlock(False)"] if self.chance(0.4) else []
        if self.chance(0.4):
            start = self.inside("def begin():", [f"s.b = any_of({self.pick('[0, 1]', '[2]')})"])
            lines += ["@init", *start]
        for number in range(2):
            test = f"s.a + p.f < {self.pick('2', '3', '4')} or q.g != {self.pick('1', '2')}"
            lines += ["@always", *self.inside(f"def s{number}():", [f"return {test}"])]
        test = f"s.b == {self.pick('1', '2')} and p.e == {self.pick('0', '2')}"
        lines += ["@exists", *self.inside("def seen():", [f"return {test}"])]
        return "\n".join(lines) + "\n"


def source(random: Random) -> str:
    """The text of a random spec."""
    return OwnWriter(random).source()
