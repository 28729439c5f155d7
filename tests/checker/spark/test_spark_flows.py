"""Flows that give way, with properties and constraints of steps, on Spark as natively.

Threads wait in slots of their own, which come and go; constraints of steps take candidates out of
batches while some of them are not learned yet. Together they use all that a level's job can do.
"""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest

from statewalk.checker.api import check
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines.reference import explore as explore_plainly
from statewalk.checker.native import explore as explore_natively
from statewalk.checker.spark import explore
from statewalk.dsl.loader import load

SAME = (
    "counts", "levels", "findings", "witnesses", "fired", "fresh", "stopped", "complete", "cut",
    "queue",
)  # fmt: skip
SPEC = """
from statewalk import *

deadlock(False)


class Stock(State):
    n: int = 0
    sold: list[int] = []


class Clerk(Role):
    sales: int = 0

    @action
    def restock(self) -> Flow[None]:
        require(stock.n == 0 and self.sales < 3)
        seen = stock.n
        yield
        for _ in range(2):
            seen += 1
            yield
        stock.n = seen

    @action
    def sell(self) -> Flow[None]:
        require(stock.n > 0 and len(stock.sold) < 4)
        seen = stock.n
        taken = any_of(range(1, seen + 1))
        yield
        stock.n = seen - taken
        self.sales += 1
        yield
        stock.sold.append(taken)


stock = Stock()
clerks = [Clerk() for _ in range(3)]


@on_step
def at_most_one_is_taken() -> bool:
    return stock.n >= old(stock.n) - 1


@constraint
@on_step
def nobody_takes_two_and_all() -> bool:
    return stock.n > 0 or old(stock.n) < 2


@constraint
def few_sales() -> bool:
    return sum(c.sales for c in clerks) <= 2


@always
def nothing_is_sold_twice() -> bool:
    return sum(c.sales for c in clerks) <= 1 + stock.n + len(stock.sold)


@exists
def two_are_sold() -> bool:
    return len(stock.sold) == 2
"""


DEPTH = 11
ROWS = {"buckets": 16, "tasks": 3, "native_until": 1}
FEW = {"buckets": 8, "tasks": 2, "native_until": 9}


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "clerks.py"
    path.write_text(textwrap.dedent(SPEC), encoding="utf-8")
    return path


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize(
    ("settings", "keep_going"), [(ROWS, True), (ROWS, False), (FEW, True), (FEW, False)]
)
def test_flows_with_constraints_of_steps(
    spec: Path, settings: dict[str, Any], keep_going: bool
) -> None:
    model = load(spec)
    options = SearchOptions(keep_going=keep_going, max_depth=DEPTH)
    native, found = explore_natively(model, options), explore(model, options, **settings)

    assert native.findings
    if keep_going:
        assert native.cut["nobody_takes_two_and_all"] > 0
        assert native.cut["few_sales"] > 0
    assert {f: getattr(native, f) for f in SAME} == {f: getattr(found, f) for f in SAME}
    assert found.statistics["jobs"] > 0


@pytest.mark.slow
def test_the_spec_means_natively_what_it_means_plainly(spec: Path) -> None:
    options = SearchOptions(keep_going=True, max_depth=9)
    plain, native = (e(load(spec), options) for e in (explore_plainly, explore_natively))

    assert plain.counts == native.counts
    assert plain.findings == native.findings
    assert plain.cut == native.cut


@pytest.mark.slow
@pytest.mark.spark
def test_what_was_moved_is_reported(spec: Path) -> None:
    from statewalk.checker.report.check import report

    result = check(
        spec,
        engine="spark",
        keep_going=True,
        max_depth=DEPTH,
        spark={"native_until": 1, "tasks": 3, "buckets": 8},
    )
    text = report(result).plain()

    assert "bytes moved per distinct state" in text
    assert "of the mean" in text
