"""A spec that breaks the symmetry that it declares is named, by every engine alike (SW209).

Each mutant is a symmetric spec with one line that picks a member by order, place or name.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines.table import ENGINES, load_engine
from statewalk.checker.symmetry.breaking import Sample
from statewalk.checker.symmetry.group import Symmetry
from statewalk.dsl.errors import SpecError
from statewalk.dsl.loader import load
from tests.cases import slow
from tests.checker.symmetry.specs import MODELS, SPECS, load_text

SPEC = """
KEYS = symmetric_values("k", 3)
class Board(State):
    leader: "N | None" = None
    key: str | None = None
    waiting: set["N"] = set()
    @action
    def clear(self) -> None:
        require(len(self.waiting) == 3)
        {clear}
    @action
    def take(self, k: str = any_of(KEYS)) -> None:
        {take}
class N(Role, symmetric=True):
    on: bool = False
    @action
    def turn(self) -> None:
        require(not self.on)
        self.on = True
        board.waiting.add(self)
        {turn}
board = Board()
ns = [N() for _ in range(3)]
@always
def fine() -> bool:
    return {fine}
@always
@on_step
def stepwise() -> bool:
    return {stepwise}
@constraint
def bounded() -> bool:
    return {bounded}
"""
RIGHT = {
    "clear": "self.waiting.clear()",
    "take": "self.key = k",
    "turn": "pass",
    "fine": "board.leader is None or board.leader in ns",
    "stepwise": "sum(n.on for n in ns) >= sum(old(n.on) for n in ns)",
    "bounded": "len(board.waiting) <= 3",
}
# what is wrong: the place, the line, and whom the message names
MUTANTS = {
    "the first of a set": ("clear", "self.leader = list(self.waiting)[0]", "Board#0.clear"),
    "the least by what it prints": ("clear", "self.leader = min(ns, key=repr)", "Board#0.clear"),
    "the last of a list": ("clear", "self.leader = ns[len(ns) - 1]", "Board#0.clear"),
    "a loop that ends early": (
        "clear",
        "self.leader = next(n for n in ns if n in self.waiting)",
        "Board#0.clear",
    ),
    "a value by its name": ("take", "self.key = 'k1' if k == 'k2' else k", "Board#0.take"),
    "the larger of two values": ("take", "self.key = max(k, self.key or k)", "Board#0.take"),
    "a guard that names one": ("turn", "require(self == ns[-1] or len(ns) < 3)", ".turn"),
    "an invariant that names a value": ("fine", "board.key != 'k1'", "fine"),
    "a step property that names one": (
        "stepwise",
        "ns[2 - 2].on == old(ns[2 - 2].on) or old(ns[2 - 1].on)",
        "stepwise",
    ),
    "a constraint that names one": ("bounded", "not ns[-2].on or len(board.waiting) > 1",
                                    "bounded"),
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", [slow("reference"), "native"])
@pytest.mark.parametrize("name", MUTANTS)
def test_what_breaks_symmetry_is_named(engine: str, name: str, tmp_path: Path) -> None:
    place, line, culprit = MUTANTS[name]
    model = load_text(tmp_path, SPEC.format(**{**RIGHT, place: line}))

    with pytest.raises(SpecError) as caught:
        load_engine(ENGINES[engine]).explore(model, SearchOptions(symmetry=True, keep_going=True))

    assert "SW209" == caught.value.code
    assert culprit in caught.value.message
    assert caught.value.at is not None


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", MUTANTS)
def test_engines_find_the_same(name: str, tmp_path: Path) -> None:
    place, line, _ = MUTANTS[name]
    model = load_text(tmp_path, SPEC.format(**{**RIGHT, place: line}))
    said = []
    for engine in ("reference", "native"):
        with pytest.raises(SpecError) as caught:
            load_engine(ENGINES[engine]).explore(model, SearchOptions(symmetry=True))
        said.append(str(caught.value))

    assert said[0] == said[1]


@pytest.mark.parametrize("engine", [slow("reference"), "native"])
def test_without_symmetry_nothing_is_said(engine: str, tmp_path: Path) -> None:
    model = load_text(
        tmp_path, SPEC.format(**{**RIGHT, "take": "self.key = max(k, self.key or k)"})
    )

    found = load_engine(ENGINES[engine]).explore(model, SearchOptions())

    assert found.complete


@pytest.mark.parametrize("engine", [slow("reference"), "native"])
def test_the_right_spec_passes(engine: str, tmp_path: Path) -> None:
    model = load_text(tmp_path, SPEC.format(**RIGHT))

    found = load_engine(ENGINES[engine]).explore(model, SearchOptions(symmetry=True))

    assert found.complete


def test_an_action_that_only_some_members_have(tmp_path: Path) -> None:
    text = """
class N(Role, symmetric=True):
    on: bool = False
ns = [N() for _ in range(3)]
@action
def turn(n: "N" = any_of(ns[1:])) -> None:
    n.on = not n.on
"""
    model = load_text(tmp_path, text)
    sample = Sample(Symmetry.of(model), SearchOptions())

    with pytest.raises(SpecError, match="no counterpart"):
        sample.look(0, model.initial_states)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("spec", ["toys/two_phase_commit.py", "kafka/init_pid.py"])
def test_the_library_keeps_its_symmetry(spec: str) -> None:
    found = load_engine(ENGINES["native"]).explore(
        load(MODELS / spec), SearchOptions(symmetry=True)
    )

    assert found.complete


def test_small_specs_keep_it(tmp_path: Path) -> None:
    for text in SPECS.values():
        model = load_text(tmp_path, text)
        sample = Sample(Symmetry.of(model), SearchOptions())
        sample.look(0, model.initial_states)
