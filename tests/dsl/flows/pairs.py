"""Generated specifications with flows and blocks, written in both languages at once.

Each statement is written twice: as .fizz text and in the embedded language. There an action is
possible only if it does something in each of its steps, here always; so an assignment follows every
guard and choice, and begins every branch of a block, which makes the two agree.
"""

from __future__ import annotations

from random import Random

Lines = list[tuple[str, str]]
FRONT = """---
deadlock_detection: false
options:
  crash_on_yield: {crash}
  max_concurrent_actions: {most}
---
"""
FIZZ_HEAD = (
    "action Init:\n    g = 0\n    ps = []\n    for i in range({roles}):\n        ps.append(P())\n"
)
OWN_HEAD = """from statewalk import *
deadlock(False)
threads({most})
crashes(runs={crash})
class Shared(State):
    g: int = 0
s = Shared()
"""


class Pairs:
    """Writes one specification; ``random`` decides everything."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.level = 0  # functions of lower levels may be called
        self.left = 0  # statements that may still be written
        self.made = 0

    def chance(self, likely: float) -> bool:
        return self.random.random() < likely

    # -- expressions: (.fizz, embedded) -----------------------------------------------------------
    def place(self) -> tuple[str, str]:
        return self.random.choice([("self.a", "self.a"), ("self.b", "self.b"), ("g", "s.g")])

    def atom(self) -> tuple[str, str]:
        return self.random.choice([self.place(), ("x", "x"), ("1", "1"), ("2", "2")])

    def value(self) -> tuple[str, str]:
        (a, b), (c, d) = self.atom(), self.atom()
        return f"({a} + {c}) % 3", f"({b} + {d}) % 3"

    def test(self) -> tuple[str, str]:
        (a, b), (c, d) = self.atom(), self.atom()
        sign = self.random.choice(["<", "==", "!="])
        return f"{a} {sign} {c}", f"{b} {sign} {d}"

    # -- statements -------------------------------------------------------------------------------
    def acting(self) -> Lines:
        (a, b), (c, d) = self.place(), self.value()
        return [(f"{a} = {c}", f"{b} = {d}")]

    def inside(self, fizz: str, own: str, body: Lines) -> Lines:
        return [(fizz, own), *(("    " + a, "    " + b) for a, b in body)]

    def block(self, flow: str, depth: int, loop: bool) -> Lines:
        """Statements, the first of which does something."""
        lines = self.acting()
        for _ in range(self.random.randint(0, 2)):
            if self.left > 0:
                lines += self.statement(flow, depth, loop)
        return lines

    def statement(self, flow: str, depth: int, loop: bool) -> Lines:
        """A statement in a block of a flow: atomic ones hold nothing that gives way."""
        self.left -= 1
        kinds = ["act", "act", "local", "choose", "require"]
        if flow != "atomic" and self.level:
            kinds += ["call", "call"]
        if depth:
            kinds += ["if", "for", "while", "oneof", "atomic"]
            kinds += ["serial", "parallel", "turns"] if flow != "atomic" else []
        kinds += ["jump"] if loop else []
        kind = self.random.choice(kinds)
        made: Lines = getattr(self, f"_{kind}")(flow, depth - 1, loop)
        return made

    def _act(self, flow: str, depth: int, loop: bool) -> Lines:
        return self.acting()

    def _local(self, flow: str, depth: int, loop: bool) -> Lines:
        a, b = self.value()
        return [(f"x = {a}", f"x = {b}")]

    def _choose(self, flow: str, depth: int, loop: bool) -> Lines:
        options = self.random.choice(["[0, 1]", "[2]", "range(2)"])
        return [(f"x = oneof {options}", f"x = any_of({options})"), *self.acting()]

    def _require(self, flow: str, depth: int, loop: bool) -> Lines:
        a, b = self.test()
        return [(f"require {a}", f"require({b})"), *self.acting()]

    def _call(self, flow: str, depth: int, loop: bool) -> Lines:
        a, b = self.atom()
        target = "x = " if self.chance(0.5) else ""
        name = f"f{self.random.randrange(self.level)}"
        return [(f"{target}self.{name}({a})", f"{target}self.{name}({b})")]

    def _if(self, flow: str, depth: int, loop: bool) -> Lines:
        a, b = self.test()
        lines = self.inside(f"if {a}:", f"if {b}:", self.block(flow, depth, loop))
        if self.chance(0.4):
            lines += self.inside("else:", "else:", self.block(flow, depth, loop))
        return lines

    def _jump(self, flow: str, depth: int, loop: bool) -> Lines:
        a, b = self.test()
        word = self.random.choice(["break", "continue", "return 1"])
        return self.inside(f"if {a}:", f"if {b}:", [(word, word)])

    def _for(self, flow: str, depth: int, loop: bool) -> Lines:
        head = f"for x in {self.random.choice(['[0, 1]', 'range(2)', '[]', '[2]'])}:"
        return self.inside(head, head, self.block(flow, depth, True))

    def _while(self, flow: str, depth: int, loop: bool) -> Lines:
        self.made += 1
        k = f"k{self.made}"
        begin, more = f"{k} = 0", f"{k} = {k} + 1"
        body = [(more, more), *self.block(flow, depth, True)]
        return [(begin, begin), *self.inside(f"while {k} < 2:", f"while {k} < 2:", body)]

    def _nested(self, word: str, children: Lines) -> Lines:
        return self.inside(f"{word}:", f"with {word}():", children)

    def _atomic(self, flow: str, depth: int, loop: bool) -> Lines:
        return self._nested("atomic", self.block("atomic", depth, loop))

    def _serial(self, flow: str, depth: int, loop: bool) -> Lines:
        return self._nested("serial", self.block("serial", depth, loop))

    def _parallel(self, flow: str, depth: int, loop: bool) -> Lines:
        children = [self._child(depth, loop) for _ in range(self.random.randint(2, 3))]
        return self._nested("parallel", [line for child in children for line in child])

    def _child(self, depth: int, loop: bool) -> Lines:
        """Return what stands in a parallel block, and does something."""
        kind = self.random.choice(["act", "act", "atomic", "serial", "oneof", "call"])
        if kind == "call" and self.level:
            return self._call("serial", 0, False)
        if kind in ("atomic", "serial", "oneof") and depth > 0:
            made: Lines = getattr(self, f"_{kind}")("serial", depth - 1, loop)
            return made
        return self.acting()

    def _oneof(self, flow: str, depth: int, loop: bool) -> Lines:
        first = self.acting()
        second = self._nested("atomic", self.block("atomic", max(depth - 1, 0), False))
        return self._nested("oneof", [*first, *second])

    def _turns(self, flow: str, depth: int, loop: bool) -> Lines:
        """A loop whose turns come in any order."""
        head = f"for x in {self.random.choice(['[0, 1]', 'range(2)'])}:"
        body = self._nested("atomic", self.block("atomic", 0, True))
        return self._nested("parallel", self.inside(head, head, body))

    # -- the whole --------------------------------------------------------------------------------
    def write(self) -> tuple[str, str]:
        """(.fizz text, embedded spec)"""
        fizz = ["role P:", "    action Init:", *(f"        self.{f} = 0" for f in "abn")]
        own = ["class P(Role):", *(f"    {f}: int = 0" for f in "abn")]
        for level in range(self.random.randint(0, 2)):
            self.level, self.left = level, 4
            flow = self.random.choice(["serial", "serial", "parallel"])
            body = self.block("serial", 2, False)
            if flow == "parallel":
                body = [line for _ in range(2) for line in self.acting()]
                last = self._nested("parallel", body)
                body = [*last, ("return x", "return x")]
            else:
                body = [*body, ("return x", "return x")]
            body = self._nested("serial", body)
            fizz += self._indented([f"func f{level}(x):", *("    " + a for a, _ in body)])
            own += self._indented([f"def f{level}(self, x: int) -> int:"])
            own += self._indented(["    " + b for _, b in body])
            self.level = level + 1
        for name in ("A", "B")[: self.random.randint(1, 2)]:
            self.left = 7
            flow = self.random.choice(["atomic", "serial", "serial", "serial"])
            start = [("require self.n < 1", "require(self.n < 1)"), ("self.n += 1", "self.n += 1")]
            body = [*start, ("x = 1", "x = 1"), *self.block("serial", 3, False)]
            option = "" if flow == "atomic" else f"flow={flow!r}, "
            fizz += self._indented([f"{flow} action {name}:", *("    " + a for a, _ in body)])
            own += self._indented([f"@action({option}concurrent=2)", f"def {name}(self) -> Any:"])
            own += self._indented(["    " + b for _, b in body])
        return self._headed(fizz, own)

    def _indented(self, lines: list[str]) -> list[str]:
        return ["    " + line for line in lines if line.strip()]

    def _headed(self, fizz: list[str], own: list[str]) -> tuple[str, str]:
        crash, roles = self.chance(0.3), 1 + self.chance(0.3)
        most = self.random.choice([1, 2])
        front = FRONT.format(crash=str(crash).lower(), most=most)
        first = "\n".join([front, *fizz, FIZZ_HEAD.format(roles=roles)])
        head = "from typing import Any\n" + OWN_HEAD.format(crash=crash, most=most)
        end = [f"ps = [P() for _ in range({roles})]", "@always", "def nothing() -> bool:"]
        return first, "\n".join([head, *own, *end, "    return s.g >= 0\n"])
