"""Bug reports and whole specs of other checkers: what their authors found, or should have.

Each spec names its source. Counts are those of its manifest or of TLC, or of a search by hand.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from statewalk import check
from statewalk.checker.verdict.run import Run
from statewalk.dsl.errors import StatewalkError
from tests.cases import slow

SPECS = Path(__file__).parent / "specs"
ALL = {"keep_going": True}
WITH_VIEW = {"symmetry": True, "view": True}
NO_LIVENESS = {"liveness": False}

# spec, constants, options, verdict, what is violated → its length, distinct, generated, depth
ROWS = [
    ("liveness_threads", {}, {"threads": 1}, "violated", {"again_true": 1}, ()),
    slow("liveness_threads", {}, {"threads": 8}, "violated", {"again_true": 1}, ()),
    ("countdown", {}, ALL, "violated", {"ends_at_one": 5}, (6,)),
    ("symmetry_view", {}, WITH_VIEW, "holds", {}, (9,)),
    ("constraint_kinds", {"KIND": "state"}, ALL, "violated", {"bound": 4}, ()),
    ("constraint_kinds", {"KIND": "step"}, ALL, "violated", {"bound": 4}, ()),
    ("constraint_kinds", {"KIND": "both"}, ALL, "violated", {"bound": 4}, ()),
    ("raises_at_first", {}, {}, "violated", {"zero": 1}, ()),
    ("raises_at_first", {}, {"properties": ("stays",)}, "error", {}, ()),
    ("unbounded_liveness", {}, {"max_depth": 8}, "bounded", {}, ()),
    ("choice_once", {}, {}, "holds", {}, (5,)),
    ("invariant_key", {}, {}, "error", {}, ()),
    ("lasso", {}, ALL, "violated", {"not_zero": 3}, (3,)),
    ("coins", {"N": 5}, {"symmetry": True}, "holds", {}, (6,)),
    ("coins", {"N": 13}, {"symmetry": True}, "holds", {}, (14,)),
    ("fair_stutter", {}, ALL, "violated", {"one": 2}, (3,)),
    ("stepbug", {}, {}, "holds", {}, (20, 584, 2)),
    ("hot_end", {}, {}, "violated", {"cold_again": 2}, ()),
    slow("elevator", {}, {}, "holds", {}, (4122, 14296, 36)),
    slow("kvstore", {}, {}, "holds", {}, (2641, 28585, 9)),
    # the manifest counts a NO that is heard from two processes twice
    slow("nbacc", {}, {}, "holds", {}, (3016, 49400, 7)),
    slow("crdt", {"TOP": 2}, NO_LIVENESS, "bounded", {}, (2616, 62785, 13)),
    slow("replog", {}, ALL, "violated", {"in_sync": None}, ()),
    ("river", {}, ALL, "violated", {"no_solution": 14}, ()),
    ("ex_3c", {}, {}, "violated", {"Assertion": 15}, ()),
    slow("diskhead", {}, {}, "holds", {}, ()),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("spec", "constants", "options", "verdict", "lengths", "counts"), ROWS)
def test_it_comes_out_as_its_source_says(
    spec: str,
    constants: dict[str, Any],
    options: dict[str, Any],
    verdict: str,
    lengths: dict[str, int | None],
    counts: tuple[int, ...],
) -> None:
    run = check(SPECS / f"{spec}.py", constants, **options)

    found = run.counts
    assert verdict == run.verdict
    assert counts == (found.distinct, found.generated, found.depth)[: len(counts)]
    assert lengths == {name: lengths.get(name) and n for name, n in _violated(run).items()}


def _violated(run: Run) -> dict[str, int | None]:
    """The violated properties, instances as one, with the length of the shortest trace."""
    found: dict[str, int | None] = {}
    for result in run.properties:
        if result.verdict == "violated" and result.name != "no_error":
            found.setdefault(result.name.partition("(")[0], result.length)
    return found


@pytest.mark.parametrize(
    ("spec", "code", "said"),
    [
        ("init_reads_unset", "SW208", "has no value yet"),
        ("kvstore_dict", "SW110", "hides the type dict"),
        ("own_clock", "SW121", "require(not ready())"),
    ],
)
def test_it_is_refused_with_what_to_write(spec: str, code: str, said: str) -> None:
    with pytest.raises(StatewalkError) as refused:
        check(SPECS / f"{spec}.py")

    assert code == refused.value.code
    assert said in str(refused.value)


def test_the_false_conjunct_is_named() -> None:
    run = check(SPECS / "invariant_key.py", {"WHICH": "and"}, engine="reference")

    assert "7 not in s.m  is false" in str(run)
