"""The locals that suspended runs keep."""

from pathlib import Path

from statewalk import check
from tests.dsl.flows.block_cases import found

KEPT = """
from statewalk import *
deadlock(False)
class R(Record):
    n: int = 0
class P(Role):
    jobs: list[R] = [R(), R()]
    out: list[int] = []
    op: R = R()
    stage: int = 0
    @action
    def go(self) -> Flow[None]:
        require(self.stage == 0)
        self.stage = 1
        numbers, table, record, some = [1], {"a": [1]}, R(n=5), {3, 1}
        yield
        numbers.append(2)
        table["a"].append(4)
        record.n = 6
        some.add(2)
        yield
        self.out = numbers + table["a"] + [record.n] + sorted(some)
        self.op = record
        yield
        for i, job in enumerate(self.jobs):
            yield
            job.n = i + 1
        pair, listed = (self.op, self.jobs[0]), [self.op]
        yield
        pair[1].n += 10
        listed[0].n += 10
p = P()
@exists
def values_change_and_references_refer() -> bool:
    return p.out == [1, 2, 1, 4, 6, 1, 2, 3] and p.op == R(16) and p.jobs == [R(11), R(2)]
"""


def test_locals_are_after_a_yield_what_they_were(tmp_path: Path) -> None:
    # one way through six yields
    assert found(tmp_path, "spec.py", KEPT)[0] == 8


REPLACED = """
from statewalk import *
deadlock(False)
class R(Record):
    n: int = 0
    marks: list[int] = [0]
class P(Role):
    op: R = R()
    jobs: list[R] = [R(1), R(2)]
    table: dict[int, R] = {1: R(3)}
    some: set[int] = {1}
    out: list[int] = []
    stage: int = 0
    @action
    def go(self) -> Flow[None]:
        require(self.stage == 0)
        self.stage = 1
        op, marks, job, table, some = self.op, self.op.marks, self.jobs[0], self.table, self.some
        self.op, self.table, self.some = R(9), {}, set()
        self.jobs.pop(0)
        yield
        op.n += 10
        op.marks.append(1)
        marks.append(2)
        job.n += 10
        table[1].n += 10
        some.add(2)
        yield
        self.out = [op.n, *op.marks, *marks, job.n, table[1].n, *sorted(some)]
p = P()
@exists
def what_was_replaced_goes_on_changing() -> bool:
    return p.out == [10, 0, 1, 0, 2, 11, 13, 1, 2]
@always
def and_the_state_does_not() -> bool:
    now = (p.op, p.jobs, p.table, p.some)
    return p.stage == 0 or now == (R(9), [R(2)], {}, set())
"""


def test_what_was_replaced_before_a_yield_changes_after_it(tmp_path: Path) -> None:
    # op.marks and marks were one list before the yield, and are two afterwards
    assert found(tmp_path, "spec.py", REPLACED)[0] == 4


SYMMETRIC = """
from statewalk import *
deadlock(False)
class Op(Record):
    n: int = 0
class P(Role, symmetric=True):
    op: Op = Op()
    @action
    def go(self, other: "P") -> Flow[None]:
        require(self.op.n == 0)
        op = other.op
        yield
        op.n = 1
ps = [P() for _ in range(2)]
"""


def test_a_kept_reference_changes_places_with_its_role(tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    path.write_text(SYMMETRIC)
    # Each of two has n = 0 or 1, and no run, one with its own Op or one with the other's: 36. With
    # n = 1 for both, the run that set the last one is over and cannot begin again: not 4 of them.
    # Equal to their mirror image are 3 with n = 0, and 1 with n = 1: (32 + 4) / 2.
    whole = check(path, engine="reference", symmetry=False)
    orbits = check(path, engine="reference", symmetry=True)
    assert (whole.counts.distinct, orbits.counts.distinct) == (32, 18)
