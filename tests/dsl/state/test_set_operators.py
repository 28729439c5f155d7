"""Sets in the state take part in set arithmetic as Python's do, on either side of the operator."""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines.reference import explore
from statewalk.dsl.loader import load

SPEC = """
from statewalk import Record, State, action, always
ALL = frozenset({1, 2, 3})
class Op(Record):
    done: frozenset[int] = frozenset({2})
class Box(State):
    some: set[int] = {1, 2}
    kept: frozenset[int] = frozenset({2, 3})
    op: Op = Op()
    result: frozenset[int] | bool = frozenset()
    @action
    def compute(self) -> None:
        self.result = EXPRESSION
box = Box()
@always
def as_in_python() -> bool:
    return box.result in (frozenset(), EXPECTED)
"""


@pytest.mark.sampled(4)
@pytest.mark.parametrize("optimize", [True, False], ids=["lowered", "plain"])
@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("ALL - self.some", frozenset({3})),
        ("self.some - {1}", frozenset({2})),
        ("self.some - self.op.done", frozenset({1})),
        ("ALL - self.op.done - self.kept", frozenset({1})),
        ("self.some | self.kept", frozenset({1, 2, 3})),
        ("{7} | self.some", frozenset({1, 2, 7})),
        ("self.some & self.kept", frozenset({2})),
        ("ALL & self.kept", frozenset({2, 3})),
        ("self.some ^ self.kept", frozenset({1, 3})),
        ("{1} ^ self.some", frozenset({2})),
        ("self.some <= ALL", True),
        ("self.some < {1, 2}", False),
        ("ALL >= self.kept", True),
        ("ALL > self.some", True),
        ("self.kept >= self.op.done", True),
    ],
)
def test_operators_of_sets_in_the_state_mean_what_python_says(
    tmp_path: Path, expression: str, expected: object, optimize: bool
) -> None:
    spec = tmp_path / "box.py"
    spec.write_text(SPEC.replace("EXPRESSION", expression).replace("EXPECTED", repr(expected)))

    found = explore(load(spec, optimize=optimize), SearchOptions())

    assert () == found.findings
    assert 2 == found.counts.distinct
