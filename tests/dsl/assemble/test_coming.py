"""Roles that steps make and end: engines agree, counts are plain Python's, errors say why."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from statewalk import check
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines.table import ENGINES, load_engine
from statewalk.dsl.errors import SpecError
from statewalk.dsl.loader import load
from tests.cases import slow
from tests.checker.native.agreement import told

BOTH = pytest.mark.parametrize("engine", ["native", slow("reference")])
HEAD = """\
from statewalk import *

"""
OFFICE = """\
class Worker(Role, at_most=2):
    n: int = 0

    @action
    def work(self) -> None:
        require(self.n < 2)
        self.n += 1

    @action
    def leave(self) -> None:
        require(self.n == 2)
        boss.hired.remove(self)
        end(self)

class Boss(State):
    hired: list[Worker] = []

    @action
    def hire(self) -> None:
        require(len(self.hired) < 2)
        self.hired.append(Worker())

boss = Boss()
"""


def spec(folder: Path, text: str) -> Path:
    path = folder / "spec.py"
    path.write_text(HEAD + text)
    return path


def by_hand() -> set[Any]:
    """The states of the office: who is hired, in order, with what each has done."""
    seen: set[Any] = set()
    todo: list[tuple[tuple[int, int], ...]] = [()]
    while todo:
        hired = todo.pop()
        if hired in seen:
            continue
        seen.add(hired)
        free = next((i for i in itertools.count() if i not in dict(hired)), 0)
        if len(hired) < 2:
            todo.append((*hired, (free, 0)))
        for at, (who, n) in enumerate(hired):
            rest = hired[at + 1 :]
            todo.append((*hired[:at], (who, n + 1), *rest) if n < 2 else (*hired[:at], *rest))
    return seen


@BOTH
@pytest.mark.parametrize("optimize", [True, False])
def test_the_states_are_those_of_plain_python(engine: str, optimize: bool, tmp_path: Path) -> None:
    model = load(spec(tmp_path, OFFICE), optimize=optimize)

    found = load_engine(ENGINES[engine]).explore(model, SearchOptions())

    assert len(by_hand()) == found.counts.distinct == 25


def test_engines_find_the_same_of_roles_that_come_and_go(tmp_path: Path) -> None:
    wrong = "\n@always\ndef fresh(w: Worker) -> bool:\n    return w.n < 2 or w.index == 0\n"
    model = load(spec(tmp_path, OFFICE + wrong))

    native, reference = (
        told(load_engine(ENGINES[e]).explore(model, SearchOptions(keep_going=True)))
        for e in ("native", "reference")
    )

    assert reference == native


@pytest.mark.sampled(3)
@BOTH
@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        (
            OFFICE.replace("require(len(self.hired) < 2)", "pass"),
            "SW212", "no room for another Worker: there are at most 2",
        ),
        (
            OFFICE.replace("boss.hired.remove(self)", "pass"),
            "SW212", "Worker#0 ended in this step, and Boss#0.hired still refers to it",
        ),
        (OFFICE.replace(", at_most=2", ""), "SW211", "creates a role in a step"),
        (
            OFFICE.replace("require(self.n == 2)", "pass").replace("remove(self)", "clear()")
            + "\n@always\ndef all_work() -> bool:\n    return last.who is None or last.who.n >= 0\n"
            "class Last(State):\n    who: Worker | None = None\nlast = Last()\n"
            "@action\ndef look(w: Worker) -> None:\n    last.who = w\n",
            "SW212", "Last#0.who still refers to it",
        ),
        (OFFICE.replace("self.n += 1", "end(boss)"), "SW212", "Boss#0 cannot end"),
        (OFFICE.replace("self.n += 1", "self.there = False"), "SW212", "cannot be assigned"),
        (
            OFFICE.replace("end(self)", "end(self); self.n += 1"),
            "SW208", "Worker#0 does not exist in this state, so Worker#0.n has no value",
        ),
        (OFFICE.replace("end(self)", "end(self); end(self)"), "SW208", "Worker#0 does not exist"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_an_error_and_no_verdict(
    text: str, code: str, said: str, engine: str, tmp_path: Path
) -> None:
    run = check(spec(tmp_path, text), engine=engine)

    assert "error" == run.verdict
    shown = str(run.traces["no_error"])
    assert code in shown
    assert said in shown


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("class W(Role, at_most=0):\n    n: int = 0\nw = W()\n", "SW212"),
        ("class W(Role, at_most=1):\n    n: int = 0\nws = [W(), W()]\n", "SW212"),
        ("class W(Role, at_most=1):\n    there: bool = True\nw = W()\n", "SW123"),
        ("class W(Role, at_most=1):\n    n: int = 0\nw = W(there=False)\n", "SW101"),
    ],
)
def test_what_a_class_cannot_say_is_refused(text: str, code: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        load(spec(tmp_path, f"{text}\n@action\ndef go() -> None:\n    pass\n"))

    assert code == caught.value.code


@pytest.mark.sampled(3)
@BOTH
@pytest.mark.parametrize(
    ("properties", "violated"),
    [
        ("@always\ndef p(w: Worker) -> bool:\n    return w.n < 2\n", True),
        ("@always\ndef p(w: Worker) -> bool:\n    return w.n < 3\n", False),
        ("@always\ndef p() -> bool:\n    return len(instances(Worker)) < 2\n", True),
        ("@on_step\ndef p(w: Worker) -> bool:\n    return w.n >= old(w.n)\n", False),
        ("@on_step\ndef p(w: Worker) -> bool:\n    return w.n == old(w.n)\n", True),
        (
            "def a(w: Worker) -> bool:\n    return w.n == 1\n"
            "def b(w: Worker) -> bool:\n    return w.n == 2\np = leads_to(a, b)\n",
            True,  # nothing is fair
        ),
        (
            "def a(w: Worker) -> bool:\n    return not w.there\n"
            "def b() -> bool:\n    return False\np = leads_to(a, b)\n",
            False,  # of one that is not there nothing is said
        ),
        (
            "def a(w: Worker) -> bool:\n    return w.n < 9\n"
            "def b(w: Worker) -> bool:\n    return w.n < 9\np = until(a, b)\n",
            True,  # what is to come has not, while it is not there
        ),
        (
            "def a(w: Worker) -> bool:\n    return w.n > 9\n"
            "def b() -> bool:\n    return True\np = until(a, b)\n",
            False,
        ),
    ],
)
def test_properties_are_about_those_that_are_there(
    properties: str, violated: bool, engine: str, tmp_path: Path
) -> None:
    run = check(spec(tmp_path, f"{OFFICE}\n{properties}"), engine=engine, keep_going=True)

    assert {"violated" if violated else "holds"} == {
        "violated" if any(p.verdict == "violated" for p in run.properties) else run.verdict
    }


@BOTH
def test_until_waits_for_a_role_and_asks_nothing_of_it_before(engine: str, tmp_path: Path) -> None:
    text = """
