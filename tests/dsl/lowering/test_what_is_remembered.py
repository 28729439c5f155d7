"""Memoized comprehensions and calls depend on all that they read, and are invisible.

Each spec is run natively, by the reference engine, and without lowering; what Python does is
written in its properties.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from statewalk.checker import native
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines import reference
from statewalk.dsl.loader import load
from tests.cases import some
from tests.checker.native.agreement import told

# Python 3.14 warns of what `hidden` does on purpose.
pytestmark = pytest.mark.filterwarnings("ignore:'return' in a 'finally':SyntaxWarning")

HEAD = """
from functools import partial
from operator import attrgetter, is_
from typing import Any
from statewalk import *
deadlock(False)
"""

PEERS = """
class Item(Record):
    k: int = 0
    def __lt__(self, other: "Item") -> bool:
        return self.k < other.k + node.n
    def __bool__(self) -> bool:
        return self.k == node.n
class Node(Role):
    n: int = 0
    peers: set["Node"] = set()
    items: set[Item] = {{Item(1)}}
    listed: list[Item] = [Item(2)]
    seen: bool = False
    def __str__(self) -> str:
        return f"n{{self.n}}"
    @action
    def up(self) -> None:
        require(self.n < 2)
        self.n += 1
    @action
    def see(self) -> None:
        {before}
        require({question})
        self.seen = True
def two(x: Any) -> bool:
    match x:
        case Node(n=2):
            return True
    return False
def at_least(k: int, x: Any) -> bool:
    return x.n >= k
def hidden(x: Any) -> bool:
    two = False
    try:
        two = x.n == 2
    finally:
        return two
get_n = attrgetter("n")
full = partial(at_least, 2)
node = Node()
@init
def link() -> None:
    node.peers.add(node)
@always
def seen_at_two() -> bool:
    return not node.seen or node.n == 2
@exists
def seen() -> bool:
    return node.seen
"""

QUESTIONS = (
    "any(getattr(node, 'n') == 2 for node in self.peers)",
    "any(get_n(node) == 2 for node in self.peers)",
    "any(two(node) for node in self.peers)",
    "any(full(node) for node in self.peers)",
    "any(hidden(node) for node in self.peers)",
    "any(map(full, [node for node in self.peers]))",
    "not all(f'{node}' != 'n2' for node in self.peers)",
    "'n2' in [str(node) for node in self.peers]",
    "sum(1 for node in self.peers if '{}'.format(node) == 'n2')",
    "self.n == 2 and any(item < Item(0) for item in self.items)",
    "any(item for item in self.listed)",
    "any([item for item in self.listed])",
    "len([item for item in self.listed if item])",
    "sorted(item for item in {Item(1), Item(2)} | self.items)[0].k and self.n == 2",
    "max((Item(1), item) for item in self.items)[1].k == 1 and self.n == 2",
)

SPECS = {
    "what compares elements may look at the state": """
class Item(Record):
    k: int = 0
    def __lt__(self, other: "Item") -> bool:
        return self.k + node.n < other.k
class Node(Role):
    n: int = 0
    items: list[Item] = [Item(2), Item(0)]
    got: str = ""
    @action
    def up(self) -> None:
        require(self.n < 3)
        self.n += 1
    @action
    def see(self) -> None:
        require(self.n < 3)
        self.got = str((self.n, sorted(self.items)[0].k, min(self.items).k))
    @action
    def only_see(self) -> None:
        self.got = str(min(self.items).k)
    @action
    def put_in_order(self) -> None:
        require(self.n == 1)
        self.items.sort()
node = Node()
@always
def as_python() -> bool:
    return node.got in ("", "0", "2", "(0, 0, 0)", "(1, 0, 0)", "(2, 2, 2)", "(2, 0, 0)")
@exists
def seen() -> bool:
    return node.got == "(2, 2, 2)"
@exists
def ordered() -> bool:
    return node.got == "(2, 0, 0)"
""",
    "a local that is captured can change on the way": """
