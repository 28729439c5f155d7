"""Calls of flows, flows without a yield under the constants, runs that interrupt: special cases."""

from pathlib import Path

import pytest

from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines.reference import explore
from statewalk.checker.native import explore as explore_natively
from statewalk.dsl.errors import SpecError
from statewalk.dsl.loader import load
from statewalk.dsl.model import Model

HEAD = "from statewalk import *\ndeadlock(False)\n"


def _load(folder: Path, text: str) -> Model:
    path = folder / "spec.py"
    path.write_text(HEAD + text)
    return load(path)


def test_a_flow_without_a_yield_under_the_constants_is_called_all_the_same(tmp_path: Path) -> None:
    text = """
SLOW: Constant[bool] = False
class P(Role):
    n: int = 0
    @action
    def go(self) -> Flow[None]:
        require(self.n == 0)
        self.n = yield from self.two()
        yield
    def two(self) -> Flow[int]:
        if SLOW:
            yield
        return 2
    @action
    def rest(self) -> Flow[None]:
        if SLOW:
            yield
        require(self.n == 2)
p = P()
"""
    counts = [explore(_load(tmp_path, text), SearchOptions()).counts.distinct]
    counts.append(
        explore(_load(tmp_path, text.replace("= False", "= True")), SearchOptions()).counts.distinct
    )

    # 0, suspended with 2, and 2; slowly also suspended with 0, and rest behind its yield in each
    assert counts == [3, 8]


def test_a_run_that_interrupts_its_role_ends_the_others(tmp_path: Path) -> None:
    text = """
class P(Role):
    n: int = 0
    @action(concurrent=2)
    def go(self) -> Flow[None]:
        require(self.n < 3)
        self.n += 1
        yield
        interrupt(self)
        yield
        self.n += 0
p = P()
threads(2)
"""
    model = _load(tmp_path, text)

    # a run is before (a) or behind (b) its interrupt. 0; 1: a, b, none; 2: aa, ab, a, b, none; 3:
    # the same. Nothing starts beside two; going on from aa or ab, an a leaves b alone.
    assert explore(model, SearchOptions()).counts.distinct == 14
    assert explore_natively(model, SearchOptions()).counts.distinct == 14


def test_a_call_means_what_it_means_in_python(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("""
from statewalk import *
class G(State):
    n: int = 0
g = G()
def bump(k: int) -> Flow[int]:
    yield
    g.n += k
    return k
""")
    text = """
import other
class A(Role):
    x: int = 0
    done: int = 0
    @staticmethod
    def double(n: int) -> Flow[int]:
        yield
        return 2 * n
    def f(self, n: int) -> Flow[int]:
        yield
        return n + 1
class B(A):
    def f(self, n: int) -> Flow[int]:
        got = yield from A.f(self, n)
        return got + 10
    @action
    def go(self) -> Flow[None]:
        require(self.done == 0)
        self.done = 1
        self.x = yield from self.f(1)
        self.x += yield from self.double(20)
        self.x += yield from B.double(n=200)
        self.x += yield from other.bump(7)
b = B()
@always
def at_the_end() -> bool:
    return other.g.n == 0 or b.x in (452, 459)
@exists
def comes_to_its_end() -> bool:
    return b.x == 12 + 40 + 400 + 7 and other.g.n == 7
"""
    result = explore(_load(tmp_path, text), SearchOptions())

    assert not result.findings
    assert result.counts.distinct == 6  # four yields on the way
    assert result.witnesses


def test_flows_of_one_name_in_two_modules_are_refused(tmp_path: Path) -> None:
    flow = "def bump() -> Flow[None]:\n    yield\n"
    (tmp_path / "other.py").write_text("from statewalk import *\n" + flow)

    with pytest.raises(SpecError, match="has a flow of that name too"):
        _load(tmp_path, "import other\n" + flow + "@action\ndef go() -> Flow[None]:\n    yield\n")
