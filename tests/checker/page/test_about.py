"""Sentences of a spec on its page: its subject, constants that were given, its actions."""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk import check, load
from statewalk.checker.page.about import about, docs_of, sentence
from statewalk.checker.page.data import of_run
from tests.checker.page.test_page import INIT_PID

SPEC = '''"""Boxes, of which
one is filled.

More of them."""

from typing import Literal
from statewalk import Constant, State, action, always, eventually, mutant, require

MOST: Constant[int] = 2
KIND: Constant[Literal["low", "high"]] = "low"


class Box(State):
    n: int = 0


box = Box()


def next_of(n: int) -> int:
    return n + 1


@action
def fill() -> None:
    """Put one more into it."""
    require(box.n < MOST)
    box.n = next_of(box.n)


@always
def few() -> bool:
    return (
        box.n
        < 3
    )


@eventually
def some() -> bool:
    """Something is in it in the end."""
    return box.n > 0


@mutant(next_of)
def two_at_once(n: int) -> int:
    """Two are put in at once."""
    return n + 2
'''


def test_a_page_says_what_a_spec_is_about_and_what_was_given(tmp_path: Path) -> None:
    spec = tmp_path / "boxes.py"
    spec.write_text(SPEC)
    model = load(spec, {"MOST": 3, "MUTANT": "two_at_once"})

    given = [["MOST", "3", ""], ["MUTANT", "'two_at_once'", "Two are put in at once."]]
    assert {"about": "Boxes, of which one is filled.", "given": given} == about(model)
    assert [] == about(load(spec, {"MOST": 2, "KIND": "low"}))["given"]
    assert {} == about(None)


def test_a_property_without_a_sentence_shows_its_expression(tmp_path: Path) -> None:
    spec = tmp_path / "boxes.py"
    spec.write_text(SPEC)
    model = load(spec)

    assert "box.n < 3" == sentence(model, "few")
    assert "" == sentence(model, "some") == sentence(model, "none") == sentence(None, "few")


def test_a_refinement_says_what_it_refines() -> None:
    found = sentence(load("toys/queue"), "is_a_set")

    assert "Each step is one that item_set allows, or changes nothing that item_set shows." == found


@pytest.mark.thorough
def test_a_step_has_the_docstring_of_its_action() -> None:
    run = check(INIT_PID, {"CLIENTS": 1, "MUTANT": "weak_send"}, engine="reference")
    steps = of_run(run)["traces"][0]["steps"]

    trace = run.traces["eventually_all_clients_get_pid"]
    told = docs_of(trace.steps)
    assert [told.get((s.file, s.line), "") for s in trace.steps] == [
        s.get("doc", "") for s in steps
    ]
    assert "TransactionCoordinator.handleInitProducerId." in {s.get("doc") for s in steps}