class Node(Role):
    xs: list[int] = [4, 4, 5]
    ys: set[int] = {1, 2}
    got: str = ""
    @action
    def go(self) -> None:
        require(self.got == "")
        seen = set()
        once = [x for x in self.xs if not (x in seen or seen.add(x))]
        out = []
        done = [out.append(y) for y in self.ys]
        self.got = str((once, sorted(seen), out, done))
node = Node()
@always
def as_python() -> bool:
    return node.got in ("", "([4, 5], [4, 5], [1, 2], [None, None])")
""",
    "captured things are themselves": """
class Job(Record):
    stage: int = 0
class Node(Role):
    cur: Job = Job(1)
    jobs: list[Job] = [Job(1), Job(1)]
    xs: set[int] = {1, 2}
    got: str = ""
    @action
    def go(self) -> None:
        require(self.got == "")
        job, first = Job(3), self.jobs[0]
        a = [job for x in self.xs]
        a[0].stage = 4
        b = [self.cur for x in self.xs]
        b[0].stage = 5
        same = [j is first for j in self.jobs]
        other = len([j for j in self.jobs if is_(j, first)])
        self.got = str((job.stage, self.cur.stage, same, other))
node = Node()
@always
def as_python() -> bool:
    return node.got in ("", "(4, 5, [True, False], 1)")
""",
    "what raises raises where Python does": """
class Part(Record):
    k: int = 0
class Job(Record):
    part: Part | None = None
