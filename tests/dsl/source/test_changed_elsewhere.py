"""Fields that change only through what an expression makes of them are not taken for constant.

Nothing in these specs writes to the field by its name: without the change it would not be part of
the state.
"""

from pathlib import Path

import pytest

from tests.cases import some
from tests.dsl.flows.block_cases import found

SPEC = """
from statewalk import *
deadlock(False)
class Job(Record):
    n: int = 0
    kids: list[int] = []
class C(Role):
    jobs: list[Job] = [Job(1), Job(2)]
    table: dict[int, Job] = {{1: Job(3)}}
    rows: list[dict[int, Job]] = [{{1: Job(4)}}]
    xs: list[int] = [0]
    ys: list[int] = [0]
    some: set[int] = {{1}}
    job: Job = Job()
    maybe_job: Job | None = Job()
    done: bool = False
    @action
    def go(self) -> None:
        require(not self.done)
        self.done = True
        {body}
c = C()
@exists
def it_changes() -> bool:
    now = c.jobs, c.table, c.rows, c.xs, c.some, c.job, c.maybe_job
    was = ([Job(1), Job(2)], {{1: Job(3)}}, [{{1: Job(4)}}], [0], {{1}}, Job(), Job())
    return c.done and now != was
"""
CHANGES = [
    "for j in self.table.values(): j.n = 9",
    "for _, j in self.table.items(): j.n = 9",
    "for j in list(self.table.values()): j.n = 9",
    "for _, j in sorted(self.table.items()): j.n = 9",
    "for j in self.table.copy().values(): j.n = 9",
    "any_of(self.table.values()).n = 9",
    "for j in sorted(self.jobs, key=lambda j: -j.n): j.n = 9",
    "list(self.jobs)[0].n = 9",
    "tuple(self.jobs)[0].kids.append(1)",
    "min(self.jobs, key=lambda j: j.n).n = 9",
    "max(self.xs, self.ys).append(1)",
    "(self.xs + self.ys) and (self.jobs + [])[0].kids.append(1)",
    "every = [Job()]; every += self.jobs; every[-1].n = 9",
    "(self.jobs or [])[0].n = 9",
    "xs = self.xs or []; xs.append(1)",
    "xs = self.xs if self.done else []; xs.append(1)",
    "xs = self.xs; xs *= 2",
    "some = self.some; some |= {2}",
    "table = self.table; table |= {2: Job()}",
    "(self.maybe_job or Job()).n = 9",
    "(self.job if self.done else Job()).kids.append(1)",
    "self.rows[0].get(1, Job()).n = 9",
    "for j in self.rows[0].values(): j.n = 9",
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("body", some(CHANGES, every=5))
def test_what_changes_through_an_expression_changes(body: str, tmp_path: Path) -> None:
    # before and after; the two engines agree
    assert found(tmp_path, "spec.py", SPEC.format(body=body))[0] == 2
