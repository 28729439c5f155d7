"""Counts under symmetry are numbers of orbits: compared with brute force, and with known figures.

Brute force explores without symmetry and unites states by trying every permutation. It shares only
the renaming of values with the product.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.engine import SearchOptions
from checker.layout import Layout
from checker.reference import explore
from checker.symmetry.group import Symmetry
from dsl.loader import load
from dsl.model import Model

MODELS = Path(__file__).parents[2] / "models"

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
}


def _reachable(model: Model) -> list[dict[Any, Any]]:
    layout = Layout(model)
    seen: dict[Any, dict[Any, Any]] = {}
    todo = [dict(s) for s in model.initial_states]
    while todo:
        state = todo.pop()
        row = layout.row(state)
        if row in seen:
            continue
        seen[row] = state
        for action in model.actions:
            todo += [model.successor(state, o) for o in model.outcomes(action, state)]
    return list(seen.values())


def _orbits(model: Model) -> int:
    symmetry, layout = Symmetry.of(model), Layout(model)
    renamings = list(symmetry.renamings())
    found = set()
    for state in _reachable(model):
        found.add(
            min(layout.fingerprint(layout.row(symmetry.renamed(state, r))) for r in renamings)
        )
    return len(found)


@pytest.mark.parametrize("name", SPECS)
def test_orbits_equal_brute_force(name: str, tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    path.write_text("from dsl import *\ndeadlock(False)\n" + SPECS[name])
    model = load(path)

    assert Symmetry.of(model).order > 1
    assert explore(model, SearchOptions(symmetry=True)).counts.distinct == _orbits(model)


@pytest.mark.parametrize(
    ("spec", "constants", "orbits"),
    [
        ("toys/two_phase_commit.py", {"RMS": 3}, 80),
        ("toys/two_phase_commit.py", {"RMS": 5}, 314),
        ("kafka/init_pid.py", {}, 162),
        ("kafka/init_pid.py", {"BROKERS": 3}, 172),
        pytest.param("kafka/init_pid.py", {"CLIENTS": 3}, 1596, marks=pytest.mark.slow),
    ],
)
def test_known_numbers_of_orbits(spec: str, constants: dict[str, Any], orbits: int) -> None:
    model = load(MODELS / spec, constants)

    result = explore(model, SearchOptions(symmetry=True))

    assert result.counts.distinct == orbits


@pytest.fixture(scope="module")
def friends(tmp_path_factory: pytest.TempPathFactory) -> tuple[Model, list[dict[Any, Any]]]:
    path = tmp_path_factory.mktemp("friends") / "friends.py"
    text = SPECS["members that point at each other"].replace("range(4)", "range(3)")
    path.write_text("from dsl import *\n" + text)
    model = load(path)
    return model, list(itertools.islice(_reachable(model), 64))


@given(order=st.permutations(range(3)), at=st.integers(0, 200))
def test_the_canonical_form_does_not_depend_on_names(
    order: list[int], at: int, friends: tuple[Model, list[dict[Any, Any]]]
) -> None:
    model, states = friends
    symmetry = Symmetry.of(model)
    layout = Layout(model, symmetry=symmetry)
    cell = symmetry.cells[0]
    renaming = dict(zip(cell, (cell[i] for i in order), strict=True))
    state = states[at % len(states)]

    orbit = layout.orbit(layout.row(state))

    assert orbit == layout.orbit(layout.row(symmetry.renamed(state, renaming)))
