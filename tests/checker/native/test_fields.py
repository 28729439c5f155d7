"""Which fields make the states: the counts are those of sets of states, and the report says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk.checker import native
from statewalk.checker.cli import main
from statewalk.checker.contract.search import Exploration, Key, SearchOptions
from statewalk.checker.engines import reference
from statewalk.checker.engines.fields import RUNS, estimate, readers_of
from statewalk.checker.engines.layout import Layout
from statewalk.checker.engines.repeats import Repeats
from statewalk.checker.library import spec_path
from statewalk.checker.report.profile import profile, render
from statewalk.checker.verdict.fields import FieldCost, field_costs, worth_leaving_out
from statewalk.dsl.loader import load
from statewalk.dsl.model import Model
from statewalk.dsl.values.stored import intern_key
from statewalk.dsl.view import State
from tests.cases import slow
from tests.places import ROOT

NEAR = 0.03
SPECS = [
    ("toys/two_phase_commit", {"RMS": 3}),
    slow("kafka/init_pid", {}),
    ("toys/token_ring", {}),
    slow("specs/toys/threads_flows.fizz", {}),
    ("specs/toys/sessions.py", {}),
    slow("toys/two_phase_commit", {"RMS": 4}),
    slow("toys/two_phase_commit", {"RMS": 5}),
    slow("kafka/init_pid", {"CLIENTS": 3}),
    slow("specs/examples/exclusion/peterson.py", {}),
    slow("kafka/replication", {}),
]
SPEC = """
from statewalk import Auxiliary, Role, action, always, any_of, deadlock

deadlock(False)


class Cell(Role):
    on: bool = False
    seen: {seen} = 0

    @action
    def turn(self) -> None:
        self.on = not self.on
        self.seen = any_of(range(12))


cells = [Cell() for _ in range(3)]


@always
def small() -> bool:
    return all(cell.seen < 12 for cell in cells)
"""


def loaded(spec: str, constants: dict[str, int]) -> Model:
    path = ROOT / spec
    return load(path if path.is_file() else spec_path(spec), constants)


def states_of(model: Model) -> list[State]:
    layout = Layout(model)
    options = SearchOptions(keep_going=True)
    search = reference.Search(model, options, layout, Repeats(model))
    reference.run(search, None, 0.0)
    return [layout.state(entry.row) for entry in search.seen.values()]


def without(states: list[State], keys: tuple[Key, ...]) -> int:
    """Count the states that differ elsewhere than in some fields, in sets of whole states."""
    names = {RUNS[1]} if keys == (RUNS,) else set()
    return len(
        {
            frozenset(
                (path, intern_key(value)) for path, value in state.items()
                if (path[0], path[2]) not in keys and path[2] not in names
            )
            for state in states
        }
    )  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize(("spec", "constants"), SPECS)
def test_sketches_are_near_the_exact_sets(spec: str, constants: dict[str, int]) -> None:
    model = loaded(spec, constants)
    states = states_of(model)
    options = SearchOptions(keep_going=True, every_field=True)
    found = native.explore(model, options)
    plain = reference.explore(model, options)
    exact = {one.keys: without(states, one.keys) for one in plain.fields}

    assert len(states) == found.counts.distinct
    assert exact == {one.keys: one.without for one in plain.fields}
    assert exact.keys() == {one.keys for one in found.fields}
    for one in found.fields:
        assert one.without == pytest.approx(exact[one.keys], rel=NEAR), one.keys


def sizes(found: Exploration) -> dict[tuple[Key, ...], float]:
    return {one.keys: one.without for one in found.fields}


@pytest.mark.thorough
def test_the_sketches_are_the_same_for_all_threads_and_for_fewer_fields() -> None:
    model = loaded("kafka/init_pid", {})
    every = sizes(native.explore(model, SearchOptions(every_field=True)))
    threads = sizes(native.explore(model, SearchOptions(every_field=True, threads=3)))
    unread = sizes(native.explore(model, SearchOptions()))

    assert every == threads
    assert unread.items() <= every.items()
    fields = ("Client", "last_state"), ("Client", "last_error")
    assert {fields, *((field,) for field in fields)} == unread.keys()


def test_wide_fingerprints_are_counted_by_their_second_word() -> None:
    model = loaded("toys/two_phase_commit", {"RMS": 3})
    options = SearchOptions(every_field=True, fingerprint_bits=128)
    states = states_of(model)

    for one in native.explore(model, options).fields:
        assert one.without == pytest.approx(without(states, one.keys), rel=NEAR), one.keys


def test_orbits_are_not_counted() -> None:
    model = loaded("toys/two_phase_commit", {"RMS": 3})
    options = SearchOptions(every_field=True, symmetry=True)

    assert not native.explore(model, options).fields
    assert not reference.explore(model, options).fields


def test_an_estimate_of_few_and_of_many() -> None:
    none = [16384, *[0] * 51]
    few = [16284, 50, 25, 13, 6, 3, 2, 1, *[0] * 44]

    assert estimate(none) == 0
    assert estimate(few) == pytest.approx(100, rel=0.01)


def test_readers_are_told_by_the_text() -> None:
    readers = readers_of(loaded("kafka/init_pid", {}))

    assert not readers["Client", "last_error"].steps
    assert ["type_ok", "pid_after_an_error"] == [*readers["Client", "last_error"].properties]
    assert "receive_init_pid_response" in readers["Client", "inbox"].steps
    assert readers["Broker", "inbox"].steps


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (
            "int",
            "make it Auxiliary and check the other properties (--property NAME) with --view on",
        ),
        ("Auxiliary[int]", "check the other properties (--property NAME) with --view on"),
    ],
)
def test_the_report_says_which_field_makes_the_states(
    kind: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    text = SPEC.replace("{seen}", kind)
    (tmp_path / "cells.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    assert main(["check", "cells.py", "--engine", "native"]) == 0

    printed = " ".join(capsys.readouterr().out.split())
    assert "fields Cell.seen makes 1,700 times the states" in printed
    assert f"no step reads it, only small · {said}" in printed


def test_only_what_pays_is_said() -> None:
    read = FieldCost(("A.x",), 3, 50.0, ("act",), ())
    unread = FieldCost(("A.y",), 3, 4.0, (), ("safe",))

    assert worth_leaving_out([read, unread], 10_000) == unread
    assert worth_leaving_out([read, unread], 9_999) is None
    assert worth_leaving_out([read], 10_000) is None


def test_factors_are_said_with_two_digits() -> None:
    said = [FieldCost((), 0, factor, (), ()).times for factor in (1.0, 2.57, 35.6, 104.3, 12345.0)]

    assert ["1", "2.6", "36", "100", "12,000"] == said


def test_a_profile_lists_what_makes_the_states() -> None:
    model = loaded("toys/two_phase_commit", {"RMS": 4})
    found = profile(model, SearchOptions(every_field=True))
    (line,) = [line for line in render(found).splitlines() if "ResourceManager.state   " in line]

    assert ["ResourceManager.state", "4", "9.6"] == line.split()[:3]
    assert "prepare, choose_to_abort, decided" in line
    assert found.fields == field_costs(
        model, native.explore(model, SearchOptions(every_field=True))
    )
