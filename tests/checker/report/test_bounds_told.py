"""A bound is told whatever the verdict: beside a violation too, with what it leaves open."""

from __future__ import annotations

from pathlib import Path

from statewalk import check

SPEC = """
from statewalk import *

class C(Role):
    n: int = 0
    m: int = 0

    @action
    def up(self) -> None:
        self.n += 1

    @action
    def never(self) -> None:
        require(self.n < 0)
        self.m = 1

c = C()

@always
def small() -> bool:
    return c.n < 2

@always
def less() -> bool:
    return c.n < 99
"""


def test_beside_a_violation(tmp_path: Path) -> None:
    (tmp_path / "spec.py").write_text(SPEC, encoding="utf-8")
    text = str(check(tmp_path / "spec.py", keep_going=True, max_depth=4))

    assert "  bounded     by --max-depth 4\n" in text
    assert "  undecided   less · Deadlock\n" in text


def test_not_where_the_search_went_to_its_end(tmp_path: Path) -> None:
    spec = SPEC.replace("self.n += 1", "self.n = (self.n + 1) % 4")
    (tmp_path / "spec.py").write_text(spec, encoding="utf-8")
    run = check(tmp_path / "spec.py", keep_going=True)

    assert "violated" == run.verdict
    assert "bounded" not in str(run)
    assert "undecided" not in str(run)


def test_a_guard_is_tried_in_no_more_states_than_were_searched(tmp_path: Path) -> None:
    (tmp_path / "spec.py").write_text(SPEC, encoding="utf-8")
    text = " ".join(str(check(tmp_path / "spec.py", properties=("less",), max_depth=3)).split())

    assert "was false in all 3 states sampled" in text
