"""Counts under symmetry are numbers of orbits: as by brute force, and as known figures say."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from statewalk.checker.contract.search import Exploration, SearchOptions
from statewalk.checker.engines.layout import Layout
from statewalk.checker.engines.table import ENGINES, load_engine
from statewalk.checker.symmetry.group import Symmetry
from statewalk.dsl.loader import load
from statewalk.dsl.model import Model
from tests.cases import slow, some
from tests.checker.symmetry.specs import (
    MODELS,
    SPECS,
    load_text,
    orbits_by_force,
    permutations,
    reachable,
)

TWO_PHASE_COMMIT, INIT_PID = "toys/two_phase_commit.py", "kafka/init_pid.py"
BOTH = pytest.mark.parametrize("engine", ["reference", "native"])


def explored(engine: str, model: Model, **options: Any) -> Exploration:
    return load_engine(ENGINES[engine]).explore(model, SearchOptions(symmetry=True, **options))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("engine", "name"), some(product(["reference", "native"], SPECS), every=17)
)
def test_orbits_equal_brute_force(engine: str, name: str, tmp_path: Path) -> None:
    model = load_text(tmp_path, SPECS[name])

    found = explored(engine, model, keep_going=True)

    assert Symmetry.of(model).order > 1
    assert (found.counts.distinct, found.statistics["represented"]) == orbits_by_force(model)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("spec", "constants"),
    [
        (TWO_PHASE_COMMIT, {"RMS": 3}),
        slow(TWO_PHASE_COMMIT, {"RMS": 4}),
        (INIT_PID, {}),
        slow(INIT_PID, {"BROKERS": 3}),
    ],
)
def test_orbits_of_the_library_equal_brute_force(spec: str, constants: dict[str, Any]) -> None:
    model = load(MODELS / spec, constants)

    found = explored("native", model)

    assert (found.counts.distinct, found.statistics["represented"]) == orbits_by_force(model)


# States are those without symmetry, as TLC counts them; generated is fixed by the orbits.
KNOWN = [
    ({"RMS": 3}, 80, 288),
    ({"RMS": 5}, 314, 8832),
    slow({"RMS": 6}, 553, 50816),
    slow({"RMS": 9}, 2232, 10340352),
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("constants", "orbits", "states"), KNOWN)
def test_two_phase_commit_natively(constants: dict[str, Any], orbits: int, states: int) -> None:
    found = explored("native", load(MODELS / TWO_PHASE_COMMIT, constants), threads=2)

    assert (found.counts.distinct, found.statistics["represented"]) == (orbits, states)


@pytest.mark.parametrize(("constants", "orbits", "states"), [KNOWN[0], slow(*KNOWN[1])])
def test_two_phase_commit_by_the_reference(
    constants: dict[str, Any], orbits: int, states: int
) -> None:
    found = explored("reference", load(MODELS / TWO_PHASE_COMMIT, constants))

    assert (found.counts.distinct, found.statistics["represented"]) == (orbits, states)


@pytest.mark.slow
def test_twenty_resource_managers() -> None:
    found = explored("native", load(MODELS / TWO_PHASE_COMMIT, {"RMS": 20}))

    assert found.counts.distinct == 54922


@pytest.mark.slow
def test_the_public_coordinator() -> None:
    """Fewer than the 3,573 / 1,798 of TLC, which does not bring every orbit to one form."""
    constants = {"MAX_ELECTIONS": 1, "MATERIALISE": "from_cache", "MUTANT": "pid_regress"}
    model = load(MODELS / "kafka/transactions.py", constants)

    found = explored("native", model, properties=("type_ok",))

    assert (found.counts.generated, found.counts.distinct, found.counts.depth) == (3520, 1767, 27)
    # twice the 3,517 states there are: the first leader is the same one in each initial state
    assert found.statistics["represented"] == 7034
    assert not Symmetry.of(model).starts_evenly()


# Unlabelled graphs (A000088) and partial functions (A126285 of the On-Line Encyclopedia of Integer
# Sequences) with so many nodes: what members that know each other amount to.
GRAPHS, FUNCTIONS = {4: 11, 5: 34, 6: 156, 7: 1044}, {4: 45, 5: 121, 6: 338, 7: 929}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("n", GRAPHS)
def test_members_that_meet_are_graphs(n: int, tmp_path: Path) -> None:
    text = SPECS["sets of members inside members"].replace("range(4)", f"range({n})")

    found = explored("native", load_text(tmp_path, text))

    assert (found.counts.distinct, found.statistics["represented"]) == (
        GRAPHS[n],
        2 ** (n * (n - 1) // 2),
    )


@pytest.mark.sampled(2)
@pytest.mark.parametrize("n", FUNCTIONS)
def test_members_that_have_a_friend_are_partial_functions(n: int, tmp_path: Path) -> None:
    text = SPECS["members that point at each other"].replace("range(4)", f"range({n})")

    found = explored("native", load_text(tmp_path, text))

    assert (found.counts.distinct, found.statistics["represented"]) == (FUNCTIONS[n], (n + 1) ** n)


@pytest.mark.thorough
@BOTH
@pytest.mark.parametrize(
    ("constants", "orbits", "states"),
    [({}, 162, 316), slow({"CLIENTS": 3}, 1596, 9098), slow({"BROKERS": 3}, 172, 468)],
)
def test_producer_ids(engine: str, constants: dict[str, Any], orbits: int, states: int) -> None:
    found = explored(engine, load(MODELS / INIT_PID, constants), view=True)

    assert (found.counts.distinct, found.statistics["represented"]) == (orbits, states)


@pytest.mark.thorough
@BOTH
def test_producer_ids_with_clients_alone(engine: str, tmp_path: Path) -> None:
    text = (MODELS / INIT_PID).read_text()
    spec = tmp_path / "clients.py"
    spec.write_text(text.replace("class Broker(Role, symmetric=True)", "class Broker(Role)"))
    model = load(spec, {"BROKERS": 3})

    found = explored(engine, model, view=True)

    assert ("Client",) == model.symmetric
    assert found.counts.distinct == 240


Some = tuple[Model, list[Any]]


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Some]:
    @cache
    def some_of(name: str) -> Some:
        model = load_text(tmp_path_factory.mktemp("spec"), SPECS[name])
        return model, list(itertools.islice(reachable(model), 64))

    return some_of


@pytest.mark.thorough
@settings(deadline=None)  # a spec is loaded where it is first asked for
@given(
    at=st.integers(0, 63), choice=st.randoms(use_true_random=False), name=st.sampled_from([*SPECS])
)
def test_the_orbit_does_not_depend_on_names(
    at: int, choice: Any, name: str, states: Callable[[str], Some]
) -> None:
    model, reached = states(name)
    symmetry = Symmetry.of(model)
    layout = Layout(model, symmetry=symmetry)
    renaming = choice.choice(list(permutations(symmetry)))
    state = reached[at % len(reached)]

    orbit = layout.orbit(layout.row(state))

    assert orbit == layout.orbit(layout.row(symmetry.renamed(state, renaming)))
