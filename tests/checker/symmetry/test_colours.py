"""Canonical fingerprints of single states: graphs, whose symmetries are known.

A state is a set of pairs of members. Graphs have one fingerprint exactly if they are isomorphic,
and the stabiliser is the group of automorphisms. What is compiled is compared with its slow twin.
"""

from __future__ import annotations

import itertools
import random
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines.layout import Layout, Orbit
from statewalk.checker.native.kernels.arrays import POSITION_SHIFT
from statewalk.checker.native.orbits import names
from statewalk.checker.native.running import loop_of, start
from statewalk.checker.native.state import NativeSearch
from statewalk.checker.symmetry.group import Symmetry
from statewalk.dsl.model import Model
from statewalk.dsl.values.stored import FrozenSet
from tests.cases import some
from tests.checker.symmetry.specs import load_text

SPEC = """
class Graph(State):
    edges: set[tuple["N", "N"]] = set()
    @action
    def join(self, a: "N", b: "N") -> None:
        self.edges = self.edges | {(a, b)}
class N(Role, symmetric=True):
    pass
graph = Graph()
ns = [N() for _ in range(NUMBER)]
"""
Pairs = frozenset[tuple[int, int]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("graphs")


@cache
def model_of(n: int, folder: Path) -> tuple[Model, Layout]:
    model = load_text(folder, SPEC.replace("NUMBER", str(n)))
    return model, Layout(model, symmetry=Symmetry.of(model))


def orbit(n: int, pairs: Pairs, folder: Path) -> Orbit:
    """The orbit of a graph with n nodes."""
    model, layout = model_of(n, folder)
    nodes = model.roles["N"]
    edges = FrozenSet((nodes[a], nodes[b]) for a, b in pairs)
    return layout.orbit(layout.row({("Graph", 0, "edges"): edges}))


def renamed(pairs: Pairs, order: tuple[int, ...]) -> Pairs:
    return frozenset((order[a], order[b]) for a, b in pairs)


def both_ways(pairs: list[tuple[int, int]]) -> Pairs:
    return frozenset((*pairs, *((b, a) for a, b in pairs)))


def ring(n: int) -> Pairs:
    return both_ways([(i, (i + 1) % n) for i in range(n)])


TRIANGLES = both_ways([(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)])
PETERSEN = both_ways([*((i, (i + 1) % 5) for i in range(5)), *((i, i + 5) for i in range(5)),
                      *((5 + i, 5 + (i + 2) % 5) for i in range(5))])  # fmt: skip
CUBE = both_ways([(a, a ^ 1 << bit) for a in range(8) for bit in range(3)])
GRAPHS = {  # nodes, edges, automorphisms
    "nothing": (6, frozenset(), 720),
    "everybody": (6, frozenset(itertools.permutations(range(6), 2)), 720),
    "a ring": (8, ring(8), 16),
    "a ring one way": (7, frozenset((i, (i + 1) % 7) for i in range(7)), 7),
    "two triangles": (6, TRIANGLES, 72),
    "a cube": (8, CUBE, 48),
    "Petersen's graph": (10, PETERSEN, 120),
    "a star": (7, both_ways([(0, i) for i in range(1, 7)]), 720),
    "a path": (6, both_ways([(i, i + 1) for i in range(5)]), 2),
    "two sides, all joined": (6, both_ways(list(itertools.product((0, 1, 2), (3, 4, 5)))), 72),
    "loops": (4, frozenset((i, i) for i in range(4)), 24),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", GRAPHS)
def test_automorphisms(name: str, folder: Path) -> None:
    n, pairs, automorphisms = GRAPHS[name]
    symmetry = Symmetry.of(model_of(n, folder)[0])

    assert symmetry.order // automorphisms == orbit(n, pairs, folder).size


@pytest.mark.parametrize("name", some(GRAPHS, every=5))
def test_names_do_not_matter(name: str, folder: Path) -> None:
    n, pairs, _ = GRAPHS[name]
    chance = random.Random(5)
    for _ in range(2):
        order = tuple(chance.sample(range(n), n))
        assert orbit(n, pairs, folder) == orbit(n, renamed(pairs, order), folder)


def test_what_refinement_alone_cannot_tell(folder: Path) -> None:
    one, other = orbit(6, ring(6), folder), orbit(6, TRIANGLES, folder)

    assert one.fingerprint != other.fingerprint


graphs = st.frozensets(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=8)


@settings(deadline=None)
@given(one=graphs, other=graphs)
def test_equal_exactly_if_isomorphic(one: Pairs, other: Pairs, folder: Path) -> None:
    images = {renamed(one, order) for order in itertools.permutations(range(4))}

    assert len(images) == orbit(4, one, folder).size
    same = orbit(4, one, folder).fingerprint == orbit(4, other, folder).fingerprint
    assert (other in images) == same


@pytest.mark.parametrize(("name", "bits"), some(itertools.product(GRAPHS, [64, 128]), every=7))
def test_the_kernel_says_the_same(name: str, bits: int, folder: Path) -> None:
    n, pairs, _ = GRAPHS[name]
    model, _ = model_of(n, folder)
    search = start(model, SearchOptions(symmetry=True, fingerprint_bits=bits))
    nodes = model.roles["N"]
    state = {("Graph", 0, "edges"): FrozenSet((nodes[a], nodes[b]) for a, b in pairs)}

    row = search.layout.row(state)
    expected = search.layout.orbit(row)

    assert (expected.fingerprint, expected.size) == _compiled(search, row, bits)


def _compiled(search: NativeSearch, row: tuple[int, ...], bits: int) -> tuple[int, int]:
    """Fingerprint and size of a row's orbit, by the kernel."""
    orbits, learned = loop_of(search).orbits, search.learner.learned
    assert orbits is not None
    learned.contribute_all()
    values = np.zeros((1, len(search.layout.slots)), np.uint16)
    values[0, : len(row)] = row
    rows = search.level.rows._replace(values=values)
    links, itself = np.zeros(1, np.int64) << POSITION_SHIFT, np.full(1, -1, np.int32)
    fps, fixes = names(orbits.tables(), values.shape[1], rows, links, itself, learned.outcomes())
    words = [int(word) for word in fps[0]]
    fingerprint = (words[0] << 64) + words[1] if bits == 128 else words[0]
    return fingerprint, orbits.order // round(float(fixes[0]))
