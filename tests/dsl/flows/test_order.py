"""In a flow, expressions are evaluated in Python's order, whatever in them suspends it."""

from pathlib import Path

import pytest

from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines.reference import explore
from statewalk.dsl.errors import SpecError
from tests.cases import some
from tests.dsl.flows.replayed import agree, load_text

SPEC = """
class Node(Role):
    n: int = 0
    up: bool = False
    others: int = 0
    runs: int = 0
    xs: list[int] = [7, 8]
    d: dict[int, int] = {{}}
    @action
    def go(self) -> Flow[None]:
        require(self.runs < 1)
        self.runs += 1
        k = 0
{body}
    @action
    def other(self) -> None:
        require(self.others < 2)
        self.others += 1
        self.n += 5
        self.up = not self.up
        self.xs[0] = self.n
    def later(self, n: int = 1) -> Flow[int]:
        self.d[n] = self.n
        yield
        return n + self.n
    def both(self, a: int, b: int, c: int = 0) -> int:
        return a * 100 + b * 10 + c
nodes = [Node()]
"""

BODIES = [
    "self.n = self.n + (yield from self.later())",
    "self.n += yield from self.later()",
    "self.xs[self.n % 2] += yield from self.later()",
    "self.xs[(yield from self.later()) % 2] += self.n",
    "self.d[self.n] = yield from self.later()",
    "self.d[(yield from self.later())] = self.n",
    "self.n = self.both(self.n, (yield from self.later()), self.n)",
    "self.n = self.both(self.n, c=self.n, b=(yield from self.later()))",
    "self.n = self.both(*self.xs, c=(yield from self.later()))",
    "self.n = self.both(**{'a': self.n}, b=(yield from self.later()))",
    "self.n = self.both(self.n, **{'b': (yield from self.later())}, c=(yield from self.later(3)))",
    "self.d = {**self.d, self.n: (yield from self.later()), **self.d}",
    "self.xs = [self.n, *self.xs, (yield from self.later()), self.n]",
    "self.xs.append((yield from self.later(self.n)) + self.xs[0])",
    "self.d = {self.n: self.n, 9: (yield from self.later())}",
    "self.n = self.n if self.up else (yield from self.later())",
    "self.n = (yield from self.later()) if self.up else self.n",
    "self.up = self.up and (yield from self.later()) > 2",
    "self.up = bool(self.up or (yield from self.later()) or self.n)",
    "self.up = bool(self.n and self.up and (yield from self.later()) and self.n and self.n > 1)",
    "self.up = self.n < (yield from self.later()) < self.n",
    "self.up = self.n < 3 < (yield from self.later()) < (yield from self.later(2))",
    "if self.up and (yield from self.later()):\n            self.n = 3",
    "while self.n < (yield from self.later()) and self.n < 3:\n            self.n += 1",
    "for x in [self.n, (yield from self.later()), self.n]:\n            self.n += x",
    "self.n = len(f'{self.n}{(yield from self.later())}{self.n}')",
    "self.n = self.xs[self.n % 2 : (yield from self.later())][0] if self.up else 0",
    "self.n = sum(x for x in [self.n, (yield from self.later())])",
    "self.n = yield from self.later((yield from self.later(self.n)) + self.n)",
    "self.n = k + (k := 3) + (yield from self.later()) + k",
    "self.n = k + (yield from self.later((k := 3))) + k",
    "k += yield from self.later((k := 4))\n        self.n = k",
    "self.xs = [v := 3, (yield from self.later()), v + (v := 4), v]",
    "assert self.n < 99, (yield from self.later())",
    "assert self.n < (yield from self.later()) + 9, self.n",
    "del self.d[(yield from self.later()) * 0 + 1]",
    "yield (yield from self.later())\n        self.n = 2",
    "match (self.n, (yield from self.later())):\n            case (0, k): self.n = k\n"
    "            case (a, b) if a > b: self.n = 1\n            case _: self.n = a + b",
    "match self.n:\n            case 0:\n                yield\n                self.n = 1\n"
    "            case x:\n                self.n = (yield from self.later()) + x\n"
    "                return\n        self.n += 1",
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("body", some(BODIES, every=8))
def test_an_expression_around_a_yield_is_evaluated_in_order(body: str, tmp_path: Path) -> None:
    agree(tmp_path, SPEC.format(body=f"        {body}\n        yield"))


BINDINGS = [
    "if (k := self.n) == 0:\n            yield",
    "while (k := k + 1) < 3:\n            yield",
    "match (self.n, [1, 2, 3], {1: 2, 3: 4}):\n"
    "            case (k as l, [m, *rest], {1: o, **more}): pass\n"
    "        yield\n        k = l + m + o + rest[0] + more[3]",
    "limit = 0\n        match self.n:\n            case limit: pass\n        yield\n"
    "        k = limit",
    "k = sum([(last := x) for x in self.xs]) + last\n        yield\n        k += last",
    "k, *rest = self.xs\n        yield\n        k += rest[0]",
    "try:\n            k = 1 // self.n\n        except ZeroDivisionError as error:\n"
    "            k = len(str(error))\n        yield",
    "if self.n:\n            u = 1\n        yield\n        try:\n            k = u\n"
    "        except NameError:\n            k = 9",
    "u = 1\n        del u\n        yield\n        try:\n            k = u\n"
    "        except UnboundLocalError:\n            k = 9",
    "u = 1\n        yield\n        if self.n:\n            del u\n        yield\n        try:\n"
    "            k = u\n        except UnboundLocalError:\n            k = 9",
    "k = 3\n        yield\n        def add(x):\n            return x + k\n        k = add(k)",
    "yield\n        def add():\n            nonlocal k\n            k += 1\n"
    "        add()\n        add()",
    "for k in (1, 2):\n            yield",
    "r = range(2, 9, 3)\n        yield\n        k = sum(r) + r[0]",
]


@pytest.mark.parametrize("body", some(BINDINGS, every=8))
def test_what_python_binds_is_a_local_of_a_flow(body: str, tmp_path: Path) -> None:
    agree(tmp_path, SPEC.format(body=f"        {body}\n        yield\n        self.n = k\n"))


REFUSED = [
    ("f = lambda: (yield from self.later())", "a yield inside a lambda"),
    ("self.n = 1 + (yield)", "a yield inside an expression"),
    ("self.n, self.xs[(yield from self.later())] = 1, 2", "a yield among several targets"),
    (
        "f = lambda: k\n        if self.n:\n            return\n"
        "        k = 2\n        self.n = f()",
        "the inner function 'f'",
    ),
    (
        "def f():\n            return k\n        if self.n:\n            return\n        k = 2\n"
        "        self.n = f()",
        "the inner function 'f'",
    ),
    ("with (yield from self.later()):\n            pass", "a yield inside 'with'"),
    (
        "try:\n            pass\n        finally:\n            return",
        "a return or jump inside 'try'",
    ),
]


# Python 3.14 warns of that return.
@pytest.mark.sampled(3)
@pytest.mark.filterwarnings("ignore:'return' in a 'finally':SyntaxWarning")
@pytest.mark.parametrize(("body", "why"), REFUSED)
def test_where_a_flow_cannot_stop_it_says_so(body: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=why):
        load_text(tmp_path, SPEC.format(body=f"        {body}\n        yield"))


SERIAL = """
class Node(Role):
    n: int = 0
    m: int = 0
    others: int = 0
    done: bool = False
    @action(flow="serial")
    def go(self) -> None:
        require(not self.done)
        self.done = True
        self.n += self.later()
    @action
    def other(self) -> None:
        require(self.others < 1)
        self.others += 1
        self.n += 5
    def later(self) -> int:
        with serial():
            self.m = 1
            self.m = 2
        return 1
node = Node()
@always
def nothing_is_lost() -> bool:
    return not (node.others and node.m == 2 and node.n == 1)
"""


def test_a_call_that_gives_way_comes_after_what_is_added_to(tmp_path: Path) -> None:
    findings = explore(load_text(tmp_path, SERIAL), SearchOptions()).findings

    assert ["nothing_is_lost"] == [f.property for f in findings]
