"""Flows that are called by another name, and generators that are none of the spec's flows."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from statewalk.checker import native
from statewalk.checker.contract.search import Exploration, SearchOptions
from statewalk.checker.engines import reference
from statewalk.dsl.errors import SpecError
from statewalk.dsl.loader import load
from tests.cases import slow

SPEC = """
import other
from other import leap as jump
from statewalk import *
deadlock(False)

class Base(Role):
    n: int = 0

    def h(self) -> Flow[None]:
        self.n += 1
        yield
        self.n += 10

    def k(self) -> Flow[None]:
        yield
        self.n += 100

    hh = h

class Node(Base):
    hh = Base.k
    ii = Base.h

    @action
    def go(self) -> object:
        require(self.n == 0)
        BODY

class Killer(Role):
    @action
    def kill(self) -> None:
        interrupt(node)

    @action
    def through(self) -> Flow[None]:
        require(node.n == 0)
        yield from CALLED

node = Node()
killer = Killer()
"""


def found(
    tmp_path: Path,
    body: str,
    called: str = "node.h()",
    engine: ModuleType = reference,
    *,
    optimize: bool = True,
) -> Exploration:
    (tmp_path / "other.py").write_text(
        "from statewalk import *\ndef leap(on: Role) -> Flow[None]:\n    yield\n    on.n += 1000\n"
        "jump = leap\n"
    )
    path = tmp_path / "spec.py"
    path.write_text(SPEC.replace("BODY", body).replace("CALLED", called))
    result: Exploration = engine.explore(load(path, optimize=optimize), SearchOptions())
    return result


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", [slow(reference), native])
@pytest.mark.parametrize(
    ("other", "own"),
    [
        ("self.hh()", "self.k()"),
        ("self.ii()", "self.h()"),
        ("Base.hh(self)", "self.h()"),
        ("jump(self)", "other.leap(self)"),
        ("other.jump(self)", "other.leap(self)"),
    ],
)
def test_a_flow_is_called_by_another_name(
    other: str, own: str, engine: ModuleType, tmp_path: Path
) -> None:
    through = [name.replace("self", "node") for name in (other, own)]

    asked = found(tmp_path, f"yield from {other}", through[0], engine)
    meant = found(tmp_path, f"yield from {own}", through[1], engine)

    assert () == asked.findings
    assert meant.counts == asked.counts
    assert meant.fired == asked.fired


@pytest.mark.parametrize(
    "body", ["f = self.h; yield from f()", "yield from (self.h if self.n else self.k)()"]
)
def test_what_is_not_called_by_a_name_is_refused(body: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="it is not known which flow") as caught:
        found(tmp_path, body)

    assert "SW116" == caught.value.code


@pytest.mark.parametrize("engine", [slow(reference), native])
@pytest.mark.parametrize(
    "body", ["self.hh()", "[f() for f in (self.h,)]", "list(map(Base.h, [self]))"]
)
def test_a_flow_that_is_called_plainly_by_another_name_is_an_error(
    body: str, engine: ModuleType, tmp_path: Path
) -> None:
    [finding] = found(tmp_path, body, engine=engine).findings

    assert isinstance(finding.error, SpecError)
    assert "SW105" == finding.error.code
    assert "contains yield, but is called without `yield from`." in str(finding.error)


@pytest.mark.parametrize("engine", [slow(reference), native])
def test_what_is_no_flow_is_told_so(engine: ModuleType, tmp_path: Path) -> None:
    [finding] = found(tmp_path, "yield from range(3)", engine=engine).findings

    assert isinstance(finding.error, SpecError)
    assert "'range' is called with yield from, but is not a flow of the spec." in str(finding.error)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", [slow(reference), native])
@pytest.mark.parametrize("optimize", [True, False])
@pytest.mark.parametrize("last", ["", "\n        yield\n        self.n += 0"])
def test_a_generator_that_a_function_makes_is_python_s_own(
    last: str, engine: ModuleType, optimize: bool, tmp_path: Path
) -> None:
    body = f"""
        def ones():
            for _ in range(2):
                yield self.n
                self.n += 1
        assert [0, 1] == list(ones()){last}
"""

    result = found(tmp_path, body, engine=engine, optimize=optimize)

    assert () == result.findings
    assert 0 < result.fired[0]


def test_a_property_may_make_a_generator(tmp_path: Path) -> None:
    prop = """
@always
def p() -> bool:
    def parts():
        yield node.n
        yield 1
    return sum(parts()) < 5
"""

    result = found(tmp_path, "self.n = 7", f"node.h()\n{prop}")

    assert ["p"] == [finding.property for finding in result.findings]
