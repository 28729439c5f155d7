"""A module that is loaded again is neither parsed nor compiled again: nobody changes its tree.

A .fizz file is read again, as options lie beside it.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from statewalk import check
from statewalk.dsl.loader import load, read_spec
from tests.cases import slow
from tests.places import ROOT

SPECS = [
    *sorted((ROOT / "models" / "toys").glob("[a-z]*.py")),
    *sorted((ROOT / "specs" / "toys").glob("[a-z]*.*z*")),
    ROOT / "models" / "kafka" / "init_pid.py",
    ROOT / "models" / "tables" / "paimon.py",
]
FEW = ("two_phase_commit.py", "init_pid.py", "threads_flows.fizz")


def everything(node: object) -> object:
    """A tree with whatever anybody wrote on its nodes."""
    if isinstance(node, ast.AST):
        return type(node), {name: everything(value) for name, value in vars(node).items()}
    return [everything(item) for item in node] if isinstance(node, list) else repr(node)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "path", [path if path.name in FEW else slow(path) for path in SPECS], ids=lambda p: p.stem
)
def test_a_load_changes_no_tree(path: Path) -> None:
    source = read_spec(str(path))
    before = everything(source.tree)

    first, second = load(path), load(path)

    assert (read_spec(str(path)) is source) == (path.suffix == ".py")
    assert before == everything(source.tree)
    assert repr(first.initial_states) == repr(second.initial_states)


def test_a_text_that_changed_is_read(tmp_path: Path) -> None:
    spec = tmp_path / "spec.py"
    for value in (1, 2, 1):  # and one that was read before
        spec.write_text(
            "from statewalk import *\n\nclass Box(Role):\n    n: int = 0\n\n    @action\n"
            "    def add(self) -> None:\n        self.n += 1\n\n@init\n"
            f"def start() -> None:\n    Box().n = {value}\n"
        )
        assert [value] == [*load(spec).initial_states[0].values()]


def test_a_model_is_told_of_with_the_text_that_it_was_loaded_from(tmp_path: Path) -> None:
    spec = tmp_path / "spec.py"
    text = (
        "from statewalk import State, action, always\n\nclass Box(State):\n    n: int = 0\n\n"
        "    @action\n    def add(self) -> None:\n        self.n = min(self.n + 1, 5)\n"
        "box = Box()\n\n@always\ndef small() -> bool:\n    return box.n < 3\n"
    )
    with_assert = text.replace("        self.n =", "        assert self.n < 9\n        self.n =")
    told = []
    for first, later in ((text, with_assert), (with_assert, text)):
        spec.write_text(first)
        model = load(spec)
        alone = check(model)
        spec.write_text(later.replace("box", "other"))
        load(spec)
        again = check(model)
        told.append([one.name for one in alone.result.properties])

        assert str(alone).partition("searched")[0] == str(again).partition("searched")[0]
        assert [one.name for one in again.result.properties] == told[-1]
        assert "box.n < 3" in str(again)
    assert told == [["small", "Deadlock"], ["small", "Deadlock", "Assertion"]]


def test_options_beside_a_text_that_did_not_change_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "action Init:\n  n = 0\n\natomic action Step:\n  if n < 2:\n    n += 1\n"
    for folder, value in (("a", "false"), ("b", "true"), ("a", "true")):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "spec.fizz").write_text(text)
        (tmp_path / folder / "fizz.yaml").write_text(f"deadlock_detection: {value}\n")
        monkeypatch.chdir(tmp_path / folder)

        assert load("spec.fizz").check_deadlock == (value == "true")