class Node(Role):
    jobs: list[Job] = []
    xs: list[int] = []
    ok: bool = False
    bad: bool = False
    @action
    def put(self, full: bool, v: int = any_of((0, 1, 2))) -> None:
        require(len(self.jobs) < 2)
        self.jobs.append(Job(Part(1)) if full else Job())
        self.xs.append(v)
    @action
    def see(self) -> None:
        require(self.jobs)
        try:
            self.ok = any(job.part.k == 1 for job in self.jobs) or all(1 // x for x in self.xs)
            self.ok = bool(sum(1 // x for x in self.xs))
            self.ok = 1 in [1 // x for x in self.xs if 1 // x]
        except (AttributeError, ZeroDivisionError) as error:
            self.bad = type(error) is AttributeError
node = Node()
@always
def first_one_full() -> bool:
    return not node.jobs or node.jobs[0].part is None or any(j.part.k == 1 for j in node.jobs)
""",
    "a list is made whole before it is asked": """
class Node(Role):
    xs: list[int] = [0, 2]
    ys: set[int] = {0, 1}
    got: str = ""
    def told(self, question: int) -> str:
        try:
            if question == 0:
                return str(any([1 // (x - 2) for x in self.xs]))
            if question == 1:
                return str(all([y // x for y in self.ys for x in (1, 0)]))
            if question == 2:
                return str(any({[x] for x in self.xs}))
            return str(any(1 // (x - 2) for x in self.xs))
        except (ZeroDivisionError, TypeError) as error:
            return type(error).__name__
    @action
    def go(self) -> None:
        require(self.got == "")
        self.got = " ".join([self.told(0), self.told(1), self.told(2), self.told(3)])
node = Node()
@always
def as_python() -> bool:
    return node.got in ("", "ZeroDivisionError ZeroDivisionError TypeError True")
""",
    "names do not run into each other": """
class Item(Record):
    c: int = 0
    b_c: int = 0
class Node(Role):
    xs: list[int] = [1, 2, 3]
    got: str = ""
    @action
    def go(self) -> None:
        require(self.got == "")
        a, a_b, _h_a_b_c, _it = Item(5, 3), Item(1, 9), 2, 3
        first = [x for x in self.xs if x < a.b_c and x > a_b.c]
        second = [x + _it + _h_a_b_c + a.b_c for x in self.xs if x in self.xs]
        self.got = str((first, second))
node = Node()
@always
def as_python() -> bool:
    return node.got in ("", "([2], [9, 10, 11])")
""",
    "helpers give what they were given": """
class Vote(Record):
    who: int = 0
    won: bool = False
class Node(Role):
    epoch: int = 0
    got: str = ""
    def winner(self, votes: list[Vote]) -> Vote:
        return votes[self.epoch % len(votes)]
    def better(self, a: Vote, b: Vote) -> Vote:
        return a if self.epoch == 0 else b
    def same(self, a: Vote, b: Vote) -> bool:
        return self.epoch == 0 and a is b
    def twice(self) -> tuple[list[int], list[int]]:
        x = [self.epoch]
        return x, x
    def rows(self) -> list[list[int]]:
        return [[self.epoch]] * 2
    def votes(self) -> list[Vote]:
        vote = Vote(self.epoch)
        return [vote, vote]
    def fresh(self) -> list[int]:
        return [self.epoch, self.epoch]
    @action
    def elect(self) -> None:
        require(self.got == "")
        votes = [Vote(0), Vote(1)]
        self.winner(votes).won = True
        a, b = Vote(1), Vote(1)
        self.better(a, b).won = True
        x, y = self.twice()
        x.append(3)
        rows, two, one, other = self.rows(), self.votes(), self.fresh(), self.fresh()
        rows[0].append(1)
        two[0].won = True
        one.append(2)
        self.got = str((
            [v.won for v in votes], a.won, b.won, self.same(a, a), self.same(a, Vote(1, True)),
            len(y), rows[1], two[1].won, other, one is other,
        ))
node = Node()
@always
def as_python() -> bool:
    return node.got in (
        "",
        "([True, False], True, False, True, False, 2, [0, 1], True, [0, 0], False)",
    )
""",
    "an old value is looked at before what is added": """
class Item(Record):
    k: int = 0
class Node(Role):
    n: int = 0
    unset: int
    item: Item = Item()
    items: list[Item] = [Item(), Item()]
    log: list[int] = []
    any: Any = 0
    got: str = ""
    @property
    def counted(self) -> int:
        self.n += 1
        return 1
    def put(self, value: Any) -> Any:
        self.n = self.item.k = self.any = 5
        self.items[0].k = 6
        self.log = [7]
        return value
    def drop(self) -> int:
        self.items.pop(0)
        return 2
    @action
    def go(self) -> None:
        require(self.got == "")
        self.n += self.put(1)
        a = self.n
        self.item.k += self.put(1)
        b = self.item.k
        self.any += self.put(1)
        c = self.any
        self.items[0].k += self.put(1)
        d = self.items[0].k
        self.log += self.put([1])
        e = str(self.log)
        first = self.items[0]
        first.k += self.drop()
        self.items[0].k += 3
        self.any = [1]
        self.any += [2]
        try:
            self.unset += 1 // (self.n - self.n)
        except ZeroDivisionError:
            self.n = 9
        except Exception:
            self.n = 8
        u = (self.n, str(self.any))
        f = [x for x in self.log[self.put(0):]]
        g = len([x for x in self.items if x.k < self.counted])
        self.n -= (h := 1)
        ks = [i.k for i in self.items]
        self.got = str((a, b, c, d, e, ks, first.k, u, f, g, h, self.n))
node = Node()
@always
def as_python() -> bool:
    return node.got in ("", "(1, 6, 6, 7, '[7, 1]', [6], 8, (8, '[1, 2]'), [7, 1], 0, 1, 5)")
""",
    "what a call does is done, though its text does not show it": """
from bisect import insort
class Node(Role):
    log: list[int] = []
    kept: set[int] = set()
    n: int = 0
    some: int = 0
    @action
    def one(self) -> None:
        require(len(self.log) < 4)
        self.put((1,))
        self.put((1,))
    @action
    def two(self) -> None:
        require(len(self.log) < 4)
        self.append(1)
        self.append(1)
        self.kept.clear()
        self.keep(frozenset({1}))
    @action
    def three(self) -> None:
        require(len(self.log) < 4)
        self.sort_in(2)
        self.sort_in(2)
        self.some = self.pick()
    def put(self, x: tuple[int, ...]) -> None:
        log = self.log
        log += x
    def keep(self, x: frozenset[int]) -> None:
        kept = self.kept
        kept |= x
    def append(self, x: int) -> None:
        list(map(self.log.append, [x]))
    def sort_in(self, x: int) -> None:
        insort(self.log, x)
    def pick(self) -> int:
        return len(self.log) and choose()
choose = partial(any_of, (1, 2))
node = Node()
@always
def even() -> bool:
    return len(node.log) % 2 == 0
@exists
def chosen() -> bool:
    return node.some == 2
@exists
def kept() -> bool:
    return len(node.kept) == 1
""",
    "a call sees of which class its argument is": """
class Ping(Record):
    n: int = 0
class Pong(Record):
    n: int = 0
class Node(Role):
    cur: Ping | Pong = Ping()
    n: int = 0
    pinged: int = 0
    def weight(self, m: Ping | Pong) -> int:
        return self.n + (10 if isinstance(m, Ping) else 20)
    @action
    def flip(self) -> None:
        self.cur = Pong() if isinstance(self.cur, Ping) else Ping()
    @action
    def look(self) -> None:
        self.pinged = self.weight(self.cur) if self.pinged == 0 else 0
node = Node()
@exists
def ten() -> bool:
    return node.pinged == 10
@exists
def twenty() -> bool:
    return node.pinged == 20
""",
}  # fmt: skip


def _agree(text: str, folder: Path) -> dict[str, object]:
    path = folder / "spec.py"
    path.write_text(HEAD + text)
    plain, lowered = load(path, optimize=False), load(path)
    options = SearchOptions(keep_going=True, max_states=2000)
    expected = told(reference.explore(plain, options))

    assert expected == told(reference.explore(lowered, options))
    assert expected == told(native.explore(lowered, options))
    assert expected == told(native.explore(plain, options))
    return expected


@pytest.mark.sampled(2)
@pytest.mark.parametrize("before", ["pass", "require(self.n < 3)"])
@pytest.mark.parametrize("question", some(QUESTIONS, every=9))
def test_what_an_element_looks_at_counts(question: str, before: str, tmp_path: Path) -> None:
    found = _agree(PEERS.format(question=question, before=before), tmp_path)

    assert () == found["findings"]
    assert 1 == len(found["witnesses"])  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["[{}]", "{}"])
def test_a_list_in_an_invariant_is_made_whole(text: str, tmp_path: Path) -> None:
    asked = text.format("1 // (node.n - at) > 5 for at in (5, 0)")
    found = _agree(
        f"""
class Node(Role):
    n: int = 0
node = Node()
@always
def holds() -> bool:
    return all({asked})
""",
        tmp_path,
    )
    findings: Any = found["findings"]

    assert ["no_error" if "[" in text else "holds"] == [finding[0] for finding in findings]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", SPECS)
def test_lowered_code_does_what_python_does(name: str, tmp_path: Path) -> None:
    found = _agree(SPECS[name], tmp_path)

    assert () == found["findings"]
    assert SPECS[name].count("@exists") == len(found["witnesses"])  # type: ignore[arg-type]


SHORTENED = """
class Job(Record):
    stage: int = 0
class Worker(Role):
    n: int = 0
    jobs: list[Job] = [Job(), Job(1), Job(2)]
    def best(self) -> int:
        for job in self.jobs:
            if job.stage > 5:
                return 0
        return 1
    @action
    def work(self) -> None:
        self.n = self.best()
        {change}
worker = Worker()
"""


@pytest.mark.parametrize(
    "change", ["del self.jobs[2:]", "self.jobs.reverse()", "self.jobs[:1] = [Job(3)]"]
)
def test_a_call_that_went_through_a_list_does_not_count_when_the_list_changes(
    change: str, tmp_path: Path
) -> None:
    found = _agree(SHORTENED.format(change=change), tmp_path)

    assert () == found["findings"]
