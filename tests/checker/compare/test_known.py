"""What the configurations of a spec add to a comparison of its variants."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from statewalk import compare
from statewalk.checker.cli import main
from statewalk.dsl.errors import SpecError

SPEC = """
from typing import Literal
from statewalk import *

deadlock(False)
RULE: Constant[Literal["old", "new", "other"]] = "old"
SIZE: Constant[int] = 1
CAREFUL: Constant[bool] = True

assert RULE != "other" or SIZE > 1, "there is no other"

class Counter(Role):
    value: int = 0

    @action
    def up(self) -> None:
        require(self.value < SIZE)
        self.value += 1

counter = Counter()

@always
def small() -> bool:
    return counter.value < 2 or (RULE != "old" and CAREFUL)

config("old", expect=holds())
config("new", RULE="new", expect=holds())
config("old-2", SIZE=2, expect=violates({"small": 2}))
config("new-2", SIZE=2, RULE="new", expect=holds())
config("careless-2", SIZE=2, RULE="new", CAREFUL=False, expect=violates({"small": 2}))
config("other", SIZE=2, RULE="other", expect=holds())
"""


@pytest.fixture
def spec(tmp_path: Path) -> str:
    path = tmp_path / "spec.py"
    path.write_text(SPEC)
    return str(path)


def known(spec: str, *values: str, **constants: Any) -> tuple[str, ...]:
    found = compare(spec, vary={"RULE": values}, constants=constants, engine="reference")
    return found.known[f"RULE={values[1]}"]


def test_variants_that_do_not_differ_are_told_where_they_do(spec: str) -> None:
    [told] = known(spec, "old", "new")

    assert "With SIZE=2 they differ: `old-2` violates small after 2, `new-2` holds." == told


def test_a_default_that_has_a_part_in_what_is_fixed_is_named(spec: str) -> None:
    [told] = known(spec, "old", "new", SIZE=2)

    assert told == (
        "RULE=new fixes small only with CAREFUL=True, the default: with CAREFUL=False it is "
        "violated (`careless-2`)."
    )


def test_a_default_that_would_mend_what_is_violated_is_named(spec: str) -> None:
    told = known(spec, "old", "new", SIZE=2, CAREFUL=False)

    assert "With CAREFUL=True, the default, RULE=new violates nothing (`new-2`)." in told


def test_a_variant_that_needs_another_constant_is_left_out_and_says_so(
    spec: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 2 == main(["compare", spec, "--vary", "RULE=old,new,other"])
    shown = " ".join(capsys.readouterr().out.split())

    assert "Not compared RULE=other: SW304" in shown
    assert "Choose another value of RULE or SIZE with --set." in shown
    assert "Its configurations have SIZE=2, e.g. other." in shown
    assert "RULE=old RULE=new `small`" in shown


def test_a_comparison_needs_two_variants(spec: str) -> None:
    with pytest.raises(SpecError, match="another value of RULE or SIZE"):
        known(spec, "old", "other")