class Worker(Role, at_most=1):
    n: int = 1

class Boss(State):
    hired: bool = False

    @action(fair="weak")
    def hire(self) -> None:
        require(not self.hired)
        self.hired = True
        Worker(n=any_of([1, 2]))

boss = Boss()
deadlock(False)

def never(w: Worker) -> bool:
    return False

def comes(w: Worker) -> bool:
    return w.n > 0

def is_two(w: Worker) -> bool:
    return w.n == 2

holds = until(never, comes)
fails = until(never, is_two)
"""

    run = check(spec(tmp_path, text), engine=engine, keep_going=True)

    verdicts = {p.name: p.verdict for p in run.properties}
    assert ("holds", "violated") == (verdicts["holds(Worker#0)"], verdicts["fails(Worker#0)"])


@BOTH
def test_a_run_of_a_role_that_ended_is_over(engine: str, tmp_path: Path) -> None:
    text = """\
class Worker(Role, at_most=1):
    n: int = 0

    @action
    def work(self) -> Flow[None]:
        require(self.n == 0)
        self.n = 1
        yield
        self.n = 2

    @action
    def leave(self) -> None:
        end(self)

@action
def hire() -> None:
    require(not instances(Worker))
    Worker()
"""

    # None; made; in the middle of its work; done.
    assert 4 == check(spec(tmp_path, text), engine=engine).counts.distinct


@BOTH
def test_a_run_that_ends_its_own_role_cannot_go_on(engine: str, tmp_path: Path) -> None:
    text = """\
class Worker(Role, at_most=1):
    @action
    def leave(self) -> Flow[None]:
        end(self)
        yield

worker = Worker()
"""

    run = check(spec(tmp_path, text), engine=engine)

    assert "a suspended run of leave still refers to it" in str(run.traces["no_error"])
    assert "Return after end(self)" in str(run)


@BOTH
def test_initial_states_may_differ_in_who_is_there(engine: str, tmp_path: Path) -> None:
    begin = (
        "\n@init\ndef begin() -> None:\n    if maybe():\n        boss.hired.append(Worker(n=2))\n"
    )

    counts = check(spec(tmp_path, OFFICE + begin), engine=engine).counts

    assert (2, 25) == (counts.initial, counts.distinct)


@BOTH
@pytest.mark.parametrize(
    "after", ["self.n = 7", "self.n += 1", "self.l.append(1)", "self.l = []", "self.d[1] = 2"]
)
def test_a_role_that_ended_gets_no_values(engine: str, after: str, tmp_path: Path) -> None:
    text = f"""
from statewalk import *
class Worker(Role, at_most=2):
    n: int = 0
    l: list[int] = []
    d: dict[int, int] = {{}}
    @action
    def leave(self) -> None:
        end(self)
        {after}
worker = Worker()
"""
    model = load(spec(tmp_path, text))

    found = load_engine(ENGINES[engine]).explore(model, SearchOptions()).findings

    (error,) = (f.error for f in found if f.kind == "error")
    assert "Worker#0 does not exist in this state" in str(error)
