"""A record's own answer to an operator may change the record, as a method of it may."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from statewalk.checker import native
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines import reference
from statewalk.dsl.errors import SpecError
from statewalk.dsl.loader import load
from tests.cases import slow

SPEC = """
from statewalk import *

class Job(Record):
    n: int = 0
    l: list[int] = []

    def __{name}__(self, {parameters}) -> object:
        {change}
        return {result}

class Node(State):
    job: Job = Job()
    jobs: list[Job] = [Job()]
    steps: int = 0

    @action
    def go(self) -> None:
        require(self.steps < 3)
        self.steps += 1
        self.helped()

    def helped(self) -> None:
        {body}

node = Node()
deadlock(False)

@exists
def changed() -> bool:
    return node.{field}.l == [1, 1, 1]
"""
EXTENDING = "l = self.l; l.append(1)"
STORING = "self.l = [*self.l, 1]"
USES = [
    ("lshift", "k", "self", "self.job << 1"),
    ("rlshift", "k", "1", "1 << self.job"),
    ("ior", "k", "self", "job = self.job; job |= 1"),
    ("add", "k", "1", "n = 2 + (self.job + 1)"),
    ("neg", "", "1", "-self.job"),
    ("lt", "k", "True", "n = self.job < 2"),
    ("contains", "k", "True", "n = 1 in self.job"),
    ("getitem", "k", "1", "self.job[1]"),
    ("setitem", "k, v", "None", "self.job[1] = 2"),
    ("delitem", "k", "None", "del self.job[1]"),
    ("call", "", "1", "self.job()"),
    ("len", "", "1", "len(self.job)"),
    ("bool", "", "True", "not self.job"),
    ("str", "", '""', "str(self.job)"),
    ("format", "k", '""', "f'{self.job}'"),
    ("str", "", '""', "'%s' % self.job"),
    ("iter", "", "iter([1])", "[0 for _ in self.job]"),
    ("iter", "", "(yield 1)", "(x,) = self.job"),
    ("iter", "", "(yield 1)", "n = sum([x for y in (1,) for x in self.job])"),
    ("reversed", "", "(yield from [1])", "for x in reversed(self.job): pass"),
    ("enter", "", "1", "with self.job: pass"),
    ("index", "", "0", "[1][self.job]"),
    ("abs", "", "1", "abs(self.job)"),
    ("reversed", "", "iter([1])", "list(reversed(self.job))"),
    ("radd", "k", "0", "sum(self.jobs)"),
    ("bool", "", "False", "any(self.jobs)"),
    ("lshift", "k", "self", "self.jobs[0] << 1"),
    ("lshift", "k", "self", "sorted(self.jobs)[0] << 1"),
    ("lshift", "k", "self", "[job << 1 for job in self.jobs]"),
    ("more", "", "self", "n = self.job.__more__"),
    ("more", "", "self", "n = self.jobs[0].__more__"),
    ("lshift", "k", "self", "operator.lshift(self.job, 1)"),
]


def spec(tmp_path: Path, use: tuple[str, str, str, str], change: str, more: str = "") -> Path:
    name, parameters, result, body = use
    text = SPEC.format(
        name=name,
        parameters=parameters,
        result=result,
        body=body,
        change=change,
        field="jobs[0]" if "self.jobs" in body else "job",
    )
    if name == "more":
        text = text.replace("    def __more__", "    @property\n    def more").replace(
            "__more__", "more"
        )
    if name == "enter":
        text = text.replace("class Node", "    def __exit__(self, *a) -> None: pass\n\nclass Node")
    (tmp_path / "spec.py").write_text("import operator\n" + text + more)
    return tmp_path / "spec.py"


@pytest.mark.sampled(4)
@pytest.mark.parametrize("use", USES, ids=lambda use: use[3])
@pytest.mark.parametrize("change", [slow(EXTENDING), STORING])
@pytest.mark.parametrize("engine", [slow(reference), native])
@pytest.mark.parametrize("optimize", [True, slow(False)])
def test_a_record_changes_itself(
    use: tuple[str, str, str, str], change: str, engine: ModuleType, optimize: bool, tmp_path: Path
) -> None:
    path = spec(tmp_path, use, change)

    found = engine.explore(load(path, optimize=optimize), SearchOptions())

    assert () == found.findings
    assert [("changed", 3)] == [(w.property, w.length) for w in found.witnesses]


@pytest.mark.parametrize("use", [USES[0], USES[21]], ids=lambda use: use[3])
@pytest.mark.parametrize("engine", [slow(reference), native])
def test_a_property_changes_nothing_through_an_operator(
    use: tuple[str, str, str, str], engine: ModuleType, tmp_path: Path
) -> None:
    more = "\n@always\ndef p() -> bool:\n    node.helped()\n    return True\n"
    path = spec(tmp_path, use, STORING, more)

    [finding] = engine.explore(load(path), SearchOptions()).findings

    assert isinstance(finding.error, SpecError)
    assert "SW103" == finding.error.code


def test_numbers_are_added_in_a_property_where_a_record_changes_when_added_to(
    tmp_path: Path,
) -> None:
    more = "\n@always\ndef p() -> bool:\n    n = 1\n    n += node.steps\n    return n + 1 < 9\n"
    path = spec(tmp_path, USES[3], STORING, more)

    found = native.explore(load(path), SearchOptions())

    assert () == found.findings
