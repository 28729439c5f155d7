"""Small symmetric specs, and the number of their orbits by brute force.

Brute force explores without symmetry and unites states by trying every permutation. It shares only
the renaming of values with the product.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from statewalk.checker.engines.layout import Layout
from statewalk.checker.symmetry.group import Renaming, Symmetry
from statewalk.dsl.loader import load
from statewalk.dsl.model import Model
from tests.places import ROOT

MODELS = ROOT / "models"
HEAD = "from statewalk import *\ndeadlock(False)\n"

SPECS = {
    "members that point at each other": """
class N(Role, symmetric=True):
    friend: "N | None" = None
    @action
    def befriend(self, other: "N") -> None:
        self.friend = other
ns = [N() for _ in range(4)]
""",
    "sets of members inside members": """
class N(Role, symmetric=True):
    peers: set["N"] = set()
    @action
    def meet(self, other: "N") -> None:
        require(other != self)
        self.peers.add(other)
        other.peers.add(self)
ns = [N() for _ in range(4)]
""",
    "an ordered queue of members": """
class Q(State):
    queue: list["N"] = []
class N(Role, symmetric=True):
    done: bool = False
    @action
    def join(self) -> None:
        require(self not in q.queue and len(q.queue) < 3)
        q.queue.append(self)
    @action
    def leave(self) -> None:
        require(len(q.queue) > 0)
        require(q.queue[0] == self)
        q.queue.pop(0)
        self.done = True
q = Q()
ns = [N() for _ in range(3)]
""",
    "two classes that know each other": """
class A(Role, symmetric=True):
    at: "B | None" = None
    @action
    def go(self, b: "B") -> None:
        self.at = b
        b.seen.add(self)
class B(Role, symmetric=True):
    seen: set[A] = set()
as_ = [A() for _ in range(2)]
bs = [B() for _ in range(2)]
""",
    "symmetric values as keys and elements": """
KEYS = symmetric_values("k", 3)
class D(State):
    table: dict[str, str] = {}
    log: set[tuple[str, str]] = set()
    @action
    def put(self, a: str = any_of(KEYS), b: str = any_of(KEYS)) -> None:
        require(len(self.log) < 2)
        self.table[a] = b
        self.log.add((a, b))
    @action
    def drop(self, a: str = any_of(KEYS)) -> None:
        require(a in self.table)
        del self.table[a]
d = D()
@always
def small() -> bool:
    return len(d.table) <= 3
""",
    "messages in a bag, and a copy of what a member saw": """
class Net(State):
    box: Bag[tuple["N", "N"]] = Bag()
class N(Role, symmetric=True):
    saw: tuple["N", ...] = ()
    @action
    def send(self, to: "N") -> None:
        require(len(net.box) < 2)
        net.box.add((self, to))
    @action
    def take(self) -> None:
        m = any_of(net.box)
        require(m[1] == self and len(self.saw) < 1)
        net.box.remove(m)
        self.saw = (*self.saw, m[0])
net = Net()
ns = [N() for _ in range(3)]
""",
    "sets of members as elements": """
class Ballot(Message):
    voters: frozenset["N"]
    round: int
class Box(State):
    ballots: set[Ballot] = set()
class N(Role, symmetric=True):
    @action
    def start(self) -> None:
        require(len(box.ballots) < 2)
        box.ballots.add(Ballot(frozenset([self]), len(box.ballots)))
    @action
    def support(self) -> None:
        b = any_of(box.ballots)
        require(self not in b.voters)
        box.ballots.remove(b)
        box.ballots.add(Ballot(b.voters | {self}, b.round))
box = Box()
ns = [N() for _ in range(4)]
""",
    "flows that keep members and places": """
class Slot(State):
    owner: "N | None" = None
class N(Role, symmetric=True):
    inbox: set["N"] = set()
    @action
    def ask(self, other: "N"):
        require(other != self)
        mine = self.inbox
        other.inbox.add(self)
        yield
        require(slot.owner is None)
        slot.owner = other
        yield
        mine.add(other)
        slot.owner = None
slot = Slot()
ns = [N() for _ in range(3)]
@constraint
def few() -> bool:
    return sum(len(n.inbox) for n in ns) <= 2
