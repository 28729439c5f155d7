"""The engines say the same under symmetry, for any number of threads; searches can be resumed."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numba
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from statewalk.checker import native
from statewalk.checker.api import check
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines import reference
from statewalk.checker.native.kernels import orbit_kernels
from statewalk.checker.traces.trace import build
from statewalk.dsl.errors import RunError
from statewalk.dsl.loader import load
from statewalk.dsl.model import Model
from tests.cases import examples, slow, some
from tests.checker.native.agreement import told
from tests.checker.symmetry.specs import MODELS, SPECS, load_text, orbits_by_force, write

INIT_PID = "kafka/init_pid.py"


def agree(model: Model, threads: tuple[int, ...] = (1, 2), **options: Any) -> None:
    """Assert that both engines say the same."""
    asked = SearchOptions(symmetry=True, **options)
    expected = reference.explore(model, asked)
    for n in threads:
        found = native.explore(model, replace(asked, threads=n))
        assert told(expected) == told(found)
        assert expected.statistics["represented"] == found.statistics["represented"]


@pytest.mark.parametrize(
    ("name", "keep_going", "bits"), some(product(SPECS, [False, True], [64, 128]), every=35)
)
def test_small_specs(name: str, keep_going: bool, bits: int, tmp_path: Path) -> None:
    agree(load_text(tmp_path, SPECS[name]), keep_going=keep_going, fingerprint_bits=bits)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("constants", "view"),
    [
        ({}, True),
        slow({"KEEP_PROCESSED": True}, True),
        slow({"KEEP_PROCESSED": True}, False),
        slow({"BROKERS": 3}, True),
        slow({"MUTANT": "phantom_pending", "BROKERS": 1, "TIDS": 2}, False),
        ({"MUTANT": "no_pending_check"}, False),
    ],
)
def test_producer_ids(constants: dict[str, Any], view: bool) -> None:
    agree(load(MODELS / INIT_PID, constants), view=view)


@pytest.mark.slow
def test_the_coordinator_model() -> None:
    agree(load(MODELS / "kafka/transactions.py"), max_depth=9)


@pytest.mark.parametrize("name", some(SPECS, every=12))
def test_the_reference_can_be_plain(name: str, tmp_path: Path) -> None:
    """Fingerprints of orbits do not depend on how fields are laid out in slots."""
    path = write(tmp_path, SPECS[name])
    expected = reference.explore(load(path, optimize=False), SearchOptions(symmetry=True))
    found = native.explore(load(path), SearchOptions(symmetry=True))

    assert told(expected) == told(found)


def test_a_trace_is_one_of_the_spec() -> None:
    model = load(MODELS / INIT_PID, {"MUTANT": "no_pending_check", "BROKERS": 1})
    found = native.explore(model, SearchOptions(symmetry=True))

    finding = next(f for f in found.findings if f.property == "pending_matches_log")
    trace = build(model, finding)

    assert 4 == trace.length
    state = dict(model.initial_states[finding.initial])
    for step in finding.steps:
        taken = [o for o in model.outcomes(model.actions[step.action], state)
                 if o.choices == step.choices]  # fmt: skip
        state = model.successor(state, taken[0])


@pytest.mark.thorough
def test_a_search_is_resumed(tmp_path: Path) -> None:
    model = load(MODELS / "toys/two_phase_commit.py", {"RMS": 5})
    whole = native.explore(model, SearchOptions(symmetry=True))
    folder = str(tmp_path / "saved")
    first = native.explore(model, SearchOptions(symmetry=True, checkpoint=folder, max_depth=7))

    again = native.explore(model, SearchOptions(symmetry=True, checkpoint=folder, resume=True))

    assert "depth" == first.stopped
    assert told(whole) == told(again)
    assert whole.statistics["represented"] == again.statistics["represented"]


def test_a_search_is_not_resumed_without_its_symmetry(tmp_path: Path) -> None:
    model = load(MODELS / "toys/two_phase_commit.py", {"RMS": 3})
    folder = str(tmp_path / "saved")
    native.explore(model, SearchOptions(symmetry=True, checkpoint=folder, max_depth=4))

    with pytest.raises(RunError) as caught:
        native.explore(model, SearchOptions(checkpoint=folder, resume=True))

    assert "SW341" == caught.value.code


def test_auto_takes_the_native_engine() -> None:
    result = check(MODELS / "toys/two_phase_commit.py", symmetry=True)

    assert ("native", 80) == (result.engine, result.counts.distinct)
    assert result.evidence.symmetry == (
        "ResourceManager#0–#2 change places",
        "80 orbits stand for 288 states (factor 3.6)",
    )


def test_where_nobody_can_change_places(tmp_path: Path) -> None:
    path = write(
        tmp_path, SPECS["members that point at each other"].replace("range(4)", "range(1)")
    )

    evidence = check(path, symmetry=True).evidence

    assert evidence is not None
    assert evidence.symmetry == ("the spec has no members that can change places",)


@pytest.mark.thorough
def test_who_stays_is_told() -> None:
    evidence = check(MODELS / INIT_PID, symmetry=True, liveness=False).evidence

    assert evidence is not None
    assert "Broker#0, #1 stay" in evidence.symmetry


@pytest.mark.thorough
def test_liveness_does_without() -> None:
    result = check(MODELS / INIT_PID, symmetry=True, view=True)

    assert 162 == result.counts.distinct
    assert "liveness was checked without symmetry and view, on 316 states" in result.warnings


@pytest.mark.thorough
@pytest.mark.parametrize("kernel", [slow(orbit_kernels.orbits), orbit_kernels.spread])
def test_kernels_do_not_count_references(kernel: Any, tmp_path: Path) -> None:
    native.explore(load_text(tmp_path, SPECS["an ordered queue of members"]),
                   SearchOptions(symmetry=True))  # fmt: skip
    # compiled anew, as numba shows no code of what it loaded from its cache
    njit: Any = numba.njit
    fresh = njit(nogil=True, _nrt=False)(kernel.py_func)
    fresh.compile(kernel.signatures[0])
    (code,) = fresh.inspect_llvm().values()

    assert re.search(r"^define", code, re.M)
    assert not re.search(r"NRT_(incref|decref|MemInfo)", code)


# -- generated specs -----------------------------------------------------------------------------

TYPES = {
    "flag": "bool = False",
    "near": '"N | None" = None',
    "known": 'set["N"] = set()',
    "queue": 'list["N"] = []',
    "links": 'dict["N", bool] = {}',
    "pairs": 'set[tuple["N", "N"]] = set()',
    "bag": 'Bag["N"] = Bag()',
}
# {o} is the role or the shared state that has the field, {a} and {b} are members.
CHANGES = {
    "flag": ["{o}.flag = not {o}.flag"],
    "near": ["{o}.near = {a}", "{o}.near = None", "{o}.near = {a}.near"],
    "known": ["{o}.known.add({a})", "{o}.known.discard({b})", "{o}.known = {a}.known | {{{b}}}"],
    "queue": ["require(len({o}.queue) < 2)\n        {o}.queue.append({a})",
              "require(len({o}.queue) > 0)\n        {o}.queue.pop(0)"],
    "links": ["{o}.links[{a}] = True", "{o}.links[{a}] = {a} == {b}",
              "{o}.links.pop({a}, None)"],
    "pairs": ["require(len({o}.pairs) < 3)\n        {o}.pairs.add(({a}, {b}))",
              "{o}.pairs.discard(({b}, {a}))"],
    "bag": ["require(len({o}.bag) < 3)\n        {o}.bag.add({a})"],
}  # fmt: skip
GUARDS = ["True", "self != other", "self.{f} == other.{f}", "shared.{g} == shared.{g}",
          "not any(n.{f} != self.{f} for n in ns)"]  # fmt: skip


@st.composite
def symmetric_specs(draw: st.DrawFn) -> str:
    """A spec in which nothing depends on names."""
    own = draw(st.lists(st.sampled_from([*TYPES]), min_size=1, max_size=2, unique=True))
    shared = draw(st.lists(st.sampled_from([*TYPES]), min_size=1, max_size=1))
    lines = ["class Shared(State):", *(f"    {f}: {TYPES[f]}" for f in shared)]
    lines += ["class N(Role, symmetric=True):", *(f"    {f}: {TYPES[f]}" for f in own)]
    for number in range(draw(st.integers(1, 3))):
        owner = draw(st.sampled_from(["self", "other", "shared"]))
        field = draw(st.sampled_from(shared if owner == "shared" else own))
        change = draw(st.sampled_from(CHANGES[field]))
        guard = draw(st.sampled_from(GUARDS)).format(f=draw(st.sampled_from(own)), g=shared[0])
        a, b = draw(st.permutations(["self", "other"]))
        if f".{field}" in change.replace("{o}", "") and field not in own:
            continue  # members have no such field
        lines += ["    @action", f'    def act{number}(self, other: "N") -> None:']
        lines += [f"        require({guard})", "        " + change.format(o=owner, a=a, b=b)]
    lines += ["    @action", "    def stay(self) -> None:", "        pass"]
    lines += ["shared = Shared()", f"ns = [N() for _ in range({draw(st.integers(2, 3))})]"]
    lines += ["@always", "def fine() -> bool:",
              f"    return all(n.{own[0]} == n.{own[0]} for n in ns)"]  # fmt: skip
    return "\n".join(lines)


@settings(
    max_examples=examples(30),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(text=symmetric_specs())
def test_generated_specs(text: str, tmp_path: Path) -> None:
    model = load_text(tmp_path, text)
    asked = SearchOptions(symmetry=True, max_depth=4, keep_going=True)
    expected, found = reference.explore(model, asked), native.explore(model, asked)

    assert told(expected) == told(found)
    plain = native.explore(model, SearchOptions(max_states=3000))
    if plain.complete:
        whole = native.explore(model, SearchOptions(symmetry=True))
        assert plain.counts.distinct == whole.statistics["represented"]
        if plain.counts.distinct < 300:
            assert orbits_by_force(model)[0] == whole.counts.distinct
