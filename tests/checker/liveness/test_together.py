"""Assumptions, properties of steps and formulas with every other option: one verdict, or a refusal
before the search.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from statewalk import check
from statewalk.dsl.errors import RunError, SpecError
from statewalk.dsl.model import Model

SPEC = """
from typing import Annotated
from statewalk import *

class Box(Role, symmetric=True):
    n: Annotated[int, range(2)] = 0
    note: Annotated[int, range(2)] = 0  # no step reads it
    seen: Auxiliary[bool] = False

    @action(fair="weak")
    def tick(self) -> None:
        self.n = 1 - self.n
        self.note = any_of(range(2))
        self.seen = True

boxes = [Box(), Box()]

@assume
@eventually
@always
def noted() -> bool:
    return all(b.note for b in boxes)

@assume
@always
@eventually
def seen() -> bool:
    return all(b.seen for b in boxes)

@assume
@eventually
@always
@on_step
def in_order() -> bool:
    return any(old(b.n) != b.n for b in boxes)

@assume
@always
@eventually
@on_step
def moves() -> bool:
    return any(old(b.n) == 0 for b in boxes)

@always
@eventually
def first(box: Box) -> bool:
    return box.note == 1 and box.n == 0

@always
@eventually
@on_step
def wraps() -> bool:
    return any(old(b.n) == 1 and b.n == 0 for b in boxes)

@eventually
@always
@on_step
def never_wraps() -> bool:
    return not any(old(b.n) == 1 and b.n == 0 for b in boxes)

def all_first() -> bool:
    return all(b.n == 0 for b in boxes)

def all_noted() -> bool:
    return all(b.note for b in boxes)

steady = eventually_always(all_noted)
meets = implies(steady, always_eventually(all_first))

@always
def small(box: Box) -> bool:
    return box.n < 2
"""
VERDICTS = {
    "first(Box#0)": "holds", "first(Box#1)": "holds", "wraps": "holds", "never_wraps": "violated",
    "steady": "holds", "meets": "violated", "small(Box#0)": "holds", "small(Box#1)": "holds",
}  # fmt: skip
BOUND = "\n@constraint\ndef few() -> bool:\n    return all(b.n < 1 for b in boxes)\n"
STEP_BOUND = BOUND.replace("\ndef", "\n@on_step\ndef")
REFINES = '\nabstract = refines("abstract.py")\n'
PLAIN = (
    SPEC.replace("@assume\n@eventually\n@always\ndef", "def")
    .replace("@assume\n@always\n@eventually\ndef", "def")
    .replace("@assume", "")
)
ONE = SPEC.replace("all(b.note for b in boxes)", "boxes[0].note == 1", 1)


def written(folder: Path, text: str = SPEC) -> str:
    (folder / "spec.py").write_text(text)
    return str(folder / "spec.py")


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "options",
    [
        {"symmetry": True, "view": True},
        {"engine": "reference", "symmetry": True},
        {"engine": "reference", "slices": "on"},
        {"engine": "replaying", "slices": "auto"},
        pytest.param({"slices": "on"}, marks=pytest.mark.slow),
        pytest.param({"engine": "spark"}, marks=pytest.mark.slow),
        pytest.param({"max_memory": 1 << 32}, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_the_verdicts_are_the_same(options: dict[str, Any], tmp_path: Path) -> None:
    run = check(written(tmp_path), keep_going=True, **options)

    assert {p.name: p.verdict for p in run.result.properties if p.name in VERDICTS} == VERDICTS
    assert len(run.evidence.fairness["assumed"]) == 4


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        (ONE, {}, "SW106 Box is symmetric, but 'boxes.0.'"),
        (SPEC + BOUND, {}, "SW502 .* the constraint 'few'"),
        (SPEC + STEP_BOUND, {"symmetry": True}, "SW502 .* the constraint 'few'"),
        (SPEC, {"slices": "on", "view": True}, "SW357 --slice cannot be used with --view on"),
        (SPEC + REFINES, {}, "SW360 (?s:.*)The assumption 'noted' of spec is assumed"),
        (PLAIN + REFINES, {}, "SW360 (?s:.*)'in_order' of abstract is a property of steps"),
    ],
)
def test_what_does_not_combine_is_refused_before_the_search(
    text: str, options: dict[str, Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "abstract.py").write_text(PLAIN)
    monkeypatch.setattr(Model, "take", None)
    with pytest.raises((RunError, SpecError), match=said):
        check(written(tmp_path, text), **options)


def test_without_liveness_a_refinement_needs_no_assumption(tmp_path: Path) -> None:
    (tmp_path / "abstract.py").write_text(PLAIN)
    run = check(written(tmp_path, SPEC + REFINES), liveness=False)

    assert run.result.of("abstract").verdict == "holds"


def test_an_assumption_without_liveness_is_vacuous(tmp_path: Path) -> None:
    text = SPEC.partition("\n@always\n@eventually\ndef first")[0]
    run = check(written(tmp_path, text))

    said = "vacuous: noted is assumed of behaviors, and no property is about them"
    assert said in run.warnings