""",
    "choices in turns that come in any order": """
class Desk(State):
    asked: dict["N", bool] = {}
    on: bool = False
    @action(flow="serial")
    def ask(self):
        require(not self.on)
        self.on = True
        with parallel():
            for n in ns:
                with atomic():
                    self.asked[n] = any_of([False, True])
    @action
    def drop(self) -> None:
        self.asked.pop(any_of([n for n in self.asked if self.asked[n]]))
class N(Role, symmetric=True):
    seen: int = 0
    @action
    def look(self) -> None:
        require(self in desk.asked)
        self.seen = 1
desk = Desk()
ns = [N() for _ in range(3)]
""",
    "roles that come and go": """
class N(Role, symmetric=True, at_most=3):
    likes: "N | None" = None
    @action
    def like(self, other: "N") -> None:
        self.likes = other
    @action
    def leave(self) -> None:
        require(not any(n.likes == self for n in instances(N) if n != self))
        self.likes = None
        if desk.first == self:
            desk.first = None
        end(self)
class Desk(State):
    first: "N | None" = None
    @action
    def come(self) -> None:
        require(len(instances(N)) < 3)
        self.first = N(likes=any_of([None, self.first]))
desk = Desk()
""",
    "initial states, constraints and steps": """
class N(Role, symmetric=True):
    level: int = 0
    boss: "N | None" = None
    @action
    def rise(self) -> None:
        self.level += 1
    @action
    def follow(self, other: "N") -> None:
        require(other != self and self.boss is None)
        self.boss = other
ns = [N() for _ in range(3)]
@init
def anybody_ahead() -> None:
    any_of(ns).level = 1
@constraint
def low() -> bool:
    return all(n.level <= 2 for n in ns)
@constraint
@on_step
def one_boss_at_a_time() -> bool:
    return all(n.boss is None or old(n.boss) is not None or n.level == 0 for n in ns)
@always
@on_step
def only_up() -> bool:
    return all(n.level >= old(n.level) for n in ns)
@always
def never_both() -> bool:
    return not any(n.boss is not None and n.boss.boss == n for n in ns)
""",
}


def write(folder: Path, text: str) -> Path:
    """A spec on disk."""
    path = folder / "spec.py"
    path.write_text(HEAD + text)
    return path


def load_text(folder: Path, text: str) -> Model:
    """The model of a spec's text."""
    return load(write(folder, text))


def reachable(model: Model) -> list[dict[Any, Any]]:
    """Every state that constraints of states and steps keep."""
    layout = Layout(model)
    seen: dict[Any, dict[Any, Any]] = {}
    todo = [dict(s) for s in model.initial_states]
    while todo:
        state = todo.pop()
        row = layout.row(state)
        if row in seen or not _kept(model, state):
            continue
        seen[row] = state
        for action in model.actions:
            for outcome in model.outcomes(action, state):
                after = model.successor(state, outcome)
                if all(_holds(model, c, after, state) for c in model.step_constraints):
                    todo.append(after)
    return list(seen.values())


def _kept(model: Model, state: dict[Any, Any]) -> bool:
    return all(_holds(model, c, state) for c in model.constraints)


def _holds(model: Model, prop: Any, state: Any, before: Any = None) -> bool:
    from statewalk.dsl.state.plain_view import PlainView

    return model.holds(prop.whole, PlainView(state), None if before is None else PlainView(before))


def permutations(symmetry: Symmetry) -> Iterator[Renaming]:
    """Every permutation of the group, the identity first."""
    for choice in itertools.product(*(itertools.permutations(cell) for cell in symmetry.cells)):
        yield {
            a: b
            for cell, image in zip(symmetry.cells, choice, strict=True)
            for a, b in zip(cell, image, strict=True)
        }


def orbits_by_force(model: Model) -> tuple[int, int]:
    """The number of orbits of reachable states, and of the states in them."""
    symmetry, layout = Symmetry.of(model), Layout(model)
    renamings = list(permutations(symmetry))
    found: dict[int, int] = {}
    for state in reachable(model):
        images = {layout.fingerprint(layout.row(symmetry.renamed(state, r))) for r in renamings}
        found[min(images)] = len(images)
    return len(found), sum(found.values())
