"""Fields that are changed without being named as ``self.x`` are not taken for constant."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from statewalk.checker.api import check
from statewalk.dsl.errors import SpecErrors
from statewalk.dsl.source import usage
from tests.cases import slow, some

SPEC = """
from operator import attrgetter, methodcaller
from functools import partial
from typing import Any
from statewalk import *
{head}
class Job(Record):
    notes: list[int] = []
    n: int = 0
    def get(self) -> int:
        notes = self.notes
        notes += [1]
        return 0
    def keys(self) -> list[int]:
        self.n += 1
        return []
    def __lshift__(self, other: int) -> "Job":
        notes = self.notes
        notes += [other]
        return self

class Box(State):
    log: list[int] = []
    table: dict[int, list[int]] = {{0: []}}
    seen: set[int] = set()
    job: Job = Job()
    n: int = 0
    @action
    def go(self) -> None:
        require(self.n < 3)
        self.n += 1
        {body}

box = Box()

def total() -> int:
    return len(box.log) + sum(len(x) for x in box.table.values()) + len(box.seen) + len(
        box.job.notes
    ) + box.job.n

@always
def follows() -> bool:
    return total() == box.n
"""

GET = "look = getattr\n"
ALL = "def all(xs: list[int], x: int) -> None:\n    xs += [x]\n"
USES = {
    "a pattern by name": (
        "", "match self:\n            case Box(log=x):\n                x += [1]",
    ),
    "an operator": ("", "self.job << 1"),
    "a helper that does not speak the language": ("import plain", "plain.push(self)"),
    "a pattern by place": (
        "", "match self:\n            case Box(x):\n                x.append(1)",
    ),
    "attrgetter": ("", "x = attrgetter('log')(self)\n        x += [1]"),
    "getattr by another name": (GET, "x = look(self, 'log')\n        x += [1]"),
    "a partial getattr": ("", "x = partial(getattr, self)('log')\n        x.append(1)"),
    "methodcaller": ("", "methodcaller('append', 1)(attrgetter('log')(self))"),
    "a method called get": ("", "self.job.get()"),
    "a method called keys": ("", "self.job.keys()"),
    "a function called all": (ALL, "all(self.log, 1)"),
    "a decorator of the spec's own": (
        "import functools\ndef own(f: Any) -> Any:\n    @functools.wraps(f)\n"
        "    def g(*a: Any) -> Any:\n        return f(*a)\n    return g\n"
        "@own\ndef push(box: Any) -> None:\n    log = box.log\n    log += [1]\n",
        "push(self)",
    ),
    "a table of lambdas": (
        "OPS = {'log': lambda w: w.log}", "x = OPS['log'](self)\n        x += [1]"),
    "a lambda that changes": ("push = lambda w: w.log.append(1)", "push(self)"),
    "a function made in a loop": (
        "for _ in range(1):\n    def push(w: Any) -> None:\n        w.log.append(1)\n",
        "push(self)",
    ),
    "a class in a class": (
        "class A:\n    class B:\n        @staticmethod\n        def push(w: Any) -> None:\n"
        "            x = w.log\n            x += [1]\n",
        "A.B.push(self)",
    ),
    "a sum of lists": ("", "x = sum([], self.log)\n        x += [1]"),
    "a set that others list": ("size = lambda w: len(w.seen)", "self.seen.add(size(self))"),
    "an element": ("", "x = attrgetter('table')(self)[0]\n        x += [1]"),
    "a set": ("", "x = attrgetter('seen')(self)\n        x |= {self.n}"),
}  # fmt: skip


SHIFTED = """
from statewalk import *
class Job(Record):
    notes: list[int] = []
    def __lshift__(self, n: int) -> "Job":
        notes = self.notes
        notes += [n]
        return self
class Box(State):
    job: Job = Job()
    @action
    def go(self) -> None:
        self.job << 1 << 2
box = Box()
@always
def empty() -> bool:
    return box.job.notes == []
"""


@pytest.mark.parametrize("engine", ["native", slow("reference")])
@pytest.mark.parametrize("name", some(USES, every=8))
def test_what_changes_a_field_is_seen(
    name: str, engine: Literal["native", "reference"], tmp_path: Path
) -> None:
    head, body = USES[name]
    text = SPEC.format(head=head, body=body)
    if name == "a pattern by place":
        text = text.replace("class Box(State):", "class Box(State):\n    __match_args__ = ('log',)")
    (tmp_path / "plain.py").write_text("def push(box):\n    log = box.log\n    log += [1]\n")
    path = tmp_path / "spec.py"
    path.write_text(text + "\ndeadlock(False)\n")

    assert "holds" == check(path, engine=engine).verdict


def test_a_change_that_nothing_told_of_is_an_error_and_no_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(usage, "called_by_python", lambda node: ())
    path = tmp_path / "spec.py"
    path.write_text(SHIFTED)

    found = check(path, engine="reference")

    assert "error" == found.verdict
    assert "Box#0.job is a constant field and was changed." in str(found)


def test_a_cache_of_what_a_pattern_looks_at_is_refused(tmp_path: Path) -> None:
    cached = (
        "import functools\n@functools.cache\ndef level() -> int:\n"
        "    match box:\n        case Box(n=x):\n            return x\n    return 0\n"
    )
    path = tmp_path / "spec.py"
    path.write_text(SPEC.format(head="", body="require(level() < 3)") + cached)

    with pytest.raises(SpecErrors, match="SW104"):
        check(path, engine="reference")


def test_what_init_does_counts_where_steps_call_it(tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    path.write_text(
        "from statewalk import *\nclass Box(State):\n    log: list[int] = []\n    n: int = 0\n"
        "    @action\n    def go(self) -> None:\n        require(self.n < 2)\n"
        "        self.n += 1\n        start()\nbox = Box()\n"
        "@init\ndef start() -> None:\n    log = box.log\n    log += [1]\n"
        "@always\ndef grows() -> bool:\n    return len(box.log) == box.n + 1\ndeadlock(False)\n"
    )

    assert "holds" == check(path, engine="reference").verdict


def test_in_within_a_chain_of_comparisons_asks_for_the_whole_set(tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    path.write_text(
        "from statewalk import *\n"
        "class Partition(State):\n"
        "    isr: set[int] = {1}\n"
        "    lag: dict[int, int] = {1: 0}\n"
        "    @action\n"
        "    def join(self) -> None:\n"
        "        require(2 not in self.isr)\n"
        "        self.isr.add(2)\n"
        "        self.lag[2] = 0\n"
        "p = Partition()\n"
        "deadlock(False)\n"
        "@always\n"
        "def known() -> bool:\n"
        "    return 1 in p.isr <= {1, 2} and (1 in p.lag) and not (3 in p.lag == {})\n"
    )

    result = check(path, engine="reference")
    assert "holds" == result.verdict
    assert 2 == result.counts.distinct
